/* Calls of Python functions: arguments, results, errors. */
#include "bind/py_function.h"

#include "bind/args.h"

enum { MAX_ARGUMENTS = 5 };

static const struct {
    const char *text;
    int arguments; /* how many of t, q, v, a, lam */
    const char *shape; /* of what it returns: v is nv, r is the number of rows, 2 is 2 */
} calls[LG_CALLS] = {
    [LG_CALL_MASS] = {"the value returned by mass(t, q)", 2, "vv"},
    [LG_CALL_FORCE] = {"the value returned by force(t, q, v)", 3, "v"},
    [LG_CALL_GYRO] = {"the value returned by gyro(t, q, v)", 3, "v"},
    [LG_CALL_CONSTRAINT] = {"the value returned by constraint(t, q)", 2, "r"},
    [LG_CALL_JACOBIAN] = {"the value returned by constraint_jacobian(t, q)", 2, "rv"},
    [LG_CALL_ACCELERATION] = {"the value returned by constraint_acceleration(t, q, v)", 3, "r"},
    [LG_CALL_TANGENT] = {"the value returned by tangent(t, q, v, a, lam)", 5, "2vv"},
    [LG_CALL_ENERGY] = {"the value returned by energy(t, q, v)", 3, "2"},
    [LG_CALL_POTENTIAL] = {"the value returned by potential(t, q)", 2, ""},
    [LG_CALL_POTENTIAL_GRADIENT] = {"the value returned by potential_gradient(t, q)", 2, "v"},
    [LG_CALL_MASS_GRADIENT] = {"the value returned by mass_gradient(t, q)", 2, "vvv"},
};

static PyObject *read_only(const double *data, int n)
{
    PyObject *array = lg_vector_from(data, n);
    if (array)
        PyArray_CLEARFLAGS((PyArrayObject *)array, NPY_ARRAY_WRITEABLE);
    return array;
}

static PyObject *call(const lg_py_function *f, const lg_callback_point *at)
{
    const double *const data[] = {at->q, at->v, at->a, at->lam};
    const int sizes[] = {f->nq, f->nv, f->nv, f->rows}, wanted = calls[f->call].arguments;
    PyObject *arguments[MAX_ARGUMENTS] = {PyFloat_FromDouble(at->t)}, *result = NULL;
    for (int i = 1; i < wanted && arguments[i - 1]; i++)
        arguments[i] = read_only(data[i - 1], sizes[i - 1]);
    if (arguments[wanted - 1])
        result = PyObject_Vectorcall(f->function, arguments, (size_t)wanted, NULL);
    for (int i = 0; i < wanted; i++)
        Py_XDECREF(arguments[i]);
    return result;
}

lg_status lg_py_call(void *self, const lg_callback_point *at, double *out)
{
    const lg_py_function *f = self;
    npy_intp dims[3];
    int ndim = 0;
    for (const char *axis = calls[f->call].shape; *axis; axis++)
        dims[ndim++] = *axis == 'v' ? f->nv : *axis == 'r' ? f->rows : 2;
    return lg_returned(call(f, at), calls[f->call].text, ndim, dims, out);
}
