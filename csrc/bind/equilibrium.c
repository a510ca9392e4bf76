/* lgint._core.equilibrium: equilibria under increasing loads, without the GIL where the system allows it. */
#include "run/equilibrium.h"
#include "bind/args.h"
#include "bind/gil.h"
#include "bind/outcome.h"
#include "bind/system.h"

static PyObject *run_equilibrium(const lg_module *module, const lg_loading *loading, PyObject *progress)
{
    lg_gil gil = {.kept = loading->system->flags & LG_SYSTEM_NEEDS_GIL, .progress = progress};
    const lg_observer observer = {.self = &gil, .poll = lg_gil_poll};
    lg_outcome outcome;
    lg_gil_release(&gil);
    (void)lg_equilibrium(loading, &observer, &outcome);
    lg_gil_take(&gil);
    return lg_outcome_result(module, &outcome);
}

static int read_loading(PyObject *owned, PyObject *system, PyObject *loads, PyObject *q, PyObject *v, PyObject *mem,
                        lg_loading *loading)
{
    loading->system = lg_system_of(system);
    if (!(loading->plan = lg_system_plan(system, LG_COUPLING_TANGENTS)) ||
        (loading->nloads = lg_read_vector(owned, "loads", loads, -1, &loading->loads)) < 0)
        return -1;
    if (lg_read_vector(owned, "q", q, loading->system->space->nq, &loading->q) < 0 ||
        lg_read_vector(owned, "v", v, loading->system->space->nv, &loading->v) < 0)
        return -1;
    return lg_read_vector(owned, "mem", mem, loading->system->nmem, &loading->mem);
}

const char lg_equilibrium_doc[] = "equilibrium(system, t, loads, q, v, mem, rtol, atol, max_iter, has_potential, "
                                  "leaves, progress)\n--\n\nThe states in "
                                  "equilibrium under factors of the loads.";

PyObject *lg_equilibrium_call(PyObject *self, PyObject *args)
{
    const lg_module *module = PyModule_GetState(self);
    lg_loading loading = {.system = NULL};
    PyObject *system, *loads, *q, *v, *mem, *progress, *result = NULL;
    if (!PyArg_ParseTuple(args, "O!dOOOOddippO:equilibrium", module->System, &system, &loading.t, &loads, &q, &v, &mem,
                          &loading.rtol, &loading.atol, &loading.max_iter, &loading.has_potential, &loading.leaves,
                          &progress) ||
        lg_function("progress", &progress) < 0)
        return NULL;
    PyObject *owned = PyList_New(0);
    if (owned && read_loading(owned, system, loads, q, v, mem, &loading) >= 0)
        result = run_equilibrium(module, &loading, progress);
    Py_XDECREF(owned);
    return result;
}
