/* The two halves of a solution with the transposed matrix, by the factors of the matrix itself; private to sparse/. */
#ifndef LG_SPARSE_TRANSPOSED_H
#define LG_SPARSE_TRANSPOSED_H

#include "sparse/front.h"

/* In place in z, which holds the unknowns as the plan orders them. The factors are not kept ones. */
void lg_fronts_forward_transposed(const lg_plan *plan, const lg_front_data *data, double *z);
void lg_fronts_backward_transposed(const lg_plan *plan, const lg_front_data *data, double *z);

#endif
