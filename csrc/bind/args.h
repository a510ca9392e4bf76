/* Converts Python arguments to arrays and option values of the core. Every error names the argument, what was given and
   what would work. */
#ifndef LG_BIND_ARGS_H
#define LG_BIND_ARGS_H

#include "bind/module.h"
#include "integrator/stepper.h"

enum { LG_MAX_AXES = 64 };

/* A new C-contiguous float64 array of finite numbers from anything that casts safely. Its last `ndim` axes must have
   the lengths in `dims` (-1: any); further leading axes are allowed only if `leading`. NULL: ValueError. */
PyArrayObject *lg_array(PyObject *object, const char *name, int ndim, const npy_intp *dims, int leading);

/* A vector of length n; a new one-dimensional array holding a copy of `data`. */
PyArrayObject *lg_vector(PyObject *object, const char *name, npy_intp n);
PyObject *lg_vector_from(const double *data, npy_intp n);

/* Operands with the same leading axes (or none), taken through a function of one point. */
typedef struct lg_operand {
    const char *name;
    npy_intp n; /* length of the last axis; -1: a scalar for each point */
    PyArrayObject *array;
    npy_intp stride; /* doubles from point to point */
} lg_operand;

typedef struct lg_batch {
    int count;
    lg_operand operand[4];
    int ndim;
    npy_intp dims[LG_MAX_AXES], points;
} lg_batch;

/* names and lengths are set in batch->operand beforehand. */
int lg_batch_open(lg_batch *batch, PyObject *const *objects);
void lg_batch_close(lg_batch *batch);
const double *lg_batch_at(const lg_batch *batch, int operand, npy_intp point);
/* A new array of the leading axes followed by `ndim` axes of lengths `dims`. */
PyArrayObject *lg_batch_output(const lg_batch *batch, int ndim, const npy_intp *dims);

/* The values of a method's options: those in `dict` (may be NULL or None) and defaults for the others. Free with
   PyMem_Free. An array for an LG_OPTION_VECTOR is left in `dict`; its value is 0. */
lg_option_value *lg_options(const lg_method *method, PyObject *dict);
/* A row by name or ValueError listing the names. */
const lg_method *lg_method_named(const char *name);
/* Default of an option as a Python object. */
PyObject *lg_default_object(const lg_option *option);

static inline const double *lg_data(const PyArrayObject *array)
{
    return PyArray_DATA((PyArrayObject *)array);
}

#endif
