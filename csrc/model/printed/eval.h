/* The terms of a point where bodies stretch what they turn. */
#ifndef LG_MODEL_PRINTED_EVAL_H
#define LG_MODEL_PRINTED_EVAL_H

#include "model/private.h"

/* force, Btlam, phi, phidot, B, Z and one tangent without the inertia, as the waist's `eval`. lam: the multipliers,
   where at->lam has room for those of the kernels. S and phidot need phi and B. */
lg_status lg_printed_eval(const lg_model *m, const lg_point *at, const double *lam, double *scaled,
                          const lg_wanted *want);

#endif
