/* Newton's method for all stages together, in the eigenbasis of the tableau; see step.h.

   Displacements x = T(theta) dtheta of bodies along a motion change its velocities by dV = x' + [V, x]. With
   d = A^-1/h, which differentiates the polynomials through the stages, and with V and all derivatives of the equations
   at one of them,

       dq_i = x_i      dV_i = sum_j d_ij x_j + ad(V) x_i      dA_i = sum_j d_ij dV_j.

   The eigenvectors of d make of these one system for each eigenvalue mu, with

       dq = x      dV = (mu + ad(V)) x      dA = mu (mu + ad(V)) x :

   a complex one for a pair of eigenvalues, whose matrix has the real and the imaginary part of these chains, and with a
   third stage a real one (hairer1996, IV.8). The unknown of a matrix is u = |mu|^2 x, and the velocity rows are
   multiplied by |mu|. */
#include "core/small.h"
#include "integrator/radau/step.h"
#include "solve/cause.h"
#include "sparse/complex.h"

#include <math.h>

void lg_radau_eigen_layout(lg_radau_stepper *r, lg_arena *arena)
{
    const lg_space *space = r->base.system->space;
    size_t rows = (size_t)space->nv + (size_t)r->base.system->pattern->nrows;
    for (int i = 0; i < lg_radau_stages(&r->numbers); i++) {
        r->eigen.part[i] = lg_arena_doubles(arena, rows);
        r->eigen.chain[i] = lg_arena_take(arena, (size_t)space->nblocks * sizeof(lg_chain));
    }
    for (int i = 0; i < LG_RADAU_STAGES; i++) // the factors are free while a matrix is assembled
        r->eigen.X[i] = i < lg_radau_stages(&r->numbers) ? r->stage[i].matrix.factors : r->X;
}

int lg_radau_eigen_stage(const lg_radau_stepper *r)
{
    return r->numbers.third ? 1 : 0;
}

/* ---- matrices ---- */

/* The eigenvalues of a step of size h: real and imaginary part of one, and the real one. */
static double eigenvalue(const lg_radau_stepper *r, int part, double h)
{
    return r->numbers.eigenvalue[part] / h;
}

/* |mu| of a part. */
static double size_of(const lg_radau_stepper *r, int part, double h)
{
    const double *mu = r->numbers.eigenvalue;
    return (part == LG_RADAU_REAL ? mu[LG_RADAU_REAL] : hypot(mu[LG_RADAU_RE], mu[LG_RADAU_IM])) / h;
}

/* X = I + s ad(v), on positions in inertial axes the identity. */
static void form_block(const lg_block *b, double s, const double *v, double *X)
{
    enum { N = LG_RADAU_BLOCK };
    double room[N * N];
    for (const lg_factor *f = b->factor, *end = f + b->nfactors; f < end; f++) {
        double *own = f->node->linear ? NULL : lg_factor_matrix(f, b, room, X), moving[N] = {0};
        int first = f->node->position == LG_POSITION_INERTIAL ? f->node->attitude_v : 0;
        if (own) {
            lg_copy(f->nv - first, v + f->v + first, moving + first);
            f->node->ad(f->n, moving, own);
            for (int i = 0; i < f->nv * f->nv; i++)
                own[i] = s * own[i] + (i % (f->nv + 1) == 0);
        }
        lg_factor_put(f, b, own, X);
    }
}

/* The chains of the parts along a block, with a, b: real and imaginary part, c: the real eigenvalue. */
static void form_chain(lg_radau_stepper *r, int block, const double *v)
{
    const lg_block *at = &r->base.system->space->block[block];
    const double a = eigenvalue(r, LG_RADAU_RE, r->h), b = eigenvalue(r, LG_RADAU_IM, r->h);
    const double c = r->numbers.third ? eigenvalue(r, LG_RADAU_REAL, r->h) : 1;
    const double m = 1 / (a * a + b * b), square = a * a - b * b;
    const double scale[] = {1 / a, a / square, 0.5 / a, 1 / c};
    double *X[] = {r->eigen.X[0], r->eigen.X[1], r->eigen.X[2], r->X};
    for (int i = 0; i < 3 + r->numbers.third; i++) {
        X[i] = at->linear ? NULL : X[i] + at->m;
        if (X[i])
            form_block(at, scale[i], v, X[i]);
    }
    r->eigen.chain[LG_RADAU_RE][block] = (lg_chain){{m, m * a, m * square}, {NULL, X[0], X[1]}};
    r->eigen.chain[LG_RADAU_IM][block] = (lg_chain){{0, m * b, m * 2 * a * b}, {NULL, NULL, X[2]}};
    if (r->numbers.third)
        r->eigen.chain[LG_RADAU_REAL][block] = (lg_chain){{1 / (c * c), 1 / c, 1}, {NULL, X[3], X[3]}};
}

/* Adds B and Z to a matrix whose S has been evaluated. */
static void eigen_add_rows(lg_radau_stepper *r, int part)
{
    const lg_accel *accel = &r->base.accel;
    lg_matrix *matrix = &r->stage[part].matrix;
    double size = size_of(r, part, r->h);
    if (!r->base.system->pattern->nrows)
        return;
    if (part == LG_RADAU_IM) {
        lg_matrix_add_rows(matrix, size, accel->B, 1, r->eigen.chain[part]);
        return;
    }
    lg_matrix_add_border(matrix, accel->B, size, accel->B, 1, r->eigen.chain[part]);
    lg_matrix_add_rows(matrix, size, accel->Z, 0, r->eigen.chain[part]);
}

static lg_status factor(lg_radau_stepper *r)
{
    lg_matrix *real = &r->stage[LG_RADAU_REAL].matrix;
    for (int part = 0; part < lg_radau_stages(&r->numbers); part++)
        eigen_add_rows(r, part);
    r->base.stats.jacobians++;
    r->base.stats.newton_factorisations += 1 + r->numbers.third;
    r->base.factorisations++;
    LG_TRY(lg_complex_factor(&r->stage[LG_RADAU_RE].matrix, &r->stage[LG_RADAU_IM].matrix));
    return r->numbers.third ? lg_stepper_factor(&r->base, real) : LG_OK;
}

lg_status lg_radau_form_all(lg_radau_stepper *r)
{
    int at = lg_radau_eigen_stage(r), stages = lg_radau_stages(&r->numbers);
    lg_tangent tangent[LG_RADAU_STAGES];
    lg_point point = lg_radau_point(r, at);
    for (int k = 0; k < r->base.system->space->nblocks; k++)
        form_chain(r, k, r->stage[at].v);
    for (int part = 0; part < stages; part++) {
        tangent[part] = (lg_tangent){&r->stage[part].matrix, r->eigen.chain[part]};
        lg_matrix_zero(&r->stage[part].matrix);
    }
    LG_TRY(lg_radau_balance(r, &point, stages, tangent));
    r->matrix_h = r->h;
    return factor(r);
}

/* ---- a sweep ---- */

void lg_radau_follow_all(lg_radau_stepper *r)
{
    int nv = r->base.system->space->nv, stages = lg_radau_stages(&r->numbers);
    for (int i = 0; i < stages; i++) {
        lg_zero(nv, r->stage[i].K);
        for (int j = 0; j < stages; j++)
            lg_axpy(nv, r->numbers.inverse[i][j], r->stage[j].theta, r->stage[i].K);
        lg_radau_move(r, i);
    }
}

/* Adds the residual of a stage to the parts. */
static void add_residual(lg_radau_stepper *r, int stage)
{
    int nv = r->base.system->space->nv, nrows = r->base.system->pattern->nrows;
    for (int part = 0; part < lg_radau_stages(&r->numbers); part++) {
        double weight = r->numbers.to[part][stage];
        lg_axpy(nv, weight, r->residual, r->eigen.part[part]);
        lg_axpy(nrows, weight * size_of(r, part, r->matrix_h), r->residual + nv, r->eigen.part[part] + nv);
    }
}

lg_status lg_radau_solve_all(lg_radau_stepper *r, int with_matrices)
{
    int stages = lg_radau_stages(&r->numbers), at = lg_radau_eigen_stage(r);
    int rows = r->base.system->space->nv + r->base.system->pattern->nrows;
    double **part = r->eigen.part;
    lg_radau_set_accelerations(r);
    for (int i = 0; i < stages; i++)
        lg_zero(rows, part[i]);
    if (with_matrices) {
        LG_TRY(lg_radau_form_all(r));
        add_residual(r, at);
    }
    for (int i = 0; i < stages; i++) {
        lg_point point = lg_radau_point(r, i);
        if (with_matrices && i == at)
            continue;
        LG_TRY(lg_radau_balance(r, &point, 0, NULL));
        add_residual(r, i);
    }
    LG_TRY(lg_complex_solve(&r->stage[LG_RADAU_RE].matrix, &r->stage[LG_RADAU_IM].matrix, part[0], part[1]));
    return r->numbers.third ? lg_matrix_solve(&r->stage[LG_RADAU_REAL].matrix, part[LG_RADAU_REAL]) : LG_OK;
}

lg_status lg_radau_solve_forces(lg_radau_stepper *r, double *x)
{
    double *im = r->eigen.part[LG_RADAU_IM];
    lg_zero(r->base.system->space->nv + r->base.system->pattern->nrows, im);
    return lg_complex_solve(&r->stage[LG_RADAU_RE].matrix, &r->stage[LG_RADAU_IM].matrix, x, im);
}

void lg_radau_take_correction(lg_radau_stepper *r, int stage)
{
    int nv = r->base.system->space->nv, nrows = r->base.system->pattern->nrows;
    double mu = lg_radau_rate(r, stage);
    lg_zero(nv + nrows, r->residual);
    for (int part = 0; part < lg_radau_stages(&r->numbers); part++) {
        double weight = r->numbers.from[stage][part], ratio = mu / size_of(r, part, r->matrix_h);
        lg_axpy(nv, weight * ratio * ratio, r->eigen.part[part], r->residual);
        lg_axpy(nrows, weight, r->eigen.part[part] + nv, r->residual + nv);
    }
}
