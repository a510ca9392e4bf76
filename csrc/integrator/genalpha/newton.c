/* Residual and matrix of a step, and their solution, written once for all indices and forms.

   Rows, scaled like accelerations: the force rows, then of index 3 the positions, beta' phi, of index 2 the velocities,
   beta'/gamma' phidot, of stabilised index 2 both, velocities first. Nonholonomic rows are velocities in index 3 as
   well, and have no mu, as they are left out of B(q_n). The matrix of stabilised index 2 is taken in u = w + L B(q_n)^T
   mu with the L that leaves v and vdot to u alone:

       [ S                  B^T  -k_0 K L' ] [ du   ]   [ r      ]
       [ k_0 Z T + k_1 B X   0   -k_0 Z L' ] [ dlam ] = [ phidot ]     L' = T L B(q_n)^T
       [ k_0 B T             0   -k_0 B L' ] [ dmu  ]   [ phi    ]

   Without the upper two entries of the last column, dmu follows after du and dlam, from a matrix of the same pattern; a
   second sweep corrects for Z L'. The effect of K L' is left to the next iteration: since dmu depends on B du alone,
   which phidot = 0 determines, one iteration is enough, however stiff the system. Both matrices keep the fill of index
   3. */
#include "core/small.h"
#include "integrator/genalpha/slopes.h"
#include "integrator/genalpha/step.h"
#include "solve/initial.h"

#include <float.h>

/* ---- scales ---- */

/* beta' and gamma' at a step size, most often that of the current step. */
static double beta_prime_at(const lg_genalpha_stepper *g, double h)
{
    return h == g->scales.h ? g->scales.beta_prime : lg_beta_prime(&g->alpha, h);
}

static double gamma_prime_at(const lg_genalpha_stepper *g, double h)
{
    return h == g->scales.h ? g->scales.gamma_prime : lg_gamma_prime(&g->alpha, h);
}

/* The scale of the rows phi at a step size; 1 without scaling. */
static double phi_scale(const lg_genalpha_stepper *g, double h)
{
    return g->scaled ? beta_prime_at(g, h) : 1;
}

static double phidot_scale(const lg_genalpha_stepper *g, double h)
{
    return g->scaled ? beta_prime_at(g, h) / gamma_prime_at(g, h) : 1;
}

/* ---- the system at a state ---- */

static void genalpha_form_chains(lg_genalpha_stepper *g, const lg_alpha_state *formed)
{
    if (g->chains_h != formed->h) {
        double beta_prime = beta_prime_at(g, formed->h), unit = g->scaled ? 1 : beta_prime;
        double k[3] = {unit / beta_prime, unit * gamma_prime_at(g, formed->h) / beta_prime, unit};
        g->form->form_chains(g, k);
    }
    g->chains_h = formed->h;
    g->form->update_chains(g, formed);
}

static lg_point point_at(const lg_genalpha_stepper *g, const lg_alpha_state *formed)
{
    lg_point point = lg_point_at(formed->t, formed->q, formed->v);
    point.t_in = formed->t_in;
    point.a = formed->a, point.lam = formed->lam, point.work = g->base.accel.work;
    point.mem = (lg_memory){formed->mem, formed->h, formed->theta};
    return point;
}

static lg_status evaluate_system(lg_genalpha_stepper *g, const lg_point *point, const lg_wanted *wanted)
{
    const lg_system *system = g->base.system;
    g->base.accel.evaluations++;
    return system->eval(system->self, point, wanted);
}

/* S, B and Z at a state, in one pass with whatever else is wanted. */
static lg_status evaluate_matrix(lg_genalpha_stepper *g, const lg_alpha_state *formed, const lg_point *point,
                                 lg_wanted *wanted)
{
    int constrained = g->base.system->pattern->nrows > 0;

    g->state_lost = 1;
    lg_matrix_zero(&g->base.accel.matrix);
    genalpha_form_chains(g, formed);
    g->tangent = (lg_tangent){&g->base.accel.matrix, g->chain};
    wanted->tangent = &g->tangent;
    wanted->ntangents = 1;
    wanted->B = constrained ? g->base.accel.B : NULL;
    wanted->Z = constrained ? g->Z : NULL;
    return evaluate_system(g, point, wanted);
}

/* The matrix alone. */
static lg_status evaluate_matrix_at(lg_genalpha_stepper *g, const lg_alpha_state *formed)
{
    lg_point point = point_at(g, formed);
    if (g->force_terms)
        point.a = point.lam = NULL; /* no d(M vdot)/dq and d(B^T lam)/dq */
    return evaluate_matrix(g, formed, &point, &(lg_wanted){0});
}

lg_status lg_alpha_base_rows(lg_genalpha_stepper *g, const lg_alpha_state *formed)
{
    lg_point point = point_at(g, formed);
    point.t = formed->t - formed->h;
    point.q = formed->qn;
    LG_TRY(evaluate_system(g, &point, &(lg_wanted){.B = g->Bn}));
    lg_pattern_mask_nonholonomic(g->base.system->pattern, 1, g->Bn);
    return LG_OK;
}

/* ---- residual ---- */

static void forget_linearised(lg_genalpha_stepper *g)
{
    if (g->slopes)
        g->slopes->is_linearised = 0;
}

/* r = M vdot + gyro - force + B^T lam, then the scaled rows, whose size is that of the accelerations alone. */
static lg_status genalpha_evaluate(void *self, int with_matrix, double *residual, lg_residual_norms *norms)
{
    lg_genalpha_stepper *g = self;
    int nv = g->base.system->space->nv, nrows = g->base.system->pattern->nrows, index = g->index;
    double *rows = residual + nv, *phi = index == LG_INDEX_3 ? rows : rows + nrows;
    lg_wanted wanted = lg_implicit_terms(&g->implicit);
    wanted.phi = nrows && index != LG_INDEX_2 ? phi : NULL;
    wanted.phidot = !nrows ? NULL : index != LG_INDEX_3 ? rows : g->phidot;

    g->form->follow(g);
    forget_linearised(g);
    if (norms->last && lg_alpha_may_linearise_early(g))
        LG_TRY(lg_alpha_linearise_early(g, &wanted));
    else if (with_matrix && !g->force_terms)
        LG_TRY(evaluate_matrix(g, &g->now, &g->at, &wanted));
    else
        LG_TRY(evaluate_system(g, &g->at, &wanted));

    lg_implicit_forces(&g->implicit, nv, 1, 0, NULL, norms);
    double size = nrows && norms->first ? lg_max_abs(nv, g->now.a) / g->beta_prime : 0;
    if (g->phidot)
        lg_implicit_put_nonholonomic(g->base.system->pattern, g->gamma_prime, g->phidot, phi);
    if (wanted.phidot && index != LG_INDEX_3)
        lg_implicit_rows(0, nrows, phidot_scale(g, g->h), g->noise_phidot, g->gamma_prime * size, rows, norms);
    if (wanted.phi)
        lg_implicit_rows(index != LG_INDEX_3, nrows, phi_scale(g, g->h), g->noise_phi, size, phi, norms);
    return LG_OK;
}

/* ---- matrix ---- */

/* Those of the other indices, of velocities. */
static void add_velocities(lg_genalpha_stepper *g, double scale)
{
    lg_matrix *matrix = &g->base.accel.matrix;
    lg_matrix_add_border(matrix, g->base.accel.B, scale, g->base.accel.B, 1, g->chain);
    lg_matrix_add_rows(matrix, scale, g->Z, 0, g->chain);
}

/* Completes and factors the matrix whose S has been evaluated at a state. */
static lg_status factor_matrix(lg_genalpha_stepper *g, const lg_alpha_state *formed)
{
    lg_accel *accel = &g->base.accel;
    int constrained = g->base.system->pattern->nrows > 0;
    if (constrained && g->index == LG_INDEX_3)
        lg_implicit_add_rows(accel, phi_scale(g, formed->h), gamma_prime_at(g, formed->h), g->Z, g->Bn, g->chain);
    else if (constrained)
        add_velocities(g, phidot_scale(g, formed->h));
    g->base.stats.jacobians++;
    g->base.stats.newton_factorisations++;
    LG_TRY(lg_factor_named(g->base.system, &accel->matrix, &g->base.report));
    return g->index == LG_INDEX_STABILIZED ? lg_alpha_factor_mu(g, formed) : LG_OK;
}

static lg_status alpha_factor(void *self, int with_matrix, int keeps)
{
    lg_genalpha_stepper *g = self;
    if (!with_matrix || g->force_terms)
        LG_TRY(evaluate_matrix_at(g, &g->now));
    LG_TRY(factor_matrix(g, &g->now));
    if (lg_alpha_keeps_matrix(g))
        lg_alpha_keep_state(g, keeps);
    return LG_OK;
}

lg_status lg_alpha_rebuild(lg_genalpha_stepper *g, const lg_alpha_state *formed)
{
    lg_matrix *matrix = &g->base.accel.matrix;
    double weakest = matrix->weakest; /* the step that formed the matrix first has looked at its pivots */
    if (g->index == LG_INDEX_STABILIZED)
        LG_TRY(lg_alpha_base_rows(g, formed));
    LG_TRY(evaluate_matrix_at(g, formed));
    LG_TRY(factor_matrix(g, formed));
    matrix->weakest = weakest;
    return LG_OK;
}

/* ---- solution ---- */

/* Solves for (du, dlam) in place, from the residual in x; du is scaled like an acceleration. */
static lg_status solve_main(lg_genalpha_stepper *g, double *x)
{
    LG_TRY(lg_matrix_solve(&g->base.accel.matrix, x));
    for (int i = 0; !g->scaled && i < g->base.system->space->nv; i++)
        x[i] *= g->beta_prime;
    return LG_OK;
}

/* Repeats the solution once, with the change that dmu makes to phidot through the coordinates on the right-hand
   side. */
static lg_status sweep_again(lg_genalpha_stepper *g, double *x)
{
    const lg_pattern *pattern = g->base.system->pattern;
    int nv = g->base.system->space->nv, nrows = pattern->nrows;
    double *sweep = g->second_sweep;
    lg_zero(nv + nrows, sweep);
    lg_alpha_move_by_mu(g, 1, g->mu_correction, g->Btmu);
    lg_pattern_add_B(pattern, g->Z, -phidot_scale(g, g->h) / g->beta_prime, g->Btmu, sweep + nv);
    LG_TRY(solve_main(g, sweep));
    lg_axpy(nv + nrows, 1, sweep, x);
    lg_zero(nv, g->Btmu);
    lg_pattern_add_BT(pattern, g->base.accel.B, 1, sweep + nv, g->Btmu);
    g->sweep_size = sqrt(lg_dot(nv, g->Btmu, g->Btmu) / (g->implicit.newton.together ? 1 : nv));
    return LG_OK;
}

static lg_status alpha_newton_solve(void *self, double *x)
{
    lg_genalpha_stepper *g = self;
    LG_TRY(solve_main(g, x));
    if (g->index != LG_INDEX_STABILIZED)
        return LG_OK;

    int nv = g->base.system->space->nv, nrows = g->base.system->pattern->nrows;
    double *phi = x + nv + nrows, to_acceleration = g->beta_prime / phi_scale(g, g->h);
    LG_TRY(lg_alpha_solve_mu(g, x, phi, to_acceleration));
    LG_TRY(sweep_again(g, x));
    LG_TRY(lg_alpha_solve_mu(g, x, phi, to_acceleration));
    lg_copy(nrows, g->mu_correction + nv, phi);
    return LG_OK;
}

static void alpha_update(void *self, const double *correction)
{
    lg_genalpha_stepper *g = self;
    int nv = g->base.system->space->nv, nrows = g->base.system->pattern->nrows;
    forget_linearised(g);
    g->form->correct(g, correction);
    lg_axpy(nrows, -1, correction + nv, g->lam);
    if (g->index == LG_INDEX_STABILIZED)
        lg_axpy(nrows, -1, correction + nv + nrows, g->mu);
}

double lg_alpha_row_noise(const lg_genalpha_stepper *g)
{
    const double *q = g->now.qn;
    double even = 0, odd = 0;
    int n = g->base.system->space->nq;
    for (; n > 1; n -= 2, q += 2) {
        even = lg_larger(even, fabs(q[0]));
        odd = lg_larger(odd, fabs(q[1]));
    }
    return 64 * DBL_EPSILON * (1 + lg_larger(lg_larger(even, odd), n > 0 ? fabs(*q) : 0));
}

static int is_negligible(void *self, const double *correction)
{
    lg_genalpha_stepper *g = self;
    if (g->noise_phi == 0)
        g->noise_phi = lg_alpha_row_noise(g);
    return lg_within(g->base.system->space->nv, correction, g->noise_phi / 16 * g->beta_prime);
}

/* Where phi is round-off, so is what the last correction of mu by it has made of the forces of the rows. */
static lg_status measure_noise(void *self, int of_rows, double *noise)
{
    lg_genalpha_stepper *g = self;
    const lg_matrix *matrix = g->index == LG_INDEX_3 ? &g->base.accel.matrix : &g->mu_matrix; /* that has phi */
    double *moved = of_rows && g->index != LG_INDEX_2 ? g->implicit.row_noise : NULL;
    if (moved)
        LG_TRY(lg_implicit_move_by_rows(&g->implicit, &g->base.accel, matrix, phi_scale(g, g->h), g->noise_phi));
    LG_TRY(lg_implicit_noise(&g->implicit, &g->base.accel, g->base.system, g->at, 1, 0, NULL, moved, noise));
    if (of_rows && g->index == LG_INDEX_STABILIZED)
        *noise = lg_larger(*noise, g->sweep_size);
    return LG_OK;
}

static const double *row_sizes(void *self)
{
    lg_genalpha_stepper *g = self;
    return lg_implicit_row_sizes(&g->base.accel, g->implicit.row_size);
}

void lg_alpha_set_problem(lg_genalpha_stepper *g)
{
    const lg_system *system = g->base.system;
    int nrows = system->pattern->nrows, sets = !nrows ? 0 : g->index == LG_INDEX_STABILIZED ? 2 : 1;
    g->problem = (lg_newton_problem){g,
                                     system->space->nv,
                                     nrows,
                                     sets,
                                     genalpha_evaluate,
                                     alpha_factor,
                                     alpha_newton_solve,
                                     alpha_update,
                                     is_negligible,
                                     measure_noise,
                                     row_sizes,
                                     g->implicit.correction};
}

lg_status lg_alpha_solve(lg_genalpha_stepper *g, lg_newton_result *result)
{
    LG_TRY(lg_implicit_solve(&g->implicit, &g->base, &g->problem, &g->at, &g->memory, result));
    if (!result->evaluated)
        g->form->follow(g);
    return LG_OK;
}
