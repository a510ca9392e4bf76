/* Bristles of contacts that follow the motion of their bodies through a step. */
#ifndef LG_MODEL_BRISTLES_H
#define LG_MODEL_BRISTLES_H

#include "model/force/path.h"
#include "model/private.h"

int lg_model_count_bristles(const lg_model *m);
/* At the end of a step, after `commit` has taken all of them straight there. Kinematics of `to` are known, also
   afterwards. */
lg_status lg_model_follow(const lg_model *m, const lg_point *from, const lg_point *to, double *mem);
void lg_bristle_ends(const lg_force *force, const lg_point *at, lg_ends *out); /* at known kinematics */
/* lg_memory_rules.error */
lg_status lg_model_memory_error(void *self, const lg_point *from, const lg_point *to, double rtol, double atol,
                                lg_memory_error *error);

#endif
