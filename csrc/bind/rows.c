/* method_rows, element_rows, node_rows, group_rows, state_parts: the rows of the core as dicts, for names, docs and
   error texts. */
#include "bind/args.h"
#include "group/group.h"
#include "integrator/methods.h"
#include "model/model.h"

/* ---- methods ---- */

static const char *const type_names[] = {
    [LG_OPTION_NUMBER] = "number", [LG_OPTION_INTEGER] = "integer", [LG_OPTION_FLAG] = "flag",
    [LG_OPTION_CHOICE] = "choice", [LG_OPTION_VECTOR] = "vector",
};

static PyObject *choice_list(const char *choices)
{
    PyObject *text = PyUnicode_FromString(choices ? choices : "");
    PyObject *bar = PyUnicode_FromString("|");
    PyObject *list = !text || !bar ? NULL : choices ? PyUnicode_Split(text, bar, -1) : PyList_New(0);
    Py_XDECREF(text);
    Py_XDECREF(bar);
    return list;
}

static PyObject *option_row(const void *context, int index)
{
    const lg_option *o = (const lg_option *)context + index;
    return Py_BuildValue("{s:s,s:s,s:N,s:d,s:d,s:N,s:s}", "name", o->name, "type", type_names[o->type], "default",
                         lg_default_object(o), "low", o->low, "high", o->high, "choices", choice_list(o->choices),
                         "doc", o->doc);
}

static PyObject *ratio_text(const void *context, int index)
{
    char text[96];
    lg_ratio_text(((const lg_ratio *)context)[index], text, sizeof text);
    return PyUnicode_FromString(text);
}

static PyObject *stage_row(const void *context, int index)
{
    const lg_tableau *tableau = context;
    return lg_list_of(tableau->stages, ratio_text, tableau->A[index]);
}

static PyObject *tableau_dict(const lg_tableau *tableau)
{
    if (!tableau)
        return Py_NewRef(Py_None);
    int stages = tableau->stages;
    PyObject *b_hat = tableau->order_hat ? lg_list_of(stages, ratio_text, tableau->b_hat) : Py_NewRef(Py_None);
    PyObject *d = tableau->d[0].den ? lg_list_of(stages, ratio_text, tableau->d) : Py_NewRef(Py_None);
    return Py_BuildValue("{s:N,s:N,s:N,s:N,s:i,s:N}", "A", lg_list_of(stages, stage_row, tableau), "b",
                         lg_list_of(stages, ratio_text, tableau->b), "c", lg_list_of(stages, ratio_text, tableau->c),
                         "b_hat", b_hat, "order_hat", tableau->order_hat, "d", d);
}

/* Whose equations a method with a momentum solves; NULL: it has none. */
static const char *momentum_of(const lg_method *m)
{
    if (!m->momentum)
        return NULL;
    return m->momentum->kinetic == LG_KINETIC_LIVENS ? "livens" : "hamilton";
}

static PyObject *method_row(const void *Py_UNUSED(context), int index)
{
    const lg_method *m = lg_methods[index];
    return Py_BuildValue("{s:s,s:i,s:s,s:z,s:z,s:z,s:s,s:s,s:N,s:N}", "name", m->name, "order", m->order, "stepper",
                         m->stepper->name, "needs", m->stepper->needs, "extra", m->stepper->extra, "momentum",
                         momentum_of(m), "reference", m->reference, "doc", m->doc, "options",
                         lg_list_of(m->options->count, option_row, m->options->row), "tableau",
                         tableau_dict(m->tableau));
}

PyDoc_STRVAR(method_doc, "method_rows()\n--\n\nA dict for each method.");

static PyObject *method_rows(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused))
{
    return lg_list_of(lg_method_count, method_row, NULL);
}

/* ---- elements ---- */

static PyObject *parameter_row(const void *context, int index)
{
    const lg_parameter *p = (const lg_parameter *)context + index;
    return Py_BuildValue("{s:s,s:s,s:s,s:i}", "name", p->name, "unit", p->unit, "doc", p->doc, "count", p->count);
}

static PyObject *number(const void *context, int index)
{
    return PyFloat_FromDouble(((const double *)context)[index]);
}

static PyObject *element_row(const void *Py_UNUSED(context), int index)
{
    lg_element_info e = lg_element_describe(index);
    return Py_BuildValue("{s:s,s:s,s:s,s:s,s:z,s:z,s:i,s:i,s:i,s:N,s:N}", "family", e.family, "name", e.name, "doc",
                         e.doc, "reference", e.reference, "locked", e.locked, "pairs", e.pairs, "nframes", e.nframes,
                         "nrows", e.nrows, "nmem", e.nmem, "parameters",
                         lg_list_of(e.nparameters, parameter_row, e.parameters), "example",
                         lg_list_of(e.nexample, number, e.example));
}

PyDoc_STRVAR(element_doc, "element_rows()\n--\n\nA dict for each type of element.");

static PyObject *element_rows(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused))
{
    return lg_list_of(lg_element_count(), element_row, NULL);
}

/* ---- node kinds ---- */

static const char *const place_names[] = {
    [LG_PLACE_NO_BODY] = "no_body",
    [LG_PLACE_FIXED] = "fixed",
    [LG_PLACE_INERTIAL] = "inertial",
    [LG_PLACE_BODY] = "body",
};

static const char *const storage_names[] = {
    [LG_STORAGE_NONE] = NULL,       [LG_STORAGE_MATRIX] = "matrix", [LG_STORAGE_QUATERNION] = "quaternion",
    [LG_STORAGE_VECTOR] = "vector", [LG_STORAGE_ANGLES] = "angles",
};

static PyObject *identity_of(const lg_node *node)
{
    double q[LG_NODE_NQ];
    node->identity(0, q);
    return lg_list_of(node->nq, number, q);
}

static PyObject *node_row(const void *Py_UNUSED(context), int index)
{
    const lg_node *n = lg_nodes[index];
    return Py_BuildValue("{s:s,s:i,s:i,s:i,s:N,s:s,s:z,s:z,s:N,s:N,s:N,s:s}", "name", n->name, "nq", n->nq, "nv", n->nv,
                         "nown", n->nown, "linear", PyBool_FromLong(n->linear), "place", place_names[n->place],
                         "storage", storage_names[n->storage], "pivot", n->pivot ? n->pivot->name : NULL, "rates",
                         PyBool_FromLong(n->attitude != NULL), "explicit_only", PyBool_FromLong(n->qdot != NULL),
                         "identity", identity_of(n), "reference", n->reference);
}

PyDoc_STRVAR(node_doc, "node_rows()\n--\n\nA dict for each node kind.");

static PyObject *node_rows(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused))
{
    return lg_list_of(lg_node_count, node_row, NULL);
}

/* ---- groups ---- */

static PyObject *shape_tuple(const int shape[2])
{
    return shape[1] > 1 ? Py_BuildValue("(ii)", shape[0], shape[1]) : Py_BuildValue("(i)", shape[0]);
}

static PyObject *group_row(const void *Py_UNUSED(context), int index)
{
    const lg_group *g = &lg_groups[index];
    return Py_BuildValue("{s:s,s:i,s:N,s:N}", "name", g->name, "dim", g->node->nv, "shape", shape_tuple(g->shape),
                         "hat_shape", shape_tuple(g->hat_shape));
}

PyDoc_STRVAR(group_doc, "group_rows()\n--\n\nA dict for each Lie group.");

static PyObject *group_rows(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused))
{
    return lg_list_of(LG_GROUP_COUNT, group_row, NULL);
}

/* ---- parts of the state ---- */

static PyObject *part_row(const void *Py_UNUSED(context), int index)
{
    return PyUnicode_FromString(lg_parts[index].name);
}

PyDoc_STRVAR(state_doc, "state_parts()\n--\n\nNames of the arrays of a state, in order.");

static PyObject *state_parts(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused))
{
    return lg_list_of(LG_PARTS, part_row, NULL);
}

static PyMethodDef row_functions[] = {
    {"method_rows", method_rows, METH_NOARGS, method_doc}, {"element_rows", element_rows, METH_NOARGS, element_doc},
    {"node_rows", node_rows, METH_NOARGS, node_doc},       {"group_rows", group_rows, METH_NOARGS, group_doc},
    {"state_parts", state_parts, METH_NOARGS, state_doc},  {NULL, NULL, 0, NULL},
};

int lg_add_rows(PyObject *module)
{
    return PyModule_AddFunctions(module, row_functions);
}
