/* lgint._core.interpolate: dense output between knots. */
#include "bind/map.h"
#include "run/dense.h"

enum { PARTS = 4 }; /* q, v, a, lam */

typedef struct interpolation {
    const lg_system *system;
    PyArrayObject *times, *knots, *part[PARTS], *out[PARTS];
} interpolation;

static int open_arrays(interpolation *p, PyObject *const *given)
{
    static const char *const names[] = {"q", "v", "a", "lam"};
    p->times = lg_vector(given[0], "times", -1);
    p->knots = p->times ? lg_vector(given[1], "t", -1) : NULL;
    if (!p->knots)
        return -1;
    npy_intp n = PyArray_SIZE(p->knots), count = PyArray_SIZE(p->times);
    if (n < 2) {
        PyErr_SetString(PyExc_ValueError, "t must hold at least two knots");
        return -1;
    }
    for (int k = 0; k < PARTS; k++) {
        npy_intp dims[] = {n, lg_length(p->system, "qvvr"[k])};
        p->part[k] = lg_array(given[2 + k], names[k], 2, dims, 0);
        p->out[k] = p->part[k] ? lg_new_array(p->system, 1, &count, (const char[]){"qvvr"[k], '\0'}) : NULL;
        if (!p->out[k])
            return -1;
    }
    return 0;
}

static PyObject *interpolate(const interpolation *p)
{
    lg_dense dense = {.space = p->system->space, .nrows = p->system->pattern->nrows};
    lg_knots knots = {PyArray_SIZE(p->knots), lg_data(p->knots),   lg_data(p->part[0]),
                      lg_data(p->part[1]),    lg_data(p->part[2]), lg_data(p->part[3])};
    lg_arena arena = {0};
    if (lg_arena_open(&arena, lg_dense_layout, &dense) != LG_OK)
        return PyErr_NoMemory();
    lg_dense_through(&dense, &knots, PyArray_SIZE(p->times), lg_data(p->times), PyArray_DATA(p->out[0]),
                     PyArray_DATA(p->out[1]), PyArray_DATA(p->out[2]), PyArray_DATA(p->out[3]));
    lg_arena_close(&arena);
    return Py_BuildValue("OOOO", p->out[0], p->out[1], p->out[2], p->out[3]);
}

PyDoc_STRVAR(
    interpolate_doc,
    "interpolate(system, times, t, q, v, a, lam)\n--\n\nq, v, a, lam at `times`, by dense output between knots.");

static PyObject *interpolate_call(PyObject *module, PyObject *args)
{
    const lg_module *state = PyModule_GetState(module);
    PyObject *self, *given[2 + PARTS], *result = NULL;
    if (!PyArg_ParseTuple(args, "O!OOOOOO:interpolate", state->System, &self, &given[0], &given[1], &given[2],
                          &given[3], &given[4], &given[5]) ||
        !lg_system_of(self))
        return NULL;
    interpolation p = {.system = lg_system_of(self)};
    if (open_arrays(&p, given) == 0)
        result = interpolate(&p);
    Py_XDECREF(p.times);
    Py_XDECREF(p.knots);
    for (int k = 0; k < PARTS; k++) {
        Py_XDECREF(p.part[k]);
        Py_XDECREF(p.out[k]);
    }
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
