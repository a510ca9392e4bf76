/* Interruption of long computations; see poll.h. */
#include "core/poll.h"

#include <math.h>
#include <time.h>

double lg_wall_time(void)
{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double lg_wall_time_since(double begin)
{
    return fmax(0, lg_wall_time() - begin);
}

lg_poll lg_poll_start(lg_status (*call)(void *self), void *self)
{
    return (lg_poll){.call = call, .self = self, .called = lg_wall_time()};
}

lg_status lg_poll_look(lg_poll *poll)
{
    double now = lg_wall_time();
    poll->work = 0;
    if (!poll->call || fabs(now - poll->called) < LG_POLL_INTERVAL)
        return LG_OK;
    poll->called = now;
    return poll->call(poll->self);
}
