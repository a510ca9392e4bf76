/* Explicit Runge-Kutta and Runge-Kutta-Munthe-Kaas methods. */
#ifndef LG_INTEGRATOR_RKMK_H
#define LG_INTEGRATOR_RKMK_H

#include "integrator/options.h"
#include "integrator/stepper.h"

extern const lg_stepper_type lg_rkmk; /* of rows with a tableau */

enum { LG_RKMK_PROJECT, LG_RKMK_OPTION_COUNT, LG_PAIR_OPTION_COUNT = LG_RKMK_OPTION_COUNT + LG_CONTROL_OPTION_COUNT };
extern const lg_option lg_rkmk_options[], lg_pair_options[]; /* pairs: embedded methods of two orders */

#endif
