/* A system made of plain C functions of the state. Python functions are one user of it (bind/callable.c).

   M(t, q) a + gyro(t, q, v) - force(t, q, v) + J(t, q)^T lam = 0, constraint(t, q) = 0, on any blocks. Derivatives that
   are not given are formed by differences. One clique and, if there are constraints, one group couple all blocks; the
   own rows of blocks, such as a unit length, are added here. Matrices are row-major.

   A system on a single block R^n with a potential, its gradient and that of the mass matrix has the functions `pair`
   and `kinetic` of a step; its functions may not depend on t, except for `force`. */
#ifndef LG_SYSTEM_CALLBACK_H
#define LG_SYSTEM_CALLBACK_H

#include "system/callback_function.h"
#include "system/layout.h"
#include "system/system.h"

typedef struct lg_callbacks_spec {
    int nblocks;
    const lg_block_spec *blocks;
    int nrows; /* of `constraint` */
    int nkinks;
    const double *kinks; /* ascending times at which the functions are not smooth */
    unsigned flags; /* of the system: LG_SYSTEM_CONSTANT_MASS, LG_SYSTEM_NEEDS_GIL */
    lg_callback function[LG_CALLS];
    void (*forget)(void); /* drops the error that a function left when it failed; optional */
} lg_callbacks_spec;

typedef struct lg_callbacks lg_callbacks;

/* Copies the whole specification except the objects that the functions' `self` point to. On failure the report says
   what is wrong. */
lg_status lg_callbacks_create(const lg_callbacks_spec *spec, lg_callbacks **callbacks, lg_report *report);
void lg_callbacks_free(lg_callbacks *callbacks);
const lg_system *lg_callbacks_system(const lg_callbacks *callbacks);

#endif
