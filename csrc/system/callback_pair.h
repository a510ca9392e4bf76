/* The functions of a step for a system made of functions. */
#ifndef LG_SYSTEM_CALLBACK_PAIR_H
#define LG_SYSTEM_CALLBACK_PAIR_H

#include "system/callback_work.h"
#include "system/step.h"

extern const lg_steps lg_callback_steps;

#endif
