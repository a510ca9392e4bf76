/* One step of a run: of a given size, in parts if it fails, or with error control; see run.h. */
#include "core/small.h"
#include "run/run.h"
#include "run/sensitivities.h"

#include <float.h>

/* ---- a step of a given size ---- */

/* Takes the stepper's step, with the derivatives of its end. */
static lg_status take_step(lg_run *run, double h)
{
    lg_stepper *stepper = run->stepper;
    LG_TRY(stepper->type->step(stepper, &run->state, h));
    if (!run->sensitivities.count)
        return LG_OK;
    const lg_sensitivities *s = &run->sensitivities;
    const lg_sensitivities old = lg_sensitivities_in(stepper, run->before.carry + (s->q - run->state.carry));
    lg_status status = lg_sensitivities_step(stepper, &run->before, &run->state, h, &old, s);
    if (status != LG_OK) {
        lg_run_return(run);
        stepper->replaced = 1;
    }
    return status;
}

static LG_APART lg_status try_with_choice(lg_run *run, double h)
{
    int changed = 0;
    lg_choice_watch(&run->stepper->accel);
    lg_status status = take_step(run, h);
    if (!lg_choice_may_help(status))
        return status;
    LG_TRY(lg_run_choose_rows(run, &changed));
    if (!changed)
        return status;
    LG_TRY(lg_run_begin_with_rows(run));
    if (run->control.estimates || run->sensitivities.count)
        lg_run_keep(run);
    return take_step(run, h);
}

/* If a solve of a step fails, it is tried once more with other active rows, where there is a choice of them. */
static inline lg_status try_step(lg_run *run, double h)
{
    return run->system->choice ? try_with_choice(run, h) : take_step(run, h);
}

void lg_run_count_work(lg_run *run)
{
    lg_stepper *stepper = run->stepper;
    stepper->stats.evaluations = stepper->accel.evaluations;
    stepper->stats.factorisations = stepper->accel.matrix.factorisations + stepper->factorisations;
    stepper->stats.dense_fallbacks = stepper->accel.matrix.fallbacks + stepper->fallbacks;
}

static void count_step(lg_run *run, double h, double error)
{
    run->h = h;
    run->error = error;
    run->curved = 0;
    run->stepper->stats.steps++;
    if (run->system->space->singular)
        lg_nearest_note(&run->stepper->stats.nearest, run->system, run->state.t, run->state.q);
    lg_run_count_work(run);
}

/* Whether a step that has failed may succeed at a smaller size. */
static int smaller_may_do(lg_status status)
{
    return status == LG_NOT_FINITE || status == LG_NO_CONVERGENCE || status == LG_SINGULAR || status == LG_TURNED ||
           status == LG_OVERTURNED || status == LG_PASSED;
}

/* x/2^n; most steps are whole ones */
static inline double halved(double x, int n)
{
    return n > 0 ? ldexp(x, -n) : x;
}

/* Takes h/2^n for the least n, from *halvings on, with which the step succeeds; 2^n of them cover h. Their times must
   differ. */
static lg_status try_halves(lg_run *run, double h, int *halvings)
{
    lg_stepper *stepper = run->stepper;
    double t = run->state.t, part = halved(h, *halvings);
    lg_status status = try_step(run, part);
    while (smaller_may_do(status) && *halvings < run->retry && t + 0.25 * part > t) {
        ++*halvings;
        part *= 0.5;
        stepper->stats.retries++;
        stepper->report = (lg_report){0};
        status = try_step(run, part);
    }
    return status;
}

lg_status lg_run_step(lg_run *run, double h, double *done, lg_report *report)
{
    double *wanted = &run->memory->rejections;
    int halvings = run->retry > 0 ? (int)*wanted : 0;
    lg_status status = try_halves(run, h, &halvings);
    double part = halved(1, halvings);
    if (status != LG_OK) {
        lg_run_report(run, status, h * part, report);
        return status;
    }
    count_step(run, h * part, NAN);
    *done += part;
    *wanted = halvings > 0 && fmod(*done, 2 * part) == 0 ? halvings - 1 : halvings;
    return LG_OK;
}

lg_status lg_run_estimate(lg_run *run, lg_report *report)
{
    lg_stepper *stepper = run->stepper;
    lg_status status = stepper->type->embedded->error(stepper, &run->before, run->h, run->control.error);
    if (status == LG_OK)
        status = lg_control_measure(&run->control, stepper, &run->before, &run->state, &run->error);
    if (status == LG_OK) {
        lg_run_count_work(run);
        return LG_OK;
    }
    lg_run_return(run);
    lg_run_report(run, status, run->h, report);
    return status;
}

/* ---- a step with error control ---- */

/* One attempt at a step from `before`. *error is its scaled error, NaN if the step failed at this size, for a reason
   that is left in `cause`. */
static lg_status attempt(lg_run *run, double h, double *error, lg_report *cause)
{
    lg_stepper *stepper = run->stepper;
    stepper->report = (lg_report){0};
    lg_status status = try_step(run, h);
    if (status == LG_OK)
        status = stepper->type->embedded->error(stepper, &run->before, h, run->control.error);
    if (status == LG_OK)
        status = lg_control_measure(&run->control, stepper, &run->before, &run->state, error);
    *error = status == LG_OK && isfinite(*error) ? *error : NAN;
    if (!smaller_may_do(status))
        return status;
    *cause = stepper->report;
    cause->status = status;
    return LG_OK;
}

static double largest_change(int n, const double *from, const double *to)
{
    double largest = 0;
    for (int i = 0; i < n; i++)
        largest = fmax(largest, fabs(to[i] - from[i]));
    return largest;
}

/* Whether every entry of the error that is beyond its tolerance lies in the last bits of q and v. */
static int is_in_the_last_bits(const lg_run *run)
{
    static const double bits = 4 * DBL_EPSILON;
    const double *q = run->before.q, *v = run->before.v, *error = run->control.error, *scale = run->control.scale;
    int nv = run->system->space->nv;
    for (const lg_factor *f = run->system->space->factor, *end = f + run->system->space->nfactors; f < end; f++)
        for (int i = 0; i < f->nv; i++) {
            int k = f->v + i, turn = i - f->node->attitude_v;
            double size = turn >= 0 && turn < f->node->attitude_n ? 1 : lg_max_abs(f->nq, q + f->q);
            if (f->node->linear && f->nq == f->nv)
                size = fabs(q[f->q + i]);
            if ((fabs(error[k]) > scale[k] && fabs(error[k]) > bits * size) ||
                (fabs(error[nv + k]) > scale[nv + k] && fabs(error[nv + k]) > bits * fabs(v[k])))
                return 0;
        }
    return 1;
}

/* Whether the last step, or its error, is round-off: q and v moved by hardly more than their last bits, or the error
   lies in the last bits of what the step added, as at the start of a motion from rest, or of q and v. */
static int lost_in_round_off(const lg_run *run)
{
    static const double noise = 64 * DBL_EPSILON;
    const lg_space *space = run->system->space;
    const lg_state *from = &run->before, *to = &run->state;
    const double *error = run->control.error;
    double dq = largest_change(space->nq, from->q, to->q), dv = largest_change(space->nv, from->v, to->v);
    int still = dq <= noise * lg_max_abs(space->nq, from->q) && dv < noise * lg_max_abs(space->nv, from->v);
    if (still || run->control.memory_error.size > 1)
        return still;
    return (lg_max_abs(space->nv, error) <= noise * dq && lg_max_abs(space->nv, error + space->nv) <= noise * dv) ||
           is_in_the_last_bits(run);
}

/* Why no step smaller than the rejected one can be tried; NULL: it can. A step must be longer than min_step and than
   the resolution of t, and change the state by more than round-off. At t = 0 every step is resolved, so only the state
   can tell. */
static const char *obstacle(const lg_run *run, double h, double error, int failures)
{
    double t = run->before.t;
    if (run->retry >= 0 && failures > run->retry)
        return "retry allows no further one";
    if (h <= run->control.min_step)
        return "min_step allows no smaller step";
    if (h <= nextafter(t, INFINITY) - t || run->memory->h <= 0)
        return "no number lies between the times of the two ends of the step";
    return isnan(error) || !lost_in_round_off(run) ? NULL : "a smaller step would be lost in round-off";
}

/* Reports why no step can be taken: that the error of a longer attempt from the same state, which did not fail, was
   `infinite`; the failure of the last attempt or a singular matrix in a longer one; otherwise the error of the last
   attempt and the obstacle to a smaller step. */
static lg_status give_up(lg_run *run, double error, int infinite, const lg_report *cause, const char *why)
{
    lg_report *report = &run->stepper->report;
    if (!infinite && (cause->status == LG_SINGULAR || (isnan(error) && cause->status != LG_OK))) {
        *report = *cause;
        return cause->status;
    }
    if (infinite || isnan(error)) {
        lg_report_say(report, "the error is infinite in terms of the tolerance; %s", why);
        lg_report_advise(report, "give a positive atol, since rtol times a value of zero is zero");
        return LG_STEP_SIZE;
    }
    const lg_memory_error *memory = &run->control.memory_error;
    if (memory->size == error)
        lg_report_say(report, "the error of %.*s is %.3g times the tolerance; %s", LG_SHORT(memory->name), error, why);
    else
        lg_report_say(report, "the error is %.3g times the tolerance; %s", error, why);
    lg_report_advise(report, "relax the tolerances%s or look for a discontinuity there",
                     run->control.min_step > 0 ? ", lower min_step" : "");
    return LG_STEP_SIZE;
}

/* Returns to the start of a rejected step, except for the control's memory. Fails if no smaller step can be tried.
   `failures`: how often the step has failed; `infinite`: whether its
   error was infinite. */
static lg_status reject(lg_run *run, double h, double error, int failures, int infinite, const lg_report *cause)
{
    lg_stepper *stepper = run->stepper;
    lg_control_memory memory = *run->memory;
    const char *why = obstacle(run, h, error, failures);
    lg_run_return(run);
    *run->memory = memory;
    stepper->stats.rejected++;
    stepper->stats.failed += isnan(error);
    if (why)
        return give_up(run, error, infinite, cause, why);
    stepper->stats.retries += isnan(error) && run->retry >= 0;
    return LG_OK;
}

static lg_status adapt(lg_run *run, double landing, double *h)
{
    double error;
    lg_trial trial;
    lg_report cause = {0};
    int accepted = 0, failures = 0, infinite = 0;
    lg_run_keep(run);
    if (run->memory->h <= 0)
        LG_TRY(lg_control_begin(&run->control, run->stepper, &run->state, landing - run->state.t));

    while (!accepted) {
        trial = lg_control_next(&run->control, run->state.t, landing);
        *h = trial.h;
        LG_TRY(attempt(run, trial.h, &error, &cause));
        accepted = lg_control_judge(&run->control, trial, error);
        failures += isnan(error) != 0;
        infinite |= isnan(error) && cause.status == LG_OK;
        if (!accepted)
            LG_TRY(reject(run, trial.h, error, failures, infinite, &cause));
    }
    if (trial.lands)
        run->state.t = landing;
    run->stepper->report = (lg_report){0};
    LG_TRY(lg_run_renew_rows(run));
    count_step(run, trial.h, error);
    return LG_OK;
}

lg_status lg_run_adapt(lg_run *run, double landing, lg_report *report)
{
    double h = 0;
    lg_status status = adapt(run, landing, &h);
    if (status != LG_OK) {
        lg_control_memory memory = *run->memory;
        lg_run_return(run);
        if (status != LG_INTERRUPTED &&
            status != LG_CALLBACK) /* otherwise a resumed run repeats this step from its first attempt */
            *run->memory = memory;
        lg_run_report(run, status, h, report);
    }
    return status;
}
