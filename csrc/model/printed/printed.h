/* A step between two states as kinon2024 prints it: attitudes at the middle are not normalised, and gradients are
   corrected along q1 - q0. No other part of a model knows this form. */
#ifndef LG_MODEL_PRINTED_H
#define LG_MODEL_PRINTED_H

#include "model/ends.h"

size_t lg_printed_work(const lg_model *m);
/* The function `pair` of a step; q_m, v: (q0 + q1)/2 and (q1 - q0)/h. */
lg_status lg_printed_pair(const lg_model *m, const lg_pair *pair, const lg_pair_wanted *wanted, int discrete,
                          const double *q_m, const double *v, double *work);

#endif
