/* What a step of generalized-alpha takes over from those before: algorithmic accelerations, values to extrapolate from,
   the matrix of modified Newton; and its optimal start.

   Carry: a_n | h and how many steps back there are (0, 1, 2) | to extrapolate: w_n, w_n-1, lam_n-1, mu_n, mu_n-1 | of
   modified Newton: the place of the matrix. */
#include "core/small.h"
#include "integrator/genalpha_step.h"
#include "solve/initial.h"

/* ---- layout ---- */

typedef struct carry {
    double *a, *h, *steps;
    double *w, *w_old, *lam_old, *mu, *mu_old;
    double *place;
} carry;

/* The next `count` doubles from `base` on, NULL while measuring. */
static double *take(double *base, int *used, int count)
{
    double *at = base ? base + *used : NULL;
    *used += count;
    return at;
}

/* Runs through the carry, NULL to measure; returns its length. */
static int layout(const lg_genalpha_stepper *g, double *base, carry *c)
{
    const lg_system *system = g->base.system;
    int nv = system->space->nv, nrows = system->pattern->nrows, back = g->extrapolates, used = 0;
    c->a = take(base, &used, nv);
    c->h = take(base, &used, 1);
    c->steps = take(base, &used, 1);
    c->w = take(base, &used, back * nv);
    c->w_old = take(base, &used, back * nv);
    c->lam_old = take(base, &used, back * nrows);
    c->mu = take(base, &used, back * nrows);
    c->mu_old = take(base, &used, back * nrows);
    c->place = take(base, &used, g->newton.modified ? lg_genalpha_place_count(system) : 0);
    return used;
}

int lg_genalpha_carry_count(const lg_stepper *self)
{
    carry c;
    return layout((const lg_genalpha_stepper *)self, NULL, &c);
}

/* Runs through a kept place, NULL to measure; returns its length. */
static int place_layout(const lg_system *system, double *kept, lg_alpha_place *place)
{
    int nq = system->space->nq, nv = system->space->nv, used = 4;
    place->q = take(kept, &used, nq);
    place->v = take(kept, &used, nv);
    place->a = take(kept, &used, nv);
    place->lam = take(kept, &used, system->pattern->nrows);
    place->mem = take(kept, &used, system->nmem);
    place->theta = take(kept, &used, nv);
    place->c = take(kept, &used, nv);
    place->qn = take(kept, &used, nq);
    return used;
}

int lg_genalpha_place_count(const lg_system *system)
{
    lg_alpha_place place;
    return place_layout(system, NULL, &place);
}

lg_alpha_place lg_genalpha_place_in(const lg_system *system, double *kept)
{
    lg_alpha_place place = {.t = kept[1], .t_in = kept[2], .h = kept[3]};
    place_layout(system, kept, &place);
    return place;
}

/* ---- the first step ---- */

lg_status lg_genalpha_reset(lg_stepper *self, lg_state *state, lg_reset reason)
{
    (void)reason;
    lg_genalpha_stepper *g = (lg_genalpha_stepper *)self;
    carry c;
    lg_zero(layout(g, state->carry, &c), state->carry);
    lg_copy(self->system->space->nv, state->a, c.a);
    g->live = 0;
    return LG_OK;
}

/* Consistent accelerations a time s into the step, along q exp(s v + s^2/2 a), v + s a. */
static lg_status acceleration_after(lg_genalpha_stepper *g, double s, double *a)
{
    const lg_space *space = g->base.system->space;
    const lg_state *state = g->start;
    lg_point point = lg_point_after(state->t + s, g->now.q, g->now.v, state->mem);
    point.t_in = g->now.t_in;
    for (int i = 0; i < space->nv; i++) {
        g->now.theta[i] = s * (state->v[i] + 0.5 * s * state->a[i]);
        g->now.v[i] = state->v[i] + s * state->a[i];
    }
    lg_space_retract(space, state->q, g->now.theta, g->now.q);
    return lg_accel_solve(&g->base.accel, &point, a, g->lam, &g->base.report);
}

/* jerk = (-3 a_0 + 4 a(s) - a(2 s))/(2 s): an error of O(h) is all that is asked for. */
static lg_status initial_jerk(lg_genalpha_stepper *g, double *jerk)
{
    double s = g->h / 8, *a1 = g->Ma, *a2 = g->gyro;
    LG_TRY(acceleration_after(g, s, a1));
    LG_TRY(acceleration_after(g, 2 * s, a2));
    for (int i = 0; i < g->base.system->space->nv; i++)
        jerk[i] = (-3 * g->start->a[i] + 4 * a1[i] - a2[i]) / (2 * s);
    return LG_OK;
}

/* l = C_q vddot + 1/4 (1/3 - sigma beta/gamma) v^ vdot, the local error of q over h^3 (holzinger2025 (40)). */
static void local_error(const lg_genalpha_stepper *g, const double *jerk, double *l)
{
    const lg_space *space = g->base.system->space;
    const lg_alpha *p = &g->alpha;
    double Cq = (1 - 6 * p->beta - 3 * (p->alpha_m - p->alpha_f)) / 6;
    double lie = 0.25 * (1.0 / 3 - p->sigma * p->beta / p->gamma);
    for (const lg_block *b = space->block, *end = b + space->nblocks; b < end; b++) {
        for (int i = b->v; i < b->v + b->nv; i++)
            l[i] = Cq * jerk[i];
        if (b->node->linear)
            continue;
        double V[LG_ALPHA_BLOCK * LG_ALPHA_BLOCK];
        b->node->ad(b->n, g->start->v + b->v, V);
        for (int j = 0, n = b->node->nv; j < n; j++)
            lg_axpy(n, lie * g->start->a[b->v + j], V + n * j, l + b->v);
    }
}

/* x = M^-1 B^T (B M^-1 B^T)^-1 B l at the start; x has room for the rows as well. */
static lg_status project_on_rows(lg_genalpha_stepper *g, const double *l, double *x)
{
    const lg_system *system = g->base.system;
    int nv = system->space->nv, nrows = system->pattern->nrows;
    lg_point point = lg_point_after(g->start->t, g->start->q, g->start->v, g->start->mem);
    LG_TRY(lg_accel_factor(&g->base.accel, &point, &(lg_wanted){0}, &g->base.report));
    lg_zero(nv + nrows, x);
    lg_pattern_add_B(system->pattern, g->base.accel.B, 1, l, x + nv);
    return lg_matrix_solve(&g->base.accel.matrix, x);
}

/* a_0 shifted to t_0 + (alpha_m - alpha_f) h; in index 3 v_0 perturbed by h^2 P l as well, so that the multipliers are
   of second order from the first step (holzinger2025, section 5, and Arnold, Bruels and Cardona (2015)). */
static lg_status optimal_start(lg_genalpha_stepper *g)
{
    const lg_system *system = g->base.system;
    const lg_alpha *p = &g->alpha;
    int nv = system->space->nv, constrained = system->pattern->nrows > 0;
    double *jerk = g->force, *l = g->Btlam, h = g->h;

    LG_TRY(initial_jerk(g, jerk));
    lg_axpy(nv, (p->alpha_m - p->alpha_f) * h, jerk, g->an);
    if (g->index == LG_INDEX_3 && constrained) {
        local_error(g, jerk, l);
        LG_TRY(project_on_rows(g, l, g->residual));
        lg_axpy(nv, h * h, g->residual, g->vn);
    }
    lg_accel_reset(&g->base.accel);
    return LG_OK;
}

/* ---- from step to step ---- */

/* x + ratio (x - x_old) */
static void extrapolate(int n, const double *x, const double *x_old, double ratio, double *out)
{
    for (int i = 0; i < n; i++)
        out[i] = x[i] + ratio * (x[i] - x_old[i]);
}

static void guess(lg_genalpha_stepper *g, const carry *c)
{
    const lg_state *state = g->start;
    int nv = g->base.system->space->nv, nrows = g->base.system->pattern->nrows;
    if (!g->extrapolates) {
        lg_zero(nv, g->w);
        lg_zero(nrows, g->lam);
        lg_zero(nrows, g->mu);
        return;
    }
    double ratio = *c->steps >= 2 ? g->h / *c->h : 0;
    extrapolate(nv, *c->steps >= 1 ? c->w : state->a, c->w_old, ratio, g->w);
    extrapolate(nrows, state->lam, c->lam_old, ratio, g->lam);
    extrapolate(nrows, c->mu, c->mu_old, ratio, g->mu);
}

lg_status lg_genalpha_take_over(lg_genalpha_stepper *g)
{
    const lg_state *state = g->start;
    int nv = g->base.system->space->nv;
    carry c;
    layout(g, state->carry, &c);

    // a_n belongs to t_n + (alpha_m - alpha_f) h of the step before.
    double ratio = *c.h > 0 ? g->h / *c.h : 1;
    lg_copy(nv, state->v, g->vn);
    lg_copy(nv, c.a, g->an);
    for (int i = 0; ratio != 1 && i < nv; i++)
        g->an[i] = state->a[i] + ratio * (c.a[i] - state->a[i]);

    if (g->optimal_start && *c.h == 0)
        LG_TRY(optimal_start(g));
    if (g->newton.modified && !g->live) {
        lg_copy(lg_genalpha_place_count(g->base.system), c.place, g->kept);
        if (g->kept[0] != 0)
            LG_TRY(lg_genalpha_rebuild(g));
        g->live = g->kept[0] != 0;
    }
    guess(g, &c);
    return LG_OK;
}

void lg_genalpha_hand_over(const lg_genalpha_stepper *g, lg_state *state, const double *lam_n)
{
    int nv = g->base.system->space->nv, nrows = g->base.system->pattern->nrows;
    carry c;
    layout(g, state->carry, &c);
    lg_copy(nv, g->a, c.a);
    *c.h = g->h;
    if (g->extrapolates) {
        lg_copy(nv, c.w, c.w_old);
        lg_copy(nv, g->w, c.w);
        lg_copy(nrows, lam_n, c.lam_old);
        lg_copy(nrows, c.mu, c.mu_old);
        lg_copy(nrows, g->mu, c.mu);
        *c.steps = *c.steps >= 1 ? 2 : 1;
    }
    if (g->newton.modified)
        lg_copy(lg_genalpha_place_count(g->base.system), g->kept, c.place);
}
