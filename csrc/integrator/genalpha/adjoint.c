/* The adjoint of a step: the transposed maps of sensitivities.c, from its end to its start.

   With q^, v^, ... for the derivatives of a number by the state at the end, and Q = q^ - B^T m,

       [ S  B^T; rows ]^T [ w; r ] = [ C^T Q/beta' + gamma'/beta' v^ + a^ + kappa alg^; lam^ ],

   and what is known of q has u = Q - K^T w - (rows by q)^T r. In stabilised index 2, m makes the derivative by mu zero:
   B(q_n) P^-T C^T u = 0. A parameter has the share -w.dR/dp - r.d(rows)/dp - m.dphi/dp. */
#include "core/small.h"
#include "integrator/genalpha/slopes.h"

#include <float.h>
#include <math.h>

/* ---- what is kept of a step ---- */

/* Its size and whether it began anew, theta, c_n, w, mu, and vdot_n and lam_n of a step that did. */
static int count(const lg_stepper *self)
{
    return 2 + 4 * self->system->space->nv + 2 * self->system->pattern->nrows;
}

static void keep(const lg_stepper *self, double *kept)
{
    const lg_genalpha_stepper *g = (const lg_genalpha_stepper *)self;
    int nv = self->system->space->nv, nrows = self->system->pattern->nrows, nmu = lg_alpha_mu_count(g);
    double *next = kept + 2;
    kept[0] = g->h, kept[1] = g->anew;
    lg_copy(nv, g->now.theta, next);
    lg_copy(nv, g->now.c, next += nv);
    lg_copy(nv, g->w, next += nv);
    lg_copy(nmu, g->mu, next += nv);
    lg_copy(nv + nrows, g->fresh, next + nrows);
}

static void take(lg_genalpha_stepper *g, const lg_state *after, const double *kept)
{
    int nv = g->base.system->space->nv, nrows = g->base.system->pattern->nrows, nmu = lg_alpha_mu_count(g);
    const double *next = kept + 2;
    lg_alpha_set_size(g, kept[0]);
    g->anew = kept[1] != 0;
    lg_copy(nv, next, g->now.theta);
    lg_copy(nv, next += nv, g->now.c);
    lg_copy(nv, next += nv, g->w);
    lg_copy(nmu, next += nv, g->mu);
    lg_copy(nv + nrows, next + nrows, g->fresh);
    lg_copy(nv, after->a, g->now.a);
}

/* B(q_n) without nonholonomic rows. */
static lg_status form_rows(lg_genalpha_stepper *g, const lg_state *before)
{
    const lg_system *system = g->base.system;
    lg_point point = lg_alpha_start_point(g, before);
    g->base.accel.evaluations++;
    LG_TRY(system->eval(system->self, &point, &(lg_wanted){.B = g->Bn}));
    lg_pattern_mask_nonholonomic(system->pattern, 1, g->Bn);
    return LG_OK;
}

/* ---- the equations of the end of a step ---- */

/* w and r into d->x, for Q. */
static lg_status solve(const lg_genalpha_stepper *g, const double *Q, const lg_sensitivities *s)
{
    const lg_alpha_slopes *d = g->slopes;
    int nv = g->base.system->space->nv;
    lg_alpha_move_back(g, Q, d->x);
    for (int i = 0; i < nv; i++)
        d->x[i] += g->scales.to_v * s->v[i] + s->a[i] + g->alpha.kappa * s->own[i];
    lg_copy(g->base.system->pattern->nrows, s->lam, d->x + nv);
    return lg_matrix_solve_transposed(&d->matrix, d->x);
}

/* Subtracts from q and v the derivatives of the equations by q and v, with the weights w and r. */
static void add_equations(lg_genalpha_stepper *g, double *q, double *v)
{
    const lg_pattern *pattern = g->base.system->pattern;
    const lg_alpha_slopes *d = g->slopes;
    lg_linearised *l = &g->base.linear;
    const double *r = d->x + g->base.system->space->nv;
    double of_phi = -g->beta_prime, of_phidot = -g->beta_prime / g->gamma_prime;
    lg_linearised_forces_adjoint(l, -1, d->x, q, v);
    if (!pattern->nrows)
        return;
    if (g->index != LG_INDEX_3) {
        lg_pattern_add_BT(pattern, l->B, of_phidot, r, v);
        lg_pattern_add_BT(pattern, l->Z, of_phidot, r, q);
        return;
    }
    lg_pattern_add_BT(pattern, d->B, of_phi, r, q);
    if (!pattern->nnonholonomic)
        return;
    lg_pattern_add_BT(pattern, d->B_part, of_phidot, r, v);
    lg_pattern_add_BT(pattern, d->Z_part, of_phidot, r, q);
}

/* u into d->dq and the derivative by what is known of v into d->v0, for m (NULL: none). */
static lg_status solve_for(lg_genalpha_stepper *g, const double *m, const lg_sensitivities *s)
{
    const lg_alpha_slopes *d = g->slopes;
    int nv = g->base.system->space->nv;
    lg_copy(nv, s->q, d->dq);
    lg_copy(nv, s->v, d->v0);
    if (m)
        lg_pattern_add_BT(g->base.system->pattern, d->B, -1, m, d->dq);
    LG_TRY(solve(g, d->dq, s));
    add_equations(g, d->dq, d->v0);
    return LG_OK;
}

/* Adds to m what B(q_n) P^-T C^T u asks for; *change is the largest part of it. */
static lg_status correct_m(const lg_genalpha_stepper *g, double *m, double *change)
{
    const lg_pattern *pattern = g->base.system->pattern;
    const lg_alpha_slopes *d = g->slopes;
    int nv = g->base.system->space->nv, nrows = pattern->nrows;
    double *rows = d->mu + nv;
    lg_alpha_move_back(g, d->dq, d->a0);
    lg_alpha_move_back_known(g, d->dq, d->a0, d->ds_known, d->ds);
    lg_zero(nv + nrows, d->mu);
    lg_pattern_add_B(pattern, g->Bn, -g->beta_prime, d->ds, rows);
    lg_pattern_zero_nonholonomic(pattern, rows);
    LG_TRY(lg_matrix_solve_transposed(&d->mu_matrix, d->mu));
    *change = lg_max_abs(nrows, rows);
    lg_axpy(nrows, 1, rows, m);
    return LG_OK;
}

/* The sweeps end where m no longer changes but for round-off. */
static lg_status solve_with_m(lg_genalpha_stepper *g, double *m, const lg_sensitivities *s)
{
    const lg_alpha_slopes *d = g->slopes;
    int nv = g->base.system->space->nv, nrows = g->base.system->pattern->nrows;
    double change = 1, last = INFINITY;
    lg_zero(nrows, m);
    for (int i = 0; i < LG_ALPHA_SWEEPS; i++) {
        LG_TRY(solve_for(g, m, s));
        LG_TRY(correct_m(g, m, &change));
        double size = lg_max_abs(nrows, m) + g->beta_prime * lg_max_abs(nrows, d->x + nv);
        if (change <= DBL_EPSILON * size || (change >= 0.5 * last && change <= lg_alpha_stagnant * size))
            return LG_OK;
        last = change;
    }
    lg_report_name(&g->base.report, "the iteration for the adjoint of mu does not converge");
    return LG_NO_CONVERGENCE;
}

/* ---- the step ---- */

/* The weights of rows, from r and m (NULL: none), into d->weight_phi and d->weight_phidot. */
static void weigh_rows(const lg_genalpha_stepper *g, const double *m)
{
    const lg_pattern *pattern = g->base.system->pattern;
    const lg_alpha_slopes *d = g->slopes;
    const double *r = d->x + g->base.system->space->nv;
    double of_phi = g->beta_prime, of_phidot = g->beta_prime / g->gamma_prime;
    int index3 = g->index == LG_INDEX_3;
    for (int i = 0; i < pattern->nrows; i++) {
        d->weight_phi[i] = index3 ? of_phi * r[i] : m ? m[i] : 0;
        d->weight_phidot[i] = index3 ? 0 : of_phidot * r[i];
    }
    for (int i = 0; index3 && i < pattern->nnonholonomic; i++) {
        int row = lg_pattern_nonholonomic(pattern, i);
        d->weight_phidot[row] = of_phidot * r[row];
    }
}

/* The shares of all parameters; m NULL: none. */
static lg_status add_parameters(lg_genalpha_stepper *g, const lg_point *start, const lg_point *end, const double *m,
                                double *gradient)
{
    const lg_alpha_slopes *d = g->slopes;
    lg_linearised *l = &g->base.linear;
    int nv = g->base.system->space->nv, has_phidot = g->index != LG_INDEX_3 || g->base.system->pattern->nnonholonomic;
    const lg_term_weights weights = {
        .forces = d->x, .phi = d->weight_phi, .phidot = has_phidot ? d->weight_phidot : NULL};
    weigh_rows(g, m);
    LG_TRY(lg_linearised_weigh(l, end, g->base.nparameters, &weights, -1, gradient));
    if (!m)
        return LG_OK;
    lg_point reactions = *start; // without M a
    lg_zero(nv, l->v);
    reactions.a = l->v;
    return lg_linearised_weigh(l, &reactions, g->base.nparameters, &(lg_term_weights){.reactions = d->ds}, -1,
                               gradient);
}

/* From the derivatives by theta_0, v_0, a_0 (which is alg^) and c_n to those by v_n, vdot_n and alg_n: see predict. */
static void go_before_prediction(const lg_genalpha_stepper *g, double ratio, const lg_sensitivities *s)
{
    const lg_alpha_slopes *d = g->slopes;
    const lg_alpha_scales *c = &g->scales;
    int nv = g->base.system->space->nv;
    int knows_smooth = ratio != 1 && d->knows_vdot;
    double Delta = g->alpha.alpha_m - g->alpha.alpha_f, kept = knows_smooth ? fmin(ratio, 1) : ratio;
    double smooth = knows_smooth ? Delta * (ratio - kept) : 0;
    for (int i = 0; i < nv; i++) {
        double a = s->own[i] + c->late * d->v0[i] + c->late2 * d->theta0[i];
        double v_early = d->v0[i] - c->ratio * d->c[i], theta_early = d->theta0[i] + d->c[i];
        double a_n = c->early * v_early + c->early2 * theta_early - c->a_share * a;
        double before = g->estimates ? s->own[nv + i] : 0;
        s->v[i] = v_early + c->h * theta_early;
        s->a[i] = c->vdot_share * a + (1 - kept + smooth) * a_n + before;
        s->own[i] = kept * a_n;
        if (g->estimates)
            s->own[nv + i] = -smooth * a_n;
    }
}

static void reset(const lg_stepper *self, const lg_sensitivities *s)
{
    int nv = self->system->space->nv, n = self->type->sensitivities->count(self);
    lg_axpy(nv, 1, s->own, s->a);
    lg_zero(n, s->own);
}

/* The accelerations with which the step has begun anew. */
static lg_status go_before_anew(lg_genalpha_stepper *g, const lg_state *before, const lg_sensitivities *s,
                                double *gradient)
{
    lg_point point = lg_point_after(before->t, before->q, before->v, before->mem);
    lg_linearised *l = &g->base.linear;
    int nv = g->base.system->space->nv;
    point.a = g->fresh, point.lam = g->fresh + nv, point.work = g->base.accel.work;
    reset(&g->base, s);
    LG_TRY(lg_linearise(l, &point, NULL));
    LG_TRY(lg_accel_factor(&g->base.accel, &point, &(lg_wanted){0}, &g->base.report));
    LG_TRY(lg_linearised_accelerations_adjoint(l, &point, g->base.nparameters, s->a, NULL, s->q, s->v, gradient));
    lg_zero(nv, s->a);
    return LG_OK;
}

static lg_status step(lg_stepper *self, const lg_state *before, const lg_state *after, const double *kept,
                      const lg_sensitivities *s, double *gradient)
{
    lg_genalpha_stepper *g = (lg_genalpha_stepper *)self;
    take(g, after, kept);
    lg_alpha_slopes *d = g->slopes;
    double *m = g->index == LG_INDEX_STABILIZED ? d->adjoint_mu : NULL;
    lg_point start = lg_alpha_start_point(g, before), end = lg_alpha_end_point(g, before, after);
    if (m) {
        LG_TRY(form_rows(g, before));
        LG_TRY(lg_alpha_form_reaction(g, before));
    }
    LG_TRY(lg_alpha_factor_slopes(g, &end));
    double ratio = lg_alpha_ratio(g, before);

    LG_TRY(m ? solve_with_m(g, m, s) : solve_for(g, NULL, s));
    lg_alpha_move_back(g, d->dq, d->a0);
    lg_alpha_move_back_known(g, d->dq, d->a0, s->q, m ? d->ds : NULL);
    LG_TRY(add_parameters(g, &start, &end, m, gradient));
    if (m)
        lg_matrix_add_transposed(&d->reaction, -1, d->ds, s->q);
    go_before_prediction(g, ratio, s);
    lg_zero(self->system->pattern->nrows, s->lam);
    return g->anew ? go_before_anew(g, before, s, gradient) : LG_OK;
}

static const lg_stepper_adjoint adjoint = {.count = count, .keep = keep, .step = step, .reset = reset};

const lg_stepper_sensitivities lg_alpha_sensitivities = {
    .refused = lg_alpha_refuse_slopes,
    .count = lg_alpha_slopes_count,
    .layout = lg_alpha_layout_slopes,
    .reset = lg_alpha_reset_slopes,
    .step = lg_alpha_step_slopes,
    .adjoint = &adjoint,
    .close = lg_alpha_close_slopes,
};
