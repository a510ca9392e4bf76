/* Radau IIA methods on Lie groups: options, memory, the step and its error; see step.h for the equations.

   Error, hairer1996 IV.8: p(0) = p_n and p(c_i) = p_i define a polynomial, whose slope at the start is compared with
   that of the solution,

       e = g (h p'_n - p'(0)),      g = l_ss,

   for p = theta, with p'_n = v_n, and for p = v, with the acceleration of the state. e is O(h^(s+1)). It is divided by
   the operator of the last stage, so that it does not grow with stiffness: with e_q and e_v for theta and v, one
   correction of the last stage, with its matrix, at V_s + mu e_q and A_s + mu e_v + mu^2 e_q. In a first step, where a
   fast decay may begin, it is divided twice; after a rejected step this would accept steps through a stiff contact.
   Multipliers do not count. */
#include "core/small.h"
#include "integrator/implicit.h"
#include "integrator/radau/step.h"

#include <math.h>

/* ---- options ---- */

typedef struct lg_radau_options {
    lg_option_value newton_rtol, max_iter, sweeps, retry;
    lg_control_options control;
} lg_radau_options;

/* How a step is solved. */
#define LG_SWEEPS(X) X(LG_SWEEPS_AUTO, "auto") X(LG_SWEEPS_SPLITTING, "splitting") X(LG_SWEEPS_EIGENBASIS, "eigenbasis")
enum { LG_SWEEPS(LG_CHOICE_CONSTANT) };

static const lg_option rows[] = {
    {"newton_rtol",
     LG_OPTION_NUMBER,
     {NAN, -1},
     0,
     1,
     NULL,
     "Newton's method stops when the corrections still expected change the velocities by less than this part of them. "
     "Default: 1e-12 with fixed steps, 0.1 % of the tolerances with error control.",
     LG_FIELD(lg_radau_options, newton_rtol)},
    {"max_iter",
     LG_OPTION_INTEGER,
     {40, -1},
     1,
     1000,
     NULL,
     "A step that takes more Newton iterations, each of which corrects every stage, has failed.",
     LG_FIELD(lg_radau_options, max_iter)},
    {"sweeps",
     LG_OPTION_CHOICE,
     {0, LG_SWEEPS_AUTO},
     0,
     0,
     LG_CHOICES(LG_SWEEPS),
     "Newton's method stage by stage, or for all stages in the eigenbasis of the tableau, which takes fixed steps; "
     "\"auto\" takes the one with less counted work.",
     LG_FIELD(lg_radau_options, sweeps)},
    LG_RETRY_OPTION(LG_FIELD(lg_radau_options, retry)),
    LG_CONTROL_OPTIONS_BY(lg_radau_options, LG_CONTROL_PREDICTIVE, 5),
};

const lg_option_rows lg_radau_rows = LG_OPTION_ROWS(rows, lg_radau_options);

/* ---- coefficients and memory ---- */

/* With tolerances nearly every step has a size, and matrices, of its own: the splitting solves them. */
static lg_status choose_way(lg_radau_stepper *r)
{
    int sweeps = ((const lg_radau_options *)r->base.options)->sweeps.choice, adapts = lg_stepper_adapts(&r->base);
    if (sweeps == LG_SWEEPS_EIGENBASIS && adapts) {
        lg_report_say(&r->base.report, "sweeps=\"eigenbasis\" takes fixed steps: give h without rtol and atol, or "
                                       "control=\"none\"");
        return LG_BAD_ARGUMENT;
    }
    r->chooses = sweeps == LG_SWEEPS_AUTO && !adapts;
    r->only = sweeps == LG_SWEEPS_EIGENBASIS ? LG_RADAU_EIGENBASIS : LG_RADAU_SPLITTING;
    return LG_OK;
}

static lg_status radau_prepare(lg_stepper *self)
{
    lg_radau_stepper *r = (lg_radau_stepper *)self;
    const lg_radau_options *options = (const lg_radau_options *)self->options;
    const lg_plan *masses = self->plans.of[LG_COUPLING_MASS];
    r->numbers = lg_radau_numbers_of(self->method->data);
    r->max_iter = (int)options->max_iter.number;
    r->corrections = lg_stepper_adapts(self) ? LG_RADAU_CORRECTIONS_ADAPTIVE : LG_RADAU_CORRECTIONS;
    r->newton_rtol = isnan(options->newton_rtol.number) ? 1e-12 : options->newton_rtol.number;
    if (self->nparameters) /* the derivatives of a step are those at its solution */
        r->newton_rtol = fmin(r->newton_rtol, 1e-12);
    if (masses)
        self->accel.plan = masses;
    lg_radau_set_costs(r);
    return choose_way(r);
}

static void stage_layout(lg_radau_stage *s, const lg_stepper *self, lg_arena *arena)
{
    const lg_space *space = self->system->space;
    double **velocities[] = {&s->theta, &s->v, &s->a, &s->K, &s->theta_known, &s->v_known};
    for (size_t i = 0; i < sizeof velocities / sizeof *velocities; i++)
        *velocities[i] = lg_arena_doubles(arena, (size_t)space->nv);
    s->q = lg_arena_doubles(arena, (size_t)space->nq);
    s->lam = lg_arena_doubles(arena, (size_t)self->system->pattern->nrows);
    lg_matrix_layout(&s->matrix, self->plan, arena);
}

/* Takes the tolerances of the run, entry by entry. */
static void take_tolerances(lg_radau_stepper *r, lg_arena *arena)
{
    const lg_radau_options *options = (const lg_radau_options *)r->base.options;
    const lg_option_value *rtol = &options->control.rtol, *atol = &options->control.atol;
    int bounds = lg_stepper_adapts(&r->base) && !options->newton_rtol.given && !r->base.nparameters;
    int n = bounds ? 2 * r->base.system->space->nv : 0;
    r->rtol = n ? lg_arena_doubles(arena, (size_t)n) : NULL;
    r->atol = n ? lg_arena_doubles(arena, (size_t)n) : NULL;
    for (int i = 0; arena->base && i < n; i++) {
        double relative = lg_option_entry(rtol, i), absolute = lg_option_entry(atol, i);
        r->rtol[i] = isnan(relative) ? 0 : relative;
        r->atol[i] = isnan(absolute) ? relative : absolute;
    }
}

/* The residual and its terms stand in memory of the solver of accelerations, which stages do not use. */
static void radau_layout(lg_stepper *self, lg_arena *arena)
{
    lg_radau_stepper *r = (lg_radau_stepper *)self;
    const lg_space *space = self->system->space;
    double **velocities[] = {&r->weight, &r->force, &r->Btlam, &r->turn, &r->v_end, &r->a_end};
    for (size_t i = 0; i < sizeof velocities / sizeof *velocities; i++)
        *velocities[i] = lg_arena_doubles(arena, (size_t)space->nv);
    r->gyro = self->accel.gyro;
    r->residual = self->accel.x;
    r->q_end = lg_arena_doubles(arena, (size_t)space->nq);
    r->lam_end = lg_arena_doubles(arena, (size_t)self->system->pattern->nrows);
    self->accel.Z = lg_arena_doubles(arena, (size_t)self->system->pattern->nvalues);
    r->X = lg_arena_doubles(arena, (size_t)space->nm);
    r->formed = lg_arena_doubles(arena, (size_t)lg_radau_formed_count(r));
    r->chain = lg_arena_take(arena, (size_t)space->nblocks * sizeof(lg_chain));
    take_tolerances(r, arena);
    for (int i = 0; i < lg_radau_stages(&r->numbers); i++)
        stage_layout(&r->stage[i], self, arena);
    if (r->chooses || r->only == LG_RADAU_EIGENBASIS)
        lg_radau_eigen_layout(r, arena);
}

static void radau_close(lg_stepper *self)
{
    lg_radau_stepper *r = (lg_radau_stepper *)self;
    for (int i = 0; i < lg_radau_stages(&r->numbers); i++)
        lg_matrix_close(&r->stage[i].matrix);
}

static int radau_carry_count(const lg_stepper *self)
{
    return lg_radau_carry_count((const lg_radau_stepper *)self);
}

static lg_status radau_reset(lg_stepper *self, lg_state *state)
{
    lg_zero(radau_carry_count(self), state->carry);
    return LG_OK;
}

/* ---- the step ---- */

static lg_status radau_step(lg_stepper *self, lg_state *state, double h)
{
    lg_radau_stepper *r = (lg_radau_stepper *)self;
    double *v_start = r->turn;
    lg_radau_set_step(r, state, h);
    LG_TRY(lg_radau_take_over(r));
    LG_TRY(lg_radau_solve(r));
    LG_TRY(lg_radau_check_turns(r, LG_PI));
    LG_TRY(lg_radau_finish(r));
    if (self->nparameters) /* the derivatives need them, and the error must have the same ones either way */
        lg_radau_set_accelerations(r);
    lg_copy(self->system->space->nv, state->v, v_start);
    LG_TRY(lg_stepper_accept(self, state, h, r->stage[lg_radau_stages(&r->numbers) - 1].theta, r->q_end, r->v_end,
                             r->a_end, r->lam_end));
    lg_radau_note_miss(r, v_start, state->carry);
    lg_radau_hand_over(r, v_start, state);
    return LG_OK;
}

/* ---- the error ---- */

/* e = g (h p'_n - p'(0)) from the slope of the solution and the p_i - p_n of theta (v 0) or v (v 1). */
static void compare_slopes(const lg_radau_stepper *r, const lg_state *before, int of_v, double *e)
{
    const lg_radau_numbers *n = &r->numbers;
    const double *slope = of_v ? before->a : before->v;
    for (int k = 0; k < r->base.system->space->nv; k++) {
        double curve = 0;
        for (int i = 0; i < lg_radau_stages(&r->numbers); i++)
            curve += n->slope[i] * (of_v ? r->stage[i].v[k] - before->v[k] : r->stage[i].theta[k]);
        e[k] = n->L[lg_radau_stages(&r->numbers) - 1][lg_radau_stages(&r->numbers) - 1] * (r->h * slope[k] - curve);
    }
}

/* Divides e_q and e_v by the operator. */
static lg_status divide(lg_radau_stepper *r, const lg_state *before, double *eq, double *ev)
{
    int nv = r->base.system->space->nv, last = lg_radau_stages(&r->numbers) - 1;
    const lg_radau_stage *s = &r->stage[last];
    double mu = lg_radau_rate(r, last), *v = r->v_end, *a = r->a_end;
    for (int k = 0; k < nv; k++) {
        v[k] = s->v[k] + mu * eq[k];
        a[k] = s->a[k] + mu * (ev[k] + mu * eq[k]);
    }
    lg_point point = lg_radau_point(r, last);
    point.t_in = before->t + 0.5 * r->h;
    point.v = v, point.a = a, point.mem.values = before->mem;
    LG_TRY(lg_radau_evaluate(r, last, &point, 0));
    LG_TRY(lg_radau_solve_stage(r, last, r->residual));

    lg_radau_follow_chain(r, last, r->residual, ev);
    for (int k = 0; k < nv; k++) {
        ev[k] -= mu * eq[k];
        eq[k] = r->residual[k] / (mu * mu);
    }
    return LG_OK;
}

/* The matrix of the last stage, in the place of those of the eigenbasis, which the next step forms again. */
static lg_status form_last(lg_radau_stepper *r, const lg_state *before)
{
    int last = lg_radau_stages(&r->numbers) - 1;
    r->start = before;
    lg_radau_set_accelerations(r);
    lg_point point = lg_radau_point(r, last);
    r->formed[0] = 0;
    return lg_radau_evaluate(r, last, &point, 1);
}

static lg_status radau_error(lg_stepper *self, const lg_state *before, double h, double *error)
{
    lg_radau_stepper *r = (lg_radau_stepper *)self;
    double *eq = error, *ev = error + self->system->space->nv;
    int first = *lg_radau_carry_in(r, before->carry).h == 0;
    (void)h;
    compare_slopes(r, before, 0, eq);
    compare_slopes(r, before, 1, ev);
    if (r->matrices == LG_RADAU_EIGENBASIS)
        LG_TRY(form_last(r, before));
    LG_TRY(divide(r, before, eq, ev));
    return first ? divide(r, before, eq, ev) : LG_OK;
}

static const lg_stepper_carry carry_verbs = {.count = radau_carry_count, .reset = radau_reset, .adopt = lg_radau_adopt};

static const lg_stepper_embedded embedded = {.error = radau_error};

const lg_stepper_type lg_radau = {
    .name = "radau",
    .coupling = LG_COUPLING_TANGENTS,
    .size = sizeof(lg_radau_stepper),
    .prepare = radau_prepare,
    .layout = radau_layout,
    .carry = &carry_verbs,
    .step = radau_step,
    .embedded = &embedded,
    .sensitivities = &lg_radau_sensitivities,
    .close = radau_close,
};
