/* A whole run and its results: everything that `integrate` does, independent of the calling language. */
#ifndef LG_RUN_SESSION_H
#define LG_RUN_SESSION_H

#include "run/integrate.h"
#include "run/record.h"

#define LG_TAKE_INTERVAL 1.0 /* s */

typedef struct lg_session {
    lg_run run; /* opened by the caller; closed with the session */
    int dense; /* whether knots are wanted */
    lg_record states; /* what the schedule saves */
    lg_record knots; /* both ends of every step, for dense output */
    lg_record end; /* the last accepted state */
    const lg_observer *observer;
    /* Optional: called with observer->self to take the rows of `states` away, as soon as there are `room` of them, or
       when a row is added LG_TAKE_INTERVAL after the last call. */
    lg_status (*take)(void *self);
    size_t room;
    const lg_state *reached; /* where a run can be resumed so that it goes on after the last row */
    double saved; /* time of the last row */
    double taken; /* wall time of the last call of `take` */
} lg_session;

/* Prepares the records of session->run, which has been opened or has failed to open. */
void lg_session_begin(lg_session *session);
/* Runs a schedule. `observer` has poll and step; what is saved goes to the records. After a failure these hold
   everything up to the last accepted state. */
lg_status lg_session_run(lg_session *session, const lg_schedule *schedule, const lg_observer *observer,
                         lg_report *report);
void lg_session_close(lg_session *session);

#endif
