/* What a method knows about derivatives of its steps: optional functions of a stepper. */
#ifndef LG_INTEGRATOR_SENSITIVITIES_H
#define LG_INTEGRATOR_SENSITIVITIES_H

#include "integrator/stepper.h"

/* The derivatives of a state by parameters, one column after the other: left-trivialised, block by block. */
typedef struct lg_sensitivities {
    int count;
    double *q, *v, *a, *lam; /* nv, nv, nv and nrows in a column */
    double *mem; /* of the memory, as far as it is sampled: nmem in a column; none if the system samples nothing */
    double *own; /* of the stepper's carry, as many numbers as it needs */
} lg_sensitivities;

/* The transposed maps of steps, which go back in time: from the derivatives of a number by the state at the end of a
   step to those by its start. They are lg_sensitivities of one column. */
typedef struct lg_stepper_adjoint {
    int (*count)(const lg_stepper *self); /* what `keep` writes */
    void (*keep)(const lg_stepper *self, double *kept); /* what it needs of the step that has just succeeded */
    /* In place. Adds the share of every parameter to `gradient`. */
    lg_status (*step)(lg_stepper *self, const lg_state *before, const lg_state *after, const double *kept,
                      const lg_sensitivities *s, double *gradient);
    /* Takes `own` of a first step to its start. NULL: there is none. */
    void (*reset)(const lg_stepper *self, const lg_sensitivities *s);
} lg_stepper_adjoint;

struct lg_stepper_sensitivities {
    /* The option because of which steps have no derivatives, after `prepare`; NULL, or without this function: they
       have. */
    const char *(*refused)(const lg_stepper *self);
    int (*count)(const lg_stepper *self); /* numbers in a column of `own`; NULL: none */
    void (*layout)(lg_stepper *self, lg_arena *arena);
    /* Writes `own` of a first step; all else is that of its start. NULL: there is none. */
    void (*reset)(const lg_stepper *self, const lg_sensitivities *s);
    /* The derivatives of the end of the step of size h that has just succeeded, in place of those of its start. */
    lg_status (*step)(lg_stepper *self, const lg_state *before, const lg_state *after, double h,
                      const lg_sensitivities *s);
    const lg_stepper_adjoint *adjoint; /* of the same steps */
    void (*close)(lg_stepper *self); /* frees what the arena does not hold; NULL: nothing */
};

#endif
