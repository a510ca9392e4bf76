/* The HHT schemes of sherif2019 as printed, on Euler parameters and linear coordinates, index 3, and the choice between
   them and generalized-alpha: the option `modified` asks for a scheme as printed.

   With F = gyro - force + B^T lam, gamma = (1 - 2 alpha)/2 and beta = (1 - alpha)^2/4, a step solves for a = a_n+1,
   lam:

       (62)        1/(1 + alpha) M a + F - alpha/(1 + alpha) F_n = 0,   phi(q) = 0
       (17)        q = q_n + h v_n + h^2 ((1/2 - beta) a_n + beta a)
       (18)        v = u + h gamma a,    u = v_n + h (1 - gamma) a_n.

   Nonholonomic rows, which the paper does not have, hold for the velocities: B(q) v = 0.

   On Euler parameters e the modified method replaces (18) by

       (34)        v = L(q)^T L(q_n) u + h gamma (I - e e^T) a.

   `transport` uses L(q)^T L(q_n) F_n instead of F_n, since (62) adds M a and F_n as if both referred to the same axes.
   The a_n are the accelerations of the algorithm; a + alpha vdot_n = (1 + alpha) vdot, in body components for the
   modified method. */
#include "core/small.h"
#include "integrator/implicit.h"
#include "integrator/options.h"
#include "integrator/sensitivities.h"
#include "solve/initial.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { MAX_UNIT_BLOCK = 7 }; /* velocities of a block with unit length */

/* Begins with the options of generalized-alpha, which reads them as its own; what follows `modified` belongs to the
   schemes as printed. */
typedef struct lg_hht_options {
    lg_genalpha_options genalpha;
    lg_option_value modified, transport;
} lg_hht_options;

static const lg_hht_options *options_of(const lg_stepper *self)
{
    return (const lg_hht_options *)self->options;
}

static const lg_option hht_rows[] = {
    {"alpha",
     LG_OPTION_NUMBER,
     {-0.2, -1},
     -1.0 / 3,
     0,
     NULL,
     "Numerical damping: 0 is none (average acceleration), -1/3 the strongest.",
     LG_FIELD(lg_hht_options, genalpha.damping)},
    {"modified",
     LG_OPTION_FLAG,
     {NAN, -1},
     0,
     1,
     NULL,
     "sherif2019 as printed, on Euler parameters: True the modified velocity formula, which does not slow rotations "
     "down, False the classical one. None: generalized-alpha.",
     LG_FIELD(lg_hht_options, modified)},
    {"transport",
     LG_OPTION_FLAG,
     {NAN, -1},
     0,
     1,
     NULL,
     "With modified=True or False: turn the old forces into the new axes (None is False); modified=True then has order "
     "two in spatial motion.",
     LG_FIELD(lg_hht_options, transport)},
    LG_GENALPHA_OPTIONS(LG_INDEX_BY_STEPS),
};

const lg_option_rows lg_hht_rows = LG_OPTION_ROWS(hht_rows, lg_hht_options);

/* ---- which scheme ---- */

/* Whether an option belongs to the schemes as printed, or to generalized-alpha: both read the damping, the end of
   Newton's method and `modified`. */
static int is_read(const lg_option *option, int printed)
{
    const long others = LG_FIELD(lg_hht_options, genalpha.sigma), modified = LG_FIELD(lg_hht_options, modified);
    if (option->field < others || option->field == modified)
        return 1;
    return (option->field > modified) == printed;
}

static lg_status choose(const lg_method *method, const lg_system *system, const lg_option_value *options,
                        const lg_stepper_type **stepper, lg_report *report)
{
    int printed = !isnan(((const lg_hht_options *)options)->modified.number);
    (void)system;
    *stepper = printed ? &lg_hht : &lg_genalpha;
    for (int i = 0; i < method->options->count; i++) {
        const lg_option *option = &method->options->row[i];
        if (!options[option->field].given || is_read(option, printed))
            continue;
        lg_report_say(report,
                      printed ? "%s: the scheme chosen by modified has no such option"
                              : "%s: needs modified=True or modified=False",
                      option->name);
        return LG_BAD_ARGUMENT;
    }
    return LG_OK;
}

/* ---- the stepper ---- */

typedef struct lg_hht_stepper {
    lg_stepper base;
    lg_system printed; /* in the form of its steps; starts have that of dynamics */
    double alpha, beta, gamma;
    int modified, transport;
    lg_implicit implicit;

    /* the current step */
    const lg_state *start;
    double t, h, beta_prime, gamma_prime, row_noise;
    double *theta0, *u; /* the known parts of theta and v */
    double *a, *lam; /* unknowns */
    double *theta, *q, *v, *vdot, *old; /* at the end of the step; old = F_n, transported */
    double *X, *D; /* per block: dv/da over h gamma; d old/dq */
    double *phidot, *Z, *part; /* of nonholonomic rows, else NULL; room as long as B */
    lg_chain *chain;
} lg_hht_stepper;

/* ---- options ---- */

/* Every block that rotates a body must be one of Euler parameters. */
static lg_status check_kinds(lg_stepper *self)
{
    const lg_system *system = self->system;
    const lg_space *space = system->space;
    for (const lg_factor *f = space->factor; f < space->factor + space->nfactors; f++) {
        int is_tree = (system->flags & LG_SYSTEM_TREES) != 0 && f == space->block[f->block].factor;
        int turns = f->node->rotation || is_tree;
        if (!turns || f->node->hht)
            continue;
        const char *name = system->block_name ? system->block_name(system->self, f->block) : "a block";
        char formulations[LG_NAME_SIZE];
        lg_list_unit_formulations(formulations, sizeof formulations);
        lg_report_say(&self->report, "modified needs formulation=\"%s\", but %.*s has other coordinates", formulations,
                      LG_SHORT(name));
        return LG_BAD_ARGUMENT;
    }
    return LG_OK;
}

static lg_status hht_prepare(lg_stepper *self)
{
    lg_hht_stepper *g = (lg_hht_stepper *)self;
    g->printed = lg_system_in(self->system, LG_FORM_SHERIF);
    g->alpha = options_of(self)->genalpha.damping.number;
    g->gamma = 0.5 - g->alpha;
    g->beta = 0.25 * (1 - g->alpha) * (1 - g->alpha);
    g->modified = options_of(self)->modified.number != 0;
    g->transport = options_of(self)->transport.number == 1;
    g->implicit.newton = lg_implicit_settings(&options_of(self)->genalpha.stop);
    g->implicit.newton.plain = g->implicit.newton.good_guess = 1;
    self->stats.newton = "full";
    return check_kinds(self);
}

/* ---- memory ---- */

static void hht_layout(lg_stepper *self, lg_arena *arena)
{
    lg_hht_stepper *g = (lg_hht_stepper *)self;
    const lg_space *space = self->system->space;
    size_t nv = (size_t)space->nv, nrows = (size_t)self->system->pattern->nrows;

    double **velocities[] = {&g->theta0, &g->u, &g->a, &g->theta, &g->v, &g->vdot, &g->old};
    for (size_t i = 0; i < sizeof velocities / sizeof *velocities; i++)
        *velocities[i] = lg_arena_doubles(arena, nv);
    double **matrices[] = {&g->X, &g->D};
    for (size_t i = 0; i < sizeof matrices / sizeof *matrices; i++)
        *matrices[i] = lg_arena_doubles(arena, (size_t)space->nm);
    const lg_pattern *pattern = self->system->pattern;
    if (pattern->nnonholonomic) {
        g->phidot = lg_arena_doubles(arena, nrows);
        g->Z = lg_arena_doubles(arena, (size_t)pattern->nvalues);
        g->part = lg_arena_doubles(arena, (size_t)pattern->nvalues);
    }
    g->q = lg_arena_doubles(arena, (size_t)space->nq);
    g->lam = lg_arena_doubles(arena, nrows);
    lg_implicit_layout(&g->implicit, &self->accel, 1, 0, arena);
    g->chain = lg_arena_take(arena, (size_t)space->nblocks * sizeof(lg_chain));
}

/* ---- the carry: a_n, F_n, the h that a_n belongs to, the memory of Newton's method ---- */

static int hht_carry_count(const lg_stepper *self)
{
    return 2 * self->system->space->nv + 1 + LG_NEWTON_MEMORY;
}

/* A consistent start has F_n = -M vdot_n. */
static lg_status hht_reset(lg_stepper *self, lg_state *state)
{
    const lg_system *system = self->system;
    int nv = system->space->nv;
    double *F = state->carry + nv;
    lg_point point = lg_point_after(state->t, state->q, state->v, state->mem);
    point.a = state->a;
    point.work = self->accel.work;

    self->accel.evaluations++;
    LG_TRY(system->eval(system->self, &point, &(lg_wanted){.Ma = F}));
    for (int i = 0; i < nv; i++)
        F[i] = -F[i];
    lg_copy(nv, state->a, state->carry);
    lg_zero(1 + LG_NEWTON_MEMORY, state->carry + 2 * nv);
    return LG_OK;
}

/* a_n for a step of size h: it belongs to t_n + alpha h. */
static double bias_of_carrier(const lg_state *state, double ratio, int i)
{
    return ratio == 1 ? state->carry[i] : state->a[i] + ratio * (state->carry[i] - state->a[i]);
}

/* ---- the step's formulas ---- */

/* The first guess: a_n and lam_n. */
static void hht_predict(lg_hht_stepper *g, const lg_state *state, double h)
{
    int nv = g->base.system->space->nv;
    double last = state->carry[2 * nv], ratio = last > 0 ? h / last : 1;
    for (int i = 0; i < nv; i++) {
        double vn = state->v[i], an = bias_of_carrier(state, ratio, i);
        g->u[i] = vn + h * (1 - g->gamma) * an;
        g->theta0[i] = h * vn + h * h * (0.5 - g->beta) * an;
        g->a[i] = an;
    }
    lg_copy(g->base.system->pattern->nrows, state->lam, g->lam);
}

/* Whether v follows (34) on a block. */
static int is_modified(const lg_hht_stepper *g, const lg_block *b)
{
    return g->modified && b->node->hht;
}

/* The chains of the step; the matrices they point to change with its iterations. */
static void hht_form_chains(lg_hht_stepper *g)
{
    const lg_space *space = g->base.system->space;
    double k[3] = {1 / g->beta_prime, g->h * g->gamma, 1};
    for (int i = 0; i < space->nblocks; i++) {
        const lg_block *b = &space->block[i];
        g->chain[i] = (lg_chain){{k[0], k[1], k[2]}, {NULL, is_modified(g, b) ? g->X + b->m : NULL, NULL}};
    }
}

/* (34) on one block's node, and (69) over h gamma: X = I - e e^T + h beta/gamma w^ - h^2 beta (e a^T + (e.a) I) */
static void modified_velocity(lg_hht_stepper *g, const lg_block *b, int with_matrix)
{
    const double *q0 = g->start->q + b->q, *q = g->q + b->q;
    double turned[MAX_UNIT_BLOCK], own[MAX_UNIT_BLOCK], W[MAX_UNIT_BLOCK * MAX_UNIT_BLOCK];
    double Pq[MAX_UNIT_BLOCK * MAX_UNIT_BLOCK], room[MAX_UNIT_BLOCK * MAX_UNIT_BLOCK];
    double *X = lg_factor_matrix(b->factor, b, room, g->X + b->m);
    int nv = b->node->nv, n = nv * nv;

    b->node->hht->transport(q0, q, g->u + b->v, turned, with_matrix ? W : NULL);
    b->node->hht->project(q, g->a + b->v, own, with_matrix ? X : NULL, with_matrix ? Pq : NULL);
    for (int i = 0; i < nv; i++)
        g->v[b->v + i] = turned[i] + g->h * g->gamma * own[i];
    if (with_matrix) {
        lg_axpy(n, g->h * g->beta / g->gamma, W, X);
        lg_axpy(n, 1 / g->beta_prime, Pq, X);
        for (int i = 0; i < b->nfactors; i++)
            lg_factor_put(&b->factor[i], b, i == 0 ? X : NULL, g->X + b->m);
    }
}

/* theta, q, v and the old force from a. */
static void hht_follow(lg_hht_stepper *g, int with_matrix)
{
    const lg_space *space = g->base.system->space;
    const double *F = g->start->carry + space->nv;
    for (int i = 0; i < space->nv; i++) {
        g->theta[i] = g->theta0[i] + g->a[i] / g->beta_prime;
        g->v[i] = g->u[i] + g->h * g->gamma * g->a[i];
    }
    lg_space_move(space, g->start->q, g->theta, NULL, g->q, NULL);
    lg_copy(space->nv, F, g->old);

    for (const lg_block *b = space->block, *end = b + space->nblocks; b < end; b++) {
        if (is_modified(g, b))
            modified_velocity(g, b, with_matrix);
        if (g->transport && b->node->hht)
            b->node->hht->transport(g->start->q + b->q, g->q + b->q, F + b->v, g->old + b->v,
                                    with_matrix ? g->D + b->m : NULL);
    }
}

/* vdot = (a + alpha vdot_n)/(1 + alpha), except for the part along e where v follows (34). */
static void form_vdot(lg_hht_stepper *g)
{
    const lg_space *space = g->base.system->space;
    const double *last = g->start->a;
    for (int i = 0; i < space->nv; i++)
        g->vdot[i] = (g->a[i] + g->alpha * last[i]) / (1 + g->alpha);

    for (const lg_block *b = space->block, *end = b + space->nblocks; b < end; b++) {
        double turned[MAX_UNIT_BLOCK], own[MAX_UNIT_BLOCK];
        if (!is_modified(g, b))
            continue;
        b->node->hht->transport(g->start->q + b->q, g->q + b->q, last + b->v, turned, NULL);
        b->node->hht->project(g->q + b->q, g->a + b->v, own, NULL, NULL);
        for (int i = 0; i < b->node->nv; i++)
            g->vdot[b->v + i] = g->a[b->v + i] + g->alpha / (1 + g->alpha) * (turned[i] - own[i]);
    }
}

/* ---- Newton's problem ---- */

static lg_point end_point(const lg_hht_stepper *g)
{
    lg_point end = lg_point_at(g->t + g->h, g->q, g->v);
    end.t_in = g->t + 0.5 * g->h;
    end.wa = 1 / (1 + g->alpha);
    end.a = g->a, end.lam = g->lam, end.work = g->base.accel.work;
    end.mem = (lg_memory){g->start->mem, g->h, g->theta};
    return end;
}

/* S for the chains, in one pass with whatever else is wanted. */
static lg_status evaluate_system(lg_hht_stepper *g, lg_wanted *wanted, int with_matrix)
{
    const lg_system *system = &g->printed;
    lg_accel *accel = &g->base.accel;
    lg_point point = end_point(g);

    const lg_tangent tangent = {&accel->matrix, g->chain};

    if (with_matrix) {
        lg_matrix_zero(&accel->matrix);
        wanted->tangent = &tangent;
        wanted->ntangents = 1;
        wanted->B = system->pattern->nrows ? accel->B : NULL;
        wanted->Z = g->Z;
    }
    accel->evaluations++;
    return system->eval(system->self, &point, wanted);
}

/* S += -alpha/(1 + alpha) d old/dq h^2 beta */
static void add_transport(lg_hht_stepper *g)
{
    const lg_space *space = g->base.system->space;
    double k = -g->alpha / (1 + g->alpha) / g->beta_prime;
    for (int i = 0; i < space->nblocks; i++) {
        const lg_block *b = &space->block[i];
        if (!g->transport || !b->node->hht)
            continue;
        int ld;
        double *S = lg_matrix_at(&g->base.accel.matrix, i, &ld);
        for (int j = 0, n = b->node->nv; j < n; j++)
            lg_axpy(n, k, g->D + b->m + j * n, S + (size_t)j * ld);
    }
}

/* (62) and the rows, scaled. */
static lg_status hht_evaluate(void *self, int with_matrix, double *residual, lg_residual_norms *norms)
{
    lg_hht_stepper *g = self;
    int nv = g->base.system->space->nv, nrows = g->base.system->pattern->nrows;
    double *phi = residual + nv, wa = 1 / (1 + g->alpha);
    lg_wanted wanted = lg_implicit_terms(&g->implicit);
    wanted.phi = nrows ? phi : NULL;
    wanted.phidot = g->phidot;

    hht_follow(g, with_matrix);
    LG_TRY(evaluate_system(g, &wanted, with_matrix));
    lg_implicit_forces(&g->implicit, nv, wa, g->alpha * wa, g->old, norms);
    lg_implicit_put_nonholonomic(g->base.system->pattern, g->gamma_prime, g->phidot, phi);
    lg_implicit_rows(0, nrows, g->beta_prime, g->row_noise, 0, phi, norms);
    return LG_OK;
}

static lg_status hht_factor(void *self, int with_matrix, int keeps)
{
    (void)keeps;
    lg_hht_stepper *g = self;
    lg_accel *accel = &g->base.accel;
    if (!with_matrix) {
        hht_follow(g, 1);
        LG_TRY(evaluate_system(g, &(lg_wanted){0}, 1));
    }

    add_transport(g);
    if (g->base.system->pattern->nrows)
        lg_implicit_add_rows(accel, g->beta_prime, g->gamma_prime, g->Z, g->part, g->chain);
    g->base.stats.jacobians++;
    g->base.stats.newton_factorisations++;
    return lg_factor_named(g->base.system, &accel->matrix, &g->base.report);
}

static lg_status hht_solve(void *self, double *x)
{
    const lg_hht_stepper *g = self;
    return lg_matrix_solve(&g->base.accel.matrix, x);
}

static void hht_update(void *self, const double *correction)
{
    lg_hht_stepper *g = self;
    int nv = g->base.system->space->nv, nrows = g->base.system->pattern->nrows;
    lg_axpy(nv, -1.0, correction, g->a);
    lg_axpy(nrows, -1.0, correction + nv, g->lam);
}

static int is_negligible(void *self, const double *correction)
{
    const lg_hht_stepper *g = self;
    return lg_within(g->base.system->space->nv, correction, g->row_noise / 16 * g->beta_prime);
}

static lg_status measure_noise(void *self, int of_rows, double *noise)
{
    lg_hht_stepper *g = self;
    double *moved = of_rows ? g->implicit.row_noise : NULL;
    double wa = 1 / (1 + g->alpha);
    if (moved)
        LG_TRY(
            lg_implicit_move_by_rows(&g->implicit, &g->base.accel, &g->base.accel.matrix, g->beta_prime, g->row_noise));
    return lg_implicit_noise(&g->implicit, &g->base.accel, &g->printed, end_point(g), wa, g->alpha * wa, g->old, moved,
                             noise);
}

static const double *row_sizes(void *self)
{
    lg_hht_stepper *g = self;
    return lg_implicit_row_sizes(&g->base.accel, g->implicit.row_size);
}

/* ---- the step ---- */

static void hht_begin(lg_hht_stepper *g, const lg_state *state, double h)
{
    g->start = state;
    g->t = state->t;
    g->h = h;
    g->beta_prime = 1 / (h * h * g->beta);
    g->gamma_prime = g->gamma / (h * g->beta);
    g->row_noise = 64 * DBL_EPSILON * (1 + lg_max_abs(g->base.system->space->nq, state->q));
    hht_predict(g, state, h);
    hht_form_chains(g);
}

/* Writes the carry: a, and F at the accepted point, where Newton's method has evaluated last. */
static void carry(const lg_hht_stepper *g, lg_state *state, const lg_newton_memory *memory)
{
    int nv = g->base.system->space->nv;
    double *F = state->carry + nv;
    lg_copy(nv, g->a, state->carry);
    for (int i = 0; i < nv; i++)
        F[i] = g->implicit.gyro[i] - g->implicit.force[i] + g->implicit.Btlam[i];
    state->carry[2 * nv] = g->h;
    memcpy(state->carry + 2 * nv + 1, memory, sizeof *memory);
}

static lg_status hht_step(lg_stepper *self, lg_state *state, double h)
{
    lg_hht_stepper *g = (lg_hht_stepper *)self;
    hht_begin(g, state, h);

    int nrows = self->system->pattern->nrows;
    int nv = self->system->space->nv;
    lg_newton_problem problem = {
        g,         nv,         nrows,         nrows > 0,     hht_evaluate, hht_factor,
        hht_solve, hht_update, is_negligible, measure_noise, row_sizes,    g->implicit.correction};
    lg_point end = end_point(g);
    lg_newton_memory memory;
    lg_newton_result result = {0};
    memcpy(&memory, state->carry + 2 * nv + 1, sizeof memory);
    lg_status status = lg_implicit_solve(&g->implicit, self, &problem, &end, &memory, &result);
    if (status == LG_NO_CONVERGENCE) /* joints may have too little damping: docs/hht.md */
        lg_report_advise(&self->report, "try a smaller h, alpha further below zero or a larger max_iter");
    LG_TRY(status);

    form_vdot(g);
    LG_TRY(lg_stepper_accept(self, state, h, g->theta, g->q, g->v, g->vdot, g->lam));
    carry(g, state, &memory);
    return LG_OK;
}

static const lg_stepper_carry carry_functions = {.count = hht_carry_count, .reset = hht_reset};

static const char *refuse_sensitivities(const lg_stepper *self)
{
    (void)self;
    return "modified: the schemes as printed have no derivatives; leave it out";
}

static const lg_stepper_sensitivities sensitivities = {.refused = refuse_sensitivities};

const lg_stepper_type lg_hht = {
    .name = "hht",
    .coupling = LG_COUPLING_TANGENTS,
    .size = sizeof(lg_hht_stepper),
    .choose = choose,
    .sensitivities = &sensitivities,
    .prepare = hht_prepare,
    .layout = hht_layout,
    .carry = &carry_functions,
    .step = hht_step,
};
