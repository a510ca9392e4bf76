/* Energy-momentum and midpoint schemes with the momentum p as part of the state (kinon2024).

   A step solves for q1 and lam, while v1 and p1 follow from q1 by the rule of the row (`kinetic` of the waist):

       (72b)        (p1 - p0)/h - dT/dq - force + G^T lam = 0
       (72d)        phi(q1) = 0

   with the derivative of the kinetic energy, the gradient of the potential and the gradients G of the constraint rows
   taken in the step, discrete (71) or at the middle; see system/system.h. Newton's unknown is q1 over h^2/2, so that
   its matrix begins with M.

   The rule (72c) is linear in p1, and (72a) in v1: Newton's method on q1, v1, p1 and lam has the same corrections of q1
   and lam as that on q1 and lam alone. A row with `all` set iterates on all four: its matrix is condensed to that of q1
   and lam, and p1 follows p1(q1) + dp1/dq1 dq1, with an equation of its own that has to converge.

   The carry is p, the memory of Newton's method, and the (q, v) to which p belongs; a state with other q or v, such as
   the start of a run, has p = M v. */
#include "integrator/implicit.h"
#include "integrator/methods.h"
#include "integrator/null_space.h"
#include "solve/culprit.h"
#include "solve/initial.h"

#include "core/small.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- options ---- */

typedef struct lg_conserve_options {
    lg_option_value equivariant, guess, hamiltonian;
    lg_newton_options stop;
} lg_conserve_options;

enum { GUESS_EULER, GUESS_PREVIOUS, GUESS_EXTRAPOLATE };

/* In the order of the choices of `hamiltonian`. */
static const lg_kinetic_rule readings[] = {LG_KINETIC_POLYNOMIAL, LG_KINETIC_HAMILTON, LG_KINETIC_PUBLISHED};

#define CONSERVE_OPTIONS                                                                                               \
    {"equivariant",                                                                                                    \
     LG_OPTION_FLAG,                                                                                                   \
     {0, -1},                                                                                                          \
     0,                                                                                                                \
     1,                                                                                                                \
     NULL,                                                                                                             \
     "Gradients that leave out the symmetries of their function, in attitudes of unit length, so that momenta are "    \
     "kept to round-off; False: as printed.",                                                                          \
     LG_FIELD(lg_conserve_options, equivariant)},                                                                      \
        {"guess",                                                                                                      \
         LG_OPTION_CHOICE,                                                                                             \
         {0, GUESS_EULER},                                                                                             \
         0,                                                                                                            \
         0,                                                                                                            \
         "euler|previous|extrapolate",                                                                                 \
         "First guess of q at the end of a step: q + h v, q, or q + h v + h^2 vdot / 2.",                              \
         LG_FIELD(lg_conserve_options, guess)},                                                                        \
        LG_NEWTON_OPTIONS(lg_conserve_options, 0, 0)

static const lg_option rows[] = {CONSERVE_OPTIONS};
static const lg_option hamilton_rows[] = {
    CONSERVE_OPTIONS,
    {"hamiltonian",
     LG_OPTION_CHOICE,
     {0, 0},
     0,
     0,
     "polynomial|exact|published",
     "Of bodies in Euler parameters e, whose mass matrix has an inverse with 1/|e|^4: without that factor, which is "
     "one "
     "at the ends of a step (139), (143); with it; or, as the code published with the paper, with it in the inverse "
     "and "
     "without it in the gradient.",
     LG_FIELD(lg_conserve_options, hamiltonian)},
};

const lg_option_rows lg_conserve_rows = LG_OPTION_ROWS(rows, lg_conserve_options),
                     lg_hamilton_rows = LG_OPTION_ROWS(hamilton_rows, lg_conserve_options);

/* ---- the rules of rows ---- */

const lg_momentum_rule lg_livens_all = {.pair = LG_PAIR_DISCRETE, .all = 1},
                       lg_livens_reduced = {.pair = LG_PAIR_DISCRETE},
                       lg_livens_null_space = {.pair = LG_PAIR_DISCRETE, .null_space = 1},
                       lg_livens_midpoint = {.pair = LG_PAIR_MIDPOINT},
                       lg_hamilton_midpoint = {.pair = LG_PAIR_MIDPOINT, .kinetic = LG_KINETIC_POLYNOMIAL},
                       lg_hamilton_discrete = {.pair = LG_PAIR_DISCRETE, .kinetic = LG_KINETIC_HAMILTON};

/* ---- the stepper ---- */

typedef struct lg_conserve_stepper {
    lg_stepper base;
    const lg_momentum_rule *rule;
    lg_kinetic_rule kinetic;
    int guess, equivariant;
    lg_newton_settings newton;

    /* the current step */
    const lg_state *start;
    const double *p0;
    double h, row_scale, row_noise; /* row_scale: 1 over h^2/2 */
    double remaining, noise; /* of the last evaluation: force rows, and round-off that their terms do not explain */
    double *q1, *v1, *p1, *lam;
    double *p; /* of the row with `all`: the unknown p1 */
    double *slope, *force, *Gtlam, *vdot, *G;
    double *dp1; /* one matrix per block */
    double *residual;
    double *work, *kept; /* scratch of pairs; what a pair keeps during a step */
    lg_pair_stage stage;
    int midpoints; /* of the last evaluation: gradients at the middle that stand in for discrete ones */
    lg_chain *chain;
    lg_null_space null; /* of the rule with `null_space` */
    double *forces, *phi; /* of that rule: all force rows, all constraint rows */
} lg_conserve_stepper;

static lg_conserve_stepper *stepper_of(lg_stepper *self)
{
    return (lg_conserve_stepper *)self;
}

/* Whether the system has steps by these rules; if not, names the first body that has none. */
static lg_status check_system(lg_stepper *self)
{
    const lg_system *system = self->system;
    const lg_conserve_stepper *c = stepper_of(self);
    lg_pair rules = {.rule = c->rule->pair, .kinetic = c->kinetic};
    int has_steps = system->pair && system->kinetic;
    int block = has_steps ? system->without_step(system->self, &rules) : 0;
    if (has_steps && block < 0)
        return LG_OK;
    if (has_steps && system->block_name)
        lg_report_say(&self->report, "%s: needs %s, and %.*s is neither", self->method->name, self->type->needs,
                      LG_SHORT(system->block_name(system->self, block)));
    else
        lg_report_say(&self->report, "%s: needs %s", self->method->name, self->type->needs);
    self->report.advice = "genalpha runs every model";
    return LG_BAD_ARGUMENT;
}

static lg_status prepare(lg_stepper *self)
{
    lg_conserve_stepper *c = stepper_of(self);
    const lg_conserve_options *options = (const lg_conserve_options *)self->options;
    c->rule = self->method->momentum;
    c->kinetic = c->rule->kinetic;
    if (c->kinetic == LG_KINETIC_POLYNOMIAL)
        c->kinetic = readings[options->hamiltonian.choice];
    c->equivariant = options->equivariant.number != 0;
    LG_TRY(check_system(self));
    c->guess = options->guess.choice;
    c->newton = lg_implicit_settings(self, &options->stop);
    c->newton.plain = 1;
    self->stats.newton = "full";
    return c->rule->null_space ? lg_null_open(&c->null, self->system, self->plan, self->type->coupling) : LG_OK;
}

static void layout(lg_stepper *self, lg_arena *arena)
{
    lg_conserve_stepper *c = stepper_of(self);
    const lg_system *system = self->system;
    size_t nv = (size_t)system->space->nv, nrows = (size_t)system->pattern->nrows;
    double **velocities[] = {&c->v1, &c->p1, &c->p, &c->slope, &c->force, &c->Gtlam, &c->vdot};
    for (size_t i = 0; i < sizeof velocities / sizeof *velocities; i++)
        *velocities[i] = lg_arena_doubles(arena, nv);
    c->q1 = lg_arena_doubles(arena, (size_t)system->space->nq);
    c->lam = lg_arena_doubles(arena, nrows);
    c->G = lg_arena_doubles(arena, (size_t)system->pattern->nvalues);
    c->dp1 = lg_arena_doubles(arena, (size_t)system->space->nm);
    c->residual = lg_arena_doubles(arena, nv + nrows);
    c->work = lg_arena_doubles(arena, (size_t)system->npair);
    c->kept = lg_arena_doubles(arena, (size_t)system->nkept);
    c->chain = lg_arena_take(arena, (size_t)system->space->nblocks * sizeof(lg_chain));
    c->forces = c->residual;
    if (!c->rule->null_space)
        return;
    c->forces = lg_arena_doubles(arena, nv);
    c->phi = lg_arena_doubles(arena, nrows);
    lg_null_layout(&c->null, arena);
}

static void close(lg_stepper *self)
{
    lg_null_close(&stepper_of(self)->null);
}

/* ---- the carry ---- */

/* The parts of the carry. */
typedef struct conserve_carry {
    double *p, *newton, *q, *v;
} conserve_carry;

static conserve_carry carry_of(const lg_stepper *self, const lg_state *state)
{
    double *p = state->carry, *newton = p + self->system->space->nv, *q = newton + LG_NEWTON_MEMORY;
    return (conserve_carry){p, newton, q, q + self->system->space->nq};
}

static int momentum_count(const lg_stepper *self)
{
    return self->system->space->nv;
}

static int carry_count(const lg_stepper *self)
{
    return 2 * self->system->space->nv + self->system->space->nq + LG_NEWTON_MEMORY;
}

/* Notes to which q and v the momentum belongs. */
static void sign_carry(const lg_stepper *self, const lg_state *state)
{
    conserve_carry carry = carry_of(self, state);
    lg_copy(self->system->space->nq, state->q, carry.q);
    lg_copy(self->system->space->nv, state->v, carry.v);
}

static int is_signed(const lg_stepper *self, const lg_state *state)
{
    const lg_space *space = self->system->space;
    conserve_carry carry = carry_of(self, state);
    return memcmp(carry.q, state->q, (size_t)space->nq * sizeof(double)) == 0 &&
           memcmp(carry.v, state->v, (size_t)space->nv * sizeof(double)) == 0;
}

/* The Hamiltonian rule needs the inverse of the mass: a step of length zero shows whether there is one. */
static lg_status check_mass(lg_stepper *self, const lg_state *state)
{
    lg_conserve_stepper *c = stepper_of(self);
    lg_pair pair = {.t = state->t, .h = 1, .q0 = state->q, .q1 = state->q, .v0 = state->v};
    pair.rule = c->rule->pair;
    pair.kinetic = c->kinetic;
    pair.p0 = c->p;
    pair.work = c->work;
    lg_kinetic_wanted wanted = {.v1 = c->v1, .p1 = c->p1, .slope = c->slope};
    lg_status status = self->system->kinetic(self->system->self, &pair, &wanted);
    if (status != LG_SINGULAR)
        return status;
    lg_report_say(&self->report, "%s: the mass matrix is singular; eml, reml and mpl do not need its inverse",
                  self->method->name);
    return LG_BAD_ARGUMENT;
}

/* At a kink p is kept. */
static lg_status reset(lg_stepper *self, lg_state *state)
{
    const lg_system *system = self->system;
    conserve_carry carry = carry_of(self, state);
    if (is_signed(self, state))
        return LG_OK;
    LG_TRY(check_mass(self, state));
    lg_point point = lg_point_after(state->t, state->q, state->v, state->mem);
    point.a = state->v;
    point.work = self->accel.work;
    self->accel.evaluations++;
    LG_TRY(system->eval(system->self, &point, &(lg_wanted){.Ma = carry.p}));
    lg_zero(LG_NEWTON_MEMORY, carry.newton);
    sign_carry(self, state);
    return LG_OK;
}

/* ---- Newton's problem ---- */

static lg_pair step_pair(const lg_conserve_stepper *c)
{
    return (lg_pair){.t = c->start->t,
                     .h = c->h,
                     .rule = c->rule->pair,
                     .kinetic = c->kinetic,
                     .equivariant = c->equivariant,
                     .q0 = c->start->q,
                     .q1 = c->q1,
                     .v0 = c->start->v,
                     .p0 = c->p0,
                     .p1 = c->p1,
                     .lam = c->lam,
                     .mem = c->start->mem,
                     .work = c->work,
                     .stage = c->stage,
                     .kept = c->kept};
}

static lg_status evaluate_system(lg_conserve_stepper *c, int with_matrix, double *phi)
{
    const lg_system *system = c->base.system;
    lg_accel *accel = &c->base.accel;
    lg_pair pair = step_pair(c);
    lg_matrix *S = with_matrix ? &accel->matrix : NULL;
    int constrained = system->pattern->nrows > 0;
    if (S)
        lg_matrix_zero(S);
    accel->evaluations++;
    LG_TRY(system->kinetic(
        system->self, &pair,
        &(lg_kinetic_wanted){.v1 = c->v1, .p1 = c->p1, .slope = c->slope, .dp1 = c->dp1, .S = S, .chain = c->chain}));
    c->stage += c->stage < LG_PAIR_DECIDED;
    return system->pair(system->self, &pair,
                        &(lg_pair_wanted){.force = c->force,
                                          .Gtlam = c->Gtlam,
                                          .phi = constrained ? phi : NULL,
                                          .G = S && constrained ? c->G : NULL,
                                          .B = S && constrained ? accel->B : NULL,
                                          .noise = &c->noise,
                                          .midpoints = &c->midpoints,
                                          .S = S,
                                          .chain = c->chain});
}

static void force_rows(const lg_conserve_stepper *c, double *r)
{
    for (int i = 0; i < c->base.system->space->nv; i++)
        r[i] = (c->p1[i] - c->p0[i]) / c->h - c->slope[i] - c->force[i] + c->Gtlam[i];
}

/* The norms of the force rows; the row with `all` set has p1 - p1(q1) as well. The round-off of q1 over h^2 is not
   counted as noise, so that Newton's method goes on until it stagnates. */
static void measure_forces(const lg_conserve_stepper *c, const double *r, lg_residual_norms *norms)
{
    int nv = c->base.system->space->nv;
    double sum = 0, size = 0;
    for (int i = 0; i < nv; i++) {
        double p1 = c->p1[i] / c->h, p0 = c->p0[i] / c->h, rest = c->rule->all ? (c->p[i] - c->p1[i]) / c->h : 0;
        sum += r[i] * r[i] + rest * rest;
        size += p1 * p1 + p0 * p0 + c->slope[i] * c->slope[i] + c->force[i] * c->force[i] + c->Gtlam[i] * c->Gtlam[i];
    }
    norms->now.force = sqrt(sum / nv);
    norms->size.force = sqrt(size / nv);
    norms->noise.force = DBL_EPSILON * norms->size.force + c->noise;
}

static lg_status evaluate(void *self, int with_matrix, double *residual, lg_residual_norms *norms)
{
    lg_conserve_stepper *c = self;
    int nv = c->base.system->space->nv, nrows = c->base.system->pattern->nrows;
    LG_TRY(evaluate_system(c, with_matrix, residual + nv));
    force_rows(c, residual);
    measure_forces(c, residual, norms);
    c->remaining = norms->now.force;
    lg_implicit_rows(0, nrows, c->row_scale, c->row_noise, 0, residual + nv, norms);
    return LG_OK;
}

static lg_status factor(void *self, int with_matrix)
{
    lg_conserve_stepper *c = self;
    lg_accel *accel = &c->base.accel;
    if (!with_matrix)
        LG_TRY(evaluate_system(c, 1, accel->rows));
    if (c->base.system->pattern->nrows) {
        lg_matrix_add_columns(&accel->matrix, 1.0, c->G);
        lg_matrix_add_rows(&accel->matrix, c->row_scale, accel->B, 0, c->chain);
    }
    c->base.stats.jacobians++;
    return lg_factor_named(c->base.system, &accel->matrix, &c->base.report);
}

static lg_status solve(void *self, double *x)
{
    const lg_conserve_stepper *c = self;
    return lg_matrix_solve(&c->base.accel.matrix, x);
}

/* p1 := p1(q1) - dp1/dq1 change, the linear equation of p1 */
static void follow_momentum(lg_conserve_stepper *c, const double *change)
{
    const lg_space *space = c->base.system->space;
    lg_copy(space->nv, c->p1, c->p);
    for (const lg_block *b = space->block, *end = b + space->nblocks; b < end; b++)
        for (int j = 0; j < b->nv; j++)
            lg_axpy(b->nv, -change[b->v + j] / c->row_scale, c->dp1 + b->m + j * b->nv, c->p + b->v);
}

static void update(void *self, const double *correction)
{
    lg_conserve_stepper *c = self;
    int nv = c->base.system->space->nv, nrows = c->base.system->pattern->nrows;
    lg_axpy(nv, -1 / c->row_scale, correction, c->q1);
    lg_axpy(nrows, -1.0, correction + nv, c->lam);
    if (c->rule->all)
        follow_momentum(c, correction);
}

/* A residual that is no more than the round-off of q1 in p1 and of the forces needs no correction, however far the
   correction would move a coordinate without mass. */
static int is_negligible(void *self, const double *correction)
{
    const lg_conserve_stepper *c = self;
    const lg_space *space = c->base.system->space;
    int nforce = c->rule->null_space ? c->null.nu : space->nv;
    double in_momentum = c->row_noise / 8 * lg_max_abs(space->nm, c->dp1) / c->h;
    return c->remaining <= in_momentum + 8 * c->noise ||
           lg_max_abs(nforce, correction) / c->row_scale <= c->row_noise / 16;
}

/* ---- the same without the blocks' own rows ---- */

static int group_rows(const lg_conserve_stepper *c)
{
    return c->null.reduction.pattern.nrows;
}

static lg_status evaluate_null(void *self, int with_matrix, double *residual, lg_residual_norms *norms)
{
    lg_conserve_stepper *c = self;
    int nrows = group_rows(c);
    LG_TRY(evaluate_system(c, with_matrix, c->phi));
    lg_null_step(&c->null, c->start->q, c->q1);
    force_rows(c, c->forces);
    lg_null_settle(&c->null, c->forces, c->lam);
    measure_forces(c, c->forces, norms);
    c->remaining = norms->now.force;
    lg_null_pull(&c->null, c->forces, residual);
    lg_copy(nrows, c->phi, residual + c->null.nu);
    lg_implicit_rows(0, nrows, c->row_scale, c->row_noise, 0, residual + c->null.nu, norms);
    return LG_OK;
}

static lg_status factor_null(void *self, int with_matrix)
{
    lg_conserve_stepper *c = self;
    if (!with_matrix)
        LG_TRY(evaluate_system(c, 1, c->phi));
    c->base.stats.jacobians++;
    return lg_null_factor(&c->null, &c->base.accel, c->G, &c->base.report);
}

static lg_status solve_null(void *self, double *x)
{
    const lg_conserve_stepper *c = self;
    return lg_matrix_solve(&c->null.matrix, x);
}

static void update_null(void *self, const double *correction)
{
    lg_conserve_stepper *c = self;
    lg_null_move(&c->null, c->q1, -1 / c->row_scale, correction, c->q1);
    lg_axpy(group_rows(c), -1.0, correction + c->null.nu, c->lam);
}

/* ---- the step ---- */

static void predict(lg_conserve_stepper *c, const lg_state *state)
{
    const lg_system *system = c->base.system;
    double first = c->guess == GUESS_PREVIOUS ? 0 : c->h;
    double second = c->guess == GUESS_EXTRAPOLATE ? 0.5 * c->h * c->h : 0;
    for (int i = 0; i < system->space->nv; i++) {
        c->vdot[i] = first * state->v[i] + (isnan(state->a[i]) ? 0 : second * state->a[i]);
        c->q1[i] = state->q[i] + c->vdot[i];
    }
    if (c->rule->null_space)
        lg_null_predict(&c->null, state->q, c->vdot, c->q1);
    for (int i = 0; i < system->pattern->nrows; i++)
        c->lam[i] = isnan(state->lam[i]) ? 0 : state->lam[i];
    lg_copy(system->space->nv, state->carry, c->p);
}

static void begin(lg_conserve_stepper *c, const lg_state *state, double h)
{
    const lg_space *space = c->base.system->space;
    c->start = state;
    c->p0 = state->carry;
    c->h = h;
    c->row_scale = 2 / (h * h);
    c->row_noise = 64 * DBL_EPSILON * (1 + lg_max_abs(space->nq, state->q));
    for (int i = 0; i < space->nblocks; i++)
        c->chain[i] = (lg_chain){.k = {1 / c->row_scale, 0, 0}};
    lg_zero(space->nm, c->dp1);
    c->stage = LG_PAIR_FIRST;
    c->midpoints = 0;
    predict(c, state);
}

static lg_status solve_step(lg_conserve_stepper *c, lg_newton_memory *memory)
{
    const lg_system *system = c->base.system;
    int nrows = system->pattern->nrows;
    lg_newton_problem problem = {c,      system->space->nv, nrows, nrows > 0, evaluate, factor, solve,
                                 update, is_negligible};
    if (c->rule->null_space) {
        nrows = group_rows(c);
        problem = (lg_newton_problem){c,           c->null.nu, nrows,       nrows > 0,    evaluate_null,
                                      factor_null, solve_null, update_null, is_negligible};
    }
    lg_newton_result result = {0};
    lg_status status = lg_newton(&problem, &c->newton, c->residual, memory, &result);
    lg_point end = lg_point_after(c->start->t + c->h, c->q1, c->v1, c->start->mem);
    end.lam = c->lam;
    end.work = c->base.accel.work;
    c->base.stats.newton_iterations += result.iterations;
    if (c->rule->null_space && result.worst >= c->null.nu)
        result.worst += system->space->nv - c->null.nu;
    lg_report_newton(system, &end, status, &result, &c->base.report);
    return status;
}

/* Moves p1(q1) to the p1 of (72b), but by no more than the round-off of q1 explains: without this, the work of that
   round-off over h would remain in the energy of each step. A coordinate without mass keeps p1(q1) exactly. */
static void settle_momentum(const lg_conserve_stepper *c, double *p)
{
    const lg_space *space = c->base.system->space;
    for (const lg_block *b = space->block, *end = b + space->nblocks; b < end; b++)
        for (int i = 0; i < b->nv; i++) {
            double most = 0, rest = c->h * c->forces[b->v + i];
            for (int j = 0; j < b->nv; j++)
                most += 4 * DBL_EPSILON * fabs(c->dp1[b->m + j * b->nv + i] * c->q1[b->q + j]);
            p[b->v + i] = c->p1[b->v + i] - fmin(fmax(rest, -most), most);
        }
}

static lg_status step(lg_stepper *self, lg_state *state, double h)
{
    lg_conserve_stepper *c = stepper_of(self);
    lg_newton_memory memory;
    memcpy(&memory, carry_of(self, state).newton, sizeof memory);
    begin(c, state, h);
    LG_TRY(solve_step(c, &memory));
    for (int i = 0; i < self->system->space->nv; i++)
        c->vdot[i] = (c->v1[i] - state->v[i]) / h;
    LG_TRY(lg_stepper_accept(self, state, h, c->q1, c->v1, c->vdot, c->lam));
    settle_momentum(c, state->carry);
    self->stats.midpoint_gradients += c->midpoints > 0;
    memcpy(carry_of(self, state).newton, &memory, sizeof memory);
    sign_carry(self, state);
    return LG_OK;
}

#define CONSERVE(what)                                                                                                 \
    {                                                                                                                  \
        .name = "conserve",                                                                                            \
        .size = sizeof(lg_conserve_stepper),                                                                           \
        .coupling = LG_COUPLING_GROUPS,                                                                                \
        .needs = what,                                                                                                 \
        .extra = "p",                                                                                                  \
        .starts_singular = 1,                                                                                          \
        .extra_count = momentum_count,                                                                                 \
        .prepare = prepare,                                                                                            \
        .layout = layout,                                                                                              \
        .carry_count = carry_count,                                                                                    \
        .reset = reset,                                                                                                \
        .step = step,                                                                                                  \
        .close = close,                                                                                                \
    }
#define BODIES "rigid bodies with formulation=\"euler_parameters\""

const lg_stepper_type lg_conserve = CONSERVE("a LagrangianModel, or " BODIES), lg_conserve_bodies = CONSERVE(BODIES);
