/* Newton's method on [force rows; constraint rows], shared by every implicit method on any system.

   One iteration is one linear solve. The kinds of rows are measured apart: force rows by their 2-norm over sqrt(n),
   against rtol times the first one plus atol; each set of constraint rows by its largest value, against rtol times the
   first one. None has to fall below its own round-off, the noise. The error is the largest ratio of a residual to its
   bound: 1 or less is converged. Where a new matrix brings a correction that is round-off of the coordinates and the
   residual stays, the iteration ends as well, if the constraint rows are down to noise: stiff forces make more of that
   round-off than their own.

   There are two policies.

   `plain`, that of the papers: the residual is tested before and after each correction. The modified method keeps its
   matrix, from step to step too, and renews it where an iteration leaves more than half of the error or the matrix has
   served for eight iterations of a step (holzinger2024, 3.4; holzinger2025, 7); from the second renewal within a step
   on, that step goes on with a new matrix in each iteration.

   Otherwise the start is a good one: rtol refers to the size of the residual's terms if that is larger than the first
   residual. Each step makes a correction, and evaluates after it only if that is needed: with a known contraction c,
   c times the error <= 1/4 ends the step. That of a new matrix, measured in this step or an earlier one, grows with the
   error; that of a kept one with the age of the matrix. A step is tested to its end if it is the first after a reset or
   a change of h, if seven steps have not been, and if its first error is a surprise: more than four times that of the
   step before, or a residual above a tenth of its terms. After a surprise the next 32 steps are tested as well: what
   a force without declared kinks has switched on will be switched off. The kept matrix is renewed where that pays: if what the present step took beyond the least exceeds the mean
   cost of its steps so far, its own making included, which is the best time to replace what wears; and within a step, if
   the iterations still to be expected cost more than a new matrix. */
#ifndef LG_SOLVE_NEWTON_H
#define LG_SOLVE_NEWTON_H

#include "core/status.h"
#include "sparse/matrix.h"

enum { LG_ROW_SETS = 2 };

typedef struct lg_newton_settings {
    double rtol, atol;
    int max_iter;
    int modified;
    int plain; /* the papers' policy */
    int good_guess; /* rtol refers to the size of the residual's terms where the first residual is below it */
    int always_test; /* the caller needs what was evaluated at the solution */
    double matrix_cost; /* of making a new matrix, in iterations */
} lg_newton_settings;

typedef struct lg_norms {
    double force, rows[LG_ROW_SETS];
} lg_norms;

/* Of a residual: its norms, those of its round-off, and those of its terms. */
typedef struct lg_residual_norms {
    lg_norms now, noise, size;
} lg_residual_norms;

/* What one step hands to the next; all doubles, to be carried. Zeros: nothing is known. */
typedef struct lg_newton_memory {
    double fresh,
        fresh_error; /* contraction of a correction by a new matrix, last measured; the error before it. 0: none */
    double kept_first,
        kept_last; /* of the first and the last correction by the kept matrix in a tested step. 0: none */
    double kept_age; /* steps that the matrix had served then */
    double
        first_error; /* of the last step, or half of that before if it is larger; 0: there is none like the one to come */
    double untested; /* steps since the last that was tested */
    double watch; /* steps to come that are tested */
    double age; /* steps that the kept matrix has served */
    double least, extra; /* fewest iterations of such a step; sum over all of what they took beyond it */
    double latest; /* iterations of the last step: as many are expected, and evaluated together with their matrix */
} lg_newton_memory;

enum { LG_NEWTON_MEMORY = sizeof(lg_newton_memory) / sizeof(double) };

typedef struct lg_newton_problem {
    void *self;
    int nforce, nrows, sets; /* sets of nrows constraint rows follow the force rows */
    /* The residual at the present unknowns and its norms; the matrix' dynamic part too on demand. */
    lg_status (*evaluate)(void *self, int with_matrix, double *residual, lg_residual_norms *norms);
    /* Completes and factors the matrix where `evaluate` has last been; its dynamic part may be there already. */
    lg_status (*factor)(void *self, int with_matrix);
    /* Residual in, correction out. */
    lg_status (*solve)(void *self, double *x);
    /* unknowns -= correction; whether that was below the round-off of the coordinates. */
    int (*update)(void *self, const double *correction);
} lg_newton_problem;

typedef struct lg_newton_result {
    int iterations; /* out */
    int matrix_valid; /* in and out: there is a matrix that the modified method may use */
    double residual; /* last norm of the force rows */
    int evaluated; /* out: the last evaluation was at the solution */
    int worst; /* out, on failure: the row of the residual that is furthest from converged, -1 if there was none */
} lg_newton_result;

/* residual: room for all rows. On failure the memory is not to be used. LG_NO_CONVERGENCE, LG_NOT_FINITE, or what the
   problem's functions return. */
lg_status lg_newton(const lg_newton_problem *problem, const lg_newton_settings *settings, double *residual,
                    lg_newton_memory *memory, lg_newton_result *result);

#endif
