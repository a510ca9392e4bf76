/* The type CallableSystem: a system made of Python functions. */
#include "bind/args.h"
#include "bind/py_function.h"
#include "bind/system.h"

typedef struct lg_callable_object {
    lg_system_object base;
    lg_callbacks *callbacks;
    lg_py_function function[LG_CALLS];
} lg_callable_object;

static lg_callable_object *callable_of(PyObject *self)
{
    return (lg_callable_object *)self;
}

/* ---- building ---- */

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

static int check_functions(PyObject *given[LG_CALLS])
{
    for (int i = 0; i < LG_CALLS; i++)
        if (lg_function(function_names[i], &given[i]) < 0)
            return -1;
    return 0;
}

/* The blocks in a tuple of (kind, n); their names point into the Python strings. Free with PyMem_Free. */
static lg_block_spec *read_blocks(PyObject *tuple)
{
    Py_ssize_t count = PyTuple_GET_SIZE(tuple);
    lg_block_spec *blocks = PyMem_Calloc((size_t)count + 1, sizeof *blocks);
    if (!blocks)
        return (lg_block_spec *)PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < count; i++)
        if (lg_block_of(PyTuple_GET_ITEM(tuple, i), &blocks[i]) < 0) {
            PyMem_Free(blocks);
            return NULL;
        }
    return blocks;
}

static PyArrayObject *read_kinks(PyObject *kinks)
{
    PyArrayObject *array =
        kinks ? lg_vector(kinks, "kinks", -1) : (PyArrayObject *)PyArray_SimpleNew(1, &(npy_intp){0}, NPY_DOUBLE);
    if (array && PyArray_Sort(array, 0, NPY_QUICKSORT) < 0)
        Py_CLEAR(array);
    return array;
}

static void keep_functions(lg_callable_object *callable, PyObject *const given[LG_CALLS], lg_callbacks_spec *spec)
{
    for (int i = 0; i < LG_CALLS; i++) {
        if (!given[i])
            continue;
        callable->function[i] = (lg_py_function){.function = Py_NewRef(given[i]), .call = i};
        spec->function[i] = (lg_callback){.call = lg_py_call, .self = &callable->function[i]};
    }
}

static void release_functions(lg_callable_object *callable)
{
    for (int i = 0; i < LG_CALLS; i++)
        Py_CLEAR(callable->function[i].function);
}

static int build(PyObject *self, lg_callbacks_spec *spec, PyObject *const given[LG_CALLS])
{
    lg_callable_object *callable = callable_of(self);
    lg_report report;
    keep_functions(callable, given, spec);
    lg_status status = lg_callbacks_create(spec, &callable->callbacks, &report);
    if (status != LG_OK) {
        release_functions(callable);
        lg_raise(lg_module_of(Py_TYPE(self)), status, &report, NULL);
        return -1;
    }
    const lg_system *system = callable->base.system = lg_callbacks_system(callable->callbacks);
    for (int i = 0; i < LG_CALLS; i++) {
        lg_py_function *f = &callable->function[i];
        f->nq = system->space->nq, f->nv = system->space->nv, f->rows = spec->nrows;
    }
    return 0;
}

/* The keywords of its creation, in the order in which they are parsed. */
static char *keywords[] = {"blocks",
                           "nrows",
                           "mass",
                           "force",
                           "gyro",
                           "constraint",
                           "constraint_jacobian",
                           "constraint_acceleration",
                           "tangent",
                           "energy",
                           "kinks",
                           "constant_mass",
                           "potential",
                           "potential_gradient",
                           "mass_gradient",
                           NULL};

static int callable_init(PyObject *self, PyObject *args, PyObject *kwargs)
{
    PyObject *sequence, *times = NULL, *given[LG_CALLS] = {NULL};
    lg_callbacks_spec spec = {.flags = LG_SYSTEM_NEEDS_GIL};
    int constant_mass = 0, done = -1;
    if (!lg_system_is_fresh(self) ||
        !PyArg_ParseTupleAndKeywords(
            args, kwargs, "OiOO|OOOOOOOpOOO:CallableSystem", keywords, &sequence, &spec.nrows, &given[LG_CALL_MASS],
            &given[LG_CALL_FORCE], &given[LG_CALL_GYRO], &given[LG_CALL_CONSTRAINT], &given[LG_CALL_JACOBIAN],
            &given[LG_CALL_ACCELERATION], &given[LG_CALL_TANGENT], &given[LG_CALL_ENERGY], &times, &constant_mass,
            &given[LG_CALL_POTENTIAL], &given[LG_CALL_POTENTIAL_GRADIENT], &given[LG_CALL_MASS_GRADIENT]) ||
        check_functions(given) < 0)
        return -1;

    PyObject *tuple = PySequence_Tuple(sequence);
    lg_block_spec *blocks = tuple ? read_blocks(tuple) : NULL;
    PyArrayObject *kinks = blocks ? read_kinks(times) : NULL;
    if (kinks) {
        spec.nblocks = (int)PyTuple_GET_SIZE(tuple), spec.blocks = blocks;
        spec.nkinks = (int)PyArray_SIZE(kinks), spec.kinks = lg_data(kinks);
        spec.flags |= constant_mass ? LG_SYSTEM_CONSTANT_MASS : 0;
        done = build(self, &spec, given);
    }
    PyMem_Free(blocks);
    Py_XDECREF(kinks);
    Py_XDECREF(tuple);
    return done;
}

/* ---- creation and destruction ---- */

static int callable_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    for (int i = 0; i < LG_CALLS; i++)
        Py_VISIT(callable_of(self)->function[i].function);
    return 0;
}

/* A cleared system cannot be run any more, since no reachable object refers to it. */
static int callable_clear(PyObject *self)
{
    ((lg_system_object *)self)->system = NULL;
    release_functions(callable_of(self));
    return 0;
}

static void callable_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    callable_clear(self);
    lg_system_close(&((lg_callable_object *)self)->base);
    lg_callbacks_free(callable_of(self)->callbacks);
    type->tp_free(self);
    Py_DECREF(type);
}

/* ---- the type ---- */

PyDoc_STRVAR(
    callable_doc,
    "CallableSystem(blocks, nrows, mass, force, gyro=None, constraint=None, constraint_jacobian=None,\n"
    "               constraint_acceleration=None, tangent=None, energy=None, kinks=(), constant_mass=False,\n"
    "               potential=None, potential_gradient=None, mass_gradient=None)\n"
    "--\n\n"
    "A system whose verbs call Python functions, with M a + gyro - force + B^T lam = 0. The functions get\n"
    "read-only copies of q (nq,) and v (nv,) and, at a kink, a t just on the side that is meant. An exception\n"
    "inside a function stops the run and is raised unchanged. If constraint_acceleration (zeta = -(dB/dt) v -\n"
    "explicit time terms) or tangent (K = d(M a + gyro - force + B^T lam)/dq and D = d(gyro - force)/dv, both\n"
    "without the blocks' own rows) is not given, it is formed by differences. The potential and the two gradients\n"
    "make steps of energy-momentum methods possible, on a single block R^n.");

static PyType_Slot callable_slots[] = {
    {Py_tp_doc, (void *)callable_doc},   {Py_tp_init, callable_init},   {Py_tp_dealloc, callable_dealloc},
    {Py_tp_traverse, callable_traverse}, {Py_tp_clear, callable_clear}, {0, NULL},
};

static PyType_Spec callable_spec = {
    .name = "lgint._core.CallableSystem",
    .basicsize = sizeof(lg_callable_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .slots = callable_slots,
};

int lg_add_callable(PyObject *module)
{
    lg_module *state = PyModule_GetState(module);
    return lg_add_type(module, &callable_spec, state->System, &state->CallableSystem);
}
