/* An ensemble: many runs along one schedule, one after the other, without returning to the calling language in
   between. */
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

/* Runs all members. Where the number of states is known, there must be memory for those of all remaining members. A
   member that fails does not stop the others. `observer` has poll only, which is also called between members; its
   argument is the number of members that have run. LG_INTERRUPTED, LG_CALLBACK and LG_NO_MEMORY end the ensemble and
   are returned. */
lg_status lg_ensemble_run(lg_ensemble *ensemble, const lg_observer *observer);
/* Closes the outcomes of all members. */
void lg_ensemble_close(lg_ensemble *ensemble);

#endif
