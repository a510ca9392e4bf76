/* Half-explicit Runge-Kutta methods in local coordinates, for velocity-level constraints (index 2): no iteration.

   Points i = 1 .. s'+1, tumiotto2024 (12):   Theta_i = h sum_j a_ij K_j      V_i = v_n + h sum_j a_ij k_j      j < i
                                              Q_i = q_n exp(Theta_i)          K_i = T^-1(Theta_i) V_i           (13a)

   k_1 is the acceleration of the state. Stage i = 2 .. s' has the k_i for which the next point satisfies its
   velocity-level constraints (14):

       [ M(Q_i)    B(Q_i)^T ] [ k_i   ]   [ force - gyro at Q_i, V_i                                   ]
       [ B(Q_i+1)  0        ] [ Lam_i ] = [ -phidot(Q_i+1, t_n + c_i+1 h, V) / (h a_i+1,i)             ]

   where V = v_n + h sum_j<i a_i+1,j k_j is the known part of V_i+1. Constraints may therefore depend on time. Q_i+1
   does not depend on k_i; it provides B for this stage and B^T for the next. Each stage evaluates the forces once and
   the rows once.

   The step ends at the point whose weights are b. Its acceleration, which is k_1 of the next step, and its multipliers
   are those of first_stage:
       consistent  the index-1 solution there. Stages that lie at the end are not formed.
       printed     lam = sum_i d_i Lam_i (15). If the last stage is evaluated at the end, its k is the acceleration,
                   also after a projection. Otherwise this solves M a = force - gyro - B^T lam: see unconstrained.h.

   For the embedded solution the last stage is solved once more, with the point of its own weights b^ as the next one.
   This happens before the end of the step is projected, so that the error is that of the step alone.

   Systems without constraints are passed to the Runge-Kutta method with the same tableau. */
#include "core/small.h"
#include "integrator/herk/step.h"
#include "solve/initial.h"
#include "solve/project.h"

/* ---- options ---- */

#define FIRST_STAGE_OPTION(initial)                                                                                    \
    {"first_stage",                                                                                                    \
     LG_OPTION_CHOICE,                                                                                                 \
     {0, initial},                                                                                                     \
     0,                                                                                                                \
     0,                                                                                                                \
     LG_CHOICES(LG_FIRST_STAGES),                                                                                      \
     "First slope of a step and the multipliers reported there: of the index-1 equations, or by (15) as printed, "     \
     "with multipliers of one order less.",                                                                            \
     LG_FIELD(lg_herk_options, first_stage)}

static const lg_option rows[] = {LG_PROJECT_OPTION(lg_explicit_options), FIRST_STAGE_OPTION(LG_FIRST_CONSISTENT)};
static const lg_option free_rows[] = {LG_PROJECT_OPTION(lg_explicit_options), FIRST_STAGE_OPTION(LG_FIRST_PRINTED)};
static const lg_option pair_rows[] = {LG_PROJECT_OPTION(lg_explicit_options), FIRST_STAGE_OPTION(LG_FIRST_PRINTED),
                                      LG_CONTROL_OPTIONS(lg_explicit_options)};

const lg_option_rows lg_herk_rows = LG_OPTION_ROWS(rows, lg_herk_options);
const lg_option_rows lg_herk_free_rows = LG_OPTION_ROWS(free_rows, lg_herk_options);
const lg_option_rows lg_herk_pair_rows = LG_OPTION_ROWS(pair_rows, lg_herk_options);

/* ---- the stepper ---- */

static lg_status choose(const lg_method *method, const lg_system *system, const lg_option_value *options,
                        const lg_stepper_type **stepper, lg_report *report)
{
    (void)method, (void)options, (void)report;
    *stepper = system->pattern->nrows ? &lg_herk : &lg_rkmk;
    return LG_OK;
}

static lg_status herk_prepare(lg_stepper *self)
{
    lg_herk_stepper *rk = (lg_herk_stepper *)self;
    const lg_tableau *tableau = self->method->data;
    rk->levels = lg_explicit_levels(self);
    rk->estimates = lg_stepper_estimates(self);
    rk->consistent = ((const lg_herk_options *)self->options)->first_stage.choice == LG_FIRST_CONSISTENT;
    rk->end = lg_weights_of(tableau->stages, tableau->b).reach;
    rk->stages = rk->consistent && !rk->estimates ? rk->end : tableau->stages - 1;
    for (int i = 0; i < tableau->stages; i++) {
        rk->A[i] = lg_weights_of(i, &tableau->A[i * tableau->stages]);
        rk->c[i] = lg_ratio_value(tableau->c[i]);
        rk->d[i] = lg_ratio_value(tableau->d[i]);
    }
    rk->b_hat = lg_weights_of(rk->stages, tableau->b_hat);
    return lg_herk_needs_acceleration(rk) ? lg_unconstrained_open(&rk->unconstrained, self->system) : LG_OK;
}

static void herk_layout(lg_stepper *self, lg_arena *arena)
{
    lg_herk_stepper *rk = (lg_herk_stepper *)self;
    const lg_space *space = self->system->space;
    const lg_pattern *pattern = self->system->pattern;
    double **velocities[] = {&rk->theta, &rk->v, &rk->force, &rk->theta_end, &rk->v_end, &rk->a_end};
    double **coordinates[] = {&rk->q, &rk->q_end};
    double **rows[] = {&rk->phidot, &rk->lam_end};
    double **values[] = {&rk->B, &rk->B_next};

    lg_slopes_layout(&rk->slopes, space, rk->stages, arena);
    for (int i = 0; i < 6; i++)
        *velocities[i] = lg_arena_doubles(arena, (size_t)space->nv);
    for (int i = 0; i < 2; i++) {
        *coordinates[i] = lg_arena_doubles(arena, (size_t)space->nq);
        *rows[i] = lg_arena_doubles(arena, (size_t)pattern->nrows);
        *values[i] = lg_arena_doubles(arena, (size_t)pattern->nvalues);
    }
    rk->error = lg_arena_doubles(arena, rk->estimates ? 2 * (size_t)space->nv : 0);
    lg_project_layout(&self->accel, rk->levels, arena);
    if (rk->unconstrained.plan)
        lg_unconstrained_layout(&rk->unconstrained, &self->accel, arena);
}

static void close_plan(lg_stepper *self)
{
    lg_unconstrained_close(&((lg_herk_stepper *)self)->unconstrained);
}

/* ---- the embedded solution ---- */

/* Solves the last stage once more, for the point of the embedded solution; its matrix differs in the rows only. */
static lg_status estimate(lg_herk_stepper *rk, const lg_state *state, double h)
{
    const lg_space *space = rk->slopes.space;
    lg_accel *accel = &rk->base.accel;
    double pivot = lg_herk_pivot(&rk->b_hat, h);
    lg_herk_move(rk, state, &rk->b_hat, 1, h);
    LG_TRY(lg_herk_set_rows(rk, state, 1, h, accel->B));

    lg_point point = lg_herk_point(state, h, 1, rk->theta, rk->q, rk->v);
    LG_TRY(lg_accel_border(accel, &point, NULL, accel->B, &rk->base.report));
    LG_TRY(lg_herk_solve(rk, pivot));
    lg_axpy(space->nv, pivot, accel->x, rk->v);
    lg_space_difference(space, rk->q, rk->q_end, rk->error);
    for (int i = 0; i < space->nv; i++)
        rk->error[space->nv + i] = rk->v_end[i] - rk->v[i];
    return LG_OK;
}

static lg_status error(lg_stepper *self, const lg_state *before, double h, double *error)
{
    (void)before, (void)h;
    lg_copy(2 * self->system->space->nv, ((lg_herk_stepper *)self)->error, error);
    return LG_OK;
}

/* ---- the step ---- */

static lg_status herk_step(lg_stepper *self, lg_state *state, double h)
{
    lg_herk_stepper *rk = (lg_herk_stepper *)self;
    rk->h = h;
    lg_herk_begin(rk, state, h);
    for (int i = 1; i < rk->stages; i++)
        LG_TRY(lg_herk_take_stage(rk, state, i, h));
    if (rk->estimates)
        LG_TRY(estimate(rk, state, h));
    LG_TRY(lg_herk_finish(rk, state, h));
    return lg_stepper_accept(self, state, h, rk->theta_end, rk->q_end, rk->v_end, rk->a_end, rk->lam_end);
}

static const lg_stepper_embedded herk_embedded = {.error = error};

const lg_stepper_type lg_herk = {
    .name = "herk",
    .size = sizeof(lg_herk_stepper),
    .coupling = LG_COUPLING_MASS,
    .choose = choose,
    .prepare = herk_prepare,
    .layout = herk_layout,
    .step = herk_step,
    .embedded = &herk_embedded,
    .sensitivities = &lg_herk_sensitivities,
    .close = close_plan,
};
