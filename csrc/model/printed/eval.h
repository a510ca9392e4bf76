/* The terms of a point in the printed form, where bodies stretch what they turn (frame.h). */
#ifndef LG_MODEL_PRINTED_EVAL_H
#define LG_MODEL_PRINTED_EVAL_H

#include "model/private.h"

/* Computes force, Btlam, phi, phidot, B, Z and one tangent without the inertia, like `eval` of a system. `lam`: the
   multipliers; `scaled`: room for those that kernels see. S and phidot need phi and B. */
lg_status lg_printed_eval(const lg_model *m, const lg_point *at, const double *lam, double *scaled,
                          const lg_wanted *want);

#endif
