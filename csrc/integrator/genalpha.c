/* Generalized-alpha in local coordinates, of index 3, 2 and stabilised index 2, after holzinger2025 (11)-(20): options,
   memory and the step. The formulas stand in genalpha_step.h and genalpha_forms.c, the solution in genalpha_newton.c,
   what is handed from step to step in genalpha_carry.c. sigma = 0 is the method geom1 of Bruels and Cardona. */
#include "integrator/genalpha.h"

#include "core/small.h"
#include "integrator/genalpha_step.h"
#include "integrator/options.h"
#include "solve/initial.h"

#include <float.h>

const lg_alpha_rule lg_chung_hulbert = {.m = {-1, 2}, .f = {0, 1}};
const lg_alpha_rule lg_average_acceleration = {.first_option = LG_GENALPHA_SIGMA};

#define INDEX_3 {3, -1}
#define INDEX_STABILIZED {3, 0}

/* All options but rho_inf. */
#define SHARED_OPTIONS(index_default)                                                                                  \
    {"sigma",                                                                                                          \
     LG_OPTION_NUMBER,                                                                                                 \
     {1.0, -1},                                                                                                        \
     -5,                                                                                                               \
     5,                                                                                                                \
     "optimal",                                                                                                        \
     "Weight of the Lie group term: 0 is geom1, \"optimal\" is gamma/(3 beta)."},                                      \
        {"index",                                                                                                      \
         LG_OPTION_INTEGER,                                                                                            \
         index_default,                                                                                                \
         2,                                                                                                            \
         3,                                                                                                            \
         "stabilized",                                                                                                 \
         "Constraints that each step fulfils: 3 positions, 2 velocities, \"stabilized\" both."},                       \
        {"form",                                                                                                       \
         LG_OPTION_CHOICE,                                                                                             \
         {0, 0},                                                                                                       \
         0,                                                                                                            \
         0,                                                                                                            \
         "exact|printed|printed_half",                                                                                 \
         "The formulas as they stand, the algorithms as printed, or these with the factor 1/2 that line 6 lacks."},    \
        {"start",                                                                                                      \
         LG_OPTION_CHOICE,                                                                                             \
         {0, 0},                                                                                                       \
         0,                                                                                                            \
         0,                                                                                                            \
         "plain|optimal",                                                                                              \
         "\"optimal\" shifts a_0, for index 3 perturbs v_0 too: multipliers of second order from the first step."},    \
        {"predictor",                                                                                                  \
         LG_OPTION_CHOICE,                                                                                             \
         {0, 0},                                                                                                       \
         0,                                                                                                            \
         0,                                                                                                            \
         "plain|extrapolate",                                                                                          \
         "First guess: zero accelerations and multipliers, or from the last two steps."},                              \
        {"newton", LG_OPTION_CHOICE, {0, 0}, 0, 0, "full|modified", "\"modified\" keeps the matrix while it serves."}, \
        {"tangent_terms",                                                                                              \
         LG_OPTION_CHOICE,                                                                                             \
         {0, 0},                                                                                                       \
         0,                                                                                                            \
         0,                                                                                                            \
         "all|force",                                                                                                  \
         "\"force\" leaves d(M vdot)/dq and d(B^T lambda)/dq out of the matrix."},                                     \
        {"tangent_operator", LG_OPTION_FLAG, {1, -1}, 0, 1, NULL, "Whether T, or P^-1, stands in the matrix."},        \
        {"scaling", LG_OPTION_FLAG, {1, -1}, 0, 1, NULL, "Whether unknowns and rows are scaled like accelerations."},  \
        LG_NEWTON_OPTIONS

const lg_option lg_genalpha_options[] = {
    {"rho_inf",
     LG_OPTION_NUMBER,
     {0.9, -1},
     0,
     1,
     NULL,
     "Spectral radius at infinite frequency: 1 no damping, 0 most."},
    SHARED_OPTIONS(INDEX_3),
};

/* Index 3 without damping leaves the multipliers oscillating: not the default here. */
const lg_option lg_newmark_options[] = {SHARED_OPTIONS(INDEX_STABILIZED)};

/* ---- options ---- */

static lg_option_value option_of(const lg_genalpha_stepper *g, int which)
{
    const lg_alpha_rule *rule = g->base.method->coefficients;
    return which < rule->first_option ? lg_genalpha_options[which].initial
                                      : g->base.options[which - rule->first_option];
}

static lg_alpha parameters(const lg_alpha_rule *rule, double rho, lg_option_value sigma)
{
    lg_alpha p;
    p.alpha_m = (rule->m[0] + rule->m[1] * rho) / (1 + rho);
    p.alpha_f = (rule->f[0] + rule->f[1] * rho) / (1 + rho);
    p.gamma = 0.5 - p.alpha_m + p.alpha_f;
    p.beta = 0.25 * (p.gamma + 0.5) * (p.gamma + 0.5);
    p.kappa = (1 - p.alpha_f) / (1 - p.alpha_m);
    p.sigma = sigma.choice == 0 ? p.gamma / (3 * p.beta) : sigma.number;
    return p;
}

static lg_alpha_index index_of(const lg_genalpha_stepper *g)
{
    lg_option_value index = option_of(g, LG_GENALPHA_INDEX);
    if (index.choice != 0 && index.number != 2 && index.number != 3)
        return LG_INDEX_COUNT;
    if (!g->base.system->pattern->nrows)
        return LG_INDEX_3; /* all the same */
    return index.choice == 0 ? LG_INDEX_STABILIZED : index.number == 2 ? LG_INDEX_2 : LG_INDEX_3;
}

static lg_status prepare(lg_stepper *self)
{
    lg_genalpha_stepper *g = (lg_genalpha_stepper *)self;
    g->alpha = parameters(self->method->coefficients, option_of(g, LG_GENALPHA_RHO_INF).number,
                          option_of(g, LG_GENALPHA_SIGMA));
    g->index = index_of(g);
    g->form = (lg_alpha_form)option_of(g, LG_GENALPHA_FORM).choice;
    g->optimal_start = option_of(g, LG_GENALPHA_START).choice;
    g->extrapolates = option_of(g, LG_GENALPHA_PREDICTOR).choice;
    g->force_terms = option_of(g, LG_GENALPHA_TERMS).choice;
    g->operator = option_of(g, LG_GENALPHA_OPERATOR).number != 0;
    g->scaled = option_of(g, LG_GENALPHA_SCALING).number != 0;
    g->newton = (lg_newton_settings){option_of(g, LG_GENALPHA_NEWTON + LG_NEWTON_RTOL).number,
                                     option_of(g, LG_GENALPHA_NEWTON + LG_NEWTON_ATOL).number,
                                     (int)option_of(g, LG_GENALPHA_NEWTON + LG_NEWTON_MAX_ITER).number,
                                     option_of(g, LG_GENALPHA_MODE).choice, g->extrapolates};

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
    g->base.report.iteration = g->likely = result.iterations;
    g->base.report.residual = result.residual;
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
    .copies = 1,
    .prepare = prepare,
    .layout = layout,
    .carry_count = lg_genalpha_carry_count,
    .reset = lg_genalpha_reset,
    .step = step,
    .close = close_lift,
};
