/* An ensemble: many runs by one method along one schedule, one after the other, without the calling language between
   them. */
#ifndef LG_RUN_ENSEMBLE_H
#define LG_RUN_ENSEMBLE_H

#include "run/session.h"

/* One run: its start, and its results, which remain when it has been closed. */
typedef struct lg_member {
    const lg_system *system;
    lg_plans plans; /* those that a run needs; systems of one shape share theirs */
    lg_start start;
    lg_record states, end; /* as in lg_session */
    double *carry; /* of the last state; NULL: the run could not be opened */
    int ncarry;
    lg_stats stats;
    double wall_time; /* s */
    lg_report report; /* its status is LG_OK, or says why the run failed */
} lg_member;

typedef struct lg_ensemble {
    const lg_method *method;
    const lg_option_value *options;
    const lg_schedule *schedule;
    int count;
    lg_member *member;
    int done; /* members that have run */
    lg_report report; /* why no member has run */
} lg_ensemble;

/* Runs all members, unless there is not enough memory for the states of all. One that fails does not stop the others. `observer` has poll only, which is also called between
   members. LG_INTERRUPTED, LG_CALLBACK and LG_NO_MEMORY end the ensemble and are returned; the members up to `done` have run. */
lg_status lg_ensemble_run(lg_ensemble *ensemble, const lg_observer *observer);
void lg_member_close(lg_member *member);

#endif
