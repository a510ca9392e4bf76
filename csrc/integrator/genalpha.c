/* Generalized-alpha in local coordinates, of index 3, 2 and stabilised index 2, after holzinger2025 (11)-(20): options,
   memory and the step. The formulas stand in genalpha_step.h and genalpha_forms.c, the solution in genalpha_newton.c,
   what is handed from step to step in genalpha_carry.c. sigma = 0 is the method geom1 of Bruels and Cardona. */
#include "integrator/genalpha.h"

#include "core/small.h"
#include "integrator/genalpha_step.h"
#include "integrator/implicit.h"
#include "integrator/options.h"
#include "solve/initial.h"

#include <float.h>

/* ---- rows: parameters and options ---- */

static double chung_hulbert_m(double rho)
{
    return (2 * rho - 1) / (1 + rho);
}

static double chung_hulbert_f(double rho)
{
    return rho / (1 + rho);
}

static double zero(double unused)
{
    (void)unused;
    return 0;
}

static double negative(double alpha)
{
    return -alpha;
}

const lg_alpha_rule lg_chung_hulbert = {"rho_inf", chung_hulbert_m, chung_hulbert_f};
const lg_alpha_rule lg_average_acceleration = {NULL, zero, zero};
const lg_alpha_rule lg_hilber_hughes_taylor = {"alpha", zero, negative};

const lg_option lg_genalpha_options[LG_GENALPHA_OPTION_COUNT] = {
    {"rho_inf",
     LG_OPTION_NUMBER,
     {0.9, -1},
     0,
     1,
     NULL,
     "Spectral radius at infinite frequency: 1 no damping, 0 most."},
    LG_GENALPHA_OPTIONS(LG_INDEX_3_DEFAULT),
};

/* Index 3 without damping leaves the multipliers oscillating: not the default here. */
const lg_option lg_newmark_options[LG_NEWMARK_OPTION_COUNT] = {LG_GENALPHA_OPTIONS(LG_STABILIZED_DEFAULT)};

/* ---- options ---- */

static lg_alpha parameters(const lg_stepper *self)
{
    const lg_alpha_rule *rule = self->method->coefficients;
    double damping = rule->option ? lg_stepper_option(self, rule->option).number : 0;
    lg_option_value sigma = lg_stepper_option(self, "sigma");
    lg_alpha p = {.alpha_m = rule->alpha_m(damping), .alpha_f = rule->alpha_f(damping)};
    p.gamma = 0.5 - p.alpha_m + p.alpha_f;
    p.beta = 0.25 * (p.gamma + 0.5) * (p.gamma + 0.5);
    p.kappa = (1 - p.alpha_f) / (1 - p.alpha_m);
    p.sigma = sigma.choice == 0 ? p.gamma / (3 * p.beta) : sigma.number;
    return p;
}

static lg_alpha_index index_of(const lg_genalpha_stepper *g)
{
    lg_option_value index = lg_stepper_option(&g->base, "index");
    if (index.choice != 0 && index.number != 2 && index.number != 3)
        return LG_INDEX_COUNT;
    if (!g->base.system->pattern->nrows)
        return LG_INDEX_3; /* all the same */
    return index.choice == 0 ? LG_INDEX_STABILIZED : index.number == 2 ? LG_INDEX_2 : LG_INDEX_3;
}

static lg_status prepare(lg_stepper *self)
{
    lg_genalpha_stepper *g = (lg_genalpha_stepper *)self;
    g->alpha = parameters(self);
    g->index = index_of(g);
    g->form = (lg_alpha_form)lg_stepper_option(self, "form").choice;
    g->optimal_start = lg_stepper_option(self, "start").choice;
    g->extrapolates = lg_stepper_option(self, "predictor").choice;
    g->force_terms = lg_stepper_option(self, "tangent_terms").choice;
    g->operator = lg_stepper_option(self, "tangent_operator").number != 0;
    g->scaled = lg_stepper_option(self, "scaling").number != 0;
    g->newton = lg_newton_options(self);
    g->newton.modified = lg_stepper_option(self, "newton").choice;
    g->newton.good_guess = g->extrapolates;

    if (g->index == LG_INDEX_COUNT)
        lg_report_name(&self->report, "index must be 3, 2 or \"stabilized\"");
    else if (g->form != LG_FORM_EXACT && g->extrapolates)
        lg_report_name(&self->report, "predictor \"extrapolate\" needs form \"exact\"");
    else
        return LG_OK;
    return LG_BAD_ARGUMENT;
}

/* ---- memory ---- */

static void layout(lg_stepper *self, lg_arena *arena)
{
    lg_genalpha_stepper *g = (lg_genalpha_stepper *)self;
    const lg_space *space = self->system->space;
    size_t nv = (size_t)space->nv, nrows = (size_t)self->system->pattern->nrows;
    size_t nvalues = g->index == LG_INDEX_3 ? 0 : (size_t)self->system->pattern->nvalues;

    double **velocities[] = {&g->vn,    &g->an,        &g->theta0, &g->v0,   &g->a0, &g->a,    &g->w,     &g->now.v,
                             &g->now.a, &g->now.theta, &g->now.c,  &g->Btmu, &g->Ma, &g->gyro, &g->force, &g->Btlam};
    for (size_t i = 0; i < sizeof velocities / sizeof *velocities; i++)
        *velocities[i] = lg_arena_doubles(arena, nv);
    g->now.q = lg_arena_doubles(arena, (size_t)space->nq);
    g->lam = g->now.lam = lg_arena_doubles(arena, nrows);
    g->mu = lg_arena_doubles(arena, nrows);
    g->shift = lg_arena_doubles(arena, nv + nrows);
    g->more = lg_arena_doubles(arena, nv + nrows);
    g->residual = lg_arena_doubles(arena, nv + 2 * nrows);
    g->T = lg_arena_doubles(arena, (size_t)space->nm);
    g->X = lg_arena_doubles(arena, (size_t)space->nm);
    g->chain = lg_arena_take(arena, (size_t)space->nblocks * sizeof(lg_chain));
    g->Z = lg_arena_doubles(arena, nvalues);
    g->Bn = lg_arena_doubles(arena, nvalues);
    if (g->index == LG_INDEX_STABILIZED)
        lg_matrix_layout(&g->lift, self->plan, arena);
    g->kept = lg_arena_doubles(arena, g->newton.modified ? (size_t)lg_genalpha_place_count(self->system) : 0);
}

static void close_lift(lg_stepper *self)
{
    lg_matrix_close(&((lg_genalpha_stepper *)self)->lift);
}

/* ---- the step ---- */

static lg_status begin(lg_genalpha_stepper *g, const lg_state *state, double h)
{
    const lg_space *space = g->base.system->space;
    g->start = state;
    g->h = h;
    g->beta_prime = lg_beta_prime(&g->alpha, h);
    g->gamma_prime = lg_gamma_prime(&g->alpha, h);
    g->now.t = state->t + h;
    g->now.t_in = state->t + 0.5 * h;
    g->now.h = h;
    g->now.mem = state->mem;
    g->now.qn = state->q;
    g->noise_phi = 64 * DBL_EPSILON * (1 + lg_max_abs(space->nq, state->q));
    g->noise_phidot = 64 * DBL_EPSILON * (1 + lg_max_abs(space->nv, state->v));
    lg_accel_reset(&g->base.accel);

    LG_TRY(lg_genalpha_take_over(g));
    g->chained = 0;
    lg_genalpha_predict(g);
    return g->index == LG_INDEX_STABILIZED ? lg_genalpha_base_rows(g, &g->now) : LG_OK;
}

/* Solves the step; where a matrix of old leads nowhere, once more with a new one. */
static lg_status solve(lg_genalpha_stepper *g, const lg_state *state, double h)
{
    LG_TRY(begin(g, state, h));
    int old = g->live;
    lg_newton_result result = {.iterations = g->likely, .factored = g->live};
    lg_status status = lg_genalpha_solve(g, &result);
    g->base.stats.newton_iterations += result.iterations;
    if ((status == LG_NOT_FINITE || status == LG_NO_CONVERGENCE) && old) {
        LG_TRY(begin(g, state, h));
        result.factored = 0;
        status = lg_genalpha_solve(g, &result);
        g->base.stats.newton_iterations += result.iterations;
    }
    g->live = g->newton.modified && status == LG_OK && result.factored;
    g->likely = result.iterations;
    return status;
}

static lg_status step(lg_stepper *self, lg_state *state, double h)
{
    lg_genalpha_stepper *g = (lg_genalpha_stepper *)self;
    int nv = self->system->space->nv, nrows = self->system->pattern->nrows;
    LG_TRY(solve(g, state, h));

    for (int i = 0; i < nv; i++)
        g->a[i] = g->a0[i] + g->alpha.kappa * g->now.a[i];
    double *lam_n = g->residual;
    lg_copy(nrows, state->lam, lam_n);
    LG_TRY(lg_stepper_accept(self, state, h, g->now.q, g->now.v, g->now.a, g->lam));
    lg_genalpha_hand_over(g, state, lam_n);
    return LG_OK;
}

const lg_stepper_type lg_genalpha = {
    .name = "genalpha",
    .size = sizeof(lg_genalpha_stepper),
    .prepare = prepare,
    .layout = layout,
    .carry_count = lg_genalpha_carry_count,
    .reset = lg_genalpha_reset,
    .step = step,
    .close = close_lift,
};
