/* Generalized-alpha methods. */
#ifndef LG_INTEGRATOR_GENALPHA_H
#define LG_INTEGRATOR_GENALPHA_H

#include "integrator/stepper.h"

/* A family of parameters, alpha_m and alpha_f as functions of the damping; always gamma = 1/2 - alpha_m + alpha_f
   (order two), beta = (gamma + 1/2)^2/4 (damping). */
typedef struct lg_alpha_rule {
    double (*alpha_m)(double), (*alpha_f)(double);
} lg_alpha_rule;

/* chung1993; Newmark's average acceleration; HHT on accelerations, alpha_m = 0 and alpha_f = -alpha */
extern const lg_alpha_rule lg_chung_hulbert, lg_average_acceleration, lg_hilber_hughes_taylor;

extern const lg_stepper_type lg_genalpha; /* coefficients: an lg_alpha_rule */

extern const lg_option_rows lg_genalpha_rows, lg_newmark_rows;

#endif
