/* Generalized-alpha methods. */
#ifndef LG_INTEGRATOR_GENALPHA_H
#define LG_INTEGRATOR_GENALPHA_H

#include "integrator/stepper.h"

/* A family of parameters: alpha_m = (m0 + m1 rho)/(1 + rho), alpha_f = (f0 + f1 rho)/(1 + rho) with the spectral
   radius rho at infinity; always gamma = 1/2 - alpha_m + alpha_f (order two), beta = (gamma + 1/2)^2/4 (damping). */
typedef struct lg_alpha_rule {
    double m[2], f[2];
    int first_option; /* the row has the options from here on */
} lg_alpha_rule;

extern const lg_alpha_rule lg_chung_hulbert, lg_average_acceleration;

extern const lg_stepper_type lg_genalpha; /* coefficients: an lg_alpha_rule */

extern const lg_option lg_genalpha_options[], lg_newmark_options[]; /* the latter from sigma on */
enum {
    LG_GENALPHA_RHO_INF,
    LG_GENALPHA_SIGMA,
    LG_GENALPHA_INDEX,
    LG_GENALPHA_FORM,
    LG_GENALPHA_START,
    LG_GENALPHA_PREDICTOR,
    LG_GENALPHA_MODE,
    LG_GENALPHA_TERMS,
    LG_GENALPHA_OPERATOR,
    LG_GENALPHA_SCALING,
    LG_GENALPHA_NEWTON,
    LG_GENALPHA_OPTION_COUNT = LG_GENALPHA_NEWTON + 3,
    LG_NEWMARK_OPTION_COUNT = LG_GENALPHA_OPTION_COUNT - LG_GENALPHA_SIGMA
};

#endif
