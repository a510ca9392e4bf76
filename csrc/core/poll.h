/* Lets the caller of a long computation interrupt it: a function that is called from time to time and decides whether
   the computation goes on. */
#ifndef LG_CORE_POLL_H
#define LG_CORE_POLL_H

#include "core/status.h"

typedef struct lg_poll {
    lg_status (*call)(void *self); /* about once per LG_POLL_INTERVAL; any status but LG_OK ends the computation */
    void *self;
    double called; /* wall time of the last call, s */
    double work; /* rough estimate of the work done since the clock was last read, ns */
} lg_poll;

#define LG_POLL_INTERVAL 0.05 /* s */

enum { LG_POLL_WORK = 100000 }; /* nanoseconds of work between two readings of the clock */

double lg_wall_time(void); /* s */
/* Seconds since a wall time; zero if the clock has been set back. */
double lg_wall_time_since(double begin);

lg_poll lg_poll_start(lg_status (*call)(void *self), void *self);

/* Reads the clock and calls the function if LG_POLL_INTERVAL has passed. */
lg_status lg_poll_look(lg_poll *poll);

/* Call this after a piece of work; `work` is a coarse estimate of its time in nanoseconds. poll may be NULL. */
static inline lg_status lg_poll_after(lg_poll *poll, double work)
{
    if (!poll || (poll->work += work) < LG_POLL_WORK)
        return LG_OK;
    return lg_poll_look(poll);
}

#endif
