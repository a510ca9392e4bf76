/* Compiled functions of the user (system/signatures.h), which the core calls without the GIL. Python hands them over as
   capsules, which compiled() makes. */
#ifndef LG_BIND_COMPILED_H
#define LG_BIND_COMPILED_H

#include "bind/module.h"
#include "model/model.h"
#include "system/signatures.h"

typedef struct lg_compiled {
    lg_signature signature;
    void (*function)(void); /* of the type lg_signature_law, lg_signature_joint_law, ... */
    void *data; /* the user's */
    PyObject *what; /* "the function of element 'arm'" */
    PyObject *error; /* the class of the exception for a status that is not zero */
    int has_tangent;
    double scale; /* of a load */
    double rest[3]; /* what a motion subtracts from the positions */
    int turned; /* laws and loads: the vectors of each body are turned to the axes of its node */
    double turn[2][9];
} lg_compiled;

/* NULL: the object is something else. */
lg_compiled *lg_compiled_of(PyObject *object);
/* The same as functions of an element, whose row checks that it has the one that it needs; all others are NULL. */
void lg_compiled_function(lg_compiled *compiled, lg_time_function *function, lg_law *law);
/* Sets the functions of a control whose other entries are set. */
void lg_compiled_control(lg_compiled *compiled, lg_control_spec *control);
/* The value of an event. */
lg_status lg_compiled_event(const lg_compiled *compiled, double t, const double *q, const double *v, double *value);
/* Calls a function of a system: n values from q, v, a and lam, each of which may be NULL. Where they are those of a
   force, LG_NOT_FINITE instead of an exception if one is not finite. */
lg_status lg_compiled_callable(const lg_compiled *compiled, int is_force, double t, const double *const from[4], int n,
                               double *out);

#endif
