/* The theta form: q, v, a and vdot from the unknowns as in step.h. It solves holzinger2025 (11)-(16) exactly, whatever
   the matrix of Newton's method. */
#include "core/small.h"
#include "integrator/genalpha/step.h"

#include <math.h>

/* ---- small matrices ---- */

void lg_alpha_solve_small(int n, double *P, double *x)
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
static void exact_predict(lg_genalpha_stepper *g)
{
    (void)g;
}

/* E := P^-1 E on the factors with P not the identity. */
static void divide_by_P(const lg_genalpha_stepper *g, double *E)
{
    const lg_space *space = g->base.system->space;
    double sigma = g->alpha.sigma, P[LG_ALPHA_BLOCK * LG_ALPHA_BLOCK];
    for (const lg_factor *f = space->factor, *end = f + space->nfactors; f < end; f++) {
        if (f->node->linear)
            continue;
        f->node->tangent(f->n, g->now.theta + f->v, P);
        add_identity(f->nv, 1 - sigma, sigma, P);
        lg_alpha_solve_small(f->nv, P, E + f->v);
    }
}

/* theta = theta_0 + s w and y = theta - c_n */
static LG_INLINE void add_angles(int n, double s, const double *restrict theta0, const double *restrict w,
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
static LG_INLINE void set_velocities(int n, double s_lie, double s, const double *restrict v0, const double *restrict w,
                                     double *restrict E, double *restrict v)
{
    for (int i = 0; i < n; i++) {
        E[i] = s_lie * (E[i] - v[i]) + w[i];
        v[i] = v0[i] + s * E[i];
    }
}

/* y and E stand where v and vdot then follow. */
static void exact_follow(lg_genalpha_stepper *g)
{
    const lg_system *system = g->base.system;
    int nv = system->space->nv;
    double to_v = g->scales.to_v, to_lie = g->scales.to_lie;
    double *y = g->now.v, *E = g->now.a;
    LG_OFTEN_SIX(nv, add_angles, g->scales.to_theta, g->theta0, g->w, g->now.c, g->now.theta, y);
    lg_space_move(system->space, g->now.qn, g->now.theta, y, g->now.q, E);
    if (g->without_P) {
        LG_OFTEN_SIX(nv, set_velocities, to_lie, to_v, g->v0, g->w, E, g->now.v);
        return;
    }

    set_lie_terms(nv, to_lie, y, E);
    if (g->index == LG_INDEX_STABILIZED) {
        lg_zero(nv, g->Btmu);
        lg_pattern_add_BT(system->pattern, g->Bn, 1, g->mu, g->Btmu);
        lg_axpy(nv, 1, g->Btmu, E);
    }
    if (g->alpha.sigma != 1)
        divide_by_P(g, E);

    add_velocities(nv, to_v, g->v0, g->w, E, g->now.v);
}

static void exact_correct(lg_genalpha_stepper *g, const double *dw)
{
    int nv = g->base.system->space->nv;
    LG_OFTEN_SIX(nv, lg_axpy, -1, dw, g->w);
    if (g->index == LG_INDEX_STABILIZED) {
        lg_alpha_move_by_mu(g, 0, g->mu_correction, g->Btmu);
        lg_axpy(nv, -1, g->Btmu, g->w);
    }
}

/* ---- chains ---- */

/* F := P^-1 F for F = T, on one factor */
static void divide_columns(const lg_alpha *p, int n, const double *T, double *F)
{
    for (int j = 0; j < n; j++) {
        double P[LG_ALPHA_BLOCK * LG_ALPHA_BLOCK];
        lg_copy(n * n, T, P);
        add_identity(n, 1 - p->sigma, p->sigma, P);
        lg_alpha_solve_small(n, P, F + n * j);
    }
}

/* X of the formula below from F, on the n velocities of a node; ld: leading dimension of both. */
static LG_INLINE void turning_derivative(int n, int ld, const lg_alpha *p, const lg_node *node, const double *c,
                                         const double *theta, const double *F, double *X)
{
    double r = 1 - p->beta / p->gamma, rest[LG_ALPHA_BLOCK], A[LG_ALPHA_BLOCK * LG_ALPHA_BLOCK];
    for (int i = 0; i < n; i++)
        rest[i] = c[i] - r * theta[i];
    node->ad(0, rest, A);
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < n; i++)
            X[i + ld * j] = r * F[i + ld * j] - 0.5 * p->sigma * A[i + n * j];
        X[j + ld * j] += 1 - r;
    }
}

/* dv/dtheta over gamma' for v = gamma' F(theta) (theta - c_n), F = P^-1 T. If c_n is r theta with r = 1 - beta/gamma,
   theta^ (theta - c_n) is zero; F is a series in theta^, and the derivative of F then contributes (1 - r)(I - F),
   whatever the size of theta. The rest of c_n, which is O(h^2), is taken to first order:

       X = (1 - r) I + r F - sigma/2 (c_n - r theta)^ */
static void velocity_derivative(const lg_alpha *p, const lg_factor *f, const lg_alpha_state *formed, const double *T,
                                double *X)
{
    int n = f->nv, first = f->node->position == LG_POSITION_INERTIAL ? f->node->attitude_v : 0; // X = diag(I, ...)
    const double *F = T;
    if (p->sigma != 1) {
        lg_copy(n * n, T, X);
        divide_columns(p, n, T, X);
        F = X;
    } else if (first) {
        lg_zero(n * n, X);
        for (int j = 0; j < first; j++)
            X[j * (n + 1)] = 1;
    }

    F += first * (n + 1), X += first * (n + 1);
    if (first)
        turning_derivative(3, n, p, f->node->pivot, formed->c + f->v + first, formed->theta + f->v + first, F, X);
    else
        turning_derivative(n, n, p, f->node, formed->c + f->v, formed->theta + f->v, F, X);
}

static void exact_form_chains(lg_genalpha_stepper *g, const double k[3])
{
    const lg_space *space = g->base.system->space;
    for (int i = 0; i < space->nblocks; i++) {
        const lg_block *b = &space->block[i];
        int plain = b->linear || !g->operator;
        double *T = plain ? NULL : g->T + b->m, *X = plain || g->alpha.sigma == 0 ? NULL : g->X + b->m;
        g->chain[i] = (lg_chain){{k[0], k[1], k[2]}, {T, X, X}};
    }
}

/* T and X (NULL: not wanted) of one block */
static LG_INLINE void update_chain(const lg_alpha *p, const lg_block *b, const lg_alpha_state *formed, double *T,
                                   double *X)
{
    double T_room[LG_ALPHA_BLOCK * LG_ALPHA_BLOCK], X_room[LG_ALPHA_BLOCK * LG_ALPHA_BLOCK];
    for (const lg_factor *f = b->factor, *end = f + b->nfactors; f < end; f++) {
        double *T_own = f->node->linear ? NULL : lg_factor_matrix(f, b, T_room, T);
        double *X_own = T_own && X ? lg_factor_matrix(f, b, X_room, X) : NULL;
        if (T_own)
            f->node->tangent(f->n, formed->theta + f->v, T_own);
        if (X_own)
            velocity_derivative(p, f, formed, T_own, X_own);
        if (X)
            lg_factor_put(f, b, X_own, X);
        lg_factor_put(f, b, T_own, T);
    }
}

static void update_chains(lg_genalpha_stepper *g, const lg_alpha_state *formed)
{
    const lg_space *space = g->base.system->space;
    if (!g->operator)
        return;
    for (int i = 0; i < space->nblocks; i++) {
        const lg_block *b = &space->block[i];
        if (!b->linear)
            update_chain(&g->alpha, b, formed, g->T + b->m, g->chain[i].X[1] ? g->X + b->m : NULL);
    }
}

const lg_alpha_form lg_exact_form = {exact_predict,     exact_follow,  exact_correct,
                                     exact_form_chains, update_chains, .corrects_theta = 1};
