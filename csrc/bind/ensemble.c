/* lgint._core.ensemble: many runs, without the GIL where the systems allow it. */
#include "run/ensemble.h"
#include "bind/gil.h"
#include "bind/outcome.h"
#include "bind/run.h"

typedef struct ensemble_call {
    lg_gil gil;
    const lg_module *module;
    lg_ensemble ensemble;
    PyObject *results; /* a list, as soon as there are any */
} ensemble_call;

/* ---- the members ---- */

static int check_same_sizes(const lg_system *system, const lg_system *first)
{
    if (system->space->nq == first->space->nq && system->space->nv == first->space->nv && system->nmem == first->nmem)
        return 0;
    PyErr_SetString(
        PyExc_ValueError,
        "the systems of an ensemble must have the same numbers of coordinates, velocities and values of memory");
    return -1;
}

static int read_systems(ensemble_call *c, PyObject *systems, const lg_setup *setup)
{
    lg_member *member = c->ensemble.member;
    for (int i = 0; i < c->ensemble.count; i++) {
        member[i].setup = *setup;
        if (lg_read_system(c->module, PyTuple_GET_ITEM(systems, i), &member[i].setup) < 0 ||
            check_same_sizes(member[i].setup.system, member[0].setup.system) < 0)
            return -1;
        c->gil.kept |= member[i].setup.system->flags & LG_SYSTEM_NEEDS_GIL;
    }
    return 0;
}

/* Reads a part of the initial states, which has one row for each run. */
static int read_rows(const ensemble_call *c, PyObject *owned, lg_part part, PyObject *given)
{
    lg_member *member = c->ensemble.member;
    if (!c->ensemble.count)
        return 0;
    npy_intp dims[] = {c->ensemble.count, lg_part_width(member->setup.system, part)};
    const PyArrayObject *array = lg_keep_array(owned, lg_array(given, lg_parts[part].name, 2, dims, 0));
    for (int i = 0; array && i < c->ensemble.count; i++)
        member[i].setup.start.part[part] = lg_data(array) + i * dims[1];
    return array ? 0 : -1;
}

/* ---- the results ---- */

/* The dict of a run and its exception or None. The dict comes last: once it is made, nothing can fail. */
static PyObject *result_and_error(const lg_module *module, lg_outcome *outcome)
{
    lg_status status = outcome->report.status;
    PyObject *pair = PyTuple_New(2), *error = NULL, *dict = NULL;
    if (pair)
        error = status == LG_OK ? Py_NewRef(Py_None) : lg_error_of(module, status, &outcome->report, NULL);
    if (error && (dict = lg_outcome_dict(outcome))) {
        PyTuple_SET_ITEM(pair, 0, dict);
        PyTuple_SET_ITEM(pair, 1, error);
        return pair;
    }
    Py_XDECREF(error);
    Py_XDECREF(pair);
    return NULL;
}

/* If memory ran out in the first call, the second one goes on from there. */
static PyObject *ensemble_results(void *self)
{
    ensemble_call *c = self;
    const lg_ensemble *ensemble = &c->ensemble;
    if (!c->results && !(c->results = PyList_New(ensemble->done)))
        return NULL;
    for (int i = 0; i < ensemble->done; i++)
        if (!PyList_GET_ITEM(c->results, i)) {
            PyObject *pair = result_and_error(c->module, &ensemble->member[i].outcome);
            if (!pair)
                return NULL;
            PyList_SET_ITEM(c->results, i, pair);
        }
    return Py_NewRef(c->results);
}

/* ---- the call ---- */

static PyObject *run_ensemble(ensemble_call *c)
{
    const lg_observer observer = {.self = c, .poll = lg_gil_poll};
    lg_ensemble *ensemble = &c->ensemble;
    lg_gil_release(&c->gil);
    lg_status status = lg_ensemble_run(ensemble, &observer);
    lg_gil_take(&c->gil);
    const lg_report *last = ensemble->done ? &ensemble->member[ensemble->done - 1].outcome.report : NULL;
    PyObject *results = lg_result(c->module, status, last && last->status == status ? last : NULL, ensemble_results, c);
    lg_ensemble_close(ensemble);
    Py_CLEAR(c->results);
    return results;
}

const char lg_ensemble_doc[] =
    "ensemble(systems, method, t0, t_end, h, save_every, q, v, mem, options, progress=None, t_eval=None,\n"
    "         stops=None)\n--\n\nMany runs, as a list of pairs of a dict and the exception or None.";

PyObject *lg_ensemble_call(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"systems", "method", "t0",      "t_end",    "h",      "save_every", "q",
                            "v",       "mem",    "options", "progress", "t_eval", "stops",      NULL};
    PyObject *given, *q, *v, *mem, *options, *t_eval = Py_None, *stops = Py_None, *result = NULL;
    const char *method;
    lg_setup setup = {.system = NULL};
    lg_schedule schedule = {0};
    ensemble_call c = {.module = PyModule_GetState(self), .ensemble.schedule = &schedule};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OsdddlOOOO|OOO:ensemble", names, &given, &method, &setup.start.t,
                                     &schedule.t_end, &schedule.h, &schedule.save_every, &q, &v, &mem, &options,
                                     &c.gil.progress, &t_eval, &stops) ||
        lg_function("progress", &c.gil.progress) < 0)
        return NULL;
    PyObject *systems = PySequence_Tuple(given), *owned = systems ? PyList_New(0) : NULL;
    c.ensemble.count = systems ? (int)PyTuple_GET_SIZE(systems) : 0;
    if (owned && (c.ensemble.member = lg_keep_memory(owned, c.ensemble.count, sizeof *c.ensemble.member)) &&
        lg_read_method(owned, method, options, Py_None, &setup) == 0 && read_systems(&c, systems, &setup) == 0 &&
        read_rows(&c, owned, LG_PART_Q, q) == 0 && read_rows(&c, owned, LG_PART_V, v) == 0 &&
        read_rows(&c, owned, LG_PART_MEM, mem) == 0 && lg_read_times(owned, stops, t_eval, &schedule) == 0)
        result = run_ensemble(&c);
    Py_XDECREF(owned);
    Py_XDECREF(systems);
    return result;
}
