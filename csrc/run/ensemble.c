/* Many runs, one after the other; see ensemble.h. */
#include "run/ensemble.h"

typedef struct watch {
    const lg_ensemble *ensemble;
    const lg_observer *observer;
} watch;

static lg_status ask_observer(void *self)
{
    const watch *w = self;
    return w->observer->poll(w->observer->self, w->ensemble->done);
}

static lg_status poll(void *self, double t)
{
    (void)t;
    return ask_observer(self);
}

/* Whether a failure is one of the caller or of the machine, and no property of the run. */
static int ends_all(lg_status status)
{
    return status == LG_INTERRUPTED || status == LG_CALLBACK || status == LG_NO_MEMORY;
}

/* Runs the next member, and polls. */
static lg_status advance(lg_ensemble *ensemble, const lg_observer *observer, lg_poll *between)
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
    watch w = {ensemble, observer};
    lg_observer watched = {.self = &w, .poll = observer->poll ? poll : NULL};
    lg_poll between = lg_poll_start(observer->poll ? ask_observer : NULL, &w);
    while (ensemble->done < ensemble->count)
        LG_TRY(advance(ensemble, &watched, &between));
    return LG_OK;
}

void lg_ensemble_close(lg_ensemble *ensemble)
{
    for (int i = 0; i < ensemble->done; i++)
        lg_outcome_close(&ensemble->member[i].outcome);
}
