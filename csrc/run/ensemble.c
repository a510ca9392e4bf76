/* Many runs, one after the other; see ensemble.h. */
#include "run/ensemble.h"

typedef struct ensemble_watch {
    const lg_ensemble *ensemble;
    const lg_observer *observer;
} ensemble_watch;

static lg_status poll_between_members(void *self)
{
    const ensemble_watch *w = self;
    return w->observer->poll(w->observer->self, w->ensemble->done);
}

static lg_status poll_inside_run(void *self, double t)
{
    (void)t;
    return poll_between_members(self);
}

/* Whether a failure comes from the caller or the machine instead of the run itself. */
static int ends_all(lg_status status)
{
    return status == LG_INTERRUPTED || status == LG_CALLBACK || status == LG_NO_MEMORY;
}

/* Runs the next member, and polls. */
static lg_status run_next(lg_ensemble *ensemble, const lg_observer *observer, lg_poll *between)
{
    lg_member *member = &ensemble->member[ensemble->done];
    lg_session session = {.setup = &member->setup,
                          .schedule = ensemble->schedule,
                          .observer = observer,
                          .others = ensemble->count - ensemble->done - 1};
    lg_status status = lg_session_run(&session, &member->outcome);
    ensemble->done++;
    return ends_all(status) ? status : lg_poll_look(between);
}

lg_status lg_ensemble_run(lg_ensemble *ensemble, const lg_observer *observer)
{
    ensemble_watch w = {ensemble, observer};
    lg_observer watched = {.self = &w, .poll = observer->poll ? poll_inside_run : NULL};
    lg_poll between = lg_poll_start(observer->poll ? poll_between_members : NULL, &w);
    while (ensemble->done < ensemble->count)
        LG_TRY(run_next(ensemble, &watched, &between));
    return LG_OK;
}

void lg_ensemble_close(lg_ensemble *ensemble)
{
    for (int i = 0; i < ensemble->done; i++)
        lg_outcome_close(&ensemble->member[i].outcome);
}
