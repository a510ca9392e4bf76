/* A Python function as one of the functions that a system is made of. It needs the GIL. */
#ifndef LG_BIND_PY_FUNCTION_H
#define LG_BIND_PY_FUNCTION_H

#include "bind/python.h"
#include "system/callback.h"

typedef struct lg_py_function {
    PyObject *function; /* strong reference; NULL: not given */
    enum lg_call call; /* which one it is */
    int nq, nv, rows; /* of its system */
} lg_py_function;

/* An lg_callback's call, with an lg_py_function as `self`: calls the function with read-only copies of its arguments
   and stores the value that it returns. LG_CALLBACK: an exception is set. */
lg_status lg_py_call(void *self, const lg_callback_point *at, double *out);

#endif
