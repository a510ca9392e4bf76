/* Python functions that compiled models call: of time, or of the motion of bodies and joints. The caller holds the GIL,
   since models with such functions have the flag LG_SYSTEM_NEEDS_GIL. */
#ifndef LG_BIND_LAW_H
#define LG_BIND_LAW_H

#include "bind/python.h"
#include "model/model.h"

/* All references are borrowed from objects that the model owns. */
typedef struct lg_python_function {
    PyObject *callable;
    PyObject *tangent; /* of a law; NULL: none */
    PyObject *name; /* of the element */
} lg_python_function;

lg_time_function lg_python_time_function(lg_python_function *function);
lg_law lg_python_law(lg_python_function *function);

#endif
