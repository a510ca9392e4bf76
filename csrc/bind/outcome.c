/* Outcomes as dicts of NumPy arrays; see outcome.h. */
#include "bind/outcome.h"

#include "bind/args.h"

/* ---- records ---- */

/* A record and the arrays of its columns: views at first, owners of the columns in the end. */
typedef struct table {
    lg_record *record;
    PyArrayObject *array[LG_COLUMN_COUNT]; /* borrowed from the dict; NULL: the column has no numbers */
} table;

/* A view of the column. Its base is a capsule, which can later be made the owner of the column. */
static PyArrayObject *view_of(double *column, int ndim, const npy_intp *dims)
{
    PyObject *array = PyArray_SimpleNewFromData(ndim, dims, NPY_DOUBLE, column);
    PyObject *owner = array ? PyCapsule_New(column, NULL, NULL) : NULL;
    if (!owner || PyArray_SetBaseObject((PyArrayObject *)array, owner) < 0)
        Py_CLEAR(array);
    return (PyArrayObject *)array;
}

static PyObject *array_of_column(table *t, lg_column column)
{
    const lg_record *record = t->record;
    npy_intp dims[] = {(npy_intp)record->count, (npy_intp)record->width[column]};
    int ndim = column < LG_COLUMN_EXTRA ? 1 : 2;
    if (!dims[0] || !dims[1])
        return PyArray_SimpleNew(ndim, dims, NPY_DOUBLE);
    return (PyObject *)(t->array[column] = view_of(record->column[column], ndim, dims));
}

static PyObject *table_dict(table *t)
{
    PyObject *dict = PyDict_New();
    for (int c = 0; dict && c < LG_COLUMN_COUNT; c++)
        if ((c >= LG_COLUMN_STATE || t->record->width[c]) &&
            lg_set_item(dict, lg_column_name((lg_column)c), array_of_column(t, (lg_column)c)) < 0)
            Py_CLEAR(dict);
    return dict;
}

static void free_numbers(PyObject *capsule)
{
    free(PyCapsule_GetPointer(capsule, NULL));
}

/* Makes the arrays the owners of their columns. This cannot fail. */
static void hand_over_columns(table *t)
{
    for (int c = 0; c < LG_COLUMN_COUNT; c++)
        if (t->array[c]) {
            (void)PyCapsule_SetDestructor(PyArray_BASE(t->array[c]), free_numbers);
            (void)lg_record_take(t->record, (lg_column)c);
        }
}

PyObject *lg_record_dict(lg_record *record)
{
    table t = {.record = record};
    PyObject *dict = table_dict(&t);
    if (dict)
        hand_over_columns(&t);
    return dict;
}

/* ---- statistics ---- */

PyObject *lg_stats_dict(const lg_stats *s)
{
    PyObject *parasitic = s->parasite.sought ? PyFloat_FromDouble(s->parasite.ratio) : Py_NewRef(Py_None);
    return Py_BuildValue("{s:l,s:l,s:l,s:l,s:l,s:l,s:l,s:l,s:l,s:l,s:z,s:d,s:N}", "steps", s->steps, "rejected",
                         s->rejected, "failed", s->failed, "retries", s->retries, "newton_iterations",
                         s->newton_iterations, "jacobians", s->jacobians, "factorisations", s->factorisations,
                         "newton_factorisations", s->newton_factorisations, "evaluations", s->evaluations,
                         "dense_fallbacks", s->dense_fallbacks, "newton", s->newton, "least_cosine", s->nearest.cosine,
                         "parasitic_rate", parasitic);
}

static PyObject *timed_stats(const lg_outcome *outcome)
{
    PyObject *dict = lg_stats_dict(&outcome->stats);
    if (dict && lg_set_item(dict, "wall_time", PyFloat_FromDouble(outcome->wall_time)) < 0)
        Py_CLEAR(dict);
    return dict;
}

/* The name of a body and a time, (None, 0.0) if there is none. */
static PyObject *body_and_time(const char *name, double t)
{
    return Py_BuildValue("(zd)", name, t);
}

/* ---- outcomes ---- */

PyObject *lg_outcome_dict(lg_outcome *outcome)
{
    table states = {.record = &outcome->states}, end = {.record = &outcome->end}, knots = {.record = &outcome->knots};
    PyObject *dict = table_dict(&states);
    const lg_nearest *nearest = &outcome->stats.nearest;
    const lg_parasite *parasite = &outcome->stats.parasite;
    int dense = outcome->knots.width[LG_COLUMN_T] > 0;
    if (!dict || lg_set_item(dict, "carry", lg_vector_from(outcome->carry, outcome->ncarry)) < 0 ||
        lg_set_item(dict, "end", table_dict(&end)) < 0 ||
        lg_set_item(dict, "knots", dense ? table_dict(&knots) : Py_NewRef(Py_None)) < 0 ||
        lg_set_item(dict, "stats", timed_stats(outcome)) < 0 ||
        lg_set_item(dict, "nearest", body_and_time(nearest->name, nearest->t)) < 0 ||
        lg_set_item(dict, "parasite", body_and_time(parasite->name, parasite->t)) < 0) {
        Py_XDECREF(dict);
        return NULL;
    }
    hand_over_columns(&states);
    hand_over_columns(&end);
    hand_over_columns(&knots);
    return dict;
}

static PyObject *dict_of(void *outcome)
{
    return lg_outcome_dict(outcome);
}

PyObject *lg_outcome_result(const lg_module *module, lg_outcome *outcome)
{
    PyObject *result = lg_result(module, outcome->report.status, &outcome->report, dict_of, outcome);
    lg_outcome_close(outcome);
    return result;
}
