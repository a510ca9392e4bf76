/* Step size control: chooses the size of a step from the error of the previous one, in the same way for all methods. */
#ifndef LG_RUN_CONTROL_H
#define LG_RUN_CONTROL_H

#include "integrator/options.h"
#include "integrator/stepper.h"

#include <math.h>

/* What the control remembers from step to step; it is part of a run's carry. */
typedef struct lg_control_memory {
    double h; /* size wanted for the next step; 0: still to be chosen */
    double error; /* of the last accepted step, as the law remembers it; 0: no step yet */
    double rejections; /* of the current step; with fixed steps: how often the next one, or its next part, is halved */
} lg_control_memory;

typedef struct lg_control {
    int estimates, adapts; /* whether the error of each step is estimated, and whether it determines the step sizes */
    int law;
    double order; /* the error of a step is O(h^order) */
    double first_step, max_step, min_step, safety, max_increase, max_decrease;
    double after_failure; /* factor of the step size after a step that failed */
    double *rtol, *atol; /* 2 nv: coordinates, velocities */
    double *scale, *error; /* 2 nv */
    const double *coarse; /* 2 nv: the stepper's error against a coarser solution; NULL: there is none */
    double *q, *v, *a, *lam; /* scratch */
    lg_memory_error memory_error; /* of the last step */
    lg_control_memory *memory;
} lg_control;

/* Settings from the options of a stepper that has been prepared. */
void lg_control_prepare(lg_control *control, const lg_stepper *stepper);
void lg_control_layout(lg_control *control, const lg_stepper *stepper, lg_arena *arena);
/* Sets the tolerances of all entries from the options: one number, nv numbers (shared by coordinates and velocities) or
   2 nv numbers. Call it once the control has its arrays. */
lg_status lg_control_fill(lg_control *control, lg_stepper *stepper);
/* LG_BAD_ARGUMENT if both tolerances of an entry are zero or the step sizes contradict each other. */
lg_status lg_control_check(const lg_control *control, int nv, lg_report *report);

/* The first step size, at most `span`: Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I, II.4. */
lg_status lg_control_begin(lg_control *control, lg_stepper *stepper, const lg_state *state, double span);

typedef struct lg_trial {
    double h; /* the size to try */
    int lands; /* whether the step ends at the landing */
    int shortened; /* whether the landing makes h smaller than the size wanted */
} lg_trial;

/* The next step on the way to a landing. The last step may be stretched slightly, and if two steps remain, each covers
   half of the distance. Every step advances the time: t + h > t. */
lg_trial lg_control_next(const lg_control *control, double t, double landing);

/* The scaled error of a step between two states: the root mean square of control->error divided by its scale, with a
   coarse error what both give together; or the largest error of memory, if that is greater. */
lg_status lg_control_measure(lg_control *control, lg_stepper *stepper, const lg_state *before, const lg_state *after,
                             double *error);

/* Judges a trial by its error (NaN: it failed): returns whether it is accepted, and leaves the next size in
   memory->h. */
int lg_control_judge(lg_control *control, lg_trial trial, double error);

#endif
