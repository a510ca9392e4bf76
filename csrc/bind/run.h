/* Reads the arguments of runs, which `integrate`, `ensemble` and the type Stepper have in common. Functions return -1
   if they have set an exception; the list `owned` keeps what the results point into. */
#ifndef LG_BIND_RUN_H
#define LG_BIND_RUN_H

#include "bind/args.h"
#include "run/integrate.h"

/* `start` as in lg_run_arguments; a resumed run inherits its options. */
int lg_read_method(PyObject *owned, const char *name, PyObject *options, PyObject *start, lg_setup *setup);
/* The system, and the plans that the method of `setup` needs. */
int lg_read_system(const lg_module *module, PyObject *system, lg_setup *setup);

/* The arguments that open a single run. */
typedef struct lg_run_arguments {
    PyObject *system; /* of type System */
    const char *method;
    double t0;
    PyObject *q, *v;
    /* A dict of vdot, lam, mem and carry, and optionally options and changed. A dict of mem alone, or None: a fresh
       start. */
    PyObject *start;
    PyObject *options; /* dict or None */
} lg_run_arguments;

int lg_read_setup(PyObject *owned, const lg_module *module, const lg_run_arguments *arguments, lg_setup *setup);

int lg_read_times(PyObject *owned, PyObject *stops, PyObject *t_eval, lg_schedule *schedule);

#endif
