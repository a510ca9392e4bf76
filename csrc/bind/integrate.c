/* lgint._core.integrate: a whole run, without the GIL where the system allows it. */
#include "bind/run.h"

#include <time.h>

/* Saved states, a row each: t, h, q, v, a, lam, mem. Grows by doubling; malloc'ed, for the GIL is not held then. */
typedef struct table {
    double *rows;
    size_t width, count, capacity;
} table;

typedef struct session {
    lg_run run;
    lg_module *module;
    const lg_system *system;
    table table;
    PyObject *progress; /* callable, or NULL */
    PyThreadState *thread; /* ours while the GIL is released, NULL while it is held */
    lg_observer observer;
} session;

/* ---- the observer ---- */

static lg_status grow(table *table)
{
    if (table->count < table->capacity)
        return LG_OK;
    size_t capacity = table->capacity ? 2 * table->capacity : 256;
    double *rows = realloc(table->rows, capacity * table->width * sizeof *rows);
    if (!rows)
        return LG_NO_MEMORY;
    table->rows = rows;
    table->capacity = capacity;
    return LG_OK;
}

static double *put(double *row, const double *x, int n)
{
    if (n)
        memcpy(row, x, (size_t)n * sizeof *x);
    return row + n;
}

static lg_status save(void *self, const lg_state *state, double h)
{
    session *s = self;
    const lg_space *space = s->system->space;
    LG_TRY(grow(&s->table));
    double *row = s->table.rows + s->table.width * s->table.count++;
    *row++ = state->t;
    *row++ = h;
    row = put(row, state->q, space->nq);
    row = put(row, state->v, space->nv);
    row = put(row, state->a, space->nv);
    row = put(row, state->lam, s->system->pattern->nrows);
    put(row, state->mem, s->system->nmem);
    return LG_OK;
}

/* With the GIL: signals, then progress. */
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

/* After a failure the last accepted state belongs to the result whether it was its turn or not. */
static void save_last(session *s)
{
    const table *table = &s->table;
    if (table->count && table->rows[table->width * (table->count - 1)] < s->run.state.t)
        save(s, &s->run.state, s->run.grid->step);
}

/* ---- the result ---- */

/* Columns [first, first + n) of the table; n = -1: one column as a vector. */
static PyObject *columns(const table *table, int first, int n)
{
    npy_intp dims[] = {(npy_intp)table->count, n};
    PyObject *array = PyArray_SimpleNew(n < 0 ? 1 : 2, dims, NPY_DOUBLE);
    double *out = array ? PyArray_DATA((PyArrayObject *)array) : NULL;
    size_t width = (size_t)(n < 0 ? 1 : n);
    for (size_t i = 0; array && width && i < table->count; i++)
        memcpy(out + i * width, table->rows + i * table->width + first, width * sizeof *out);
    return array;
}

/* A run that could not be opened has no states, no carry and no counts. */
static PyObject *result_of(const session *s, double wall_time)
{
    static const lg_stats none;
    const lg_stepper *stepper = s->run.stepper;
    int nq = s->system->space->nq, nv = s->system->space->nv, nrows = s->system->pattern->nrows;
    const table *table = &s->table;
    return Py_BuildValue("{s:N,s:N,s:N,s:N,s:N,s:N,s:N,s:N,s:N}", "t", columns(table, 0, -1), "h",
                         columns(table, 1, -1), "q", columns(table, 2, nq), "v", columns(table, 2 + nq, nv), "vdot",
                         columns(table, 2 + nq + nv, nv), "lam", columns(table, 2 + nq + 2 * nv, nrows), "mem",
                         columns(table, 2 + nq + 2 * nv + nrows, s->system->nmem), "carry",
                         lg_vector_from(s->run.state.carry, stepper ? lg_run_carry_count(&s->run) : 0), "stats",
                         lg_stats_dict(stepper ? &stepper->stats : &none, wall_time));
}

/* The failure as an exception that carries the result; one that a callback has set waits meanwhile. */
static PyObject *fail(session *s, lg_status status, const lg_report *report, double wall_time)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    save_last(s);
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

static PyObject *run_to_result(session *s, const lg_schedule *schedule)
{
    lg_report report;
    double begin = wall_clock();
    lg_status status = run_schedule(s, schedule, &report);
    double wall_time = fmax(0, wall_clock() - begin);
    return status == LG_OK ? result_of(s, wall_time) : fail(s, status, &report, wall_time);
}

/* ---- arguments ---- */

static int check_stops(const lg_schedule *schedule, double t0)
{
    double last = t0;
    for (int i = 0; i < schedule->nstops; i++) {
        if (!(schedule->stops[i] > last)) {
            PyErr_SetString(PyExc_ValueError, "stops must be later than t0 and ascending");
            return -1;
        }
        last = schedule->stops[i];
    }
    if (schedule->nstops)
        return 0;
    PyErr_SetString(PyExc_ValueError, "stops must hold at least the end of the run");
    return -1;
}

static int check_schedule(const lg_schedule *schedule, double t0)
{
    if (!(schedule->h > 0) || !isfinite(schedule->h)) {
        PyErr_SetString(PyExc_ValueError, "h must be a positive number");
        return -1;
    }
    if (schedule->save_every < 1) {
        PyErr_Format(PyExc_ValueError, "save_every must be at least 1, given %ld", schedule->save_every);
        return -1;
    }
    return check_stops(schedule, t0);
}

static int check_progress(session *s, PyObject *progress)
{
    if (!progress || progress == Py_None)
        return 0;
    s->progress = progress;
    if (PyCallable_Check(progress))
        return 0;
    PyErr_Format(PyExc_ValueError, "progress must be a function of t or None, given %R", progress);
    return -1;
}

static PyObject *integrate(session *s, const lg_run_arguments *arguments, const lg_schedule *schedule)
{
    lg_report report = {0};
    s->observer = (lg_observer){.self = s, .save = save, .poll = poll};
    lg_status status = lg_run_from(&s->run, s->module, arguments, &report);
    s->system = s->run.system;
    if (status != LG_OK)
        return fail(s, status, &report, 0);

    const lg_space *space = s->system->space;
    s->table.width = (size_t)(2 + space->nq + 2 * space->nv + s->system->pattern->nrows + s->system->nmem);
    PyObject *result = run_to_result(s, schedule);
    lg_run_close(&s->run);
    free(s->table.rows);
    return result;
}

PyDoc_STRVAR(integrate_doc,
             "integrate(system, method, t0, stops, h, save_every, q, v, start, options, progress=None)\n--\n\n"
             "Runs from t0 through the ascending times `stops`, each interval between stops and kinks cut into\n"
             "ceil(length / h) equal steps, and returns a dict: t (n,), h (n,), q (n, nq), v, vdot (n, nv),\n"
             "lam (n, nrows), mem (n, nmem) of every save_every-th state, carry of the last one, and stats.\n"
             "start: a, lam, mem, carry of a run to resume bit for bit, or None. progress(t) is called about every\n"
             "50 ms. On failure the exception's `result` holds what was computed, the last accepted state included.");

static PyObject *integrate_call(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"system", "method", "t0",    "stops",   "h",        "save_every",
                            "q",      "v",      "start", "options", "progress", NULL};
    lg_run_arguments arguments;
    lg_schedule schedule;
    PyObject *stops, *progress = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OsdOdlOOOO|O:integrate", names, &arguments.system,
                                     &arguments.method, &arguments.t0, &stops, &schedule.h, &schedule.save_every,
                                     &arguments.q, &arguments.v, &arguments.start, &arguments.options, &progress))
        return NULL;

    PyArrayObject *times = lg_vector(stops, "stops", -1);
    if (!times)
        return NULL;
    schedule.stops = lg_data(times);
    schedule.nstops = (int)PyArray_SIZE(times);
    session s = {.module = PyModule_GetState(module)};
    PyObject *result = NULL;
    if (check_schedule(&schedule, arguments.t0) == 0 && check_progress(&s, progress) == 0)
        result = integrate(&s, &arguments, &schedule);
    Py_DECREF(times);
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
