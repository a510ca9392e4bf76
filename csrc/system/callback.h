/* A system made of plain C functions of the state. Python functions are one user of it (bind/callable.c).

   M(t, q) a + gyro(t, q, v) - force(t, q, v) + J(t, q)^T lam = 0, constraint(t, q) = 0, on any blocks. What is not given
   is taken by differences. One clique and, if there are constraints, one group join all blocks; rows that blocks have of
   their own, such as a unit length, are added here. Matrices are row-major. */
#ifndef LG_SYSTEM_CALLBACK_H
#define LG_SYSTEM_CALLBACK_H

#include "system/layout.h"
#include "system/system.h"

/* What a function may read: t and q; v; a and lam, the multipliers of `constraint`. At a kink, t lies a rounding error to
   the side that is meant. */
typedef struct lg_callback_point {
    double t;
    const double *q, *v, *a, *lam;
} lg_callback_point;

typedef struct lg_callback {
    lg_status (*call)(void *self, const lg_callback_point *at, double *out); /* NULL: not given */
    void *self;
} lg_callback;

enum lg_call { /* of what, and how large `out` is */
               LG_CALL_MASS, /* (t, q): nv x nv; needed */
               LG_CALL_FORCE, /* (t, q, v): nv; needed */
               LG_CALL_GYRO, /* (t, q, v): nv; by default 0 */
               LG_CALL_CONSTRAINT, /* (t, q): nrows; needed where there are rows */
               LG_CALL_JACOBIAN, /* (t, q): J, nrows x nv, d(constraint)/dt = J v + explicit time terms; needed with it */
               LG_CALL_ACCELERATION, /* (t, q, v): nrows, -(dJ/dt) v - explicit time terms */
               LG_CALL_TANGENT, /* (t, q, v, a, lam): K, then D, nv x nv each: d(M a + gyro - force + J^T lam)/dq and /dv */
               LG_CALL_ENERGY, /* (t, q, v): T, V */
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

/* Copies everything but what the functions' `self` point to. On failure the report says what is wrong. */
lg_status lg_callbacks_create(const lg_callbacks_spec *spec, lg_callbacks **callbacks, lg_report *report);
void lg_callbacks_free(lg_callbacks *callbacks);
const lg_system *lg_callbacks_system(const lg_callbacks *callbacks);

#endif
