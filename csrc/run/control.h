/* Step size control: from the error of a step to the size of the next one. It knows no stepper's formulas and no loop. */
#ifndef LG_RUN_CONTROL_H
#define LG_RUN_CONTROL_H

#include "integrator/options.h"
#include "integrator/stepper.h"

#include <math.h>

/* What one step hands to the next: part of a run's carry. */
typedef struct lg_control_memory {
    double h; /* wanted next; 0: to be chosen */
    double error; /* of the last accepted step; 0: there is none */
    double rejections; /* of the step under way */
} lg_control_memory;

typedef struct lg_control {
    int active; /* a tolerance was given */
    int law;
    double order; /* the error of a step is O(h^order) */
    double first_step, max_step, min_step, safety, max_increase, max_decrease;
    double *rtol, *atol; /* 2 nv: coordinates, velocities */
    double *scale, *error; /* 2 nv */
    double *q, *v, *a, *lam; /* scratch */
    lg_control_memory *memory;
} lg_control;

/* Settings from the options of a stepper that has been prepared. */
void lg_control_prepare(lg_control *control, const lg_stepper *stepper);
void lg_control_layout(lg_control *control, const lg_stepper *stepper, lg_arena *arena);
/* Numbers for all entries, once there is memory. */
void lg_control_fill(lg_control *control, const lg_stepper *stepper);
typedef enum lg_tolerance { LG_RTOL, LG_ATOL } lg_tolerance;

/* Tolerances that differ: nv of them (the same for coordinates and velocities) or 2 nv. */
lg_status lg_control_set(lg_control *control, const lg_stepper *stepper, lg_tolerance which, int count,
                         const double *values);
/* LG_BAD_ARGUMENT if an entry has no tolerance at all. */
lg_status lg_control_check(const lg_control *control, int nv, lg_report *report);

/* A step size to begin with, at most `span`: Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I, II.4. */
lg_status lg_control_begin(lg_control *control, lg_stepper *stepper, const lg_state *state, double span);

typedef struct lg_trial {
    double h; /* the size to try */
    int lands; /* the step ends at the landing */
    int shortened; /* h is below the size that is wanted, because of the landing */
} lg_trial;

/* The next step on the way to a landing: the last one is stretched a little, the last two are halves. t + h > t. */
lg_trial lg_control_next(const lg_control *control, double t, double landing);

/* Root mean square of control->error over its scale, for a step between two states. */
double lg_control_norm(lg_control *control, const lg_space *space, const lg_state *before, const lg_state *after);

/* A trial had this error (NaN: it failed): whether it is accepted, and in memory->h what comes next. */
int lg_control_judge(lg_control *control, lg_trial trial, double error);

#endif
