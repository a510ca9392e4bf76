/* Newton's method on the stages of a step, in sweeps; see step.h.

   A stage is corrected in x = T(theta) dtheta, the displacement of its bodies. With mu = 1/(h l_ii),

       dq = x      dV = mu x + DT(theta)[dtheta] K/h      dA = mu dV,

   where DT(theta)[dtheta] theta = (I - T) dtheta, since T(theta) theta = theta, so that with K/h = alpha theta + rho

       DT(theta)[dtheta] K/h = (alpha (T^-1 - I) + 1/2 rho^ T^-1) x

   up to terms of the size of rho^ theta^: exact for a body that turns about one axis, by whatever angle. The unknown of
   the matrix is u = mu^2 x, scaled like an acceleration, and the velocity rows are multiplied by mu.

   The matrices of a step are formed in its first sweep, and again after two sweeps that left too much of the
   correction before. The method has converged when the expected rest of the corrections is below its bound, or when
   corrections are round-off of the coordinates and no longer fall. */
#include "core/small.h"
#include "integrator/radau/step.h"
#include "solve/cause.h"

#include <float.h>
#include <math.h>

static const double slow_rate = 0.5; /* a sweep that leaves more of the correction is slow */
static const double usual_rate = 0.15; /* what a sweep leaves at least, whatever the last two corrections suggest */
static const double far_off = 1e100;
static const double noisy_part = 1e-6; /* of the largest velocity: what round-off of stiff forces may change */
static const double noisy_rest = 1e-9; /* the same at rest, in units of velocities */
static const double still_size = 1e-3; /* a first correction that is so small needs no second one */
enum { SLOW_SWEEPS = 2 }; /* in a row, after which new matrices are due */
enum { MOST_GROWTHS = 3 }; /* sweeps of a step whose corrections may grow */

/* ---- a stage ---- */

/* Q, V and A from K and what other stages contribute. */
static void follow(lg_radau_stepper *r, int i)
{
    const lg_space *space = r->base.system->space;
    lg_radau_stage *s = &r->stage[i];
    double own = r->numbers.L[i][i], rate = lg_radau_rate(r, i);
    for (int k = 0; k < space->nv; k++)
        s->theta[k] = s->theta_known[k] + own * s->K[k];
    lg_space_move(space, r->start->q, s->theta, s->K, s->q, s->v);
    for (int k = 0; k < space->nv; k++) {
        s->v[k] /= r->h;
        s->a[k] = rate * (s->v[k] - r->start->v[k] - s->v_known[k]);
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
static void add_product(int n, double s, const double *A, const double *B, double *C)
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
    add_product(n, 0.5 / mu, ad, inverse, X);
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
        lg_matrix_add_border(matrix, 1, r->base.accel.B, mu, r->base.accel.B, 1, r->chain);
        lg_matrix_add_rows(matrix, mu, r->Z, 0, r->chain);
    }
    r->base.stats.jacobians++;
    r->base.factorisations++;
    r->base.fallbacks -= matrix->fallbacks;
    lg_status status = lg_factor_named(r->base.system, matrix, &r->base.report);
    r->base.fallbacks += matrix->fallbacks;
    return status;
}

/* ---- residual and correction ---- */

/* Ma, which stands in the residual, + gyro - force + B^T lam */
static void add_forces(int nv, const double *restrict gyro, const double *restrict force, const double *restrict Btlam,
                       double *restrict residual)
{
    for (int k = 0; k < nv; k++)
        residual[k] += gyro[k] - force[k] + Btlam[k];
}

lg_status lg_radau_evaluate(lg_radau_stepper *r, int i, const lg_point *point, int with_matrix)
{
    int nv = r->base.system->space->nv, nrows = r->base.system->pattern->nrows;
    double *rows = r->residual + nv, mu = lg_radau_rate(r, i);
    lg_tangent tangent = {&r->stage[i].matrix, r->chain};
    lg_wanted wanted = {.Ma = r->residual, .gyro = r->gyro, .force = r->force};
    if (nrows)
        wanted.Btlam = r->Btlam, wanted.phidot = rows;
    if (with_matrix) {
        form_chains(r, i);
        lg_matrix_zero(&r->stage[i].matrix);
        wanted.tangent = &tangent, wanted.ntangents = 1;
        wanted.B = nrows ? r->base.accel.B : NULL;
        wanted.Z = nrows ? r->Z : NULL;
    }
    LG_TRY(lg_accel_eval(&r->base.accel, point, &wanted, &r->base.report));
    add_forces(nv, r->gyro, r->force, r->Btlam, r->residual);
    for (int k = 0; k < nrows; k++)
        rows[k] *= mu;
    if (!lg_all_finite(nv, r->residual) || !lg_all_finite(nrows, rows))
        return lg_accel_not_finite(&r->base.accel, point, r->residual, &r->base.report);
    return with_matrix ? factor(r, i) : LG_OK;
}

lg_status lg_radau_solve_stage(lg_radau_stepper *r, int i, double *x)
{
    return lg_matrix_solve(&r->stage[i].matrix, x);
}

/* Corrects a stage by u and the change of lam in r->residual. */
static void correct(lg_radau_stepper *r, int i)
{
    const lg_space *space = r->base.system->space;
    lg_radau_stage *s = &r->stage[i];
    double own = r->numbers.L[i][i], mu = lg_radau_rate(r, i), *u = r->residual;
    int nrows = r->base.system->pattern->nrows;
    for (int k = 0; k < nrows; k++)
        s->lam[k] -= u[space->nv + k];
    for (int k = 0; k < space->nv; k++)
        u[k] /= mu * mu;
    lg_space_rate(space, r->start->q, s->theta, u, r->turn);
    for (int k = 0; k < space->nv; k++) {
        s->theta[k] -= r->turn[k];
        s->K[k] -= r->turn[k] / own;
    }
    lg_space_tangent_mul(space, s->theta, s->K, s->v);
    for (int k = 0; k < space->nv; k++) {
        s->v[k] /= r->h;
        s->a[k] = mu * (s->v[k] - r->start->v[k] - s->v_known[k]);
    }
}

/* ---- sweeps ---- */

typedef struct sweeps {
    double change, last; /* root mean square of mu x over its bound in the present sweep and in the one before */
    double displacement, velocity; /* the largest x and mu x */
    double worst;
    int count, growths;
    int slow; /* sweeps in a row that left too much of the correction before */
    int due; /* the next sweep forms matrices */
} sweeps;

/* What K and A of the last sweep contribute to theta and V - v_n. */
static void set_known(lg_radau_stepper *r)
{
    const lg_radau_numbers *n = &r->numbers;
    int nv = r->base.system->space->nv;
    for (int i = 0; i < lg_radau_stages(&r->numbers); i++) {
        lg_radau_stage *s = &r->stage[i];
        lg_zero(nv, s->theta_known);
        lg_zero(nv, s->v_known);
        for (int j = 1; j < lg_radau_stages(&r->numbers); j++) { // the first column of A is that of L
            double old = n->A[i][j] - n->L[i][j];
            lg_axpy(nv, old, r->stage[j].K, s->theta_known);
            lg_axpy(nv, r->h * old, r->stage[j].a, s->v_known);
        }
    }
}

/* What a corrected stage contributes to the later ones. */
static void pass_on(lg_radau_stepper *r, int i)
{
    int nv = r->base.system->space->nv;
    for (int later = i + 1; later < lg_radau_stages(&r->numbers); later++) {
        double weight = r->numbers.L[later][i];
        lg_axpy(nv, weight, r->stage[i].K, r->stage[later].theta_known);
        lg_axpy(nv, r->h * weight, r->stage[i].a, r->stage[later].v_known);
    }
}

/* The bound on a change of each velocity: relative to its size, and to a thousandth of the largest one; with
   tolerances a part of them, if that is more. */
static void set_bounds(lg_radau_stepper *r)
{
    const double share = 0.03, others = 1e-3;
    const lg_radau_stage *end = &r->stage[lg_radau_stages(&r->numbers) - 1];
    int nv = r->base.system->space->nv;
    double largest = fmax(lg_max_abs(nv, r->start->v), lg_max_abs(nv, end->v));
    for (int k = 0; k < nv; k++) {
        double v = fmax(fabs(r->start->v[k]), fabs(end->v[k]));
        r->bound[k] = r->newton_rtol * (v + others * largest);
        if (r->rtol) {
            double of_q = r->atol[k] + r->rtol[k] * fabs(end->theta[k]), of_v = r->atol[nv + k] + r->rtol[nv + k] * v;
            r->bound[k] = fmax(r->bound[k], share * fmin(of_v, of_q / r->h));
        }
    }
}

/* Measures the correction u of a stage. */
static void measure(lg_radau_stepper *r, int i, sweeps *it)
{
    double mu = lg_radau_rate(r, i), sum = 0;
    for (int k = 0; k < r->base.system->space->nv; k++) {
        double u = fabs(r->residual[k]), part = u == 0 ? 0 : u / (mu * r->bound[k]);
        if (part > far_off) // no velocity to compare with yet
            part = far_off;
        sum += part * part;
        it->displacement = fmax(it->displacement, u / (mu * mu));
        it->velocity = fmax(it->velocity, u / mu);
        if (part > it->worst) {
            it->worst = part;
            r->worst_stage = i;
            r->worst_row = k;
        }
    }
    it->change += sum;
}

static lg_status sweep(lg_radau_stepper *r, sweeps *it)
{
    int with_matrix = it->due;
    it->last = it->change;
    it->change = it->displacement = it->velocity = it->worst = 0;
    set_known(r);
    set_bounds(r);
    for (int i = 0; i < lg_radau_stages(&r->numbers); i++) {
        follow(r, i);
        lg_point point = lg_radau_point(r, i);
        LG_TRY(lg_radau_evaluate(r, i, &point, with_matrix));
        LG_TRY(lg_radau_solve_stage(r, i, r->residual));
        measure(r, i, it);
        correct(r, i);
        pass_on(r, i);
    }
    it->change = sqrt(it->change / (lg_radau_stages(&r->numbers) * fmax(1, r->base.system->space->nv)));
    it->count++;
    r->base.stats.newton_iterations++;
    return isfinite(it->change) ? LG_OK : LG_NOT_FINITE;
}

/* Whether corrections are of the size of round-off: that of the coordinates, which stiff forces multiply. In a short
   step all displacements are so small, and the change of velocities decides. */
static int is_noise(const lg_radau_stepper *r, const sweeps *it)
{
    const lg_space *space = r->base.system->space;
    const double *v = r->stage[lg_radau_stages(&r->numbers) - 1].v;
    double largest = fmax(lg_max_abs(space->nv, r->start->v), lg_max_abs(space->nv, v));
    return it->displacement <= 64 * DBL_EPSILON * (1 + lg_max_abs(space->nq, r->start->q)) &&
           it->velocity <= noisy_part * largest + noisy_rest;
}

/* Whether the corrections that are still expected are below their bound, or round-off. */
static int is_converged(const lg_radau_stepper *r, const sweeps *it)
{
    if (it->count == 1)
        return it->change <= still_size;
    double rate = fmax(it->change / it->last, usual_rate);
    return (rate < 1 && rate * it->change <= 1 - rate) || (rate > slow_rate && is_noise(r, it));
}

static lg_status iterate(lg_radau_stepper *r, sweeps *it)
{
    for (;;) {
        LG_TRY(sweep(r, it));
        if (it->change == 0 || is_converged(r, it))
            return LG_OK;
        int grows = it->count > 1 && it->change > it->last;
        it->growths += grows;
        it->slow = it->count > 1 && it->change > slow_rate * it->last ? it->slow + 1 : 0;
        it->due = it->slow >= SLOW_SWEEPS;
        if (it->count >= r->max_iter || it->growths > MOST_GROWTHS)
            return LG_NO_CONVERGENCE;
    }
}

static void report_failure(lg_radau_stepper *r, const sweeps *it, lg_status status)
{
    lg_point point = lg_radau_point(r, r->worst_stage);
    lg_newton_result result = {.iterations = it->count, .residual = it->change, .worst = r->worst_row};
    lg_report_newton(r->base.system, &point, status, &result, &r->base.report);
    lg_report_advise(&r->base.report, status == LG_NO_CONVERGENCE ? "try a smaller h or a larger max_iter" : "");
}

lg_status lg_radau_solve(lg_radau_stepper *r)
{
    sweeps it = {.due = 1};
    r->worst_stage = r->worst_row = 0;
    lg_status status = iterate(r, &it);
    if (status == LG_NO_CONVERGENCE || status == LG_NOT_FINITE) {
        lg_status turned = lg_radau_check_turns(r, LG_PI);
        if (turned != LG_OK)
            return turned;
        if (status == LG_NO_CONVERGENCE)
            report_failure(r, &it, status);
    }
    LG_TRY(status);
    const lg_radau_stage *end = &r->stage[lg_radau_stages(&r->numbers) - 1];
    lg_space_move(r->base.system->space, r->start->q, end->theta, NULL, end->q, NULL);
    return LG_OK;
}

/* ---- turns ---- */

/* The angle between two attitudes. */
static double angle_between(const lg_node *node, const double *q0, const double *q1)
{
    double R0[9], R1[9], trace = 0;
    node->rotation(q0, R0);
    node->rotation(q1, R1);
    for (int i = 0; i < 9; i++)
        trace += R0[i] * R1[i];
    return acos(fmax(-1, fmin(1, 0.5 * (trace - 1))));
}

/* How far a body turns: by its local coordinates if they are those of a rotation, else from stage to stage. */
static double turn_of(const lg_radau_stepper *r, const lg_factor *f)
{
    double most = 0, sum = 0;
    const double *q = r->start->q + f->q;
    for (int i = 0; i < lg_radau_stages(&r->numbers); i++) {
        const lg_radau_stage *s = &r->stage[i];
        if (f->node->linear) {
            sum += angle_between(f->node, q, s->q + f->q);
            q = s->q + f->q;
        } else {
            const double *axis = s->theta + f->v + f->node->attitude_v;
            most = fmax(most, sqrt(lg_dot(f->node->attitude_n, axis, axis)));
        }
    }
    return fmax(most, sum);
}

/* Names what is not finite at the end of the step. */
static lg_status refuse_stages(lg_radau_stepper *r)
{
    lg_point end = lg_radau_point(r, lg_radau_stages(&r->numbers) - 1);
    lg_report_not_finite(r->base.system, &end, -1, &r->base.report);
    return LG_NOT_FINITE;
}

lg_status lg_radau_check_turns(lg_radau_stepper *r, double most)
{
    const lg_system *system = r->base.system;
    const lg_space *space = system->space;
    for (const lg_factor *f = space->factor, *end = f + space->nfactors; f < end; f++) {
        double turn = f->node->rotation ? turn_of(r, f) : 0;
        if (turn <= most)
            continue;
        if (!isfinite(turn))
            return refuse_stages(r);
        const char *name = system->block_name ? system->block_name(system->self, f->block) : "a block";
        lg_report_say(&r->base.report, "%.*s turns by %.3g rad in a step, where half a turn is the most",
                      LG_SHORT(name), turn);
        return LG_TURNED;
    }
    return LG_OK;
}
