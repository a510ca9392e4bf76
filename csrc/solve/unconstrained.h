/* Accelerations of bodies under given multipliers of their joints: a, and the multipliers of the blocks' own rows (o),
   from

       [ M    B_o^T ] [ a     ]   [ force - gyro - B_j^T lam_j ]
       [ B_o  0     ] [ lam_o ] = [ zeta_o                     ]

   Without the rows of joints (j), the matrix falls apart into the sets of blocks that M couples. A constant mass is
   kept factored; see kkt.h. */
#ifndef LG_SOLVE_UNCONSTRAINED_H
#define LG_SOLVE_UNCONSTRAINED_H

#include "solve/linearised.h"

typedef struct lg_unconstrained {
    lg_plan *plan;
    int nown; /* own rows of all blocks, which are the last constraint rows */
    lg_matrix matrix;
    lg_kkt kkt;
    double *x; /* right-hand side, then solution: velocities, own rows */
    double *Btlam; /* nv */
    int singular; /* the last solution was the index-1 one */
} lg_unconstrained;

/* Makes the plan, which lg_unconstrained_close frees. */
lg_status lg_unconstrained_open(lg_unconstrained *unconstrained, const lg_system *system);
/* After lg_accel_layout: where M^-1 of blocks takes the place of a matrix in `accel`, so it does here. */
void lg_unconstrained_layout(lg_unconstrained *unconstrained, const lg_accel *accel, lg_arena *arena);
void lg_unconstrained_close(lg_unconstrained *unconstrained);

/* Computes a (nv) at point->t, q, v and mem. lam (nrows) holds the multipliers of joints; those of own rows are set. If
   this matrix is singular but the one with the joints is not, as for a body without inertia about an axis, a is the
   index-1 acceleration. */
lg_status lg_unconstrained_solve(lg_unconstrained *unconstrained, lg_accel *accel, const lg_point *point, double *a,
                                 double *lam, lg_report *report);

/* The derivatives of this solution for parameter k along (dq, dv), at its point with a and lam, which has been
   linearised. dlam (nrows) holds those of multipliers of joints; da and those of own rows are set. */
lg_status lg_unconstrained_slopes(lg_unconstrained *unconstrained, lg_linearised *l, const lg_point *point, int k,
                                  const double *dq, const double *dv, double *da, double *dlam);

/* The transposed map for `count` parameters: from the adjoint of a and lam to that of the multipliers of joints, in the
   place of lam, and to that of q and v, which is added, with the share of each parameter. */
lg_status lg_unconstrained_adjoint(lg_unconstrained *unconstrained, lg_linearised *l, const lg_point *point, int count,
                                   const double *a, double *lam, double *q, double *v, double *gradient);

#endif
