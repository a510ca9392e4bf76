/* Equilibria under increasing loads. */
#ifndef LG_RUN_EQUILIBRIUM_H
#define LG_RUN_EQUILIBRIUM_H

#include "run/integrate.h"
#include "run/outcome.h"

/* What to search for, and from where. */
typedef struct lg_loading {
    const lg_system *system;
    const lg_plan *plan; /* of the system, for LG_COUPLING_TANGENTS */
    double t; /* at which loads are taken, s */
    const double *q, *v, *mem; /* where the search begins, with a guess of the memory; v: of first-order values alone */
    int nloads;
    const double *loads; /* factors of the loads, one or more */
    double rtol, atol; /* tolerances and corrections in one step, as in statics.h */
    int max_iter;
    int has_potential, leaves; /* as in statics.h */
} lg_loading;

/* Finds the equilibria at the load factors, one after the other. The outcome's states are those at the factors, which
   stand in place of the times; accelerations are zero, and so are velocities but for
   values of first-order equations; `extra` is the number of directions in which
   the state is unstable, -1 if there is no potential. A step of the loads that leads to no equilibrium is halved, down
   to 2^-10 of the distance between two factors; the first distance is measured from zero. On failure the last
   equilibrium is saved, and the report has its factor in place of the time and the failed step in place of h.
   `observer` has poll only, whose argument is the last factor. Close the outcome in any case. */
lg_status lg_equilibrium(const lg_loading *loading, const lg_observer *observer, lg_outcome *outcome);

#endif
