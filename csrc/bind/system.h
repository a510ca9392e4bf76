/* The Python object around an lg_system: base of Model and CallableSystem. */
#ifndef LG_BIND_SYSTEM_H
#define LG_BIND_SYSTEM_H

#include "bind/errors.h"
#include "integrator/stepper.h"

/* Like a tuple, it is complete when it is created and refers to older objects only. Every cycle of references therefore
   leads through an object of another type, at which the garbage collector breaks it, and a system can be used as long
   as it exists. */
typedef struct lg_system_object {
    PyObject ob_base;
    const lg_system *system;
    void *core; /* the object of the core that owns the system */
    void (*release)(void *core);
    PyObject *owned; /* tuple of all Python objects that the core points into */
    PyObject *shape; /* one of them: the system of the same pattern whose plans this one uses; NULL: its own */
    lg_plan *plan[LG_COUPLINGS]; /* made on first use, const afterwards */
    long dense_fallbacks; /* in the solves of queries */
} lg_system_object;

static inline const lg_system *lg_system_of(PyObject *self)
{
    return ((lg_system_object *)self)->system;
}

/* A new object of a derived type. It takes over the core, which is released if the object cannot be made, and keeps the
   items of the list `owned`. NULL: an exception is set. */
PyObject *lg_system_new(PyTypeObject *type, const lg_system *system, void *core, void (*release)(void *core),
                        PyObject *owned);
/* The plan of the system for one coupling, or NULL and an exception. The caller holds the GIL, so that two threads
   never make the same plan. */
const lg_plan *lg_system_plan(PyObject *self, lg_coupling coupling);
/* The plans that a stepper needs; -1 and an exception if one cannot be made. */
int lg_system_plans(PyObject *self, const lg_stepper_type *stepper, lg_plans *plans);

#endif
