/* Equilibria under increasing loads; see equilibrium.h. */
#include "run/equilibrium.h"

#include <math.h>

static const double shortest = 1.0 / 1024; /* smallest step, as a fraction of the distance between two factors */

typedef struct loading {
    lg_statics *statics;
    const lg_observer *observer;
    lg_report *report;
    double load, step; /* of the last equilibrium: its factor, and the difference from the factor before */
    int saved; /* it has been saved */
} loading;

static lg_status ask_observer(void *self)
{
    const loading *l = self;
    return l->observer->poll(l->observer->self, l->load);
}

static lg_status save(loading *l)
{
    const lg_statics *s = l->statics;
    const lg_state state = {.t = l->load, .q = s->q, .v = s->v, .a = s->v, .lam = s->lam, .mem = s->mem};
    if (l->saved)
        return LG_OK;
    l->saved = 1;
    return l->observer->save(l->observer->self, &state, l->step);
}

/* Finds the equilibrium at a factor, from the one at the last factor. */
static lg_status step_to(loading *l, double load)
{
    l->report->t = l->load;
    l->report->h = load - l->load;
    l->statics->load = load;
    LG_TRY(lg_statics_solve(l->statics, l->report));
    l->step = load - l->load;
    l->load = load;
    l->saved = 0;
    l->report->step++;
    return LG_OK;
}

/* Whether a smaller step may succeed where one has failed. */
static int may_halve(const loading *l, lg_status status, double step, double distance)
{
    int obeys = !(l->statics->accel.system->flags & LG_SYSTEM_FIXED_LOADS);
    return status == LG_NO_EQUILIBRIUM && obeys && fabs(step) > fabs(distance) * shortest;
}

/* Goes to the next factor, in one step if that succeeds. A step that succeeds is followed by one of twice its size. */
static lg_status go_to(loading *l, double load)
{
    double distance = load - l->load, step = distance;
    for (int arrived = 0; !arrived;) {
        arrived = fabs(step) >= fabs(load - l->load);
        lg_status status = step_to(l, arrived ? load : l->load + step);
        if (status != LG_OK && !may_halve(l, status, step, distance))
            return status;
        arrived = arrived && status == LG_OK;
        step = status == LG_OK ? 2 * step : step / 2;
    }
    return LG_OK;
}

static lg_status go_through(loading *l, int nloads, const double *loads)
{
    l->statics->load = loads[0];
    LG_TRY(lg_statics_start(l->statics, l->report));
    for (int i = 0; i < nloads; i++) {
        LG_TRY(go_to(l, loads[i]));
        LG_TRY(save(l));
    }
    return LG_OK;
}

lg_status lg_equilibrium(lg_statics *statics, int nloads, const double *loads, const lg_observer *observer,
                         lg_report *report)
{
    loading l = {.statics = statics, .observer = observer, .report = report, .saved = 1};
    lg_poll poll = lg_poll_start(observer->poll ? ask_observer : NULL, &l);
    *report = (lg_report){0};
    statics->accel.matrix.poll = &poll;
    lg_status status = go_through(&l, nloads, loads);
    statics->accel.matrix.poll = NULL;
    if (status != LG_OK && status != LG_NO_MEMORY)
        (void)save(&l);
    return status;
}
