/* Derivatives of a system's terms by parameters: optional, for runs with sensitivities and for linear analysis. */
#ifndef LG_SYSTEM_SENSITIVITY_H
#define LG_SYSTEM_SENSITIVITY_H

#include "system/system.h"

/* Factors of terms; NULL: zeros. */
typedef struct lg_term_weights {
    const double *forces; /* nv: of the residual M a + gyro - force + B^T lam */
    const double *phi, *phidot, *zeta; /* nrows; the latter of -zeta, as in B a - zeta */
    const double *reactions; /* nv: of M a + B^T lam alone */
} lg_term_weights;

struct lg_sensitivity {
    int count; /* parameters, by which one differentiates by their numbers */
    int nwork; /* doubles of scratch that a point must bring here; those of the system are the first of them */
    /* Writes to all that is wanted its derivative by a parameter at fixed t, q, v, a, lam and memory; adds that of S to
       the matrices of the tangents. The work grows with the number of elements that depend on the parameter, apart from
       setting outputs to zero. The contents of point->work are lost, and point->same_q is not read. */
    lg_status (*eval)(void *self, int parameter, const lg_point *point, const lg_wanted *wanted);
    /* Adds the derivative of the weighted sum of these terms to *sum, by work that does not depend on the size of the
       model. The rest is as for `eval`. */
    lg_status (*weigh)(void *self, int parameter, const lg_point *point, const lg_term_weights *weights, double *sum);
};

#endif
