/* How q, v, a and vdot follow from the unknowns, after holzinger2025: the theta form, which solves (11)-(16) as they
   stand whatever the matrix, and the printed algorithms, which update q, v and vdot by increments. */
#include "core/small.h"
#include "integrator/genalpha_step.h"

#include <math.h>

/* ---- first guess ---- */

/* Line 6 of the printed algorithms: theta := (I - s h beta/gamma v^) theta, s = sigma, or with the lost 1/2, (85). */
static void turn_prediction(const lg_genalpha_stepper *g, const lg_block *b, double *theta)
{
    const lg_alpha *p = &g->alpha;
    double s = p->sigma * g->h * p->beta / p->gamma * (g->form == LG_FORM_PRINTED_HALF ? 0.5 : 1);
    double V[LG_ALPHA_BLOCK * LG_ALPHA_BLOCK], old[LG_ALPHA_BLOCK];
    b->node->ad(b->n, g->v0 + b->v, V);
    int n = b->node->nv;
    lg_copy(n, theta + b->v, old);
    for (int j = 0; j < n; j++)
        lg_axpy(n, -s * old[j], V + n * j, theta + b->v);
}

/* Lines 1 to 7 of Algs. 1 to 3. */
static void predict_printed(lg_genalpha_stepper *g)
{
    const lg_space *space = g->base.system->space;
    lg_copy(space->nv, g->theta0, g->now.theta);
    lg_copy(space->nv, g->v0, g->now.v);
    lg_zero(space->nv, g->now.a);
    for (const lg_block *b = space->block, *end = b + space->nblocks; b < end; b++)
        if (!b->node->linear)
            turn_prediction(g, b, g->now.theta);
    lg_space_retract(space, g->now.qn, g->now.theta, g->now.q);
}

void lg_genalpha_predict(lg_genalpha_stepper *g)
{
    const lg_alpha *p = &g->alpha;
    double h = g->h;
    for (int i = 0; i < g->base.system->space->nv; i++) {
        double vn = g->vn[i], an = g->an[i], a0 = (p->alpha_f * g->start->a[i] - p->alpha_m * an) / (1 - p->alpha_m);
        double halfway = h * vn + h * h * (0.5 - p->beta) * an;
        g->a0[i] = a0;
        g->v0[i] = vn + h * ((1 - p->gamma) * an + p->gamma * a0);
        g->theta0[i] = halfway + h * h * p->beta * a0;
        g->now.c[i] = halfway - h * p->beta / p->gamma * (vn + h * (1 - p->gamma) * an);
    }
    if (g->form != LG_FORM_EXACT)
        predict_printed(g);
}

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
    for (int k = n - 1; k >= 0; k--) {
        for (int j = k + 1; j < n; j++)
            x[k] -= P[k + n * j] * x[j];
        x[k] /= P[k + n * k];
    }
}

/* X = I + first A + second A^2 for A = x^ on one block's node. */
static void polynomial(const lg_block *b, const double *x, double first, double second, double *X)
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

/* P^-1(theta) as printed, (65): s/2 theta^ - s (2 - 3 s)/12 theta^^2 beside I, s = 1 - sigma. */
static void printed_inverse(const lg_alpha *p, const lg_block *b, const double *theta, double *X)
{
    double s = 1 - p->sigma;
    polynomial(b, theta, s / 2, -s * (2 - 3 * s) / 12, X);
}

/* dv/dtheta over gamma' up to the third order in theta. With A = theta^ and C = c_n^,
   P^-1 T = I - sigma/2 A + sigma (3 sigma - 1)/12 A^2 + ..., and theta is c_n/(1 - beta/gamma) up to O(h^2), so that
   2 A C - C A, which the derivative brings, is that multiple of C^2: X = I - sigma/2 C + k C^2. */
static void exact_derivative(const lg_alpha *p, const lg_block *b, const double *c, double *X)
{
    polynomial(b, c, -0.5 * p->sigma, p->sigma * (3 * p->sigma - 1) / (12 * (1 - p->beta / p->gamma)), X);
}

/* ---- the theta form ---- */

/* E on one block that has one. */
static void lie_term(const lg_genalpha_stepper *g, const lg_block *b, double E[LG_ALPHA_BLOCK])
{
    const double *theta = g->now.theta + b->v, *c = g->now.c + b->v;
    double sigma = g->alpha.sigma, y[LG_ALPHA_BLOCK], P[LG_ALPHA_BLOCK * LG_ALPHA_BLOCK];

    int n = b->node->nv;
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

/* Velocities first to first + n */
static void add_velocity(lg_genalpha_stepper *g, int first, int n, const double *E)
{
    lg_axpy(n, g->gamma_prime / g->beta_prime, E, g->now.v + first);
    lg_axpy(n, 1, E, g->now.a + first);
}

void lg_genalpha_follow(lg_genalpha_stepper *g)
{
    const lg_system *system = g->base.system;
    const lg_space *space = system->space;
    int stabilized = g->index == LG_INDEX_STABILIZED;
    double to_theta = 1 / g->beta_prime, to_v = g->gamma_prime * to_theta;
    if (g->form != LG_FORM_EXACT)
        return; /* the increments have been there */

    for (int i = 0; i < space->nv; i++) {
        g->now.theta[i] = g->theta0[i] + to_theta * g->w[i];
        g->now.v[i] = g->v0[i] + to_v * g->w[i];
        g->now.a[i] = g->w[i];
    }
    lg_space_retract(space, g->now.qn, g->now.theta, g->now.q);

    if (stabilized) {
        lg_zero(space->nv, g->Btmu);
        lg_pattern_add_BT(system->pattern, g->Bn, 1, g->mu, g->Btmu);
    }
    for (const lg_block *b = space->block, *end = b + space->nblocks; b < end; b++) {
        double E[LG_ALPHA_BLOCK];
        int lie = b->node->linear ? 0 : b->node->nv;
        if (lie > 0 && (stabilized || g->alpha.sigma != 0)) {
            lie_term(g, b, E);
            add_velocity(g, b->v, lie, E);
        }
        if (stabilized)
            add_velocity(g, b->v + lie, b->nv - lie, g->Btmu + b->v + lie);
    }
}

/* ---- corrections ---- */

/* The printed updates, with the unknown Delta = T Delta theta: lines 15 to 17 of Algs. 1 and 3, 15 to 18 of Alg. 2,
   (D.3)-(D.6). What `shift` adds to dw moves the coordinates only. */
static void correct_printed(lg_genalpha_stepper *g, const double *dw)
{
    const lg_space *space = g->base.system->space;
    double *Delta = g->theta0, *rate = g->v0; /* not needed any more */
    for (int i = 0; i < space->nv; i++)
        Delta[i] = -(dw[i] + g->shift[i]) / g->beta_prime;

    lg_space_rate(space, g->now.qn, g->now.theta, Delta, rate);
    lg_axpy(space->nv, 1, rate, g->now.theta);
    if (g->alpha.sigma == 1)
        lg_space_retract(space, g->now.q, Delta, g->now.q);
    else
        lg_space_retract(space, g->now.qn, g->now.theta, g->now.q);

    for (const lg_block *b = space->block, *end = b + space->nblocks; b < end; b++) {
        double u[LG_ALPHA_BLOCK] = {0}, X[LG_ALPHA_BLOCK * LG_ALPHA_BLOCK];
        int lie = b->node->linear || g->alpha.sigma == 1 ? 0 : b->node->nv;
        lg_axpy(b->nv - lie, -g->gamma_prime / g->beta_prime, dw + b->v + lie, g->now.v + b->v + lie);
        lg_axpy(b->nv - lie, -1, dw + b->v + lie, g->now.a + b->v + lie);
        if (!lie)
            continue;
        printed_inverse(&g->alpha, b, g->now.theta, X);
        for (int j = 0; j < lie; j++)
            lg_axpy(lie, -dw[b->v + j], X + lie * j, u);
        add_velocity(g, b->v, lie, u);
    }
}

void lg_genalpha_correct(lg_genalpha_stepper *g, const double *dw)
{
    const lg_space *space = g->base.system->space;
    if (g->form != LG_FORM_EXACT) {
        correct_printed(g, dw);
        return;
    }
    lg_axpy(space->nv, -1, dw, g->w);
    if (g->index == LG_INDEX_STABILIZED) {
        lg_genalpha_lift(g, 0, g->shift, g->Btmu);
        lg_axpy(space->nv, -1, g->Btmu, g->w);
    }
}

/* ---- how mu moves the coordinates at fixed velocities ---- */

/* dw = -L B(q_n)^T dmu with L = X^-1 P^-1 leaves v and vdot as they are, and moves q by T L. Up to the second order in
   A = theta^, and with c_n = r theta, r = 1 - beta/gamma, which holds up to O(h^2), all these commute: T L, or L, is
   I + first A + second A^2. */
static void lift_series(const lg_alpha *p, int with_T, double *first, double *second)
{
    double s = 1 - p->sigma, r = 1 - p->beta / p->gamma, x = p->sigma * r / 2;
    double X1 = x, X2 = x * x - p->sigma * (3 * p->sigma - 1) * r / 12; /* of X^-1 */
    double P1 = s / 2, P2 = -s * (2 - 3 * s) / 12; /* of P^-1 */
    double L1 = X1 + P1, L2 = X2 + X1 * P1 + P2;
    *first = with_T ? L1 - 0.5 : L1;
    *second = with_T ? L2 - 0.5 * L1 + 1.0 / 6 : L2;
}

void lg_genalpha_lift_chains(lg_genalpha_stepper *g, const lg_alpha_place *place)
{
    const lg_space *space = g->base.system->space;
    double first, second;
    lift_series(&g->alpha, 1, &first, &second);
    for (int i = 0; i < space->nblocks; i++) {
        const lg_block *b = &space->block[i];
        int scaled = !b->node->linear && g->operator && g->form == LG_FORM_EXACT;
        double *X = scaled ? g->T + b->m : NULL;
        g->chain[i] = (lg_chain){{1, 1, 1}, {X, X, X}};
        if (scaled) {
            polynomial(b, place->theta, first, second, X);
            lg_block_widen(b, 1, X);
        }
    }
    g->chained = 0;
}

void lg_genalpha_lift(const lg_genalpha_stepper *g, int with_T, const double *y, double *out)
{
    const lg_space *space = g->base.system->space;
    double first, second;
    lift_series(&g->alpha, with_T, &first, &second);
    lg_copy(space->nv, y, out);
    for (const lg_block *b = space->block, *end = b + space->nblocks; b < end; b++) {
        double X[LG_ALPHA_BLOCK * LG_ALPHA_BLOCK];
        if (b->node->linear || !g->operator || g->form != LG_FORM_EXACT)
            continue;
        polynomial(b, g->now.theta, first, second, X);
        int n = b->node->nv;
        lg_zero(n, out + b->v);
        for (int j = 0; j < n; j++)
            lg_axpy(n, y[b->v + j], X + n * j, out + b->v);
    }
}

/* ---- chains ---- */

/* Scales and places, and all of X that stays the same through a step. */
static void form_chains(lg_genalpha_stepper *g, const lg_alpha_place *place)
{
    const lg_space *space = g->base.system->space;
    const lg_alpha *p = &g->alpha;
    double beta_prime = lg_beta_prime(p, place->h), unit = g->scaled ? 1 : beta_prime;
    double k[3] = {unit / beta_prime, unit * lg_gamma_prime(p, place->h) / beta_prime, unit};
    int printed = g->form != LG_FORM_EXACT;

    for (int i = 0; i < space->nblocks; i++) {
        const lg_block *b = &space->block[i];
        int plain = b->node->linear || !g->operator;
        double *T = plain || printed ? NULL : g->T + b->m;
        int scaled = !plain && p->sigma != (printed ? 1 : 0);
        double *X = scaled ? g->X + b->m : NULL;
        g->chain[i] = (lg_chain){{k[0], k[1], k[2]}, {T, X, X}};
        if (scaled && !printed) {
            exact_derivative(p, b, place->c, X);
            lg_block_widen(b, 1, X);
        }
    }
}

void lg_genalpha_chains(lg_genalpha_stepper *g, const lg_alpha_place *place)
{
    const lg_space *space = g->base.system->space;
    if (!g->chained)
        form_chains(g, place);
    g->chained = 1;

    if (g->form == LG_FORM_EXACT && g->operator)
        lg_space_tangent(space, place->theta, g->T);
    for (int i = 0; g->form != LG_FORM_EXACT && i < space->nblocks; i++)
        if (g->chain[i].X[1]) {
            const lg_block *b = &space->block[i];
            printed_inverse(&g->alpha, b, place->theta, g->X + b->m);
            lg_block_widen(b, 1, g->X + b->m);
        }
}
