/* An ensemble: many runs along one schedule, one after the other, without the calling language between
   them. */
#ifndef LG_RUN_ENSEMBLE_H
#define LG_RUN_ENSEMBLE_H

#include "run/session.h"

typedef struct lg_member {
    lg_setup setup; /* systems of one shape share their plans */
    lg_outcome outcome; /* once it has run */
} lg_member;

typedef struct lg_ensemble {
    const lg_schedule *schedule;
    int count;
    lg_member *member;
    int done; /* members that have run */
} lg_ensemble;

/* Runs all members, as long as there is memory for the states of all that are left, where their number is known. One
   that fails does not stop the others. `observer` has poll only, which is also called between members; its argument is
   the number of those that have run. LG_INTERRUPTED, LG_CALLBACK and LG_NO_MEMORY end the ensemble and are returned. */
lg_status lg_ensemble_run(lg_ensemble *ensemble, const lg_observer *observer);
/* Closes the outcomes of all members. */
void lg_ensemble_close(lg_ensemble *ensemble);

#endif
