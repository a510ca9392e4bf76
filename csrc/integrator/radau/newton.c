/* The equations of a stage and their matrix; see step.h.

   A stage is corrected in x = T(theta) dtheta, the displacement of its bodies. With mu = 1/(h l_ii),

       dq = x      dV = mu x + DT(theta)[dtheta] K/h      dA = mu dV,

   where DT(theta)[dtheta] theta = (I - T) dtheta, since T(theta) theta = theta, so that with K/h = alpha theta + rho

       DT(theta)[dtheta] K/h = (alpha (T^-1 - I) + 1/2 rho^ T^-1) x

   up to terms of the size of rho^ theta^: exact for a body that turns about one axis, by whatever angle. The unknown of
   the matrix is u = mu^2 x, scaled like an acceleration, and the velocity rows are multiplied by mu. */
#include "core/small.h"
#include "integrator/radau/step.h"
#include "solve/cause.h"

#include <float.h>
#include <math.h>

/* ---- a stage ---- */

void lg_radau_set_step(lg_radau_stepper *r, const lg_state *start, double h)
{
    int last = lg_radau_stages(&r->numbers) - 1;
    r->start = start;
    r->h = h;
    for (int i = 0; i <= last; i++) {
        r->stage[i].t = i == last ? start->t + h : start->t + r->numbers.c[i] * h;
        r->stage[i].matrix.poll = r->base.accel.matrix.poll;
    }
}

void lg_radau_move(lg_radau_stepper *r, int i)
{
    const lg_space *space = r->base.system->space;
    lg_radau_stage *s = &r->stage[i];
    lg_space_move(space, r->start->q, s->theta, s->K, s->q, s->v);
    double rate = 1 / r->h;
    for (int k = 0; k < space->nv; k++)
        s->v[k] *= rate;
}

/* V_i from h V_i, then A_i. */
static void finish_rates(lg_radau_stepper *r, int i)
{
    double rate = lg_radau_rate(r, i), per_h = 1 / r->h;
    double *restrict v = r->stage[i].v, *restrict a = r->stage[i].a;
    const double *restrict start = r->start->v, *restrict known = r->stage[i].v_known;
    for (int k = 0; k < r->base.system->space->nv; k++) {
        v[k] *= per_h;
        a[k] = rate * (v[k] - start[k] - known[k]);
    }
}

void lg_radau_follow(lg_radau_stepper *r, int i)
{
    const lg_space *space = r->base.system->space;
    lg_radau_stage *s = &r->stage[i];
    double own = r->numbers.L[i][i], *restrict theta = s->theta;
    const double *restrict known = s->theta_known, *restrict K = s->K;
    for (int k = 0; k < space->nv; k++)
        theta[k] = known[k] + own * K[k];
    lg_space_move(space, r->start->q, s->theta, s->K, s->q, s->v);
    finish_rates(r, i);
}

/* A_i = sum (A^-1)_ij (V_j - v_n) / h */
void lg_radau_set_accelerations(lg_radau_stepper *r)
{
    int nv = r->base.system->space->nv, stages = lg_radau_stages(&r->numbers);
    for (int i = 0; i < stages; i++) {
        double *a = r->stage[i].a;
        lg_zero(nv, a);
        for (int j = 0; j < stages; j++)
            for (int k = 0; k < nv; k++)
                a[k] += r->numbers.inverse[i][j] / r->h * (r->stage[j].v[k] - r->start->v[k]);
    }
}

lg_point lg_radau_point(const lg_radau_stepper *r, int i)
{
    const lg_radau_stage *s = &r->stage[i];
    lg_point point = lg_point_at(s->t, s->q, s->v);
    point.t_in = r->start->t + 0.5 * r->h;
    point.a = s->a, point.lam = s->lam, point.work = r->base.accel.work;
    point.mem = (lg_memory){r->start->mem, r->numbers.c[i] * r->h, s->theta};
    return point;
}

/* ---- its matrix ---- */

/* C += s A B for n x n matrices */
static void radau_add_product(int n, double s, const double *A, const double *B, double *C)
{
    for (int j = 0; j < n; j++)
        for (int l = 0; l < n; l++)
            lg_axpy(n, s * B[l + n * j], A + n * l, C + n * j);
}

/* X = I + (alpha (T^-1 - I) + 1/2 rho^ T^-1)/mu on one factor; see above. */
static void form_factor(const lg_factor *f, double h, double mu, const double *theta, const double *K, double *X)
{
    enum { N = LG_RADAU_BLOCK };
    double inverse[N * N], ad[N * N], rho[N] = {0};
    int n = f->nv, first = f->node->position == LG_POSITION_INERTIAL ? f->node->attitude_v : 0; // diag(I, ...)
    int axis = f->node->attitude_v;
    double square = lg_dot(f->node->attitude_n, theta + axis, theta + axis);
    double alpha = square > DBL_MIN ? lg_dot(f->node->attitude_n, K + axis, theta + axis) / square / h : 0;
    for (int i = first; i < n; i++)
        rho[i] = K[i] / h - alpha * theta[i];
    f->node->tangent_inv(f->n, theta, inverse);
    f->node->ad(f->n, rho, ad);
    for (int i = 0; i < n * n; i++)
        X[i] = alpha / mu * inverse[i];
    radau_add_product(n, 0.5 / mu, ad, inverse, X);
    for (int i = 0; i < n; i++)
        X[i * (n + 1)] += 1 - alpha / mu;
}

static void form_block(const lg_radau_stepper *r, const lg_block *b, double mu, const lg_radau_stage *s, double *X)
{
    double room[LG_RADAU_BLOCK * LG_RADAU_BLOCK];
    for (const lg_factor *f = b->factor, *end = f + b->nfactors; f < end; f++) {
        double *own = f->node->linear ? NULL : lg_factor_matrix(f, b, room, X);
        if (own)
            form_factor(f, r->h, mu, s->theta + f->v, s->K + f->v, own);
        lg_factor_put(f, b, own, X);
    }
}

static void form_chains(lg_radau_stepper *r, int i)
{
    const lg_space *space = r->base.system->space;
    double mu = lg_radau_rate(r, i);
    for (int k = 0; k < space->nblocks; k++) {
        const lg_block *b = &space->block[k];
        double *X = NULL;
        if (!b->linear)
            form_block(r, b, mu, &r->stage[i], X = r->X + b->m);
        r->chain[k] = (lg_chain){{1 / (mu * mu), 1 / mu, 1}, {NULL, X, X}};
    }
}

void lg_radau_follow_chain(const lg_radau_stepper *r, int stage, const double *u, double *dv)
{
    const lg_space *space = r->base.system->space;
    double mu = lg_radau_rate(r, stage);
    lg_zero(space->nv, dv);
    for (int k = 0; k < space->nblocks; k++) {
        const lg_block *b = &space->block[k];
        if (b->linear)
            lg_axpy(b->nv, 1 / mu, u + b->v, dv + b->v);
        for (int j = 0; !b->linear && j < b->nv; j++)
            lg_axpy(b->nv, u[b->v + j] / mu, r->X + b->m + (size_t)b->nv * j, dv + b->v);
    }
}

/* Completes and factors the matrix whose S has been evaluated. */
static lg_status factor(lg_radau_stepper *r, int i)
{
    lg_matrix *matrix = &r->stage[i].matrix;
    double mu = lg_radau_rate(r, i);
    if (r->base.system->pattern->nrows) {
        lg_matrix_add_border(matrix, r->base.accel.B, mu, r->base.accel.B, 1, r->chain);
        lg_matrix_add_rows(matrix, mu, r->base.accel.Z, 0, r->chain);
    }
    r->base.stats.jacobians++;
    r->base.stats.newton_factorisations++;
    return lg_stepper_factor(&r->base, matrix);
}

/* ---- residual and correction ---- */

/* Ma, which stands in the residual, + gyro - force + B^T lam */
static void add_forces(int nv, const double *restrict gyro, const double *restrict force, const double *restrict Btlam,
                       double *restrict residual)
{
    for (int k = 0; k < nv; k++)
        residual[k] += gyro[k] - force[k] + Btlam[k];
}

lg_status lg_radau_balance(lg_radau_stepper *r, const lg_point *point, int ntangents, const lg_tangent *tangent)
{
    int nv = r->base.system->space->nv, nrows = r->base.system->pattern->nrows;
    double *rows = r->residual + nv;
    lg_wanted wanted = {.Ma = r->residual, .gyro = r->gyro, .force = r->force};
    if (nrows)
        wanted.Btlam = r->Btlam, wanted.phidot = rows;
    if (ntangents) {
        wanted.tangent = tangent, wanted.ntangents = ntangents;
        wanted.B = nrows ? r->base.accel.B : NULL;
        wanted.Z = nrows ? r->base.accel.Z : NULL;
    }
    LG_TRY(lg_accel_eval(&r->base.accel, point, &wanted, &r->base.report));
    add_forces(nv, r->gyro, r->force, r->Btlam, r->residual);
    if (!lg_all_finite(nv, r->residual) || !lg_all_finite(nrows, rows))
        return lg_accel_not_finite(&r->base.accel, point, r->residual, &r->base.report);
    return LG_OK;
}

lg_status lg_radau_evaluate(lg_radau_stepper *r, int i, const lg_point *point, int with_matrix)
{
    int nv = r->base.system->space->nv, nrows = r->base.system->pattern->nrows;
    lg_tangent tangent = {&r->stage[i].matrix, r->chain};
    if (with_matrix) {
        form_chains(r, i);
        lg_matrix_zero(&r->stage[i].matrix);
    }
    LG_TRY(lg_radau_balance(r, point, with_matrix, &tangent));
    if (with_matrix)
        r->matrix_h = r->h;
    for (int k = 0; k < nrows; k++)
        r->residual[nv + k] *= lg_radau_matrix_rate(r, i);
    return with_matrix ? factor(r, i) : LG_OK;
}

lg_status lg_radau_solve_stage(lg_radau_stepper *r, int i, double *x)
{
    double own = r->matrix_h / r->h;
    LG_TRY(lg_matrix_solve(&r->stage[i].matrix, x));
    for (int k = 0; own != 1 && k < r->base.system->space->nv; k++)
        x[k] *= own * own;
    return LG_OK;
}

/* Corrects lam_i, and finds the change of theta_i. */
static inline void turn(lg_radau_stepper *r, int i, double mu)
{
    const lg_space *space = r->base.system->space;
    int nv = space->nv, nrows = r->base.system->pattern->nrows;
    lg_radau_stage *s = &r->stage[i];
    double shrink = 1 / (mu * mu), *restrict u = r->residual;
    for (int k = 0; k < nrows; k++)
        s->lam[k] -= u[nv + k];
    for (int k = 0; k < nv; k++)
        u[k] *= shrink;
    lg_space_rate(space, r->start->q, s->theta, u, r->turn);
}

void lg_radau_turn(lg_radau_stepper *r, int i)
{
    turn(r, i, lg_radau_rate(r, i));
    lg_axpy(r->base.system->space->nv, -1, r->turn, r->stage[i].theta);
}

void lg_radau_correct(lg_radau_stepper *r, int i)
{
    const lg_space *space = r->base.system->space;
    lg_radau_stage *s = &r->stage[i];
    double mu = lg_radau_rate(r, i), grow = mu * r->h;
    double *restrict theta = s->theta, *restrict K = s->K;
    turn(r, i, mu);
    for (int k = 0; k < space->nv; k++) {
        theta[k] -= r->turn[k];
        K[k] -= grow * r->turn[k];
    }
    lg_space_tangent_mul(space, theta, K, s->v);
    finish_rates(r, i);
}
