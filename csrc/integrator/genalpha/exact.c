/* The theta form: q, v, a and vdot from the unknowns as in step.h. It solves holzinger2025 (11)-(16) exactly, whatever
   the matrix of Newton's method. */
#include "core/small.h"
#include "integrator/genalpha/step.h"

#include <math.h>

/* ---- small matrices ---- */

/* Velocities of the block's node: no node has more than LG_ALPHA_BLOCK. */
static int node_size(const lg_block *b)
{
    return b->node->nv < LG_ALPHA_BLOCK ? b->node->nv : LG_ALPHA_BLOCK;
}

/* x := P^-1 x by Gaussian elimination with column pivoting; P is column-major and destroyed. */
static void solve_small(int n, double *P, double *x)
{
    for (int k = 0; k < n; k++) {
        int pivot = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(P[i + n * k]) > fabs(P[pivot + n * k]))
                pivot = i;
        for (int j = 0; j <= n; j++) {
            double *column = j < n ? P + n * j : x, swap = column[k];
            column[k] = column[pivot];
            column[pivot] = swap;
        }
        for (int i = k + 1; i < n; i++) {
            double factor = P[i + n * k] / P[k + n * k];
            for (int j = k + 1; j < n; j++)
                P[i + n * j] -= factor * P[k + n * j];
            x[i] -= factor * x[k];
        }
    }
    for (int k = n; k-- > 0;) {
        double sum = x[k];
        for (int j = k + 1; j < n; j++)
            sum -= P[k + n * j] * x[j];
        x[k] = sum / P[k + n * k];
    }
}

/* X = I + first A + second A^2 for A = x^ on one block's node. */
void lg_alpha_polynomial(const lg_block *b, const double *x, double first, double second, double *X)
{
    int n = b->node->nv;
    double A[LG_ALPHA_BLOCK * LG_ALPHA_BLOCK];
    b->node->ad(b->n, x + b->v, A);
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < n; i++)
            X[i + n * j] = (i == j) + first * A[i + n * j];
        for (int l = 0; l < n; l++)
            if (A[l + n * j] != 0)
                lg_axpy(n, second * A[l + n * j], A + n * l, X + n * j);
    }
}

/* ---- q, v and vdot ---- */

/* The first guess follows from that of the unknowns. */
static void predict(lg_genalpha_stepper *g)
{
    (void)g;
}

/* E on one block, for blocks on which it is not zero. */
static void lie_term(const lg_genalpha_stepper *g, const lg_block *b, double E[LG_ALPHA_BLOCK])
{
    const double *theta = g->now.theta + b->v, *c = g->now.c + b->v;
    double sigma = g->alpha.sigma, y[LG_ALPHA_BLOCK], P[LG_ALPHA_BLOCK * LG_ALPHA_BLOCK];

    int n = node_size(b);
    for (int i = 0; i < n; i++)
        y[i] = theta[i] - c[i];
    b->node->tangent_mul(b->n, theta, y, E);
    for (int i = 0; i < n; i++)
        E[i] = g->beta_prime * sigma * (E[i] - y[i]);
    if (g->index == LG_INDEX_STABILIZED)
        lg_axpy(n, 1, g->Btmu + b->v, E);

    if (sigma == 1)
        return;
    b->node->tangent(b->n, theta, P);
    for (int i = 0; i < n * n; i++)
        P[i] = (1 - sigma) * P[i] + (i % (n + 1) == 0 ? sigma : 0);
    solve_small(n, P, E);
}

void lg_alpha_add_velocity(lg_genalpha_stepper *g, int first, int n, const double *E)
{
    lg_axpy(n, g->gamma_prime / g->beta_prime, E, g->now.v + first);
    lg_axpy(n, 1, E, g->now.a + first);
}

/* Adds E of all blocks to v and vdot. */
static void add_lie_terms(lg_genalpha_stepper *g)
{
    const lg_space *space = g->base.system->space;
    int stabilized = g->index == LG_INDEX_STABILIZED;
    for (const lg_block *b = space->block, *end = b + space->nblocks; b < end; b++) {
        double E[LG_ALPHA_BLOCK];
        int lie = b->node->linear ? 0 : b->node->nv;
        if (lie && (stabilized || g->alpha.sigma != 0)) {
            lie_term(g, b, E);
            lg_alpha_add_velocity(g, b->v, lie, E);
        }
        if (stabilized)
            lg_alpha_add_velocity(g, b->v + lie, b->nv - lie, g->Btmu + b->v + lie);
    }
}

static void follow(lg_genalpha_stepper *g)
{
    const lg_system *system = g->base.system;
    const lg_space *space = system->space;
    double to_theta = 1 / g->beta_prime, to_v = g->gamma_prime * to_theta;
    for (int i = 0; i < space->nv; i++) {
        g->now.theta[i] = g->theta0[i] + to_theta * g->w[i];
        g->now.v[i] = g->v0[i] + to_v * g->w[i];
        g->now.a[i] = g->w[i];
    }
    lg_space_move(space, g->now.qn, g->now.theta, g->now.q, NULL);

    if (g->index == LG_INDEX_STABILIZED) {
        lg_zero(space->nv, g->Btmu);
        lg_pattern_add_BT(system->pattern, g->Bn, 1, g->mu, g->Btmu);
    }
    add_lie_terms(g);
}

static void correct(lg_genalpha_stepper *g, const double *dw)
{
    int nv = g->base.system->space->nv;
    lg_axpy(nv, -1, dw, g->w);
    if (g->index == LG_INDEX_STABILIZED) {
        lg_alpha_move_by_mu(g, 0, g->mu_correction, g->Btmu);
        lg_axpy(nv, -1, g->Btmu, g->w);
    }
}

/* ---- chains ---- */

/* Column j of (1 - r) I + r P^-1 T */
static void divide_column(const lg_alpha *p, const lg_block *b, int j, const double *T, double r, double *X)
{
    double P[LG_ALPHA_BLOCK * LG_ALPHA_BLOCK] = {0}, F[LG_ALPHA_BLOCK];
    int n = b->nv, small = node_size(b);
    for (int i = 0; i < small * small; i++)
        P[i] = (1 - p->sigma) * T[i % small + n * (i / small)] + (i % (small + 1) == 0 ? p->sigma : 0);
    lg_copy(small, T + n * j, F);
    solve_small(small, P, F);
    for (int i = 0; i < small; i++)
        X[i + n * j] = r * F[i] + (i == j ? 1 - r : 0);
}

/* dv/dtheta over gamma' for v = gamma' F(theta) (theta - c_n), F = P^-1 T. If c_n is r theta with r = 1 - beta/gamma,
   theta^ (theta - c_n) is zero; F is a series in theta^, and the derivative of F then contributes (1 - r)(I - F),
   whatever the size of theta. The rest of c_n, which is O(h^2), is taken to first order:

       X = (1 - r) I + r F - sigma/2 (c_n - r theta)^ */
static void velocity_derivative(const lg_alpha *p, const lg_block *b, const lg_alpha_place *place, const double *T,
                                double *X)
{
    double r = 1 - p->beta / p->gamma, rest[LG_ALPHA_BLOCK] = {0}, A[LG_ALPHA_BLOCK * LG_ALPHA_BLOCK];
    int n = b->nv, small = b->node->nv;
    for (int i = 0; i < n * n; i++)
        X[i] = r * T[i] + (i % (n + 1) == 0 ? 1 - r : 0);
    for (int j = 0; p->sigma != 1 && j < small; j++)
        divide_column(p, b, j, T, r, X);

    for (int i = 0; i < small; i++)
        rest[i] = place->c[b->v + i] - r * place->theta[b->v + i];
    b->node->ad(b->n, rest, A);
    for (int j = 0; j < small; j++)
        lg_axpy(small, -0.5 * p->sigma, A + small * j, X + n * j);
}

static void form_chains(lg_genalpha_stepper *g, const double k[3])
{
    const lg_space *space = g->base.system->space;
    for (int i = 0; i < space->nblocks; i++) {
        const lg_block *b = &space->block[i];
        int plain = b->node->linear || !g->operator;
        double *T = plain ? NULL : g->T + b->m, *X = plain || g->alpha.sigma == 0 ? NULL : g->X + b->m;
        g->chain[i] = (lg_chain){{k[0], k[1], k[2]}, {T, X, X}};
    }
}

static void update_chains(lg_genalpha_stepper *g, const lg_alpha_place *place)
{
    const lg_space *space = g->base.system->space;
    if (!g->operator)
        return;
    lg_space_tangent(space, place->theta, g->T);
    for (int i = 0; i < space->nblocks; i++)
        if (g->chain[i].X[1]) {
            const lg_block *b = &space->block[i];
            velocity_derivative(&g->alpha, b, place, g->T + b->m, g->X + b->m);
        }
}

const lg_alpha_form lg_exact_form = {predict, follow, correct, form_chains, update_chains, .corrects_theta = 1};
