/* Explicit Runge-Kutta methods in local coordinates: Munthe-Kaas methods on Lie kinds, ordinary ones on linear kinds.

   Stage i, holzinger2024 Alg. 3:   theta_i = h sum_j a_ij K_j      v_i = v_n + h sum_j a_ij k_j
                                    q_i = q_n exp(theta_i)          K_i = T^-1(theta_i) v_i
                                    k_i = vdot(q_i, v_i, t_n + c_i h), from the index-1 equations if constrained.

   The acceleration at the end of a step is part of the state and the first slope of the next step. A last stage without
   weight lies at that same point and is never formed, so that first-same-as-last needs no code of its own. If the
   embedded solution gives that stage a weight, its slopes come from the new state.

   A method with its own dense output takes further stages after an accepted step, beginning with the slopes of the new
   state, which a projection may have moved: y = (theta, v) follows the polynomial of tableau.h, where

       F_0 = y_1 - y_0,     F_1 = h y_0' - F_0,     F_2 = 2 F_0 - h (y_0' + y_1'),     F_3.. = h sum_j d_ij (K_j, k_j).

   With constraints the error of a step consists of the error of q and v before the projection and of the drift in phi
   and phidot, measured by the shortest changes that would remove it. Residuals left by earlier steps do not count,
   since no step size could remove them: the exact solution from there has phiddot = 0, so that the drift is

       phi - (phi_n + h phidot_n)      and      phidot - phidot_n.

   phi_n and phidot_n are carried, as the end of a step knows them. */
#include "core/small.h"
#include "integrator/explicit.h"
#include "integrator/stage_derivatives.h"
#include "solve/initial.h"
#include "solve/project.h"

typedef struct lg_rkmk_stepper {
    lg_stepper base;
    int stages; /* number of stages that are formed: those with a weight, and those that these depend on */
    lg_weights A[LG_STAGES], b, b_hat, b_low;
    double c[LG_STAGES];
    lg_weights curve_A[LG_CURVE_STAGES], curve_D[LG_CURVE_DEGREE - 3];
    lg_slopes slopes; /* of all stages, then of the end of the step, then of the further stages of the curve */
    double *theta, *q, *v, *a, *lam;
    lg_point at; /* q, v and theta, at the time and with the memory that are set where it is used */
    double *embedded, *q_hat; /* increment (2 nv) and coordinates of the embedded solution */
    int levels; /* of the projection */
    int nrows; /* constraint rows whose drift counts in the error */
    double *q_end, *v_end; /* the end of the step before its projection; the same as q and v if no drift counts */
    double *residual, *residual_before; /* phi, phidot (nrows each) there and at the start of the step */
    int knows_before; /* the latter have been carried */
    double h; /* of the last step */
    double *stage_lam; /* nrows for each stage; NULL in runs that do not go back */
    lg_stage_derivatives derivatives; /* in runs with sensitivities */
} lg_rkmk_stepper;

static double *stage_lam(const lg_rkmk_stepper *rk, int i)
{
    return rk->stage_lam + (long)rk->base.system->pattern->nrows * i;
}

static void prepare_curve(lg_rkmk_stepper *rk, const lg_tableau_curve *curve)
{
    if (!curve)
        return;
    rk->base.curve = LG_CURVE_DEGREE;
    for (int i = 0; i < LG_CURVE_STAGES; i++)
        rk->curve_A[i] = lg_weights_of(LG_POINTS, curve->A[i]);
    for (int i = 0; i < LG_CURVE_DEGREE - 3; i++)
        rk->curve_D[i] = lg_weights_of(LG_POINTS, curve->D[i]);
}

static lg_status rkmk_prepare(lg_stepper *self)
{
    lg_rkmk_stepper *rk = (lg_rkmk_stepper *)self;
    const lg_tableau *tableau = self->method->data;

    rk->b = lg_weights_of(tableau->stages, tableau->b);
    rk->stages = rk->b.reach;
    for (int i = 0; i < rk->stages; i++) {
        rk->A[i] = lg_weights_of(i, &tableau->A[i * tableau->stages]);
        rk->c[i] = lg_ratio_value(tableau->c[i]);
    }
    rk->b_hat = lg_weights_of(rk->stages + 1 < tableau->stages ? rk->stages + 1 : tableau->stages, tableau->b_hat);
    rk->b_low = lg_weights_of(rk->stages, tableau->b_low);
    prepare_curve(rk, tableau->curve);

    rk->nrows = lg_stepper_estimates(self) ? self->system->pattern->nrows : 0;
    rk->levels = lg_explicit_levels(self);
    return LG_OK;
}

static void rkmk_layout(lg_stepper *self, lg_arena *arena)
{
    lg_rkmk_stepper *rk = (lg_rkmk_stepper *)self;
    size_t nv = (size_t)self->system->space->nv;

    lg_slopes_layout(&rk->slopes, self->system->space, rk->stages + 1 + (rk->base.curve ? LG_CURVE_STAGES : 0), arena);
    rk->theta = lg_arena_doubles(arena, nv);
    rk->q = lg_arena_doubles(arena, (size_t)self->system->space->nq);
    rk->v = lg_arena_doubles(arena, nv);
    rk->a = lg_arena_doubles(arena, nv);
    rk->lam = lg_arena_doubles(arena, (size_t)self->system->pattern->nrows);
    rk->at = lg_point_at(0, rk->q, rk->v);
    rk->at.work = self->accel.work, rk->at.mem.theta = rk->theta;
    rk->embedded = lg_arena_doubles(arena, 2 * nv);
    rk->q_hat = lg_arena_doubles(arena, (size_t)self->system->space->nq);
    self->coarse = rk->b_low.count && lg_stepper_estimates(self) ? lg_arena_doubles(arena, 2 * nv) : NULL;
    rk->q_end = rk->nrows ? lg_arena_doubles(arena, (size_t)self->system->space->nq) : rk->q;
    rk->v_end = rk->nrows ? lg_arena_doubles(arena, nv) : rk->v;
    rk->residual = lg_arena_doubles(arena, 2 * (size_t)rk->nrows);
    rk->residual_before = lg_arena_doubles(arena, 2 * (size_t)rk->nrows);
    lg_project_layout(&self->accel, rk->levels, arena);
}

/* Moves to the point of a combination of slopes: q = q_n exp(theta), v = v_n + ...; forms K there unless it is NULL. */
static LG_INLINE void rkmk_move(lg_rkmk_stepper *rk, const lg_state *state, const lg_weights *weights, double h,
                                double *K)
{
    const lg_space *space = rk->base.system->space;
    lg_slopes_advance(&rk->slopes, weights, h, state->v, rk->theta, rk->v);
    if (K)
        lg_space_stage(space, state->q, rk->theta, rk->v, rk->q, K);
    else
        lg_space_move(space, state->q, rk->theta, NULL, rk->q, NULL);
    lg_slopes_add_flows(&rk->slopes, state->q, weights, h, rk->q);
}

/* What all points of a step from `state` have in common. */
static inline void enter_step(lg_rkmk_stepper *rk, const lg_state *state, double h)
{
    rk->at.t_in = state->t + 0.5 * h;
    rk->at.mem.values = state->mem;
}

/* Accelerations at the point that `move` left, at time t of this step. */
static inline lg_status accelerate(lg_rkmk_stepper *rk, const lg_state *state, double t, double *a)
{
    lg_accel *accel = &rk->base.accel;
    rk->at.t = t, rk->at.mem.age = t - state->t;
    if (rk->base.system->accelerate) {
        lg_status status = lg_accel_ask(accel, &rk->at, a, &rk->base.report);
        if (status != LG_SINGULAR)
            return status;
    }
    return lg_accel_solve_by_matrix(accel, &rk->at, a, rk->lam, &rk->base.report);
}

/* Moves the end of the step onto the constraints, stores the values that the error estimate needs, and accelerates. */
static LG_APART lg_status finish_constrained(lg_rkmk_stepper *rk, const lg_state *state, double h)
{
    const lg_space *space = rk->base.system->space;
    lg_accel *accel = &rk->base.accel;
    double *residual = rk->nrows ? rk->residual : NULL;
    double t = state->t + h;
    if (rk->nrows) {
        lg_copy(space->nq, rk->q, rk->q_end);
        lg_copy(space->nv, rk->v, rk->v_end);
    }
    rk->at.t = t, rk->at.mem.age = h;
    if (rk->levels)
        return lg_project_end(accel, rk->levels, &rk->at, rk->q, rk->v, residual, rk->a, rk->lam, &rk->base.report);
    if (residual)
        LG_TRY(lg_residual(accel, &rk->at, residual));
    return accelerate(rk, state, t, rk->a);
}

static inline lg_status rkmk_finish(lg_rkmk_stepper *rk, const lg_state *state, double h)
{
    return rk->levels || rk->nrows ? finish_constrained(rk, state, h) : accelerate(rk, state, state->t + h, rk->a);
}

/* ---- the carry: phi and phidot at the start of the next step, behind a 1; zeros: they are not known ---- */

static int rkmk_carry_count(const lg_stepper *self)
{
    int nrows = ((const lg_rkmk_stepper *)self)->nrows;
    return nrows ? 1 + 2 * nrows : 0;
}

static lg_status rkmk_reset(lg_stepper *self, lg_state *state)
{
    lg_zero(rkmk_carry_count(self), state->carry);
    return LG_OK;
}

/* Runs with fixed steps, and those of earlier versions, carry nothing. */
static int adopt(const lg_stepper *self, int count, const double *given, double *carry)
{
    int own = rkmk_carry_count(self), fits = count == 1 + 2 * self->system->pattern->nrows;
    if (fits)
        lg_copy(own, given, carry);
    else
        lg_zero(own, carry);
    return fits || count == 0;
}

static void take_over(lg_rkmk_stepper *rk, const double *carry)
{
    rk->knows_before = rk->nrows && carry[0] == 1;
    if (rk->knows_before)
        lg_copy(2 * rk->nrows, carry + 1, rk->residual_before);
}

static void hand_over(const lg_rkmk_stepper *rk, double *carry)
{
    if (!rk->nrows)
        return;
    carry[0] = 1;
    lg_copy(2 * rk->nrows, rk->levels ? rk->base.accel.rows : rk->residual, carry + 1);
}

static lg_status rkmk_step(lg_stepper *self, lg_state *state, double h)
{
    lg_rkmk_stepper *rk = (lg_rkmk_stepper *)self;
    const lg_space *space = self->system->space;

    rk->h = h;
    enter_step(rk, state, h);
    lg_slopes_begin(&rk->slopes, state);
    for (int i = 1; i < rk->stages; i++) {
        double *K = lg_slopes_at(&rk->slopes, i);
        rkmk_move(rk, state, &rk->A[i], h, K);
        lg_slopes_set_flow(&rk->slopes, i, rk->q, rk->v);
        LG_TRY(accelerate(rk, state, state->t + rk->c[i] * h, K + space->nv));
        if (rk->stage_lam)
            lg_copy(space->nrows, rk->lam, stage_lam(rk, i));
    }

    rkmk_move(rk, state, &rk->b, h, NULL);
    LG_TRY(rkmk_finish(rk, state, h));
    take_over(rk, state->carry);
    LG_TRY(lg_stepper_accept(self, state, h, rk->theta, rk->q, rk->v, rk->a, rk->lam));
    hand_over(rk, state->carry);
    return LG_OK;
}

/* Adds the drift of the step to its errors; the matrix is that of the accelerations at the end. */
static lg_status add_drift(lg_rkmk_stepper *rk, const lg_state *before, double h, double *error)
{
    lg_accel *accel = &rk->base.accel;
    int nv = rk->base.system->space->nv;
    lg_point point = lg_point_at(before->t, before->q, before->v);
    point.t_in = before->t + 0.5 * h, point.mem.values = before->mem;
    if (!rk->knows_before)
        LG_TRY(lg_residual(accel, &point, rk->residual_before));
    lg_axpy(2 * rk->nrows, -1.0, rk->residual_before, rk->residual);
    lg_axpy(rk->nrows, -h, rk->residual_before + rk->nrows, rk->residual);
    for (int level = 0; level < 2; level++) {
        LG_TRY(lg_shortest_change(accel, rk->residual + level * rk->nrows));
        lg_axpy(nv, 1.0, accel->x, error + level * nv);
        if (rk->base.coarse)
            lg_axpy(nv, 1.0, accel->x, rk->base.coarse + level * nv);
    }
    return LG_OK;
}

/* The slopes of the end of the step. */
static void set_last_slopes(lg_rkmk_stepper *rk, const double *q0, const double *theta, const lg_state *end)
{
    const lg_space *space = rk->base.system->space;
    double *K = lg_slopes_at(&rk->slopes, rk->stages);
    lg_space_rate(space, q0, theta, end->v, K);
    lg_slopes_set_flow(&rk->slopes, rk->stages, end->q, end->v);
    lg_copy(space->nv, end->a, K + space->nv);
}

/* The error of the end of the step, before a projection, against the embedded solution with these weights. */
static void set_error(lg_rkmk_stepper *rk, const lg_state *before, const lg_weights *weights, double h, double *error)
{
    const lg_space *space = rk->base.system->space;
    int nv = space->nv;
    lg_slopes_combine(&rk->slopes, weights, h, 0, 2 * nv, NULL, rk->embedded);
    lg_space_retract(space, before->q, rk->embedded, rk->q_hat);
    lg_slopes_add_flows(&rk->slopes, before->q, weights, h, rk->q_hat);
    lg_space_difference(space, rk->q_hat, rk->q_end, error);
    for (int i = 0; i < nv; i++)
        error[nv + i] = rk->v_end[i] - (before->v[i] + rk->embedded[nv + i]);
}

static lg_status error(lg_stepper *self, const lg_state *before, double h, double *error)
{
    lg_rkmk_stepper *rk = (lg_rkmk_stepper *)self;
    set_last_slopes(rk, before->q, rk->theta, &(lg_state){.q = rk->q, .v = rk->v, .a = rk->a});
    set_error(rk, before, &rk->b_hat, h, error);
    if (self->coarse)
        set_error(rk, before, &rk->b_low, h, self->coarse);
    return rk->nrows ? add_drift(rk, before, h, error) : LG_OK;
}

/* ---- the curve through a step ---- */

/* The displacement y_1 - y_0 to the end of the step, which a projection may have moved a little: theta + T^-1 delta. */
static void set_displacement(lg_rkmk_stepper *rk, const lg_state *before, const lg_state *after, double *F)
{
    const lg_space *space = rk->base.system->space;
    double *delta = rk->embedded;
    lg_space_retract(space, before->q, rk->theta, rk->q_hat);
    lg_space_difference(space, rk->q_hat, after->q, delta);
    lg_space_rate(space, before->q, rk->theta, delta, F);
    lg_axpy(space->nv, 1.0, rk->theta, F);
    for (int i = 0; i < space->nv; i++)
        F[space->nv + i] = after->v[i] - before->v[i];
}

static lg_status write_curve(lg_stepper *self, const lg_state *before, const lg_state *after, double h, double *F)
{
    lg_rkmk_stepper *rk = (lg_rkmk_stepper *)self;
    const lg_tableau *tableau = self->method->data;
    int ny = 2 * self->system->space->nv, next = rk->stages + 1;
    const double *first = rk->slopes.K, *last = lg_slopes_at(&rk->slopes, rk->stages);
    set_displacement(rk, before, after, F);
    set_last_slopes(rk, before->q, F, after);
    enter_step(rk, before, h);
    for (int i = 0; i < LG_CURVE_STAGES; i++, next++) {
        double *K = lg_slopes_at(&rk->slopes, next), c = lg_ratio_value(tableau->curve->c[i]);
        rkmk_move(rk, before, &rk->curve_A[i], h, K);
        lg_slopes_set_flow(&rk->slopes, next, rk->q, rk->v);
        LG_TRY(accelerate(rk, before, before->t + c * h, K + ny / 2));
    }
    for (int i = 0; i < ny; i++) {
        F[ny + i] = h * first[i] - F[i];
        F[2 * ny + i] = 2 * F[i] - h * (first[i] + last[i]);
    }
    for (int i = 3; i < LG_CURVE_DEGREE; i++)
        lg_slopes_combine(&rk->slopes, &rk->curve_D[i - 3], h, 0, ny, NULL, F + (size_t)i * (size_t)ny);
    return LG_OK;
}

/* ---- derivatives by parameters, for which the step is repeated; its slopes are still there ---- */

static void layout_derivatives(lg_stepper *self, lg_arena *arena)
{
    lg_rkmk_stepper *rk = (lg_rkmk_stepper *)self;
    size_t nrows = (size_t)self->system->pattern->nrows;
    lg_stage_derivatives_layout(&rk->derivatives, self, rk->stages, arena);
    rk->stage_lam = self->backwards ? lg_arena_doubles(arena, nrows * (size_t)rk->stages) : NULL;
}

/* The equations linearised at the point that `move` left, at time t, with their matrix. The accelerations a are known,
   and multipliers are not. */
static lg_status linearise(lg_rkmk_stepper *rk, const lg_state *before, double t, double *a)
{
    lg_accel *accel = &rk->base.accel;
    rk->at.a = a, rk->at.lam = rk->lam;
    rk->at.t = t, rk->at.mem.age = t - before->t;
    if (rk->base.system->pattern->nrows)
        LG_TRY(lg_accel_solve_by_matrix(accel, &rk->at, a, rk->lam, &rk->base.report));
    else
        LG_TRY(lg_accel_factor(accel, &rk->at, &(lg_wanted){0}, &rk->base.report));
    return lg_linearise(&rk->base.linear, &rk->at, NULL);
}

static lg_status differentiate_stage(lg_rkmk_stepper *rk, const lg_state *before, int i, double h)
{
    lg_stage_derivatives *d = &rk->derivatives;
    double *K = lg_slopes_at(&rk->slopes, i);
    int nv = d->nv;
    rkmk_move(rk, before, &rk->A[i], h, K);
    lg_stage_derivatives_move(d, rk->q, rk->v, rk->theta, K);
    LG_TRY(linearise(rk, before, before->t + rk->c[i] * h, K + nv));
    for (int k = 0; k < d->start->count; k++) {
        lg_stage_derivatives_advance(d, &rk->A[i], 0, k);
        lg_stage_derivatives_rate(d, i, k);
        LG_TRY(lg_linearised_accelerations(&rk->base.linear, &rk->at, k, d->q + (long)nv * k, d->v + (long)nv * k,
                                           lg_stage_derivatives_at(d, i, k) + nv, d->lam));
    }
    return LG_OK;
}

/* The end of the step, which its projection moves once more, with its derivatives. */
static lg_status differentiate_end(lg_rkmk_stepper *rk, const lg_state *before, double h, const lg_sensitivities *s)
{
    lg_stage_derivatives *d = &rk->derivatives;
    lg_accel *accel = &rk->base.accel;
    rkmk_move(rk, before, &rk->b, h, NULL);
    lg_stage_derivatives_move(d, rk->q, rk->v, rk->theta, NULL);
    for (int k = 0; k < s->count; k++)
        lg_stage_derivatives_advance(d, &rk->b, 0, k);
    lg_copy(d->nv * s->count, d->q, s->q);
    lg_copy(d->nv * s->count, d->v, s->v);
    d->follower.dq = s->q, d->follower.dv = s->v;
    accel->follower = &d->follower;
    lg_status status = rkmk_finish(rk, before, h);
    accel->follower = NULL;
    return status;
}

static lg_status differentiate(lg_stepper *self, const lg_state *before, const lg_state *after, double h,
                               const lg_sensitivities *s)
{
    lg_rkmk_stepper *rk = (lg_rkmk_stepper *)self;
    lg_linearised *l = &self->linear;
    int nv = self->system->space->nv, nrows = self->system->pattern->nrows;
    (void)after;
    enter_step(rk, before, h);
    lg_stage_derivatives_begin(&rk->derivatives, before, s, h);
    for (int i = 1; i < rk->stages; i++)
        LG_TRY(differentiate_stage(rk, before, i, h));
    LG_TRY(differentiate_end(rk, before, h, s));
    rk->at.a = rk->a, rk->at.lam = rk->lam;
    LG_TRY(lg_linearise(l, &rk->at, NULL));
    if (!nrows)
        LG_TRY(lg_accel_factor(&self->accel, &rk->at, &(lg_wanted){0}, &self->report));
    for (int k = 0; k < s->count; k++)
        LG_TRY(lg_linearised_accelerations(l, &rk->at, k, s->q + (long)nv * k, s->v + (long)nv * k, s->a + (long)nv * k,
                                           s->lam + (long)nrows * k));
    return LG_OK;
}

/* ---- the adjoint of this: from the end of the step to its start, with the slopes of the step ---- */

static int slopes_count(const lg_rkmk_stepper *rk)
{
    return lg_slopes_count(&rk->slopes, rk->stages);
}

static int count_kept(const lg_stepper *self)
{
    const lg_rkmk_stepper *rk = (const lg_rkmk_stepper *)self;
    return 1 + slopes_count(rk) + self->system->pattern->nrows * rk->stages;
}

static void keep(const lg_stepper *self, double *kept)
{
    const lg_rkmk_stepper *rk = (const lg_rkmk_stepper *)self;
    kept[0] = rk->h;
    lg_slopes_keep(&rk->slopes, rk->stages, kept + 1);
    lg_copy(self->system->pattern->nrows * rk->stages, rk->stage_lam, kept + 1 + slopes_count(rk));
}

static void take_kept(lg_rkmk_stepper *rk, const double *kept)
{
    rk->h = kept[0];
    lg_slopes_take(&rk->slopes, rk->stages, kept + 1);
    lg_copy(rk->base.system->pattern->nrows * rk->stages, kept + 1 + slopes_count(rk), rk->stage_lam);
}

/* The equations linearised, with their matrix, at the point that `move` left, at time t, where a and lam are known. */
static lg_status linearise_known(lg_rkmk_stepper *rk, const lg_state *before, double t, const double *a,
                                 const double *lam)
{
    rk->at.a = a, rk->at.lam = lam;
    rk->at.t = t, rk->at.mem.age = t - before->t;
    return lg_linearise_and_factor(&rk->base.linear, &rk->at, &rk->base.report);
}

/* The same at the end of a step, of which a follower keeps the corrections of its projection. */
static lg_status linearise_end(lg_rkmk_stepper *rk, const lg_state *before, const lg_state *after, double h)
{
    lg_stepper *base = &rk->base;
    lg_stage_derivatives *d = &rk->derivatives;
    lg_follow_begin(&d->follower);
    if (!rk->levels)
        return linearise_known(rk, before, before->t + h, after->a, after->lam);
    base->accel.follower = &d->follower;
    lg_status status = rkmk_finish(rk, before, h);
    base->accel.follower = NULL;
    LG_TRY(status);
    rk->at.a = rk->a, rk->at.lam = rk->lam;
    return lg_linearise(&base->linear, &rk->at, NULL);
}

/* From the adjoint of the state at the end to that of q and v before their projection. */
static lg_status end_back(lg_rkmk_stepper *rk, const lg_state *before, const lg_state *after, const lg_sensitivities *s,
                          double *gradient)
{
    lg_stepper *base = &rk->base;
    lg_stage_derivatives *d = &rk->derivatives;
    rkmk_move(rk, before, &rk->b, rk->h, NULL);
    lg_stage_derivatives_move(d, rk->q, rk->v, rk->theta, NULL);
    LG_TRY(linearise_end(rk, before, after, rk->h));
    LG_TRY(lg_linearised_accelerations_adjoint(&base->linear, &rk->at, base->nparameters, s->a, s->lam, s->q, s->v,
                                               gradient));
    return lg_follow_back(&d->follower, base->nparameters, s->q, s->v, gradient, &base->report);
}

static lg_status stage_back(lg_rkmk_stepper *rk, const lg_state *before, int i, double h, double *gradient)
{
    lg_stage_derivatives *d = &rk->derivatives;
    const double *K = lg_slopes_at(&rk->slopes, i);
    rkmk_move(rk, before, &rk->A[i], h, NULL);
    lg_stage_derivatives_move(d, rk->q, rk->v, rk->theta, K);
    LG_TRY(linearise_known(rk, before, before->t + rk->c[i] * h, K + d->nv, stage_lam(rk, i)));
    LG_TRY(lg_linearised_accelerations_adjoint(&rk->base.linear, &rk->at, rk->base.nparameters,
                                               lg_stage_derivatives_at(d, i, 0) + d->nv, NULL, d->q, d->v, gradient));
    lg_stage_derivatives_rate_back(d, i);
    lg_stage_derivatives_advance_back(d, &rk->A[i], 0);
    return LG_OK;
}

static lg_status go_back(lg_stepper *self, const lg_state *before, const lg_state *after, const double *kept,
                         const lg_sensitivities *s, double *gradient)
{
    lg_rkmk_stepper *rk = (lg_rkmk_stepper *)self;
    take_kept(rk, kept);
    enter_step(rk, before, rk->h);
    LG_TRY(end_back(rk, before, after, s, gradient));
    lg_stage_derivatives_begin_back(&rk->derivatives, before, s, rk->h);
    lg_stage_derivatives_advance_back(&rk->derivatives, &rk->b, 0);
    for (int i = rk->stages - 1; i > 0; i--)
        LG_TRY(stage_back(rk, before, i, rk->h, gradient));
    lg_stage_derivatives_end_back(&rk->derivatives);
    lg_zero(self->system->pattern->nrows, s->lam);
    return LG_OK;
}

static const lg_stepper_adjoint rkmk_adjoint = {.count = count_kept, .keep = keep, .step = go_back};

static const lg_stepper_sensitivities rkmk_sensitivities = {
    .layout = layout_derivatives, .step = differentiate, .adjoint = &rkmk_adjoint};

static const lg_stepper_carry rkmk_carry = {.count = rkmk_carry_count, .reset = rkmk_reset, .adopt = adopt};

static const lg_stepper_embedded rkmk_embedded = {.error = error, .write = write_curve};

const lg_stepper_type lg_rkmk = {
    .name = "rkmk",
    .coupling = LG_COUPLING_MASS,
    .size = sizeof(lg_rkmk_stepper),
    .carry = &rkmk_carry,
    .prepare = rkmk_prepare,
    .layout = rkmk_layout,
    .step = rkmk_step,
    .embedded = &rkmk_embedded,
    .sensitivities = &rkmk_sensitivities,
};
