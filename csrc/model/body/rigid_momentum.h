/* The momentum of a rigid body in a step: verbs of its row. */
#ifndef LG_MODEL_RIGID_MOMENTUM_H
#define LG_MODEL_RIGID_MOMENTUM_H

#include "model/body/body.h"

lg_status lg_rigid_momentum(lg_span bodies, const lg_pair *pair, const lg_kinetic_wanted *wanted);
int lg_rigid_has_momentum(const lg_body *b);

#endif
