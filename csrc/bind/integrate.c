/* lgint._core.integrate: a whole run, without the GIL where the system allows it. */
#include "bind/record.h"
#include "bind/run.h"

#include <time.h>

typedef struct session {
    lg_run run;
    lg_module *module;
    const lg_system *system;
    lg_table states;
    lg_table knots; /* both ends of every step, for dense output */
    int dense; /* whether knots are wanted */
    PyObject *progress; /* callable, or NULL */
    PyObject *on_step; /* callable, or NULL */
    PyThreadState *thread; /* the saved thread state while the GIL is released, NULL while it is held */
    lg_observer observer;
} session;

/* ---- the observer ---- */

static lg_status save(void *self, const lg_state *state, double h)
{
    session *s = self;
    return lg_record_add(&s->states.record, state, h, h > 0 ? s->run.error : NAN);
}

/* A part of both ends of a step, (2, n), read-only so that a callback cannot change the run. */
static PyObject *both(const session *s, lg_part part, const lg_state *before, const lg_state *after)
{
    npy_intp dims[] = {2, lg_part_width(s->system, part)};
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
static lg_status call_on_step(const session *s, const lg_state *before, const lg_state *after, double *t_stop)
{
    PyObject *result = PyObject_CallFunction(s->on_step, "(dd)NNNN", before->t, after->t,
                                             both(s, LG_PART_Q, before, after), both(s, LG_PART_V, before, after),
                                             both(s, LG_PART_A, before, after), both(s, LG_PART_LAM, before, after));
    if (result && result != Py_None)
        *t_stop = PyFloat_AsDouble(result);
    Py_XDECREF(result);
    return PyErr_Occurred() ? LG_CALLBACK : LG_OK;
}

static lg_status step(void *self, const lg_state *before, const lg_state *after, double *t_stop)
{
    session *s = self;
    if (s->dense)
        LG_TRY(lg_record_add_step(&s->knots.record, before, after));
    if (!s->on_step)
        return LG_OK;
    int released = s->thread != NULL;
    if (released)
        PyEval_RestoreThread(s->thread);
    lg_status status = call_on_step(s, before, after, t_stop);
    if (released)
        s->thread = PyEval_SaveThread();
    return status;
}

/* Holds the GIL: handles signals, then reports progress. */
static lg_status look_outside(const session *s, double t)
{
    if (PyErr_CheckSignals() < 0)
        return LG_INTERRUPTED;
    PyObject *result = s->progress ? PyObject_CallFunction(s->progress, "d", t) : Py_NewRef(Py_None);
    Py_XDECREF(result);
    return result ? LG_OK : LG_CALLBACK;
}

static lg_status poll(void *self, double t)
{
    session *s = self;
    int released = s->thread != NULL;
    if (released)
        PyEval_RestoreThread(s->thread);
    lg_status status = look_outside(s, t);
    if (released)
        s->thread = PyEval_SaveThread();
    return status;
}

/* ---- the run ---- */

static lg_status run_schedule(session *s, const lg_schedule *schedule, lg_report *report)
{
    if (s->system->flags & LG_SYSTEM_NEEDS_GIL)
        return lg_integrate(&s->run, schedule, &s->observer, report);
    s->thread = PyEval_SaveThread();
    lg_status status = lg_integrate(&s->run, schedule, &s->observer, report);
    PyEval_RestoreThread(s->thread);
    s->thread = NULL;
    return status;
}

/* After a failure the last accepted state is part of the result even if save_every would have left it out. */
static void save_last(session *s, const lg_schedule *schedule)
{
    const lg_record *record = &s->states.record;
    if (!schedule->t_eval && record->count && record->column[LG_COLUMN_T][record->count - 1] < s->run.state.t)
        save(s, &s->run.state, s->run.h);
}

/* Reserves all rows if their number is known. If that fails the records grow as needed, as with adaptive steps. */
static void reserve(session *s, const lg_schedule *schedule)
{
    long steps = 0, saves = 0;
    int fixed = lg_schedule_count(s->system, schedule, s->run.state.t, &steps, &saves) == LG_OK;
    if (schedule->t_eval || fixed)
        (void)lg_record_reserve(&s->states.record, (size_t)(schedule->t_eval ? schedule->nt_eval : saves));
    if (s->dense && fixed)
        (void)lg_record_reserve(&s->knots.record, (size_t)steps + 1);
}

/* ---- the result ---- */

/* The last accepted state, as a record of one row; none if the run could not be opened. */
static PyObject *end_of(const session *s)
{
    lg_table end = {.record = lg_record_of(s->system)};
    lg_status status = LG_OK;
    if (s->run.stepper)
        status = lg_record_add(&end.record, &s->run.state, s->run.h, s->run.h > 0 ? s->run.error : NAN);
    PyObject *dict = status == LG_OK ? lg_table_dict(&end) : PyErr_NoMemory();
    lg_table_close(&end);
    return dict;
}

static int set_item(PyObject *dict, const char *name, PyObject *item)
{
    int done = item ? PyDict_SetItemString(dict, name, item) : -1;
    Py_XDECREF(item);
    return done;
}

/* A run that could not be opened has no states, no carry and no counts. */
static PyObject *result_of(session *s, double wall_time)
{
    static const lg_stats none;
    const lg_stepper *stepper = s->run.stepper;
    PyObject *dict = lg_table_dict(&s->states);
    if (!dict)
        return NULL;
    PyObject *carry = lg_vector_from(s->run.state.carry, stepper ? lg_run_carry_count(&s->run) : 0);
    if (set_item(dict, "carry", carry) == 0 && set_item(dict, "end", end_of(s)) == 0 &&
        set_item(dict, "knots", s->dense ? lg_table_dict(&s->knots) : Py_NewRef(Py_None)) == 0 &&
        set_item(dict, "stats", lg_stats_dict(stepper ? &stepper->stats : &none, wall_time)) == 0)
        return dict;
    Py_DECREF(dict);
    return NULL;
}

/* Raises the failure as an exception that carries the result; an exception that is already set is put aside
   meanwhile. */
static PyObject *fail(session *s, lg_status status, const lg_report *report, double wall_time)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *result = s->system ? result_of(s, wall_time) : NULL;
    PyErr_Clear();
    PyErr_Restore(type, value, traceback);
    lg_raise(s->module, status, report, result);
    Py_XDECREF(result);
    return NULL;
}

static double wall_clock(void)
{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* If memory runs out while the result is made, a second attempt makes the result that the exception carries. */
static PyObject *run_to_result(session *s, const lg_schedule *schedule)
{
    lg_report report;
    double begin = wall_clock();
    reserve(s, schedule);
    lg_status status = run_schedule(s, schedule, &report);
    double wall_time = fmax(0, wall_clock() - begin);
    if (status != LG_OK)
        save_last(s, schedule);
    PyObject *result = status == LG_OK ? result_of(s, wall_time) : NULL;
    return result ? result : fail(s, status == LG_OK ? LG_NO_MEMORY : status, &report, wall_time);
}

/* ---- arguments ---- */

/* A function or NULL. */
static int check_function(const char *name, PyObject *given, PyObject **function)
{
    *function = given == Py_None ? NULL : given;
    if (!*function || PyCallable_Check(given))
        return 0;
    PyErr_Format(PyExc_ValueError, "%s must be a function or None, given %R", name, given);
    return -1;
}

static void open_records(session *s)
{
    s->system = s->run.system;
    if (!s->system)
        return;
    s->states.record = lg_record_of(s->system);
    s->knots.record = lg_record_of_knots(s->system);
}

static PyObject *integrate(session *s, const lg_run_arguments *arguments, const lg_schedule *schedule)
{
    lg_report report = {0};
    PyObject *result = NULL;
    s->observer = (lg_observer){.self = s, .save = save, .poll = poll, .step = s->dense || s->on_step ? step : NULL};
    lg_status status = lg_run_from(&s->run, s->module, arguments, &report);
    open_records(s);
    if (status != LG_OK)
        fail(s, status, &report, 0);
    else
        result = run_to_result(s, schedule);
    lg_run_close(&s->run);
    lg_table_close(&s->states);
    lg_table_close(&s->knots);
    return result;
}

PyDoc_STRVAR(integrate_doc,
             "integrate(system, method, t0, stops, h, save_every, q, v, start, options, progress=None, t_eval=None,\n"
             "          on_step=None, dense=False)\n--\n\n"
             "Runs from t0 through the ascending times `stops`, with each interval between stops and kinks cut into\n"
             "ceil(length / h) equal steps (with error control h is ignored), and returns a dict: t (n,),\n"
             "h (n,), error (n,), q (n, nq), v, vdot (n, nv), lam (n, nrows), mem (n, nmem) of every save_every-th\n"
             "state or of the times t_eval; carry and `end` (the same fields) of the last one; knots (both ends of\n"
             "every step: t, q, v, vdot, lam, if dense); stats. The arrays are the memory of the record itself.\n"
             "start: vdot, lam, mem, carry of a run to resume bit for bit, or None; with changed=True the data jump\n"
             "there, as at a kink. progress(t) is called about every 50 ms, on_step(t, q, v, a, lam) with both ends\n"
             "of every step; if on_step returns a time, the run ends there. On failure the exception's `result`\n"
             "holds everything that was computed, the last accepted state included.");

static PyObject *integrate_call(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"system", "method",  "t0",       "stops",  "h",       "save_every", "q", "v",
                            "start",  "options", "progress", "t_eval", "on_step", "dense",      NULL};
    lg_run_arguments arguments;
    lg_schedule schedule = {0};
    PyObject *stops, *progress = Py_None, *t_eval = NULL, *on_step = Py_None;
    session s = {.module = PyModule_GetState(module)};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OsdOdlOOOO|OOOp:integrate", names, &arguments.system,
                                     &arguments.method, &arguments.t0, &stops, &schedule.h, &schedule.save_every,
                                     &arguments.q, &arguments.v, &arguments.start, &arguments.options, &progress,
                                     &t_eval, &on_step, &s.dense))
        return NULL;

    int has_times = t_eval && t_eval != Py_None;
    PyArrayObject *landings = lg_vector(stops, "stops", -1);
    PyArrayObject *times = landings && has_times ? lg_vector(t_eval, "t_eval", -1) : NULL;
    PyObject *result = NULL;
    if (landings) {
        schedule.stops = lg_data(landings);
        schedule.nstops = (int)PyArray_SIZE(landings);
    }
    if (times) {
        schedule.t_eval = lg_data(times);
        schedule.nt_eval = (int)PyArray_SIZE(times);
    }
    if (landings && (times || !has_times) && check_function("progress", progress, &s.progress) == 0 &&
        check_function("on_step", on_step, &s.on_step) == 0)
        result = integrate(&s, &arguments, &schedule);
    Py_XDECREF(landings);
    Py_XDECREF(times);
    return result;
}

static PyMethodDef integrate_functions[] = {
    {"integrate", (PyCFunction)(void (*)(void))integrate_call, METH_VARARGS | METH_KEYWORDS, integrate_doc},
    {NULL, NULL, 0, NULL},
};

int lg_add_integrate(PyObject *module)
{
    return PyModule_AddFunctions(module, integrate_functions);
}
