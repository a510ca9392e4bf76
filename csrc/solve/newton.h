/* Newton's method on [force rows; constraint rows], shared by every implicit method on any system.

   One iteration is one linear solve; the residual is tested before each. The kinds of rows are measured apart: force
   rows by their 2-norm over sqrt(n), against rtol times the first one plus atol; each set of constraint rows by its
   largest value, against rtol times the first one. None has to fall below its own round-off, the noise; and where
   a new matrix brings a correction that is round-off of the coordinates and the residual stays, the iteration ends as
   well, if the constraint rows are down to noise: stiff forces make more of that round-off than their own.

   The modified method keeps its matrix, from step to step too, and renews it where an iteration leaves more than half of
   the error or the matrix has served for eight iterations of a step (holzinger2024, 3.4; holzinger2025, 7); from
   the second renewal within a step on, that step goes on with a new matrix in each iteration. */
#ifndef LG_SOLVE_NEWTON_H
#define LG_SOLVE_NEWTON_H

#include "core/status.h"
#include "sparse/matrix.h"

enum { LG_ROW_SETS = 2 };

typedef struct lg_newton_settings {
    double rtol, atol;
    int max_iter;
    int modified;
    int good_guess; /* rtol refers to the size of the residual's terms where the first residual is below it */
} lg_newton_settings;

typedef struct lg_norms {
    double force, rows[LG_ROW_SETS];
} lg_norms;

typedef struct lg_newton_problem {
    void *self;
    int nforce, nrows, sets; /* sets of nrows constraint rows follow the force rows */
    /* The residual at the present unknowns, force rows first; its noise and the size of its terms; the matrix' dynamic
       part too on demand. */
    lg_status (*evaluate)(void *self, int with_matrix, double *residual, lg_norms *noise, lg_norms *size);
    /* Completes and factors the matrix where `evaluate` has last been; its dynamic part may be there already. */
    lg_status (*factor)(void *self, int with_matrix);
    /* Residual in, correction out. */
    lg_status (*solve)(void *self, double *x);
    /* unknowns -= correction; whether that was below the round-off of the coordinates. */
    int (*update)(void *self, const double *correction);
} lg_newton_problem;

typedef struct lg_newton_result {
    int iterations; /* in: how many are likely, so that the matrix is formed in the same pass; out: how many it took */
    int factored; /* in and out: there is a matrix that the modified method may use */
    double residual; /* last norm of the force rows */
    int worst; /* out, on failure: the row of the residual that is furthest from converged, -1 if there was none */
} lg_newton_result;

/* residual: room for nforce + sets nrows. LG_NO_CONVERGENCE, LG_NOT_FINITE, or what the problem's functions return. */
lg_status lg_newton(const lg_newton_problem *problem, const lg_newton_settings *settings, double *residual,
                    lg_newton_result *result);

#endif
