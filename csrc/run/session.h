/* A whole run and its results: everything that `integrate` does, independent of the calling language. */
#ifndef LG_RUN_SESSION_H
#define LG_RUN_SESSION_H

#include "run/integrate.h"
#include "run/record.h"

typedef struct lg_session {
    lg_run run; /* opened by the caller; closed with the session */
    int dense; /* whether knots are wanted */
    lg_record states; /* what the schedule saves */
    lg_record knots; /* both ends of every step, for dense output */
    lg_record end; /* the last accepted state */
    const lg_observer *observer;
} lg_session;

/* Prepares the records of session->run, which has been opened or has failed to open. */
void lg_session_begin(lg_session *session);
/* Runs a schedule. `observer` has poll and step; what is saved goes to the records. After a failure these hold
   everything up to the last accepted state. */
lg_status lg_session_run(lg_session *session, const lg_schedule *schedule, const lg_observer *observer,
                         lg_report *report);
void lg_session_close(lg_session *session);

#endif
