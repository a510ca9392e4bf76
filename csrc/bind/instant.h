/* lgint._core.Instant: a point of a run as a Python function sees it. Its arrays are copied when they are first read;
   what an Instant that outlives the call has not read by then is copied at the end of the call. */
#ifndef LG_BIND_INSTANT_H
#define LG_BIND_INSTANT_H

#include "bind/python.h"

enum { LG_INSTANT_ARRAYS = 4 }; /* q, v, mem and theta */

typedef struct lg_instant_arrays {
    const double *data; /* NULL: None */
    int count;
} lg_instant_arrays;

/* age: see lg_memory. NULL: an exception is set. */
PyObject *lg_instant_new(PyTypeObject *type, double t, double age, const lg_instant_arrays arrays[LG_INSTANT_ARRAYS]);
/* Ends the call and takes over the reference; NULL is allowed. An exception that is set stays. */
void lg_instant_end(PyObject *self);

#endif
