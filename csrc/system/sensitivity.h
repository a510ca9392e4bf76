/* Derivatives of a system's terms by parameters, and second derivatives by the state: optional, for runs with
   sensitivities and for linear analysis. */
#ifndef LG_SYSTEM_SENSITIVITY_H
#define LG_SYSTEM_SENSITIVITY_H

#include "system/system.h"

/* Factors of terms; NULL: zeros. */
typedef struct lg_term_weights {
    const double *forces; /* nv: of the residual M a + gyro - force + B^T lam */
    const double *phi, *phidot, *zeta; /* nrows; the latter of -zeta, as in B a - zeta */
    const double *reactions; /* nv: of M a + B^T lam alone; NULL if there are `forces` */
} lg_term_weights;

struct lg_sensitivity {
    int count; /* parameters, by which one differentiates by their numbers; 0: the next three are not called */
    int nwork; /* doubles of scratch that a point must bring to these behind those of the system */
    /* Writes to all that is wanted its derivative by a parameter at fixed t, q, v, a, lam and memory; adds that of S to
       the matrices of the tangents. The work grows with the number of elements that depend on the parameter, apart from
       setting outputs to zero. The contents of point->work are lost, and point->same_q is not read. */
    lg_status (*eval)(void *self, int parameter, const lg_point *point, const lg_wanted *wanted);
    /* Subtracts the derivative of the residual M a + gyro - force + B^T lam by a parameter from `forces` and adds those
       of rows to phi and phidot (NULL: not wanted). The work grows with the number of elements that depend on the
       parameter alone. The rest is as for `eval`. */
    lg_status (*terms)(void *self, int parameter, const lg_point *point, double *forces, double *phi, double *phidot);
    /* Adds s times the derivatives of the weighted sum of these terms by all parameters to `gradient`. The work grows
       with the number of elements that depend on some parameter. The rest is as for `eval`. */
    lg_status (*weigh)(void *self, const lg_point *point, const lg_term_weights *weights, double s, double *gradient);
    /* Adds the derivatives of the memory at the end of a step, or at a start (from->q NULL), by a parameter at fixed q,
       v and memory before it; the points are those of memory.slopes->open. The contents of to->work are lost. NULL:
       zeros. */
    lg_status (*remember)(void *self, int parameter, const lg_point *from, const lg_point *to, double *mem);
    /* Writes the derivatives of B a - zeta by q and v at fixed a, with the layout of B. The contents of point->work are
       lost. NULL: they are not known in closed form. */
    lg_status (*acceleration_rows)(void *self, const lg_point *point, double *of_q, double *of_v);
};

/* The number of parameters by which a system has derivatives. */
static inline int lg_sensitivity_count(const lg_system *system)
{
    return system->sensitivity ? system->sensitivity->count : 0;
}

/* Doubles of scratch for all of its functions. */
static inline int lg_sensitivity_work(const lg_system *system)
{
    return system->nwork + (system->sensitivity ? system->sensitivity->nwork : 0);
}

#endif
