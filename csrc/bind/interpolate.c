/* lgint._core.interpolate: dense output between knots. */
#include "bind/args.h"
#include "bind/system.h"
#include "run/dense.h"

enum { EXTRA = LG_PARTS, COLUMNS }; /* the parts of a state, then what the stepper adds */

typedef struct interpolation {
    const lg_system *system;
    PyArrayObject *t, *times; /* of the knots, and those asked for */
    PyArrayObject *knots[COLUMNS], *found[COLUMNS];
} interpolation;

/* A part that is not given; the width is nothing where it might be anything. */
static PyArrayObject *zeros(const npy_intp *dims)
{
    npy_intp known[] = {dims[0], dims[1] < 0 ? 0 : dims[1]};
    return (PyArrayObject *)PyArray_ZEROS(2, known, NPY_DOUBLE, 0);
}

/* The knots of one column, and room for what is found of it. */
static int open_column(interpolation *p, int k, PyObject *given)
{
    npy_intp dims[] = {PyArray_SIZE(p->t), k == EXTRA ? -1 : lg_part_width(p->system, (lg_part)k)};
    const char *name = k == EXTRA ? "extra" : lg_parts[k].name;
    if (!(p->knots[k] = given ? lg_array(given, name, 2, dims, 0) : zeros(dims)))
        return -1;
    npy_intp rows[] = {PyArray_SIZE(p->times), PyArray_DIM(p->knots[k], 1)};
    p->found[k] = (PyArrayObject *)PyArray_SimpleNew(2, rows, NPY_DOUBLE);
    return p->found[k] ? 0 : -1;
}

static int open_arrays(interpolation *p, PyObject *times, PyObject *t, PyObject *const *given)
{
    if (!(p->times = lg_vector(times, "times", -1)) || !(p->t = lg_vector(t, "t", -1)))
        return -1;
    if (PyArray_SIZE(p->t) < 2) {
        PyErr_SetString(PyExc_ValueError, "t must hold at least two knots");
        return -1;
    }
    for (int k = 0; k < COLUMNS; k++)
        if (open_column(p, k, given[k]) < 0)
            return -1;
    return 0;
}

static lg_states states_of(PyArrayObject *t, PyArrayObject *const *column)
{
    lg_states states = {.count = PyArray_SIZE(t),
                        .nextra = (int)PyArray_DIM(column[EXTRA], 1),
                        .t = PyArray_DATA(t),
                        .extra = PyArray_DATA(column[EXTRA])};
    for (int part = 0; part < LG_PARTS; part++)
        states.part[part] = PyArray_DATA(column[part]);
    return states;
}

static lg_status interpolate(const interpolation *p)
{
    lg_dense dense = {.system = p->system};
    lg_states knots = states_of(p->t, p->knots), found = states_of(p->times, p->found);
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
    PyObject *result = PyTuple_New(COLUMNS);
    for (int k = 0; result && k < COLUMNS; k++)
        PyTuple_SET_ITEM(result, k, Py_NewRef((PyObject *)p->found[k]));
    return result;
}

const char lg_interpolate_doc[] =
    "interpolate(system, times, t, q, v, a, lam, mem=None, extra=None)\n--\n\nq, v, a, lam, mem and extra at "
    "`times`, by dense output between knots.";

PyObject *lg_interpolate_call(PyObject *module, PyObject *args)
{
    const lg_module *state = PyModule_GetState(module);
    PyObject *self, *times, *t, *given[COLUMNS] = {NULL}, *result = NULL;
    if (!PyArg_ParseTuple(args, "O!OOOOOO|OO:interpolate", state->System, &self, &times, &t, &given[LG_PART_Q],
                          &given[LG_PART_V], &given[LG_PART_A], &given[LG_PART_LAM], &given[LG_PART_MEM],
                          &given[EXTRA]) ||
        !lg_system_of(self))
        return NULL;
    interpolation p = {.system = lg_system_of(self)};
    if (open_arrays(&p, times, t, given) == 0)
        result = result_of(&p, state);
    Py_XDECREF(p.t);
    Py_XDECREF(p.times);
    for (int k = 0; k < COLUMNS; k++) {
        Py_XDECREF(p.knots[k]);
        Py_XDECREF(p.found[k]);
    }
    return result;
}
