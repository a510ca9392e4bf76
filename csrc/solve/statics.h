/* Static equilibrium at a factor of the loads: gyro - force + B^T lam = 0 and phi = 0 at v = 0, on any lg_system.

   Values of first-order equations, velocities without coordinates, are unknowns like q, so that their rates vanish; all
   other velocities are zero.

   Newton's method on the group, with the chain (I, 0, mu I) of each block, and (0, I, mu I) for such values:

       [ K + mu M  B^T ] [ c    ]   [ gyro - force + B^T lam ]
       [ B         0   ] [ dlam ] = [ phi                    ],    q <- q exp(-c),  lam <- lam - dlam.

   With mu = 0 this is Newton's method; with mu > 0 it is a step of implicit Euler, of size 1/mu, along M q' = force,
   the motion in a viscous fluid, which ends in a stable equilibrium from any start: pseudo-transient continuation
   (kelley1998). A correction is accepted if the next one by the same matrix is at most half as large in the mass
   metric, which is the natural monotonicity test of deuflhard2004 (section 3.3), if no rotation turns by more than a
   radian, and, unless it is small, if the matrix is positive along it, so that it leads downhill. Otherwise mu grows,
   from a first value at which the step is a fraction of a radian or metre; every accepted correction lowers it. The
   last correction is one of Newton's method, from a residual that has already converged: its error is round-off, and it
   proves that K on the constraints is regular, so that the equilibrium is unique in its neighbourhood. Where K was
   regular at the beginning but has a neutral direction at the end, like a column that may buckle to any side, the last
   corrections are those of K + nu D, which do not move the state in that direction; see rest.h.

   Where the forces have a potential, K is symmetric at an equilibrium, which is stable if K is positive definite on the
   constraints, and neutral if it is so up to round-off. Otherwise it is a saddle; the search leaves it for a state of
   lower potential and goes on from there with mu > 0, until it ends in a stable equilibrium. */
#ifndef LG_SOLVE_STATICS_H
#define LG_SOLVE_STATICS_H

#include "solve/rest.h"
#include "solve/saddle.h"

typedef struct lg_statics {
    lg_accel accel; /* set its system, in LG_FORM_STATICS, and its plan before lg_statics_layout */
    double rtol, atol; /* tolerances of the force rows, as in newton.h */
    int max_iter;
    int has_potential; /* whether all forces at rest follow from a potential */
    int leaves; /* whether the search leaves unstable equilibria, given a potential */
    double *q, *v, *lam, *mem; /* the present state; v: zero but for values of first-order equations */
    double *a; /* zeros */
    double t, load;
    /* Directions in which the last equilibrium is unstable; -1: not known, without a potential or because it is neutral
       in some direction and unstable in none. */
    int unstable;
    int neutral; /* whether nothing holds the last equilibrium in some direction */
    long iterations; /* corrections that were accepted or rejected, over all calls */

    double *kept; /* q, lam, mem and v at the beginning of a call */
    double *trial, *trial_v, *trial_mem; /* q and lam after a correction, v and the memory there */
    double *residual, *trial_residual; /* force rows, then phi */
    double *correction; /* c, then dlam */
    double *terms; /* gyro, force, B^T lam, M c: nv each */
    lg_rest rest;
    lg_saddle saddle;
} lg_statics;

/* `statics` points to an lg_statics; it is void * so that lg_arena_open can call this. */
void lg_statics_layout(void *statics, lg_arena *arena);

/* Call this before the first solution, with q, t and load set. It guesses lam: the multipliers with which the system
   begins to move when released from rest. */
lg_status lg_statics_start(lg_statics *statics, lg_report *report);

/* Moves q, lam and mem into equilibrium under the factor statics->load; on failure they keep their values.
   LG_NOT_UNIQUE: there is no unique equilibrium, report->what names the row that nothing determines. LG_NO_EQUILIBRIUM:
   none was found, or no stable one. LG_OVERTURNED: an edge of a rod, named in report->what, would turn too far on the
   way. LG_COORDINATES: the search ran into a singularity of the coordinates that report->what names. */
lg_status lg_statics_solve(lg_statics *statics, lg_report *report);

#endif
