/* What only some systems have, each of which one solver reads: redundant rows, inverse masses, force laws. */
#ifndef LG_SYSTEM_OPTIONAL_H
#define LG_SYSTEM_OPTIONAL_H

#include "system/system.h"

/* Rows around closed loops of which some imply the others: in every loop as many are active as are independent. The
   others are inactive: their phi, phidot, zeta and their rows of B and Z are zero, and so are their multipliers. A
   system begins with a choice of its own; solve/choice.h makes another where that is nearly dependent. */
typedef struct lg_choice {
    int nloops;
    const int *start; /* per loop, nloops + 1: first row. The rows are those that the pattern lists as masked. */
    const int *inactive; /* per row, whether it is inactive at first */
    int mem; /* where it begins in mem: per row 1 if it is not as at first; then a number of solve/choice.h */
} lg_choice;

/* M^-1 of single blocks without the matrix M, for systems with blocks where that takes less work: trees of links, with
   work that grows linearly with the block's velocities. */
typedef struct lg_inverse_mass {
    int (*size)(void *self, int block); /* doubles of the block's factor; -1: it has none, M has to be formed */
    /* Writes the factor at a point's t and q, which lasts as long as the caller keeps it; point->same_q as in `eval`.
       LG_SINGULAR: M is singular but for round-off, and so is its part from this velocity of the block on. */
    lg_status (*factor)(void *self, const lg_point *point, int block, double *factor, int *deficient);
    /* x = M^-1 x for n right-hand sides of the block's nv values, `ld` apart. The factor holds scratch as well. */
    void (*solve)(void *self, int block, double *factor, int n, int ld, double *x);
} lg_inverse_mass;

/* Functions of the user that give forces, for advice when a step fails. */
typedef struct lg_laws {
    const char *(*name)(void *self, int number); /* of number 0, 1, ...; NULL beyond the last one */
    int (*length)(void *self); /* of their values */
    /* A function that fails leaves no error of the user's behind. */
    lg_status (*value)(void *self, const lg_point *point, int number, double *value);
} lg_laws;

#endif
