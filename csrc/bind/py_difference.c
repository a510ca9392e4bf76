/* What a CallableSystem is not told, by differences. */
#include "bind/py_system.h"
#include "core/small.h"

#define TIME_STEP 1e-4 /* four-point differences in time: truncation 1e-17, round-off 1e-12 */
#define SPACE_STEP 6e-6 /* central differences: cube root of the machine's epsilon */

/* f' ~ (8 (f(+e) - f(-e)) - (f(2e) - f(-2e))) / 12 e */
static const double stencil_at[4] = {1, -1, 2, -2};
static const double stencil_weight[4] = {8.0 / 12, -8.0 / 12, -1.0 / 12, 1.0 / 12};

/* ---- constraints ---- */

/* rate += d(phi)/dt at fixed q; exactly zero where phi does not depend on t. */
static lg_status add_phi_t(const lg_py_work *work, const lg_py_place *place, double *rate)
{
    const lg_py_system *self = work->self;
    for (int s = 0; s < 4; s++) {
        lg_py_place beside = *place;
        beside.argument[0] = PyFloat_FromDouble(place->t + stencil_at[s] * TIME_STEP);
        if (!beside.argument[0])
            return LG_CALLBACK;
        lg_status status = lg_py_call(self, LG_CALL_CONSTRAINT, &beside, work->lower);
        Py_DECREF(beside.argument[0]);
        LG_TRY(status);
        lg_axpy(self->rows, stencil_weight[s] / TIME_STEP, work->lower, rate);
    }
    return LG_OK;
}

lg_status lg_py_rate(const lg_py_work *work, const lg_py_place *place, double *J, double *rate)
{
    const lg_py_system *self = work->self;
    int nv = self->space.nv;
    lg_zero(self->rows, rate);
    if (!self->rows)
        return LG_OK;
    LG_TRY(lg_py_call(self, LG_CALL_JACOBIAN, place, J));
    LG_TRY(add_phi_t(work, place, rate));
    for (int i = 0; i < self->rows; i++)
        for (int j = 0; j < nv; j++)
            rate[i] += J[i * nv + j] * place->v[j];
    return LG_OK;
}

/* The rate at another t and q. */
static lg_status rate_at(const lg_py_work *work, double t, const double *q, const double *v, double *rate)
{
    lg_py_place place;
    LG_TRY(lg_py_place_open(&place, work->self, t, q, v));
    lg_status status = lg_py_rate(work, &place, work->J, rate);
    lg_py_place_close(&place);
    return status;
}

lg_status lg_py_zeta(const lg_py_work *work, const lg_point *point, double *zeta)
{
    const lg_space *space = &work->self->space;
    double fastest = 1;
    for (int i = 0; i < space->nv; i++)
        fastest = fmax(fastest, fabs(point->v[i]));

    double e = TIME_STEP / fastest;
    lg_zero(work->self->rows, zeta);
    for (int s = 0; s < 4; s++) {
        for (int i = 0; i < space->nv; i++)
            work->theta[i] = stencil_at[s] * e * point->v[i];
        lg_space_retract(space, point->q, work->theta, work->q);
        LG_TRY(rate_at(work, point->t + stencil_at[s] * e, work->q, point->v, work->rate));
        lg_axpy(work->self->rows, -stencil_weight[s] / e, work->rate, zeta);
    }
    return LG_OK;
}

/* ---- central differences, column by column ---- */

/* Coordinates of linear blocks may be large. */
static double step_of(const lg_space *space, const double *q, int j)
{
    for (const lg_block *b = space->block; b < space->block + space->nblocks; b++)
        if (j >= b->v && j < b->v + b->nv && b->node->linear && b->nq == b->nv)
            return SPACE_STEP * fmax(1, fabs(q[b->q + j - b->v]));
    return SPACE_STEP;
}

/* work->q = q exp(step e_j) */
static void move_coordinate(const lg_py_work *work, const double *q, int j, double step)
{
    lg_zero(work->self->space.nv, work->theta);
    work->theta[j] = step;
    lg_space_retract(&work->self->space, q, work->theta, work->q);
}

/* Column j of a row-major matrix: (upper - lower) / 2 step */
static void put_column(const lg_py_work *work, int n, int j, double step, double *matrix)
{
    int nv = work->self->space.nv;
    for (int i = 0; i < n; i++)
        matrix[i * nv + j] = (work->upper[i] - work->rate[i]) / (2 * step);
}

lg_status lg_py_Z(const lg_py_work *work, const lg_point *point, double *Z)
{
    const lg_py_system *self = work->self;
    for (int j = 0; j < self->space.nv; j++) {
        double step = step_of(&self->space, point->q, j);
        move_coordinate(work, point->q, j, step);
        LG_TRY(rate_at(work, point->t, work->q, point->v, work->upper));
        move_coordinate(work, point->q, j, -step);
        LG_TRY(rate_at(work, point->t, work->q, point->v, work->rate));
        put_column(work, self->rows, j, step, Z);
    }
    return LG_OK;
}

/* r = gyro - force and, if point is given, + wa M a + J^T lam; work->M and work->J are overwritten then. */
static lg_status residual(const lg_py_work *work, const lg_py_place *place, const lg_point *point, double *r)
{
    const lg_py_system *self = work->self;
    int nv = self->space.nv;
    LG_TRY(lg_py_call(self, LG_CALL_FORCE, place, r));
    for (int i = 0; i < nv; i++)
        r[i] = -r[i];
    if (self->function[LG_CALL_GYRO]) {
        LG_TRY(lg_py_call(self, LG_CALL_GYRO, place, work->lower));
        lg_axpy(nv, 1, work->lower, r);
    }
    if (!point)
        return LG_OK;

    LG_TRY(lg_py_call(self, LG_CALL_MASS, place, work->M));
    for (int i = 0; i < nv; i++)
        for (int j = 0; j < nv; j++)
            r[i] += point->wa * work->M[i * nv + j] * point->a[j];
    if (self->rows)
        LG_TRY(lg_py_call(self, LG_CALL_JACOBIAN, place, work->J));
    for (int i = 0; i < self->rows; i++)
        lg_axpy(nv, point->lam[i], work->J + i * nv, r);
    return LG_OK;
}

static lg_status residual_at(const lg_py_work *work, const lg_point *at, const lg_point *point, double *r)
{
    lg_py_place place;
    LG_TRY(lg_py_place_open(&place, work->self, at->t, at->q, at->v));
    lg_status status = residual(work, &place, point, r);
    lg_py_place_close(&place);
    return status;
}

static lg_status column_of_K(const lg_py_work *work, const lg_point *point, int j, double *K)
{
    lg_point beside = *point;
    beside.q = work->q;
    double step = step_of(&work->self->space, point->q, j);
    move_coordinate(work, point->q, j, step);
    LG_TRY(residual_at(work, &beside, point, work->upper));
    move_coordinate(work, point->q, j, -step);
    LG_TRY(residual_at(work, &beside, point, work->rate));
    put_column(work, work->self->space.nv, j, step, K);
    return LG_OK;
}

static lg_status column_of_D(const lg_py_work *work, const lg_point *point, int j, double *D)
{
    lg_point beside = *point;
    beside.v = work->v;
    double step = SPACE_STEP * fmax(1, fabs(point->v[j]));
    lg_copy(work->self->space.nv, point->v, work->v);
    work->v[j] = point->v[j] + step;
    LG_TRY(residual_at(work, &beside, NULL, work->upper));
    work->v[j] = point->v[j] - step;
    LG_TRY(residual_at(work, &beside, NULL, work->rate));
    put_column(work, work->self->space.nv, j, step, D);
    return LG_OK;
}

lg_status lg_py_tangent(const lg_py_work *work, const lg_point *point, double *K, double *D)
{
    for (int j = 0; j < work->self->space.nv; j++) {
        if (K)
            LG_TRY(column_of_K(work, point, j, K));
        if (D)
            LG_TRY(column_of_D(work, point, j, D));
    }
    return LG_OK;
}
