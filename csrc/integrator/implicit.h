/* What generalized-alpha and HHT share. */
#ifndef LG_INTEGRATOR_IMPLICIT_H
#define LG_INTEGRATOR_IMPLICIT_H

#include "integrator/stepper.h"
#include "solve/newton.h"

/* The settings of Newton's method from LG_NEWTON_OPTIONS. */
lg_newton_settings lg_newton_options(const lg_stepper *self);

#endif
