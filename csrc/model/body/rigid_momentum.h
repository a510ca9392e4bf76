/* The momentum of a rigid body in a step. */
#ifndef LG_MODEL_RIGID_MOMENTUM_H
#define LG_MODEL_RIGID_MOMENTUM_H

#include "model/body/momentum.h"

extern const lg_body_step lg_rigid_step;

#endif
