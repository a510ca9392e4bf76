/* Energy-momentum and midpoint schemes with the momentum p as part of the state: rules, memory, and the step; the
   equations are in step.h. A run begins with p = M v; the carry is p and the memory of Newton's method. */
#include "integrator/conserve/step.h"

#include "core/small.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- the rules of rows ---- */

/* In Livens' discrete rule v1 = 2 v_m - v0 depends on v0, and its alternating part grows on tumbling bodies. Hamilton's
   rule conserves the same quantities without this growth. */
#define DISCRETE .gradients = {LG_GRADIENTS_DISCRETE_PRINTED, LG_GRADIENTS_DISCRETE}
#define MIDPOINT .gradients = {LG_GRADIENTS_MIDPOINT_PRINTED, LG_GRADIENTS_MIDPOINT}
#define LIVENS DISCRETE, .kinetic = {LG_LIVENS_DISCRETE, LG_LIVENS_CAYLEY}, .steadier = &lg_hamilton_discrete

const lg_momentum_rule lg_hamilton_discrete = {DISCRETE, .kinetic = {LG_HAMILTON_DISCRETE, LG_HAMILTON_CAYLEY}},
                       lg_hamilton_midpoint = {MIDPOINT, .kinetic = {LG_HAMILTON_POLYNOMIAL, LG_HAMILTON_POLYNOMIAL},
                                               .with_inverse = 1},
                       lg_livens_midpoint = {MIDPOINT, .kinetic = {LG_LIVENS_MIDPOINT, LG_LIVENS_MIDPOINT}},
                       lg_livens_all = {LIVENS, .all = 1}, lg_livens_reduced = {LIVENS},
                       lg_livens_null_space = {LIVENS, .null_space = 1};

/* ---- the stepper ---- */

static lg_conserve_stepper *stepper_of(lg_stepper *self)
{
    return (lg_conserve_stepper *)self;
}

/* The first block without steps by the rules of the run, 0 if the system has none at all. The report says so if all
   blocks have steps by those of the equivariant form. */
static int first_unfit(lg_stepper *self)
{
    const lg_system *system = self->system;
    const lg_steps *steps = system->steps;
    const lg_conserve_stepper *c = stepper_of(self);
    int block = steps ? steps->without_step(system->self, c->gradients, c->kinetic) : 0;
    if (!steps || block < 0 || steps->without_step(system->self, c->rule->gradients[1], c->rule->kinetic[1]) >= 0)
        return block;
    lg_report_say(&self->report, "%s with equivariant=False does not take %.*s in this model", self->method->name,
                  LG_SHORT(system->block_name(system->self, block)));
    lg_report_advise(&self->report, "equivariant=True does");
    return block;
}

static int has_own_rows(const lg_space *space)
{
    int count = 0;
    for (int i = 0; i < space->nblocks; i++)
        count += space->block[i].nown;
    return count > 0;
}

/* How often a matrix may be reused at the end of a step. In the conserving form only round-off of the gradients remains
   at that point. Bases of the null space turn with every correction. */
static int reuses_of(const lg_conserve_stepper *c)
{
    if (c->rule->null_space)
        return 0;
    return c->gradients == LG_GRADIENTS_DISCRETE ? c->newton.max_iter : 1;
}

static lg_status conserve_prepare(lg_stepper *self)
{
    lg_conserve_stepper *c = stepper_of(self);
    const lg_conserve_options *options = (const lg_conserve_options *)self->options;
    c->rule = self->method->data;
    int equivariant = options->equivariant.number != 0;
    c->gradients = c->rule->gradients[equivariant];
    c->kinetic = c->rule->kinetic[equivariant];
    if (c->kinetic == LG_HAMILTON_POLYNOMIAL)
        c->kinetic = lg_conserve_hamiltonians[options->hamiltonian.choice];
    if (equivariant)
        lg_stepper_take_form(self, LG_FORM_BODY_AXES);
    c->guess = options->guess.choice;
    c->newton = lg_implicit_settings(&options->stop);
    c->newton.plain = 1;
    c->newton.renewal.reuses_last = reuses_of(c);
    self->stats.newton = "full";
    self->stats.parasite.sought = c->rule->steadier && has_own_rows(self->system->space);
    return c->rule->null_space ? lg_null_open(&c->null, self->system, self->plan, self->type->coupling) : LG_OK;
}

static void conserve_layout(lg_stepper *self, lg_arena *arena)
{
    lg_conserve_stepper *c = stepper_of(self);
    const lg_system *system = self->system;
    size_t nv = (size_t)system->space->nv, nrows = (size_t)system->pattern->nrows;
    double **velocities[] = {&c->v1, &c->p1, &c->p, &c->slope, &c->force, &c->Gtlam, &c->vdot, &c->rest};
    for (size_t i = 0; i < sizeof velocities / sizeof *velocities; i++)
        *velocities[i] = lg_arena_doubles(arena, nv);
    c->q1 = lg_arena_doubles(arena, (size_t)system->space->nq);
    c->lam = lg_arena_doubles(arena, nrows);
    c->G = lg_arena_doubles(arena, (size_t)system->pattern->nvalues);
    c->dp1 = lg_arena_doubles(arena, (size_t)system->space->nm);
    c->residual = lg_arena_doubles(arena, nv + nrows);
    c->row_size = lg_arena_doubles(arena, nrows);
    c->work = lg_arena_doubles(arena, system->steps->nwork(system->self));
    c->fastest = lg_arena_doubles(arena, (size_t)system->space->nblocks);
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

/* ---- the momentum ---- */

static int momentum_count(const lg_stepper *self)
{
    return self->system->space->nv;
}

static int conserve_carry_count(const lg_stepper *self)
{
    return momentum_count(self) + LG_NEWTON_MEMORY;
}

static double *newton_memory(const lg_stepper *self, const lg_state *state)
{
    return state->carry + momentum_count(self);
}

/* The Hamiltonian rule needs the inverse of the mass: a step of length zero shows whether there is one. */
static lg_status check_mass(lg_stepper *self, const lg_state *state)
{
    lg_conserve_stepper *c = stepper_of(self);
    lg_pair pair = {.t = state->t, .h = 1, .q0 = state->q, .q1 = state->q, .v0 = state->v};
    pair.p0 = c->p;
    pair.work = c->work;
    lg_kinetic_wanted wanted = {.v1 = c->v1, .p1 = c->p1, .slope = c->slope};
    lg_status status = self->system->steps->kinetic(self->system->self, c->kinetic, &pair, &wanted);
    if (status != LG_SINGULAR)
        return status;
    lg_report_say(
        &self->report,
        "%s needs the inverse of the mass matrix, which is singular; the methods from Livens' principle do not need it",
        self->method->name);
    return LG_BAD_ARGUMENT;
}

static lg_status conserve_reset(lg_stepper *self, lg_state *state)
{
    const lg_system *system = self->system;
    LG_TRY(check_mass(self, state));
    lg_point point = lg_point_after(state->t, state->q, state->v, state->mem);
    point.a = state->v;
    point.work = self->accel.work;
    self->accel.evaluations++;
    LG_TRY(system->eval(system->self, &point, &(lg_wanted){.Ma = state->carry}));
    lg_zero(LG_NEWTON_MEMORY, newton_memory(self, state));
    return LG_OK;
}

/* ---- the step ---- */

static void conserve_begin(lg_conserve_stepper *c, const lg_state *state, double h)
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
    c->same_start = c->at_rest = 0;
    c->turned = NULL;
    lg_conserve_predict(c);
}

/* The status of a solution, unless something turns so far that the step is not defined, or its matrix singular. */
static lg_status check_turns(lg_conserve_stepper *c, lg_status status)
{
    if (!c->turned || (status != LG_OK && status != LG_SINGULAR))
        return status;
    c->base.report = (lg_report){0};
    lg_report_say(&c->base.report, "in one step %.*s turns by half a turn or more", LG_SHORT(c->turned));
    return LG_TURNED;
}

/* The part of the rates of Euler parameters along the parameters themselves has no physical meaning, and so shows the
   alternating error of Livens' rates. It is compared with the largest rates so far, since bodies come to rest in
   between, and is ignored where both are round-off of the step. */
static double parasitic_rate(lg_conserve_stepper *c, const lg_state *state, int block)
{
    static const double ROUND_OFF = 1e-10;
    const lg_block *b = &c->base.system->space->block[block];
    const double *rates = state->v + b->v + b->node->attitude_v;
    double along, squares = lg_dot(b->node->attitude_n, rates, rates);
    b->node->unit->own(state->q + b->q, state->v + b->v, NULL, &(lg_own_rows){.phidot = &along});
    c->fastest[block] = fmax(c->fastest[block], sqrt(squares));
    return fabs(along) / (c->fastest[block] + ROUND_OFF / c->h);
}

static void note_parasite(lg_conserve_stepper *c, const lg_state *state)
{
    const lg_system *system = c->base.system;
    lg_parasite *most = &c->base.stats.parasite;
    for (int i = 0; i < system->space->nblocks; i++) {
        double ratio = system->space->block[i].nown ? parasitic_rate(c, state, i) : 0;
        if (ratio > most->ratio)
            *most = (lg_parasite){1, ratio, state->t, system->block_name ? system->block_name(system->self, i) : NULL};
    }
}

static lg_status conserve_step(lg_stepper *self, lg_state *state, double h)
{
    lg_conserve_stepper *c = stepper_of(self);
    double *carried = newton_memory(self, state);
    lg_newton_memory memory;
    memcpy(&memory, carried, sizeof memory);
    conserve_begin(c, state, h);
    LG_TRY(check_turns(c, lg_conserve_solve(c, &memory)));
    double *theta = c->rest;
    for (int i = 0; i < self->system->space->nv; i++) {
        c->vdot[i] = (c->v1[i] - state->v[i]) / h;
        theta[i] = c->q1[i] - state->q[i];
    }
    LG_TRY(lg_stepper_accept(self, state, h, theta, c->q1, c->v1, c->vdot, c->lam));
    lg_conserve_end_momenta(c, state->carry);
    memcpy(carried, &memory, sizeof memory);
    if (self->stats.parasite.sought)
        note_parasite(c, state);
    return LG_OK;
}

static const lg_stepper_carry carry_functions = {.count = conserve_carry_count, .reset = conserve_reset};

#define CONSERVE(what)                                                                                                 \
    {                                                                                                                  \
        .name = "conserve",                                                                                            \
        .size = sizeof(lg_conserve_stepper),                                                                           \
        .coupling = LG_COUPLING_GROUPS,                                                                                \
        .prepare = conserve_prepare,                                                                                   \
        .layout = conserve_layout,                                                                                     \
        .carry = &carry_functions,                                                                                     \
        .momenta = &(const lg_stepper_momenta){what, first_unfit},                                                     \
        .step = conserve_step,                                                                                         \
        .close = close,                                                                                                \
    }

const lg_stepper_type lg_conserve = CONSERVE("a LagrangianModel, or rigid bodies"),
                      lg_conserve_bodies = CONSERVE("rigid bodies"),
                      lg_conserve_midpoint = CONSERVE("a LagrangianModel, trees of hinges and slides, or rigid bodies");
