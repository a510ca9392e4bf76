/* Equilibria under increasing loads. */
#ifndef LG_RUN_EQUILIBRIUM_H
#define LG_RUN_EQUILIBRIUM_H

#include "run/integrate.h"
#include "solve/statics.h"

/* Moves `statics` from one load factor to the next, and passes the state at each to observer->save: its time is
   the factor, and its velocities and accelerations are zero. A step of the loads under which no equilibrium is found is
   halved, down to 2^-10 of the distance between two factors; the first distance is measured from zero. On failure the
   last equilibrium is saved, and the report has its factor in place of the time and the failed step in place of h. */
lg_status lg_equilibrium(lg_statics *statics, int nloads, const double *loads, const lg_observer *observer,
                         lg_report *report);

#endif
