/* Explicit Runge-Kutta and Runge-Kutta-Munthe-Kaas methods. */
#ifndef LG_INTEGRATOR_RKMK_H
#define LG_INTEGRATOR_RKMK_H

#include "integrator/stepper.h"

extern const lg_stepper_type lg_rkmk; /* of rows with a tableau */

#endif
