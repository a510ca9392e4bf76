/* Newton's problem of a step: residual, matrix and solution; see step.h. */
#include "integrator/conserve/step.h"
#include "solve/cause.h"

#include "core/small.h"

#include <float.h>
#include <math.h>

/* ---- residual and matrix ---- */

static lg_pair step_pair(const lg_conserve_stepper *c)
{
    return (lg_pair){.t = c->start->t,
                     .h = c->h,
                     .q0 = c->start->q,
                     .q1 = c->q1,
                     .v0 = c->start->v,
                     .p0 = c->p0,
                     .lam = c->lam,
                     .mem = c->start->mem,
                     .work = c->work,
                     .same_start = c->same_start};
}

static lg_status evaluate_system(lg_conserve_stepper *c, int with_matrix, double *phi)
{
    const lg_system *system = c->base.system;
    lg_accel *accel = &c->base.accel;
    lg_pair pair = step_pair(c);
    lg_matrix *S = with_matrix ? &accel->matrix : NULL;
    int constrained = system->pattern->nrows > 0;
    if (S)
        lg_matrix_zero(S);
    accel->evaluations++;
    LG_TRY(system->steps->kinetic(
        system->self, c->kinetic, &pair,
        &(lg_kinetic_wanted){.v1 = c->v1, .p1 = c->p1, .slope = c->slope, .dp1 = c->dp1, .S = S, .chain = c->chain}));
    LG_TRY(system->steps->pair[c->gradients](system->self, &pair,
                                             &(lg_pair_wanted){.force = c->force,
                                                               .Gtlam = c->Gtlam,
                                                               .phi = constrained ? phi : NULL,
                                                               .G = S && constrained ? c->G : NULL,
                                                               .B = S && constrained ? accel->B : NULL,
                                                               .noise = &c->noise,
                                                               .turned = &c->turned,
                                                               .S = S,
                                                               .chain = c->chain}));
    c->same_start = 1;
    return LG_OK;
}

static void force_rows(const lg_conserve_stepper *c, double *r)
{
    for (int i = 0; i < c->base.system->space->nv; i++)
        r[i] = (c->p1[i] - c->p0[i]) / c->h - c->slope[i] - c->force[i] + c->Gtlam[i];
}

/* The norms of the part of the force rows that the end momenta do not absorb; the row with `all` set has p1 - p1(q1) as
   well. Newton's method continues until this part is zero or stagnates. Round-off of discrete gradients may end it only
   once q1 no longer moves: such round-off is along P dq and does no work, whereas a residual may be along all of dq. */
static void measure_forces(lg_conserve_stepper *c, const double *r, lg_residual_norms *norms)
{
    int nv = c->base.system->space->nv;
    double sum = 0, size = 0;
    lg_conserve_beyond_round_off(c, r, c->rest);
    for (int i = 0; i < nv; i++) {
        double p1 = c->p1[i] / c->h, p0 = c->p0[i] / c->h, apart = c->rule->all ? (c->p[i] - c->p1[i]) / c->h : 0;
        sum += c->rest[i] * c->rest[i] + apart * apart;
        size += p1 * p1 + p0 * p0 + c->slope[i] * c->slope[i] + c->force[i] * c->force[i] + c->Gtlam[i] * c->Gtlam[i];
    }
    norms->now.force = sqrt(sum / nv);
    norms->size.force = sqrt(size / nv);
    norms->noise.force = DBL_EPSILON * norms->size.force + (c->at_rest ? 8 * c->noise : 0);
    c->remaining = norms->now.force;
}

static lg_status conserve_evaluate(void *self, int with_matrix, double *residual, lg_residual_norms *norms)
{
    lg_conserve_stepper *c = self;
    int nv = c->base.system->space->nv, nrows = c->base.system->pattern->nrows;
    LG_TRY(evaluate_system(c, with_matrix, residual + nv));
    force_rows(c, residual);
    measure_forces(c, residual, norms);
    lg_implicit_rows(0, nrows, c->row_scale, c->row_noise / 8, 0, residual + nv, norms);
    return LG_OK;
}

static lg_status conserve_factor(void *self, int with_matrix, int keeps)
{
    (void)keeps;
    lg_conserve_stepper *c = self;
    lg_accel *accel = &c->base.accel;
    if (!with_matrix)
        LG_TRY(evaluate_system(c, 1, accel->rows));
    if (c->base.system->pattern->nrows) {
        lg_matrix_add_border(&accel->matrix, c->G, c->row_scale, accel->B, 0, c->chain);
    }
    c->base.stats.jacobians++;
    c->base.stats.newton_factorisations++;
    return lg_factor_named(c->base.system, &accel->matrix, &c->base.report);
}

static lg_status conserve_solve(void *self, double *x)
{
    const lg_conserve_stepper *c = self;
    return lg_matrix_solve(&c->base.accel.matrix, x);
}

/* p1 := p1(q1) - dp1/dq1 change, the linear equation of p1 */
static void follow_momentum(lg_conserve_stepper *c, const double *change)
{
    const lg_space *space = c->base.system->space;
    lg_copy(space->nv, c->p1, c->p);
    for (const lg_block *b = space->block, *end = b + space->nblocks; b < end; b++)
        for (int j = 0; j < b->nv; j++)
            lg_axpy(b->nv, -change[b->v + j] / c->row_scale, c->dp1 + b->m + j * b->nv, c->p + b->v);
}

static void conserve_update(void *self, const double *correction)
{
    lg_conserve_stepper *c = self;
    int nv = c->base.system->space->nv, nrows = c->base.system->pattern->nrows;
    lg_axpy(nv, -1 / c->row_scale, correction, c->q1);
    lg_axpy(nrows, -1.0, correction + nv, c->lam);
    if (c->rule->all)
        follow_momentum(c, correction);
}

/* A residual that is no more than the round-off of q1 in p1 and of the forces needs no correction, however far the
   correction would move a coordinate without mass. */
static int is_negligible(void *self, const double *correction)
{
    lg_conserve_stepper *c = self;
    const lg_space *space = c->base.system->space;
    int nforce = c->rule->null_space ? c->null.nu : space->nv;
    double in_momentum = c->row_noise / 8 * lg_max_abs(space->nm, c->dp1) / c->h;
    double moved = lg_max_abs(nforce, correction) / c->row_scale;
    c->at_rest = moved <= c->row_noise;
    return moved <= c->row_noise / 16 || c->remaining <= in_momentum + 8 * c->noise;
}

static const double *row_sizes(void *self)
{
    lg_conserve_stepper *c = self;
    return lg_implicit_row_sizes(&c->base.accel, c->row_size);
}

/* ---- the same without the blocks' own rows ---- */

static int group_rows(const lg_conserve_stepper *c)
{
    return c->null.reduction.pattern.nrows;
}

static lg_status evaluate_null(void *self, int with_matrix, double *residual, lg_residual_norms *norms)
{
    lg_conserve_stepper *c = self;
    int nrows = group_rows(c);
    LG_TRY(evaluate_system(c, with_matrix, c->phi));
    lg_null_step(&c->null, c->start->q, c->q1);
    force_rows(c, c->forces);
    lg_null_own_multipliers(&c->null, c->forces, c->lam);
    measure_forces(c, c->forces, norms);
    lg_null_pull(&c->null, c->forces, residual);
    lg_copy(nrows, c->phi, residual + c->null.nu);
    lg_implicit_rows(0, nrows, c->row_scale, c->row_noise / 8, 0, residual + c->null.nu, norms);
    return LG_OK;
}

static lg_status factor_null(void *self, int with_matrix, int keeps)
{
    (void)keeps;
    lg_conserve_stepper *c = self;
    if (!with_matrix)
        LG_TRY(evaluate_system(c, 1, c->phi));
    c->base.stats.jacobians++;
    c->base.stats.newton_factorisations++;
    return lg_null_factor(&c->null, &c->base.accel, c->G, &c->base.report);
}

static lg_status solve_null(void *self, double *x)
{
    const lg_conserve_stepper *c = self;
    return lg_matrix_solve(&c->null.matrix, x);
}

static void update_null(void *self, const double *correction)
{
    lg_conserve_stepper *c = self;
    lg_null_move(&c->null, c->q1, -1 / c->row_scale, correction, c->q1);
    lg_axpy(group_rows(c), -1.0, correction + c->null.nu, c->lam);
}

/* ---- the solution ---- */

lg_status lg_conserve_solve(lg_conserve_stepper *c, lg_newton_memory *memory)
{
    const lg_system *system = c->base.system;
    int nrows = system->pattern->nrows;
    lg_newton_problem problem = {c,
                                 system->space->nv,
                                 nrows,
                                 nrows > 0,
                                 conserve_evaluate,
                                 conserve_factor,
                                 conserve_solve,
                                 conserve_update,
                                 is_negligible,
                                 NULL,
                                 row_sizes,
                                 NULL};
    if (c->rule->null_space) {
        nrows = group_rows(c);
        problem = (lg_newton_problem){c,          c->null.nu,  nrows,         nrows > 0, evaluate_null, factor_null,
                                      solve_null, update_null, is_negligible, NULL,      row_sizes,     NULL};
    }
    lg_newton_result result = {0};
    lg_status status = lg_newton(&problem, &c->newton, c->residual, memory, &result);
    lg_point end = lg_point_after(c->start->t + c->h, c->q1, c->v1, c->start->mem);
    end.lam = c->lam;
    end.work = c->base.accel.work;
    c->base.stats.newton_iterations += result.iterations;
    if (c->rule->null_space && result.worst >= c->null.nu)
        result.worst += system->space->nv - c->null.nu;
    lg_report_newton(system, &end, status, &result, &c->base.report);
    return status;
}
