/* Derivatives by parameters of a half-explicit step, which is repeated; the slopes of all stages are still there. */
#include "core/small.h"
#include "integrator/herk/step.h"

void lg_herk_layout_derivatives(lg_stepper *self, lg_arena *arena)
{
    lg_herk_stepper *rk = (lg_herk_stepper *)self;
    lg_herk_derivatives *d = &rk->derivatives;
    size_t n = self->backwards ? 1 : (size_t)self->nparameters, nv = (size_t)self->system->space->nv;
    size_t nrows = (size_t)self->system->pattern->nrows;
    lg_stage_derivatives_layout(&d->at, self, rk->stages, arena);
    self->linear.wants_Z = self->backwards;
    d->theta = lg_arena_doubles(arena, nv);
    d->q = lg_arena_doubles(arena, (size_t)self->system->space->nq);
    d->v = lg_arena_doubles(arena, nv);
    d->Lam = lg_arena_doubles(arena, nrows * (size_t)rk->stages);
    d->Z = lg_arena_doubles(arena, (size_t)self->system->pattern->nvalues);
    d->q_end = lg_arena_doubles(arena, nv * n);
    d->v_end = lg_arena_doubles(arena, nv * n);
    d->lam_end = lg_arena_doubles(arena, nrows * n);
}

void lg_herk_move_derivatives(lg_herk_stepper *rk, int next)
{
    const double *K = next < rk->stages ? lg_slopes_at(&rk->slopes, next) : NULL;
    lg_stage_derivatives_move(&rk->derivatives.at, rk->q, rk->v, rk->theta, K);
}

/* The first stage, and the point of the second one. */
static void begin_derivatives(lg_herk_stepper *rk, const lg_state *before, double h, const lg_sensitivities *s)
{
    lg_herk_derivatives *d = &rk->derivatives;
    int nrows = rk->base.system->pattern->nrows;
    lg_herk_begin(rk, before, h);
    lg_stage_derivatives_begin(&d->at, before, s, h);
    lg_zero(nrows * s->count, d->lam_end);
    lg_axpy(nrows * s->count, rk->d[0], s->lam, d->lam_end);
    lg_herk_move_derivatives(rk, 1);
    for (int k = 0; k < s->count; k++) {
        lg_stage_derivatives_advance(&d->at, &rk->A[1], 0, k);
        lg_stage_derivatives_rate(&d->at, 1, k);
    }
}

lg_point lg_herk_stage_point(const lg_herk_stepper *rk, int i, lg_point point)
{
    const lg_herk_derivatives *d = &rk->derivatives;
    point.a = lg_slopes_at(&rk->slopes, i) + d->at.nv;
    point.lam = d->Lam + (long)rk->base.system->pattern->nrows * i;
    point.work = rk->base.accel.work;
    return point;
}

/* Keeps the present point as that of the stage that is differentiated. */
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
        LG_TRY(lg_herk_set_rows(rk, before, rk->c[i], h, rk->B)); /* which `assemble` relies on */
    LG_TRY(lg_herk_take_stage(rk, before, i, h));
    const lg_herk_derivatives *d = &rk->derivatives;
    *point = lg_herk_stage_point(rk, i, lg_herk_point(before, h, rk->c[i], d->theta, d->q, d->v));
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
    double pivot = lg_herk_pivot(&rk->A[i + 1], h), *x = rk->base.accel.x, *rows = x + nv;
    double *dq = d->at.q + (long)nv * k, *dv = d->at.v + (long)nv * k;
    LG_TRY(lg_linearised_terms(l, point, k));
    lg_zero(nv + nrows, x);
    lg_axpy(nv, 1, l->force, x);
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
    lg_point next = lg_herk_point(before, h, rk->c[i + 1], rk->theta, rk->q, rk->v);
    LG_TRY(lg_accel_eval(&rk->base.accel, &next, &(lg_wanted){.Z = d->Z}, &rk->base.report));
    lg_herk_move_derivatives(rk, i + 1);
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
    if (lg_herk_needs_acceleration(rk))
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
    lg_status status = lg_herk_finish(rk, before, h);
    accel->follower = NULL;
    LG_TRY(status);
    lg_point end = lg_herk_point(before, h, 1, rk->theta_end, rk->q_end, rk->v_end);
    end.a = rk->a_end, end.lam = rk->lam_end, end.work = accel->work;
    LG_TRY(lg_linearise(&rk->base.linear, &end, NULL));
    for (int k = 0; k < s->count; k++)
        LG_TRY(differentiate_acceleration(rk, &end, s, k));
    return LG_OK;
}

lg_status lg_herk_differentiate(lg_stepper *self, const lg_state *before, const lg_state *after, double h,
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
