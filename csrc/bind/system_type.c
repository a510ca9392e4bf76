/* The type System: what every lg_system offers in Python, except for its queries. */
#include "bind/args.h"
#include "bind/query.h"

/* ---- creation and destruction ---- */

static PyObject *system_new(PyTypeObject *type, PyObject *Py_UNUSED(args), PyObject *Py_UNUSED(kwargs))
{
    return PyErr_Format(PyExc_TypeError, "%s is a base class; create a Model or a CallableSystem", type->tp_name);
}

static int system_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((lg_system_object *)self)->owned);
    return 0;
}

static void system_dealloc(PyObject *self)
{
    lg_system_object *object = (lg_system_object *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    object->release(object->core);
    Py_DECREF(object->owned);
    for (int coupling = 0; coupling < LG_COUPLINGS; coupling++)
        lg_plan_free(object->plan[coupling]);
    type->tp_free(self);
    Py_DECREF(type);
}

/* ---- the matrix ---- */

PyDoc_STRVAR(matrix_values_doc,
             "matrix_values(*, tangents=True)\n--\n\nThe number of values stored in the factors of the matrix.");

static PyObject *system_matrix_values(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"tangents", NULL};
    int tangents = 1;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$p:matrix_values", names, &tangents))
        return NULL;
    const lg_plan *plan = lg_system_plan(self, tangents ? LG_COUPLING_TANGENTS : LG_COUPLING_MASS);
    return plan ? PyLong_FromLong(lg_plan_values(plan)) : NULL;
}

PyDoc_STRVAR(dense_count_doc, "solve_dense_count()\n--\n\n"
                              "How often `initial` and `project` have fallen back to the dense factorisation.");

static PyObject *system_solve_dense_count(PyObject *self, PyObject *Py_UNUSED(unused))
{
    return PyLong_FromLong(((lg_system_object *)self)->dense_fallbacks);
}

/* ---- attributes ---- */

/* The closure is the letter of an axis; see lg_length. */
static PyObject *get_length(PyObject *self, void *letter)
{
    return PyLong_FromLong((long)lg_length(lg_system_of(self), *(const char *)letter));
}

static PyObject *get_widths(PyObject *self, void *Py_UNUSED(closure))
{
    const lg_system *system = lg_system_of(self);
    PyObject *dict = PyDict_New();
    for (int part = 0; dict && part < LG_PARTS; part++)
        if (lg_set_item(dict, lg_parts[part].name, PyLong_FromLong(lg_part_width(system, (lg_part)part))) < 0)
            Py_CLEAR(dict);
    return dict;
}

/* The closure is a flag. */
static PyObject *get_flag(PyObject *self, void *flag)
{
    return PyBool_FromLong(lg_system_of(self)->flags & *(const unsigned *)flag);
}

static const unsigned constant_mass = LG_SYSTEM_CONSTANT_MASS, conservative = LG_SYSTEM_CONSERVATIVE;
static const unsigned needs_gil = LG_SYSTEM_NEEDS_GIL, has_potential = LG_SYSTEM_HAS_POTENTIAL;

static PyObject *block_row(const void *space, int index)
{
    const lg_block *b = &((const lg_space *)space)->block[index];
    return Py_BuildValue("(siiiii)", b->node->name, b->nv - b->node->nv, b->q, b->v, b->nown, b->own);
}

static PyObject *factor_row(const void *space, int index)
{
    const lg_factor *f = &((const lg_space *)space)->factor[index];
    return Py_BuildValue("(siiii)", f->node->name, f->n, f->q, f->v, f->block);
}

static PyObject *get_factors(PyObject *self, void *Py_UNUSED(closure))
{
    const lg_space *space = lg_system_of(self)->space;
    return lg_list_of(space->nfactors, factor_row, space);
}

static PyObject *get_blocks(PyObject *self, void *Py_UNUSED(closure))
{
    const lg_space *space = lg_system_of(self)->space;
    return lg_list_of(space->nblocks, block_row, space);
}

static PyObject *row_name_at(const void *context, int index)
{
    const lg_system *system = context;
    return PyUnicode_FromString(system->row_name(system->self, index));
}

static PyObject *get_row_names(PyObject *self, void *Py_UNUSED(closure))
{
    const lg_system *system = lg_system_of(self);
    return lg_list_of(system->pattern->nrows, row_name_at, system);
}

static PyObject *nonholonomic_at(const void *context, int index)
{
    return PyLong_FromLong(lg_pattern_nonholonomic(context, index));
}

static PyObject *get_nonholonomic(PyObject *self, void *Py_UNUSED(closure))
{
    const lg_pattern *pattern = lg_system_of(self)->pattern;
    return lg_list_of(pattern->nnonholonomic, nonholonomic_at, pattern);
}

static PyGetSetDef system_attributes[] = {
    {"nq", get_length, NULL, "number of coordinates", "q"},
    {"nv", get_length, NULL, "number of velocities", "v"},
    {"nrows", get_length, NULL, "number of constraint rows, the blocks' own rows last", "r"},
    {"widths", get_widths, NULL, "length of each part of a state, by its name", NULL},
    {"nmem", get_length, NULL, "values of memory that accepted steps update", "m"},
    {"constant_mass", get_flag, NULL, "whether M depends neither on q nor on t", (void *)&constant_mass},
    {"conservative", get_flag, NULL, "whether `energy` has the potential of all forces at rest", (void *)&conservative},
    {"has_potential", get_flag, NULL, "whether all forces at rest follow from a potential", (void *)&has_potential},
    {"needs_gil", get_flag, NULL, "whether runs call Python functions of the system", (void *)&needs_gil},
    {"blocks", get_blocks, NULL,
     "per block: kind of its first factor, velocities behind it (R^n: all), first q, first v, own rows, first own row",
     NULL},
    {"factors", get_factors, NULL, "per factor of the blocks: kind, n, first q, first v, block", NULL},
    {"nonholonomic", get_nonholonomic, NULL, "numbers of the constraint rows of velocity alone", NULL},
    {"row_names", get_row_names, NULL, "names of the constraint rows", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef system_methods[] = {
    {"matrix_values", LG_KEYWORDS(system_matrix_values), matrix_values_doc},
    {"solve_dense_count", system_solve_dense_count, METH_NOARGS, dense_count_doc},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot system_slots[] = {
    {Py_tp_doc, "A model as integrators see it. Base class of Model and CallableSystem; not created directly."},
    {Py_tp_new, system_new},
    {Py_tp_traverse, system_traverse},
    {Py_tp_dealloc, system_dealloc},
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
