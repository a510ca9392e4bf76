/* The only interface to LAPACK. Column-major; the callers own all memory. */
#ifndef LG_SPARSE_LINALG_H
#define LG_SPARSE_LINALG_H

#include "core/status.h"

/* P L U of an n x n matrix in place. LG_SINGULAR: *deficient is the column of the smallest pivot. */
lg_status lg_dense_factor(int n, double *A, int *pivots, int *deficient);
void lg_dense_solve(int n, const double *A, const int *pivots, double *x);
void lg_dense_solve_transposed(int n, const double *A, const int *pivots, double *x);

/* How many eigenvalues of a symmetric matrix, of which the lower triangle is read, are negative. It overwrites A;
   pivots and work have n entries each. */
int lg_dense_negative(int n, double *A, int *pivots, double *work);

/* Makes LAPACK use one thread: the matrices are small and results must not depend on the number of threads. */
void lg_dense_single_thread(void);

#endif
