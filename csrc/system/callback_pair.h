/* The functions of a step for a system made of functions. */
#ifndef LG_SYSTEM_CALLBACK_PAIR_H
#define LG_SYSTEM_CALLBACK_PAIR_H

#include "system/callback_work.h"

lg_status lg_callback_pair(void *self, const lg_pair *pair, const lg_pair_wanted *wanted);
lg_status lg_callback_kinetic(void *self, const lg_pair *pair, const lg_kinetic_wanted *wanted);
int lg_callback_without_step(void *self, const lg_pair *pair);
/* How many doubles of scratch they need. */
size_t lg_callback_pair_work(const lg_callbacks *self);

#endif
