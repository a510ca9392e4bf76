/* Converts Python arguments to arrays and option values of the core. Every error names the argument, what was given and
   what would work. */
#ifndef LG_BIND_ARGS_H
#define LG_BIND_ARGS_H

#include "bind/module.h"
#include "integrator/stepper.h"
#include "system/layout.h"

/* A new C-contiguous float64 array of finite numbers from anything that casts safely. Its last `ndim` axes must have
   the lengths in `dims` (-1: any); further leading axes are allowed only if `leading`. NULL: ValueError. */
PyArrayObject *lg_array(PyObject *object, const char *name, int ndim, const npy_intp *dims, int leading);
/* The same, but its numbers may be infinite or NaN. */
PyArrayObject *lg_array_unchecked(PyObject *object, const char *name, int ndim, const npy_intp *dims, int leading);

/* A vector of length n; a new one-dimensional array holding a copy of `data`. */
PyArrayObject *lg_vector(PyObject *object, const char *name, npy_intp n);
PyObject *lg_vector_from(const double *data, npy_intp n);
PyObject *lg_read_only_vector(const double *data, npy_intp n); /* the same, which a user's function may keep */

/* Copies the numbers of `result`, which a Python function returned, to `out` and drops the object. NULL: the function
   has raised an exception. LG_CALLBACK: an exception is set, either that one or one that says what `name` must be. */
lg_status lg_returned(PyObject *result, const char *name, int ndim, const npy_intp *dims, double *out);
/* The same for a force, which may depend on the state: where it is not finite, LG_NOT_FINITE without an exception, as
   a smaller step may not lead there. */
lg_status lg_returned_force(PyObject *result, const char *name, int ndim, const npy_intp *dims, double *out);

/* Takes over an array (NULL: an exception is set) for the list `owned`, which keeps it alive. */
PyArrayObject *lg_keep_array(PyObject *owned, PyArrayObject *array);
/* Memory for `count` objects, all zero, which the list keeps. NULL: an exception is set. */
void *lg_keep_memory(PyObject *owned, Py_ssize_t count, size_t size);
/* The tuples of a sequence as a tuple that the list keeps, so that text in them stays where it is. NULL: an exception
   is set. */
PyObject *lg_keep_rows(PyObject *owned, PyObject *given, const char *name);
/* The numbers of a vector of length n (-1: any), which the list keeps. Returns their number; -1: an exception is
   set. */
int lg_read_vector(PyObject *owned, const char *name, PyObject *given, npy_intp n, const double **values);

/* A list of `count` rows, each made by `row`. */
PyObject *lg_list_of(int count, PyObject *(*row)(const void *context, int index), const void *context);
/* Puts an item, which it takes over, into a dict. -1: the item is NULL, or there is no memory; an exception is set. */
int lg_set_item(PyObject *dict, const char *name, PyObject *item);

/* Turns None into NULL. -1: the argument is neither a function nor None. */
int lg_function(const char *name, PyObject **given);

/* The blocks of a sequence, each (kind, n) or a tuple of such factors, in memory that the list `owned` keeps. NULL:
   an exception is set. */
const lg_block_spec *lg_blocks(PyObject *given, int *count, PyObject *owned);

/* The values of a method's options: those in `dict`, then those in `inherited`, which count as defaults, and defaults
   for the others. Both dicts may be NULL or None. The list `owned` keeps the values and the arrays that they point
   into. */
const lg_option_value *lg_options(const lg_method *method, PyObject *dict, PyObject *inherited, PyObject *owned);
/* The method of this name; NULL: a ValueError that lists the names is set. */
const lg_method *lg_method_named(const char *name);
/* Default of an option as a Python object. */
PyObject *lg_default_object(const lg_option *option);

static inline const double *lg_data(const PyArrayObject *array)
{
    return PyArray_DATA((PyArrayObject *)array);
}

#endif
