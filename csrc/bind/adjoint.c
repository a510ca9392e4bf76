/* lgint._core.adjoint: one segment of a run backwards, without the GIL where the system allows it. */
#include "run/adjoint.h"
#include "bind/errors.h"
#include "bind/gil.h"
#include "bind/run.h"
#include "bind/system.h"
#include "bind/tape.h"

#include <stdlib.h>

typedef struct adjoint_call {
    lg_gil gil;
    lg_setup setup;
    lg_schedule schedule;
    lg_adjoint_rows rows;
    lg_adjoint adjoint;
} adjoint_call;

/* The derivatives of the start, (dq, dv), which only segments that begin with one have. */
static int read_slopes(PyObject *owned, PyObject *system, PyObject *given, adjoint_call *c)
{
    PyObject *dq, *dv;
    lg_setup *setup = &c->setup;
    int nv = setup->system->space->nv;
    if (!PyArg_ParseTuple(given, "iOO:slopes", &setup->nparameters, &dq, &dv))
        return -1;
    if (!(setup->plans.of[LG_COUPLING_TANGENTS] = lg_system_plan(system, LG_COUPLING_TANGENTS)))
        return -1;
    setup->backwards = 1;
    c->adjoint.first = dq != Py_None;
    if (!c->adjoint.first)
        return 0;
    return lg_read_vector(owned, "dq", dq, setup->nparameters * nv, &setup->dq) < 0 ||
                   lg_read_vector(owned, "dv", dv, setup->nparameters * nv, &setup->dv) < 0
               ? -1
               : 0;
}

/* (t, values): the saved states, and the derivatives by each of them. */
static int read_rows(PyObject *owned, PyObject *given, adjoint_call *c)
{
    PyObject *t, *values;
    const lg_system *system = c->setup.system;
    npy_intp dims[] = {-1, 3 * system->space->nv + system->pattern->nrows + lg_held_back(&c->setup)};
    if (!PyArg_ParseTuple(given, "OO:rows", &t, &values))
        return -1;
    c->rows.count = lg_read_vector(owned, "t", t, -1, &c->rows.t);
    dims[0] = c->rows.count;
    PyArrayObject *array = c->rows.count < 0 ? NULL : lg_keep_array(owned, lg_array(values, "rows", 2, dims, 0));
    c->rows.values = array ? lg_data(array) : NULL;
    return array ? 0 : -1;
}

static int read_state(PyObject *owned, PyObject *given, adjoint_call *c)
{
    const double *values;
    if (given == Py_None)
        return 0;
    int n = lg_read_vector(owned, "state", given, -1, &values);
    c->adjoint.state = n > 0 ? malloc((size_t)n * sizeof(double)) : NULL;
    if (c->adjoint.state)
        memcpy(c->adjoint.state, values, (size_t)n * sizeof(double));
    c->adjoint.nstate = n;
    return n < 0 ? -1 : 0;
}

/* A copy of the gradient so far, to which the segment adds its share. */
static PyArrayObject *gradient_of(const adjoint_call *c, PyObject *given)
{
    npy_intp n = c->setup.nparameters;
    PyArrayObject *old = lg_vector(given, "gradient", n);
    PyArrayObject *sum = old ? (PyArrayObject *)lg_vector_from(lg_data(old), n) : NULL;
    Py_XDECREF(old);
    return sum;
}

static PyObject *go_back(adjoint_call *c, const lg_module *module, PyArrayObject *gradient)
{
    lg_report report = {0};
    lg_adjoint *a = &c->adjoint;
    a->setup = &c->setup, a->schedule = &c->schedule, a->rows = &c->rows;
    a->poll = lg_gil_poll, a->self = &c->gil;
    a->gradient = PyArray_DATA(gradient);
    c->gil.kept = c->setup.system->flags & LG_SYSTEM_NEEDS_GIL;
    lg_gil_release(&c->gil);
    lg_status status = lg_adjoint_go_back(a, &report);
    lg_gil_take(&c->gil);
    if (status != LG_OK)
        return lg_raise(module, status, &report, NULL);
    return Py_BuildValue("iNO", c->rows.count, lg_vector_from(a->state, a->nstate), gradient);
}

const char lg_adjoint_doc[] =
    "adjoint(system, method, t0, t_end, h, q, v, start, options, stops, steps, slopes, rows, state, gradient,\n"
    "        progress=None, tape=None, before=0, cut=False)\n--\n\n"
    "A segment of `steps` steps of a run backwards, from `state`, the derivatives by the state at its end (what is "
    "missing is zero).\n"
    "The steps are taken once more, unless they are on a tape of the run, after `before` others. Returns the number of "
    "rows that are left, the derivatives by the state at its start, and the gradient.";

PyObject *lg_adjoint_call(PyObject *self, PyObject *args)
{
    const lg_module *module = PyModule_GetState(self);
    PyObject *stops, *slopes, *rows, *state, *gradient, *tape = Py_None, *result = NULL;
    adjoint_call c = {.schedule.save_every = 1};
    lg_run_arguments a;
    if (!PyArg_ParseTuple(args, "OsdddOOOOOlOOOO|OOlp:adjoint", &a.system, &a.method, &a.t0, &c.schedule.t_end,
                          &c.schedule.h, &a.q, &a.v, &a.start, &a.options, &stops, &c.adjoint.steps, &slopes, &rows,
                          &state, &gradient, &c.gil.progress, &tape, &c.adjoint.before, &c.adjoint.cut) ||
        lg_function("progress", &c.gil.progress) < 0 || (tape != Py_None && !(c.adjoint.tape = lg_tape_in(tape))))
        return NULL;
    PyObject *owned = PyList_New(0);
    if (owned && lg_read_setup(owned, module, &a, &c.setup) == 0 &&
        lg_read_times(owned, stops, Py_None, &c.schedule) == 0 && read_slopes(owned, a.system, slopes, &c) == 0 &&
        read_rows(owned, rows, &c) == 0 && read_state(owned, state, &c) == 0) {
        PyArrayObject *sum = gradient_of(&c, gradient);
        result = sum ? go_back(&c, module, sum) : NULL;
        Py_XDECREF(sum);
    }
    free(c.adjoint.state);
    Py_XDECREF(owned);
    return result;
}
