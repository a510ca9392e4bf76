/* Generalized-alpha methods. */
#ifndef LG_INTEGRATOR_GENALPHA_H
#define LG_INTEGRATOR_GENALPHA_H

#include "integrator/stepper.h"

/* A family of parameters, alpha_m and alpha_f as functions of one option; always gamma = 1/2 - alpha_m + alpha_f (order
   two), beta = (gamma + 1/2)^2/4 (damping). */
typedef struct lg_alpha_rule {
    const char *option; /* NULL: the parameters are fixed */
    double (*alpha_m)(double), (*alpha_f)(double);
} lg_alpha_rule;

/* chung1993; Newmark's average acceleration; HHT on accelerations, alpha_m = 0 and alpha_f = -alpha */
extern const lg_alpha_rule lg_chung_hulbert, lg_average_acceleration, lg_hilber_hughes_taylor;

extern const lg_stepper_type lg_genalpha; /* coefficients: an lg_alpha_rule */

enum { LG_NEWMARK_OPTION_COUNT = 12, LG_GENALPHA_OPTION_COUNT };
extern const lg_option lg_genalpha_options[LG_GENALPHA_OPTION_COUNT], lg_newmark_options[LG_NEWMARK_OPTION_COUNT];

#endif
