/* The kinetic energy in a step between two states, body by body: functions of steps. */
#ifndef LG_MODEL_KINETIC_H
#define LG_MODEL_KINETIC_H

#include "system/step.h"

lg_status lg_model_kinetic(void *self, lg_kinetics kinetics, const lg_pair *pair, const lg_kinetic_wanted *wanted);
int lg_model_without_step(void *self, lg_kinetics kinetics);

#endif
