/* Option rows that several methods share. */
#ifndef LG_INTEGRATOR_OPTIONS_H
#define LG_INTEGRATOR_OPTIONS_H

/* What explicit methods do about the drift: the choices are LG_PROJECT_POSITION and LG_PROJECT_VELOCITY added up. */
#define LG_PROJECT_OPTION                                                                                              \
    {"project",                                                                                                        \
     LG_OPTION_CHOICE,                                                                                                 \
     {0, 0},                                                                                                           \
     0,                                                                                                                \
     0,                                                                                                                \
     "none|position|velocity|both",                                                                                    \
     "Constraints onto which the end of each step is moved, by the shortest way in the mass metric."}

/* Three rows, to be read by lg_newton_options. */
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

enum { LG_NEWTON_RTOL, LG_NEWTON_ATOL, LG_NEWTON_MAX_ITER, LG_NEWTON_OPTION_COUNT };

#endif
