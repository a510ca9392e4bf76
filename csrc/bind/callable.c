/* The type CallableSystem: a system made of Python functions. */
#include "bind/args.h"
#include "bind/py_function.h"
#include "bind/system.h"

static const char *const function_names[LG_CALLS] = {
    [LG_CALL_MASS] = "mass",
    [LG_CALL_FORCE] = "force",
    [LG_CALL_GYRO] = "gyro",
    [LG_CALL_CONSTRAINT] = "constraint",
    [LG_CALL_JACOBIAN] = "constraint_jacobian",
    [LG_CALL_ACCELERATION] = "constraint_acceleration",
    [LG_CALL_TANGENT] = "tangent",
    [LG_CALL_ENERGY] = "energy",
    [LG_CALL_POTENTIAL] = "potential",
    [LG_CALL_POTENTIAL_GRADIENT] = "potential_gradient",
    [LG_CALL_MASS_GRADIENT] = "mass_gradient",
};

/* The functions given by name, those given as None left out; the list `owned` keeps them. */
static lg_py_function *read_functions(PyObject *given, lg_callbacks_spec *spec, PyObject *owned)
{
    lg_py_function *functions = lg_keep_memory(owned, LG_CALLS, sizeof *functions);
    Py_ssize_t found = 0;
    for (int i = 0; functions && i < LG_CALLS; i++) {
        PyObject *function = PyDict_GetItemString(given, function_names[i]);
        found += function != NULL;
        if (lg_function(function_names[i], &function) < 0 || (function && PyList_Append(owned, function) < 0))
            return NULL;
        functions[i] = (lg_py_function){.function = function, .call = i};
        if (function)
            spec->function[i] = (lg_callback){lg_py_call, &functions[i]};
    }
    if (!functions || found == PyDict_Size(given))
        return functions;
    PyErr_Format(PyExc_ValueError, "functions: a name is not known in %R", given);
    return NULL;
}

static int read_kinks(PyObject *given, lg_callbacks_spec *spec, PyObject *owned)
{
    PyArrayObject *kinks = lg_keep_array(owned, lg_vector(given, "kinks", -1));
    if (!kinks || PyArray_Sort(kinks, 0, NPY_QUICKSORT) < 0)
        return -1;
    spec->kinks = lg_data(kinks);
    spec->nkinks = (int)PyArray_SIZE(kinks);
    return 0;
}

static void release(void *core)
{
    lg_callbacks_free(core);
}

static PyObject *new_system(PyTypeObject *type, const lg_callbacks_spec *spec, lg_py_function *functions,
                            PyObject *owned)
{
    lg_callbacks *callbacks;
    lg_report report;
    lg_status status = lg_callbacks_create(spec, &callbacks, &report);
    if (status != LG_OK)
        return lg_raise(lg_module_of(type), status, &report, NULL);
    const lg_system *system = lg_callbacks_system(callbacks);
    for (lg_py_function *f = functions; f < functions + LG_CALLS; f++)
        f->nq = system->space->nq, f->nv = system->space->nv, f->rows = spec->nrows;
    return lg_system_new(type, system, callbacks, release, owned);
}

static PyObject *callable_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"blocks", "nrows", "functions", "kinks", "constant_mass", NULL};
    PyObject *blocks, *given, *kinks, *self = NULL;
    lg_callbacks_spec spec = {.flags = LG_SYSTEM_NEEDS_GIL};
    lg_py_function *functions;
    int constant_mass = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OiO!O|p:CallableSystem", names, &blocks, &spec.nrows, &PyDict_Type,
                                     &given, &kinks, &constant_mass))
        return NULL;
    spec.flags |= constant_mass ? LG_SYSTEM_CONSTANT_MASS : 0;
    PyObject *owned = PyList_New(0);
    if (owned && (spec.blocks = lg_blocks(blocks, &spec.nblocks, owned)) &&
        (functions = read_functions(given, &spec, owned)) && read_kinks(kinks, &spec, owned) == 0)
        self = new_system(type, &spec, functions, owned);
    Py_XDECREF(owned);
    return self;
}

/* ---- the type ---- */

PyDoc_STRVAR(
    callable_doc,
    "CallableSystem(blocks, nrows, functions, kinks, constant_mass=False)\n--\n\n"
    "A system whose verbs call Python functions, with M a + gyro - force + B^T lam = 0. blocks: (kind, n); functions:\n"
    "a dict of mass and force and, if given, gyro, constraint, constraint_jacobian, constraint_acceleration, tangent,\n"
    "energy, potential, potential_gradient and mass_gradient. They get read-only copies of q (nq,) and v (nv,) and, "
    "at\n"
    "a kink, a t just on the side that is meant. An exception inside a function stops the run and is raised "
    "unchanged.\n"
    "If constraint_acceleration (zeta = -(dB/dt) v - explicit time terms) or tangent (K = d(M a + gyro - force +\n"
    "B^T lam)/dq and D = d(gyro - force)/dv, both without the blocks' own rows) is not given, it is formed by\n"
    "differences. The potential and the two gradients make steps of energy-momentum methods possible, on a single\n"
    "block R^n.");

static PyType_Slot callable_slots[] = {
    {Py_tp_doc, (void *)callable_doc},
    {Py_tp_new, callable_new},
    {0, NULL},
};

static PyType_Spec callable_spec = {
    .name = "lgint._core.CallableSystem",
    .basicsize = sizeof(lg_system_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = callable_slots,
};

int lg_add_callable(PyObject *module)
{
    const lg_module *state = PyModule_GetState(module);
    return lg_add_type(module, &callable_spec, state->System, NULL);
}
