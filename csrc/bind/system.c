/* The type System: the methods that every lg_system has in Python; `evaluate` is in a file of its own. */
#include "bind/system.h"

#include "bind/args.h"

/* ---- creation and destruction ---- */

const lg_system *lg_system_of(PyObject *self)
{
    const lg_system *system = ((lg_system_object *)self)->system;
    if (!system)
        PyErr_Format(PyExc_RuntimeError, "%s.__init__ has not run", Py_TYPE(self)->tp_name);
    return system;
}

int lg_system_is_fresh(PyObject *self)
{
    if (!((lg_system_object *)self)->system)
        return 1;
    PyErr_Format(PyExc_RuntimeError, "%s.__init__ has run already", Py_TYPE(self)->tp_name);
    return 0;
}

const lg_plan *lg_system_plan(PyObject *self, lg_coupling coupling)
{
    lg_system_object *object = (lg_system_object *)self;
    if (!object->plan[coupling]) {
        lg_status status = lg_plan_create(object->system->pattern, coupling, &object->plan[coupling]);
        if (status != LG_OK)
            lg_raise(lg_module_of(Py_TYPE(self)), status, NULL, NULL);
    }
    return object->plan[coupling];
}

void lg_system_close(lg_system_object *self)
{
    for (int coupling = 0; coupling < LG_COUPLINGS; coupling++)
        lg_plan_free(self->plan[coupling]);
}

static int system_init(PyObject *self, PyObject *Py_UNUSED(args), PyObject *Py_UNUSED(kwargs))
{
    PyErr_Format(PyExc_TypeError, "%s is a base class; create a Model or a CallableSystem", Py_TYPE(self)->tp_name);
    return -1;
}

static void system_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    type->tp_free(self);
    Py_DECREF(type);
}

static int system_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    return 0;
}

/* ---- batched verbs ---- */

static PyObject *pair_of(PyArrayObject *a, PyArrayObject *b)
{
    return Py_BuildValue("(NN)", a, b);
}

PyDoc_STRVAR(energy_doc, "energy(t, q, v)\n--\n\n"
                         "Kinetic and potential energy, each (...,), of states t (...,), q (..., nq), v (..., nv).\n"
                         "ValueError if the system does not know its energy.");

/* memory: the system's mem (zeros), then its scratch */
static lg_status energy_loop(const lg_system *system, const lg_batch *batch, double *memory, double *T, double *V)
{
    for (npy_intp i = 0; i < batch->points; i++) {
        lg_point point = lg_point_at(*lg_batch_at(batch, 0, i), lg_batch_at(batch, 1, i), lg_batch_at(batch, 2, i));
        point.mem = memory;
        point.work = memory + system->nmem;
        LG_TRY(system->energy(system->self, &point, T + i, V + i));
    }
    return LG_OK;
}

static PyObject *energy_of(PyObject *self, const lg_system *system, const lg_batch *batch)
{
    PyArrayObject *T = lg_batch_output(batch, 0, NULL), *V = lg_batch_output(batch, 0, NULL);
    double *memory = PyMem_Calloc((size_t)(system->nmem + system->nwork) + 1, sizeof *memory);
    if (!T || !V || !memory) {
        Py_XDECREF(T);
        Py_XDECREF(V);
        PyMem_Free(memory);
        return PyErr_NoMemory();
    }
    lg_status status = energy_loop(system, batch, memory, PyArray_DATA(T), PyArray_DATA(V));
    PyMem_Free(memory);
    if (status == LG_OK)
        return pair_of(T, V);
    Py_DECREF(T);
    Py_DECREF(V);
    return lg_raise(lg_module_of(Py_TYPE(self)), status, NULL, NULL);
}

/* The operands t, q, v of a system. */
static lg_batch state_batch(const lg_system *system)
{
    return (lg_batch){.count = 3,
                      .operand = {{.name = "t", .n = -1},
                                  {.name = "q", .n = system->space->nq},
                                  {.name = "v", .n = system->space->nv}}};
}

static PyObject *system_energy(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"t", "q", "v", NULL};
    const lg_system *system = lg_system_of(self);
    PyObject *given[3];
    if (!system || !PyArg_ParseTupleAndKeywords(args, kwargs, "OOO:energy", names, &given[0], &given[1], &given[2]))
        return NULL;
    if (!system->energy) {
        PyErr_SetString(PyExc_ValueError, "this system has no energy; give a CallableSystem the function `energy`");
        return NULL;
    }
    lg_batch batch = state_batch(system);
    if (lg_batch_open(&batch, given) < 0)
        return NULL;
    PyObject *result = energy_of(self, system, &batch);
    lg_batch_close(&batch);
    return result;
}

PyDoc_STRVAR(residual_doc,
             "residual(t, q, v)\n--\n\n"
             "Constraint residuals phi and phidot, each (..., nrows), of states t (...,), q (..., nq), v (..., nv).");

static lg_status residual_loop(const lg_system *system, const lg_batch *batch, double *work, double *phi,
                               double *phidot)
{
    npy_intp nrows = system->pattern->nrows;
    for (npy_intp i = 0; i < batch->points; i++) {
        lg_point point = lg_point_at(*lg_batch_at(batch, 0, i), lg_batch_at(batch, 1, i), lg_batch_at(batch, 2, i));
        point.work = work;
        lg_wanted wanted = {.phi = phi + i * nrows, .phidot = phidot + i * nrows};
        LG_TRY(system->eval(system->self, &point, &wanted));
    }
    return LG_OK;
}

static PyObject *residual_of(PyObject *self, const lg_system *system, const lg_batch *batch)
{
    npy_intp nrows = system->pattern->nrows;
    PyArrayObject *phi = lg_batch_output(batch, 1, &nrows), *phidot = lg_batch_output(batch, 1, &nrows);
    double *work = PyMem_Calloc((size_t)system->nwork + 1, sizeof *work);
    lg_status status = LG_NO_MEMORY;
    if (phi && phidot && work)
        status = residual_loop(system, batch, work, PyArray_DATA(phi), PyArray_DATA(phidot));
    PyMem_Free(work);
    if (status == LG_OK)
        return pair_of(phi, phidot);
    Py_XDECREF(phi);
    Py_XDECREF(phidot);
    return lg_raise(lg_module_of(Py_TYPE(self)), status, NULL, NULL);
}

static PyObject *system_residual(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"t", "q", "v", NULL};
    const lg_system *system = lg_system_of(self);
    PyObject *given[3];
    if (!system || !PyArg_ParseTupleAndKeywords(args, kwargs, "OOO:residual", names, &given[0], &given[1], &given[2]))
        return NULL;
    lg_batch batch = state_batch(system);
    if (lg_batch_open(&batch, given) < 0)
        return NULL;
    PyObject *result = residual_of(self, system, &batch);
    lg_batch_close(&batch);
    return result;
}

/* ---- the configuration space ---- */

/* Both verbs map two vectors to one: out = f(space, a, b). */
typedef void (*lg_space_map)(const lg_space *space, const double *a, const double *b, double *out);

static PyObject *map_space(const lg_system *system, lg_batch *batch, PyObject *const *given, lg_space_map map,
                           npy_intp n)
{
    if (lg_batch_open(batch, given) < 0)
        return NULL;
    PyArrayObject *out = lg_batch_output(batch, 1, &n);
    for (npy_intp i = 0; out && i < batch->points; i++)
        map(system->space, lg_batch_at(batch, 0, i), lg_batch_at(batch, 1, i), (double *)PyArray_DATA(out) + i * n);
    lg_batch_close(batch);
    return (PyObject *)out;
}

PyDoc_STRVAR(retract_doc, "retract(q, theta)\n--\n\nq exp(theta) block by block: (..., nq), (..., nv) -> (..., nq).");

static PyObject *system_retract(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"q", "theta", NULL};
    const lg_system *system = lg_system_of(self);
    PyObject *given[2];
    if (!system || !PyArg_ParseTupleAndKeywords(args, kwargs, "OO:retract", names, &given[0], &given[1]))
        return NULL;
    npy_intp nq = system->space->nq, nv = system->space->nv;
    lg_batch batch = {.count = 2, .operand = {{.name = "q", .n = nq}, {.name = "theta", .n = nv}}};
    return map_space(system, &batch, given, lg_space_retract, nq);
}

PyDoc_STRVAR(difference_doc,
             "difference(q0, q1)\n--\n\nlog(q0^-1 q1) block by block: (..., nq), (..., nq) -> (..., nv).");

static PyObject *system_difference(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"q0", "q1", NULL};
    const lg_system *system = lg_system_of(self);
    PyObject *given[2];
    if (!system || !PyArg_ParseTupleAndKeywords(args, kwargs, "OO:difference", names, &given[0], &given[1]))
        return NULL;
    npy_intp nq = system->space->nq;
    lg_batch batch = {.count = 2, .operand = {{.name = "q0", .n = nq}, {.name = "q1", .n = nq}}};
    return map_space(system, &batch, given, lg_space_difference, system->space->nv);
}

PyDoc_STRVAR(tangent_doc, "tangent(theta)\n--\n\n"
                          "The tangent operator T(theta), (nv, nv) and block diagonal: v = T(theta) theta' along\n"
                          "q0 exp(theta(t)). theta (nv,).");

static void fill_tangent(const lg_space *space, const double *theta, double *work, double *out)
{
    for (const lg_block *b = space->block; b < space->block + space->nblocks; b++) {
        if (!b->node->linear)
            lg_block_tangent(b, theta, work);
        for (int j = 0; j < b->nv; j++)
            for (int i = 0; i < b->nv; i++)
                out[(b->v + i) * space->nv + b->v + j] = b->node->linear ? i == j : work[j * b->nv + i];
    }
}

static PyObject *system_tangent(PyObject *self, PyObject *theta)
{
    const lg_system *system = lg_system_of(self);
    if (!system)
        return NULL;
    npy_intp dims[] = {system->space->nv, system->space->nv};
    PyArrayObject *given = lg_vector(theta, "theta", dims[0]);
    if (!given)
        return NULL;
    PyArrayObject *out = (PyArrayObject *)PyArray_ZEROS(2, dims, NPY_DOUBLE, 0);
    double *work = PyMem_Calloc((size_t)(dims[0] * dims[0]) + 1, sizeof *work);
    if (out && work)
        fill_tangent(system->space, lg_data(given), work, PyArray_DATA(out));
    else
        Py_CLEAR(out);
    PyMem_Free(work);
    Py_DECREF(given);
    return out ? (PyObject *)out : PyErr_NoMemory();
}

PyDoc_STRVAR(matrix_values_doc,
             "matrix_values(*, tangents=True)\n--\n\n"
             "The number of values stored in the factors of the system's matrix: its fill. The matrix of implicit\n"
             "methods holds tangents, that of explicit ones, accelerations and projections the mass alone.");

static PyObject *system_matrix_values(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"tangents", NULL};
    int tangents = 1;
    if (!lg_system_of(self) || !PyArg_ParseTupleAndKeywords(args, kwargs, "|$p:matrix_values", names, &tangents))
        return NULL;
    const lg_plan *plan = lg_system_plan(self, tangents ? LG_COUPLING_TANGENTS : LG_COUPLING_MASS);
    return plan ? PyLong_FromLong(lg_plan_values(plan)) : NULL;
}

PyDoc_STRVAR(dense_count_doc, "solve_dense_count()\n--\n\n"
                              "How often `initial` and `project` have fallen back to the dense factorisation.");

static PyObject *system_solve_dense_count(PyObject *self, PyObject *Py_UNUSED(unused))
{
    return lg_system_of(self) ? PyLong_FromLong(((lg_system_object *)self)->dense_fallbacks) : NULL;
}

/* ---- attributes ---- */

static PyObject *get_nq(PyObject *self, void *Py_UNUSED(closure))
{
    const lg_system *system = lg_system_of(self);
    return system ? PyLong_FromLong(system->space->nq) : NULL;
}

static PyObject *get_nv(PyObject *self, void *Py_UNUSED(closure))
{
    const lg_system *system = lg_system_of(self);
    return system ? PyLong_FromLong(system->space->nv) : NULL;
}

static PyObject *get_nrows(PyObject *self, void *Py_UNUSED(closure))
{
    const lg_system *system = lg_system_of(self);
    return system ? PyLong_FromLong(system->pattern->nrows) : NULL;
}

static PyObject *get_widths(PyObject *self, void *Py_UNUSED(closure))
{
    const lg_system *system = lg_system_of(self);
    PyObject *dict = system ? PyDict_New() : NULL;
    for (int part = 0; dict && part < LG_PARTS; part++) {
        PyObject *width = PyLong_FromLong(lg_part_width(system, (lg_part)part));
        if (!width || PyDict_SetItemString(dict, lg_parts[part].name, width) < 0)
            Py_CLEAR(dict);
        Py_XDECREF(width);
    }
    return dict;
}

static PyObject *get_nmem(PyObject *self, void *Py_UNUSED(closure))
{
    const lg_system *system = lg_system_of(self);
    return system ? PyLong_FromLong(system->nmem) : NULL;
}

static PyObject *get_constant_mass(PyObject *self, void *Py_UNUSED(closure))
{
    const lg_system *system = lg_system_of(self);
    return system ? PyBool_FromLong(system->flags & LG_SYSTEM_CONSTANT_MASS) : NULL;
}

static PyObject *get_blocks(PyObject *self, void *Py_UNUSED(closure))
{
    const lg_system *system = lg_system_of(self);
    PyObject *list = system ? PyList_New(system->space->nblocks) : NULL;
    for (int i = 0; list && i < system->space->nblocks; i++) {
        const lg_block *b = &system->space->block[i];
        PyObject *row = Py_BuildValue("(siiiii)", b->node->name, b->n, b->q, b->v, b->nown, b->own);
        if (row)
            PyList_SET_ITEM(list, i, row);
        else
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *get_row_names(PyObject *self, void *Py_UNUSED(closure))
{
    const lg_system *system = lg_system_of(self);
    PyObject *list = system ? PyList_New(system->pattern->nrows) : NULL;
    for (int i = 0; list && i < system->pattern->nrows; i++) {
        PyObject *name = PyUnicode_FromString(system->row_name(system->self, i));
        if (name)
            PyList_SET_ITEM(list, i, name);
        else
            Py_CLEAR(list);
    }
    return list;
}

static PyGetSetDef system_attributes[] = {
    {"nq", get_nq, NULL, "number of coordinates", NULL},
    {"nv", get_nv, NULL, "number of velocities", NULL},
    {"nrows", get_nrows, NULL, "number of constraint rows, the blocks' own rows last", NULL},
    {"widths", get_widths, NULL, "length of each part of a state, by its name", NULL},
    {"nmem", get_nmem, NULL, "values of memory that accepted steps update", NULL},
    {"constant_mass", get_constant_mass, NULL, "whether M depends neither on q nor on t", NULL},
    {"blocks", get_blocks, NULL, "per block: kind, n, first q, first v, own rows, first own row", NULL},
    {"row_names", get_row_names, NULL, "names of the constraint rows", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

#define WITH_KEYWORDS(function) (PyCFunction)(void (*)(void)) function, METH_VARARGS | METH_KEYWORDS

static PyMethodDef system_methods[] = {
    {"evaluate", WITH_KEYWORDS(lg_system_evaluate), lg_system_evaluate_doc},
    {"energy", WITH_KEYWORDS(system_energy), energy_doc},
    {"residual", WITH_KEYWORDS(system_residual), residual_doc},
    {"retract", WITH_KEYWORDS(system_retract), retract_doc},
    {"difference", WITH_KEYWORDS(system_difference), difference_doc},
    {"tangent", system_tangent, METH_O, tangent_doc},
    {"initial", WITH_KEYWORDS(lg_system_initial), lg_system_initial_doc},
    {"project", WITH_KEYWORDS(lg_system_project), lg_system_project_doc},
    {"matrix_values", WITH_KEYWORDS(system_matrix_values), matrix_values_doc},
    {"solve_dense_count", system_solve_dense_count, METH_NOARGS, dense_count_doc},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot system_slots[] = {
    {Py_tp_doc, "A model as integrators see it. Base class of Model and CallableSystem; not created directly."},
    {Py_tp_init, system_init},
    {Py_tp_dealloc, system_dealloc},
    {Py_tp_traverse, system_traverse},
    {Py_tp_methods, system_methods},
    {Py_tp_getset, system_attributes},
    {0, NULL},
};

static PyType_Spec system_spec = {
    .name = "lgint._core.System",
    .basicsize = sizeof(lg_system_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .slots = system_slots,
};

int lg_add_system(PyObject *module)
{
    lg_module *state = PyModule_GetState(module);
    return lg_add_type(module, &system_spec, NULL, &state->System);
}
