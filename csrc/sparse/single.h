/* Kernels of fronts with a single neighbour, as those of chains and trees of bodies, one for each common pair of sizes;
   private to sparse/. */
#ifndef LG_SPARSE_SINGLE_H
#define LG_SPARSE_SINGLE_H

#include "sparse/start.h"

/* X(n, m): pivot unknowns and those of the neighbour. */
#define LG_SINGLES(X) X(6, 3) X(3, 6) X(6, 5) X(5, 6)

#define LG_SINGLE_NAME(N, M) LG_SINGLE_##N##_##M,
/* Rows of lg_singles. The last two are a body of 6 that its joint may pin to the next one, and the joint. */
enum { LG_NO_SINGLE, LG_SINGLES(LG_SINGLE_NAME) LG_SINGLE_PINNED, LG_SINGLE_PINNING };

typedef struct lg_single {
    /* As lg_front_factor in front.h. The neighbour starts with what the front subtracts from it. */
    lg_status (*factor)(const lg_plan *, const lg_front *, const lg_front_data *, int *);
    /* The two halves of a solution. */
    void (*forward)(const lg_plan *, const lg_front *, const lg_front_data *, double *);
    void (*backward)(const lg_plan *, const lg_front *, const lg_front_data *, double *);
} lg_single;

extern const lg_single lg_singles[]; /* by the front's `single` */

/* Whether the last factorisation has pinned the body of a front, or a body to the joint of this one. */
static inline int lg_is_pinned(const lg_front *front, const int *pivots)
{
    return front->single >= LG_SINGLE_PINNED && pivots[front->pivot] < 0;
}

/* The row of lg_singles for n pivot unknowns and m of the neighbour; 0: none. */
unsigned char lg_single_of(int n, int m);

#endif
