/* Generalized-alpha in local coordinates, index 3, after holzinger2025 (11)-(20) in its theta form.

   With gamma' = gamma/(h beta), beta' = (1 - alpha_m)/(h^2 beta (1 - alpha_f)), kappa = (1 - alpha_f)/(1 - alpha_m):

       (12), (14), (15) are linear, and so are the coordinates, velocities and accelerations in the unknown w:
           theta = theta_0 + w/beta'    v = v_0 + gamma'/beta' w    a = a_0 + kappa w    vdot = w,
           a_0 = (alpha_f vdot_n - alpha_m a_n)/(1 - alpha_m),
           theta_0 = h v_n + h^2 ((1/2 - beta) a_n + beta a_0),   v_0 = v_n + h ((1 - gamma) a_n + gamma a_0).
       (13), (16) add the Lie group term e on Lie kinds: v += gamma' e, a += e/(h^2 beta), vdot += beta' e,
           P e = sigma (T(theta) - I)(theta - c_n),           P = sigma I + (1 - sigma) T(theta),
           c_n = h v_n + h^2 (1/2 - beta) a_n - (h beta/gamma)(v_n + h (1 - gamma) a_n).

   sigma = 1 needs no inverse; sigma = 0 is the method geom1 of Bruels and Cardona, e = 0. Newton's unknowns are w and
   lam, which scales its matrix alike for every h; dq = T dtheta, dv = gamma' (I - sigma/2 c_n^ + ...) dtheta. */
#include "integrator/genalpha.h"

#include "core/small.h"
#include "integrator/options.h"
#include "solve/initial.h"
#include "solve/newton.h"

#include <float.h>
#include <math.h>

enum { MAX_BLOCK = 6 }; /* velocities of a Lie kind */

const lg_alpha_rule lg_chung_hulbert = {.m = {-1, 2}, .f = {0, 1}};

const lg_option lg_genalpha_options[] = {
    {"rho_inf",
     LG_OPTION_NUMBER,
     {0.9, -1},
     0,
     1,
     NULL,
     "Spectral radius at infinite frequency: 1 no damping, 0 most."},
    {"sigma",
     LG_OPTION_NUMBER,
     {1.0, -1},
     -5,
     5,
     "optimal",
     "Weight of the Lie group term: 0 is geom1, \"optimal\" is gamma/(3 beta)."},
    {"index",
     LG_OPTION_INTEGER,
     {3, -1},
     3,
     3,
     NULL,
     "Index of the equations that are solved: 3, constraints on positions."},
    LG_NEWTON_OPTIONS,
};

typedef struct lg_alpha {
    double alpha_m, alpha_f, beta, gamma, sigma;
} lg_alpha;

typedef struct lg_genalpha_stepper {
    lg_stepper base;
    lg_alpha alpha;
    lg_newton_settings newton;
    int likely; /* iterations of the last step */

    /* the step under way */
    const lg_state *start;
    double t, h, beta_prime, gamma_prime, row_noise;
    double *theta0, *v0, *a0, *c; /* predicted, and c_n */
    double *w, *lam; /* unknowns */
    double *theta, *q, *v, *a, *vdot; /* at the end of the step */
    double *residual, *Ma, *gyro, *force, *Btlam;
    double *T, *X; /* per block: T(theta); dv/dtheta over gamma' */
    lg_chain *chain;
} lg_genalpha_stepper;

/* ---- options ---- */

static double sigma_of(const lg_alpha *alpha, lg_option_value value)
{
    return value.choice == 0 ? alpha->gamma / (3 * alpha->beta) : value.number;
}

static lg_status prepare(lg_stepper *self)
{
    lg_genalpha_stepper *g = (lg_genalpha_stepper *)self;
    const lg_alpha_rule *rule = self->method->coefficients;
    const lg_option_value *options = self->options, *newton = options + LG_GENALPHA_NEWTON;
    double rho = options[LG_GENALPHA_RHO_INF].number;

    if (options[LG_GENALPHA_INDEX].number != 3) {
        lg_report_name(&self->report, "index: only 3 (constraints on positions) is available");
        return LG_BAD_ARGUMENT;
    }

    lg_alpha *alpha = &g->alpha;
    alpha->alpha_m = (rule->m[0] + rule->m[1] * rho) / (1 + rho);
    alpha->alpha_f = (rule->f[0] + rule->f[1] * rho) / (1 + rho);
    alpha->gamma = 0.5 - alpha->alpha_m + alpha->alpha_f;
    alpha->beta = 0.25 * (alpha->gamma + 0.5) * (alpha->gamma + 0.5);
    alpha->sigma = sigma_of(alpha, options[LG_GENALPHA_SIGMA]);

    g->newton = (lg_newton_settings){newton[LG_NEWTON_RTOL].number, newton[LG_NEWTON_ATOL].number,
                                     (int)newton[LG_NEWTON_MAX_ITER].number};
    return LG_OK;
}

/* ---- memory ---- */

static void layout(lg_stepper *self, lg_arena *arena)
{
    lg_genalpha_stepper *g = (lg_genalpha_stepper *)self;
    const lg_space *space = self->system->space;
    size_t nv = (size_t)space->nv, nrows = (size_t)self->system->pattern->nrows;

    double **velocities[] = {&g->theta0, &g->v0,   &g->a0, &g->c,    &g->w,     &g->theta, &g->v,
                             &g->a,      &g->vdot, &g->Ma, &g->gyro, &g->force, &g->Btlam};
    for (size_t i = 0; i < sizeof velocities / sizeof *velocities; i++)
        *velocities[i] = lg_arena_doubles(arena, nv);
    g->q = lg_arena_doubles(arena, (size_t)space->nq);
    g->lam = lg_arena_doubles(arena, nrows);
    g->residual = lg_arena_doubles(arena, nv + nrows);
    g->T = lg_arena_doubles(arena, (size_t)space->nm);
    g->X = lg_arena_doubles(arena, (size_t)space->nm);
    g->chain = lg_arena_take(arena, (size_t)space->nblocks * sizeof(lg_chain));
}

/* ---- what is carried: a_n, and the h it belongs to ---- */

static int carry_count(const lg_stepper *self)
{
    return self->system->space->nv + 1;
}

static lg_status reset(lg_stepper *self, lg_state *state, lg_reset reason)
{
    (void)reason;
    lg_copy(self->system->space->nv, state->a, state->carry);
    state->carry[self->system->space->nv] = 0;
    return LG_OK;
}

/* The algorithmic acceleration for a step of size h: a_n belongs to t_n + (alpha_m - alpha_f) h. */
static void carried_acceleration(const lg_state *state, int nv, double h, double *a)
{
    double last = state->carry[nv], ratio = last > 0 ? h / last : 1;
    if (ratio == 1)
        lg_copy(nv, state->carry, a);
    else
        for (int i = 0; i < nv; i++)
            a[i] = state->a[i] + ratio * (state->carry[i] - state->a[i]);
}

/* ---- the step's formulas ---- */

static void predict(lg_genalpha_stepper *g, const lg_state *state, double h)
{
    const lg_alpha *p = &g->alpha;
    int nv = g->base.system->space->nv;
    double *an = g->a;
    carried_acceleration(state, nv, h, an);

    for (int i = 0; i < nv; i++) {
        double vn = state->v[i], a0 = (p->alpha_f * state->a[i] - p->alpha_m * an[i]) / (1 - p->alpha_m);
        double halfway = h * vn + h * h * (0.5 - p->beta) * an[i];
        g->a0[i] = a0;
        g->v0[i] = vn + h * ((1 - p->gamma) * an[i] + p->gamma * a0);
        g->theta0[i] = halfway + h * h * p->beta * a0;
        g->c[i] = halfway - h * p->beta / p->gamma * (vn + h * (1 - p->gamma) * an[i]);
    }
    lg_zero(nv, g->w);
    lg_zero(g->base.system->pattern->nrows, g->lam);
}

/* X = I - sigma/2 C + k C^2, C = c_n^: dv/dtheta over gamma' up to the third order in theta. With A = theta^,
   P^-1 T = I - sigma/2 A + sigma (3 sigma - 1)/12 A^2 + ..., and theta is c_n/(1 - beta/gamma) up to O(h^2), so that
   2 A C - C A, which the derivative brings, is that multiple of C^2. */
static void form_derivative(const lg_alpha *p, int n, const double *C, double *X)
{
    double k = p->sigma * (3 * p->sigma - 1) / (12 * (1 - p->beta / p->gamma));
    for (int j = 0; j < n; j++) {
        double *column = X + n * j;
        for (int i = 0; i < n; i++)
            column[i] = (i == j) - 0.5 * p->sigma * C[i + n * j];
        for (int l = 0; l < n; l++)
            if (C[l + n * j] != 0)
                lg_axpy(n, k * C[l + n * j], C + n * l, column);
    }
}

/* The chains of the step; the matrices that do not stay the same through it are T(theta). */
static void form_chains(lg_genalpha_stepper *g)
{
    const lg_space *space = g->base.system->space;
    double k[3] = {1 / g->beta_prime, g->gamma_prime / g->beta_prime, 1};

    for (int i = 0; i < space->nblocks; i++) {
        const lg_block *b = &space->block[i];
        double C[MAX_BLOCK * MAX_BLOCK], *X = b->node->linear || g->alpha.sigma == 0 ? NULL : g->X + b->m;
        if (X) {
            b->node->ad(b->n, g->c + b->v, C);
            form_derivative(&g->alpha, b->nv, C, X);
        }
        g->chain[i] = (lg_chain){{k[0], k[1], k[2]}, {b->node->linear ? NULL : g->T + b->m, X, X}};
    }
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
    for (int k = n - 1; k >= 0; k--) {
        for (int j = k + 1; j < n; j++)
            x[k] -= P[k + n * j] * x[j];
        x[k] /= P[k + n * k];
    }
}

/* e = P^-1 sigma (T - I)(theta - c_n) on one Lie block. */
static void lie_term(const lg_genalpha_stepper *g, const lg_block *b, double e[MAX_BLOCK])
{
    const double *theta = g->theta + b->v;
    double sigma = g->alpha.sigma, y[MAX_BLOCK], P[MAX_BLOCK * MAX_BLOCK];

    for (int i = 0; i < b->nv; i++)
        y[i] = theta[i] - g->c[b->v + i];
    b->node->tangent_mul(b->n, theta, y, e);
    for (int i = 0; i < b->nv; i++)
        e[i] = sigma * (e[i] - y[i]);

    if (sigma == 1)
        return;
    b->node->tangent(b->n, theta, P);
    for (int i = 0; i < b->nv * b->nv; i++)
        P[i] = (1 - sigma) * P[i] + (i % (b->nv + 1) == 0 ? sigma : 0);
    solve_small(b->nv, P, e);
}

/* q, v, a, vdot from w. */
static void follow(lg_genalpha_stepper *g)
{
    const lg_space *space = g->base.system->space;
    const lg_alpha *p = &g->alpha;
    double to_theta = 1 / g->beta_prime, to_v = g->gamma_prime * to_theta, to_a = (1 - p->alpha_f) / (1 - p->alpha_m);

    for (int i = 0; i < space->nv; i++) {
        g->theta[i] = g->theta0[i] + to_theta * g->w[i];
        g->v[i] = g->v0[i] + to_v * g->w[i];
        g->a[i] = g->a0[i] + to_a * g->w[i];
        g->vdot[i] = g->w[i];
    }
    lg_space_retract(space, g->start->q, g->theta, g->q);

    for (const lg_block *b = space->block, *end = b + space->nblocks; b < end && p->sigma != 0; b++) {
        double e[MAX_BLOCK];
        if (b->node->linear)
            continue;
        lie_term(g, b, e);
        lg_axpy(b->nv, g->gamma_prime, e, g->v + b->v);
        lg_axpy(b->nv, to_a * g->beta_prime, e, g->a + b->v);
        lg_axpy(b->nv, g->beta_prime, e, g->vdot + b->v);
    }
}

/* ---- Newton's problem ---- */

static lg_point end_point(const lg_genalpha_stepper *g)
{
    return (lg_point){.t = g->t + g->h,
                      .t_in = g->t + 0.5 * g->h,
                      .load = 1,
                      .wa = 1,
                      .q = g->q,
                      .v = g->v,
                      .a = g->vdot,
                      .lam = g->lam,
                      .mem = g->start->mem,
                      .work = g->base.accel.work};
}

/* S for the chains at the present theta, beside whatever else is wanted in the same pass. */
static lg_status evaluate_system(lg_genalpha_stepper *g, lg_wanted *wanted, int with_matrix)
{
    const lg_system *system = g->base.system;
    lg_point point = end_point(g);

    if (with_matrix) {
        lg_matrix_zero(&g->base.accel.matrix);
        lg_space_tangent(system->space, g->theta, g->T);
        wanted->S = &g->base.accel.matrix;
        wanted->chain = g->chain;
        wanted->B = system->pattern->nrows ? g->base.accel.B : NULL;
    }
    g->base.accel.evaluations++;
    return system->eval(system->self, &point, wanted);
}

/* r = M vdot + gyro - force + B^T lam; its noise from the size of its terms. */
static double add_forces(const lg_genalpha_stepper *g, int nv, double *r)
{
    double squares = 0;
    for (int i = 0; i < nv; i++) {
        double Ma = g->Ma[i], gyro = g->gyro[i], force = g->force[i], Btlam = g->Btlam[i];
        r[i] = Ma + gyro - force + Btlam;
        squares += Ma * Ma + gyro * gyro + force * force + Btlam * Btlam;
    }
    return 16 * DBL_EPSILON * sqrt(squares / nv);
}

static lg_status evaluate(void *self, int with_matrix, double *residual, lg_norms *noise)
{
    lg_genalpha_stepper *g = self;
    int nv = g->base.system->space->nv, nrows = g->base.system->pattern->nrows;
    double *phi = residual + nv;
    lg_wanted wanted = {.Ma = g->Ma, .gyro = g->gyro, .force = g->force, .Btlam = g->Btlam, .phi = nrows ? phi : NULL};

    follow(g);
    LG_TRY(evaluate_system(g, &wanted, with_matrix));

    noise->force = add_forces(g, nv, residual);
    noise->rows = g->beta_prime * g->row_noise;
    for (int i = 0; i < nrows; i++)
        phi[i] *= g->beta_prime;
    return LG_OK;
}

static lg_status factor(void *self, int with_matrix)
{
    lg_genalpha_stepper *g = self;
    lg_accel *accel = &g->base.accel;
    if (!with_matrix)
        LG_TRY(evaluate_system(g, &(lg_wanted){0}, 1));

    if (g->base.system->pattern->nrows) {
        lg_matrix_add_columns(&accel->matrix, 0, 1.0, accel->B);
        lg_matrix_add_rows(&accel->matrix, 0, g->beta_prime, accel->B, 0, g->chain);
    }
    g->base.stats.jacobians++;
    return lg_factor_named(g->base.system, &accel->matrix, &g->base.report);
}

static int update(void *self, const double *correction)
{
    lg_genalpha_stepper *g = self;
    int nv = g->base.system->space->nv, nrows = g->base.system->pattern->nrows;
    lg_axpy(nv, -1.0, correction, g->w);
    lg_axpy(nrows, -1.0, correction + nv, g->lam);
    return lg_max_abs(nv, correction) / g->beta_prime <= 4 * DBL_EPSILON * lg_max_abs(nv, g->theta);
}

/* ---- the step ---- */

static void begin(lg_genalpha_stepper *g, const lg_state *state, double h)
{
    const lg_alpha *p = &g->alpha;
    g->start = state;
    g->t = state->t;
    g->h = h;
    g->beta_prime = (1 - p->alpha_m) / (h * h * p->beta * (1 - p->alpha_f));
    g->gamma_prime = p->gamma / (h * p->beta);
    g->row_noise = 64 * DBL_EPSILON * (1 + lg_max_abs(g->base.system->space->nq, state->q));
    lg_accel_reset(&g->base.accel);

    predict(g, state, h);
    form_chains(g);
}

static lg_status step(lg_stepper *self, lg_state *state, double h)
{
    lg_genalpha_stepper *g = (lg_genalpha_stepper *)self;
    int nv = self->system->space->nv;
    begin(g, state, h);

    lg_newton_problem problem = {g, nv, self->system->pattern->nrows, &self->accel.matrix, evaluate, factor, update};
    lg_newton_result result = {g->likely, 0};
    lg_status status = lg_newton(&problem, &g->newton, g->residual, &result);
    self->stats.newton_iterations += result.iterations;
    self->report.iteration = result.iterations;
    self->report.residual = result.residual;
    LG_TRY(status);

    LG_TRY(lg_stepper_accept(self, state, h, g->q, g->v, g->vdot, g->lam));
    lg_copy(nv, g->a, state->carry);
    state->carry[nv] = h;
    g->likely = result.iterations;
    return LG_OK;
}

const lg_stepper_type lg_genalpha = {
    .name = "genalpha",
    .size = sizeof(lg_genalpha_stepper),
    .copies = 1,
    .prepare = prepare,
    .layout = layout,
    .carry_count = carry_count,
    .reset = reset,
    .step = step,
};
