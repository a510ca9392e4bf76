/* Stabilised index 2: how mu moves the coordinates at fixed velocities, and its corrections. */
#include "core/small.h"
#include "integrator/genalpha/step.h"

void lg_alpha_polynomial(const lg_factor *f, const double *x, double first, double second, double *X)
{
    int n = f->nv;
    double A[LG_ALPHA_BLOCK * LG_ALPHA_BLOCK];
    f->node->ad(f->n, x + f->v, A);
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < n; i++)
            X[i + n * j] = (i == j) + first * A[i + n * j];
        for (int l = 0; l < n; l++)
            if (A[l + n * j] != 0)
                lg_axpy(n, second * A[l + n * j], A + n * l, X + n * j);
    }
}

void lg_alpha_polynomials(const lg_block *b, const double *x, double first, double second, double *X)
{
    double room[LG_ALPHA_BLOCK * LG_ALPHA_BLOCK];
    for (const lg_factor *f = b->factor, *end = f + b->nfactors; f < end; f++) {
        double *M = f->node->linear ? NULL : lg_factor_matrix(f, b, room, X);
        if (M)
            lg_alpha_polynomial(f, x, first, second, M);
        lg_factor_put(f, b, M, X);
    }
}

/* dw = -L B(q_n)^T dmu with L = X^-1 P^-1 does not change v and vdot, and moves q by T L. Up to the second order in
   A = theta^, and with c_n = r theta, r = 1 - beta/gamma, which holds up to O(h^2), all these commute: T L, or L, is
   I + first A + second A^2. */
static void mu_series(const lg_alpha *p, int with_T, double *first, double *second)
{
    double s = 1 - p->sigma, r = 1 - p->beta / p->gamma, x = p->sigma * r / 2;
    double X1 = x, X2 = x * x - p->sigma * (3 * p->sigma - 1) * r / 12; /* of X^-1 */
    double P1 = s / 2, P2 = -s * (2 - 3 * s) / 12; /* of P^-1 */
    double L1 = X1 + P1, L2 = X2 + X1 * P1 + P2;
    *first = with_T ? L1 - 0.5 : L1;
    *second = with_T ? L2 - 0.5 * L1 + 1.0 / 6 : L2;
}

/* Whether T and L differ from the identity on kinds that are not linear. */
static int turns(const lg_genalpha_stepper *g)
{
    return g->operator && g->form->corrects_theta;
}

/* Makes the chains those of this matrix: T L of every block. */
static void mu_chains(lg_genalpha_stepper *g, const lg_alpha_state *formed)
{
    const lg_space *space = g->base.system->space;
    double first, second;
    mu_series(&g->alpha, 1, &first, &second);
    for (int i = 0; i < space->nblocks; i++) {
        const lg_block *b = &space->block[i];
        double *X = g->TL && !b->linear && turns(g) ? g->TL + b->m : NULL;
        g->chain[i] = (lg_chain){{1, 1, 1}, {X, X, X}};
        if (X)
            lg_alpha_polynomials(b, formed->theta, first, second, X);
    }
    g->chains_h = 0;
}

void lg_alpha_move_by_mu(const lg_genalpha_stepper *g, int with_T, const double *y, double *out)
{
    const lg_space *space = g->base.system->space;
    double first, second;
    mu_series(&g->alpha, with_T, &first, &second);
    lg_copy(space->nv, y, out);
    for (const lg_factor *f = space->factor, *end = f + space->nfactors; turns(g) && f < end; f++) {
        double X[LG_ALPHA_BLOCK * LG_ALPHA_BLOCK];
        if (f->node->linear)
            continue;
        lg_alpha_polynomial(f, g->now.theta, first, second, X);
        lg_zero(f->nv, out + f->v);
        for (int j = 0; j < f->nv; j++)
            lg_axpy(f->nv, y[f->v + j], X + f->nv * j, out + f->v);
    }
}

void lg_alpha_add_identity(lg_matrix *matrix, const lg_pattern *p)
{
    long first = 0;
    for (int c = 0; c < p->nmass_cliques; c++) {
        long n = p->clique_start[c + 1] - p->clique_start[c];
        for (int i = 0; i < n; i++) {
            int ld, nv = p->nv[p->clique_block[p->clique_start[c] + i]];
            double *D = lg_matrix_at(matrix, first + i * (n + 1), &ld);
            for (int j = 0; j < nv; j++)
                D[j + ld * j] = 1;
        }
        first += n * n;
    }
}

lg_status lg_alpha_factor_in_place(lg_genalpha_stepper *g, lg_matrix *matrix, lg_alpha_assemble *assemble,
                                   const lg_point *end)
{
    LG_TRY(assemble(g, end));
    g->base.factorisations++;
    lg_status status = lg_matrix_factor(matrix);
    if (status == LG_SINGULAR) {
        LG_TRY(assemble(g, end));
        g->base.fallbacks++;
        status = lg_matrix_fall_back(matrix);
    }
    return lg_name_deficient(g->base.system, matrix, status, &g->base.report);
}

static lg_status assemble_mu(lg_genalpha_stepper *g, const lg_point *end)
{
    (void)end;
    lg_matrix_zero(&g->mu_matrix);
    lg_alpha_add_identity(&g->mu_matrix, g->base.system->pattern);
    lg_matrix_add_border(&g->mu_matrix, g->Bn, 1, g->base.accel.B, 0, g->chain);
    return LG_OK;
}

lg_status lg_alpha_factor_mu(lg_genalpha_stepper *g, const lg_alpha_state *formed)
{
    mu_chains(g, formed);
    lg_pattern_mask_nonholonomic(g->base.system->pattern, 1, g->base.accel.B);
    g->base.stats.newton_factorisations++;
    return lg_alpha_factor_in_place(g, &g->mu_matrix, assemble_mu, NULL);
}

lg_status lg_alpha_solve_mu(lg_genalpha_stepper *g, const double *du, const double *phi, double to_acceleration)
{
    const lg_system *system = g->base.system;
    int nv = system->space->nv, nrows = system->pattern->nrows;
    double *x = g->mu_correction, *moved = g->Btmu;

    if (g->form->corrects_theta)
        lg_space_tangent_mul(system->space, g->now.theta, du, moved);
    else
        lg_copy(nv, du, moved);
    lg_zero(nv, x);
    for (int i = 0; i < nrows; i++)
        x[nv + i] = to_acceleration * phi[i];
    lg_pattern_add_B(system->pattern, g->base.accel.B, -1, moved, x + nv);
    return lg_matrix_solve(&g->mu_matrix, x);
}
