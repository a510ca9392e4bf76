/* METHODS, ELEMENTS, NODES, GROUPS, COLUMNS, PARTS and SIGNATURES: the rows of the core's tables as dicts or
   tuples, for names, docs and error texts. */
#include "bind/args.h"
#include "group/group.h"
#include "integrator/methods.h"
#include "integrator/momentum_rule.h"
#include "model/force/wrap.h"
#include "model/model.h"
#include "run/record.h"
#include "system/signatures.h"

#include <string.h>

/* ---- methods ---- */

static PyObject *choice_list(const char *choices)
{
    PyObject *text = PyUnicode_FromString(choices ? choices : "");
    PyObject *list = !text ? NULL : choices ? PyObject_CallMethod(text, "split", "s", "|") : PyList_New(0);
    Py_XDECREF(text);
    return list;
}

static PyObject *option_row(const void *context, int index)
{
    const lg_option *o = (const lg_option *)context + index;
    return Py_BuildValue("{s:s,s:s,s:N,s:d,s:d,s:N,s:s}", "name", o->name, "type", lg_option_type_name(o->type),
                         "default", lg_default_object(o), "low", o->low, "high", o->high, "choices",
                         choice_list(o->choices), "doc", o->doc);
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
    return lg_list_of(tableau->stages, ratio_text, &tableau->A[index * tableau->stages]);
}

static PyObject *curve_stage(const void *context, int index)
{
    return lg_list_of(LG_POINTS, ratio_text, ((const lg_tableau_curve *)context)->A[index]);
}

static PyObject *curve_row(const void *context, int index)
{
    return lg_list_of(LG_POINTS, ratio_text, ((const lg_tableau_curve *)context)->D[index]);
}

/* Further stages, whose rows of A reach over all stages and the end of the step, and the weights of F_3 and on. */
static PyObject *curve_dict(const lg_tableau_curve *curve)
{
    if (!curve)
        return Py_NewRef(Py_None);
    return Py_BuildValue("{s:N,s:N,s:N}", "A", lg_list_of(LG_CURVE_STAGES, curve_stage, curve), "c",
                         lg_list_of(LG_CURVE_STAGES, ratio_text, curve->c), "D",
                         lg_list_of(LG_CURVE_DEGREE - 3, curve_row, curve));
}

static PyObject *tableau_dict(const lg_tableau *tableau)
{
    if (!tableau)
        return Py_NewRef(Py_None);
    int stages = tableau->stages;
    PyObject *b_hat = tableau->b_hat[0].den ? lg_list_of(stages, ratio_text, tableau->b_hat) : Py_NewRef(Py_None);
    PyObject *b_low = tableau->order_low ? lg_list_of(stages, ratio_text, tableau->b_low) : Py_NewRef(Py_None);
    PyObject *d = tableau->d[0].den ? lg_list_of(stages, ratio_text, tableau->d) : Py_NewRef(Py_None);
    return Py_BuildValue("{s:N,s:N,s:N,s:N,s:i,s:N,s:i,s:N,s:N}", "A", lg_list_of(stages, stage_row, tableau), "b",
                         lg_list_of(stages, ratio_text, tableau->b), "c", lg_list_of(stages, ratio_text, tableau->c),
                         "b_hat", b_hat, "order_hat", tableau->order_hat, "b_low", b_low, "order_low",
                         tableau->order_low, "curve", curve_dict(tableau->curve), "d", d);
}

static PyObject *method_row(const void *Py_UNUSED(context), int index)
{
    const lg_method *m = lg_methods[index];
    const lg_momentum_rule *rule = lg_method_momentum(m);
    const lg_stepper_momenta *momenta = m->stepper->momenta;
    const char *momentum = !rule ? NULL : lg_is_livens(rule->kinetic[0]) ? "livens" : "hamilton";
    const char *energy = !rule ? NULL : rule->with_inverse ? "p.v/2 + V" : "p.v - T + V";
    const lg_method *steadier = lg_method_steadier(m);
    return Py_BuildValue("{s:s,s:i,s:i,s:s,s:N,s:N,s:z,s:z,s:z,s:z,s:z,s:s,s:s,s:N,s:N}", "name", m->name, "order",
                         m->order, "error_order", lg_method_error_order(m), "stepper", m->stepper->name, "explicit",
                         PyBool_FromLong(lg_stepper_is_explicit(m->stepper)), "differentiated",
                         PyBool_FromLong(m->stepper->sensitivities != NULL), "needs", momenta ? momenta->needs : NULL,
                         "extra", momenta ? "p" : NULL, "momentum", momentum, "energy", energy, "steadier",
                         steadier ? steadier->name : NULL, "reference", m->reference, "doc", m->doc, "options",
                         lg_list_of(m->options->count, option_row, m->options->row), "tableau",
                         tableau_dict(lg_method_tableau(m)));
}

/* ---- elements ---- */

/* (), (n,) or (n, m); None: all remaining values. */
static PyObject *parameter_shape(const lg_parameter *p)
{
    if (p->rows < 0)
        return Py_NewRef(Py_None);
    if (p->columns > 1)
        return Py_BuildValue("(ii)", p->rows, p->columns);
    return p->rows > 1 ? Py_BuildValue("(i)", p->rows) : PyTuple_New(0);
}

static PyObject *parameter_row(const void *context, int index)
{
    const lg_parameter *p = (const lg_parameter *)context + index;
    return Py_BuildValue("{s:s,s:s,s:s,s:N,s:i,s:s,s:s,s:s,s:N,s:N}", "name", p->name, "unit", p->unit, "doc", p->doc,
                         "shape", parameter_shape(p), "count", lg_parameter_count(p), "valid",
                         lg_validity_name(p->valid), "axes", lg_parameter_axes_name(p->axes), "default",
                         lg_default_name(p->initially), "choices", choice_list(p->choices), "of_shape",
                         PyBool_FromLong(p->of_shape));
}

const char lg_expected_doc[] = "expected(element, parameter, values)\n--\n\nWhat a parameter, given by its places in "
                               "ELEMENTS and in the row, has to be; None if the values are that.";

PyObject *lg_expected_call(PyObject *Py_UNUSED(module), PyObject *args)
{
    int element, parameter;
    const double *values;
    PyObject *given, *owned = PyList_New(0), *result = NULL;
    if (!owned || !PyArg_ParseTuple(args, "iiO:expected", &element, &parameter, &given))
        goto done;
    lg_element_info e = {0};
    if (element >= 0 && element < lg_element_count())
        e = lg_element_describe(element);
    if (parameter < 0 || parameter >= e.nparameters) {
        PyErr_Format(PyExc_ValueError, "element %d has no parameter %d", element, parameter);
        goto done;
    }
    const lg_parameter *p = &e.parameters[parameter];
    int count = lg_read_vector(owned, p->name, given, p->rows < 0 ? -1 : lg_parameter_count(p), &values);
    if (count >= 0)
        result = Py_BuildValue("z", lg_parameter_expected(p, count, values));
done:
    Py_XDECREF(owned);
    return result;
}

const char lg_wrapped_doc[] = "wrapped(d, triads, radii)\n--\n\nThe angles at which a piece of a tendon leaves the "
                              "circles at its ends, and its length; see csrc/model/force/wrap.h.";

PyObject *lg_wrapped_call(PyObject *Py_UNUSED(module), PyObject *args)
{
    const double *d, *triads, *radii;
    double triad[2][9], theta[2], length;
    PyObject *given[3], *owned = PyList_New(0), *result = NULL;
    if (owned && PyArg_ParseTuple(args, "OOO:wrapped", &given[0], &given[1], &given[2]) &&
        lg_read_vector(owned, "d", given[0], 3, &d) >= 0 &&
        lg_read_vector(owned, "triads", given[1], 18, &triads) >= 0 &&
        lg_read_vector(owned, "radii", given[2], 2, &radii) >= 0) {
        memcpy(triad, triads, sizeof triad);
        lg_wrap_angles(d, (const double (*)[9])triad, radii, theta, &length);
        result = Py_BuildValue("ddd", theta[0], theta[1], length);
    }
    Py_XDECREF(owned);
    return result;
}

static PyObject *number(const void *context, int index)
{
    return PyFloat_FromDouble(((const double *)context)[index]);
}

static PyObject *element_row(const void *Py_UNUSED(context), int index)
{
    lg_element_info e = lg_element_describe(index);
    return Py_BuildValue(
        "{s:s,s:s,s:s,s:s,s:z,s:z,s:i,s:i,s:i,s:i,s:i,s:N,s:N,s:N,s:N,s:N,s:N}", "family", e.family, "name", e.name,
        "doc", e.doc, "reference", e.reference, "locked", e.locked, "pairs", e.pairs, "nframes", e.nframes, "nrows",
        e.nrows, "nnonholonomic", e.nnonholonomic, "nmem", e.nmem, "follows", e.follows, "kinks",
        PyBool_FromLong(e.has_kinks), "law", PyBool_FromLong(e.uses_law), "control", PyBool_FromLong(e.uses_control),
        "continues", PyBool_FromLong(e.continues), "parameters", lg_list_of(e.nparameters, parameter_row, e.parameters),
        "example", lg_list_of(e.nexample, number, e.example));
}

/* ---- node kinds ---- */

static PyObject *identity_of(const lg_node *node)
{
    double q[LG_NODE_NQ];
    lg_node_identity(node, 0, q);
    return lg_list_of(node->nq, number, q);
}

static PyObject *node_row(const void *Py_UNUSED(context), int index)
{
    const lg_node *n = lg_nodes[index];
    return Py_BuildValue("{s:s,s:i,s:i,s:i,s:N,s:s,s:z,s:z,s:N,s:N,s:N,s:s}", "name", n->name, "nq", n->nq, "nv", n->nv,
                         "nown", n->nown, "linear", PyBool_FromLong(n->linear), "position",
                         lg_node_position_name(n->position), "storage", lg_storage_name(n->storage), "pivot",
                         n->pivot ? n->pivot->name : NULL, "rates", PyBool_FromLong(n->attitude != NULL),
                         "explicit_only", PyBool_FromLong(n->flow != NULL), "identity", identity_of(n), "reference",
                         n->reference);
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

/* ---- all tables ---- */

static PyObject *column_name(const void *Py_UNUSED(context), int index)
{
    return PyUnicode_FromString(lg_column_name((lg_column)index));
}

/* The name and the type in C of a signature, with the names of its arguments. */
static PyObject *signature_row(const void *Py_UNUSED(context), int index)
{
    static const char *const texts[][2] = {
#define LG_SIGNATURE(name, arguments) {#name, "int " #arguments},
        LG_SIGNATURES(LG_SIGNATURE)
#undef LG_SIGNATURE
    };
    return Py_BuildValue("ss", texts[index][0], texts[index][1]);
}

static PyObject *part_name(const void *Py_UNUSED(context), int index)
{
    return PyUnicode_FromString(lg_parts[index].name);
}

int lg_add_rows(PyObject *module)
{
    const struct {
        const char *name;
        int count;
        PyObject *(*row)(const void *unused, int index);
    } tables[] = {
        {"METHODS", lg_method_count, method_row},
        {"ELEMENTS", lg_element_count(), element_row},
        {"NODES", lg_node_count, node_row},
        {"GROUPS", LG_GROUP_COUNT, group_row},
        {"COLUMNS", LG_COLUMN_COUNT, column_name},
        {"PARTS", LG_PARTS, part_name},
        {"SIGNATURES", LG_SIGNATURE_COUNT, signature_row},
    };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (lg_set_item(PyModule_GetDict(module), tables[i].name, lg_list_of(tables[i].count, tables[i].row, NULL)) < 0)
            return -1;
    return 0;
}
