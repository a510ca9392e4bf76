/* The loop over a schedule; see integrate.h. */
#include "run/integrate.h"

#include "core/small.h"

#include <float.h>
#include <limits.h>

/* ---- landings: the stops and kinks ---- */

typedef struct lg_landing {
    double t;
    double kink; /* the kink at which it lies; -INFINITY: none */
} lg_landing;

/* Times that are closer than this count as the same. */
static double tiny(double t, double h)
{
    return fmax(1e-9 * h, 8 * DBL_EPSILON * fabs(t));
}

/* The first kink after t; a kink within round-off of t counts as already landed on. */
static double kink_after(const lg_system *system, double t, double h)
{
    if (!system->next_kink)
        return INFINITY;
    double kink = system->next_kink(system->self, t);
    while (kink <= t + tiny(t, h)) {
        double next = system->next_kink(system->self, kink);
        kink = next > kink ? next : INFINITY;
    }
    return kink;
}

/* Where to land next on the way from t to `stop`; a kink within round-off of the stop is merged with it. */
static lg_landing next_landing(const lg_system *system, double t, double stop, double h)
{
    double kink = kink_after(system, t, h);
    if (kink < stop - tiny(stop, h))
        return (lg_landing){kink, kink};
    return (lg_landing){stop, kink <= stop + tiny(stop, h) ? kink : -INFINITY};
}

/* Steps from t to the landing: ceil(length / h), except for round-off. *whole: the interval is a whole number of h. */
static double steps_between(double t, double landing, double h, int *whole)
{
    double length = landing - t, noise = 1e-12 * length + 4 * DBL_EPSILON * fmax(fabs(t), fabs(landing));
    double n = fmax(1, ceil((length - noise) / h));
    *whole = fabs(n * h - length) <= noise;
    return n;
}

/* The time of the grid after a number of further steps: n h from its origin, without the round-off of a sum. */
static double grid_time(const lg_grid *grid, double steps)
{
    return grid->origin + (grid->index + steps) * grid->step;
}

/* Whether the present time is one of the grid, not inside a step that is taken in parts. Without a grid: yes. */
static int at_a_step(const lg_grid *grid)
{
    return grid->index == floor(grid->index);
}

/* Whether t is the present time of a grid that was made for this h. */
static int on_grid(const lg_grid *grid, double t, double h)
{
    return grid->h == h && fabs(t - grid_time(grid, 0)) <= 4 * DBL_EPSILON * fabs(t);
}

/* The stops in order, the last of which is t_end. */
static double stop_at(const lg_schedule *schedule, int i)
{
    return i < schedule->nstops ? fmin(schedule->stops[i], schedule->t_end) : schedule->t_end;
}

/* Whether a stop lies within round-off of t or of the next stop and is merged with it. The last stop is never
   merged. */
static int is_merged(const lg_schedule *schedule, int i, double t)
{
    if (i == schedule->nstops)
        return 0;
    double stop = stop_at(schedule, i), next = stop_at(schedule, i + 1);
    return fmin(stop - t, next - stop) <= tiny(next, 0);
}

/* Puts the next interval on the grid. If a run was interrupted inside an interval, the grid still holds that interval.
   A run that continues with the same h in whole steps keeps its origin, so that its step times do not depend on where
   it stopped. */
static void enter_interval(lg_grid *grid, double t, double landing, double h)
{
    int same = on_grid(grid, t, h);
    if (same && grid->end == landing && grid->index < grid->last)
        return;

    int whole;
    double n = steps_between(t, landing, h, &whole);
    if (!(whole && same && grid->step == h && at_a_step(grid)))
        *grid = (lg_grid){.origin = t, .step = whole ? h : (landing - t) / n};
    grid->last = grid->index + n;
    grid->end = landing;
    grid->h = h;
}

/* ---- checks ---- */

static lg_status refuse_argument(lg_report *report)
{
    report->status = LG_BAD_ARGUMENT;
    return LG_BAD_ARGUMENT;
}

static lg_status check_h(double h, lg_report *report)
{
    if (h > 0 && isfinite(h))
        return LG_OK;
    lg_report_say(report, "h must be a positive number, given %g", h);
    return refuse_argument(report);
}

/* The times must ascend within the schedule. Those that lie outside by round-off are moved to its ends where they are
   used. */
static lg_status check_times(const char *name, int n, const double *times, double t0, double t_end, lg_report *report)
{
    double noise = tiny(fmax(fabs(t0), fabs(t_end)), 0);
    for (int i = 0; i < n; i++)
        if (!(times[i] >= (i ? times[i - 1] : t0 - noise) && times[i] <= t_end + noise)) {
            lg_report_say(report, "%s must be ascending times from %.15g to %.15g, given %.15g at index %d", name, t0,
                          t_end, times[i], i);
            return refuse_argument(report);
        }
    return LG_OK;
}

static lg_status check_schedule(const lg_schedule *schedule, int adaptive, double t0, lg_report *report)
{
    if (!adaptive)
        LG_TRY(check_h(schedule->h, report));
    if (schedule->save_every < 1) {
        lg_report_say(report, "save_every must be at least 1, given %ld", schedule->save_every);
        return refuse_argument(report);
    }
    if (!(schedule->t_end > t0) || !isfinite(schedule->t_end)) {
        lg_report_say(report, "t_end must be later than the start at %.15g, given %.15g", t0, schedule->t_end);
        return refuse_argument(report);
    }
    LG_TRY(check_times("stops", schedule->nstops, schedule->stops, t0, schedule->t_end, report));
    return check_times("t_eval", schedule->nt_eval, schedule->t_eval, t0, schedule->t_end, report);
}

/* A number of steps that no run can take: at a million per second they would take 35 years. */
static const double too_many_steps = 0x1p50;

/* Fixed steps of the whole schedule. */
static double count_steps(const lg_system *system, const lg_schedule *schedule, double t0)
{
    double t = t0, total = 0;
    for (int i = 0; i <= schedule->nstops; i++)
        while (t < stop_at(schedule, i) && !is_merged(schedule, i, t)) {
            int whole;
            lg_landing landing = next_landing(system, t, stop_at(schedule, i), schedule->h);
            total += steps_between(t, landing.t, schedule->h, &whole);
            t = landing.t;
        }
    return total;
}

static lg_status check_count(const lg_system *system, const lg_schedule *schedule, double t0, lg_report *report)
{
    double total = count_steps(system, schedule, t0);
    if (total < too_many_steps)
        return LG_OK;
    lg_report_say(report, "h = %g is too small, or t_end too late: from t = %.9g to %.9g it would take %.3g steps",
                  schedule->h, t0, schedule->t_end, total);
    return refuse_argument(report);
}

lg_status lg_schedule_count(const lg_system *system, const lg_schedule *schedule, double t0, long *steps, long *saves)
{
    lg_report unused;
    LG_TRY(check_schedule(schedule, 0, t0, &unused));
    double total = count_steps(system, schedule, t0);
    if (!(total < too_many_steps && total < (double)LONG_MAX / 2))
        return LG_BAD_ARGUMENT;

    *steps = (long)total;
    *saves = 1 + *steps / schedule->save_every + (*steps % schedule->save_every != 0);
    return LG_OK;
}

/* ---- the loop ---- */

enum { STEP_WORK = 1000 }; /* nanoseconds of a short step; long steps poll while they compute */

typedef struct lg_loop {
    lg_run *run;
    const lg_schedule *schedule;
    const lg_observer *observer;
    lg_report *report;
    double begin; /* the time at which the schedule starts */
    double paced; /* the time at which the pace was last checked */
    long steps; /* of this schedule */
    long until_save; /* steps until the next one that is due to be saved */
    int evaluated; /* number of times of t_eval that have been evaluated */
    double next_evaluation; /* the next time of t_eval; INFINITY after the last */
    int saved; /* whether the present state has been saved */
    int ended; /* whether the observer has ended the run */
    int anew; /* whether it has put another state in the place of the present one, from which steps begin anew */
    lg_poll poll;
} lg_loop;

static lg_status poll_loop(void *self)
{
    const lg_loop *loop = self;
    return loop->observer->poll(loop->observer->self, loop->run->state.t);
}

/* ---- what is saved ---- */

static lg_status save_step(lg_loop *loop)
{
    if (loop->saved || loop->schedule->t_eval)
        return LG_OK;
    loop->saved = 1;
    return loop->observer->save(loop->observer->self, &loop->run->state, loop->run->h);
}

/* Goes on to a time of t_eval. */
static void await_evaluation(lg_loop *loop, int number)
{
    const lg_schedule *schedule = loop->schedule;
    loop->evaluated = number;
    loop->next_evaluation =
        number < schedule->nt_eval ? fmin(fmax(schedule->t_eval[number], loop->begin), schedule->t_end) : INFINITY;
}

/* Saves the times of t_eval before t, by dense output. */
static lg_status evaluate_before(lg_loop *loop, double t)
{
    for (; loop->next_evaluation < t; await_evaluation(loop, loop->evaluated + 1)) {
        LG_TRY(lg_run_between(loop->run, loop->next_evaluation));
        LG_TRY(loop->observer->save(loop->observer->self, &loop->run->between, loop->run->h));
    }
    return LG_OK;
}

/* Saves the present state if it is at a time of t_eval. */
static lg_status evaluate_here(lg_loop *loop)
{
    for (; loop->next_evaluation == loop->run->state.t; await_evaluation(loop, loop->evaluated + 1))
        LG_TRY(loop->observer->save(loop->observer->self, &loop->run->state, loop->run->h));
    return LG_OK;
}

/* ---- the loop ---- */

/* Cuts the last step at t: the state there, moved onto the constraints, with a carry without history. */
static lg_status end_at(lg_loop *loop, double t)
{
    lg_run *run = loop->run;
    loop->ended = 1;
    run->stepper->accel.matrix.poll = NULL; /* the end of a run is not interrupted */
    LG_TRY(evaluate_before(loop, t));
    LG_TRY(lg_run_between(run, t));
    lg_state_copy(run->system, 0, &run->between, &run->state);
    run->h = t - run->before.t;
    LG_TRY(lg_run_project(run));
    return lg_run_restart(run, t);
}

/* Lets the observer put another state in the place of the one at which it has stopped the run. */
static lg_status act(lg_loop *loop)
{
    lg_run *run = loop->run;
    int acts = 0, goes_on = 0;
    if (!loop->observer->act)
        return LG_OK;
    LG_TRY(loop->observer->act(loop->observer->self, run, &acts, &goes_on));
    if (!acts)
        return LG_OK;
    loop->saved = 0;
    loop->anew = 1;
    loop->ended = !goes_on;
    run->stepper->replaced = 1;
    LG_TRY(lg_run_restart(run, run->state.t));
    return goes_on ? save_step(loop) : LG_OK; /* the last state is saved at the end */
}

/* The state at a kink gets the accelerations and multipliers of the data after it, unless the method keeps those of its
   step. */
static lg_status pass_kink(lg_run *run, double kink)
{
    LG_TRY(lg_run_sample(run));
    return run->stepper->type->momenta ? LG_OK : lg_run_restart(run, fmax(run->state.t, kink));
}

/* Processes an accepted step: observer, dense output, and a fresh start at a kink. */
static lg_status finish_step(lg_loop *loop, double kink)
{
    lg_run *run = loop->run;
    double t_stop = INFINITY;
    if (loop->observer->step)
        LG_TRY(loop->observer->step(loop->observer->self, run, &t_stop));
    if (t_stop < run->state.t) {
        LG_TRY(end_at(loop, t_stop));
        return act(loop);
    }
    loop->ended = t_stop <= run->state.t;
    if (loop->next_evaluation < run->state.t)
        LG_TRY(evaluate_before(loop, run->state.t));
    if (isfinite(kink))
        LG_TRY(pass_kink(run, kink));
    return loop->ended ? act(loop) : LG_OK;
}

/* A step that ends at `next` must advance the time. */
static lg_status check_advance(lg_run *run, double next)
{
    if (next > run->state.t)
        return LG_OK;
    lg_report_say(&run->stepper->report, "h = %g is below the round-off of t = %.15g, which does not advance",
                  run->grid->h, run->state.t);
    return LG_STEP_SIZE;
}

/* Takes a step with error control, or the next step of the grid or a part of it, whose end is set to its time on the
   grid. *counts: whether a whole step ends there. */
static lg_status take_step(lg_loop *loop, lg_landing landing, int *counts)
{
    lg_run *run = loop->run;
    lg_grid *grid = run->grid;
    *counts = 1;
    if (run->control.adapts)
        return lg_run_adapt(run, landing.t, loop->report);

    double whole = floor(grid->index), done = grid->index - whole;
    LG_TRY(check_advance(run, whole + 1 >= grid->last ? landing.t : grid_time(grid, 1 - done)));
    if (loop->observer->step || loop->schedule->t_eval || run->control.estimates || run->sensitivities.count)
        lg_run_keep(run);
    LG_TRY(lg_run_step(run, grid->step, &done, loop->report));
    if (run->control.estimates)
        LG_TRY(lg_run_estimate(run, loop->report));
    grid->index = whole + done;
    *counts = done == 1;
    run->state.t = grid->index >= grid->last ? landing.t : grid_time(grid, 0);
    return run->system->choice ? lg_run_renew_rows(run) : LG_OK;
}

enum { PACE_STEPS = 1000 }; /* between two checks of the pace */

/* Fails if adaptive steps stay so small that the run would never end; each of them may well be accepted, close to t = 0
   or at the resolution of t. */
static lg_status check_pace(lg_loop *loop)
{
    lg_run *run = loop->run;
    if (!run->control.adapts || loop->observer->ends || loop->steps % PACE_STEPS)
        return LG_OK;
    double t = run->state.t, pace = (t - loop->paced) / PACE_STEPS, left = loop->schedule->t_end - t;
    loop->paced = t;
    if (left < too_many_steps * pace)
        return LG_OK;
    lg_report_say(&run->stepper->report,
                  "the last %d steps advanced the motion by %.3g s on average, and %.3g s are left until t_end",
                  PACE_STEPS, pace, left);
    lg_report_advise(&run->stepper->report, "relax the tolerances, raise max_step or let the run end earlier");
    return LG_STEP_SIZE;
}

/* Takes one step or a part of one, processes it, and saves the state if it is due. Steps count when they are whole. */
static lg_status advance_loop(lg_loop *loop, lg_landing landing)
{
    int counts;
    LG_TRY(take_step(loop, landing, &counts));
    loop->saved = 0;
    loop->steps += counts;
    LG_TRY(finish_step(loop, loop->run->state.t >= landing.t ? landing.kink : -INFINITY));
    if (loop->next_evaluation == loop->run->state.t)
        LG_TRY(evaluate_here(loop));
    if (counts && --loop->until_save == 0) {
        loop->until_save = loop->schedule->save_every;
        LG_TRY(save_step(loop));
    }
    LG_TRY(check_pace(loop));
    return lg_poll_after(&loop->poll, STEP_WORK);
}

/* Runs to the next stop. */
static lg_status run_interval(lg_loop *loop, double stop)
{
    lg_run *run = loop->run;
    int adaptive = run->control.adapts;
    double h = adaptive ? run->memory->h : loop->schedule->h;
    lg_landing landing = next_landing(run->system, run->state.t, stop, h);
    if (!adaptive)
        enter_interval(run->grid, run->state.t, landing.t, h);
    loop->anew = 0;
    while (run->state.t < landing.t && !loop->ended && !loop->anew)
        LG_TRY(advance_loop(loop, landing));
    return LG_OK;
}

static lg_status run_schedule(lg_loop *loop)
{
    lg_run *run = loop->run;
    const lg_schedule *schedule = loop->schedule;
    LG_TRY(save_step(loop));
    LG_TRY(evaluate_here(loop));
    for (int i = 0; i <= schedule->nstops; i++)
        while (run->state.t < stop_at(schedule, i) && !is_merged(schedule, i, run->state.t) && !loop->ended)
            LG_TRY(run_interval(loop, stop_at(schedule, i)));
    return save_step(loop);
}

lg_status lg_integrate(lg_run *run, const lg_schedule *schedule, const lg_observer *observer, lg_report *report)
{
    lg_loop loop = {.run = run, .schedule = schedule, .observer = observer, .report = report};
    loop.begin = loop.paced = run->state.t;
    loop.until_save = schedule->save_every;
    await_evaluation(&loop, 0);
    *report = (lg_report){0};

    LG_TRY(check_schedule(schedule, run->control.adapts, run->state.t, report));
    if (!run->control.adapts && !observer->ends)
        LG_TRY(check_count(run->system, schedule, run->state.t, report));
    LG_TRY(lg_control_check(&run->control, run->system->space->nv, report));
    if (observer->step || schedule->t_eval)
        LG_TRY(lg_run_look_inside(run));
    loop.poll = lg_poll_start(observer->poll ? poll_loop : NULL, &loop);
    run->stepper->accel.matrix.poll = &loop.poll;
    lg_status status = run_schedule(&loop);
    run->stepper->accel.matrix.poll = NULL;
    if (status != LG_OK && report->status == LG_OK)
        lg_run_report(run, status, run->h, report);
    return status;
}

/* ---- a step of a given size ---- */

/* Puts a step of size h on the grid and returns its end; equal steps share one origin. */
static double step_end(lg_grid *grid, double t, double h)
{
    if (!(on_grid(grid, t, h) && grid->step == h))
        *grid = (lg_grid){.origin = t, .step = h, .h = h};
    grid->last = ++grid->index;
    return grid->end = grid_time(grid, 0);
}

/* Takes a step of size h to `landing`, in parts if it must be. */
static lg_status go_to(lg_run *run, double landing, double h, lg_report *report)
{
    double begin = run->state.t, done = 0;
    while (done < 1) {
        LG_TRY(lg_run_step(run, h, &done, report));
        run->state.t = done < 1 ? begin + done * h : landing;
        LG_TRY(lg_run_renew_rows(run));
    }
    return LG_OK;
}

static lg_status go(lg_run *run, double end, double h, lg_report *report)
{
    double done = 0;
    LG_TRY(check_advance(run, end));
    while (run->state.t < end) {
        lg_landing landing = next_landing(run->system, run->state.t, end, h);
        double left = landing.t < end ? landing.t - run->state.t : h - done;
        LG_TRY(go_to(run, landing.t, left, report));
        done += left;
        if (isfinite(landing.kink))
            LG_TRY(pass_kink(run, landing.kink));
    }
    return LG_OK;
}

/* Whether anything can fail after the state has changed: a second step or part of one, or a restart at a kink or with
   other rows. */
static int changes_early(const lg_run *run, double end, double h)
{
    return isfinite(next_landing(run->system, run->state.t, end, h).kink) || run->system->choice || run->retry > 0;
}

/* Replaces the held forces; a vector of zeros is none. */
static void set_force(lg_run *run, const double *force)
{
    int nv = run->system->space->nv;
    if (force)
        lg_copy(nv, force, run->force);
    else if (run->force)
        lg_zero(nv, run->force);
    run->held.force = run->force && lg_max_abs(nv, run->force) != 0 ? run->force : NULL;
}

/* Whether the held forces would change, which the ones before are kept for. */
static int changes_force(lg_run *run, const double *force)
{
    int nv = run->system->space->nv, changes = 0;
    for (int i = 0; run->force && i < nv; i++)
        changes |= run->force[i] != (force ? force[i] : 0);
    if (changes)
        lg_copy(nv, run->force, run->force_before);
    return changes;
}

/* Goes to `end`; on failure the state and the forces are as before. */
static lg_status go_or_return(lg_run *run, double end, double h, const double *force, lg_report *report)
{
    int jumps = changes_force(run, force), returns = jumps || changes_early(run, end, h);
    if (returns) {
        LG_TRY(lg_run_look_back(run, lg_run_carry_count(run)));
        lg_run_keep(run);
    }
    lg_status status = LG_OK;
    if (jumps) {
        set_force(run, force);
        status = pass_kink(run, run->state.t);
    }
    if (status == LG_OK)
        status = go(run, end, h, report);
    if (status != LG_OK && returns) {
        lg_run_return(run);
        run->stepper->replaced = 1;
    }
    if (status != LG_OK && jumps)
        set_force(run, run->force_before);
    return status;
}

lg_status lg_run_go(lg_run *run, double h, const double *force, lg_report *report)
{
    *report = (lg_report){0};
    LG_TRY(check_h(h, report));
    lg_grid grid = *run->grid;
    double end = step_end(run->grid, run->state.t, h);
    lg_status status = go_or_return(run, end, h, force, report);
    if (status == LG_OK)
        return LG_OK;
    *run->grid = grid;
    if (report->status == LG_OK)
        lg_run_report(run, status, h, report);
    return status;
}

void lg_run_put(lg_run *run, const lg_state *state, const double *force)
{
    lg_state_copy(run->system, lg_run_carry_count(run), state, &run->state);
    set_force(run, force);
    run->stepper->replaced = 1;
}
