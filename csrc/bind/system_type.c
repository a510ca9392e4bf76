/* The type System: the methods that every lg_system has in Python; those of evaluate.c and solve.c are in files of their
   own. */
#include "bind/map.h"

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

/* ---- verbs over arrays of points ---- */

/* The arguments of a map without others: as many objects as it has operands. */
static PyObject *call_map(lg_map *map, PyObject *self, PyObject *args, PyObject *kwargs, const char *format)
{
    PyObject *given[LG_MAX_OPERANDS];
    map->system = lg_system_of(self);
    if (!map->system || !PyArg_ParseTupleAndKeywords(args, kwargs, format, (char **)map->names, &given[0], &given[1],
                                                     &given[2], &given[3], &given[4], &given[5]))
        return NULL;
    return lg_map_call(map, self, given);
}

PyDoc_STRVAR(energy_doc, "energy(t, q, v, load=1.0)\n--\n\nKinetic and potential energy.");

static lg_status energy_at(lg_map *map, const double *const *x, double *const *y)
{
    lg_point point = lg_point_at(*x[0], x[1], x[2]);
    point.load = *x[3];
    point.mem = map->mem;
    point.work = map->work;
    return map->system->energy(map->system->self, &point, y[0], y[1]);
}

static PyObject *system_energy(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"t", "q", "v", "load", NULL};
    const lg_system *system = lg_system_of(self);
    lg_map map = {.names = names, .operands = "tqvt", .results = {"", ""}, .at = energy_at, .system = system};
    PyObject *given[4] = {NULL};
    if (!system ||
        !PyArg_ParseTupleAndKeywords(args, kwargs, "OOO|O:energy", names, &given[0], &given[1], &given[2], &given[3]))
        return NULL;
    if (!system->energy) {
        PyErr_SetString(PyExc_ValueError, "this system has no energy; give a CallableSystem the function `energy`");
        return NULL;
    }
    PyObject *load = given[3] ? Py_NewRef(given[3]) : PyFloat_FromDouble(1);
    given[3] = load;
    PyObject *result = load ? lg_map_call(&map, self, given) : NULL;
    Py_XDECREF(load);
    return result;
}

PyDoc_STRVAR(residual_doc, "residual(t, q, v)\n--\n\nphi and phidot of the constraints.");

static lg_status residual_at(lg_map *map, const double *const *x, double *const *y)
{
    lg_point point = lg_point_at(*x[0], x[1], x[2]);
    point.work = map->work;
    return map->system->eval(map->system->self, &point, &(lg_wanted){.phi = y[0], .phidot = y[1]});
}

static PyObject *system_residual(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"t", "q", "v", NULL};
    lg_map map = {.names = names, .operands = "tqv", .results = {"r", "r"}, .at = residual_at};
    return call_map(&map, self, args, kwargs, "OOO:residual");
}

PyDoc_STRVAR(retract_doc, "retract(q, theta)\n--\n\nq exp(theta) block by block: (..., nq), (..., nv) -> (..., nq).");

static lg_status retract_at(lg_map *map, const double *const *x, double *const *y)
{
    lg_space_retract(map->system->space, x[0], x[1], y[0]);
    return LG_OK;
}

static PyObject *system_retract(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"q", "theta", NULL};
    lg_map map = {.names = names, .operands = "qv", .results = {"q"}, .at = retract_at};
    return call_map(&map, self, args, kwargs, "OO:retract");
}

PyDoc_STRVAR(difference_doc,
             "difference(q0, q1)\n--\n\nlog(q0^-1 q1) block by block: (..., nq), (..., nq) -> (..., nv).");

static lg_status difference_at(lg_map *map, const double *const *x, double *const *y)
{
    lg_space_difference(map->system->space, x[0], x[1], y[0]);
    return LG_OK;
}

static PyObject *system_difference(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"q0", "q1", NULL};
    lg_map map = {.names = names, .operands = "qq", .results = {"v"}, .at = difference_at};
    return call_map(&map, self, args, kwargs, "OO:difference");
}

/* ---- the matrix ---- */

PyDoc_STRVAR(matrix_values_doc,
             "matrix_values(*, tangents=True)\n--\n\nThe number of values stored in the factors of the matrix.");

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

/* The closure is the letter of an axis; see lg_length. */
static PyObject *get_length(PyObject *self, void *letter)
{
    const lg_system *system = lg_system_of(self);
    return system ? PyLong_FromLong((long)lg_length(system, *(const char *)letter)) : NULL;
}

static PyObject *get_widths(PyObject *self, void *Py_UNUSED(closure))
{
    const lg_system *system = lg_system_of(self);
    PyObject *dict = system ? PyDict_New() : NULL;
    for (int part = 0; dict && part < LG_PARTS; part++)
        if (lg_set_item(dict, lg_parts[part].name, PyLong_FromLong(lg_part_width(system, (lg_part)part))) < 0)
            Py_CLEAR(dict);
    return dict;
}

/* The closure is a flag. */
static PyObject *get_flag(PyObject *self, void *flag)
{
    const lg_system *system = lg_system_of(self);
    return system ? PyBool_FromLong(system->flags & *(const unsigned *)flag) : NULL;
}

static const unsigned constant_mass = LG_SYSTEM_CONSTANT_MASS, conservative = LG_SYSTEM_CONSERVATIVE;
static const unsigned needs_gil = LG_SYSTEM_NEEDS_GIL;

static PyObject *block_row(const void *space, int index)
{
    const lg_block *b = &((const lg_space *)space)->block[index];
    return Py_BuildValue("(siiiii)", b->node->name, b->n, b->q, b->v, b->nown, b->own);
}

static PyObject *get_blocks(PyObject *self, void *Py_UNUSED(closure))
{
    const lg_system *system = lg_system_of(self);
    return system ? lg_list_of(system->space->nblocks, block_row, system->space) : NULL;
}

static PyObject *row_name(const void *context, int index)
{
    const lg_system *system = context;
    return PyUnicode_FromString(system->row_name(system->self, index));
}

static PyObject *get_row_names(PyObject *self, void *Py_UNUSED(closure))
{
    const lg_system *system = lg_system_of(self);
    return system ? lg_list_of(system->pattern->nrows, row_name, system) : NULL;
}

static PyGetSetDef system_attributes[] = {
    {"nq", get_length, NULL, "number of coordinates", "q"},
    {"nv", get_length, NULL, "number of velocities", "v"},
    {"nrows", get_length, NULL, "number of constraint rows, the blocks' own rows last", "r"},
    {"widths", get_widths, NULL, "length of each part of a state, by its name", NULL},
    {"nmem", get_length, NULL, "values of memory that accepted steps update", "m"},
    {"constant_mass", get_flag, NULL, "whether M depends neither on q nor on t", (void *)&constant_mass},
    {"conservative", get_flag, NULL, "whether all forces at rest are known to have a potential", (void *)&conservative},
    {"needs_gil", get_flag, NULL, "whether runs call Python functions of the system", (void *)&needs_gil},
    {"blocks", get_blocks, NULL, "per block: kind, n, first q, first v, own rows, first own row", NULL},
    {"row_names", get_row_names, NULL, "names of the constraint rows", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef system_methods[] = {
    {"evaluate", LG_KEYWORDS(lg_system_evaluate), lg_system_evaluate_doc},
    {"evaluate_pair", LG_KEYWORDS(lg_system_evaluate_pair), lg_system_evaluate_pair_doc},
    {"energy", LG_KEYWORDS(system_energy), energy_doc},
    {"residual", LG_KEYWORDS(system_residual), residual_doc},
    {"retract", LG_KEYWORDS(system_retract), retract_doc},
    {"difference", LG_KEYWORDS(system_difference), difference_doc},
    {"initial", LG_KEYWORDS(lg_system_initial), lg_system_initial_doc},
    {"project", LG_KEYWORDS(lg_system_project), lg_system_project_doc},
    {"matrix_values", LG_KEYWORDS(system_matrix_values), matrix_values_doc},
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
