/* lgint._core.interpolate: dense output between knots. */
#include "bind/args.h"
#include "bind/system.h"
#include "run/dense.h"

/* Columns of one call: 0 t, 1 q, 2 v, 3 a, 4 lam. */
typedef struct interpolation {
    lg_dense dense;
    lg_arena arena;
    PyArrayObject *times, *knots[5], *out[4];
} interpolation;

static lg_knot knot_at(const interpolation *p, npy_intp i)
{
    const lg_space *space = p->dense.space;
    return (lg_knot){lg_data(p->knots[0])[i], lg_data(p->knots[1]) + i * space->nq,
                     lg_data(p->knots[2]) + i * space->nv, lg_data(p->knots[3]) + i * space->nv,
                     lg_data(p->knots[4]) + i * p->dense.nrows};
}

/* The last knot that is not later than t and that is followed by another one. */
static npy_intp interval_of(const interpolation *p, double t)
{
    const double *knots = lg_data(p->knots[0]);
    npy_intp low = 0, high = PyArray_SIZE(p->knots[0]) - 1;
    while (high - low > 1) {
        npy_intp middle = low + (high - low) / 2;
        if (knots[middle] <= t)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void interpolate(interpolation *p)
{
    npy_intp open = -1;
    double *out[4];
    for (int k = 0; k < 4; k++)
        out[k] = PyArray_DATA(p->out[k]);
    for (npy_intp j = 0; j < PyArray_SIZE(p->times); j++) {
        double t = lg_data(p->times)[j];
        npy_intp i = interval_of(p, t);
        if (i != open)
            lg_dense_open(&p->dense, knot_at(p, i), knot_at(p, i + 1));
        open = i;
        lg_dense_at(&p->dense, t, out[0], out[1], out[2], out[3]);
        for (int k = 0; k < 4; k++)
            out[k] += PyArray_DIM(p->out[k], 1);
    }
}

static int open_interpolation(interpolation *p, const lg_system *system, PyObject *const *given)
{
    static const char *const names[] = {"t", "q", "v", "a", "lam"};
    p->dense = (lg_dense){.space = system->space, .nrows = system->pattern->nrows};
    p->times = lg_vector(given[0], "times", -1);
    p->knots[0] = p->times ? lg_vector(given[1], "t", -1) : NULL;
    if (!p->knots[0])
        return -1;
    npy_intp n = PyArray_SIZE(p->knots[0]), count = PyArray_SIZE(p->times);
    npy_intp widths[] = {1, system->space->nq, system->space->nv, system->space->nv, system->pattern->nrows};
    if (n < 2) {
        PyErr_SetString(PyExc_ValueError, "t must hold at least two knots");
        return -1;
    }
    for (int k = 1; k < 5; k++) {
        npy_intp dims[] = {n, widths[k]}, shape[] = {count, widths[k]};
        p->knots[k] = lg_array(given[1 + k], names[k], 2, dims, 0);
        p->out[k - 1] = (PyArrayObject *)PyArray_SimpleNew(2, shape, NPY_DOUBLE);
        if (!p->knots[k] || !p->out[k - 1])
            return -1;
    }
    if (lg_arena_open(&p->arena, lg_dense_layout, &p->dense) == LG_OK)
        return 0;
    PyErr_NoMemory();
    return -1;
}

PyDoc_STRVAR(interpolate_doc,
             "interpolate(system, times, t, q, v, a, lam)\n--\n\n"
             "q, v, a, lam at `times` (m,), by dense output between knots: t (n,) ascending, the others\n"
             "(n, width). If two knots have the same time, the later one is used there.");

static PyObject *interpolate_call(PyObject *module, PyObject *args)
{
    const lg_module *state = PyModule_GetState(module);
    PyObject *self, *given[6], *result = NULL;
    if (!PyArg_ParseTuple(args, "O!OOOOOO:interpolate", state->System, &self, &given[0], &given[1], &given[2],
                          &given[3], &given[4], &given[5]) ||
        !lg_system_of(self))
        return NULL;
    interpolation p = {0};
    if (open_interpolation(&p, lg_system_of(self), given) == 0) {
        interpolate(&p);
        result = Py_BuildValue("OOOO", p.out[0], p.out[1], p.out[2], p.out[3]);
    }
    lg_arena_close(&p.arena);
    Py_XDECREF(p.times);
    for (int k = 0; k < 5; k++)
        Py_XDECREF(p.knots[k]);
    for (int k = 0; k < 4; k++)
        Py_XDECREF(p.out[k]);
    return result;
}

static PyMethodDef interpolate_functions[] = {
    {"interpolate", interpolate_call, METH_VARARGS, interpolate_doc},
    {NULL, NULL, 0, NULL},
};

int lg_add_interpolate(PyObject *module)
{
    return PyModule_AddFunctions(module, interpolate_functions);
}
