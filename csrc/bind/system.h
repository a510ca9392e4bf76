/* The Python object around an lg_system: base of Model and CallableSystem. */
#ifndef LG_BIND_SYSTEM_H
#define LG_BIND_SYSTEM_H

#include "bind/errors.h"
#include "integrator/stepper.h"

typedef struct lg_system_object {
    PyObject ob_base;
    const lg_system *system; /* NULL until a derived type's __init__ has succeeded */
    lg_plan *plan[LG_COUPLINGS]; /* made on first use, const afterwards */
    PyObject *shape; /* the system of the same pattern whose plans this one uses; NULL: its own */
    long dense_fallbacks; /* of one-point solves */
} lg_system_object;

/* The system of an initialised object, or NULL and a RuntimeError. */
const lg_system *lg_system_of(PyObject *self);
/* The plan of the system for one coupling, or NULL and an exception. The caller holds the GIL, so that two threads never
   make the same plan. */
const lg_plan *lg_system_plan(PyObject *self, lg_coupling coupling);
/* The plans that a stepper needs; -1 and an exception if one cannot be made. */
int lg_system_plans(PyObject *self, const lg_stepper_type *stepper, lg_plans *plans);
/* Refuses a second __init__. */
int lg_system_is_fresh(PyObject *self);
/* Frees what the base owns. */
void lg_system_close(lg_system_object *self);

#endif
