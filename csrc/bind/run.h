/* What `integrate` and the type Stepper share: a run opened from Python arguments. */
#ifndef LG_BIND_RUN_H
#define LG_BIND_RUN_H

#include "bind/args.h"
#include "bind/errors.h"
#include "run/integrate.h"

typedef struct lg_run_arguments {
    PyObject *system; /* of type System */
    const char *method;
    double t0;
    PyObject *q, *v;
    PyObject *start; /* dict of vdot, lam, mem, carry; NULL or None: a fresh start */
    PyObject *options; /* dict, NULL or None */
} lg_run_arguments;

/* The thread state of a call that runs without the GIL if the system allows it; NULL while the GIL is held. */
typedef PyThreadState *lg_thread;

void lg_release_gil(lg_thread *thread, const lg_system *system);
void lg_hold_gil(lg_thread *thread);
/* Takes the GIL for a moment, and gives it back if it was not held. */
int lg_borrow_gil(const lg_thread *thread);
void lg_return_gil(lg_thread *thread, int borrowed);

/* Handles signals, then calls `progress` (NULL: nothing) with a number as the object that `number` makes of it. */
lg_status lg_look_outside(lg_thread *thread, PyObject *progress, PyObject *(*number)(double), double value);

/* LG_CALLBACK: an exception is set. The caller keeps `system` alive and closes the run. */
lg_status lg_run_from(lg_run *run, const lg_module *module, const lg_run_arguments *arguments, lg_report *report);

#endif
