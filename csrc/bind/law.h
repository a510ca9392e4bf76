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
/* The same of a function of a state. */
lg_law lg_python_law_of_state(lg_python_function *function);
/* Sets the functions of a control whose other entries are set. */
void lg_python_control(lg_python_function *function, lg_control_spec *control);

/* What makes a state of the point of an evaluation: the reader of a model's laws of the state. It outlives the call,
   and computes with scratch of its own. */
typedef struct lg_python_reader {
    PyObject *state; /* called with an Instant; borrowed */
    PyTypeObject *instant; /* borrowed */
    int nq, nv, nmem;
} lg_python_reader;

#endif
