/* A complex matrix on the plan of real ones: its real and its imaginary part are two matrices, each assembled like any
   other, whose factors together are those of the complex one. */
#ifndef LG_SPARSE_COMPLEX_H
#define LG_SPARSE_COMPLEX_H

#include "sparse/matrix.h"

/* There is no dense fall-back: LG_SINGULAR if a pivot is too small. */
lg_status lg_complex_factor(lg_matrix *re, lg_matrix *im);

/* Real and imaginary part of a right-hand side in, those of the solution out. */
lg_status lg_complex_solve(const lg_matrix *re, const lg_matrix *im, double *x_re, double *x_im);

#endif
