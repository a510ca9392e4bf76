/* The methods of Hilber, Hughes and Taylor, classical and modified. */
#ifndef LG_INTEGRATOR_HHT_H
#define LG_INTEGRATOR_HHT_H

#include "integrator/stepper.h"

extern const lg_stepper_type lg_hht;

extern const lg_option lg_hht_options[];
enum { LG_HHT_ALPHA, LG_HHT_MODIFIED, LG_HHT_TRANSPORT, LG_HHT_NEWTON, LG_HHT_OPTION_COUNT = LG_HHT_NEWTON + 3 };

#endif
