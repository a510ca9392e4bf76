/* What is left of a run, as a dict of NumPy arrays; see outcome.h. */
#include "bind/outcome.h"

#include "bind/args.h"

static void free_numbers(PyObject *capsule)
{
    free(PyCapsule_GetPointer(capsule, NULL));
}

/* Makes the array the owner of the column it is a view of. */
static int hand_over(lg_record *record, lg_column column, PyArrayObject *array)
{
    PyObject *owner = PyCapsule_New(record->column[column], NULL, free_numbers);
    if (!owner)
        return -1;
    (void)lg_record_take(record, column);
    return PyArray_SetBaseObject(array, owner);
}

static PyObject *array_of(lg_record *record, lg_column column)
{
    npy_intp dims[] = {(npy_intp)record->count, (npy_intp)record->width[column]};
    int ndim = column < LG_COLUMN_EXTRA ? 1 : 2;
    if (!dims[0] || !dims[1])
        return PyArray_SimpleNew(ndim, dims, NPY_DOUBLE);
    PyObject *array = PyArray_SimpleNewFromData(ndim, dims, NPY_DOUBLE, record->column[column]);
    if (array && hand_over(record, column, (PyArrayObject *)array) < 0)
        Py_CLEAR(array);
    return array;
}

PyObject *lg_table_dict(lg_table *table, lg_record *record)
{
    PyObject *dict = PyDict_New();
    lg_record_trim(record);
    for (int c = 0; dict && c < LG_COLUMN_COUNT; c++) {
        if (c < LG_COLUMN_STATE && !record->width[c])
            continue;
        PyObject **array = &table->array[c];
        if (!*array)
            *array = array_of(record, (lg_column)c);
        if (!*array || PyDict_SetItemString(dict, lg_column_name((lg_column)c), *array) < 0)
            Py_CLEAR(dict);
    }
    return dict;
}

void lg_table_close(lg_table *table)
{
    for (int c = 0; c < LG_COLUMN_COUNT; c++)
        Py_CLEAR(table->array[c]);
}

/* ---- statistics ---- */

PyObject *lg_stats_dict(const lg_stats *s, double wall_time)
{
    PyObject *dict =
        Py_BuildValue("{s:l,s:l,s:l,s:l,s:l,s:l,s:l,s:l,s:l,s:z}", "steps", s->steps, "rejected", s->rejected, "failed",
                      s->failed, "newton_iterations", s->newton_iterations, "jacobians", s->jacobians, "factorisations",
                      s->factorisations, "evaluations", s->evaluations, "dense_fallbacks", s->dense_fallbacks,
                      "midpoint_gradients", s->midpoint_gradients, "newton", s->newton);
    if (!dict || wall_time < 0)
        return dict;
    if (lg_set_item(dict, "wall_time", PyFloat_FromDouble(wall_time)) < 0)
        Py_CLEAR(dict);
    return dict;
}

/* ---- all of it ---- */

static PyObject *record_dict(lg_outcome *outcome, int which)
{
    lg_record *record = outcome->record[which];
    return record ? lg_table_dict(&outcome->table[which], record) : Py_NewRef(Py_None);
}

PyObject *lg_outcome_dict(lg_outcome *outcome)
{
    PyObject *dict = record_dict(outcome, LG_STATES);
    if (!dict)
        return NULL;
    if (lg_set_item(dict, "carry", lg_vector_from(outcome->carry, outcome->ncarry)) == 0 &&
        lg_set_item(dict, "end", record_dict(outcome, LG_END)) == 0 &&
        lg_set_item(dict, "knots", record_dict(outcome, LG_KNOTS)) == 0 &&
        lg_set_item(dict, "stats", lg_stats_dict(&outcome->stats, outcome->wall_time)) == 0)
        return dict;
    Py_DECREF(dict);
    return NULL;
}

void lg_outcome_close(lg_outcome *outcome)
{
    for (int which = 0; which < LG_RECORDS; which++)
        lg_table_close(&outcome->table[which]);
}
