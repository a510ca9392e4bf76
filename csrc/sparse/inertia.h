/* The inertia of a pivot block from its factors; private to sparse/. */
#ifndef LG_SPARSE_INERTIA_H
#define LG_SPARSE_INERTIA_H

/* How many eigenvalues of a pivot block D are negative, given P D = L U as front.h leaves it: reciprocal pivots on the
   diagonal, perm[r] the row of D that stands in row r. D is symmetric up to round-off. Factors and permutation are
   overwritten; scratch has n doubles. */
int lg_pivot_negative(int n, double *D, int *perm, double *scratch);

#endif
