/* Dense kernels on one front of the block-sparse matrix; private to sparse/. */
#ifndef LG_SPARSE_FRONT_H
#define LG_SPARSE_FRONT_H

#include "sparse/start.h"

/* Factors the pivot block, P D = L_D U_D, turns the panels into L U_D^-1 and L_D^-1 P U and subtracts their products
   from the later fronts. LG_SINGULAR: *deficient is the pivot unknown that failed (0 to n - 1). A kept pivot block is
   not factored again. What the front is the first to change is started. */
lg_status lg_front_factor(const lg_plan *plan, const lg_front *front, const lg_front_data *data, int *deficient);

/* Turns the factors of a pivot block that depends on S alone into what is kept; its panels are no longer valid. */
void lg_front_keep(const lg_front *front, const lg_front_data *data);

/* The two halves of a solution, in place in z, which holds the unknowns as the plan orders them: the first one at one
   front, and both at all fronts. */
void lg_front_forward(const lg_plan *plan, const lg_front *front, const lg_front_data *data, double *z);
void lg_fronts_forward(const lg_plan *plan, const lg_front_data *data, double *z);
void lg_fronts_backward(const lg_plan *plan, const lg_front_data *data, double *z);

#endif
