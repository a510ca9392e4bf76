/* Runs: opening, single steps, and the loop over a schedule. */
#include "integrator/integrate.h"

#include "core/small.h"
#include "solve/initial.h"

#include <float.h>
#include <limits.h>
#include <stdlib.h>
#include <time.h>

/* ---- opening and closing ---- */

static int stepper_carry(const lg_stepper *stepper)
{
    return stepper->type->carry_count ? stepper->type->carry_count(stepper) : 0;
}

int lg_run_carry_count(const lg_run *run)
{
    return stepper_carry(run->stepper) + (int)(sizeof(lg_grid) / sizeof(double));
}

static void run_layout(void *self, lg_arena *arena)
{
    lg_run *run = self;
    lg_state *state = &run->state;
    lg_stepper *stepper = run->stepper;
    size_t nv = (size_t)run->system->space->nv;

    state->q = lg_arena_doubles(arena, (size_t)run->system->space->nq);
    state->v = lg_arena_doubles(arena, nv);
    state->a = lg_arena_doubles(arena, nv);
    state->lam = lg_arena_doubles(arena, (size_t)run->system->pattern->nrows);
    state->mem = lg_arena_doubles(arena, (size_t)run->system->nmem);
    state->carry = lg_arena_doubles(arena, (size_t)lg_run_carry_count(run));
    run->grid = arena->base ? (lg_grid *)(state->carry + stepper_carry(stepper)) : NULL;
    run->options = lg_arena_take(arena, (size_t)run->method->noptions * sizeof(lg_option_value));

    lg_accel_layout(&stepper->accel, arena);
    stepper->type->layout(stepper, arena);
}

/* The stepper with its coefficients, then the memory of everything. */
static lg_status allocate(lg_run *run, const lg_plan *plan, const lg_option_value *options)
{
    const lg_stepper_type *type = run->method->stepper;
    lg_stepper *stepper = run->stepper = calloc(1, type->size);
    if (!stepper)
        return LG_NO_MEMORY;

    stepper->type = type;
    stepper->method = run->method;
    stepper->system = stepper->accel.system = run->system;
    stepper->plan = stepper->accel.plan = plan;
    stepper->options = options;
    LG_TRY(type->prepare(stepper));
    LG_TRY(lg_arena_open(&run->arena, run_layout, run));

    for (int i = 0; i < run->method->noptions; i++)
        run->options[i] = options[i];
    stepper->options = run->options;
    return LG_OK;
}

static lg_status commit(lg_run *run, double t_in)
{
    const lg_system *system = run->system;
    const lg_state *state = &run->state;
    if (!system->commit)
        return LG_OK;

    lg_point point = {.t = state->t,
                      .t_in = t_in,
                      .load = 1,
                      .wa = 1,
                      .q = state->q,
                      .v = state->v,
                      .a = state->a,
                      .lam = state->lam,
                      .mem = state->mem,
                      .work = run->stepper->accel.work};
    return system->commit(system->self, &point, run->state.mem);
}

/* Consistent accelerations and multipliers with the data as they are just after `past`, and a stepper without history. */
static lg_status restart(lg_run *run, lg_reset reason, double past)
{
    lg_state *state = &run->state;
    lg_stepper *stepper = run->stepper;
    lg_point point = lg_point_after(state->t, state->q, state->v, state->mem);
    point.t_in = nextafter(past, INFINITY);

    if (reason == LG_RESET_START)
        LG_TRY(lg_consistent(&stepper->accel, &point, &stepper->report));
    lg_accel_reset(&stepper->accel);
    LG_TRY(lg_accel_solve(&stepper->accel, &point, state->a, state->lam, &stepper->report));
    return stepper->type->reset ? stepper->type->reset(stepper, state, reason) : LG_OK;
}

static lg_status begin(lg_run *run, const lg_start *start)
{
    const lg_space *space = run->system->space;
    lg_state *state = &run->state;
    state->t = start->t;
    lg_copy(space->nq, start->q, state->q);
    lg_copy(space->nv, start->v, state->v);

    if (!start->carry) {
        LG_TRY(commit(run, start->t));
        return restart(run, LG_RESET_START, start->t);
    }
    if (start->ncarry != lg_run_carry_count(run)) {
        lg_report_name(&run->stepper->report, "carry is not that of this method with these options");
        return LG_BAD_ARGUMENT;
    }
    lg_copy(space->nv, start->a, state->a);
    lg_copy(run->system->pattern->nrows, start->lam, state->lam);
    lg_copy(run->system->nmem, start->mem, state->mem);
    lg_copy(lg_run_carry_count(run), start->carry, state->carry);
    return LG_OK;
}

static void fill_report(lg_run *run, lg_status status, double h, lg_report *report)
{
    if (run->stepper) {
        *report = run->stepper->report;
        run->stepper->report = (lg_report){0};
    }
    report->status = status;
    report->step = run->stepper ? run->stepper->stats.steps : 0;
    report->t = run->state.t;
    report->h = h;
}

lg_status lg_run_open(lg_run *run, const lg_system *system, const lg_plan *plan, const lg_method *method,
                      const lg_option_value *options, const lg_start *start, lg_report *report)
{
    *run = (lg_run){.system = system, .method = method, .state.t = start->t};
    *report = (lg_report){0};

    lg_status status = allocate(run, plan, options);
    if (status == LG_OK)
        status = begin(run, start);
    if (status != LG_OK) {
        fill_report(run, status, 0, report);
        lg_run_close(run);
    }
    return status;
}

void lg_run_close(lg_run *run)
{
    if (run->arena.base) {
        lg_accel_close(&run->stepper->accel);
        if (run->stepper->type->close)
            run->stepper->type->close(run->stepper);
    }
    lg_arena_close(&run->arena);
    free(run->stepper);
    run->stepper = NULL;
}

/* ---- one step ---- */

static void count(lg_stepper *stepper)
{
    stepper->stats.steps++;
    stepper->stats.evaluations = stepper->accel.evaluations;
    stepper->stats.factorisations = stepper->accel.matrix.factorisations;
    stepper->stats.dense_fallbacks = stepper->accel.matrix.fallbacks;
}

lg_status lg_run_step(lg_run *run, double h, lg_report *report)
{
    lg_stepper *stepper = run->stepper;
    double inside = run->state.t + 0.5 * h;

    lg_status status = stepper->type->step(stepper, &run->state, h);
    if (status == LG_OK)
        status = commit(run, inside);
    if (status == LG_OK)
        count(stepper);
    else
        fill_report(run, status, h, report);
    return status;
}

/* ---- landings: the stops and kinks ---- */

typedef struct lg_landing {
    double t;
    double kink; /* the kink there, -INFINITY if there is none */
} lg_landing;

/* Times closer than this are one. */
static double tiny(double t, double h)
{
    return fmax(1e-9 * h, 8 * DBL_EPSILON * fabs(t));
}

/* Where to land on the way from t to `stop`: a kink close to t has been landed on, one close to the stop is the stop. */
static lg_landing next_landing(const lg_system *system, double t, double stop, double h)
{
    double kink = system->next_kink ? system->next_kink(system->self, t) : INFINITY;
    while (kink <= t + tiny(t, h)) {
        double next = system->next_kink(system->self, kink);
        kink = next > kink ? next : INFINITY;
    }
    if (kink < stop - tiny(stop, h))
        return (lg_landing){kink, kink};
    return (lg_landing){stop, kink <= stop + tiny(stop, h) ? kink : -INFINITY};
}

/* Steps from t to the landing: ceil(length / h), round-off apart; whether they are of size h as they stand. */
static double steps_between(double t, double landing, double h, int *whole)
{
    double length = landing - t, noise = 1e-12 * length + 4 * DBL_EPSILON * fmax(fabs(t), fabs(landing));
    double n = fmax(1, ceil((length - noise) / h));
    *whole = fabs(n * h - length) <= noise;
    return n;
}

/* Puts the next interval on the grid. A run that was interrupted inside an interval finds it there; one that goes on
   with the same h in whole steps keeps its origin, so that its step times do not depend on where it stopped. */
static void enter_interval(lg_grid *grid, double t, double landing, double h)
{
    int on_grid = grid->h == h && fabs(t - (grid->origin + grid->index * grid->step)) <= 4 * DBL_EPSILON * fabs(t);
    if (on_grid && grid->end == landing && grid->index < grid->last)
        return;

    int whole;
    double n = steps_between(t, landing, h, &whole);
    if (!(whole && on_grid && grid->step == h))
        *grid = (lg_grid){.origin = t, .step = whole ? h : (landing - t) / n};
    grid->last = grid->index + n;
    grid->end = landing;
    grid->h = h;
}

static lg_status check_schedule(const lg_schedule *schedule, double t0, lg_report *report)
{
    const char *what = NULL;
    if (!(schedule->h > 0) || !isfinite(schedule->h))
        what = "h";
    if (schedule->save_every < 1)
        what = "save_every";
    if (schedule->nstops < 1)
        what = "stops";
    for (int i = 0; i < schedule->nstops; i++)
        if (!(schedule->stops[i] > (i ? schedule->stops[i - 1] : t0)) || !isfinite(schedule->stops[i]))
            what = "stops";
    if (what && report)
        lg_report_name(report, what);
    return what ? LG_BAD_ARGUMENT : LG_OK;
}

lg_status lg_schedule_count(const lg_system *system, const lg_schedule *schedule, double t0, long *steps, long *saves)
{
    LG_TRY(check_schedule(schedule, t0, NULL));
    double t = t0, total = 0;
    for (int i = 0; i < schedule->nstops; i++)
        while (t < schedule->stops[i]) {
            int whole;
            lg_landing landing = next_landing(system, t, schedule->stops[i], schedule->h);
            total += steps_between(t, landing.t, schedule->h, &whole);
            t = landing.t;
        }
    if (!(total < (double)LONG_MAX / 2))
        return LG_BAD_ARGUMENT;

    *steps = (long)total;
    *saves = 1 + *steps / schedule->save_every + (*steps % schedule->save_every != 0);
    return LG_OK;
}

/* ---- the loop ---- */

static const double poll_interval = 0.05; /* seconds */

typedef struct lg_loop {
    lg_run *run;
    const lg_schedule *schedule;
    const lg_observer *observer;
    lg_report *report;
    long steps; /* of this schedule */
    int saved; /* the present state has been */
    double polled, read; /* times of the last poll and of the last look at the clock */
    long patience, wait; /* steps between looks, steps until the next */
} lg_loop;

static double wall_time(void)
{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Looks at the clock about ten times a poll, whatever a step costs. */
static lg_status poll(lg_loop *loop)
{
    if (!loop->observer->poll || --loop->wait > 0)
        return LG_OK;

    double now = wall_time(), elapsed = now - loop->read, aim = 0.1 * poll_interval;
    if (elapsed > 2 * aim)
        loop->patience = (long)fmax(1, (double)loop->patience * aim / elapsed);
    else if (elapsed < aim)
        loop->patience *= 2;
    loop->wait = loop->patience;
    loop->read = now;

    if (fabs(now - loop->polled) < poll_interval)
        return LG_OK;
    loop->polled = now;
    return loop->observer->poll(loop->observer->self, loop->run->state.t);
}

static lg_status save(lg_loop *loop, double h)
{
    loop->saved = 1;
    return loop->observer->save(loop->observer->self, &loop->run->state, h);
}

/* One step along the grid, accepted, landed on its time, at a kink started afresh, saved if it is its turn. */
static lg_status advance(lg_loop *loop, lg_landing landing)
{
    lg_run *run = loop->run;
    lg_grid *grid = run->grid;
    LG_TRY(lg_run_step(run, grid->step, loop->report));

    grid->index++;
    int landed = grid->index >= grid->last;
    run->state.t = landed ? landing.t : grid->origin + grid->index * grid->step;
    if (landed && isfinite(landing.kink))
        LG_TRY(restart(run, LG_RESET_KINK, fmax(landing.t, landing.kink)));

    loop->saved = 0;
    if (++loop->steps % loop->schedule->save_every == 0)
        LG_TRY(save(loop, grid->step));
    return poll(loop);
}

static lg_status run_schedule(lg_loop *loop)
{
    lg_run *run = loop->run;
    LG_TRY(save(loop, 0));
    for (int i = 0; i < loop->schedule->nstops; i++)
        while (run->state.t < loop->schedule->stops[i]) {
            double h = loop->schedule->h;
            lg_landing landing = next_landing(run->system, run->state.t, loop->schedule->stops[i], h);
            enter_interval(run->grid, run->state.t, landing.t, h);
            while (run->grid->index < run->grid->last)
                LG_TRY(advance(loop, landing));
        }
    return loop->saved ? LG_OK : save(loop, run->grid->step);
}

lg_status lg_integrate(lg_run *run, const lg_schedule *schedule, const lg_observer *observer, lg_report *report)
{
    double now = wall_time();
    lg_loop loop = {.run = run,
                    .schedule = schedule,
                    .observer = observer,
                    .report = report,
                    .polled = now,
                    .read = now,
                    .patience = 1,
                    .wait = 1};
    *report = (lg_report){0};

    LG_TRY(check_schedule(schedule, run->state.t, report));
    lg_status status = run_schedule(&loop);
    if (status != LG_OK && report->status == LG_OK)
        fill_report(run, status, run->grid->step, report);
    return status;
}
