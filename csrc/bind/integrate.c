/* lgint._core.integrate: a whole run, without the GIL where the system allows it. */
#include "bind/record.h"
#include "bind/run.h"
#include "run/session.h"

#include <time.h>

typedef struct call {
    lg_session session;
    lg_module *module;
    lg_table states, knots, end;
    PyObject *progress, *on_step; /* callables, or NULL */
    lg_thread thread;
    double wall_time;
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

/* Handles signals, then reports progress. */
static lg_status look_outside(const call *c, double t)
{
    if (PyErr_CheckSignals() < 0)
        return LG_INTERRUPTED;
    PyObject *result = c->progress ? PyObject_CallFunction(c->progress, "d", t) : Py_NewRef(Py_None);
    Py_XDECREF(result);
    return result ? LG_OK : LG_CALLBACK;
}

static lg_status poll(void *self, double t)
{
    call *c = self;
    int borrowed = lg_borrow_gil(&c->thread);
    lg_status status = look_outside(c, t);
    lg_return_gil(&c->thread, borrowed);
    return status;
}

static lg_status run(call *c, const lg_schedule *schedule, lg_report *report)
{
    lg_observer observer = {.self = c, .poll = poll, .step = c->on_step ? step : NULL};
    lg_release_gil(&c->thread, c->session.run.system);
    lg_status status = lg_session_run(&c->session, schedule, &observer, report);
    lg_hold_gil(&c->thread);
    return status;
}

/* ---- the result ---- */

static int set_item(PyObject *dict, const char *name, PyObject *item)
{
    int done = item ? PyDict_SetItemString(dict, name, item) : -1;
    Py_XDECREF(item);
    return done;
}

/* A run that could not be opened has no states, no carry and no counts; one without a system has no result. */
static PyObject *result_of(void *self)
{
    static const lg_stats none;
    call *c = self;
    lg_session *s = &c->session;
    const lg_stepper *stepper = s->run.stepper;
    PyObject *dict = s->run.system ? lg_table_dict(&c->states, &s->states) : NULL;
    if (!dict)
        return NULL;
    PyObject *carry = lg_vector_from(s->run.state.carry, stepper ? lg_run_carry_count(&s->run) : 0);
    if (set_item(dict, "carry", carry) == 0 && set_item(dict, "end", lg_table_dict(&c->end, &s->end)) == 0 &&
        set_item(dict, "knots", s->dense ? lg_table_dict(&c->knots, &s->knots) : Py_NewRef(Py_None)) == 0 &&
        set_item(dict, "stats", lg_stats_dict(stepper ? &stepper->stats : &none, c->wall_time)) == 0)
        return dict;
    Py_DECREF(dict);
    return NULL;
}

static double wall_clock(void)
{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* If memory runs out while the result is made, a second attempt makes the result that the exception carries. */
static PyObject *integrate(call *c, const lg_run_arguments *arguments, const lg_schedule *schedule)
{
    lg_report report = {0};
    lg_status status = lg_run_from(&c->session.run, c->module, arguments, &report);
    double begin = wall_clock();
    if (c->session.run.system)
        lg_session_begin(&c->session);
    if (status == LG_OK)
        status = run(c, schedule, &report);
    c->wall_time = fmax(0, wall_clock() - begin);
    PyObject *result = status == LG_OK ? result_of(c) : NULL;
    return result ? result : lg_raise_after(c->module, status == LG_OK ? LG_NO_MEMORY : status, &report, result_of, c);
}

static void close_call(call *c)
{
    lg_table_close(&c->states);
    lg_table_close(&c->knots);
    lg_table_close(&c->end);
    lg_session_close(&c->session);
}

/* ---- arguments ---- */

/* A function or NULL. */
static int check_function(const char *name, PyObject **given)
{
    if (*given == Py_None)
        *given = NULL;
    if (!*given || PyCallable_Check(*given))
        return 0;
    PyErr_Format(PyExc_ValueError, "%s must be a function or None, given %R", name, *given);
    return -1;
}

/* Times, or NULL; `array` is set if some are given. */
static int read_times(const char *name, PyObject *given, PyArrayObject **array, const double **times, int *count)
{
    if (given == Py_None)
        return 0;
    if (!(*array = lg_vector(given, name, -1)))
        return -1;
    *times = lg_data(*array);
    *count = (int)PyArray_SIZE(*array);
    return 0;
}

PyDoc_STRVAR(integrate_doc,
             "integrate(system, method, t0, t_end, h, save_every, q, v, start, options, progress=None, t_eval=None,\n  "
             "        on_step=None, dense=False, stops=None)\n--\n\nA whole run as a dict of arrays.");

static PyObject *integrate_call(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"system", "method",  "t0",       "t_end",  "h",       "save_every", "q",     "v",
                            "start",  "options", "progress", "t_eval", "on_step", "dense",      "stops", NULL};
    lg_run_arguments a;
    lg_schedule schedule = {0};
    PyObject *t_eval = Py_None, *stops = Py_None, *result = NULL;
    PyArrayObject *times[2] = {NULL};
    call c = {.module = PyModule_GetState(module)};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OsdddlOOOO|OOOpO:integrate", names, &a.system, &a.method, &a.t0,
                                     &schedule.t_end, &schedule.h, &schedule.save_every, &a.q, &a.v, &a.start,
                                     &a.options, &c.progress, &t_eval, &c.on_step, &c.session.dense, &stops))
        return NULL;
    if (check_function("progress", &c.progress) == 0 && check_function("on_step", &c.on_step) == 0 &&
        read_times("stops", stops, &times[0], &schedule.stops, &schedule.nstops) == 0 &&
        read_times("t_eval", t_eval, &times[1], &schedule.t_eval, &schedule.nt_eval) == 0) {
        result = integrate(&c, &a, &schedule);
        close_call(&c);
    }
    Py_XDECREF(times[0]);
    Py_XDECREF(times[1]);
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
