/* Derivatives of a system made of functions, formed by differences; see callback_difference.h. */
#include "system/callback_difference.h"

#include "core/small.h"

#define TIME_STEP 1e-4 /* four-point differences in time: truncation 1e-17, round-off 1e-12 */
#define SPACE_STEP 6e-6 /* central differences: cube root of the machine epsilon */

/* f' ~ (8 (f(+e) - f(-e)) - (f(2e) - f(-2e))) / 12 e */
static const double stencil_at[4] = {1, -1, 2, -2};
static const double stencil_weight[4] = {8.0 / 12, -8.0 / 12, -1.0 / 12, 1.0 / 12};

/* ---- constraints ---- */

/* rate += d(phi)/dt at fixed q, which is exactly zero if phi does not depend on t. */
static lg_status add_phi_t(const lg_callback_work *work, const lg_callback_point *at, double *rate)
{
    const lg_callbacks *self = work->self;
    lg_callback_point beside = *at;
    for (int s = 0; s < 4; s++) {
        beside.t = at->t + stencil_at[s] * TIME_STEP;
        LG_TRY(lg_callback_call(self, LG_CALL_CONSTRAINT, &beside, work->lower));
        lg_axpy(self->rows, stencil_weight[s] / TIME_STEP, work->lower, rate);
    }
    return LG_OK;
}

lg_status lg_callback_rate(const lg_callback_work *work, const lg_callback_point *at, double *rate)
{
    const lg_callbacks *self = work->self;
    int nv = self->space.nv;
    lg_zero(self->rows, rate);
    if (!self->rows)
        return LG_OK;
    LG_TRY(lg_callback_call(self, LG_CALL_JACOBIAN, at, work->J));
    LG_TRY(add_phi_t(work, at, rate));
    for (int i = 0; i < self->rows; i++)
        for (int j = 0; j < nv; j++)
            rate[i] += work->J[i * nv + j] * at->v[j];
    return LG_OK;
}

/* The rate at work->q and at another time. */
static lg_status rate_at(const lg_callback_work *work, double t, const double *v, double *rate)
{
    LG_TRY(lg_callback_check(work->self, work->q, v));
    return lg_callback_rate(work, &(lg_callback_point){.t = t, .q = work->q, .v = v}, rate);
}

lg_status lg_callback_zeta(const lg_callback_work *work, const lg_callback_point *at, double *zeta)
{
    const lg_space *space = &work->self->space;
    double fastest = 1;
    for (int i = 0; i < space->nv; i++)
        fastest = fmax(fastest, fabs(at->v[i]));

    double e = TIME_STEP / fastest;
    lg_zero(work->self->rows, zeta);
    for (int s = 0; s < 4; s++) {
        for (int i = 0; i < space->nv; i++)
            work->theta[i] = stencil_at[s] * e * at->v[i];
        lg_space_move(space, at->q, work->theta, NULL, work->q, NULL);
        LG_TRY(rate_at(work, at->t + stencil_at[s] * e, at->v, work->rate));
        lg_axpy(work->self->rows, -stencil_weight[s] / e, work->rate, zeta);
    }
    return LG_OK;
}

/* ---- central differences, column by column ---- */

double lg_callback_step(const lg_callbacks *self, const double *q, int j)
{
    const lg_space *space = &self->space;
    for (const lg_factor *f = space->factor; f < space->factor + space->nfactors; f++)
        if (j >= f->v && j < f->v + f->nv && f->node->linear && f->nq == f->nv)
            return SPACE_STEP * fmax(1, fabs(q[f->q + j - f->v]));
    return SPACE_STEP;
}

/* work->q = q exp(step e_j) */
static void move_coordinate(const lg_callback_work *work, const double *q, int j, double step)
{
    lg_zero(work->self->space.nv, work->theta);
    work->theta[j] = step;
    lg_space_move(&work->self->space, q, work->theta, NULL, work->q, NULL);
}

/* Column j of a matrix: (upper - rate) / 2 step */
static void put_column(const lg_callback_work *work, int n, int j, double step, double *matrix)
{
    int nv = work->self->space.nv;
    for (int i = 0; i < n; i++)
        matrix[i * nv + j] = (work->upper[i] - work->rate[i]) / (2 * step);
}

lg_status lg_callback_Z(const lg_callback_work *work, const lg_callback_point *at)
{
    const lg_callbacks *self = work->self;
    for (int j = 0; j < self->space.nv; j++) {
        double step = lg_callback_step(self, at->q, j);
        move_coordinate(work, at->q, j, step);
        LG_TRY(rate_at(work, at->t, at->v, work->upper));
        move_coordinate(work, at->q, j, -step);
        LG_TRY(rate_at(work, at->t, at->v, work->rate));
        put_column(work, self->rows, j, step, work->Z);
    }
    return LG_OK;
}

/* r = gyro - force */
static lg_status difference_forces(const lg_callback_work *work, const lg_callback_point *at, double *r)
{
    const lg_callbacks *self = work->self;
    int nv = self->space.nv;
    LG_TRY(lg_callback_check(self, at->q, at->v));
    LG_TRY(lg_callback_call(self, LG_CALL_FORCE, at, r));
    for (int i = 0; i < nv; i++)
        r[i] = -r[i];
    if (self->function[LG_CALL_GYRO].call) {
        LG_TRY(lg_callback_call(self, LG_CALL_GYRO, at, work->lower));
        lg_axpy(nv, 1, work->lower, r);
    }
    return LG_OK;
}

/* r = wa M a + gyro - force + J^T lam; work->M and work->J are overwritten. */
static lg_status difference_residual(const lg_callback_work *work, const lg_callback_point *at, double wa, double *r)
{
    const lg_callbacks *self = work->self;
    int nv = self->space.nv;
    LG_TRY(difference_forces(work, at, r));
    LG_TRY(lg_callback_call(self, LG_CALL_MASS, at, work->M));
    for (int i = 0; i < nv; i++)
        for (int j = 0; j < nv; j++)
            r[i] += wa * work->M[i * nv + j] * at->a[j];
    if (self->rows)
        LG_TRY(lg_callback_call(self, LG_CALL_JACOBIAN, at, work->J));
    for (int i = 0; i < self->rows; i++)
        lg_axpy(nv, at->lam[i], work->J + i * nv, r);
    return LG_OK;
}

static lg_status column_of_K(const lg_callback_work *work, const lg_callback_point *at, double wa, int j)
{
    lg_callback_point beside = *at;
    beside.q = work->q;
    double step = lg_callback_step(work->self, at->q, j);
    move_coordinate(work, at->q, j, step);
    LG_TRY(difference_residual(work, &beside, wa, work->upper));
    move_coordinate(work, at->q, j, -step);
    LG_TRY(difference_residual(work, &beside, wa, work->rate));
    put_column(work, work->self->space.nv, j, step, work->K);
    return LG_OK;
}

static lg_status column_of_D(const lg_callback_work *work, const lg_callback_point *at, int j)
{
    lg_callback_point beside = *at;
    beside.v = work->v;
    double step = SPACE_STEP * fmax(1, fabs(at->v[j]));
    lg_copy(work->self->space.nv, at->v, work->v);
    work->v[j] = at->v[j] + step;
    LG_TRY(difference_forces(work, &beside, work->upper));
    work->v[j] = at->v[j] - step;
    LG_TRY(difference_forces(work, &beside, work->rate));
    put_column(work, work->self->space.nv, j, step, work->D);
    return LG_OK;
}

lg_status lg_callback_tangent(const lg_callback_work *work, const lg_callback_point *at, double wa, int wants_K,
                              int wants_D)
{
    for (int j = 0; j < work->self->space.nv; j++) {
        if (wants_K)
            LG_TRY(column_of_K(work, at, wa, j));
        if (wants_D)
            LG_TRY(column_of_D(work, at, j));
    }
    return LG_OK;
}
