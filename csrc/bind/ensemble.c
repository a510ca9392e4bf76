/* lgint._core.ensemble: many runs, without the GIL where the systems allow it. */
#include "run/ensemble.h"
#include "bind/outcome.h"
#include "bind/run.h"
#include "bind/system.h"

typedef struct call {
    lg_ensemble ensemble;
    lg_module *module;
    PyObject *systems; /* a tuple */
    PyObject *owned; /* list of the arrays that starts and options point into */
    PyObject *progress; /* callable or NULL */
    lg_thread thread;
} call;

/* ---- the members ---- */

/* One row of the states in which the runs begin. */
static const double *row_of(const PyArrayObject *array, int row)
{
    return lg_data(array) + (size_t)row * (size_t)PyArray_DIM((PyArrayObject *)array, 1);
}

static int check_system(const call *c, PyObject *system, const lg_system *first)
{
    if (!PyObject_TypeCheck(system, c->module->System)) {
        PyErr_Format(PyExc_TypeError, "systems must be Systems, given %R", system);
        return -1;
    }
    const lg_system *other = lg_system_of(system);
    if (!other)
        return -1;
    if (other->space->nq == first->space->nq && other->space->nv == first->space->nv)
        return 0;
    PyErr_SetString(PyExc_ValueError,
                    "the systems of an ensemble must have the same numbers of coordinates and velocities");
    return -1;
}

static int fill_member(call *c, int i, double t0, const PyArrayObject *q, const PyArrayObject *v)
{
    PyObject *system = PyTuple_GET_ITEM(c->systems, i);
    lg_member *member = &c->ensemble.member[i];
    if (lg_system_plans(system, c->ensemble.method->stepper, &member->plans) < 0)
        return -1;
    member->system = lg_system_of(system);
    member->start = (lg_start){.t = t0, .part = {row_of(q, i), row_of(v, i)}};
    return 0;
}

/* An array (count, width) that the call owns. */
static PyArrayObject *read_states(call *c, PyObject *given, const char *name, int width)
{
    npy_intp dims[] = {c->ensemble.count, width};
    return lg_keep_array(c->owned, lg_array(given, name, 2, dims, 0));
}

static int fill_members(call *c, double t0, PyObject *q, PyObject *v)
{
    const lg_system *first = c->ensemble.count ? lg_system_of(PyTuple_GET_ITEM(c->systems, 0)) : NULL;
    if (!first)
        return c->ensemble.count ? -1 : 0;
    PyArrayObject *qs = read_states(c, q, "q", first->space->nq);
    PyArrayObject *vs = qs ? read_states(c, v, "v", first->space->nv) : NULL;
    if (!vs)
        return -1;
    for (int i = 0; i < c->ensemble.count; i++)
        if (check_system(c, PyTuple_GET_ITEM(c->systems, i), first) < 0 || fill_member(c, i, t0, qs, vs) < 0)
            return -1;
    return 0;
}

/* ---- the runs ---- */

/* Progress is how many runs have been done. */
static lg_status poll(void *self, double t)
{
    call *c = self;
    (void)t;
    return lg_look_outside(&c->thread, c->progress, PyLong_FromDouble, c->ensemble.done);
}

/* A system that needs the GIL, if there is one, else the first. */
static const lg_system *most_demanding(const lg_ensemble *ensemble)
{
    for (int i = 0; i < ensemble->count; i++)
        if (ensemble->member[i].system->flags & LG_SYSTEM_NEEDS_GIL)
            return ensemble->member[i].system;
    return ensemble->member[0].system;
}

static lg_status run(call *c)
{
    if (!c->ensemble.count)
        return LG_OK;
    lg_observer observer = {.self = c, .poll = poll};
    lg_release_gil(&c->thread, most_demanding(&c->ensemble));
    lg_status status = lg_ensemble_run(&c->ensemble, &observer);
    lg_hold_gil(&c->thread);
    return status;
}

/* ---- the results ---- */

static PyObject *error_of_member(const call *c, const lg_member *member)
{
    const lg_report *report = &member->report;
    return report->status == LG_OK ? Py_NewRef(Py_None) : lg_error_of(c->module, report->status, report, NULL);
}

static PyObject *member_dict(const void *context, int index)
{
    const call *c = context;
    lg_member *member = &c->ensemble.member[index];
    lg_outcome outcome = {.record = {&member->states, &member->end},
                          .carry = member->carry,
                          .ncarry = member->ncarry,
                          .stats = member->stats,
                          .wall_time = member->wall_time};
    PyObject *dict = lg_outcome_dict(&outcome);
    lg_outcome_close(&outcome);
    if (dict && lg_set_item(dict, "error", error_of_member(c, member)) < 0)
        Py_CLEAR(dict);
    return dict;
}

static PyObject *results_of(void *self)
{
    return lg_list_of(((const call *)self)->ensemble.done, member_dict, self);
}

static PyObject *finish(call *c, lg_status status)
{
    const lg_ensemble *ensemble = &c->ensemble;
    if (status == LG_OK)
        return results_of(c);
    const lg_report *last = ensemble->done ? &ensemble->member[ensemble->done - 1].report : &ensemble->report;
    return lg_raise_after(c->module, status, last->status == status ? last : &ensemble->report, results_of, c);
}

/* ---- the call ---- */

static int open_call(call *c, PyObject *systems, const char *method, PyObject *options)
{
    c->systems = PySequence_Tuple(systems);
    c->owned = c->systems ? PyList_New(0) : NULL;
    c->ensemble.method = c->owned ? lg_method_named(method) : NULL;
    if (!c->ensemble.method)
        return -1;
    c->ensemble.options = lg_options(c->ensemble.method, options, c->owned);
    c->ensemble.count = (int)PyTuple_GET_SIZE(c->systems);
    c->ensemble.member = PyMem_Calloc((size_t)c->ensemble.count + 1, sizeof *c->ensemble.member);
    if (c->ensemble.options && !c->ensemble.member)
        PyErr_NoMemory();
    return c->ensemble.options && c->ensemble.member ? 0 : -1;
}

static void close_call(call *c)
{
    for (int i = 0; c->ensemble.member && i < c->ensemble.count; i++)
        lg_member_close(&c->ensemble.member[i]);
    PyMem_Free(c->ensemble.member);
    PyMem_Free((void *)c->ensemble.options);
    Py_XDECREF(c->systems);
    Py_XDECREF(c->owned);
}

const char lg_ensemble_doc[] =
    "ensemble(systems, method, t0, t_end, h, save_every, q, v, options, progress=None, t_eval=None,\n"
    "         stops=None)\n--\n\nMany runs as a list of dicts.";

PyObject *lg_ensemble_call(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"systems", "method",  "t0",       "t_end",  "h",     "save_every", "q",
                            "v",       "options", "progress", "t_eval", "stops", NULL};
    const char *method;
    double t0;
    lg_schedule schedule = {0};
    PyObject *systems, *q, *v, *options, *t_eval = Py_None, *stops = Py_None, *result = NULL;
    PyArrayObject *times[2] = {NULL};
    call c = {.module = PyModule_GetState(module), .ensemble.schedule = &schedule};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OsdddlOOO|OOO:ensemble", names, &systems, &method, &t0,
                                     &schedule.t_end, &schedule.h, &schedule.save_every, &q, &v, &options, &c.progress,
                                     &t_eval, &stops))
        return NULL;
    if (lg_function("progress", &c.progress) == 0 &&
        lg_times("stops", stops, &times[0], &schedule.stops, &schedule.nstops) == 0 &&
        lg_times("t_eval", t_eval, &times[1], &schedule.t_eval, &schedule.nt_eval) == 0 &&
        open_call(&c, systems, method, options) == 0 && fill_members(&c, t0, q, v) == 0)
        result = finish(&c, run(&c));
    close_call(&c);
    Py_XDECREF(times[0]);
    Py_XDECREF(times[1]);
    return result;
}
