/* Calls of Python functions: arguments, results, errors. */
#include "bind/args.h"
#include "bind/py_system.h"

static const struct {
    const char *text;
    int arguments;
} calls[LG_CALLS] = {
    [LG_CALL_MASS] = {"what mass(t, q) returns", 2},
    [LG_CALL_FORCE] = {"what force(t, q, v) returns", 3},
    [LG_CALL_GYRO] = {"what gyro(t, q, v) returns", 3},
    [LG_CALL_CONSTRAINT] = {"what constraint(t, q) returns", 2},
    [LG_CALL_JACOBIAN] = {"what constraint_jacobian(t, q) returns", 2},
    [LG_CALL_ACCELERATION] = {"what constraint_acceleration(t, q, v) returns", 3},
    [LG_CALL_TANGENT] = {"what tangent(t, q, v, a, lam) returns", 5},
    [LG_CALL_ENERGY] = {"what energy(t, q, v) returns", 3},
};

/* Axes of what a function returns. */
static int shape_of(const lg_py_system *self, enum lg_call call, npy_intp dims[3])
{
    npy_intp nv = self->space.nv, rows = self->rows;
    dims[0] = dims[1] = dims[2] = nv;
    switch (call) {
    case LG_CALL_MASS:
        return 2;
    case LG_CALL_CONSTRAINT:
    case LG_CALL_ACCELERATION:
        dims[0] = rows;
        return 1;
    case LG_CALL_JACOBIAN:
        dims[0] = rows;
        return 2;
    case LG_CALL_TANGENT:
        dims[0] = 2;
        return 3;
    case LG_CALL_ENERGY:
        dims[0] = 2;
        return 1;
    default:
        return 1;
    }
}

/* ---- arguments ---- */

static int all_finite(const double *x, int n)
{
    for (int i = 0; i < n; i++)
        if (!isfinite(x[i]))
            return 0;
    return 1;
}

static PyObject *read_only(const double *data, int n)
{
    PyObject *array = lg_vector_from(data, n);
    if (array)
        PyArray_CLEARFLAGS((PyArrayObject *)array, NPY_ARRAY_WRITEABLE);
    return array;
}

lg_status lg_py_place_open(lg_py_place *place, const lg_py_system *self, double t, const double *q, const double *v)
{
    *place = (lg_py_place){.t = t, .v = v};
    if (!all_finite(q, self->space.nq) || !all_finite(v, self->space.nv))
        return LG_NOT_FINITE;
    place->argument[0] = PyFloat_FromDouble(t);
    place->argument[1] = read_only(q, self->space.nq);
    place->argument[2] = read_only(v, self->space.nv);
    if (place->argument[0] && place->argument[1] && place->argument[2])
        return LG_OK;
    lg_py_place_close(place);
    return LG_CALLBACK;
}

void lg_py_place_close(lg_py_place *place)
{
    for (int i = 0; i < 3; i++)
        Py_CLEAR(place->argument[i]);
}

/* ---- calls ---- */

/* Takes over the reference to `result`. */
static lg_status store(const lg_py_system *self, enum lg_call call, PyObject *result, double *out)
{
    npy_intp dims[3];
    int ndim = shape_of(self, call, dims);
    PyArrayObject *array = result ? lg_array(result, calls[call].text, ndim, dims, 0) : NULL;
    Py_XDECREF(result);
    if (!array)
        return LG_CALLBACK;
    if (PyArray_SIZE(array))
        memcpy(out, lg_data(array), (size_t)PyArray_SIZE(array) * sizeof *out);
    Py_DECREF(array);
    return LG_OK;
}

lg_status lg_py_call(const lg_py_system *self, enum lg_call call, const lg_py_place *place, double *out)
{
    PyObject *result = PyObject_Vectorcall(self->function[call], place->argument, (size_t)calls[call].arguments, NULL);
    return store(self, call, result, out);
}

lg_status lg_py_call_tangent(const lg_py_system *self, const lg_py_place *place, const double *a, const double *lam,
                             double *K, double *D)
{
    size_t size = (size_t)self->space.nv * (size_t)self->space.nv;
    double *both = PyMem_Calloc(2 * size + 1, sizeof *both);
    PyObject *acceleration = read_only(a, self->space.nv), *multipliers = read_only(lam, self->rows);
    lg_status status = both && acceleration && multipliers ? LG_OK : LG_NO_MEMORY;
    if (status == LG_OK) {
        PyObject *arguments[] = {place->argument[0], place->argument[1], place->argument[2], acceleration, multipliers};
        PyObject *result = PyObject_Vectorcall(self->function[LG_CALL_TANGENT], arguments, 5, NULL);
        status = store(self, LG_CALL_TANGENT, result, both);
    }
    if (status == LG_OK) {
        memcpy(K, both, size * sizeof *K);
        memcpy(D, both + size, size * sizeof *D);
    }
    PyMem_Free(both);
    Py_XDECREF(acceleration);
    Py_XDECREF(multipliers);
    return status;
}
