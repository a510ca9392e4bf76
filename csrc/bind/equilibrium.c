/* lgint._core.equilibrium: equilibria under increasing loads, without the GIL where the system allows it. */
#include "run/equilibrium.h"
#include "bind/args.h"
#include "bind/outcome.h"
#include "bind/run.h"
#include "bind/system.h"

typedef struct session {
    lg_statics statics;
    lg_arena arena;
    lg_record states;
    lg_table table;
    lg_thread thread;
    PyArrayObject *loads, *q;
} session;

static lg_status save(void *self, const lg_state *state, double h)
{
    return lg_record_add(&((session *)self)->states, state, h, NAN);
}

static lg_status poll(void *self, double load)
{
    return lg_look_outside(&((session *)self)->thread, NULL, PyFloat_FromDouble, load);
}

static lg_status solve(session *s, lg_report *report)
{
    const lg_observer observer = {.self = s, .save = save, .poll = poll};
    int nloads = (int)PyArray_SIZE(s->loads);
    lg_release_gil(&s->thread, s->statics.accel.system);
    lg_status status = lg_equilibrium(&s->statics, nloads, lg_data(s->loads), &observer, report);
    lg_hold_gil(&s->thread);
    return status;
}

/* The columns of the record, and stats. */
static PyObject *result_of(void *self)
{
    session *s = self;
    const lg_accel *accel = &s->statics.accel;
    const lg_stats stats = {.steps = (long)s->states.count,
                            .newton_iterations = s->statics.iterations,
                            .jacobians = s->statics.iterations,
                            .factorisations = accel->matrix.factorisations,
                            .evaluations = accel->evaluations,
                            .dense_fallbacks = accel->matrix.fallbacks,
                            .newton = "full"};
    PyObject *dict = lg_table_dict(&s->table, &s->states);
    if (dict && lg_set_item(dict, "stats", lg_stats_dict(&stats, -1)) < 0)
        Py_CLEAR(dict);
    return dict;
}

static PyObject *run(session *s, const lg_module *module)
{
    lg_report report = {0};
    lg_status status = solve(s, &report);
    return status == LG_OK ? result_of(s) : lg_raise_after(module, status, &report, result_of, s);
}

/* The statics of a system that begin at q. */
static int open_session(session *s, PyObject *self, PyObject *loads, PyObject *q)
{
    lg_accel *accel = &s->statics.accel;
    accel->system = lg_system_of(self);
    if (!accel->system || !(accel->plan = lg_system_plan(self, LG_COUPLING_TANGENTS)) ||
        !(s->loads = lg_vector(loads, "loads", -1)) || !(s->q = lg_vector(q, "q", accel->system->space->nq)))
        return -1;
    s->states = lg_record_of(accel->system, 0);
    if (lg_arena_open(&s->arena, lg_statics_layout, &s->statics) != LG_OK) {
        PyErr_NoMemory();
        return -1;
    }
    memcpy(s->statics.q, lg_data(s->q), (size_t)PyArray_SIZE(s->q) * sizeof(double));
    return 0;
}

static void close_session(session *s)
{
    if (s->arena.base)
        lg_accel_close(&s->statics.accel);
    lg_arena_close(&s->arena);
    lg_table_close(&s->table);
    lg_record_close(&s->states);
    Py_XDECREF(s->loads);
    Py_XDECREF(s->q);
}

const char lg_equilibrium_doc[] =
    "equilibrium(system, t, loads, q, rtol, atol, max_iter)\n--\n\nThe states in equilibrium "
    "under factors of the loads.";

PyObject *lg_equilibrium_call(PyObject *module, PyObject *args)
{
    const lg_module *state = PyModule_GetState(module);
    session s = {.thread = NULL};
    lg_statics *statics = &s.statics;
    PyObject *self, *loads, *q, *result = NULL;
    if (!PyArg_ParseTuple(args, "O!dOOddi:equilibrium", state->System, &self, &statics->t, &loads, &q, &statics->rtol,
                          &statics->atol, &statics->max_iter))
        return NULL;
    if (open_session(&s, self, loads, q) == 0)
        result = run(&s, state);
    close_session(&s);
    return result;
}
