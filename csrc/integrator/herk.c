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
#include "integrator/explicit.h"
#include "integrator/stage_derivatives.h"
#include "solve/initial.h"
#include "solve/project.h"
#include "solve/unconstrained.h"

/* ---- options ---- */

/* What the next step begins with. */
#define LG_FIRST_STAGES(X) X(LG_FIRST_CONSISTENT, "consistent") X(LG_FIRST_PRINTED, "printed")
enum { LG_FIRST_STAGES(LG_CHOICE_CONSTANT) };

typedef struct lg_herk_options {
    lg_explicit_options shared; /* comes first, so that its rows fit */
    lg_option_value first_stage;
} lg_herk_options;

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

/* What the derivatives of a step by parameters need. */
typedef struct lg_herk_derivatives {
    lg_stage_derivatives at; /* of stages and points */
    double *theta, *q, *v; /* of the stage that is differentiated */
    double *Lam; /* nrows for each stage; NULL in runs without parameters */
    double *Z; /* d(phidot)/dq at its next point */
    double *q_end, *v_end, *lam_end; /* derivatives of the end, for all parameters, or their adjoint */
} lg_herk_derivatives;

typedef struct lg_herk_stepper {
    lg_stepper base;
    int stages, end; /* number of stages; the point where the step ends, counted from 0 */
    lg_weights A[LG_STAGES], b_hat; /* the last weight of a row is that of the stage that the row closes */
    double c[LG_STAGES], d[LG_STAGES];
    double h; /* of the last step */
    int levels; /* of the projection */
    int estimates;
    int consistent; /* the state has index-1 accelerations and multipliers */
    lg_slopes slopes;
    double *theta, *q, *v; /* of the present point */
    double *force; /* force - gyro of the present stage */
    double *B, *B_next; /* rows at its point and at the next one */
    double *phidot;
    double *theta_end, *q_end, *v_end, *a_end, *lam_end;
    double *error; /* 2 nv */
    lg_unconstrained unconstrained; /* used if neither the index-1 equations nor the last stage give the acceleration */
    lg_herk_derivatives derivatives; /* in runs with sensitivities */
} lg_herk_stepper;

/* Whether the acceleration of the new state follows from its multipliers. */
static int needs_acceleration(const lg_herk_stepper *rk)
{
    return !rk->consistent && rk->end == rk->stages;
}

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
        rk->A[i] = lg_weights_of(i, tableau->A[i]);
        rk->c[i] = lg_ratio_value(tableau->c[i]);
        rk->d[i] = lg_ratio_value(tableau->d[i]);
    }
    rk->b_hat = lg_weights_of(rk->stages, tableau->b_hat);
    return needs_acceleration(rk) ? lg_unconstrained_open(&rk->unconstrained, self->system) : LG_OK;
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

/* ---- points ---- */

/* A point at the time t_n + c h of a step of size h. */
static lg_point point_at(const lg_state *state, double h, double c, const double *theta, const double *q,
                         const double *v)
{
    lg_point point = lg_point_at(state->t + c * h, q, v);
    point.t_in = state->t + 0.5 * h;
    point.mem = (lg_memory){state->mem, c * h, theta};
    return point;
}

/* Moves to the point of a row of weights: its coordinates, and its velocities without the contribution of the last
   `open` stages of the row. */
static void herk_move(lg_herk_stepper *rk, const lg_state *state, const lg_weights *weights, int open, double h)
{
    int nv = rk->slopes.space->nv;
    lg_weights known = *weights;
    known.count -= open;
    lg_slopes_combine(&rk->slopes, weights, h, 0, nv, NULL, rk->theta);
    lg_space_move(rk->slopes.space, state->q, rk->theta, NULL, rk->q, NULL);
    lg_slopes_add_flows(&rk->slopes, state->q, weights, h, rk->q);
    lg_slopes_combine(&rk->slopes, &known, h, nv, nv, state->v, rk->v);
}

/* The rate K of stage i at the present point. */
static void set_rate(lg_herk_stepper *rk, const lg_state *state, int i)
{
    lg_space_rate(rk->slopes.space, state->q, rk->theta, rk->v, lg_slopes_at(&rk->slopes, i));
    lg_slopes_set_flow(&rk->slopes, i, rk->q, rk->v);
}

/* ---- stages ---- */

/* M and force - gyro at the present point, that of stage i. The second point also needs B here, since no stage before
   it has evaluated B. */
static lg_status assemble(lg_herk_stepper *rk, const lg_state *state, int i, double h)
{
    lg_accel *accel = &rk->base.accel;
    lg_point point = point_at(state, h, rk->c[i], rk->theta, rk->q, rk->v);
    point.same_q = i > 1; // set_rows was there
    lg_wanted wanted = {.force = rk->force, .gyro = accel->gyro, .B = i == 1 ? rk->B : NULL};
    int nv = rk->slopes.space->nv;
    LG_TRY(lg_accel_assemble(accel, &point, &wanted, &rk->base.report));
    lg_axpy(nv, -1.0, accel->gyro, rk->force);
    return lg_all_finite(nv, rk->force) ? LG_OK : lg_accel_not_finite(accel, &point, rk->force, &rk->base.report);
}

/* The rows at the present point, the next one of the stage, and phidot with the velocities known so far. */
static lg_status set_rows(lg_herk_stepper *rk, const lg_state *state, double c, double h, double *B)
{
    lg_point point = point_at(state, h, c, rk->theta, rk->q, rk->v);
    return lg_accel_eval(&rk->base.accel, &point, &(lg_wanted){.B = B, .phidot = rk->phidot}, &rk->base.report);
}

/* Solves the stage (14) whose matrix has been factored, pivot = h a_i+1,i: k_i and Lam_i stand in accel->x. */
static lg_status herk_solve(lg_herk_stepper *rk, double pivot)
{
    lg_accel *accel = &rk->base.accel;
    int nv = rk->slopes.space->nv, nrows = rk->base.system->pattern->nrows;
    lg_copy(nv, rk->force, accel->x);
    for (int i = 0; i < nrows; i++)
        accel->x[nv + i] = -rk->phidot[i] / pivot;
    return lg_accel_solve_linear(accel, accel->x);
}

static double pivot_of(const lg_weights *weights, double h)
{
    return h * weights->weight[weights->count - 1];
}

/* Completes the velocities of the next point, i + 1, by those of the stage that was solved, and its rate. */
static void arrive(lg_herk_stepper *rk, const lg_state *state, int next, double h)
{
    const lg_space *space = rk->slopes.space;
    lg_axpy(space->nv, pivot_of(&rk->A[next], h), rk->base.accel.x, rk->v);
    if (next == rk->end) {
        lg_copy(space->nv, rk->theta, rk->theta_end);
        lg_copy(space->nq, rk->q, rk->q_end);
        lg_copy(space->nv, rk->v, rk->v_end);
    }
    if (next < rk->stages)
        set_rate(rk, state, next);
}

/* Stage i at the present point, which becomes that of stage i + 1. */
static lg_status take_stage(lg_herk_stepper *rk, const lg_state *state, int i, double h)
{
    lg_accel *accel = &rk->base.accel;
    const lg_weights *row = &rk->A[i + 1];
    int nv = rk->slopes.space->nv, nrows = rk->base.system->pattern->nrows;
    LG_TRY(assemble(rk, state, i, h));
    herk_move(rk, state, row, 1, h);
    LG_TRY(set_rows(rk, state, rk->c[i + 1], h, rk->B_next));

    lg_point next = point_at(state, h, rk->c[i + 1], rk->theta, rk->q, rk->v);
    LG_TRY(lg_accel_border(accel, &next, rk->B, rk->B_next, &rk->base.report));
    LG_TRY(herk_solve(rk, pivot_of(row, h)));
    lg_copy(nv, accel->x, lg_slopes_at(&rk->slopes, i) + nv);
    lg_axpy(nrows, rk->d[i], accel->x + nv, rk->lam_end);
    if (rk->derivatives.Lam)
        lg_copy(nrows, accel->x + nv, rk->derivatives.Lam + (long)nrows * i);
    arrive(rk, state, i + 1, h);

    double *B = rk->B;
    rk->B = rk->B_next;
    rk->B_next = B;
    return LG_OK;
}

/* ---- the embedded solution ---- */

/* Solves the last stage once more, for the point of the embedded solution; its matrix differs in the rows only. */
static lg_status estimate(lg_herk_stepper *rk, const lg_state *state, double h)
{
    const lg_space *space = rk->slopes.space;
    lg_accel *accel = &rk->base.accel;
    double pivot = pivot_of(&rk->b_hat, h);
    herk_move(rk, state, &rk->b_hat, 1, h);
    LG_TRY(set_rows(rk, state, 1, h, accel->B));

    lg_point point = point_at(state, h, 1, rk->theta, rk->q, rk->v);
    LG_TRY(lg_accel_border(accel, &point, NULL, accel->B, &rk->base.report));
    LG_TRY(herk_solve(rk, pivot));
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

/* The first stage, which is that of the state, and the point of the second one. */
static void herk_begin(lg_herk_stepper *rk, const lg_state *state, double h)
{
    lg_slopes_begin(&rk->slopes, state);
    lg_zero(rk->base.system->pattern->nrows, rk->lam_end);
    lg_axpy(rk->base.system->pattern->nrows, rk->d[0], state->lam, rk->lam_end);
    herk_move(rk, state, &rk->A[1], 0, h);
    set_rate(rk, state, 1);
}

/* The acceleration and the multipliers of the new state. */
static lg_status accelerate(lg_herk_stepper *rk, const lg_point *end)
{
    lg_accel *accel = &rk->base.accel;
    lg_report *report = &rk->base.report;
    int nv = rk->slopes.space->nv;
    if (rk->consistent)
        return lg_accel_solve(accel, end, rk->a_end, rk->lam_end, report);
    if (needs_acceleration(rk))
        return lg_unconstrained_solve(&rk->unconstrained, accel, end, rk->a_end, rk->lam_end, report);
    lg_copy(nv, lg_slopes_at(&rk->slopes, rk->stages - 1) + nv, rk->a_end);
    return LG_OK;
}

static lg_status herk_finish(lg_herk_stepper *rk, const lg_state *state, double h)
{
    lg_point end = point_at(state, h, 1, rk->theta_end, rk->q_end, rk->v_end);
    if (rk->levels && rk->consistent)
        return lg_project_end(&rk->base.accel, rk->levels, &end, rk->q_end, rk->v_end, NULL, rk->a_end, rk->lam_end,
                              &rk->base.report);
    if (rk->levels)
        LG_TRY(lg_project_at(&rk->base.accel, rk->levels, &end, rk->q_end, rk->v_end, NULL, &rk->base.report));
    return accelerate(rk, &end);
}

static lg_status herk_step(lg_stepper *self, lg_state *state, double h)
{
    lg_herk_stepper *rk = (lg_herk_stepper *)self;
    rk->h = h;
    herk_begin(rk, state, h);
    for (int i = 1; i < rk->stages; i++)
        LG_TRY(take_stage(rk, state, i, h));
    if (rk->estimates)
        LG_TRY(estimate(rk, state, h));
    LG_TRY(herk_finish(rk, state, h));
    return lg_stepper_accept(self, state, h, rk->theta_end, rk->q_end, rk->v_end, rk->a_end, rk->lam_end);
}

/* ---- derivatives by parameters, for which the step is repeated; the slopes of all stages are still there ---- */

static void layout_derivatives(lg_stepper *self, lg_arena *arena)
{
    lg_herk_stepper *rk = (lg_herk_stepper *)self;
    lg_herk_derivatives *d = &rk->derivatives;
    size_t n = self->backwards ? 1 : (size_t)self->nparameters, nv = (size_t)self->system->space->nv;
    size_t nrows = (size_t)self->system->pattern->nrows;
    lg_stage_derivatives_layout(&d->at, self, rk->stages, arena);
    d->theta = lg_arena_doubles(arena, nv);
    d->q = lg_arena_doubles(arena, (size_t)self->system->space->nq);
    d->v = lg_arena_doubles(arena, nv);
    d->Lam = lg_arena_doubles(arena, nrows * (size_t)rk->stages);
    d->Z = lg_arena_doubles(arena, (size_t)self->system->pattern->nvalues);
    d->q_end = lg_arena_doubles(arena, nv * n);
    d->v_end = lg_arena_doubles(arena, nv * n);
    d->lam_end = lg_arena_doubles(arena, nrows * n);
}

/* The present point becomes that of the derivatives; `next`: number of the stage there. */
static void move_derivatives(lg_herk_stepper *rk, int next)
{
    const double *K = next < rk->stages ? lg_slopes_at(&rk->slopes, next) : NULL;
    lg_stage_derivatives_move(&rk->derivatives.at, rk->theta, K);
}

/* The first stage, and the point of the second one. */
static void begin_derivatives(lg_herk_stepper *rk, const lg_state *before, double h, const lg_sensitivities *s)
{
    lg_herk_derivatives *d = &rk->derivatives;
    int nrows = rk->base.system->pattern->nrows;
    herk_begin(rk, before, h);
    lg_stage_derivatives_begin(&d->at, s, h);
    lg_zero(nrows * s->count, d->lam_end);
    lg_axpy(nrows * s->count, rk->d[0], s->lam, d->lam_end);
    move_derivatives(rk, 1);
    for (int k = 0; k < s->count; k++) {
        lg_stage_derivatives_advance(&d->at, &rk->A[1], 0, k);
        lg_stage_derivatives_rate(&d->at, 1, k);
    }
}

/* Where the stage is evaluated that is differentiated. */
static lg_point stage_point(const lg_herk_stepper *rk, const lg_state *before, int i, double h)
{
    const lg_herk_derivatives *d = &rk->derivatives;
    lg_point point = point_at(before, h, rk->c[i], d->theta, d->q, d->v);
    point.a = lg_slopes_at(&rk->slopes, i) + d->at.nv;
    point.lam = d->Lam + (long)rk->base.system->pattern->nrows * i;
    point.work = rk->base.accel.work;
    return point;
}

static void copy_point(lg_herk_stepper *rk)
{
    const lg_space *space = rk->slopes.space;
    lg_herk_derivatives *d = &rk->derivatives;
    lg_copy(space->nv, rk->theta, d->theta);
    lg_copy(space->nq, rk->q, d->q);
    lg_copy(space->nv, rk->v, d->v);
}

/* Takes stage i again, which factors its matrix, and linearises its equations where it is evaluated. */
static lg_status linearise_stage(lg_herk_stepper *rk, const lg_state *before, int i, double h, lg_point *point)
{
    copy_point(rk);
    if (i > 1)
        LG_TRY(set_rows(rk, before, rk->c[i], h, rk->B)); /* which `assemble` relies on */
    LG_TRY(take_stage(rk, before, i, h));
    *point = stage_point(rk, before, i, h);
    return lg_linearise(&rk->base.linear, point, NULL);
}

/* The derivatives of stage i at a point, and of the next point, for parameter k. */
static lg_status solve_derivatives(lg_herk_stepper *rk, const lg_point *point, const lg_point *next, int i, double h,
                                   int k)
{
    lg_herk_derivatives *d = &rk->derivatives;
    lg_linearised *l = &rk->base.linear;
    const lg_pattern *pattern = rk->base.system->pattern;
    int nv = d->at.nv, nrows = pattern->nrows;
    double pivot = pivot_of(&rk->A[i + 1], h), *x = rk->base.accel.x, *rows = x + nv;
    double *dq = d->at.q + (long)nv * k, *dv = d->at.v + (long)nv * k;
    LG_TRY(lg_linearised_terms(l, point, k));
    lg_zero(nv + nrows, x);
    lg_axpy(nv, -1, l->force, x);
    lg_linearised_forces(l, -1, dq, dv, x);
    lg_stage_derivatives_advance(&d->at, &rk->A[i + 1], 1, k);
    LG_TRY(lg_linearised_differentiate(l, next, k, &(lg_wanted){.phidot = l->phidot}));
    lg_axpy(nrows, -1 / pivot, l->phidot, rows);
    lg_pattern_add_B(pattern, rk->B, -1 / pivot, dv, rows);
    lg_pattern_add_B(pattern, d->Z, -1 / pivot, dq, rows);
    LG_TRY(lg_accel_solve_linear(&rk->base.accel, x));
    lg_copy(nv, x, lg_stage_derivatives_at(&d->at, i, k) + nv);
    lg_axpy(nrows, rk->d[i], rows, d->lam_end + (long)nrows * k);
    lg_axpy(nv, pivot, x, dv);
    if (i + 1 < rk->stages)
        lg_stage_derivatives_rate(&d->at, i + 1, k);
    return LG_OK;
}

static lg_status differentiate_stage(lg_herk_stepper *rk, const lg_state *before, int i, double h, int count)
{
    lg_herk_derivatives *d = &rk->derivatives;
    lg_point point;
    LG_TRY(linearise_stage(rk, before, i, h, &point));
    lg_point next = point_at(before, h, rk->c[i + 1], rk->theta, rk->q, rk->v);
    LG_TRY(lg_accel_eval(&rk->base.accel, &next, &(lg_wanted){.Z = d->Z}, &rk->base.report));
    move_derivatives(rk, i + 1);
    for (int k = 0; k < count; k++)
        LG_TRY(solve_derivatives(rk, &point, &next, i, h, k));
    if (i + 1 == rk->end) {
        lg_copy(d->at.nv * count, d->at.q, d->q_end);
        lg_copy(d->at.nv * count, d->at.v, d->v_end);
    }
    return LG_OK;
}

/* The derivatives of the acceleration and the multipliers of the end for parameter k, as `accelerate` finds them. */
static lg_status differentiate_acceleration(lg_herk_stepper *rk, const lg_point *end, const lg_sensitivities *s, int k)
{
    lg_herk_derivatives *d = &rk->derivatives;
    lg_linearised *l = &rk->base.linear;
    int nv = d->at.nv, nrows = rk->base.system->pattern->nrows;
    double *dq = s->q + (long)nv * k, *dv = s->v + (long)nv * k, *da = s->a + (long)nv * k,
           *dlam = s->lam + (long)nrows * k;
    if (rk->consistent)
        return lg_linearised_accelerations(l, end, k, dq, dv, da, dlam);
    lg_copy(nrows, d->lam_end + (long)nrows * k, dlam);
    if (needs_acceleration(rk))
        return lg_unconstrained_slopes(&rk->unconstrained, l, end, k, dq, dv, da, dlam);
    lg_copy(nv, lg_stage_derivatives_at(&d->at, rk->stages - 1, k) + nv, da);
    return LG_OK;
}

/* The end of the step, which its projection moves once more, with its derivatives. */
static lg_status differentiate_end(lg_herk_stepper *rk, const lg_state *before, double h, const lg_sensitivities *s)
{
    lg_herk_derivatives *d = &rk->derivatives;
    lg_accel *accel = &rk->base.accel;
    lg_copy(d->at.nv * s->count, d->q_end, s->q);
    lg_copy(d->at.nv * s->count, d->v_end, s->v);
    d->at.follower.dq = s->q, d->at.follower.dv = s->v;
    accel->follower = &d->at.follower;
    lg_status status = herk_finish(rk, before, h);
    accel->follower = NULL;
    LG_TRY(status);
    lg_point end = point_at(before, h, 1, rk->theta_end, rk->q_end, rk->v_end);
    end.a = rk->a_end, end.lam = rk->lam_end, end.work = accel->work;
    LG_TRY(lg_linearise(&rk->base.linear, &end, NULL));
    for (int k = 0; k < s->count; k++)
        LG_TRY(differentiate_acceleration(rk, &end, s, k));
    return LG_OK;
}

static lg_status differentiate(lg_stepper *self, const lg_state *before, const lg_state *after, double h,
                               const lg_sensitivities *s)
{
    lg_herk_stepper *rk = (lg_herk_stepper *)self;
    int stages = rk->consistent ? rk->end : rk->stages;
    (void)after;
    begin_derivatives(rk, before, h, s);
    for (int i = 1; i < stages; i++)
        LG_TRY(differentiate_stage(rk, before, i, h, s->count));
    return differentiate_end(rk, before, h, s);
}

/* ---- the adjoint of this: from the end of the step to its start, with the slopes and multipliers of the step ---- */

static int slopes_count(const lg_herk_stepper *rk)
{
    return 2 * rk->slopes.space->nv * rk->stages;
}

static int count_kept(const lg_stepper *self)
{
    const lg_herk_stepper *rk = (const lg_herk_stepper *)self;
    return 1 + slopes_count(rk) + self->system->pattern->nrows * rk->stages;
}

static void keep(const lg_stepper *self, double *kept)
{
    const lg_herk_stepper *rk = (const lg_herk_stepper *)self;
    kept[0] = rk->h;
    lg_copy(slopes_count(rk), rk->slopes.K, kept + 1);
    lg_copy(self->system->pattern->nrows * rk->stages, rk->derivatives.Lam, kept + 1 + slopes_count(rk));
}

static void take(lg_herk_stepper *rk, const lg_state *before, const double *kept)
{
    int nrows = rk->base.system->pattern->nrows;
    double *Lam = rk->derivatives.Lam;
    rk->h = kept[0];
    lg_copy(slopes_count(rk), kept + 1, rk->slopes.K);
    lg_copy(nrows * rk->stages, kept + 1 + slopes_count(rk), Lam);
    lg_zero(nrows, rk->lam_end);
    for (int i = 0; i < rk->stages; i++)
        lg_axpy(nrows, rk->d[i], i ? Lam + (long)nrows * i : before->lam, rk->lam_end);
}

/* From the adjoint of accelerations and multipliers of the end to that of q and v. What remains of them is for the
   stages. */
static lg_status acceleration_back(lg_herk_stepper *rk, const lg_point *end, const lg_sensitivities *s,
                                   double *gradient)
{
    int nv = rk->slopes.space->nv, nrows = rk->base.system->pattern->nrows;
    if (!rk->consistent && !needs_acceleration(rk))
        return LG_OK;
    LG_TRY(lg_linearise(&rk->base.linear, end, NULL));
    if (rk->consistent) {
        LG_TRY(lg_linearised_accelerations_adjoint(&rk->base.linear, end, rk->base.nparameters, s->a, s->lam, s->q,
                                                   s->v, gradient));
        lg_zero(nrows, s->lam);
    } else {
        LG_TRY(lg_unconstrained_adjoint(&rk->unconstrained, &rk->base.linear, end, rk->base.nparameters, s->a, s->lam,
                                        s->q, s->v, gradient));
    }
    lg_zero(nv, s->a);
    return LG_OK;
}

/* From the adjoint of the state at the end to that of q and v before their projection. */
static lg_status end_back(lg_herk_stepper *rk, const lg_state *before, const lg_sensitivities *s, double *gradient)
{
    const lg_space *space = rk->slopes.space;
    lg_follower *follower = &rk->derivatives.at.follower;
    lg_accel *accel = &rk->base.accel;
    herk_move(rk, before, &rk->A[rk->end], 0, rk->h);
    lg_copy(space->nv, rk->theta, rk->theta_end);
    lg_copy(space->nq, rk->q, rk->q_end);
    lg_copy(space->nv, rk->v, rk->v_end);
    lg_follow_begin(follower);
    accel->follower = follower;
    lg_status status = herk_finish(rk, before, rk->h);
    accel->follower = NULL;
    LG_TRY(status);
    lg_point end = point_at(before, rk->h, 1, rk->theta_end, rk->q_end, rk->v_end);
    end.a = rk->a_end, end.lam = rk->lam_end, end.work = accel->work;
    LG_TRY(acceleration_back(rk, &end, s, gradient));
    return lg_follow_back(follower, rk->base.nparameters, s->q, s->v, gradient, &rk->base.report);
}

/* Linearises stage i, and factors the transposed matrix: the rows of both points change places. The present point is
   the next one. */
static lg_status linearise_transposed(lg_herk_stepper *rk, const lg_state *before, int i, lg_point *point,
                                      lg_point *next)
{
    lg_herk_derivatives *d = &rk->derivatives;
    lg_accel *accel = &rk->base.accel;
    lg_report *report = &rk->base.report;
    herk_move(rk, before, &rk->A[i], 0, rk->h);
    copy_point(rk);
    *point = stage_point(rk, before, i, rk->h);
    LG_TRY(lg_linearise(&rk->base.linear, point, NULL));
    LG_TRY(lg_accel_assemble(accel, point, &(lg_wanted){.B = rk->B}, report));
    herk_move(rk, before, &rk->A[i + 1], 0, rk->h);
    *next = point_at(before, rk->h, rk->c[i + 1], rk->theta, rk->q, rk->v);
    LG_TRY(lg_accel_eval(accel, next, &(lg_wanted){.B = rk->B_next, .Z = d->Z}, report));
    move_derivatives(rk, i + 1);
    return lg_accel_border(accel, next, rk->B_next, rk->B, report);
}

/* From the adjoint of the slope of stage i and of the next point to those of the stage's own point and of the known
   part of the next one; the solution with the transposed matrix stands in accel->x. */
static lg_status solve_back(lg_herk_stepper *rk, int i, const lg_point *point, const lg_point *next, double *gradient)
{
    lg_herk_derivatives *d = &rk->derivatives;
    lg_linearised *l = &rk->base.linear;
    const lg_pattern *pattern = rk->base.system->pattern;
    int nv = d->at.nv, nrows = pattern->nrows;
    double pivot = pivot_of(&rk->A[i + 1], rk->h), *x = rk->base.accel.x, *rows = x + nv;
    lg_copy(nv, lg_stage_derivatives_at(&d->at, i, 0) + nv, x);
    lg_axpy(nv, pivot, d->at.v, x);
    lg_zero(nrows, rows);
    lg_axpy(nrows, rk->d[i], d->lam_end, rows);
    LG_TRY(lg_accel_solve_linear(&rk->base.accel, x));
    for (int k = 0; k < rk->base.nparameters; k++) {
        LG_TRY(lg_linearised_terms(l, point, k));
        LG_TRY(lg_linearised_differentiate(l, next, k, &(lg_wanted){.phidot = l->phidot}));
        gradient[k] -= lg_dot(nv, x, l->force) + lg_dot(nrows, rows, l->phidot) / pivot;
    }
    lg_pattern_add_BT(pattern, rk->B_next, -1 / pivot, rows, d->at.v);
    lg_pattern_add_BT(pattern, d->Z, -1 / pivot, rows, d->at.q);
    lg_stage_derivatives_advance_back(&d->at, &rk->A[i + 1], 1);
    lg_linearised_forces_adjoint(l, -1, x, d->at.q, d->at.v);
    return LG_OK;
}

static lg_status stage_back(lg_herk_stepper *rk, const lg_state *before, int i, int stages, double *gradient)
{
    lg_herk_derivatives *d = &rk->derivatives;
    lg_point point, next;
    LG_TRY(linearise_transposed(rk, before, i, &point, &next));
    if (i + 1 == rk->end) {
        lg_axpy(d->at.nv, 1, d->q_end, d->at.q);
        lg_axpy(d->at.nv, 1, d->v_end, d->at.v);
    }
    if (i + 1 < stages)
        lg_stage_derivatives_rate_back(&d->at, i + 1);
    return solve_back(rk, i, &point, &next, gradient);
}

static lg_status go_back(lg_stepper *self, const lg_state *before, const lg_state *after, const double *kept,
                         const lg_sensitivities *s, double *gradient)
{
    lg_herk_stepper *rk = (lg_herk_stepper *)self;
    lg_herk_derivatives *d = &rk->derivatives;
    int nv = d->at.nv, nrows = self->system->pattern->nrows, stages = rk->consistent ? rk->end : rk->stages;
    (void)after;
    take(rk, before, kept);
    LG_TRY(end_back(rk, before, s, gradient));
    lg_copy(nv, s->q, d->q_end);
    lg_copy(nv, s->v, d->v_end);
    lg_copy(nrows, s->lam, d->lam_end);
    lg_zero(nv, s->q);
    lg_zero(nv, s->v);
    lg_stage_derivatives_begin_back(&d->at, s, rk->h);
    lg_axpy(nv, 1, s->a, lg_stage_derivatives_at(&d->at, stages - 1, 0) + nv);
    for (int i = LG_STAGES - 2; i > 0; i--)
        if (i < stages)
            LG_TRY(stage_back(rk, before, i, stages, gradient));
    herk_move(rk, before, &rk->A[1], 0, rk->h);
    move_derivatives(rk, 1);
    lg_stage_derivatives_rate_back(&d->at, 1);
    lg_stage_derivatives_advance_back(&d->at, &rk->A[1], 0);
    lg_stage_derivatives_end_back(&d->at);
    lg_zero(nrows, s->lam);
    lg_axpy(nrows, rk->d[0], d->lam_end, s->lam);
    return LG_OK;
}

static const lg_stepper_adjoint herk_adjoint = {.count = count_kept, .keep = keep, .step = go_back};

static const lg_stepper_sensitivities herk_sensitivities = {.refused = lg_stage_derivatives_refused,
                                                            .layout = layout_derivatives,
                                                            .step = differentiate,
                                                            .adjoint = &herk_adjoint};

static const lg_stepper_tableaux herk_tableaux = {0};

const lg_stepper_type lg_herk = {
    .name = "herk",
    .size = sizeof(lg_herk_stepper),
    .coupling = LG_COUPLING_MASS,
    .tableaux = &herk_tableaux,
    .choose = choose,
    .prepare = herk_prepare,
    .layout = herk_layout,
    .step = herk_step,
    .error = error,
    .sensitivities = &herk_sensitivities,
    .close = close_plan,
};
