/* The functions that a system is made of. */
#ifndef LG_SYSTEM_CALLBACK_FUNCTION_H
#define LG_SYSTEM_CALLBACK_FUNCTION_H

#include "core/status.h"

/* The arguments of a function: t and q; v; a and lam, the multipliers of `constraint`. At a kink, t is moved by one
   rounding error to the side where the function is to be evaluated. */
typedef struct lg_callback_point {
    double t;
    const double *q, *v, *a, *lam;
} lg_callback_point;

typedef struct lg_callback {
    lg_status (*call)(void *self, const lg_callback_point *at, double *out); /* NULL: not given */
    void *self;
} lg_callback;

enum lg_call { /* the functions: their arguments and the size of `out` */
               LG_CALL_MASS, /* (t, q): nv x nv; required */
               LG_CALL_FORCE, /* (t, q, v): nv; required */
               LG_CALL_GYRO, /* (t, q, v): nv; 0 if not given */
               LG_CALL_CONSTRAINT, /* (t, q): nrows; required if nrows > 0 */
               LG_CALL_JACOBIAN, /* (t, q): J, nrows x nv, d(constraint)/dt = J v + explicit time terms; likewise */
               LG_CALL_ACCELERATION, /* (t, q, v): nrows, -(dJ/dt) v - explicit time terms */
               LG_CALL_TANGENT, /* (t, q, v, a, lam): K and D, nv x nv: d(M a + gyro - force + J^T lam)/dq and /dv */
               LG_CALL_ENERGY, /* (t, q, v): T, V */
               LG_CALL_POTENTIAL, /* (t, q): V, whose negative gradient is part of `force` */
               LG_CALL_POTENTIAL_GRADIENT, /* (t, q): nv */
               LG_CALL_MASS_GRADIENT, /* (t, q): nv x nv x nv, entry (i, j, k) is the derivative of M_ij by q_k */
               LG_CALLS
};

#endif
