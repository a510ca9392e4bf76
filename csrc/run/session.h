/* A whole run and its outcome: everything that `integrate` does, independent of the calling language. */
#ifndef LG_RUN_SESSION_H
#define LG_RUN_SESSION_H

#include "run/integrate.h"
#include "run/outcome.h"
#include "run/tape.h"

#define LG_TAKE_INTERVAL 1.0 /* s */

typedef struct lg_session {
    const lg_setup *setup;
    const lg_schedule *schedule;
    const lg_observer *observer; /* poll and step */
    int dense; /* whether knots are wanted */
    /* Optional: called with observer->self to take the rows saved so far, as soon as there are `room` of them, or when
       a row is added LG_TAKE_INTERVAL after the last call. They are an outcome whose last state is the one from which a
       run goes on after them; it is closed afterwards. */
    lg_status (*take)(void *self, lg_outcome *rows);
    size_t room;
    double kept; /* bytes of each row that `take` keeps in memory; 0: it writes them to a disk */
    /* Optional: called with observer->self and states from which the run can be taken up again, with their whole carry
       of `ncarry` numbers. They come before step 0, 1, 3, 6, 10, ...: neither their number nor the steps between two
       of them are more than the square root of twice the steps so far. */
    lg_status (*mark)(void *self, long step, const lg_state *state, int ncarry);
    lg_tape *tape; /* optional: gets all steps, of a run whose derivatives are found backwards */
    int others; /* further runs of the same size, for whose records there has to be memory as well */
} lg_session;

/* Opens a run, goes through the schedule and closes the run. Close the outcome in any case: after a failure it holds
   everything up to the last accepted state, and its report says why. The status is that of the report. */
lg_status lg_session_run(const lg_session *session, lg_outcome *outcome);

#endif
