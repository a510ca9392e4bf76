/* The theta form: q, v, a and vdot from the unknowns as in step.h. It solves holzinger2025 (11)-(16) exactly, whatever
   the matrix of Newton's method. */
#include "core/small.h"
#include "integrator/genalpha/step.h"

#include <math.h>

/* ---- small matrices ---- */

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

/* A := a A + b I */
static void add_identity(int n, double a, double b, double *A)
{
    for (int i = 0; i < n * n; i++)
        A[i] *= a;
    for (int i = 0; i < n; i++)
        A[i * (n + 1)] += b;
}

/* ---- q, v and vdot ---- */

/* The first guess follows from that of the unknowns. */
static void predict(lg_genalpha_stepper *g)
{
    (void)g;
}

/* E := P^-1 E on the blocks with P not the identity. */
static void divide_by_P(const lg_genalpha_stepper *g, double *E)
{
    const lg_space *space = g->base.system->space;
    double sigma = g->alpha.sigma, P[LG_ALPHA_BLOCK * LG_ALPHA_BLOCK];
    for (const lg_block *b = space->block, *end = b + space->nblocks; b < end; b++) {
        int n = b->node->nv;
        if (b->node->linear)
            continue;
        b->node->tangent(b->n, g->now.theta + b->v, P);
        add_identity(n, 1 - sigma, sigma, P);
        solve_small(n, P, E + b->v);
    }
}

/* theta = theta_0 + s w and y = theta - c_n */
static void add_angles(int n, double s, const double *restrict theta0, const double *restrict w,
                       const double *restrict c, double *restrict theta, double *restrict y)
{
    for (int i = 0; i < n; i++) {
        theta[i] = theta0[i] + s * w[i];
        y[i] = theta[i] - c[i];
    }
}

/* E = s (T y - y), in place of T y */
static void set_lie_terms(int n, double s, const double *restrict y, double *restrict E)
{
    for (int i = 0; i < n; i++)
        E[i] = s * (E[i] - y[i]);
}

/* v = v_0 + s (w + E), and vdot = w + E in place of E */
static void add_velocities(int n, double s, const double *restrict v0, const double *restrict w, double *restrict E,
                           double *restrict v)
{
    for (int i = 0; i < n; i++) {
        E[i] += w[i];
        v[i] = v0[i] + s * E[i];
    }
}

/* Both at once, from T y in E and y in v. */
static void set_velocities(int n, double s_lie, double s, const double *restrict v0, const double *restrict w,
                           double *restrict E, double *restrict v)
{
    for (int i = 0; i < n; i++) {
        E[i] = s_lie * (E[i] - v[i]) + w[i];
        v[i] = v0[i] + s * E[i];
    }
}

/* y and E stand where v and vdot then follow. */
static void follow(lg_genalpha_stepper *g)
{
    const lg_system *system = g->base.system;
    int nv = system->space->nv, stabilized = g->index == LG_INDEX_STABILIZED;
    double to_theta = 1 / g->beta_prime, to_v = g->gamma_prime * to_theta, sigma = g->alpha.sigma;
    double *y = g->now.v, *E = g->now.a;
    add_angles(nv, to_theta, g->theta0, g->w, g->now.c, g->now.theta, y);
    lg_space_move(system->space, g->now.qn, g->now.theta, y, g->now.q, E);
    if (!stabilized && (sigma == 0 || sigma == 1)) { // P is the identity, or E is zero
        set_velocities(nv, g->beta_prime * sigma, to_v, g->v0, g->w, E, g->now.v);
        return;
    }

    set_lie_terms(nv, g->beta_prime * sigma, y, E);
    if (stabilized) {
        lg_zero(nv, g->Btmu);
        lg_pattern_add_BT(system->pattern, g->Bn, 1, g->mu, g->Btmu);
        lg_axpy(nv, 1, g->Btmu, E);
    }
    if (sigma != 1)
        divide_by_P(g, E);

    add_velocities(nv, to_v, g->v0, g->w, E, g->now.v);
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

/* F := P^-1 F for F = T, on one block's node */
static void divide_columns(const lg_alpha *p, int n, const double *T, double *F)
{
    for (int j = 0; j < n; j++) {
        double P[LG_ALPHA_BLOCK * LG_ALPHA_BLOCK];
        lg_copy(n * n, T, P);
        add_identity(n, 1 - p->sigma, p->sigma, P);
        solve_small(n, P, F + n * j);
    }
}

/* dv/dtheta over gamma' for v = gamma' F(theta) (theta - c_n), F = P^-1 T. If c_n is r theta with r = 1 - beta/gamma,
   theta^ (theta - c_n) is zero; F is a series in theta^, and the derivative of F then contributes (1 - r)(I - F),
   whatever the size of theta. The rest of c_n, which is O(h^2), is taken to first order:

       X = (1 - r) I + r F - sigma/2 (c_n - r theta)^ */
static void velocity_derivative(const lg_alpha *p, const lg_block *b, const lg_alpha_place *place, const double *T,
                                double *X)
{
    double r = 1 - p->beta / p->gamma, rest[LG_ALPHA_BLOCK] = {0}, A[LG_ALPHA_BLOCK * LG_ALPHA_BLOCK];
    int n = b->node->nv, first = b->node->place == LG_PLACE_INERTIAL ? b->node->attitude_v : 0; // X = diag(I, ...)
    const double *F = T;
    if (p->sigma != 1) {
        lg_copy(n * n, T, X);
        divide_columns(p, n, T, X);
        F = X;
    } else {
        lg_zero(n * n, X);
        for (int j = 0; j < first; j++)
            X[j * (n + 1)] = 1;
    }

    for (int i = first; i < n; i++)
        rest[i] = place->c[b->v + i] - r * place->theta[b->v + i];
    b->node->ad(b->n, rest, A);
    for (int j = first; j < n; j++) {
        double *column = X + n * j;
        for (int i = first; i < n; i++)
            column[i] = r * F[i + n * j] - 0.5 * p->sigma * A[i + n * j];
        column[j] += 1 - r;
    }
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
    for (int i = 0; i < space->nblocks; i++) {
        const lg_block *b = &space->block[i];
        double *T = g->T + b->m, *X = g->X + b->m;
        if (b->node->linear)
            continue;
        b->node->tangent(b->n, place->theta + b->v, T);
        if (g->chain[i].X[1]) {
            velocity_derivative(&g->alpha, b, place, T, X);
            lg_block_widen(b, 1, X);
        }
        lg_block_widen(b, 1, T);
    }
}

const lg_alpha_form lg_exact_form = {predict, follow, correct, form_chains, update_chains, .corrects_theta = 1};
