/* Functions of points over arrays of points; see map.h. */
#include "bind/map.h"

enum { MAX_AXES = 64 };

/* The arrays of one call. The stride of an operand is the number of values from point to point; it is 0 for an operand
   without leading axes, which belongs to every point. */
typedef struct batch {
    PyArrayObject *in[LG_MAX_OPERANDS], *out[LG_MAX_RESULTS];
    const double *x[LG_MAX_OPERANDS]; /* their values at the first point */
    double *y[LG_MAX_RESULTS];
    int results;
    npy_intp in_stride[LG_MAX_OPERANDS], out_stride[LG_MAX_RESULTS];
    int ndim;
    npy_intp dims[MAX_AXES + 1], points;
} batch;

npy_intp lg_length(const lg_system *system, char letter)
{
    switch (letter) {
    case 'q':
        return system->space->nq;
    case 'v':
        return system->space->nv;
    case 'r':
        return system->pattern->nrows;
    case 'm':
        return system->nmem;
    default:
        return letter - '0';
    }
}

PyArrayObject *lg_new_array(const lg_system *system, int ndim, const npy_intp *dims, const char *shape)
{
    npy_intp all[MAX_AXES + 4];
    for (int i = 0; i < ndim; i++) // there are no dims for a single point
        all[i] = dims[i];
    for (; *shape; shape++)
        all[ndim++] = lg_length(system, *shape);
    return (PyArrayObject *)PyArray_SimpleNew(ndim, all, NPY_DOUBLE);
}

static int take_leading_axes(batch *b, PyArrayObject *array, const char *name, int ndim)
{
    const npy_intp *dims = PyArray_DIMS(array);
    if (b->ndim == 0) {
        b->ndim = ndim;
        for (int i = 0; i < ndim; i++)
            b->dims[i] = dims[i];
        b->points = PyArray_MultiplyList(dims, ndim);
        return 0;
    }
    if (ndim == b->ndim && PyArray_CompareLists(dims, b->dims, ndim))
        return 0;
    PyErr_Format(PyExc_ValueError, "the leading axes of %s differ from those of the arguments before it", name);
    return -1;
}

static int open_operands(batch *b, const lg_map *map, PyObject *const *objects)
{
    b->points = 1;
    for (int i = 0; map->operands[i]; i++) {
        char letter = map->operands[i];
        int core = letter != 't';
        npy_intp n = core ? lg_length(map->system, letter) : 1;
        PyArrayObject *array = objects[i] ? lg_array(objects[i], map->names[i], core, &n, 1)
                                          : (PyArrayObject *)PyArray_ZEROS(core, &n, NPY_DOUBLE, 0);
        b->in[i] = array;
        b->x[i] = array ? lg_data(array) : NULL;
        int ndim = array ? PyArray_NDIM(array) - core : 0;
        b->in_stride[i] = ndim > 0 ? n : 0;
        if (!array || (ndim > 0 && take_leading_axes(b, array, map->names[i], ndim) < 0))
            return -1;
    }
    return 0;
}

static PyArrayObject *new_result(batch *b, const lg_map *map, const char *shape)
{
    int counted = *shape == 'n';
    b->dims[b->ndim] = map->count;
    return lg_new_array(map->system, b->ndim + counted, b->dims, shape + counted);
}

static int open_results(batch *b, const lg_map *map)
{
    for (int i = 0; map->results[i]; i++, b->results++) {
        if (!(b->out[i] = new_result(b, map, map->results[i])))
            return -1;
        b->y[i] = PyArray_DATA(b->out[i]);
        b->out_stride[i] = PyArray_MultiplyList(PyArray_DIMS(b->out[i]) + b->ndim, PyArray_NDIM(b->out[i]) - b->ndim);
    }
    return 0;
}

static lg_status run(const batch *b, lg_map *map)
{
    for (npy_intp p = 0; p < b->points; p++) {
        const double *x[LG_MAX_OPERANDS];
        double *y[LG_MAX_RESULTS];
        for (int i = 0; map->operands[i]; i++)
            x[i] = b->x[i] + p * b->in_stride[i];
        for (int i = 0; i < b->results; i++)
            y[i] = b->y[i] + p * b->out_stride[i];
        LG_TRY(map->at(map, x, y));
    }
    return LG_OK;
}

static lg_status run_with_memory(const batch *b, lg_map *map)
{
    const lg_system *system = map->system;
    map->mem = PyMem_Calloc((size_t)(system->nmem + system->nwork) + 1, sizeof *map->mem);
    if (!map->mem)
        return LG_NO_MEMORY;
    map->work = map->mem + system->nmem;
    lg_status status = run(b, map);
    PyMem_Free(map->mem);
    return status;
}

static PyObject *results_of(const batch *b)
{
    if (b->results == 1)
        return Py_XNewRef((PyObject *)b->out[0]);
    PyObject *tuple = PyTuple_New(b->results);
    for (int i = 0; tuple && i < b->results; i++)
        PyTuple_SET_ITEM(tuple, i, Py_XNewRef((PyObject *)b->out[i]));
    return tuple;
}

PyObject *lg_map_call(lg_map *map, PyObject *self, PyObject *const *objects)
{
    batch b = {.ndim = 0};
    PyObject *result = NULL;
    if (open_operands(&b, map, objects) == 0 && open_results(&b, map) == 0) {
        lg_status status = run_with_memory(&b, map);
        result = status == LG_OK ? results_of(&b) : lg_raise(lg_module_of(Py_TYPE(self)), status, &map->report, NULL);
    }
    for (int i = 0; i < LG_MAX_OPERANDS; i++)
        Py_XDECREF(b.in[i]);
    for (int i = 0; i < LG_MAX_RESULTS; i++)
        Py_XDECREF(b.out[i]);
    return result;
}
