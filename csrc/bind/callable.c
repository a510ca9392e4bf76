/* The type CallableSystem: an lg_system made of Python functions. */
#include "bind/args.h"
#include "bind/py_system.h"
#include "bind/system.h"

typedef struct lg_callable_object {
    lg_system_object base;
    lg_py_system impl;
} lg_callable_object;

static lg_py_system *impl_of(PyObject *self)
{
    return &((lg_callable_object *)self)->impl;
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
};

static int check_functions(PyObject *const given[LG_CALLS], int nrows)
{
    for (int i = 0; i < LG_CALLS; i++)
        if (given[i] && given[i] != Py_None && !PyCallable_Check(given[i])) {
            PyErr_Format(PyExc_ValueError, "%s must be a function or None, given %R", function_names[i], given[i]);
            return -1;
        }
    if (given[LG_CALL_MASS] == Py_None || given[LG_CALL_FORCE] == Py_None) {
        PyErr_SetString(PyExc_ValueError, "mass and force must be functions");
        return -1;
    }
    int has_phi = given[LG_CALL_CONSTRAINT] && given[LG_CALL_CONSTRAINT] != Py_None;
    int has_B = given[LG_CALL_JACOBIAN] && given[LG_CALL_JACOBIAN] != Py_None;
    if (nrows < 0 || (nrows > 0) != has_phi || has_phi != has_B) {
        PyErr_SetString(
            PyExc_ValueError,
            "constraint and constraint_jacobian belong together: both with nrows > 0 or none with nrows = 0");
        return -1;
    }
    return 0;
}

/* Kind and size of one block, counted in `total`. */
static int read_block(PyObject *item, lg_block *block, lg_space *total)
{
    const char *kind;
    PyObject *tuple = PySequence_Tuple(item);
    int done = tuple && PyArg_ParseTuple(tuple, "si;blocks are (kind, n)", &kind, &block->n) ? 0 : -1;
    if (done == 0 && !(block->node = lg_node_find(kind))) {
        PyErr_Format(PyExc_ValueError, "there is no node kind \"%s\"; see node_rows()", kind);
        done = -1;
    }
    if (done == 0 && (block->node->nq ? block->n != 0 : block->n < 1)) {
        PyErr_Format(PyExc_ValueError, "n of a block \"%s\" must be %s, given %d", kind,
                     block->node->nq ? "0" : "positive", block->n);
        done = -1;
    }
    if (done == 0 && !lg_space_count(total, block->node, block->n)) {
        PyErr_Format(PyExc_ValueError,
                     "blocks: with n = %d of \"%s\" and %d constraint rows the matrices are too large", block->n, kind,
                     total->nrows);
        done = -1;
    }
    Py_XDECREF(tuple);
    return done;
}

/* A list of blocks with only kind and n filled in; free with PyMem_Free. */
static lg_block *read_blocks(PyObject *sequence, int nrows, int *count)
{
    lg_space total = {.nrows = nrows};
    PyObject *tuple = PySequence_Tuple(sequence);
    if (!tuple)
        return NULL;
    *count = (int)PyTuple_GET_SIZE(tuple);
    lg_block *blocks = PyMem_Calloc((size_t)*count + 1, sizeof *blocks);
    if (!blocks)
        PyErr_NoMemory();
    else if (*count == 0)
        PyErr_SetString(PyExc_ValueError, "blocks must hold at least one block");
    for (int i = 0; blocks && i < *count && !PyErr_Occurred(); i++)
        read_block(PyTuple_GET_ITEM(tuple, i), &blocks[i], &total);
    Py_DECREF(tuple);
    if (PyErr_Occurred()) {
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

static int build(PyObject *self, const lg_block *blocks, int nblocks, int nrows, const PyArrayObject *kinks,
                 PyObject *const given[LG_CALLS], int constant_mass)
{
    lg_py_system *impl = impl_of(self);
    int own = 0, nkinks = (int)PyArray_SIZE((PyArrayObject *)kinks);
    for (int i = 0; i < nblocks; i++)
        own += blocks[i].node->nown;
    if (lg_py_system_open(impl, nblocks, own, nrows, nkinks) != LG_OK) {
        PyErr_NoMemory();
        return -1;
    }
    memcpy(impl->block, blocks, (size_t)nblocks * sizeof *blocks);
    if (nkinks)
        memcpy(impl->kinks, lg_data(kinks), (size_t)nkinks * sizeof(double));
    for (int i = 0; i < LG_CALLS; i++)
        if (given[i] && given[i] != Py_None)
            impl->function[i] = Py_NewRef(given[i]);
    lg_py_system_finish(impl, constant_mass ? LG_SYSTEM_CONSTANT_MASS : 0);
    ((lg_system_object *)self)->system = &impl->system;
    return 0;
}

static int callable_init(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"blocks",
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
                            NULL};
    PyObject *sequence, *times = NULL, *given[LG_CALLS] = {NULL};
    int nrows, constant_mass = 0, nblocks = 0, done = -1;
    if (!lg_system_is_fresh(self) ||
        !PyArg_ParseTupleAndKeywords(args, kwargs, "OiOO|OOOOOOOp:CallableSystem", names, &sequence, &nrows,
                                     &given[LG_CALL_MASS], &given[LG_CALL_FORCE], &given[LG_CALL_GYRO],
                                     &given[LG_CALL_CONSTRAINT], &given[LG_CALL_JACOBIAN], &given[LG_CALL_ACCELERATION],
                                     &given[LG_CALL_TANGENT], &given[LG_CALL_ENERGY], &times, &constant_mass) ||
        check_functions(given, nrows) < 0)
        return -1;

    lg_block *blocks = read_blocks(sequence, nrows, &nblocks);
    PyArrayObject *kinks = blocks ? read_kinks(times) : NULL;
    if (kinks)
        done = build(self, blocks, nblocks, nrows, kinks, given, constant_mass);
    PyMem_Free(blocks);
    Py_XDECREF(kinks);
    return done;
}

/* ---- life ---- */

static int callable_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    for (int i = 0; i < LG_CALLS; i++)
        Py_VISIT(impl_of(self)->function[i]);
    return 0;
}

/* A cleared system must not be run any more: nothing reachable holds it then. */
static int callable_clear(PyObject *self)
{
    ((lg_system_object *)self)->system = NULL;
    for (int i = 0; i < LG_CALLS; i++)
        Py_CLEAR(impl_of(self)->function[i]);
    return 0;
}

static void callable_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    callable_clear(self);
    lg_system_close(&((lg_callable_object *)self)->base);
    lg_py_system_close(impl_of(self));
    type->tp_free(self);
    Py_DECREF(type);
}

/* ---- the type ---- */

PyDoc_STRVAR(
    callable_doc,
    "CallableSystem(blocks, nrows, mass, force, gyro=None, constraint=None, constraint_jacobian=None,\n"
    "               constraint_acceleration=None, tangent=None, energy=None, kinks=(), constant_mass=False)\n"
    "--\n\n"
    "A system whose verbs call Python functions, with M a + gyro - force + B^T lam = 0. They get read-only\n"
    "copies of q (nq,) and v (nv,), and at a kink a t just on the side that is meant; an exception inside one\n"
    "stops the run and arrives unchanged. What is not given is taken by differences: constraint_acceleration (zeta = "
    "-(dB/dt) v - explicit time terms) and\n"
    "tangent (K = d(M a + gyro - force + B^T lam)/dq and D = d(gyro - force)/dv, the blocks' own rows left "
    "out).");

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
