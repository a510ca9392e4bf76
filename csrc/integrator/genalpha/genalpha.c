/* Generalized-alpha in local coordinates, of index 3, 2 and stabilised index 2, after holzinger2025 (11)-(20): rows,
   options, memory and the step. The formulas are in step.h, exact.c and printed.c, the solution is in newton.c, and the
   data handed from step to step are in carry.c. sigma = 0 is the method geom1 of Bruels and Cardona. */
#include "core/small.h"
#include "integrator/genalpha/step.h"
#include "integrator/options.h"
#include "integrator/sensitivities.h"
#include "solve/initial.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- rows: parameters and options ---- */

/* Rules for alpha_m and alpha_f; always gamma = 1/2 - alpha_m + alpha_f (order two), beta = (gamma + 1/2)^2/4
   (damping). */

/* chung1993 */
static void chung_hulbert(double rho, double alpha[2])
{
    alpha[0] = (2 * rho - 1) / (1 + rho);
    alpha[1] = rho / (1 + rho);
}

/* Newmark's average acceleration */
static void average_acceleration(double unused, double alpha[2])
{
    (void)unused;
    alpha[0] = alpha[1] = 0;
}

/* HHT on accelerations */
static void hilber_hughes_taylor(double damping, double alpha[2])
{
    alpha[0] = 0;
    alpha[1] = -damping;
}

const lg_alpha_rule lg_chung_hulbert = {chung_hulbert}, lg_average_acceleration = {average_acceleration},
                    lg_hilber_hughes_taylor = {hilber_hughes_taylor};

static const lg_option genalpha_rows[] = {
    {"rho_inf",
     LG_OPTION_NUMBER,
     {0.9, -1},
     0,
     1,
     NULL,
     "Spectral radius at infinite frequency: 1 is no damping, 0 the strongest.",
     LG_FIELD(lg_genalpha_options, damping)},
    LG_GENALPHA_OPTIONS(LG_INDEX_BY_STEPS),
};

/* Index 3 is not the default here: without damping its multipliers oscillate. */
static const lg_option newmark_rows[] = {LG_GENALPHA_OPTIONS(LG_INDEX_STABILIZED_ALWAYS)};

const lg_option_rows lg_genalpha_rows = LG_OPTION_ROWS(genalpha_rows, lg_genalpha_options);
const lg_option_rows lg_newmark_rows = LG_OPTION_ROWS(newmark_rows, lg_genalpha_options);

/* ---- options ---- */

static const lg_genalpha_options *options_of(const lg_stepper *self)
{
    return (const lg_genalpha_options *)self->options;
}

static lg_alpha parameters(const lg_stepper *self)
{
    const lg_genalpha_options *options = options_of(self);
    lg_option_value sigma = options->sigma;
    double alpha[2];
    ((const lg_alpha_rule *)self->method->data)->of(options->damping.number, alpha);
    lg_alpha p = {.alpha_m = alpha[0], .alpha_f = alpha[1]};
    p.gamma = 0.5 - p.alpha_m + p.alpha_f;
    p.beta = 0.25 * (p.gamma + 0.5) * (p.gamma + 0.5);
    p.kappa = (1 - p.alpha_f) / (1 - p.alpha_m);
    p.sigma = sigma.choice == 0 ? p.gamma / (3 * p.beta) : sigma.number;
    return p;
}

static lg_alpha_index index_of(const lg_genalpha_stepper *g)
{
    lg_option_value index = options_of(&g->base)->index;
    int chosen = index.choice < 0 && !isnan(index.number);
    if (chosen && index.number != 2 && index.number != 3)
        return LG_INDEX_COUNT;
    if (!g->base.system->pattern->nrows)
        return LG_INDEX_3; /* without constraints the indices do not differ */
    if (index.choice == 0 || (!chosen && lg_stepper_adapts(&g->base)))
        return LG_INDEX_STABILIZED;
    return chosen && index.number == 2 ? LG_INDEX_2 : LG_INDEX_3;
}

static const lg_alpha_form *form_of(const lg_genalpha_stepper *g)
{
    static const lg_alpha_form *const forms[] = {[LG_ALPHA_FORM_EXACT] = &lg_exact_form,
                                                 [LG_ALPHA_FORM_PRINTED] = &lg_printed_form,
                                                 [LG_ALPHA_FORM_PRINTED_HALF] = &lg_printed_half_form};
    return forms[options_of(&g->base)->form.choice];
}

/* Its second matrix has no stiffness, which couples more blocks than constraints do. */
static const lg_plan *mu_plan(const lg_genalpha_stepper *g)
{
    const lg_plan *masses = g->base.plans.of[LG_COUPLING_MASS];
    if (g->index != LG_INDEX_STABILIZED)
        return NULL;
    return masses ? masses : g->base.plan;
}

/* When the matrix is renewed. None, which older versions recorded as their default, means full Newton's method, unless
   a new matrix takes many calls of functions. */
static lg_renewal_rule renewal_rule(const lg_genalpha_stepper *g)
{
    int newton = options_of(&g->base)->newton.choice;
    int differenced = (g->base.system->flags & LG_SYSTEM_DIFFERENCED) != 0;
    if (newton < 0)
        newton = differenced ? LG_NEWTON_MODIFIED : LG_NEWTON_FULL;
    if (newton == LG_NEWTON_MODIFIED)
        return g->extrapolates ? LG_RENEW_WORN : LG_RENEW_AS_PRINTED;
    return newton == LG_NEWTON_FULL ? LG_RENEW_ALWAYS : LG_RENEW_BY_COST;
}

static const char *newton_name(const lg_genalpha_stepper *g)
{
    int newton = options_of(&g->base)->newton.choice;
    if (newton == LG_NEWTON_AUTO)
        return "auto";
    return g->implicit.newton.renewal.rule == LG_RENEW_ALWAYS ? "full" : "modified";
}

/* Newton's method as the options ask for it. */
static lg_newton_settings settings_of(const lg_genalpha_stepper *g)
{
    const lg_genalpha_options *options = options_of(&g->base);
    lg_newton_settings settings = lg_implicit_settings(&options->stop);
    lg_renewal_rule rule = renewal_rule(g);
    /* without damping the remaining error of Newton's method keeps oscillating and would enter the differences of
       vdot */
    if (g->undamped && lg_stepper_adapts(&g->base))
        settings.rtol *= 0.01;
    if (g->base.nparameters) { /* the derivatives of a step are those at its solution */
        settings.rtol = fmin(settings.rtol, 1e-11);
        settings.atol *= 1e-4;
        settings.measures = 1;
    }
    const lg_plan *second = rule == LG_RENEW_BY_COST ? mu_plan(g) : NULL;
    settings.plain = settings.together = !g->extrapolates;
    settings.good_guess = g->extrapolates;
    settings.renewal = (lg_renewal_settings){
        .rule = rule,
        .matrix_cost = lg_implicit_matrix_cost(g->base.system, g->base.plan, second),
        .renew_after = (int)options->renew_after.number,
    };
    return settings;
}

/* Whether the options contradict each other; the report says how. */
static int is_refused(lg_genalpha_stepper *g)
{
    lg_report *report = &g->base.report;
    int constrained = g->base.system->pattern->nrows > 0, printed = g->form != &lg_exact_form;
    if (g->index == LG_INDEX_COUNT)
        lg_report_name(report, "index must be 3, 2 or \"stabilized\"");
    else if (printed && g->extrapolates)
        lg_report_name(report, "predictor \"extrapolate\" needs form \"exact\"");
    else if (printed && g->estimates)
        lg_report_name(report, "rtol, atol: the forms as printed have no error estimate; form \"exact\" has one");
    else if (g->index == LG_INDEX_3 && constrained && g->adapts)
        lg_report_name(report, "index 3 takes no tolerances: changes of h disturb its multipliers, and ratios of three "
                               "are unstable; take index 2 or \"stabilized\"");
    else
        return 0;
    return 1;
}

static lg_status genalpha_prepare(lg_stepper *self)
{
    lg_genalpha_stepper *g = (lg_genalpha_stepper *)self;
    const lg_genalpha_options *options = options_of(self);
    lg_option_value predictor = options->predictor;
    g->alpha = parameters(self);
    g->undamped = g->alpha.gamma == 0.5;
    g->index = index_of(g);
    g->form = form_of(g);
    g->without_P = g->index != LG_INDEX_STABILIZED && (g->alpha.sigma == 0 || g->alpha.sigma == 1);
    g->optimal_start = options->start.choice == LG_START_OPTIMAL;
    g->extrapolates = predictor.choice == LG_PREDICTOR_EXTRAPOLATE && (g->form == &lg_exact_form || predictor.given);
    g->force_terms = options->tangent_terms.choice == LG_TERMS_FORCE;
    g->operator = options->tangent_operator.number != 0;
    g->scaled = options->scaling.number != 0;
    g->nvalues = !g->extrapolates ? 0 : self->nparameters ? LG_ALPHA_VALUES : g->undamped ? 3 : 2;
    g->implicit.newton = settings_of(g);
    self->accel.guest = mu_plan(g);
    self->stats.newton = newton_name(g);
    g->estimates = lg_stepper_estimates(self);
    g->adapts = lg_stepper_adapts(self);
    return is_refused(g) ? LG_BAD_ARGUMENT : LG_OK;
}

/* ---- memory ---- */

static void layout_rows(lg_genalpha_stepper *g, lg_arena *arena)
{
    const lg_pattern *pattern = g->base.system->pattern;
    int nonholonomic = g->index == LG_INDEX_3 && pattern->nnonholonomic;
    if (g->index != LG_INDEX_3 || nonholonomic)
        g->Z = lg_arena_doubles(arena, (size_t)pattern->nvalues);
    if (g->index == LG_INDEX_STABILIZED || nonholonomic)
        g->Bn = lg_arena_doubles(arena, (size_t)pattern->nvalues);
    if (nonholonomic)
        g->phidot = lg_arena_doubles(arena, (size_t)pattern->nrows);
}

static void layout_mu(lg_genalpha_stepper *g, lg_arena *arena)
{
    const lg_system *system = g->base.system;
    lg_accel *accel = &g->base.accel;
    size_t nv = (size_t)system->space->nv, nrows = (size_t)system->pattern->nrows;
    g->Btmu = lg_accel_between(accel, nv, arena);
    g->mu_correction = lg_accel_between(accel, nv + nrows, arena);
    g->second_sweep = lg_accel_between(accel, nv + nrows, arena);
    g->TL = lg_accel_between(accel, (size_t)system->space->nm, arena);
    lg_matrix_layout_guest(&g->mu_matrix, accel->guest, &accel->matrix, arena);
}

/* The matrices of the chains serve from the evaluation of a matrix to its factorisation. The factors are free then, and
   hold them if they fit. */
static void layout_chains(lg_genalpha_stepper *g, lg_arena *arena)
{
    const lg_space *space = g->base.system->space;
    size_t nm = (size_t)space->nm;
    int fits = 2 * nm <= (size_t)lg_plan_values(g->base.plan);
    double *room = fits ? g->base.accel.matrix.factors : lg_arena_doubles(arena, 2 * nm);
    g->T = room;
    g->X = room ? room + nm : NULL;
    g->chain = lg_arena_take(arena, (size_t)space->nblocks * sizeof(lg_chain));
}

/* Unknowns stand in memory of the solver of accelerations, which a step does not use. */
static void layout_unknowns(lg_genalpha_stepper *g)
{
    const lg_accel *accel = &g->base.accel;
    g->theta0 = accel->gyro;
    g->w = accel->x;
    g->lam = g->now.lam = accel->x ? accel->x + g->base.system->space->nv : NULL;
    g->mu = accel->rows;
}

static void genalpha_layout(lg_stepper *self, lg_arena *arena)
{
    lg_genalpha_stepper *g = (lg_genalpha_stepper *)self;
    const lg_system *system = self->system;
    size_t nv = (size_t)system->space->nv;
    int stabilized = g->index == LG_INDEX_STABILIZED;

    double **velocities[] = {&g->v0, &g->a0, &g->now.v, &g->now.a, &g->now.theta, &g->now.c};
    for (size_t i = 0; i < sizeof velocities / sizeof *velocities; i++)
        *velocities[i] = lg_arena_doubles(arena, nv);
    size_t kept = lg_alpha_keeps_matrix(g) ? (size_t)lg_alpha_state_count(system) : 0;
    lg_implicit_layout(&g->implicit, &self->accel, 1 + stabilized, kept, arena);
    g->now.q = lg_arena_doubles(arena, (size_t)system->space->nq);
    g->fresh = lg_arena_doubles(arena, nv + (size_t)system->pattern->nrows);
    layout_unknowns(g);
    g->at = lg_point_at(0, g->now.q, g->now.v);
    g->at.a = g->now.a, g->at.lam = g->now.lam, g->at.work = self->accel.work;
    g->at.mem.theta = g->now.theta;
    layout_rows(g, arena);
    if (stabilized)
        layout_mu(g, arena);
    layout_chains(g, arena);
    if (kept)
        g->new_state = lg_matrix_layout_rest(&self->accel.matrix, self->accel.guest, 0, kept, arena);
    lg_alpha_set_problem(g);
}

static void close_mu_matrix(lg_stepper *self)
{
    lg_matrix_close(&((lg_genalpha_stepper *)self)->mu_matrix);
}

/* ---- from step to step ---- */

static int genalpha_carry_count(const lg_stepper *self)
{
    lg_alpha_carry carry;
    return lg_alpha_carry_layout((const lg_genalpha_stepper *)self, NULL, &carry);
}

static lg_status genalpha_reset(lg_stepper *self, lg_state *state)
{
    lg_genalpha_stepper *g = (lg_genalpha_stepper *)self;
    lg_alpha_carry carry;
    lg_zero(lg_alpha_carry_layout(g, state->carry, &carry), state->carry);
    lg_copy(self->system->space->nv, state->a, carry.a);
    g->matrix_valid = 0;
    return LG_OK;
}

/* Constraints let accelerations oscillate from step to step as (-r)^n. */
static double oscillating_root(const lg_alpha *p)
{
    return (1.5 - p->gamma) / (0.5 + p->gamma);
}

/* Weights of the values of the last steps, the latest first, in the first guess: a straight line through two values.
   Without damping three values are used, which is exact for alternating values as well. Those are then a mode of the
   method; a straight line would predict 3 instead of -1, and the part of that error that Newton's method leaves would
   excite the mode in resonance. Runs with sensitivities solve more exactly and take four, exact for a parabola and for
   the mode (-r)^n that starts excite. */
static void guess_weights(const lg_genalpha_stepper *g, const lg_alpha_carry *c, double weights[LG_ALPHA_VALUES])
{
    double steps = g->anew ? 0 : *c->steps, ratio = steps < 2 ? 0 : g->h == *c->h ? 1 : g->h / *c->h;
    weights[0] = 1 + ratio, weights[1] = -ratio, weights[2] = weights[3] = 0;
    if (steps < 3 || g->h != *c->h)
        return;
    if (g->nvalues == LG_ALPHA_VALUES && steps >= LG_ALPHA_VALUES) {
        double r = oscillating_root(&g->alpha);
        weights[0] = 3 - r, weights[1] = 3 * r - 3, weights[2] = 1 - 3 * r, weights[3] = r;
    } else if (g->undamped) {
        weights[0] = weights[1] = 1, weights[2] = -1;
    }
}

/* out = weights[0] x + weights[1] earlier[0] + ... */
static LG_INLINE void combine(int n, const double weights[LG_ALPHA_VALUES], const double *x, double *const earlier[],
                              double *restrict out)
{
    const double *next = earlier[0];
    for (int i = 0; i < n; i++)
        out[i] = weights[0] * x[i] + weights[1] * next[i];
    for (int k = 2; k < LG_ALPHA_VALUES; k++)
        if (weights[k] != 0)
            lg_axpy(n, weights[k], earlier[k - 1], out);
}

/* The unknowns that Newton's method starts from. */
static void guess(lg_genalpha_stepper *g, const lg_alpha_carry *c)
{
    const lg_state *state = g->start;
    int nv = g->base.system->space->nv, nrows = g->base.system->pattern->nrows, nmu = lg_alpha_mu_count(g);
    if (!g->extrapolates || g->again) {
        lg_zero(nv, g->w);
        lg_zero(nrows, g->lam);
        lg_zero(nmu, g->mu);
        return;
    }
    double weights[LG_ALPHA_VALUES];
    guess_weights(g, c, weights);
    LG_OFTEN_SIX(nv, combine, weights, *c->steps >= 1 && !g->anew ? c->w[0] : state->a, c->w + 1, g->w);
    if (nrows)
        combine(nrows, weights, state->lam, c->lam, g->lam);
    if (nmu)
        combine(nmu, weights, c->mu[0], c->mu + 1, g->mu);
}

/* The part of a_n - vdot_n that belongs to a smooth motion, Delta (vdot_n - vdot_n-1), is in proportion to h. The rest
   is a memory of earlier steps, which falls by alpha_m/(1 - alpha_m) per step and must not grow with h: after a stiff
   contact it would grow faster than it falls. */
static void rescale(int n, double Delta, double ratio, const double *vdot, const lg_alpha_carry *c, double *a)
{
    for (int i = 0; i < n; i++) {
        double smooth = Delta * (vdot[i] - c->vdot[i]), rest = c->a[i] - vdot[i] - smooth;
        a[i] = vdot[i] + ratio * smooth + fmin(ratio, 1) * rest;
    }
}

/* a_n belongs to t_n + (alpha_m - alpha_f) h of the step before. */
static void take_accelerations(lg_genalpha_stepper *g, const lg_alpha_carry *c)
{
    const lg_state *state = g->start;
    int nv = g->base.system->space->nv;
    double ratio = *c->h > 0 && *c->h != g->h ? g->h / *c->h : 1;
    g->v_n = state->v;
    g->a_n = g->anew ? state->a : c->a;
    if (g->anew || ratio == 1)
        return;
    double *a = g->now.a;
    g->a_n = a;
    if (g->adapts && lg_alpha_knows_vdot(g, c)) {
        rescale(nv, g->alpha.alpha_m - g->alpha.alpha_f, ratio, state->a, c, a);
        return;
    }
    for (int i = 0; i < nv; i++)
        a[i] = state->a[i] + ratio * (c->a[i] - state->a[i]);
}

/* Takes over the memory of Newton's method. After a change of h the next step is tested. */
static void take_memory(lg_genalpha_stepper *g, const lg_alpha_carry *c)
{
    memcpy(&g->memory, c->memory, sizeof g->memory);
    if (g->anew)
        g->memory = (lg_newton_memory){0};
    if (*c->h != g->h)
        g->memory.first_error = 0;
}

/* Restores the matrix of modified Newton in a resumed run or after a failed step. */
static lg_status take_matrix(lg_genalpha_stepper *g, const lg_alpha_carry *c)
{
    g->matrix_valid &= !g->base.replaced;
    g->base.replaced = 0;
    if (!lg_alpha_keeps_matrix(g) || g->anew || g->matrix_valid || c->formed_at[0] == 0)
        return LG_OK;
    lg_alpha_state formed = lg_alpha_state_in(g->base.system, c->formed_at);
    LG_TRY(lg_alpha_rebuild(g, &formed));
    g->matrix_valid = 1;
    return LG_OK;
}

/* The parts of a state's carry, whose addresses change only if the carry is another array. */
static lg_alpha_carry *carry_of(lg_genalpha_stepper *g, const lg_state *state)
{
    if (g->carry_base != state->carry)
        lg_alpha_carry_layout(g, state->carry, &g->carry);
    g->carry_base = state->carry;
    return &g->carry;
}

static lg_status take_over(lg_genalpha_stepper *g)
{
    lg_alpha_carry *c = carry_of(g, g->start);
    take_accelerations(g, c);
    take_memory(g, c);
    if (g->optimal_start && *c->h == 0)
        LG_TRY(lg_alpha_optimal_start(g));
    LG_TRY(take_matrix(g, c));
    guess(g, c);
    return LG_OK;
}

/* The latest values of n unknowns come first, those of earlier steps move back. */
static void shift(int n, int back, double *const x[], const double *latest)
{
    if (n == 0)
        return;
    for (int i = back; i > 0; i--)
        lg_copy(n, x[i - 1], x[i]);
    lg_copy(n, latest, x[0]);
}

/* out = x + s y */
static LG_INLINE void add_scaled(int n, const double *restrict x, double s, const double *restrict y,
                                 double *restrict out)
{
    for (int i = 0; i < n; i++)
        out[i] = x[i] + s * y[i];
}

/* Writes the carry for the next step after an accepted step that began with lam_n and vdot_n. */
static void hand_over(const lg_genalpha_stepper *g, const double *lam_n, const double *vdot_n)
{
    int nv = g->base.system->space->nv, nrows = g->base.system->pattern->nrows, nmu = lg_alpha_mu_count(g);
    const lg_alpha_carry *c = &g->carry;
    LG_OFTEN_SIX(nv, add_scaled, g->a0, g->alpha.kappa, g->now.a, c->a);
    *c->h = g->h;
    if (g->estimates)
        lg_copy(nv, vdot_n, c->vdot);
    memcpy(c->memory, &g->memory, sizeof g->memory);
    if (g->nvalues > 0) {
        int back = g->nvalues - 1;
        shift(nv, back, c->w, g->w);
        shift(nrows, back - 1, c->lam, lam_n);
        shift(nmu, back, c->mu, g->mu);
        *c->steps = g->anew ? 1 : *c->steps < LG_ALPHA_VALUES ? *c->steps + 1 : LG_ALPHA_VALUES;
    }
    if (g->state_changed && g->matrix_valid)
        lg_copy(lg_alpha_state_count(g->base.system), g->new_state, c->formed_at);
    else if (g->state_changed && lg_alpha_keeps_matrix(g))
        c->formed_at[0] = 0;
}

/* ---- the step ---- */

static void genalpha_predict(lg_genalpha_stepper *g)
{
    LG_OFTEN_SIX(g->base.system->space->nv, lg_alpha_predict_velocities, &g->scales, g->v_n, g->a_n, g->start->a,
                 g->theta0, g->v0, g->a0, g->now.c);
    g->form->predict(g);
}

static lg_status genalpha_begin(lg_genalpha_stepper *g, const lg_state *state, double h)
{
    const lg_space *space = g->base.system->space;
    g->start = state;
    lg_alpha_set_size(g, h);
    g->now.t = state->t + h;
    g->now.t_in = state->t + 0.5 * h;
    g->now.h = h;
    g->now.mem = state->mem;
    g->now.qn = state->q;
    g->at.t = g->now.t, g->at.t_in = g->now.t_in, g->at.mem.values = state->mem, g->at.mem.age = h;
    g->noise_phi = g->base.system->pattern->nrows ? lg_alpha_row_noise(g) : 0;
    if (g->index != LG_INDEX_3)
        g->noise_phidot = 64 * DBL_EPSILON * (1 + lg_max_abs(space->nv, state->v));

    LG_TRY(take_over(g));
    g->state_changed = 0;
    genalpha_predict(g);
    return g->index == LG_INDEX_STABILIZED ? lg_alpha_base_rows(g, &g->now) : LG_OK;
}

/* Whether Newton's method may try again after a failure. Where constraint rows are nearly dependent, errors of
   multipliers that are extrapolated can be too large, and lead to where the rows are dependent. */
static int may_try_again(const lg_genalpha_stepper *g, lg_status status, const lg_newton_result *result)
{
    int has_moved = status == LG_SINGULAR && result->iterations > 0;
    return lg_alpha_keeps_matrix(g) && (status == LG_NOT_FINITE || status == LG_NO_CONVERGENCE || has_moved);
}

/* Solves the step. If that fails and matrices may be reused, it is solved again, without extrapolation and with a new
   matrix in each iteration. */
static lg_status alpha_solve(lg_genalpha_stepper *g, const lg_state *state, double h)
{
    g->again = 0;
    LG_TRY(genalpha_begin(g, state, h));
    lg_newton_result result = {.matrix_valid = g->matrix_valid};
    lg_status status = lg_alpha_solve(g, &result);
    if (may_try_again(g, status, &result)) {
        result = (lg_newton_result){.full = 1};
        g->again = 1;
        status = genalpha_begin(g, state, h);
        if (status == LG_OK)
            status = lg_alpha_solve(g, &result);
    }
    int kept = lg_alpha_keeps_matrix(g) && (!g->state_changed || (!g->state_lost && g->new_state[0] != 0));
    g->matrix_valid = kept && status == LG_OK && result.matrix_valid;
    return status;
}

/* Newton's tolerance leaves an error in the accelerations at the end of a step, which grows as the step gets shorter.
   After a step that was shorter by this factor they are useless, and so is what is extrapolated from them. */
static const double much_longer = 1e3;

/* Gives the start of a step the accelerations and multipliers of the index-1 equations, as at the start of a run. */
static lg_status begin_anew(lg_genalpha_stepper *g, lg_state *from)
{
    double *lam = g->fresh + g->base.system->space->nv;
    g->matrix_valid = 0;
    lg_point point = lg_point_after(from->t, from->q, from->v, from->mem);
    LG_TRY(lg_start_accelerations(&g->base.accel, &point, g->fresh, lam, &g->base.report));
    from->a = g->fresh;
    from->lam = lam;
    return LG_OK;
}

static lg_status genalpha_step(lg_stepper *self, lg_state *state, double h)
{
    lg_genalpha_stepper *g = (lg_genalpha_stepper *)self;
    int nrows = self->system->pattern->nrows;
    lg_state from = *state;
    const lg_alpha_carry *c = carry_of(g, state);
    g->anew = *c->h > 0 && h > much_longer * *c->h;
    if (g->anew)
        LG_TRY(begin_anew(g, &from));
    lg_status status = alpha_solve(g, &from, h);
    g->start = state;
    LG_TRY(status);

    double *lam_n = g->implicit.residual, *vdot_n = g->v0; /* scratch: what stood there is no longer needed */
    if (nrows)
        lg_copy(nrows, state->lam, lam_n);
    if (g->estimates)
        lg_copy(self->system->space->nv, from.a, vdot_n);
    LG_TRY(lg_stepper_accept(self, state, h, g->now.theta, g->now.q, g->now.v, g->now.a, g->lam));
    hand_over(g, lam_n, vdot_n);
    return LG_OK;
}

static const lg_stepper_carry carry_functions = {
    .count = genalpha_carry_count, .reset = genalpha_reset, .adopt = lg_alpha_adopt};

static const lg_stepper_embedded embedded = {.error = lg_alpha_error};

const lg_stepper_type lg_genalpha = {
    .name = "genalpha",
    .coupling = LG_COUPLING_TANGENTS,
    .size = sizeof(lg_genalpha_stepper),
    .prepare = genalpha_prepare,
    .layout = genalpha_layout,
    .carry = &carry_functions,
    .step = genalpha_step,
    .embedded = &embedded,
    .sensitivities = &lg_alpha_sensitivities,
    .close = close_mu_matrix,
};
