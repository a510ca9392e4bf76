/* Derivatives of a run's state by parameters; see sensitivities.h. */
#include "run/sensitivities.h"

#include "core/small.h"
#include "integrator/methods.h"
#include "solve/remembered.h"

#include <stdio.h>

int lg_sensitivities_own_count(const lg_stepper *stepper)
{
    const lg_stepper_sensitivities *sensitivities = stepper->type->sensitivities;
    return sensitivities->count ? sensitivities->count(stepper) : 0;
}

/* Numbers in a column of the memory. */
static int held_count(const lg_system *system)
{
    return system->memory.first_held < system->nmem ? system->nmem : 0;
}

int lg_sensitivities_count(const lg_stepper *stepper)
{
    if (!stepper->nparameters || stepper->backwards)
        return 0;
    int nv = stepper->system->space->nv, nrows = stepper->system->pattern->nrows;
    return stepper->nparameters * (3 * nv + nrows + lg_sensitivities_own_count(stepper) + held_count(stepper->system));
}

lg_sensitivities lg_sensitivities_in(const lg_stepper *stepper, double *base)
{
    int nv = stepper->system->space->nv, nrows = stepper->system->pattern->nrows;
    lg_sensitivities s = {.count = stepper->backwards ? 0 : stepper->nparameters, .q = base};
    s.v = s.q + (long)s.count * nv;
    s.a = s.v + (long)s.count * nv;
    s.lam = s.a + (long)s.count * nv;
    s.mem = s.lam + (long)s.count * nrows;
    s.own = s.mem + (s.count ? (long)s.count * held_count(stepper->system) : 0);
    return s;
}

/* "eml, mpl": the methods whose steps have no derivatives. */
static void list_others(char *text, size_t size)
{
    text[0] = '\0';
    for (int i = 0; i < lg_method_count; i++)
        if (!lg_methods[i]->stepper->sensitivities)
            lg_text_list(text, size, lg_methods[i]->name);
}

lg_status lg_sensitivities_check(lg_stepper *stepper)
{
    const lg_stepper_sensitivities *sensitivities = stepper->type->sensitivities;
    const char *refused = sensitivities && sensitivities->refused ? sensitivities->refused(stepper) : NULL;
    char others[LG_NAME_SIZE];
    if (!stepper->nparameters)
        return LG_OK;
    if (refused) {
        lg_report_say(&stepper->report, "sensitivity: %s", refused);
        return LG_BAD_ARGUMENT;
    }
    if (sensitivities)
        return LG_OK;
    list_others(others, sizeof others);
    lg_report_say(&stepper->report,
                  "sensitivity: the steps of %s have no derivatives%s; those of all methods but %s have",
                  stepper->method->name, stepper->method->stepper->sensitivities ? " with these options" : "", others);
    return LG_BAD_ARGUMENT;
}

void lg_sensitivities_layout(lg_stepper *stepper, lg_arena *arena)
{
    if (!stepper->nparameters)
        return;
    stepper->linear.accel = &stepper->accel;
    stepper->linear.plan = stepper->plans.of[LG_COUPLING_TANGENTS];
    lg_linearised_layout(&stepper->linear, arena);
    stepper->type->sensitivities->layout(stepper, arena);
}

void lg_sensitivities_close(lg_stepper *stepper)
{
    if (stepper->nparameters && stepper->type->sensitivities && stepper->type->sensitivities->close)
        stepper->type->sensitivities->close(stepper);
}

lg_status lg_sensitivities_sample(lg_stepper *stepper, const lg_point *point, const lg_sensitivities *s,
                                  double *sampled)
{
    int nv = stepper->system->space->nv, nmem = stepper->system->nmem;
    double *room = sampled + (long)nmem * s->count;
    for (int k = 0; k < s->count; k++)
        LG_TRY(lg_linearised_sample(&stepper->linear, point, k, s->q + (long)nv * k, s->v + (long)nv * k, room,
                                    sampled + (long)nmem * k));
    return LG_OK;
}

/* ---- memory through a step ---- */

typedef struct ends { /* of a step, with the memory at each, or of a start */
    lg_point from, to;
} ends;

static ends step_of(const lg_stepper *stepper, const lg_state *before, const lg_state *after, double h)
{
    ends e = {lg_point_at(before->t, before->q, before->v), lg_point_at(before->t + h, after->q, after->v)};
    e.from.t_in = e.to.t_in = before->t + 0.5 * h;
    e.from.mem.values = before->mem, e.to.mem.values = after->mem;
    e.from.work = e.to.work = stepper->accel.work;
    return e;
}

static ends start_of(const lg_stepper *stepper, const double *guess, const lg_state *start)
{
    ends e = {.to = lg_point_at(start->t, start->q, start->v)};
    e.from.mem.values = guess, e.to.mem.values = start->mem;
    e.from.work = e.to.work = stepper->accel.work;
    return e;
}

/* From the derivatives `old` of the start of a step, or of what there is of it, to those of its end. */
static lg_status follow_memory(lg_stepper *stepper, const ends *e, const lg_sensitivities *old,
                               const lg_sensitivities *s)
{
    int nv = stepper->system->space->nv, nmem = stepper->system->nmem;
    LG_TRY(lg_linearised_open_memory(&stepper->linear, &e->from, &e->to));
    for (int k = 0; k < s->count; k++) {
        long at = (long)nv * k;
        const lg_memory_change change = {{old->q + at, s->q + at}, {old->v + at, s->v + at}, s->mem + (long)nmem * k};
        LG_TRY(lg_linearised_follow_memory(&stepper->linear, &e->from, &e->to, k, &change));
    }
    return LG_OK;
}

lg_status lg_sensitivities_begin_memory(lg_stepper *stepper, const double *guess, const lg_state *start,
                                        const lg_sensitivities *s)
{
    const ends e = start_of(stepper, guess, start);
    return stepper->system->memory.slopes ? follow_memory(stepper, &e, s, s) : LG_OK;
}

lg_status lg_sensitivities_step(lg_stepper *stepper, const lg_state *before, const lg_state *after, double h,
                                const lg_sensitivities *old, const lg_sensitivities *s)
{
    const ends e = step_of(stepper, before, after, h);
    LG_TRY(stepper->type->sensitivities->step(stepper, before, after, h, s));
    return stepper->system->memory.slopes ? follow_memory(stepper, &e, old, s) : LG_OK;
}

/* The memory counts as parameters behind the others: all of it, where it changes smoothly. */
static lg_status follow_memory_back(lg_stepper *stepper, const ends *e, const lg_memory_change *adjoint,
                                    double *gradient)
{
    lg_linearised *l = &stepper->linear;
    LG_TRY(lg_linearised_open_memory(l, &e->from, &e->to));
    return lg_linearised_follow_memory_back(l, &e->from, &e->to, l->nparameters, adjoint, gradient);
}

lg_status lg_sensitivities_begin_memory_adjoint(lg_stepper *stepper, const double *guess, const lg_state *start,
                                                const lg_sensitivities *s, double *gradient)
{
    const ends e = start_of(stepper, guess, start);
    const lg_memory_change adjoint = {{s->q, s->q}, {s->v, s->v}, gradient + stepper->linear.nparameters};
    return stepper->system->memory.slopes ? follow_memory_back(stepper, &e, &adjoint, gradient) : LG_OK;
}

lg_status lg_sensitivities_step_adjoint(lg_stepper *stepper, const lg_state *before, const lg_state *after, double h,
                                        const double *kept, const lg_sensitivities *s, double *gradient)
{
    const lg_stepper_adjoint *adjoint = stepper->type->sensitivities->adjoint;
    lg_linearised *l = &stepper->linear;
    int nv = stepper->system->space->nv;
    double *q = l->early, *v = q + nv;
    if (!stepper->system->memory.slopes)
        return adjoint->step(stepper, before, after, kept, s, gradient);
    const ends e = step_of(stepper, before, after, h);
    const lg_memory_change change = {{q, s->q}, {v, s->v}, gradient + l->nparameters};
    lg_zero(2 * nv, q);
    LG_TRY(follow_memory_back(stepper, &e, &change, gradient));
    LG_TRY(adjoint->step(stepper, before, after, kept, s, gradient));
    lg_axpy(nv, 1, q, s->q);
    lg_axpy(nv, 1, v, s->v);
    return LG_OK;
}

lg_status lg_sensitivities_restart(lg_stepper *stepper, const lg_point *point, const lg_state *state,
                                   const lg_sensitivities *s)
{
    int nv = stepper->system->space->nv, nrows = stepper->system->pattern->nrows;
    lg_linearised *l = &stepper->linear;
    lg_point at = *point;
    at.a = state->a, at.lam = state->lam, at.work = stepper->accel.work;
    LG_TRY(lg_linearise(l, &at, NULL));
    LG_TRY(lg_accel_factor(&stepper->accel, &at, &(lg_wanted){0}, &stepper->report));
    for (int k = 0; k < s->count; k++)
        LG_TRY(lg_linearised_accelerations(l, &at, k, s->q + (long)nv * k, s->v + (long)nv * k, s->a + (long)nv * k,
                                           s->lam + (long)nrows * k));
    if (stepper->type->sensitivities->reset)
        stepper->type->sensitivities->reset(stepper, s);
    return LG_OK;
}

lg_status lg_sensitivities_restart_adjoint(lg_stepper *stepper, const lg_point *point, const lg_state *state,
                                           const lg_sensitivities *s, double *gradient)
{
    int nv = stepper->system->space->nv, nrows = stepper->system->pattern->nrows;
    lg_linearised *l = &stepper->linear;
    lg_point at = *point;
    at.a = state->a, at.lam = state->lam, at.work = stepper->accel.work;
    if (stepper->type->sensitivities->adjoint->reset)
        stepper->type->sensitivities->adjoint->reset(stepper, s);
    LG_TRY(lg_linearise(l, &at, NULL));
    LG_TRY(lg_accel_factor(&stepper->accel, &at, &(lg_wanted){0}, &stepper->report));
    LG_TRY(lg_linearised_accelerations_adjoint(l, &at, stepper->nparameters, s->a, s->lam, s->q, s->v, gradient));
    lg_zero(nv, s->a);
    lg_zero(nrows, s->lam);
    return LG_OK;
}
