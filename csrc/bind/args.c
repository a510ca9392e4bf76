/* Conversion of arguments; see args.h. */
#include "bind/args.h"

#include "core/small.h"

/* "(3, 4)" or, if further leading axes are allowed, "(..., 3, 4)"; an axis of any length is "n". */
static PyObject *shape_text(int ndim, const npy_intp *dims, int leading)
{
    PyObject *text = PyUnicode_FromString(leading ? "(..." : "(");
    for (int i = 0; i < ndim && text; i++) {
        const char *comma = i || leading ? ", " : "";
        PyUnicode_AppendAndDel(&text, dims[i] < 0 ? PyUnicode_FromFormat("%sn", comma)
                                                  : PyUnicode_FromFormat("%s%zd", comma, (Py_ssize_t)dims[i]));
    }
    if (text)
        PyUnicode_AppendAndDel(&text, PyUnicode_FromString(ndim == 1 && !leading ? ",)" : ")"));
    return text;
}

static void raise_shape(PyArrayObject *given, const char *name, int ndim, const npy_intp *dims, int leading)
{
    PyObject *expected = shape_text(ndim, dims, leading);
    PyObject *actual = shape_text(PyArray_NDIM(given), PyArray_DIMS(given), 0);
    if (expected && actual)
        PyErr_Format(PyExc_ValueError, "%s must have shape %U, given %U", name, expected, actual);
    Py_XDECREF(expected);
    Py_XDECREF(actual);
}

static int has_shape(PyArrayObject *array, int ndim, const npy_intp *dims, int leading)
{
    int front = PyArray_NDIM(array) - ndim;
    if (front < 0 || (front > 0 && !leading))
        return 0;
    for (int i = 0; i < ndim; i++)
        if (dims[i] >= 0 && PyArray_DIM(array, front + i) != dims[i])
            return 0;
    return 1;
}

static int check_finite(PyArrayObject *array, const char *name)
{
    const double *x = PyArray_DATA(array);
    for (npy_intp i = 0, n = PyArray_SIZE(array); i < n; i++)
        if (!isfinite(x[i])) {
            PyErr_Format(PyExc_ValueError, "%s must be finite, but its value at index %zd is %s", name, (Py_ssize_t)i,
                         isnan(x[i]) ? "nan" : "infinite");
            return -1;
        }
    return 0;
}

/* Replaces NumPy's errors about ragged lists and the like by one that names the argument. */
static PyArrayObject *any_array(PyObject *object, const char *name)
{
    PyArrayObject *array = (PyArrayObject *)PyArray_FromAny(object, NULL, 0, 0, 0, NULL);
    if (!array && (PyErr_ExceptionMatches(PyExc_ValueError) || PyErr_ExceptionMatches(PyExc_TypeError))) {
        PyErr_Clear();
        PyErr_Format(PyExc_ValueError, "%s must be an array of real numbers, given %R", name, object);
    }
    return array;
}

/* Refuses masked arrays with masked values, since these are not numbers. */
static int check_mask(PyObject *object, const char *name)
{
    if (!PyArray_Check(object) || PyArray_CheckExact(object) || !PyObject_HasAttrString(object, "mask"))
        return 0;
    PyObject *mask = PyObject_GetAttrString(object, "mask");
    PyObject *any = mask ? PyObject_CallMethod(mask, "any", NULL) : NULL;
    int masked = any ? PyObject_IsTrue(any) : -1;
    Py_XDECREF(mask);
    Py_XDECREF(any);
    if (masked > 0)
        PyErr_Format(PyExc_ValueError, "%s must be real numbers, given an array with masked values", name);
    return masked ? -1 : 0;
}

/* Names the type of numbers that do not cast; shows an object that is not a number, such as None. */
static void raise_type(PyArrayObject *given, const char *name, PyObject *object)
{
    if (PyArray_ISNUMBER(given))
        PyErr_Format(PyExc_ValueError, "%s must be real numbers that cast safely to float64, given an array of %S",
                     name, (PyObject *)PyArray_DESCR(given));
    else
        PyErr_Format(PyExc_ValueError, "%s must be real numbers, given %.200R", name, object);
}

static PyArrayObject *double_array(PyObject *object, const char *name)
{
    PyArrayObject *given = check_mask(object, name) == 0 ? any_array(object, name) : NULL;
    if (!given || PyFloat_CheckExact(object)) // an array made from a Python float is a new one
        return given;
    PyArrayObject *array = NULL;
    if (PyArray_CanCastSafely(PyArray_TYPE(given), NPY_DOUBLE))
        array = (PyArrayObject *)PyArray_FROMANY((PyObject *)given, NPY_DOUBLE, 0, 0,
                                                 NPY_ARRAY_CARRAY | NPY_ARRAY_ENSURECOPY);
    else
        raise_type(given, name, object);
    Py_DECREF(given);
    return array;
}

PyArrayObject *lg_array_unchecked(PyObject *object, const char *name, int ndim, const npy_intp *dims, int leading)
{
    PyArrayObject *array = double_array(object, name);
    if (!array || has_shape(array, ndim, dims, leading))
        return array;
    raise_shape(array, name, ndim, dims, leading);
    Py_DECREF(array);
    return NULL;
}

PyArrayObject *lg_array(PyObject *object, const char *name, int ndim, const npy_intp *dims, int leading)
{
    PyArrayObject *array = lg_array_unchecked(object, name, ndim, dims, leading);
    if (array && check_finite(array, name) < 0)
        Py_CLEAR(array);
    return array;
}

PyArrayObject *lg_vector(PyObject *object, const char *name, npy_intp n)
{
    return lg_array(object, name, 1, &n, 0);
}

PyObject *lg_vector_from(const double *data, npy_intp n)
{
    PyObject *array = PyArray_SimpleNew(1, &n, NPY_DOUBLE);
    if (array && n)
        memcpy(PyArray_DATA((PyArrayObject *)array), data, (size_t)n * sizeof(double));
    return array;
}

PyObject *lg_read_only_vector(const double *data, npy_intp n)
{
    PyObject *array = lg_vector_from(data, n);
    if (array)
        PyArray_CLEARFLAGS((PyArrayObject *)array, NPY_ARRAY_WRITEABLE);
    return array;
}

/* Takes over `array` and `result`. */
static lg_status store(PyObject *result, PyArrayObject *array, double *out)
{
    if (array && PyArray_SIZE(array))
        memcpy(out, lg_data(array), (size_t)PyArray_SIZE(array) * sizeof *out);
    lg_status status = array ? LG_OK : LG_CALLBACK;
    Py_XDECREF(array);
    Py_XDECREF(result);
    return status;
}

lg_status lg_returned(PyObject *result, const char *name, int ndim, const npy_intp *dims, double *out)
{
    return store(result, result ? lg_array(result, name, ndim, dims, 0) : NULL, out);
}

lg_status lg_returned_force(PyObject *result, const char *name, int ndim, const npy_intp *dims, double *out)
{
    int count = 1;
    LG_TRY(store(result, result ? lg_array_unchecked(result, name, ndim, dims, 0) : NULL, out));
    for (int i = 0; i < ndim; i++)
        count *= (int)dims[i];
    return lg_all_finite(count, out) ? LG_OK : LG_NOT_FINITE;
}

PyArrayObject *lg_keep_array(PyObject *owned, PyArrayObject *array)
{
    int kept = array ? PyList_Append(owned, (PyObject *)array) : -1;
    Py_XDECREF(array);
    return kept < 0 ? NULL : array;
}

void *lg_keep_memory(PyObject *owned, Py_ssize_t count, size_t size)
{
    npy_intp bytes = count * (npy_intp)size;
    PyArrayObject *array = lg_keep_array(owned, (PyArrayObject *)PyArray_ZEROS(1, &bytes, NPY_BYTE, 0));
    return array ? PyArray_DATA(array) : NULL;
}

PyObject *lg_keep_rows(PyObject *owned, PyObject *given, const char *name)
{
    PyObject *rows = PySequence_Tuple(given);
    int good = rows != NULL;
    for (Py_ssize_t i = 0; good && i < PyTuple_GET_SIZE(rows); i++)
        if (!(good = PyTuple_Check(PyTuple_GET_ITEM(rows, i))))
            PyErr_Format(PyExc_ValueError, "%s must be tuples, given %R", name, PyTuple_GET_ITEM(rows, i));
    good = good && PyList_Append(owned, rows) == 0;
    Py_XDECREF(rows);
    return good ? rows : NULL;
}

int lg_read_vector(PyObject *owned, const char *name, PyObject *given, npy_intp n, const double **values)
{
    const PyArrayObject *array = lg_keep_array(owned, lg_vector(given, name, n));
    *values = array ? lg_data(array) : NULL;
    return array ? (int)PyArray_SIZE((PyArrayObject *)array) : -1;
}

PyObject *lg_list_of(int count, PyObject *(*row)(const void *context, int index), const void *context)
{
    PyObject *list = PyList_New(count);
    for (int i = 0; list && i < count; i++) {
        PyObject *item = row(context, i);
        if (item)
            PyList_SET_ITEM(list, i, item);
        else
            Py_CLEAR(list);
    }
    return list;
}

int lg_set_item(PyObject *dict, const char *name, PyObject *item)
{
    int done = item ? PyDict_SetItemString(dict, name, item) : -1;
    Py_XDECREF(item);
    return done;
}

int lg_function(const char *name, PyObject **given)
{
    if (*given == Py_None)
        *given = NULL;
    if (!*given || PyCallable_Check(*given))
        return 0;
    PyErr_Format(PyExc_ValueError, "%s must be a function or None, given %R", name, *given);
    return -1;
}

static int read_factor(PyObject *row, lg_factor_spec *factor)
{
    PyObject *n;
    int overflow;
    if (!PyArg_ParseTuple(row, "sO;blocks are (kind, n), or sequences of them", &factor->kind, &n))
        return -1;
    long long value = PyLong_AsLongLongAndOverflow(n, &overflow);
    factor->n = (int)value;
    if (overflow || value != factor->n)
        PyErr_Format(PyExc_ValueError, "n of a block must be below 2^31, given %R", n);
    return PyErr_Occurred() ? -1 : 0;
}

static int is_product(PyObject *block)
{
    return PyTuple_GET_SIZE(block) > 0 && !PyUnicode_Check(PyTuple_GET_ITEM(block, 0));
}

/* A block is a tuple of factors, or one factor, (kind, n), which is written to `single`. */
static int read_block(PyObject *given, PyObject *owned, lg_factor_spec *single, lg_block_spec *block)
{
    if (!is_product(given)) {
        *block = (lg_block_spec){1, single};
        return read_factor(given, single);
    }
    PyObject *rows = lg_keep_rows(owned, given, "the factors of a block");
    Py_ssize_t n = rows ? PyTuple_GET_SIZE(rows) : 0;
    lg_factor_spec *factors = rows ? lg_keep_memory(owned, n, sizeof *factors) : NULL;
    if (!factors)
        return -1;
    for (Py_ssize_t i = 0; i < n; i++)
        if (read_factor(PyTuple_GET_ITEM(rows, i), &factors[i]) < 0)
            return -1;
    *block = (lg_block_spec){(int)n, factors};
    return 0;
}

const lg_block_spec *lg_blocks(PyObject *given, int *count, PyObject *owned)
{
    PyObject *rows = lg_keep_rows(owned, given, "blocks");
    Py_ssize_t n = rows ? PyTuple_GET_SIZE(rows) : 0;
    lg_block_spec *blocks = rows ? lg_keep_memory(owned, n, sizeof *blocks) : NULL;
    lg_factor_spec *singles = blocks ? lg_keep_memory(owned, n, sizeof *singles) : NULL;
    if (!singles)
        return NULL;
    for (Py_ssize_t i = 0; i < n; i++)
        if (read_block(PyTuple_GET_ITEM(rows, i), owned, &singles[i], &blocks[i]) < 0)
            return NULL;
    *count = (int)n;
    return blocks;
}
