/* Equilibria under increasing loads; see equilibrium.h. */
#include "run/equilibrium.h"

#include "core/small.h"
#include "solve/statics.h"

#include <math.h>

static const double shortest = 1.0 / 1024; /* smallest step, as a fraction of the distance between two factors */

typedef struct load_search {
    const lg_loading *loading;
    const lg_observer *observer;
    lg_outcome *outcome;
    lg_statics statics;
    lg_arena arena;
    lg_poll poll;
    double load, step; /* of the last equilibrium: its factor, and the difference from the factor before */
    int saved; /* whether it has been saved */
} load_search;

static lg_status poll_search(void *self)
{
    const load_search *s = self;
    return s->observer->poll(s->observer->self, s->load);
}

static lg_status save_equilibrium(load_search *s)
{
    const lg_statics *at = &s->statics;
    double unstable = at->unstable;
    const lg_state state = {
        .t = s->load, .q = at->q, .v = at->v, .a = at->a, .lam = at->lam, .mem = at->mem, .carry = &unstable};
    if (s->saved)
        return LG_OK;
    s->saved = 1;
    LG_TRY(lg_record_add(&s->outcome->states, &state, s->step, NAN));
    lg_outcome_reach(s->outcome, &state, s->step, NAN);
    lg_nearest_note(&s->outcome->stats.nearest, s->loading->system, s->load, at->q);
    return LG_OK;
}

/* Finds the equilibrium at a factor, from the one at the last factor. */
static lg_status step_to_load(load_search *s, double load)
{
    lg_report *report = &s->outcome->report;
    report->t = s->load;
    report->h = load - s->load;
    s->statics.load = load;
    LG_TRY(lg_statics_solve(&s->statics, report));
    s->step = load - s->load;
    s->load = load;
    s->saved = 0;
    report->step++;
    return LG_OK;
}

/* Whether a smaller step may succeed where one has failed. */
static int may_halve(const load_search *s, lg_status status, double step, double distance)
{
    int loads_vary = !(s->statics.accel.system->flags & LG_SYSTEM_FIXED_LOADS);
    int may_succeed = status == LG_NO_EQUILIBRIUM || status == LG_COORDINATES;
    return may_succeed && loads_vary && fabs(step) > fabs(distance) * shortest;
}

/* Goes to the next factor, in one step if that succeeds. A step that succeeds is followed by one twice as large. */
static lg_status reach_load(load_search *s, double load)
{
    double distance = load - s->load, step = distance;
    for (int arrived = 0; !arrived;) {
        arrived = fabs(step) >= fabs(load - s->load);
        lg_status status = step_to_load(s, arrived ? load : s->load + step);
        if (status != LG_OK && !may_halve(s, status, step, distance))
            return status;
        arrived = arrived && status == LG_OK;
        step = status == LG_OK ? 2 * step : step / 2;
    }
    return LG_OK;
}

static lg_status follow_loads(load_search *s)
{
    const lg_loading *loading = s->loading;
    s->statics.load = loading->loads[0];
    LG_TRY(lg_statics_start(&s->statics, &s->outcome->report));
    for (int i = 0; i < loading->nloads; i++) {
        LG_TRY(reach_load(s, loading->loads[i]));
        LG_TRY(save_equilibrium(s));
    }
    return LG_OK;
}

static lg_status open_search(load_search *s)
{
    const lg_system *system = s->loading->system;
    lg_matrix *matrix = &s->statics.accel.matrix;
    LG_TRY(lg_outcome_open(s->outcome, system, 1, 0));
    LG_TRY(lg_arena_open(&s->arena, lg_statics_layout, &s->statics));
    lg_copy(system->space->nq, s->loading->q, s->statics.q);
    for (const lg_factor *f = system->space->factor; f < system->space->factor + system->space->nfactors; f++)
        if (f->nq == 0)
            lg_copy(f->nv, s->loading->v + f->v, s->statics.v + f->v);
    lg_copy(system->nmem, s->loading->mem, s->statics.mem);
    s->poll = lg_poll_start(s->observer->poll ? poll_search : NULL, s);
    matrix->poll = &s->poll;
    return LG_OK;
}

static void close_search(load_search *s)
{
    if (s->arena.base)
        lg_accel_close(&s->statics.accel);
    lg_arena_close(&s->arena);
}

/* What the search has counted. */
static lg_stats stats_of(const load_search *s)
{
    const lg_accel *accel = &s->statics.accel;
    return (lg_stats){.steps = (long)s->outcome->states.count,
                      .newton_iterations = s->statics.iterations,
                      .jacobians = s->statics.iterations,
                      .newton_factorisations = s->statics.iterations,
                      .factorisations = accel->matrix.factorisations,
                      .evaluations = accel->evaluations,
                      .dense_fallbacks = accel->matrix.fallbacks,
                      .newton = "full",
                      .nearest = s->outcome->stats.nearest};
}

lg_status lg_equilibrium(const lg_loading *loading, const lg_observer *observer, lg_outcome *outcome)
{
    double begin = lg_wall_time();
    load_search s = {.loading = loading, .observer = observer, .outcome = outcome, .saved = 1};
    lg_system system = lg_system_in(loading->system, LG_FORM_STATICS);
    s.statics = (lg_statics){.accel = {.system = &system, .plan = loading->plan},
                             .t = loading->t,
                             .rtol = loading->rtol,
                             .atol = loading->atol,
                             .has_potential = loading->has_potential,
                             .leaves = loading->leaves,
                             .max_iter = loading->max_iter};
    lg_status status = open_search(&s);
    if (status == LG_OK)
        status = follow_loads(&s);
    if (status != LG_OK && status != LG_NO_MEMORY)
        (void)save_equilibrium(&s);
    lg_record_trim(&outcome->states);
    outcome->report.status = status;
    outcome->stats = stats_of(&s);
    outcome->wall_time = lg_wall_time_since(begin);
    close_search(&s);
    return status;
}
