/* lgint._core.integrate: a whole run, without the GIL where the system allows it. */
#include "bind/compiled.h"
#include "bind/gil.h"
#include "bind/instant.h"
#include "bind/outcome.h"
#include "bind/run.h"
#include "bind/system.h"
#include "bind/tape.h"
#include "run/session.h"
#include "system/sensitivity.h"

typedef struct integrate_call {
    lg_gil gil;
    const lg_system *system;
    PyObject *on_step, *on_rows, *on_stop, *on_mark; /* callables, or NULL */
    int ends; /* whether on_step may end the run */
    PyObject *capsule,
        *both; /* a capsule with this call, and the function both_ends bound to it; NULL without on_step */
    const lg_module *module;
    lg_run *run; /* whose last step on_step is called for */
    PyObject *watch; /* compiled events, if there are no others, or NULL: on_step is called where one of them may be */
    double *value; /* of each of them, at the end of the last step once it is `known` */
    int known;
} integrate_call;

/* ---- what the core calls on its way ---- */

/* A part of one state (n) or of two (2, n), read-only so that a callback cannot change the run. */
static PyObject *copied(const integrate_call *c, lg_part part, int count, const lg_state *const states[])
{
    npy_intp dims[] = {2, lg_part_width(c->system, part)};
    size_t size = (size_t)dims[1] * sizeof(double);
    PyArrayObject *array = (PyArrayObject *)PyArray_SimpleNew(count, dims + 2 - count, NPY_DOUBLE);
    if (!array)
        return NULL;
    for (int i = 0; i < count && size; i++)
        memcpy(PyArray_BYTES(array) + (size_t)i * size, lg_part_of(states[i], part), size);
    PyArray_CLEARFLAGS(array, NPY_ARRAY_WRITEABLE);
    return (PyObject *)array;
}

/* The curve of the step for its end, after zeros for its start, (2, n); None if it has none. */
static PyObject *copied_curve(integrate_call *c)
{
    const double *curve;
    lg_status status = lg_run_curve(c->run, &curve);
    if (status != LG_OK)
        return lg_raise(c->module, status, &c->run->stepper->report, NULL);
    if (!curve)
        return Py_NewRef(Py_None);
    npy_intp dims[] = {2, lg_run_curve_count(c->run)};
    PyObject *array = PyArray_ZEROS(2, dims, NPY_DOUBLE, 0);
    if (array)
        memcpy(PyArray_GETPTR1((PyArrayObject *)array, 1), curve, (size_t)dims[1] * sizeof(double));
    return array;
}

static const char current[] = "the step for which on_step is called"; /* the name of the capsule during that call */

/* The derivatives by parameters at both ends of the step, (2, n); None in a run without them. */
static PyObject *copied_derivatives(const integrate_call *c)
{
    const lg_run *run = c->run;
    const lg_sensitivities *s = &run->sensitivities;
    if (!s->count)
        return Py_NewRef(Py_None);
    npy_intp dims[] = {2, s->own - s->q};
    PyArrayObject *array = (PyArrayObject *)PyArray_SimpleNew(2, dims, NPY_DOUBLE);
    if (array) {
        memcpy(PyArray_GETPTR1(array, 0), run->before.carry + (s->q - run->state.carry),
               (size_t)dims[1] * sizeof(double));
        memcpy(PyArray_GETPTR1(array, 1), s->q, (size_t)dims[1] * sizeof(double));
    }
    return (PyObject *)array;
}

/* both_ends() -> (t, q, v, a, lam, mem, None, curve, derivatives), each for both ends of the step. It works only while
   on_step is called. */
static PyObject *both_ends(PyObject *capsule, PyObject *Py_UNUSED(none))
{
    integrate_call *c = PyCapsule_GetPointer(capsule, current);
    PyObject *curve = c ? copied_curve(c) : NULL;
    if (!curve)
        return NULL;
    const lg_state *const ends[] = {&c->run->before, &c->run->state};
    return Py_BuildValue("(dd)NNNNNONN", ends[0]->t, ends[1]->t, copied(c, LG_PART_Q, 2, ends),
                         copied(c, LG_PART_V, 2, ends), copied(c, LG_PART_A, 2, ends), copied(c, LG_PART_LAM, 2, ends),
                         copied(c, LG_PART_MEM, 2, ends), Py_None, curve, copied_derivatives(c));
}

static PyMethodDef both_ends_def = {"both_ends", both_ends, METH_NOARGS, NULL};

static int make_both_ends(integrate_call *c)
{
    c->capsule = PyCapsule_New(c, NULL, NULL);
    c->both = c->capsule ? PyCFunction_New(&both_ends_def, c->capsule) : NULL;
    return c->both ? 0 : -1;
}

/* Whether a compiled event may be in the step: a function comes to zero, or to the other side of it. */
static lg_status look_for_events(integrate_call *c, const lg_run *run, int *found)
{
    const lg_state *before = &run->before, *after = &run->state;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(c->watch); i++) {
        const lg_compiled *event = lg_compiled_of(PyTuple_GET_ITEM(c->watch, i));
        double old = c->value[i];
        if (!c->known)
            LG_TRY(lg_compiled_event(event, before->t, before->q, before->v, &old));
        LG_TRY(lg_compiled_event(event, after->t, after->q, after->v, &c->value[i]));
        *found = *found || (old < 0 && c->value[i] >= 0) || (old > 0 && c->value[i] <= 0);
    }
    c->known = 1;
    return LG_OK;
}

/* The memory for values of events, which the list keeps; -1: an exception is set. */
static int read_watch(integrate_call *c, PyObject *owned)
{
    if (!c->watch)
        return 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(c->watch); i++)
        if (!lg_compiled_of(PyTuple_GET_ITEM(c->watch, i))) {
            PyErr_Format(PyExc_ValueError, "watch must be compiled events, given %R", c->watch);
            return -1;
        }
    c->value = lg_keep_memory(owned, PyTuple_GET_SIZE(c->watch), sizeof *c->value);
    return c->value ? 0 : -1;
}

/* Copies derivatives by parameters from an array with all columns; does nothing if it is NULL. */
static int take_columns(const char *name, PyObject *given, npy_intp size, double *out)
{
    PyArrayObject *array = given ? lg_array(given, name, 1, &size, 0) : NULL;
    if (array && size)
        memcpy(out, lg_data(array), (size_t)size * sizeof(double));
    Py_XDECREF(array);
    return array || !given ? 0 : -1;
}

/* Copies derivatives of q, v and the memory, as far as they are given. */
static int take_slopes(lg_run *run, PyObject *dq, PyObject *dv, PyObject *dmem)
{
    const lg_sensitivities *s = &run->sensitivities;
    return take_columns("dq", dq, s->v - s->q, s->q) < 0 || take_columns("dv", dv, s->a - s->v, s->v) < 0 ||
                   take_columns("dmem", dmem, s->own - s->mem, s->mem) < 0
               ? -1
               : 0;
}

/* What on_step gives: a time, or a time before the end of the step with the derivatives there. */
static void take_stop(lg_run *run, PyObject *given, double *t_stop)
{
    PyObject *dq, *dv, *dmem;
    if (!PyTuple_Check(given))
        *t_stop = PyFloat_AsDouble(given);
    else if (PyArg_ParseTuple(given, "dOOO:on_step", t_stop, &dq, &dv, &dmem))
        (void)take_slopes(run, dq, dv, dmem);
}

static PyObject *instant_at_end(const integrate_call *c)
{
    static const double none = 0; /* not NULL, as the end of a step has all of its parts, perhaps of no width */
    const lg_state *end = &c->run->state;
    const lg_part parts[] = {LG_PART_Q, LG_PART_V, LG_PART_MEM};
    lg_instant_arrays arrays[LG_INSTANT_ARRAYS] = {{NULL, 0}};
    for (int i = 0; i < 3; i++) {
        arrays[i].count = lg_part_width(c->system, parts[i]);
        arrays[i].data = arrays[i].count ? lg_part_of(end, parts[i]) : &none;
    }
    return lg_instant_new(c->module->Instant, end->t, 0, arrays);
}

/* on_step(instant, both_ends) at the end of a step -> None, or the time at which the run ends. */
static lg_status call_on_step(void *self, lg_run *run, double *t_stop)
{
    integrate_call *c = self;
    int found = !c->watch;
    if (c->watch)
        LG_TRY(look_for_events(c, run, &found));
    if (!found)
        return LG_OK;
    lg_gil_take(&c->gil);
    c->run = run;
    (void)PyCapsule_SetName(c->capsule, current);
    PyObject *instant = instant_at_end(c);
    PyObject *result = instant ? PyObject_CallFunctionObjArgs(c->on_step, instant, c->both, NULL) : NULL;
    lg_instant_end(instant);
    (void)PyCapsule_SetName(c->capsule, NULL);
    if (result && result != Py_None)
        take_stop(run, result, t_stop);
    Py_XDECREF(result);
    lg_status status = PyErr_Occurred() ? LG_CALLBACK : LG_OK;
    lg_gil_release(&c->gil);
    return status;
}

/* Copies a part of the state that on_stop gives; -1 with an exception set if it is no array of that width. */
static int take_part(const integrate_call *c, lg_part part, PyObject *given, lg_state *state)
{
    npy_intp width = lg_part_width(c->system, part);
    PyArrayObject *array = lg_array(given, lg_parts[part].name, 1, &width, 0);
    if (array && width)
        memcpy(lg_part_of(state, part), lg_data(array), (size_t)width * sizeof(double));
    Py_XDECREF(array);
    return array ? 0 : -1;
}

/* The derivatives of sampled memory, parameter by parameter; None in a run without derivatives. */
static PyObject *copied_memory_derivatives(const lg_run *run)
{
    const lg_sensitivities *s = &run->sensitivities;
    return s->count ? lg_vector_from(s->mem, s->own - s->mem) : Py_NewRef(Py_None);
}

/* on_stop(t, q, v, mem, dmem) where on_step has stopped the run -> None, or (q, v, mem, goes_on) to go on with,
   followed by the derivatives of q, v and mem if the run has any. */
static lg_status call_on_stop(void *self, lg_run *run, int *acts, int *goes_on)
{
    integrate_call *c = self;
    const lg_state *at = &run->state;
    PyObject *q, *v, *mem, *dq = NULL, *dv = NULL, *dmem = NULL;
    lg_gil_take(&c->gil);
    PyObject *result =
        PyObject_CallFunction(c->on_stop, "dNNNN", at->t, copied(c, LG_PART_Q, 1, &at), copied(c, LG_PART_V, 1, &at),
                              copied(c, LG_PART_MEM, 1, &at), copied_memory_derivatives(run));
    *acts = result && result != Py_None;
    if (*acts && PyArg_ParseTuple(result, "OOOp|OOO:on_stop", &q, &v, &mem, goes_on, &dq, &dv, &dmem) &&
        take_part(c, LG_PART_Q, q, &run->state) == 0 && take_part(c, LG_PART_V, v, &run->state) == 0 &&
        take_part(c, LG_PART_MEM, mem, &run->state) == 0)
        (void)take_slopes(run, dq, dv, dmem);
    Py_XDECREF(result);
    lg_status status = PyErr_Occurred() ? LG_CALLBACK : LG_OK;
    lg_gil_release(&c->gil);
    return status;
}

static lg_status call_on_rows(void *self, lg_outcome *rows)
{
    integrate_call *c = self;
    lg_gil_take(&c->gil);
    PyObject *dict = lg_outcome_dict(rows);
    PyObject *done = dict ? PyObject_CallOneArg(c->on_rows, dict) : NULL;
    Py_XDECREF(dict);
    Py_XDECREF(done);
    lg_gil_release(&c->gil);
    return done ? LG_OK : LG_CALLBACK;
}

/* on_mark(step, t, q, v, start) with what `start` of integrate takes, before some of the steps. */
static lg_status call_on_mark(void *self, long step, const lg_state *state, int ncarry)
{
    integrate_call *c = self;
    lg_gil_take(&c->gil);
    PyObject *start =
        Py_BuildValue("{sNsNsNsN}", lg_parts[LG_PART_A].name, copied(c, LG_PART_A, 1, &state),
                      lg_parts[LG_PART_LAM].name, copied(c, LG_PART_LAM, 1, &state), lg_parts[LG_PART_MEM].name,
                      copied(c, LG_PART_MEM, 1, &state), "carry", lg_vector_from(state->carry, ncarry));
    PyObject *done = start ? PyObject_CallFunction(c->on_mark, "ldNNN", step, state->t, copied(c, LG_PART_Q, 1, &state),
                                                   copied(c, LG_PART_V, 1, &state), start)
                           : NULL;
    Py_XDECREF(done);
    lg_gil_release(&c->gil);
    return done ? LG_OK : LG_CALLBACK;
}

/* ---- the call ---- */

/* The number of parameters with dq and dv, two arrays (parameters, nv), which are None for a run whose derivatives are
   found backwards; or None. Equations are linearised by tangents, whatever the stepper needs. */
static int read_slopes(PyObject *owned, PyObject *system, PyObject *given, lg_setup *setup)
{
    PyObject *dq, *dv;
    int nv = setup->system->space->nv, count;
    if (given == Py_None)
        return 0;
    if (!PyArg_ParseTuple(given, "iOO:slopes", &count, &dq, &dv))
        return -1;
    setup->backwards = dq == Py_None;
    int known = lg_sensitivity_count(setup->system); /* 0: all of them are of the start alone */
    if (count < 1 || (known && known != count)) {
        PyErr_Format(PyExc_ValueError, "slopes: the system has another number of parameters than %d", count);
        return -1;
    }
    setup->nparameters = count;
    if (!(setup->plans.of[LG_COUPLING_TANGENTS] = lg_system_plan(system, LG_COUPLING_TANGENTS)))
        return -1;
    if (setup->backwards)
        return 0;
    return lg_read_vector(owned, "dq", dq, count * nv, &setup->dq) < 0 ||
                   lg_read_vector(owned, "dv", dv, count * nv, &setup->dv) < 0
               ? -1
               : 0;
}

/* Adds the tape as a capsule, None if it was full. */
static PyObject *with_tape(PyObject *result, lg_tape *tape)
{
    PyObject *capsule = !result ? NULL : tape->count ? lg_tape_capsule(tape) : Py_NewRef(Py_None);
    if (!capsule || PyDict_SetItemString(result, "tape", capsule) < 0)
        Py_CLEAR(result);
    Py_XDECREF(capsule);
    lg_tape_close(tape);
    return result;
}

static PyObject *run_integrate(integrate_call *c, const lg_module *module, lg_session *session)
{
    const lg_observer observer = {.self = c,
                                  .poll = lg_gil_poll,
                                  .step = c->on_step ? call_on_step : NULL,
                                  .act = c->on_stop ? call_on_stop : NULL,
                                  .ends = c->ends};
    lg_outcome outcome;
    c->system = session->setup->system;
    c->module = module;
    c->gil.kept = c->system->flags & LG_SYSTEM_NEEDS_GIL;
    session->observer = &observer;
    session->take = c->on_rows ? call_on_rows : NULL;
    session->mark = c->on_mark ? call_on_mark : NULL;
    lg_gil_release(&c->gil);
    (void)lg_session_run(session, &outcome);
    lg_gil_take(&c->gil);
    PyObject *result = lg_outcome_result(module, &outcome);
    return session->tape ? with_tape(result, session->tape) : result;
}

const char lg_integrate_doc[] =
    "integrate(system, method, t0, t_end, h, save_every, q, v, start, options, progress=None, t_eval=None,\n"
    "          on_step=None, dense=False, stops=None, on_rows=None, room=0, ends=False, kept=0,\n"
    "          others=0, on_stop=None, slopes=None, watch=None,\n"
    "          on_mark=None, tape=0)\n--\n\n"
    "A whole run as a dict of arrays.";

PyObject *lg_integrate_call(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"system", "method",  "t0",      "t_end",    "h",      "save_every", "q",
                            "v",      "start",   "options", "progress", "t_eval", "on_step",    "dense",
                            "stops",  "on_rows", "room",    "ends",     "kept",   "others",     "on_stop",
                            "slopes", "watch",   "on_mark", "tape",     NULL};
    const lg_module *module = PyModule_GetState(self);
    PyObject *t_eval = Py_None, *stops = Py_None, *slopes = Py_None, *result = NULL;
    Py_ssize_t room = 0;
    lg_tape tape = {0};
    lg_run_arguments a;
    lg_setup setup;
    lg_schedule schedule = {0};
    lg_session session = {.setup = &setup, .schedule = &schedule};
    integrate_call c = {.on_step = NULL};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OsdddlOOOO|OOOpOOnpdiOOO!Od:integrate", names, &a.system, &a.method,
                                     &a.t0, &schedule.t_end, &schedule.h, &schedule.save_every, &a.q, &a.v, &a.start,
                                     &a.options, &c.gil.progress, &t_eval, &c.on_step, &session.dense, &stops,
                                     &c.on_rows, &room, &c.ends, &session.kept, &session.others, &c.on_stop, &slopes,
                                     &PyTuple_Type, &c.watch, &c.on_mark, &tape.most) ||
        lg_function("progress", &c.gil.progress) < 0 || lg_function("on_step", &c.on_step) < 0 ||
        lg_function("on_stop", &c.on_stop) < 0 || lg_function("on_mark", &c.on_mark) < 0 ||
        lg_function("on_rows", &c.on_rows) < 0)
        return NULL;
    session.tape = tape.most > 0 ? &tape : NULL;
    session.room = room > 0 ? (size_t)room : 1;
    PyObject *owned = PyList_New(0);
    const int ready = owned && read_watch(&c, owned) == 0 && (!c.on_step || make_both_ends(&c) == 0);
    if (ready && lg_read_setup(owned, module, &a, &setup) == 0 && lg_read_times(owned, stops, t_eval, &schedule) == 0 &&
        read_slopes(owned, a.system, slopes, &setup) == 0)
        result = run_integrate(&c, module, &session);
    Py_XDECREF(owned);
    Py_XDECREF(c.both);
    Py_XDECREF(c.capsule);
    return result;
}
