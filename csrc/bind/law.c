/* Calls of the Python functions of a compiled model's elements; see law.h. */
#include "bind/law.h"

#include "bind/args.h"

/* Copies the numbers of the given shape that the function or its tangent returned to `out`; see lg_returned. */
static lg_status store(const lg_python_function *function, const char *what, PyObject *result, int ndim,
                       const npy_intp *dims, double *out)
{
    char name[LG_WHAT_SIZE];
    const char *element = PyUnicode_AsUTF8(function->name); /* not NULL: the model was built with this text */
    snprintf(name, sizeof name, "the value returned by the %s of element %.*s", what, LG_SHORT(element));
    return lg_returned(result, name, ndim, dims, out);
}

/* ---- functions of time ---- */

static lg_status call_time_function(void *self, double t, int n, double *value)
{
    const npy_intp dims[] = {n > 6 ? n / 6 : n, 6};
    const lg_python_function *function = self;
    return store(function, "function", PyObject_CallFunction(function->callable, "d", t), n > 6 ? 2 : 1, dims, value);
}

lg_time_function lg_python_time_function(lg_python_function *function)
{
    return (lg_time_function){call_time_function, function};
}

/* ---- torques ---- */

static lg_status torque(void *self, double t, double angle, double rate, double *tau)
{
    const lg_python_function *function = self;
    PyObject *result = PyObject_CallFunction(function->callable, "ddd", t, angle, rate);
    return store(function, "function", result, 0, NULL, tau);
}

static lg_status torque_tangent(void *self, double t, double angle, double rate, double slopes[2])
{
    static const npy_intp dims[] = {2};
    const lg_python_function *function = self;
    PyObject *result = PyObject_CallFunction(function->tangent, "ddd", t, angle, rate);
    return store(function, "tangent", result, 1, dims, slopes);
}

/* ---- wrenches ---- */

/* One of the arrays x, R, xdot, omega of n frames, read-only; without the leading axis for a single frame. */
static PyObject *gather(int n, const lg_kinematics at[], size_t offset, int rank)
{
    npy_intp dims[] = {n, 3, 3};
    size_t size = rank == 2 ? 9 : 3;
    PyObject *array = PyArray_SimpleNew(rank + (n > 1), dims + (n == 1), NPY_DOUBLE);
    if (!array)
        return NULL;
    double *data = PyArray_DATA((PyArrayObject *)array);
    for (int i = 0; i < n; i++)
        memcpy(data + size * (size_t)i, (const char *)&at[i] + offset, size * sizeof *data);
    PyArray_CLEARFLAGS((PyArrayObject *)array, NPY_ARRAY_WRITEABLE);
    return array;
}

static PyObject *call_at(PyObject *callable, double t, int n, const lg_kinematics at[])
{
    return PyObject_CallFunction(callable, "dNNNN", t, gather(n, at, offsetof(lg_kinematics, x), 1),
                                 gather(n, at, offsetof(lg_kinematics, R), 2),
                                 gather(n, at, offsetof(lg_kinematics, xdot), 1),
                                 gather(n, at, offsetof(lg_kinematics, omega), 1));
}

static lg_status wrench(void *self, double t, int n, const lg_kinematics at[], double *w)
{
    const lg_python_function *function = self;
    const npy_intp dims[] = {n, 6};
    return store(function, "function", call_at(function->callable, t, n, at), n > 1 ? 2 : 1, dims + (n == 1), w);
}

static lg_status wrench_tangent(void *self, double t, int n, const lg_kinematics at[], double *KD)
{
    const lg_python_function *function = self;
    const npy_intp dims[] = {2, 6 * n, 6 * n};
    return store(function, "tangent", call_at(function->tangent, t, n, at), 3, dims, KD);
}

lg_law lg_python_law(lg_python_function *function)
{
    return (lg_law){function, function->tangent != NULL, wrench, wrench_tangent, torque, torque_tangent};
}
