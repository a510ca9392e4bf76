/* The last resort for saddle-point matrices whose constraint rows are nearly dependent: dense factors with complete
   pivoting,

       [ S  B^T ]     S is nv x nv, D is zero but for the ones of inactive rows
       [ C  D   ]

   If rows differ by d from combinations of others, pivots out of S leave d^2 of them, and pivots out of B^T and C leave
   d. S is therefore scaled far down, so that its entries become pivots last. */
#ifndef LG_SPARSE_PIVOTED_H
#define LG_SPARSE_PIVOTED_H

#include "core/status.h"

#include <stddef.h>

enum { LG_PIVOTED_LIMIT = 2048 }; /* unknowns: complete pivoting takes n^3 / 3 comparisons */

/* Doubles of A: the matrix, scales of its rows and of its columns, and scratch. Numbers in `order`: 2 n. */
static inline size_t lg_pivoted_size(int n)
{
    return (size_t)n * ((size_t)n + 3);
}

/* Scales rows, then columns, so that their largest entry is one: pivots become comparable whatever the units. */
void lg_dense_equilibrate(int n, double *A, double *row, double *column);

/* In place. LG_SINGULAR: a pivot is round-off. */
lg_status lg_pivoted_factor(int n, int nv, double *A, int *order);
void lg_pivoted_solve(int n, double *A, const int *order, double *x);
void lg_pivoted_solve_transposed(int n, double *A, const int *order, double *x);

#endif
