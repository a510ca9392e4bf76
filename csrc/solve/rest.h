/* The matrix of a state at rest, factored,

       [ K + mu M + nu D  B^T ]
       [ B                0   ],    K = d(gyro - force + B^T lam)/dq,

   with the penalty of penalty.h in K; values of first-order equations, which have no q, enter it by their v. D is the
   absolute value of the diagonal of K + mu M, against which round-off in a row of K is small: nu D stiffens a direction
   in which K is zero up to round-off. To judge stability the matrix is replaced by its symmetric part: if the forces
   have a potential, both have the same K on the constraints at an equilibrium. */
#ifndef LG_SOLVE_REST_H
#define LG_SOLVE_REST_H

#include "solve/accel.h"
#include "solve/penalty.h"

typedef struct lg_shift { /* factors of M and D, which are added to K */
    double mu, nu;
} lg_shift;

typedef struct lg_rest {
    lg_accel *accel; /* its matrix has the plan for tangents */
    lg_chain *chain;
    lg_penalty penalty;
} lg_rest;

void lg_rest_layout(lg_rest *rest, lg_accel *accel, lg_arena *arena);
/* Call this once, before the first factorisation. */
void lg_rest_open(lg_rest *rest);

/* Assembles and factors the matrix at a point with q and lam. LG_SINGULAR: report->what names a deficient row. */
lg_status lg_rest_factor(lg_rest *rest, const lg_point *point, lg_shift shift, lg_report *report);
/* The same for its symmetric part. */
lg_status lg_rest_factor_symmetric(lg_rest *rest, const lg_point *point, lg_shift shift, lg_report *report);

/* Replaces the right-hand side x, whose last rows are phi, by the solution. */
lg_status lg_rest_solve(const lg_rest *rest, const double *phi, double *x);

/* Counts the negative eigenvalues of the symmetric part of K + mu M + nu D on the constraints. */
lg_status lg_rest_negative(lg_rest *rest, const lg_point *point, lg_shift shift, int *negative, lg_report *report);

/* y = M x at a point */
lg_status lg_rest_mass_times(lg_rest *rest, const lg_point *point, const double *x, double *y);

#endif
