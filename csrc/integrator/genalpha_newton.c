/* Residual and matrix of a step, and their solution: one of each for all indices and forms.

   Rows, scaled like accelerations: the force rows, then of index 3 the positions, beta' phi, of index 2 the velocities,
   beta'/gamma' phidot, of stabilised index 2 both, velocities first. Its matrix is taken in u = w + L B(q_n)^T mu with
   the L that leaves v and vdot to u alone:

       [ S                  B^T  -k_0 K L' ] [ du   ]   [ r      ]
       [ k_0 Z T + k_1 B X   0   -k_0 Z L' ] [ dlam ] = [ phidot ]     L' = T L B(q_n)^T
       [ k_0 B T             0   -k_0 B L' ] [ dmu  ]   [ phi    ]

   With the upper two entries of the last column left out, dmu follows after du and dlam, from a matrix of the same
   pattern; a second sweep puts Z L' right. K L' is left to the next iteration: as dmu depends on B du alone, which
   phidot = 0 determines, one is enough, however stiff the system. Both matrices keep the fill of index 3. */
#include "core/small.h"
#include "integrator/genalpha_step.h"
#include "solve/culprit.h"
#include "solve/initial.h"

#include <float.h>
#include <math.h>

/* ---- scales ---- */

/* Of the rows that phi and phidot give, at a step size: 1 if nothing is to be scaled. */
static double phi_scale(const lg_genalpha_stepper *g, double h)
{
    return g->scaled ? lg_beta_prime(&g->alpha, h) : 1;
}

static double phidot_scale(const lg_genalpha_stepper *g, double h)
{
    return g->scaled ? lg_beta_prime(&g->alpha, h) / lg_gamma_prime(&g->alpha, h) : 1;
}

/* ---- the system at a place ---- */

static lg_point point_at(const lg_genalpha_stepper *g, const lg_alpha_place *place)
{
    return (lg_point){.t = place->t,
                      .t_in = place->t_in,
                      .load = 1,
                      .wa = 1,
                      .q = place->q,
                      .v = place->v,
                      .a = place->a,
                      .lam = place->lam,
                      .mem = place->mem,
                      .work = g->base.accel.work};
}

static lg_status evaluate_system(lg_genalpha_stepper *g, const lg_point *point, const lg_wanted *wanted)
{
    const lg_system *system = g->base.system;
    g->base.accel.evaluations++;
    return system->eval(system->self, point, wanted);
}

/* S, B and Z at a place, beside what else is wanted in the same pass. */
static lg_status evaluate_matrix(lg_genalpha_stepper *g, const lg_alpha_place *place, lg_wanted wanted)
{
    lg_point point = point_at(g, place);
    int constrained = g->base.system->pattern->nrows > 0;
    if (g->force_terms)
        point.a = point.lam = NULL; /* no d(M vdot)/dq and d(B^T lam)/dq */

    lg_matrix_zero(&g->base.accel.matrix);
    lg_genalpha_chains(g, place);
    wanted.S = &g->base.accel.matrix;
    wanted.chain = g->chain;
    wanted.B = constrained ? g->base.accel.B : NULL;
    wanted.Z = constrained && g->index != LG_INDEX_3 ? g->Z : NULL;
    return evaluate_system(g, &point, &wanted);
}

lg_status lg_genalpha_base_rows(lg_genalpha_stepper *g, const lg_alpha_place *place)
{
    lg_point point = point_at(g, place);
    point.t = place->t - place->h;
    point.q = place->qn;
    return evaluate_system(g, &point, &(lg_wanted){.B = g->Bn});
}

/* ---- residual ---- */

/* r = M vdot + gyro - force + B^T lam; the root mean square of its terms. */
static double add_forces(const lg_genalpha_stepper *g, int nv, double *r)
{
    double squares = 0;
    for (int i = 0; i < nv; i++) {
        double Ma = g->Ma[i], gyro = g->gyro[i], force = g->force[i], Btlam = g->Btlam[i];
        r[i] = Ma + gyro - force + Btlam;
        squares += Ma * Ma + gyro * gyro + force * force + Btlam * Btlam;
    }
    return sqrt(squares / nv);
}

/* Scales the rows of phi or phidot; their noise, and their size as the accelerations alone make it. */
static void measure_rows(int set, int nrows, double scale, double noise, double to_rows, double *rows, lg_norms *noises,
                         lg_norms *sizes)
{
    for (int i = 0; i < nrows; i++)
        rows[i] *= scale;
    noises->rows[set] = scale * noise;
    sizes->rows[set] = scale * to_rows;
}

static lg_status evaluate(void *self, int with_matrix, double *residual, lg_norms *noise, lg_norms *size)
{
    lg_genalpha_stepper *g = self;
    int nv = g->base.system->space->nv, nrows = g->base.system->pattern->nrows, index = g->index;
    double *rows = residual + nv, *phi = index == LG_INDEX_3 ? rows : rows + nrows;
    lg_wanted wanted = {.Ma = g->Ma,
                        .gyro = g->gyro,
                        .force = g->force,
                        .Btlam = g->Btlam,
                        .phi = nrows && index != LG_INDEX_2 ? phi : NULL,
                        .phidot = nrows && index != LG_INDEX_3 ? rows : NULL};
    lg_point point = point_at(g, &g->now);

    lg_genalpha_follow(g);
    if (with_matrix && !g->force_terms)
        LG_TRY(evaluate_matrix(g, &g->now, wanted));
    else
        LG_TRY(evaluate_system(g, &point, &wanted));

    size->force = add_forces(g, nv, residual);
    noise->force = 16 * DBL_EPSILON * size->force;
    double a = lg_max_abs(nv, g->now.a), to_phi = a / g->beta_prime, to_phidot = g->gamma_prime * to_phi;
    if (wanted.phidot)
        measure_rows(0, nrows, phidot_scale(g, g->h), g->noise_phidot, to_phidot, rows, noise, size);
    if (wanted.phi)
        measure_rows(index != LG_INDEX_3, nrows, phi_scale(g, g->h), g->noise_phi, to_phi, phi, noise, size);
    return LG_OK;
}

/* ---- matrix ---- */

/* [I B(q_n)^T; B T L 0] at a place */
static lg_status factor_lift(lg_genalpha_stepper *g, const lg_alpha_place *place)
{
    const lg_pattern *p = g->base.system->pattern;
    lg_matrix_zero(&g->lift);
    lg_genalpha_lift_chains(g, place);
    for (int c = 0; c < p->ncliques; c++)
        for (int i = 0; i < p->clique_start[c + 1] - p->clique_start[c]; i++) {
            int ld, nv = p->nv[p->clique_block[p->clique_start[c] + i]];
            double *D = lg_matrix_at(&g->lift, c, i, i, &ld);
            for (int j = 0; j < nv; j++)
                D[j + ld * j] = 1;
        }
    lg_matrix_add_columns(&g->lift, 1, g->Bn);
    lg_matrix_add_rows(&g->lift, 1, g->base.accel.B, 0, g->chain);
    return lg_factor_named(g->base.system, &g->lift, &g->base.report);
}

/* Completes S, which has been evaluated at a place. */
static lg_status factor_matrix(lg_genalpha_stepper *g, const lg_alpha_place *place)
{
    lg_accel *accel = &g->base.accel;
    double s = phidot_scale(g, place->h);
    if (g->base.system->pattern->nrows) {
        lg_matrix_add_columns(&accel->matrix, 1, accel->B);
        if (g->index == LG_INDEX_3)
            lg_matrix_add_rows(&accel->matrix, phi_scale(g, place->h), accel->B, 0, g->chain);
        else {
            lg_matrix_add_rows(&accel->matrix, s, accel->B, 1, g->chain);
            lg_matrix_add_rows(&accel->matrix, s, g->Z, 0, g->chain);
        }
    }
    g->base.stats.jacobians++;
    LG_TRY(lg_factor_named(g->base.system, &accel->matrix, &g->base.report));
    return g->index == LG_INDEX_STABILIZED ? factor_lift(g, place) : LG_OK;
}

/* Notes where the matrix has been formed. */
static void keep(lg_genalpha_stepper *g)
{
    const lg_system *system = g->base.system;
    const lg_space *space = system->space;
    lg_alpha_place kept = lg_genalpha_place_in(system, g->kept);
    lg_copy(space->nq, g->now.q, kept.q);
    lg_copy(space->nv, g->now.v, kept.v);
    lg_copy(space->nv, g->now.a, kept.a);
    lg_copy(system->pattern->nrows, g->now.lam, kept.lam);
    lg_copy(system->nmem, g->now.mem, kept.mem);
    lg_copy(space->nv, g->now.theta, kept.theta);
    lg_copy(space->nv, g->now.c, kept.c);
    lg_copy(space->nq, g->now.qn, kept.qn);
    lg_copy(4, (double[]){1, g->now.t, g->now.t_in, g->now.h}, g->kept);
}

static lg_status factor(void *self, int with_matrix)
{
    lg_genalpha_stepper *g = self;
    if (!with_matrix || g->force_terms)
        LG_TRY(evaluate_matrix(g, &g->now, (lg_wanted){0}));
    LG_TRY(factor_matrix(g, &g->now));
    if (g->newton.modified)
        keep(g);
    return LG_OK;
}

lg_status lg_genalpha_rebuild(lg_genalpha_stepper *g)
{
    lg_alpha_place place = lg_genalpha_place_in(g->base.system, g->kept);
    g->chained = 0;
    if (g->index == LG_INDEX_STABILIZED)
        LG_TRY(lg_genalpha_base_rows(g, &place));
    LG_TRY(evaluate_matrix(g, &place, (lg_wanted){0}));
    return factor_matrix(g, &place);
}

/* ---- solution ---- */

/* dmu from B T L B(q_n)^T dmu = B T du - phi, into the rows of `shift`; its velocities are -B(q_n)^T dmu. */
static lg_status solve_lift(lg_genalpha_stepper *g, const double *du, const double *phi)
{
    const lg_system *system = g->base.system;
    int nv = system->space->nv, nrows = system->pattern->nrows;
    double *x = g->shift, *moved = g->Btmu, to_acceleration = g->beta_prime / phi_scale(g, g->h);

    if (g->form == LG_FORM_EXACT)
        lg_space_tangent_mul(system->space, g->now.theta, du, moved);
    else
        lg_copy(nv, du, moved);
    lg_zero(nv, x);
    for (int i = 0; i < nrows; i++)
        x[nv + i] = to_acceleration * phi[i];
    lg_pattern_add_B(system->pattern, g->base.accel.B, -1, moved, x + nv);
    return lg_matrix_solve(&g->lift, x);
}

/* (du, dlam) from what stands in x, the former like an acceleration. */
static lg_status solve_main(lg_genalpha_stepper *g, double *x)
{
    LG_TRY(lg_matrix_solve(&g->base.accel.matrix, x));
    for (int i = 0; !g->scaled && i < g->base.system->space->nv; i++)
        x[i] *= g->beta_prime;
    return LG_OK;
}

/* What dmu, by way of the coordinates, adds to phidot goes to the other side, once. */
static lg_status sweep_again(lg_genalpha_stepper *g, double *x)
{
    const lg_pattern *pattern = g->base.system->pattern;
    int nv = g->base.system->space->nv, nrows = pattern->nrows;
    double *more = g->more;
    lg_zero(nv + nrows, more);
    lg_genalpha_lift(g, 1, g->shift, g->Btmu);
    lg_pattern_add_B(pattern, g->Z, -phidot_scale(g, g->h) / g->beta_prime, g->Btmu, more + nv);
    LG_TRY(solve_main(g, more));
    lg_axpy(nv + nrows, 1, more, x);
    return LG_OK;
}

static lg_status solve(void *self, double *x)
{
    lg_genalpha_stepper *g = self;
    int nv = g->base.system->space->nv, nrows = g->base.system->pattern->nrows;
    double *phi = x + nv + nrows;
    LG_TRY(solve_main(g, x));
    if (g->index != LG_INDEX_STABILIZED)
        return LG_OK;

    LG_TRY(solve_lift(g, x, phi));
    LG_TRY(sweep_again(g, x));
    LG_TRY(solve_lift(g, x, phi));
    lg_copy(nrows, g->shift + nv, phi);
    return LG_OK;
}

static int update(void *self, const double *correction)
{
    lg_genalpha_stepper *g = self;
    int nv = g->base.system->space->nv, nrows = g->base.system->pattern->nrows;
    lg_genalpha_correct(g, correction);
    lg_axpy(nrows, -1, correction + nv, g->lam);
    if (g->index == LG_INDEX_STABILIZED)
        lg_axpy(nrows, -1, correction + nv + nrows, g->mu);
    double coordinates = 1 + lg_max_abs(g->base.system->space->nq, g->now.q);
    return lg_max_abs(nv, correction) / g->beta_prime <= 4 * DBL_EPSILON * coordinates;
}

lg_status lg_genalpha_solve(lg_genalpha_stepper *g, lg_newton_result *result)
{
    const lg_system *system = g->base.system;
    int nrows = system->pattern->nrows, sets = !nrows ? 0 : g->index == LG_INDEX_STABILIZED ? 2 : 1;
    lg_newton_problem problem = {g, system->space->nv, nrows, sets, evaluate, factor, solve, update};
    lg_status status = lg_newton(&problem, &g->newton, g->residual, result);
    lg_point point = point_at(g, &g->now);
    lg_report_newton(system, &point, status, result, &g->base.report);
    return status;
}
