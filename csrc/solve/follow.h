/* Derivatives of a state that follow a projection, of every correction of q or v.

   With the matrix [M B^T; B 0] at q, which is factored there, a correction of positions is the delta with

       M delta + B^T lam = 0     B delta = -phi     q' = q exp(delta)

   and one of velocities has delta_v and -phidot, to which Z delta is added if positions are corrected at the same
   time. The derivatives of both are the solutions with the same matrix for what M, B, phi and phidot change by. */
#ifndef LG_SOLVE_FOLLOW_H
#define LG_SOLVE_FOLLOW_H

#include "group/moves.h"
#include "solve/linearised.h"

typedef struct lg_follower {
    lg_linearised *linear; /* of the solver whose projections it follows; set this before lg_follow_layout */
    int count; /* of parameters */
    double *dq, *dv; /* the derivatives of the state, nv for each parameter, which corrections change */
    lg_moves moves;
    lg_chain *chain;
    double *Z; /* room for d(phidot)/dq */
    double *turn, *dturn; /* the last correction of positions, and its derivatives */
    double *q; /* where it began */
    double *x, *v; /* a right-hand side, and room for velocities */
} lg_follower;

/* Memory for derivatives by so many parameters. */
void lg_follow_layout(lg_follower *follower, int nparameters, lg_arena *arena);

/* Before q changes by the correction that stands in the solver's x, with its multipliers. `waits`: one of velocities is
   to come with the same matrix, and only then do the derivatives of q change. */
lg_status lg_follow_position(lg_follower *follower, const lg_point *point, int waits);
/* Before v changes by the one that stands there; `waited`: as above, and q has changed. */
lg_status lg_follow_velocity(lg_follower *follower, const lg_point *point, int waited);

#endif
