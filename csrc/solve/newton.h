/* Newton's method on [force rows; constraint rows], shared by every implicit method on any system.

   One iteration is one linear solve; the residual is tested before each. The two kinds of rows are measured apart:
   force rows by their 2-norm over sqrt(n), against rtol times the first one plus atol; constraint rows by their largest
   value, against rtol times the first one. Neither has to fall below its own round-off, the noise; and a correction
   that no longer changes the coordinates ends the iteration as well, if the constraint rows are down to noise. */
#ifndef LG_SOLVE_NEWTON_H
#define LG_SOLVE_NEWTON_H

#include "core/matrix.h"
#include "core/status.h"

typedef struct lg_newton_settings {
    double rtol, atol;
    int max_iter;
} lg_newton_settings;

typedef struct lg_norms {
    double force, rows;
} lg_norms;

typedef struct lg_newton_problem {
    void *self;
    int nforce, nrows;
    const lg_matrix *matrix;
    /* The residual at the present unknowns, force rows first, and its noise; the matrix' dynamic part too on demand. */
    lg_status (*evaluate)(void *self, int with_matrix, double *residual, lg_norms *noise);
    /* Completes and factors the matrix where `evaluate` has last been; its dynamic part may be there already. */
    lg_status (*factor)(void *self, int with_matrix);
    /* unknowns -= correction; whether that was below the round-off of the coordinates. */
    int (*update)(void *self, const double *correction);
} lg_newton_problem;

typedef struct lg_newton_result {
    int iterations; /* in: how many are likely, so that the matrix is formed in the same pass; out: how many it took */
    double residual; /* last norm of the force rows */
} lg_newton_result;

/* residual: room for nforce + nrows. LG_NO_CONVERGENCE, LG_NOT_FINITE, or what the problem's functions return. */
lg_status lg_newton(const lg_newton_problem *problem, const lg_newton_settings *settings, double *residual,
                    lg_newton_result *result);

#endif
