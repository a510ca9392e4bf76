/* Newton's method on [force rows; constraint rows], shared by every implicit method on any system.

   One iteration is one linear solve. The kinds of rows are measured separately: force rows by their 2-norm over
   sqrt(n), against rtol times the first one plus atol; each set of constraint rows by its largest value, against rtol
   times the first one. With `together` one 2-norm of all rows is measured against rtol times the first one or atol,
   whichever is larger, the constraint rows without their scale, as in the papers' algorithms and program
   (holzinger2024, Algorithm 5; holzinger2025, Algorithm 1). No residual has to fall below its own round-off, the noise.
   The error is the largest ratio of a residual to its bound; the method has converged when the error is at most 1. The
   iteration also ends if a correction by a new matrix is round-off of the coordinates, the residual no longer falls,
   the constraint rows are down to noise, each to that of its own terms, and the force rows change by as much where the
   coordinates move by their round-off: stiff forces amplify it beyond the forces' own.

   There are two policies of when to end.

   `plain`, the policy of the papers: the residual is tested before and after each correction.

   The other policy assumes a good first guess: rtol refers to the size of the residual's terms if that is larger than
   the first residual. Each step makes at least one correction and evaluates the residual after it only if necessary:
   with a known contraction c, c times the error <= 1/4 ends the step. The contraction of a new matrix, measured in this
   step or an earlier one, is taken to grow with the error, that of a reused matrix with its age. A step is tested to
   its end if it is the first after a reset or a change of h, if the seven steps before it were not tested, and if its
   first error is a surprise: more than four times that of the step before, or a residual above a tenth of its terms.
   After a surprise the next 32 steps are tested as well, since a force without declared kinks that has switched on will
   switch off again. With `measures`, a step trusts only contractions of its own, and surprises do not count.

   With the other policy, corrections after the eighth of a step may be shortened: half of one by a new matrix is taken
   back, up to eight times, where it has not made the error smaller. Forces that level off, as smooth friction does,
   otherwise make corrections go to and fro between both sides of a solution.

   When a new matrix is formed is decided in renewal.h. */
#ifndef LG_SOLVE_NEWTON_H
#define LG_SOLVE_NEWTON_H

#include "core/status.h"
#include "solve/renewal.h"
#include "sparse/matrix.h"

enum { LG_ROW_SETS = 2 };

typedef struct lg_newton_settings {
    double rtol, atol;
    int max_iter;
    int plain; /* the papers' policy */
    int together; /* one norm of all rows decides about convergence */
    int good_guess; /* rtol refers to the size of the residual's terms if that is larger than the first residual */
    int measures; /* a step ends untested only by a contraction that it has measured itself */
    lg_renewal_settings renewal;
} lg_newton_settings;

/* `force`: of the force rows, the 2-norm over sqrt(n); where one norm decides `together`, the 2-norm of the force rows
   and of the constraint rows without their scale. */
typedef struct lg_norms {
    double force, rows[LG_ROW_SETS];
} lg_norms;

/* The norms of a residual, of its round-off and of its terms, which are wanted at the first evaluation of a step;
   `last`: the step is expected to end with this evaluation. */
typedef struct lg_residual_norms {
    lg_norms now, noise, size;
    unsigned char first, together, last;
} lg_residual_norms;

/* What one step hands to the next; all doubles, so that it can be part of the carry. Zeros: nothing is known. */
typedef struct lg_newton_memory {
    /* Contraction of the last measured correction by a new matrix, and the error before it. 0: none measured. */
    double new_contraction, new_error;
    /* Contractions of the first and the last correction by the reused matrix in the last tested step (0: none
       measured), and the number of steps that the matrix had then served. */
    double first_contraction, last_contraction, tested_age;
    double first_error; /* of the last step; 0: no comparable step */
    double untested_steps; /* since the last tested step */
    double steps_to_test; /* number of further steps to be tested after a surprise */
    lg_renewal_memory renewal;
} lg_newton_memory;

enum { LG_NEWTON_MEMORY = sizeof(lg_newton_memory) / sizeof(double) };

typedef struct lg_newton_problem {
    void *self;
    int nforce, nrows, sets; /* sets of nrows constraint rows follow the force rows */
    /* The residual at the present unknowns and its norms; with_matrix: the dynamic part of the matrix as well. */
    lg_status (*evaluate)(void *self, int with_matrix, double *residual, lg_residual_norms *norms);
    /* Completes and factors the matrix at the point of the last `evaluate`; with_matrix: that call has already formed
       its dynamic part; keeps: later steps may use it. */
    lg_status (*factor)(void *self, int with_matrix, int keeps);
    /* Residual in, correction out. */
    lg_status (*solve)(void *self, double *x);
    /* unknowns -= correction */
    void (*update)(void *self, const double *correction);
    /* Whether a correction is below the round-off of the coordinates. */
    int (*is_negligible)(void *self, const double *correction);
    /* The norm of the change of the force rows that round-off of the coordinates makes at the point of the last
       `evaluate`, and, if `of_rows`, round-off of the constraint rows, which moves coordinates the further, the less
       these rows are independent; the residual stays, but the dynamic part of the matrix need not. NULL: a negligible
       correction needs no such evidence. */
    lg_status (*measure_noise)(void *self, int of_rows, double *noise);
    /* By how much the terms of each constraint row, and their round-off, exceed those of ordinary rows, at the last
       matrix (nrows). NULL: all rows are ordinary. */
    const double *(*row_sizes)(void *self);
    /* Keeps the last correction, so that `update` can take back a part of it; NULL: corrections are taken whole. */
    double *correction;
} lg_newton_problem;

typedef struct lg_newton_result {
    int iterations; /* out */
    int matrix_valid; /* in and out: there is a matrix that may be reused */
    int full; /* in: every iteration forms a new matrix */
    double residual; /* last norm of the force rows */
    int evaluated; /* out: the last evaluation was at the solution */
    int worst; /* out, on failure: the row of the residual furthest from convergence; -1: no residual was formed */
} lg_newton_result;

/* residual: an array for all rows. On failure the memory must not be used. Returns LG_NO_CONVERGENCE, LG_NOT_FINITE or
   the status of a problem's function that failed. */
lg_status lg_newton(const lg_newton_problem *problem, const lg_newton_settings *settings, double *residual,
                    lg_newton_memory *memory, lg_newton_result *result);

#endif
