/* Option rows that several methods share. */
#ifndef LG_INTEGRATOR_OPTIONS_H
#define LG_INTEGRATOR_OPTIONS_H

#include <math.h>

/* What explicit methods do about the drift: the choices are LG_PROJECT_POSITION and LG_PROJECT_VELOCITY added up. */
#define LG_PROJECT_OPTION                                                                                              \
    {"project",                                                                                                        \
     LG_OPTION_CHOICE,                                                                                                 \
     {NAN, -1},                                                                                                        \
     0,                                                                                                                \
     0,                                                                                                                \
     "none|position|velocity|both",                                                                                    \
     "Constraints onto which the end of each step is moved, by the shortest way in the mass metric. By itself both "   \
     "with error control, and none with fixed steps."}

/* How Newton's method ends: three rows. */
#define LG_NEWTON_OPTIONS                                                                                              \
    {"newton_rtol",                                                                                                    \
     LG_OPTION_NUMBER,                                                                                                 \
     {1e-8, -1},                                                                                                       \
     0,                                                                                                                \
     1,                                                                                                                \
     NULL,                                                                                                             \
     "Newton's method stops when the residual is below this times the first residual of the step plus newton_atol."},  \
        {"newton_atol",                                                                                                \
         LG_OPTION_NUMBER,                                                                                             \
         {1e-10, -1},                                                                                                  \
         0,                                                                                                            \
         1e3,                                                                                                          \
         NULL,                                                                                                         \
         "Absolute part of the bound on the residual (root mean square of the force rows)."},                          \
        {"max_iter", LG_OPTION_INTEGER, {20, -1}, 1, 1000, NULL, "A step that takes more Newton iterations has failed."}

enum { LG_PREDICTOR_EXTRAPOLATE, LG_PREDICTOR_PLAIN };

/* Options of generalized-alpha but for its damping; `index_default` is LG_INDEX_3_DEFAULT or LG_STABILIZED_DEFAULT. */
#define LG_INDEX_3_DEFAULT {3, -1}
#define LG_STABILIZED_DEFAULT {3, 0}

#define LG_GENALPHA_OPTIONS(index_default)                                                                             \
    {"sigma",                                                                                                          \
     LG_OPTION_NUMBER,                                                                                                 \
     {1.0, -1},                                                                                                        \
     -5,                                                                                                               \
     5,                                                                                                                \
     "optimal",                                                                                                        \
     "Weight of the Lie group term: 0 is geom1, \"optimal\" is gamma/(3 beta)."},                                      \
        {"index",                                                                                                      \
         LG_OPTION_INTEGER,                                                                                            \
         index_default,                                                                                                \
         2,                                                                                                            \
         3,                                                                                                            \
         "stabilized",                                                                                                 \
         "Constraints that each step fulfils: 3 positions, 2 velocities, \"stabilized\" both."},                       \
        {"form",                                                                                                       \
         LG_OPTION_CHOICE,                                                                                             \
         {0, 0},                                                                                                       \
         0,                                                                                                            \
         0,                                                                                                            \
         "exact|printed|printed_half",                                                                                 \
         "The formulas as they stand, the algorithms as printed, or these with the factor 1/2 that line 6 lacks."},    \
        {"start",                                                                                                      \
         LG_OPTION_CHOICE,                                                                                             \
         {0, 0},                                                                                                       \
         0,                                                                                                            \
         0,                                                                                                            \
         "plain|optimal",                                                                                              \
         "\"optimal\" shifts a_0, for index 3 perturbs v_0 too: multipliers of second order from the first step."},    \
        {"predictor",                                                                                                  \
         LG_OPTION_CHOICE,                                                                                             \
         {0, LG_PREDICTOR_EXTRAPOLATE},                                                                                \
         0,                                                                                                            \
         0,                                                                                                            \
         "extrapolate|plain",                                                                                          \
         "First guess: from the last two steps, or zero accelerations and multipliers with the papers' Newton method " \
         "throughout. Printed forms have the latter."},                                                                \
        {"newton",                                                                                                     \
         LG_OPTION_CHOICE,                                                                                             \
         {NAN, -1},                                                                                                    \
         0,                                                                                                            \
         0,                                                                                                            \
         "full|modified",                                                                                              \
         "\"modified\" keeps the matrix while it serves. None: \"modified\" if derivatives are taken by differences "  \
         "of "                                                                                                         \
         "Python functions, else \"full\"."},                                                                          \
        {"tangent_terms",                                                                                              \
         LG_OPTION_CHOICE,                                                                                             \
         {0, 0},                                                                                                       \
         0,                                                                                                            \
         0,                                                                                                            \
         "all|force",                                                                                                  \
         "\"force\" leaves d(M vdot)/dq and d(B^T lambda)/dq out of the matrix."},                                     \
        {"tangent_operator", LG_OPTION_FLAG, {1, -1}, 0, 1, NULL, "Whether T, or P^-1, stands in the matrix."},        \
        {"scaling", LG_OPTION_FLAG, {1, -1}, 0, 1, NULL, "Whether unknowns and rows are scaled like accelerations."},  \
        LG_NEWTON_OPTIONS

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

#endif
