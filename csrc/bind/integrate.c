/* lgint._core.integrate: a whole run, without the GIL where the system allows it. */
#include "bind/outcome.h"
#include "bind/run.h"
#include "run/session.h"

typedef struct call {
    lg_session session;
    lg_module *module;
    lg_outcome outcome;
    PyObject *progress, *on_step, *on_rows; /* callables, or NULL */
    int ends; /* whether on_step may end the run */
    lg_thread thread;
    double begin, wall_time; /* s */
} call;

/* ---- the observer ---- */

/* A part of both ends of a step, (2, n), read-only so that a callback cannot change the run. */
static PyObject *both(const call *c, lg_part part, const lg_state *before, const lg_state *after)
{
    npy_intp dims[] = {2, lg_part_width(c->session.run.system, part)};
    size_t size = (size_t)dims[1] * sizeof(double);
    PyArrayObject *array = (PyArrayObject *)PyArray_SimpleNew(2, dims, NPY_DOUBLE);
    if (!array)
        return NULL;
    char *rows = PyArray_DATA(array);
    if (size) {
        memcpy(rows, lg_part_of(before, part), size);
        memcpy(rows + size, lg_part_of(after, part), size);
    }
    PyArray_CLEARFLAGS(array, NPY_ARRAY_WRITEABLE);
    return (PyObject *)array;
}

/* on_step(t, q, v, a, lam) of both ends -> None, or the time at which the run ends. */
static lg_status call_on_step(const call *c, const lg_state *before, const lg_state *after, double *t_stop)
{
    PyObject *result = PyObject_CallFunction(c->on_step, "(dd)NNNN", before->t, after->t,
                                             both(c, LG_PART_Q, before, after), both(c, LG_PART_V, before, after),
                                             both(c, LG_PART_A, before, after), both(c, LG_PART_LAM, before, after));
    if (result && result != Py_None)
        *t_stop = PyFloat_AsDouble(result);
    Py_XDECREF(result);
    return PyErr_Occurred() ? LG_CALLBACK : LG_OK;
}

static lg_status step(void *self, const lg_state *before, const lg_state *after, double *t_stop)
{
    call *c = self;
    int borrowed = lg_borrow_gil(&c->thread);
    lg_status status = call_on_step(c, before, after, t_stop);
    lg_return_gil(&c->thread, borrowed);
    return status;
}

static lg_status poll(void *self, double t)
{
    call *c = self;
    return lg_look_outside(&c->thread, c->progress, PyFloat_FromDouble, t);
}

static lg_status run(call *c, const lg_schedule *schedule, lg_report *report)
{
    lg_observer observer = {.self = c, .poll = poll, .step = c->on_step ? step : NULL, .ends = c->ends};
    lg_release_gil(&c->thread, c->session.run.system);
    lg_status status = lg_session_run(&c->session, schedule, &observer, report);
    lg_hold_gil(&c->thread);
    return status;
}

/* ---- the result ---- */

static void set_carry(lg_outcome *outcome, const lg_run *run, const lg_state *state)
{
    outcome->stats = run->stepper->stats;
    outcome->carry = state->carry;
    outcome->ncarry = lg_run_carry_count(run);
}

/* A run that could not be opened has no states, no carry and no counts; one without a system has no result. */
static PyObject *result_of(void *self)
{
    call *c = self;
    lg_session *s = &c->session;
    lg_outcome *outcome = &c->outcome;
    if (!s->run.system)
        return NULL;
    outcome->record[LG_STATES] = &s->states;
    outcome->record[LG_END] = &s->end;
    outcome->record[LG_KNOTS] = s->dense ? &s->knots : NULL;
    outcome->wall_time = c->wall_time;
    if (s->run.stepper)
        set_carry(outcome, &s->run, &s->run.state);
    return lg_outcome_dict(outcome);
}

/* ---- rows that are taken away during the run ---- */

/* The rows saved so far, and the state from which a run goes on after them, as the result of a run. */
static PyObject *rows_dict(const call *c, lg_session *s, lg_record *end)
{
    lg_outcome outcome = {.record = {&s->states, end}, .wall_time = fmax(0, lg_wall_time() - c->begin)};
    set_carry(&outcome, &s->run, s->reached);
    *end = lg_record_of(s->run.system, lg_run_extra_count(&s->run));
    int added = lg_record_add(end, s->reached, s->run.h, s->run.error) == LG_OK;
    PyObject *dict = added ? lg_outcome_dict(&outcome) : PyErr_NoMemory();
    lg_outcome_close(&outcome);
    return dict;
}

static lg_status give_rows(const call *c, lg_session *s)
{
    lg_record end = {0};
    PyObject *rows = rows_dict(c, s, &end);
    PyObject *done = rows ? PyObject_CallOneArg(c->on_rows, rows) : NULL;
    lg_record_close(&end);
    Py_XDECREF(rows);
    Py_XDECREF(done);
    return done ? LG_OK : LG_CALLBACK;
}

static lg_status take(void *self)
{
    call *c = self;
    int borrowed = lg_borrow_gil(&c->thread);
    lg_status status = give_rows(c, &c->session);
    lg_return_gil(&c->thread, borrowed);
    return status;
}

/* ---- the whole run ---- */

/* If memory runs out while the result is made, a second attempt makes the result that the exception carries. */
static PyObject *integrate(call *c, const lg_run_arguments *arguments, const lg_schedule *schedule)
{
    lg_report report = {0};
    lg_status status = lg_run_from(&c->session.run, c->module, arguments, &report);
    c->begin = lg_wall_time();
    c->session.take = c->on_rows ? take : NULL;
    if (c->session.run.system)
        lg_session_begin(&c->session);
    if (status == LG_OK)
        status = run(c, schedule, &report);
    c->wall_time = fmax(0, lg_wall_time() - c->begin);
    PyObject *result = status == LG_OK ? result_of(c) : NULL;
    return result ? result : lg_raise_after(c->module, status == LG_OK ? LG_NO_MEMORY : status, &report, result_of, c);
}

static void close_call(call *c)
{
    lg_outcome_close(&c->outcome);
    lg_session_close(&c->session);
}

/* ---- arguments ---- */

const char lg_integrate_doc[] =
    "integrate(system, method, t0, t_end, h, save_every, q, v, start, options, progress=None, t_eval=None,\n  "
    "        on_step=None, dense=False, stops=None, on_rows=None, room=0, ends=False)\n--\n\nA whole run as a dict of "
    "arrays.";

PyObject *lg_integrate_call(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"system", "method",  "t0",      "t_end",    "h",      "save_every", "q",
                            "v",      "start",   "options", "progress", "t_eval", "on_step",    "dense",
                            "stops",  "on_rows", "room",    "ends",     NULL};
    Py_ssize_t room = 0;
    lg_run_arguments a;
    lg_schedule schedule = {0};
    PyObject *t_eval = Py_None, *stops = Py_None, *result = NULL;
    PyArrayObject *times[2] = {NULL};
    call c = {.module = PyModule_GetState(module)};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OsdddlOOOO|OOOpOOnp:integrate", names, &a.system, &a.method, &a.t0,
                                     &schedule.t_end, &schedule.h, &schedule.save_every, &a.q, &a.v, &a.start,
                                     &a.options, &c.progress, &t_eval, &c.on_step, &c.session.dense, &stops, &c.on_rows,
                                     &room, &c.ends))
        return NULL;
    if (lg_function("progress", &c.progress) == 0 && lg_function("on_step", &c.on_step) == 0 &&
        lg_function("on_rows", &c.on_rows) == 0 &&
        lg_times("stops", stops, &times[0], &schedule.stops, &schedule.nstops) == 0 &&
        lg_times("t_eval", t_eval, &times[1], &schedule.t_eval, &schedule.nt_eval) == 0) {
        c.session.room = room > 0 ? (size_t)room : 1;
        result = integrate(&c, &a, &schedule);
        close_call(&c);
    }
    Py_XDECREF(times[0]);
    Py_XDECREF(times[1]);
    return result;
}
