/* Step size control; see control.h.

   Error of a step, holzinger2024 (B16)-(B18): err^2 = mean of (e_i/s_i)^2 over q - q^ in local coordinates and v - v^,
   s_i = atol_i + rtol_i max(|x_0i|, |x_1i|). For velocities, and for coordinates of linear kinds, x are these numbers
   themselves. A group has no origin to which coordinates could be relative: there x is the displacement of the step, 0
   and theta, so that the tolerances do not depend on where the body is, and for small steps atol decides.

   Where a method has a second, coarser embedded solution, err is e^2/(e^2 + e_c^2/100)^(1/2) of the two errors, as in
   Hairer, Norsett, Wanner: Solving ODE I, II.10.

   With k the order of err(h) and f the safety factor the next step is h times
       I      f err^(-1/k)
       PI     f err^(-0.7/k) err_last^(0.4/k)          Hairer, Wanner: Solving ODE II, IV.2
       predictive  the smaller of I and f err^(-1/k) (h/h_last) (err_last/err)^(1/k)        Gustafsson, as in hairer1996
       paper  f err^(-1/k), h between h_min and h_max  holzinger2024 (B19)-(B21), exponent corrected
   All but "paper" keep the factor in [max_decrease, max_increase], and at most 1 after a rejection; "paper" bounds
   only the increase. */
#include "run/control.h"

#include "core/small.h"
#include "integrator/methods.h"

#include <float.h>
#include <math.h>

static const double round_off = 10 * DBL_EPSILON; /* the least relative tolerance */
static const double least_error = 1e-4; /* a smaller error of a shortened step says nothing about the best step size */

/* ---- settings ---- */

void lg_control_prepare(lg_control *control, const lg_stepper *stepper)
{
    const lg_control_options *options = lg_stepper_control(stepper);
    if (!options)
        return;
    control->estimates = lg_stepper_estimates(stepper);
    control->adapts = lg_stepper_adapts(stepper);
    control->law = options->law.choice;
    control->order = lg_method_error_order(stepper->method);
    control->first_step = options->first_step.number;
    control->max_step = options->max_step.number;
    control->min_step = options->min_step.number;
    control->safety = options->safety.number;
    control->max_increase = options->max_increase.number;
    control->max_decrease = options->max_decrease.number;
    control->after_failure = lg_stepper_retries(stepper) < 0 ? control->max_decrease : 0.5;
}

void lg_control_layout(lg_control *control, const lg_stepper *stepper, lg_arena *arena)
{
    const lg_system *system = stepper->system;
    size_t nv = control->estimates ? (size_t)system->space->nv : 0;
    double **pairs[] = {&control->rtol, &control->atol, &control->scale, &control->error};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        *pairs[i] = lg_arena_doubles(arena, 2 * nv);
    control->q = lg_arena_doubles(arena, control->adapts ? (size_t)system->space->nq : 0);
    control->v = lg_arena_doubles(arena, nv);
    control->a = lg_arena_doubles(arena, nv);
    control->lam = lg_arena_doubles(arena, control->adapts ? (size_t)system->pattern->nrows : 0);
}

/* Whether a tolerance is one number for all, one for each velocity, or one for each coordinate and each velocity. */
static int has_right_count(const lg_option_value *tolerance, int nv)
{
    return !tolerance->count || tolerance->count == nv || tolerance->count == 2 * nv;
}

/* The factor of the tolerances that keeps errors of a run in proportion to them where the error of a step has another
   order than the method: hairer1996, IV.8, and the program there. */
static double rescaling(const lg_stepper *stepper, double rtol)
{
    static const double unchanged = 1e-5;
    const lg_method *method = stepper->method;
    int power = lg_method_error_order(method) - method->order;
    return power < 0 && rtol > 0 ? pow(rtol / unchanged, (double)power / method->order) : 1;
}

lg_status lg_control_fill(lg_control *control, lg_stepper *stepper)
{
    if (!control->estimates)
        return LG_OK;
    control->coarse = stepper->coarse;
    const lg_control_options *options = lg_stepper_control(stepper);
    const lg_option_value *rtol = &options->rtol, *atol = &options->atol;
    int nv = stepper->system->space->nv;
    if (!has_right_count(rtol, nv) || !has_right_count(atol, nv)) {
        lg_report_say(&stepper->report,
                      "rtol and atol must be one number, or an array of nv = %d or 2 nv, given %d numbers for %s", nv,
                      has_right_count(rtol, nv) ? atol->count : rtol->count,
                      has_right_count(rtol, nv) ? "atol" : "rtol");
        return LG_BAD_ARGUMENT;
    }
    for (int i = 0; i < 2 * nv; i++) {
        double relative = lg_option_entry(rtol, i), absolute = lg_option_entry(atol, i);
        if (relative > 0 && relative < round_off) {
            lg_report_say(&stepper->report, "rtol must be 0 or at least %.2g, which is round-off, given %.2g",
                          round_off, relative);
            return LG_BAD_ARGUMENT;
        }
        double factor = rescaling(stepper, relative);
        control->rtol[i] = isnan(relative) ? 0 : factor * relative;
        control->atol[i] = factor * (isnan(absolute) ? relative : absolute);
    }
    return LG_OK;
}

lg_status lg_control_check(const lg_control *control, int nv, lg_report *report)
{
    for (int i = 0; control->estimates && i < 2 * nv; i++)
        if (!(control->rtol[i] + control->atol[i] > 0)) {
            lg_report_name(report, "rtol and atol are both zero for the same entry");
            return LG_BAD_ARGUMENT;
        }
    if (control->estimates && (control->first_step <= 0 || control->max_step <= 0)) {
        lg_report_name(report, "first_step and max_step must be positive");
        return LG_BAD_ARGUMENT;
    }
    if (control->adapts && control->min_step > control->max_step) {
        lg_report_say(report, "min_step is above max_step: %g and %g", control->min_step, control->max_step);
        return LG_BAD_ARGUMENT;
    }
    return LG_OK;
}

/* ---- norms ---- */

/* Root mean square of x / scale over coordinates and velocities; a zero entry counts as zero whatever its scale.
   Velocities without coordinates count once. Squares do not overflow. */
static double weighted_norm(const lg_space *space, const double *x, const double *scale)
{
    double norm = 0;
    int n = 2 * space->nv, count = n;
    for (const lg_factor *f = space->factor, *end = f + space->nfactors; f < end; f++)
        count -= f->nq == 0 ? f->nv : 0;
    for (int i = 0; i < n; i++)
        norm = hypot(norm, x[i] == 0 ? 0 : x[i] / scale[i]);
    return norm / sqrt(count);
}

/* Raises scale[0..n) to atol + rtol |x|. */
static void raise_scales(int n, const double *rtol, const double *atol, const double *x, double *scale)
{
    for (int i = 0; i < n; i++)
        scale[i] = fmax(scale[i], atol[i] + rtol[i] * fabs(x[i]));
}

/* Raises the scales to those of a state, where Lie kinds use the displacement theta, which is 0 at the start of a
   step. */
static void raise_scales_at(lg_control *control, const lg_space *space, const lg_state *state, const double *theta)
{
    for (const lg_factor *f = space->factor, *end = f + space->nfactors; f < end; f++) {
        int own = f->node->linear && f->nq == f->nv;
        const double *x = own ? state->q + f->q : theta + f->v;
        raise_scales(f->nv, control->rtol + f->v, control->atol + f->v, x, control->scale + f->v);
    }
    int nv = space->nv;
    raise_scales(nv, control->rtol + nv, control->atol + nv, state->v, control->scale + nv);
}

static double norm(lg_control *control, const lg_space *space, const lg_state *before, const lg_state *after)
{
    double *theta = control->v;
    lg_copy(2 * space->nv, control->atol, control->scale);
    lg_zero(space->nv, theta);
    raise_scales_at(control, space, before, theta);
    lg_space_difference(space, before->q, after->q, theta);
    raise_scales_at(control, space, after, theta);
    double error = weighted_norm(space, control->error, control->scale);
    if (!control->coarse || error == 0)
        return error;
    return error * (error / hypot(error, 0.1 * weighted_norm(space, control->coarse, control->scale)));
}

static double least(int n, const double *x)
{
    double smallest = INFINITY;
    for (int i = 0; i < n; i++)
        smallest = fmin(smallest, x[i]);
    return smallest;
}

lg_status lg_control_measure(lg_control *control, lg_stepper *stepper, const lg_state *before, const lg_state *after,
                             double *error)
{
    const lg_system *system = stepper->system;
    int nv = system->space->nv;
    *error = norm(control, system->space, before, after);
    control->memory_error = (lg_memory_error){0, NULL};
    if (!system->memory.error)
        return LG_OK;
    lg_point from = lg_point_at(before->t, before->q, before->v), to = lg_point_at(after->t, after->q, after->v);
    from.t_in = to.t_in = 0.5 * (before->t + after->t);
    from.mem.values = before->mem, to.mem.values = after->mem;
    from.work = to.work = stepper->accel.work;
    LG_TRY(system->memory.error(system->self, &from, &to, least(nv, control->rtol), least(nv, control->atol),
                                &control->memory_error));
    if (!(*error >= control->memory_error.size) && !isnan(*error))
        *error = control->memory_error.size;
    return LG_OK;
}

/* ---- the first step ---- */

/* Accelerations after an explicit Euler step of size h, whose displacement of the coordinates is left in control->v. */
static lg_status euler_step(lg_control *control, lg_stepper *stepper, const lg_state *state, double h)
{
    const lg_space *space = stepper->system->space;
    for (int i = 0; i < space->nv; i++)
        control->v[i] = h * state->v[i];
    lg_space_retract(space, state->q, control->v, control->q);
    for (int i = 0; i < space->nv; i++)
        control->v[i] = state->v[i] + h * state->a[i];

    lg_point point = lg_point_at(state->t + h, control->q, control->v);
    point.t_in = state->t + 0.5 * h, point.mem = (lg_memory){state->mem, h, NULL};
    return lg_accel_solve(&stepper->accel, &point, control->a, control->lam, &stepper->report);
}

/* Velocities without coordinates move nothing. */
static void clear_first_order(const lg_space *space, double *theta)
{
    for (const lg_factor *f = space->factor, *end = f + space->nfactors; f < end; f++)
        if (f->nq == 0)
            lg_zero(f->nv, theta + f->v);
}

/* Norms of the state and of its rates. An entry that is zero and has no absolute tolerance does not count: it will have
   a scale after a step. */
static void sizes(lg_control *control, const lg_space *space, const lg_state *state, double *size, double *rate)
{
    int nv = space->nv;
    lg_copy(2 * nv, control->atol, control->scale);
    lg_zero(nv, control->v);
    raise_scales_at(control, space, state, control->v);
    for (int i = 0; i < 2 * nv; i++)
        control->scale[i] = control->scale[i] > 0 ? control->scale[i] : INFINITY;

    lg_zero(nv, control->error);
    for (const lg_factor *f = space->factor, *end = f + space->nfactors; f < end; f++)
        if (f->node->linear && f->nq == f->nv)
            lg_copy(f->nv, state->q + f->q, control->error + f->v);
    lg_copy(nv, state->v, control->error + nv);
    *size = weighted_norm(space, control->error, control->scale);

    lg_copy(nv, state->v, control->error);
    lg_copy(nv, state->a, control->error + nv);
    clear_first_order(space, control->error);
    *rate = weighted_norm(space, control->error, control->scale);
}

lg_status lg_control_begin(lg_control *control, lg_stepper *stepper, const lg_state *state, double span)
{
    const lg_space *space = stepper->system->space;
    double most = fmin(span, control->max_step), size, rate;
    int nv = space->nv;
    if (!isnan(control->first_step)) {
        control->memory->h = fmin(most, control->first_step);
        return LG_OK;
    }

    sizes(control, space, state, &size, &rate);
    double h0 = fmin(most, size < 1e-5 || rate < 1e-5 ? 1e-6 : 0.01 * size / rate);
    LG_TRY(euler_step(control, stepper, state, h0));

    for (int i = 0; i < nv; i++) {
        control->error[i] = control->v[i] - state->v[i];
        control->error[nv + i] = control->a[i] - state->a[i];
    }
    clear_first_order(space, control->error);
    double bend = weighted_norm(space, control->error, control->scale) / h0, largest = fmax(rate, bend);
    double h1 = largest <= 1e-15 ? fmax(1e-6, 1e-3 * h0) : pow(0.01 / largest, 1 / control->order);
    control->memory->h = fmax(fmin(most, fmin(100 * h0, h1)), fmin(most, control->min_step));
    return LG_OK;
}

/* ---- from step to step ---- */

/* The step size that the times resolve exactly: (t + h) - t, at least the distance from t to the next number. After a
   rejection it is rounded down, so that the step is shorter than the rejected one. */
static double resolved(const lg_control *control, double t, double h)
{
    double end = t + h;
    if (control->memory->rejections > 0 && end - t > h)
        end = nextafter(end, -INFINITY);
    return fmax(end - t, nextafter(t, INFINITY) - t);
}

lg_trial lg_control_next(const lg_control *control, double t, double landing)
{
    static const double stretch = 1.05;
    double h = control->memory->h, left = landing - t;
    if (left <= stretch * h && (left <= control->max_step || left <= h))
        return (lg_trial){.h = left, .lands = 1, .shortened = left < h};
    if (left < 2 * h)
        return (lg_trial){.h = resolved(control, t, 0.5 * left), .shortened = 1};
    return (lg_trial){.h = resolved(control, t, h)};
}

/* What the next step remembers of the error of a step that was accepted: the error itself, or its coefficient in
   h^k. */
static double remembered(const lg_control *control, double error, double h)
{
    static const double least_predictive = 1e-2;
    if (control->law == LG_CONTROL_PREDICTIVE)
        return fmax(error, least_predictive) / pow(h, control->order);
    return fmax(error, least_error);
}

/* The factor of the law, within its bounds, after a step that had the size the control wanted or that was rejected. */
static double law_factor(const lg_control *control, double h, double error, int accepted)
{
    const lg_control_memory *memory = control->memory;
    double factor = control->safety * pow(error, -1 / control->order);
    int knows_last = accepted && error > 0 && memory->error > 0;
    if (control->law == LG_CONTROL_PI && knows_last)
        factor = control->safety * pow(error, -0.7 / control->order) * pow(memory->error, 0.4 / control->order);
    if (control->law == LG_CONTROL_PREDICTIVE && knows_last)
        factor *= fmin(1, h * pow(memory->error / error, 1 / control->order));
    if (control->law != LG_CONTROL_PAPER) {
        factor = fmax(control->max_decrease, factor);
        if (!accepted || memory->rejections > 0)
            factor = fmin(factor, 1);
    }
    return fmin(factor, control->max_increase);
}

/* The size to try next. After a step that was shortened for a landing, it is at most the size that was wanted
   before. */
static double next_size(const lg_control *control, lg_trial trial, double error, int accepted)
{
    const lg_control_memory *memory = control->memory;
    if (isnan(error))
        return control->after_failure * trial.h;
    if (accepted && trial.shortened && memory->rejections == 0) /* a small error may be round-off and is not used */
        return error < least_error ? memory->h
                                   : fmin(memory->h, control->safety * pow(error, -1 / control->order) * trial.h);
    return law_factor(control, trial.h, error, accepted) * trial.h;
}

int lg_control_judge(lg_control *control, lg_trial trial, double error)
{
    lg_control_memory *memory = control->memory;
    int accepted = error <= 1, brief = trial.h < 0.5 * memory->h;
    memory->h = fmin(control->max_step, fmax(control->min_step, next_size(control, trial, error, accepted)));
    memory->rejections = accepted ? 0 : memory->rejections + 1;
    if (accepted && !brief)
        memory->error = remembered(control, error, trial.h);
    return accepted;
}
