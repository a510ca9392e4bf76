/* Kernels of fronts with a single neighbour, as those of chains and trees of bodies, one for each common pair of sizes;
   private to sparse/. */
#ifndef LG_SPARSE_SINGLE_H
#define LG_SPARSE_SINGLE_H

#include "sparse/start.h"

/* X(n, m): pivot unknowns and those of the neighbour. */
#define LG_SINGLES(X) X(6, 3) X(3, 6) X(6, 5) X(5, 6)

typedef struct lg_single {
    /* As lg_front_factor in front.h. The neighbour starts with what the front subtracts from it. */
    lg_status (*factor)(const lg_plan *, const lg_front *, const lg_front_data *, int *);
    /* The two halves of a solution. */
    void (*forward)(const lg_plan *, const lg_front *, const lg_front_data *, double *);
    void (*backward)(const lg_plan *, const lg_front *, const lg_front_data *, double *);
} lg_single;

extern const lg_single lg_singles[]; /* by the front's `single` */

/* The row of lg_singles for n pivot unknowns and m of the neighbour; 0: none. */
unsigned char lg_single_of(int n, int m);

#endif
