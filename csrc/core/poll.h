/* Somebody outside who wants to be asked now and then whether to go on, while a long computation is under way. */
#ifndef LG_CORE_POLL_H
#define LG_CORE_POLL_H

#include "core/status.h"

typedef struct lg_poll {
    lg_status (*call)(void *self); /* every LG_POLL_INTERVAL or so; anything but LG_OK ends the computation */
    void *self;
    double called; /* wall time of the last call, s */
    double work; /* since the last look at the clock, in nanoseconds, roughly */
} lg_poll;

#define LG_POLL_INTERVAL 0.05 /* s */

enum { LG_POLL_WORK = 100000 }; /* nanoseconds of work between two looks at the clock */

lg_poll lg_poll_start(lg_status (*call)(void *self), void *self);

/* Looks at the clock, and calls if it is time to. */
lg_status lg_poll_look(lg_poll *poll);

/* To be called after some work, whose time in nanoseconds may be a coarse estimate. poll may be NULL. */
static inline lg_status lg_poll_after(lg_poll *poll, double work)
{
    if (!poll || (poll->work += work) < LG_POLL_WORK)
        return LG_OK;
    return lg_poll_look(poll);
}

#endif
