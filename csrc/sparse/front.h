/* Dense kernels on one front of the block-sparse matrix; private to sparse/. */
#ifndef LG_SPARSE_FRONT_H
#define LG_SPARSE_FRONT_H

#include "core/poll.h"
#include "sparse/fronts.h"

typedef struct lg_front_data {
    const double *values; /* assembled */
    double *factors;
    int keeps; /* S has not changed since lg_front_keep: only the panels of constant fronts are formed anew */
    int symmetric; /* the lower triangle stands for both; every front is factored from `factors` */
    int summed; /* the diagonal is a sum of terms, which `growth` holds at first */
    double *growth; /* per pivot unknown: sum of |terms| subtracted from its diagonal entry so far */
    double *scratch; /* n + m + LG_CHUNK of the largest front */
    int *pivots; /* per front: the permutation of its rows */
    double watch; /* pivots of watched fronts below this part of their terms are weak */
    double *weakest; /* the least part of weak pivots, for factorisations */
    lg_poll *poll; /* asked between the panels of a large front */
} lg_front_data;

/* Factors the pivot block, P D = L_D U_D, turns the panels into L U_D^-1 and L_D^-1 P U and subtracts their products
   from the later fronts. LG_SINGULAR: *deficient is the pivot unknown that failed (0 to n - 1). A kept pivot block is
   not factored again. */
lg_status lg_front_factor(const lg_plan *plan, const lg_front *front, const lg_front_data *data, int *deficient);

/* Turns the factors of a pivot block that depends on S alone into what is kept; its panels are no longer valid. */
void lg_front_keep(const lg_front *front, const lg_front_data *data);

/* The two halves of a solution, in place in z, which holds the unknowns as the plan orders them. */
void lg_front_forward(const lg_plan *plan, const lg_front *front, const lg_front_data *data, double *z);
void lg_front_backward(const lg_plan *plan, const lg_front *front, const lg_front_data *data, double *z);

#endif
