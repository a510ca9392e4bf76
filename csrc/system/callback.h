/* A system made of plain C functions of the state. Python functions are one user of it (bind/callable.c).

   M(t, q) a + gyro(t, q, v) - force(t, q, v) + J(t, q)^T lam = 0, constraint(t, q) = 0, on any blocks. Derivatives that
   are not given are formed by differences. One clique and, if there are constraints, one group join all blocks; the
   own rows of blocks, such as a unit length, are added here. Matrices are row-major.

   A system on a single block R^n with a potential, its gradient and that of the mass matrix has the functions `pair`
   and `kinetic` of a step; its functions may not depend on t, except for `force`. */
#ifndef LG_SYSTEM_CALLBACK_H
#define LG_SYSTEM_CALLBACK_H

#include "system/layout.h"
#include "system/system.h"

/* The arguments of a function: t and q; v; a and lam, the multipliers of `constraint`. At a kink, t is moved by one
   rounding error to the side on which the function is to be evaluated. */
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
               LG_CALL_GYRO, /* (t, q, v): nv; by default 0 */
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

typedef struct lg_callbacks_spec {
    int nblocks;
    const lg_block_spec *blocks;
    int nrows; /* of `constraint` */
    int nkinks;
    const double *kinks; /* ascending times at which the functions are not smooth */
    unsigned flags; /* of the system: LG_SYSTEM_CONSTANT_MASS, LG_SYSTEM_NEEDS_GIL */
    lg_callback function[LG_CALLS];
} lg_callbacks_spec;

typedef struct lg_callbacks lg_callbacks;

/* Copies the whole specification except the objects that the functions' `self` point to. On failure the report says
   what is wrong. */
lg_status lg_callbacks_create(const lg_callbacks_spec *spec, lg_callbacks **callbacks, lg_report *report);
void lg_callbacks_free(lg_callbacks *callbacks);
const lg_system *lg_callbacks_system(const lg_callbacks *callbacks);

#endif
