/* The adjoint of a half-explicit step, from its end to its start, with its slopes and multipliers: the transposed maps
   of sensitivities.c. */
#include "core/small.h"
#include "integrator/herk/step.h"

static int slopes_count(const lg_herk_stepper *rk)
{
    return lg_slopes_count(&rk->slopes, rk->stages);
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
    lg_slopes_keep(&rk->slopes, rk->stages, kept + 1);
    lg_copy(self->system->pattern->nrows * rk->stages, rk->derivatives.Lam, kept + 1 + slopes_count(rk));
}

static void take(lg_herk_stepper *rk, const lg_state *before, const double *kept)
{
    int nrows = rk->base.system->pattern->nrows;
    double *Lam = rk->derivatives.Lam;
    rk->h = kept[0];
    lg_slopes_take(&rk->slopes, rk->stages, kept + 1);
    lg_copy(nrows * rk->stages, kept + 1 + slopes_count(rk), Lam);
    lg_zero(nrows, rk->lam_end);
    for (int i = 0; i < rk->stages; i++)
        lg_axpy(nrows, rk->d[i], i ? Lam + (long)nrows * i : before->lam, rk->lam_end);
}

/* Whether the end of the step is where its last stage leads, with consistent accelerations. */
static int ends_at_last_point(const lg_herk_stepper *rk)
{
    return rk->consistent && !rk->levels;
}

/* Repeats the end of the step and its projection, whose corrections a follower keeps, and linearises the equations
   there, unless its acceleration is that of a stage. */
static lg_status linearise_end(lg_herk_stepper *rk, const lg_state *before, const lg_state *after, lg_point *end)
{
    const lg_space *space = rk->slopes.space;
    lg_follower *follower = &rk->derivatives.at.follower;
    lg_linearised *l = &rk->base.linear;
    lg_accel *accel = &rk->base.accel;
    int nvalues = rk->base.system->pattern->nvalues;
    lg_copy(space->nv, rk->theta, rk->theta_end);
    lg_copy(space->nq, rk->q, rk->q_end);
    lg_copy(space->nv, rk->v, rk->v_end);
    *end = lg_herk_point(before, rk->h, 1, rk->theta_end, rk->q_end, rk->v_end);
    end->a = rk->a_end, end->lam = rk->lam_end, end->work = accel->work;
    lg_follow_begin(follower);
    if (ends_at_last_point(rk)) {
        end->a = after->a, end->lam = after->lam;
        LG_TRY(lg_linearise_and_factor(l, end, &rk->base.report));
        lg_copy(nvalues, l->B, rk->B_next);
        lg_copy(nvalues, l->Z, rk->derivatives.Z);
        return LG_OK;
    }
    accel->follower = follower;
    lg_status status = lg_herk_finish(rk, before, rk->h);
    accel->follower = NULL;
    LG_TRY(status);
    return rk->consistent || lg_herk_needs_acceleration(rk) ? lg_linearise(l, end, NULL) : LG_OK;
}

/* From the adjoint of accelerations and multipliers of the end to that of q and v. What remains of them is for the
   stages. */
static lg_status acceleration_back(lg_herk_stepper *rk, const lg_point *end, const lg_sensitivities *s,
                                   double *gradient)
{
    int nv = rk->slopes.space->nv, nrows = rk->base.system->pattern->nrows;
    if (rk->consistent) {
        LG_TRY(lg_linearised_accelerations_adjoint(&rk->base.linear, end, rk->base.nparameters, s->a, s->lam, s->q,
                                                   s->v, gradient));
        lg_zero(nrows, s->lam);
    } else if (lg_herk_needs_acceleration(rk)) {
        LG_TRY(lg_unconstrained_adjoint(&rk->unconstrained, &rk->base.linear, end, rk->base.nparameters, s->a, s->lam,
                                        s->q, s->v, gradient));
    } else {
        return LG_OK;
    }
    lg_zero(nv, s->a);
    return LG_OK;
}

/* From the adjoint of the state at the end to that of q and v before their projection. */
static lg_status end_back(lg_herk_stepper *rk, const lg_state *before, const lg_state *after, const lg_sensitivities *s,
                          double *gradient)
{
    lg_point end;
    lg_herk_move(rk, before, &rk->A[rk->end], 0, rk->h);
    LG_TRY(linearise_end(rk, before, after, &end));
    LG_TRY(acceleration_back(rk, &end, s, gradient));
    return lg_follow_back(&rk->derivatives.at.follower, rk->base.nparameters, s->q, s->v, gradient, &rk->base.report);
}

/* Makes the present point the one where the last of so many stages leads, with its rows as those of the next point. */
static lg_status begin_rows(lg_herk_stepper *rk, const lg_state *before, int stages)
{
    lg_herk_move(rk, before, &rk->A[stages], 0, rk->h);
    const lg_point last = lg_herk_point(before, rk->h, rk->c[stages], rk->theta, rk->q, rk->v);
    return lg_accel_eval(&rk->base.accel, &last, &(lg_wanted){.B = rk->B_next, .Z = rk->derivatives.Z},
                         &rk->base.report);
}

static void exchange(double **a, double **b)
{
    double *kept = *a;
    *a = *b;
    *b = kept;
}

/* The present point, that of the stage after i, becomes the next one, and that of stage i the present one. Linearises
   stage i, and factors the transposed matrix: the rows of both points change places. */
static lg_status linearise_transposed(lg_herk_stepper *rk, const lg_state *before, int i, lg_point *point,
                                      lg_point *next)
{
    lg_herk_derivatives *d = &rk->derivatives;
    lg_report *report = &rk->base.report;
    const double *K = i + 1 < rk->stages ? lg_slopes_at(&rk->slopes, i + 1) : NULL;
    exchange(&rk->theta, &d->theta);
    exchange(&rk->q, &d->q);
    exchange(&rk->v, &d->v);
    *next = lg_herk_point(before, rk->h, rk->c[i + 1], d->theta, d->q, d->v);
    lg_stage_derivatives_move(&d->at, d->q, d->v, d->theta, K);
    lg_herk_move(rk, before, &rk->A[i], 0, rk->h);
    *point = lg_herk_stage_point(rk, i, lg_herk_point(before, rk->h, rk->c[i], rk->theta, rk->q, rk->v));
    LG_TRY(lg_linearise_with_masses(&rk->base.linear, point, report));
    return lg_accel_border(&rk->base.accel, next, rk->B_next, rk->base.linear.B, report);
}

/* From the adjoint of the slope of stage i and of the next point to those of the stage's own point and of the known
   part of the next one; the solution with the transposed matrix stands in accel->x. */
static lg_status solve_back(lg_herk_stepper *rk, int i, const lg_point *point, const lg_point *next, double *gradient)
{
    lg_herk_derivatives *d = &rk->derivatives;
    lg_linearised *l = &rk->base.linear;
    const lg_pattern *pattern = rk->base.system->pattern;
    int nv = d->at.nv, nrows = pattern->nrows, count = rk->base.nparameters;
    double pivot = lg_herk_pivot(&rk->A[i + 1], rk->h), *x = rk->base.accel.x, *rows = x + nv;
    lg_copy(nv, lg_stage_derivatives_at(&d->at, i, 0) + nv, x);
    lg_axpy(nv, pivot, d->at.v, x);
    lg_zero(nrows, rows);
    lg_axpy(nrows, rk->d[i], d->lam_end, rows);
    LG_TRY(lg_accel_solve_linear(&rk->base.accel, x));
    LG_TRY(lg_linearised_weigh(l, point, count, &(lg_term_weights){.forces = x}, -1, gradient));
    LG_TRY(lg_linearised_weigh(l, next, count, &(lg_term_weights){.phidot = rows}, -1 / pivot, gradient));
    lg_pattern_add_BT(pattern, rk->B_next, -1 / pivot, rows, d->at.v);
    lg_pattern_add_BT(pattern, d->Z, -1 / pivot, rows, d->at.q);
    lg_stage_derivatives_advance_back(&d->at, &rk->A[i + 1], 1);
    lg_linearised_forces_adjoint(l, -1, x, d->at.q, d->at.v);
    exchange(&rk->B_next, &l->B);
    exchange(&d->Z, &l->Z);
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
    take(rk, before, kept);
    LG_TRY(end_back(rk, before, after, s, gradient));
    if (stages > 0 && !ends_at_last_point(rk))
        LG_TRY(begin_rows(rk, before, stages));
    lg_copy(nv, s->q, d->q_end);
    lg_copy(nv, s->v, d->v_end);
    lg_copy(nrows, s->lam, d->lam_end);
    lg_zero(nv, s->q);
    lg_zero(nv, s->v);
    lg_stage_derivatives_begin_back(&d->at, before, s, rk->h);
    lg_axpy(nv, 1, s->a, lg_stage_derivatives_at(&d->at, stages - 1, 0) + nv);
    for (int i = LG_STAGES - 2; i > 0; i--)
        if (i < stages)
            LG_TRY(stage_back(rk, before, i, stages, gradient));
    lg_herk_move_derivatives(rk, 1);
    lg_stage_derivatives_rate_back(&d->at, 1);
    lg_stage_derivatives_advance_back(&d->at, &rk->A[1], 0);
    lg_stage_derivatives_end_back(&d->at);
    lg_zero(nrows, s->lam);
    lg_axpy(nrows, rk->d[0], d->lam_end, s->lam);
    return LG_OK;
}

static const lg_stepper_adjoint herk_adjoint = {.count = count_kept, .keep = keep, .step = go_back};

const lg_stepper_sensitivities lg_herk_sensitivities = {
    .layout = lg_herk_layout_derivatives, .step = lg_herk_differentiate, .adjoint = &herk_adjoint};
