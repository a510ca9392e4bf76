/* The two halves of a solution with the transposed matrix, by the factors of the matrix itself; private to sparse/. */
#ifndef LG_SPARSE_TRANSPOSED_H
#define LG_SPARSE_TRANSPOSED_H

#include "sparse/front.h"

/* In place: z holds the unknowns in the order of the plan. The matrix must not be one whose factors are kept. */
void lg_fronts_forward_transposed(const lg_plan *plan, const lg_front_data *data, double *z);
void lg_fronts_backward_transposed(const lg_plan *plan, const lg_front_data *data, double *z);

#endif
