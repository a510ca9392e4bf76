/* Derivatives of a state that follow a projection, of every correction of q or v.

   With the matrix [M B^T; B 0] at q, which is factored there, a correction of positions is the delta with

       M delta + B^T lam = 0     B delta = -phi     q' = q exp(delta)

   and one of velocities has delta_v and -phidot, to which Z delta is added if positions are corrected at the same
   time. The derivatives of both are the solutions with the same matrix for what M, B, phi and phidot change by. */
#ifndef LG_SOLVE_FOLLOW_H
#define LG_SOLVE_FOLLOW_H

#include "group/moves.h"
#include "solve/linearised.h"

/* A correction, as the way back needs it. */
typedef struct lg_correction {
    lg_point point; /* where it began */
    double *q, *v, *x; /* of the point; the correction with its multipliers */
    int of_velocity;
    int joint; /* positions and velocities are corrected with one matrix: this is one of the two */
} lg_correction;

enum { LG_CORRECTIONS = 32 };

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
    lg_correction *corrections; /* of the last projection, for the way back; NULL: derivatives follow it at once */
    int ncorrections;
} lg_follower;

/* Memory for derivatives by so many parameters; `backwards`: for the way back over a projection instead. */
void lg_follow_layout(lg_follower *follower, int nparameters, int backwards, lg_arena *arena);

/* Before q changes by the correction that stands in the solver's x, with its multipliers. `waits`: one of velocities is
   to come with the same matrix, and only then do the derivatives of q change. */
lg_status lg_follow_position(lg_follower *follower, const lg_point *point, int waits);
/* Before v changes by the one that stands there; `waited`: as above, and q has changed. */
lg_status lg_follow_velocity(lg_follower *follower, const lg_point *point, int waited);

/* Before a projection over which lg_follow_back goes. */
static inline void lg_follow_begin(lg_follower *follower)
{
    follower->ncorrections = 0;
}

/* The transposed map of the last projection: from the adjoint of q and v after it to that before it, in place, with the
   share of so many parameters added to `gradient`. The matrix of the solver is lost. */
lg_status lg_follow_back(lg_follower *follower, int nparameters, double *q, double *v, double *gradient,
                         lg_report *report);

#endif
