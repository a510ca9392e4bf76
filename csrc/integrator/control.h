/* Step size control: from the error of a step to the size of the next one. It knows no stepper's formulas and no loop. */
#ifndef LG_INTEGRATOR_CONTROL_H
#define LG_INTEGRATOR_CONTROL_H

#include "integrator/stepper.h"

#include <math.h>

/* Option rows of a method with an error estimate; they stand together in its list, in this order. */
#define LG_CONTROL_OPTIONS                                                                                             \
    {"rtol",                                                                                                           \
     LG_OPTION_VECTOR,                                                                                                 \
     {NAN, -1},                                                                                                        \
     0,                                                                                                                \
     INFINITY,                                                                                                         \
     NULL,                                                                                                             \
     "Relative tolerance of a step's error; with it or atol the steps are adaptive. Where only atol is given: 0."},    \
        {"atol",                                                                                                       \
         LG_OPTION_VECTOR,                                                                                             \
         {NAN, -1},                                                                                                    \
         0,                                                                                                            \
         INFINITY,                                                                                                     \
         NULL,                                                                                                         \
         "Absolute tolerance of a step's error, in the units of q and v. Where only rtol is given: the same "          \
         "numbers."},                                                                                                  \
        {"first_step",                                                                                                 \
         LG_OPTION_NUMBER,                                                                                             \
         {NAN, -1},                                                                                                    \
         0,                                                                                                            \
         INFINITY,                                                                                                     \
         NULL,                                                                                                         \
         "First step, s; h does as well. Else it is chosen."},                                                         \
        {"max_step", LG_OPTION_NUMBER, {INFINITY, -1}, 0, INFINITY, NULL, "No step is longer, s."},                    \
        {"min_step",                                                                                                   \
         LG_OPTION_NUMBER,                                                                                             \
         {0, -1},                                                                                                      \
         0,                                                                                                            \
         INFINITY,                                                                                                     \
         NULL,                                                                                                         \
         "The run fails if a step of this size (s) is still rejected; only a landing takes shorter ones."},            \
        {"safety", LG_OPTION_NUMBER, {0.9, -1}, 0.01, 1, NULL, "The optimal step size times this is tried next."},     \
        {"max_increase", LG_OPTION_NUMBER, {5, -1}, 1, 100, NULL, "A step is at most this many times the last one."},  \
        {"max_decrease",                                                                                               \
         LG_OPTION_NUMBER,                                                                                             \
         {0.2, -1},                                                                                                    \
         0.001,                                                                                                        \
         0.99,                                                                                                         \
         NULL,                                                                                                         \
         "A step is at least this many times the last one; not with control \"paper\"."},                              \
        {"control",                                                                                                    \
         LG_OPTION_CHOICE,                                                                                             \
         {0, LG_CONTROL_PI},                                                                                           \
         0,                                                                                                            \
         0,                                                                                                            \
         "I|PI|paper",                                                                                                 \
         "Law of the next step: of the last error, of the last two, or as holzinger2024, App. B."}

enum {
    LG_CONTROL_RTOL,
    LG_CONTROL_ATOL,
    LG_CONTROL_FIRST_STEP,
    LG_CONTROL_MAX_STEP,
    LG_CONTROL_MIN_STEP,
    LG_CONTROL_SAFETY,
    LG_CONTROL_MAX_INCREASE,
    LG_CONTROL_MAX_DECREASE,
    LG_CONTROL_LAW,
    LG_CONTROL_OPTION_COUNT
};

enum { LG_CONTROL_I, LG_CONTROL_PI, LG_CONTROL_PAPER };

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

/* The first of a method's control options among its options, or -1. */
int lg_control_option(const lg_method *method);

/* Settings from the options of a stepper that has been prepared. */
void lg_control_prepare(lg_control *control, const lg_stepper *stepper);
void lg_control_layout(lg_control *control, const lg_stepper *stepper, lg_arena *arena);
/* Numbers for all entries, once there is memory. */
void lg_control_fill(lg_control *control, const lg_stepper *stepper);
/* Tolerances that differ: nv of them (the same for coordinates and velocities) or 2 nv. which: LG_CONTROL_RTOL, _ATOL. */
lg_status lg_control_set(lg_control *control, const lg_stepper *stepper, int which, int count, const double *values);
/* LG_BAD_ARGUMENT if an entry has no tolerance at all. */
lg_status lg_control_check(const lg_control *control, int nv, lg_report *report);

/* A step size to begin with, at most `span`: Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I, II.4. */
lg_status lg_control_begin(lg_control *control, lg_stepper *stepper, const lg_state *state, double span);

/* The size of the next step on the way to a landing: the last one is stretched a little, the last two are halves. */
double lg_control_next(const lg_control *control, double t, double landing, int *lands);

/* Root mean square of control->error over its scale, for a step between two states. */
double lg_control_norm(lg_control *control, const lg_space *space, const lg_state *before, const lg_state *after);

/* A step of size h had this error (NaN: it failed): whether it is accepted, and in memory->h what comes next. */
int lg_control_judge(lg_control *control, double h, double error);

#endif
