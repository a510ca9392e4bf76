/* lgint._core.interpolate: dense output between knots. */
#include "bind/map.h"
#include "run/dense.h"

enum { TIMES, Q, V, A, LAM, MEM, EXTRA, PARTS };

static const char *const part_names[PARTS] = {"t", "q", "v", "a", "lam", "mem", "extra"};

typedef struct interpolation {
    const lg_system *system;
    PyArrayObject *knots[PARTS], *found[PARTS];
} interpolation;

/* The width of a part, or -1 for any. */
static npy_intp width_of(const lg_system *system, int part)
{
    return part == EXTRA ? -1 : lg_length(system, "tqvvrm"[part]);
}

/* A part that is not given; the width is nothing where it might be anything. */
static PyArrayObject *zeros(const npy_intp *dims)
{
    npy_intp known[] = {dims[0], dims[1] < 0 ? 0 : dims[1]};
    return (PyArrayObject *)PyArray_ZEROS(2, known, NPY_DOUBLE, 0);
}

static int open_parts(interpolation *p, PyObject *const *given)
{
    npy_intp dims[] = {PyArray_SIZE(p->knots[TIMES]), 0}, rows[] = {PyArray_SIZE(p->found[TIMES]), 0};
    for (int k = Q; k < PARTS; k++) {
        dims[1] = width_of(p->system, k);
        if (!(p->knots[k] = given[k] ? lg_array(given[k], part_names[k], 2, dims, 0) : zeros(dims)))
            return -1;
        rows[1] = PyArray_DIM(p->knots[k], 1);
        if (!(p->found[k] = (PyArrayObject *)PyArray_SimpleNew(2, rows, NPY_DOUBLE)))
            return -1;
    }
    return 0;
}

static int open_arrays(interpolation *p, PyObject *times, PyObject *const *given)
{
    if (!(p->found[TIMES] = lg_vector(times, "times", -1)) || !(p->knots[TIMES] = lg_vector(given[TIMES], "t", -1)))
        return -1;
    if (PyArray_SIZE(p->knots[TIMES]) < 2) {
        PyErr_SetString(PyExc_ValueError, "t must hold at least two knots");
        return -1;
    }
    return open_parts(p, given);
}

static lg_states states_of(PyArrayObject *const *part)
{
    return (lg_states){.count = PyArray_SIZE(part[TIMES]),
                       .nextra = (int)PyArray_DIM(part[EXTRA], 1),
                       .t = PyArray_DATA(part[TIMES]),
                       .q = PyArray_DATA(part[Q]),
                       .v = PyArray_DATA(part[V]),
                       .a = PyArray_DATA(part[A]),
                       .lam = PyArray_DATA(part[LAM]),
                       .mem = PyArray_DATA(part[MEM]),
                       .extra = PyArray_DATA(part[EXTRA])};
}

static lg_status interpolate(const interpolation *p)
{
    lg_dense dense = {.system = p->system};
    lg_states knots = states_of(p->knots), found = states_of(p->found);
    lg_arena arena = {0};
    LG_TRY(lg_arena_open(&arena, lg_dense_layout, &dense));
    double *work = PyMem_Calloc((size_t)p->system->nwork + 1, sizeof *work);
    lg_status status = work ? lg_dense_through(&dense, &knots, &found, work) : LG_NO_MEMORY;
    PyMem_Free(work);
    lg_arena_close(&arena);
    return status;
}

static PyObject *result_of(const interpolation *p, const lg_module *module)
{
    static const lg_report none;
    lg_status status = interpolate(p);
    if (status != LG_OK)
        return lg_raise(module, status, &none, NULL);
    return Py_BuildValue("OOOOOO", p->found[Q], p->found[V], p->found[A], p->found[LAM], p->found[MEM],
                         p->found[EXTRA]);
}

const char lg_interpolate_doc[] =
    "interpolate(system, times, t, q, v, a, lam, mem=None, extra=None)\n--\n\nq, v, a, lam, mem and extra at "
    "`times`, by dense output between knots.";

PyObject *lg_interpolate_call(PyObject *module, PyObject *args)
{
    const lg_module *state = PyModule_GetState(module);
    PyObject *self, *times, *given[PARTS] = {NULL}, *result = NULL;
    if (!PyArg_ParseTuple(args, "O!OOOOOO|OO:interpolate", state->System, &self, &times, &given[TIMES], &given[Q],
                          &given[V], &given[A], &given[LAM], &given[MEM], &given[EXTRA]) ||
        !lg_system_of(self))
        return NULL;
    interpolation p = {.system = lg_system_of(self)};
    if (open_arrays(&p, times, given) == 0)
        result = result_of(&p, state);
    for (int k = 0; k < PARTS; k++) {
        Py_XDECREF(p.knots[k]);
        Py_XDECREF(p.found[k]);
    }
    return result;
}
