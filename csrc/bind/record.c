/* Records of a run as dicts of NumPy arrays; see record.h. */
#include "bind/record.h"

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
