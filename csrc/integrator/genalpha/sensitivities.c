/* Derivatives of a step by parameters, by the implicit function theorem at its end.

   The unknown is x, the derivative of vdot. From (step.h), with y = theta - c_n, s = B(q_n)^T mu and W(y) the
   derivative of T(theta) y by theta,

       P dE = (beta' sigma (W(y) + T - I) - (1 - sigma) W(E)) dtheta - beta' sigma (T - I) dc_n + ds,

   so that with X = I + (dE/dtheta)/beta', C = T X^-1 and G = beta' sigma P^-1 (T - I)

       dq = Ad(exp(-theta)) dq_n + C (x + beta' dtheta_0 + G dc_n - P^-1 ds)/beta'
       dv = dv_0 + gamma'/beta' x     da = da_0 + kappa x,

   and all that is known of theta_0, v_0, a_0 and c_n follows linearly from the start of the step. In stabilised index
   2, ds depends on dmu: x follows from dmu, and dmu from phi = 0, in turn until both are right. */
#include "integrator/sensitivities.h"
#include "core/small.h"
#include "integrator/genalpha/slopes.h"
#include "solve/initial.h"

#include <float.h>
#include <math.h>

/* ---- options and memory ---- */

const char *lg_alpha_refuse_slopes(const lg_stepper *self)
{
    const lg_genalpha_stepper *g = (const lg_genalpha_stepper *)self;
    if (g->form != &lg_exact_form)
        return "form: the steps of printed forms have no derivatives; form=\"exact\" has";
    return g->optimal_start ? "start=\"optimal\" has no derivatives; start=\"plain\" has" : NULL;
}

/* Numbers in the carry for each parameter before dmu: derivatives of a_n, and of vdot of the step before. */
static int mu_offset(const lg_genalpha_stepper *g)
{
    return (1 + g->estimates) * g->base.system->space->nv;
}

int lg_alpha_slopes_count(const lg_stepper *self)
{
    const lg_genalpha_stepper *g = (const lg_genalpha_stepper *)self;
    return mu_offset(g) + (g->index == LG_INDEX_STABILIZED ? self->system->pattern->nrows : 0);
}

static void layout_mu(lg_genalpha_stepper *g, lg_alpha_slopes *d, lg_arena *arena)
{
    const lg_space *space = g->base.system->space;
    size_t nrows = (size_t)g->base.system->pattern->nrows;
    const lg_plan *masses = g->base.plans.of[LG_COUPLING_MASS];
    lg_matrix_layout(&d->mu_matrix, masses ? masses : g->base.plan, arena);
    lg_matrix_layout_values(&d->reaction, g->base.plan, arena);
    d->of_q = lg_arena_take(arena, (size_t)space->nblocks * sizeof *d->of_q);
    d->mu = lg_arena_doubles(arena, (size_t)space->nv + nrows);
    d->adjoint_mu = lg_arena_doubles(arena, nrows);
}

void lg_alpha_layout_slopes(lg_stepper *self, lg_arena *arena)
{
    lg_genalpha_stepper *g = (lg_genalpha_stepper *)self;
    const lg_pattern *pattern = self->system->pattern;
    const lg_space *space = self->system->space;
    lg_alpha_slopes room = {0}, *d = lg_arena_take(arena, sizeof *d);
    g->slopes = d;
    d = d ? d : &room;
    size_t nv = (size_t)space->nv, nvalues = (size_t)pattern->nvalues;
    double **velocities[] = {&d->theta0, &d->v0, &d->a0, &d->c, &d->ds_known, &d->ds, &d->dq};
    lg_matrix_layout_in_place(&d->matrix, self->plan, arena);
    d->chain = lg_arena_take(arena, (size_t)space->nblocks * sizeof *d->chain);
    lg_alpha_layout_maps(g, arena);
    for (size_t i = 0; i < sizeof velocities / sizeof *velocities; i++)
        *velocities[i] = lg_arena_doubles(arena, nv);
    d->x = lg_arena_doubles(arena, nv + (size_t)pattern->nrows);
    d->weight_phi = lg_arena_doubles(arena, (size_t)pattern->nrows);
    d->weight_phidot = lg_arena_doubles(arena, (size_t)pattern->nrows);
    d->B = lg_arena_doubles(arena, nvalues);
    d->B_part = lg_arena_doubles(arena, pattern->nnonholonomic ? nvalues : 0);
    d->Z_part = lg_arena_doubles(arena, pattern->nnonholonomic ? nvalues : 0);
    self->linear.wants_Z = g->index != LG_INDEX_3 || pattern->nnonholonomic;
    if (g->index == LG_INDEX_STABILIZED)
        layout_mu(g, d, arena);
}

void lg_alpha_close_slopes(lg_stepper *self)
{
    lg_alpha_slopes *d = ((lg_genalpha_stepper *)self)->slopes;
    if (d) {
        lg_matrix_close(&d->matrix);
        lg_matrix_close(&d->mu_matrix);
    }
}

void lg_alpha_reset_slopes(const lg_stepper *self, const lg_sensitivities *s)
{
    int nv = self->system->space->nv, n = lg_alpha_slopes_count(self);
    for (int k = 0; k < s->count; k++) {
        lg_copy(nv, s->a + (long)nv * k, s->own + (long)n * k);
        lg_zero(n - nv, s->own + (long)n * k + nv);
    }
}

/* ---- matrices ---- */

lg_point lg_alpha_end_point(const lg_genalpha_stepper *g, const lg_state *before, const lg_state *after)
{
    lg_point point = lg_point_at(after->t, after->q, after->v);
    point.t_in = before->t + 0.5 * g->h;
    point.mem = (lg_memory){before->mem, g->h, g->now.theta};
    point.a = after->a, point.lam = after->lam, point.work = g->base.accel.work;
    return point;
}

lg_point lg_alpha_start_point(const lg_genalpha_stepper *g, const lg_state *before)
{
    lg_point point = lg_point_after(before->t, before->q, before->v, before->mem);
    point.lam = g->mu, point.work = g->base.accel.work;
    return point;
}

/* Row scales of positions and velocities, and the chains d(q, v, a)/dx. */
static void form_chains(lg_genalpha_stepper *g)
{
    const lg_space *space = g->base.system->space;
    lg_alpha_slopes *d = g->slopes;
    for (int i = 0; i < space->nblocks; i++) {
        const lg_block *b = &space->block[i];
        d->chain[i] = (lg_chain){{1 / g->beta_prime, g->gamma_prime / g->beta_prime, 1}, {NULL, NULL, NULL}};
        d->chain[i].X[0] = b->linear ? NULL : d->chain_C + b->m;
    }
}

/* Constraint rows of the matrix. Index 3 has positions, and velocities where rows are nonholonomic. */
static void add_rows(lg_genalpha_stepper *g)
{
    const lg_pattern *pattern = g->base.system->pattern;
    lg_alpha_slopes *d = g->slopes;
    const lg_linearised *l = &g->base.linear;
    double of_phi = g->beta_prime, of_phidot = g->beta_prime / g->gamma_prime;
    if (g->index != LG_INDEX_3) {
        lg_matrix_add_border(&d->matrix, l->B, of_phidot, l->B, 1, d->chain);
        lg_matrix_add_rows(&d->matrix, of_phidot, l->Z, 0, d->chain);
        return;
    }
    if (!pattern->nnonholonomic) {
        lg_matrix_add_border(&d->matrix, l->B, of_phi, l->B, 0, d->chain);
        return;
    }
    lg_matrix_put_columns(&d->matrix, l->B);
    lg_matrix_add_rows(&d->matrix, of_phi, d->B, 0, d->chain);
    lg_matrix_add_rows(&d->matrix, of_phidot, d->B_part, 1, d->chain);
    lg_matrix_add_rows(&d->matrix, of_phidot, d->Z_part, 0, d->chain);
}

/* Copies B without nonholonomic rows, and these alone. */
static void split_rows(lg_genalpha_stepper *g)
{
    const lg_pattern *pattern = g->base.system->pattern;
    lg_alpha_slopes *d = g->slopes;
    const lg_linearised *l = &g->base.linear;
    lg_copy(pattern->nvalues, l->B, d->B);
    if (!pattern->nnonholonomic)
        return;
    lg_pattern_part(pattern, d->B, d->B_part);
    double *Z = l->Z;
    double *rest = d->Z_part;
    lg_copy(pattern->nvalues, Z, rest);
    lg_pattern_mask_nonholonomic(pattern, 0, rest);
    for (int i = 0; i < pattern->nvalues; i++)
        rest[i] = Z[i] - rest[i];
}

/* The maps of the step, and the equations linearised at its end, with whatever else is wanted there. */
static lg_status linearise(lg_genalpha_stepper *g, const lg_point *end, const lg_wanted *wanted)
{
    lg_alpha_slopes *d = g->slopes;
    lg_alpha_form_maps(g);
    form_chains(g);
    return lg_linearise_with(&g->base.linear, end, &(lg_tangent){&d->matrix, d->chain}, wanted);
}

int lg_alpha_may_linearise_early(const lg_genalpha_stepper *g)
{
    return g->slopes && !g->base.backwards && !g->anew && g->base.system->nmem == 0;
}

lg_status lg_alpha_linearise_early(lg_genalpha_stepper *g, const lg_wanted *wanted)
{
    g->slopes->is_linearised = 1;
    return linearise(g, &g->at, wanted);
}

static lg_status assemble(lg_genalpha_stepper *g, const lg_point *end)
{
    if (!g->slopes->is_linearised)
        LG_TRY(linearise(g, end, &(lg_wanted){0}));
    g->slopes->is_linearised = 0; // from here on the matrix has rows, and then factors
    if (g->base.system->pattern->nrows) {
        split_rows(g);
        add_rows(g);
    }
    return LG_OK;
}

/* Adds the identity on the diagonal blocks. */
static void assemble_mu(lg_genalpha_stepper *g)
{
    const lg_space *space = g->base.system->space;
    lg_alpha_slopes *d = g->slopes;
    for (int i = 0; i < space->nblocks; i++) {
        const double *X = space->block[i].linear ? NULL : d->chain_CP + space->block[i].m;
        d->of_q[i] = (lg_chain){{1, 1, 1}, {X, X, X}};
    }
    lg_matrix_zero(&d->mu_matrix);
    lg_alpha_add_identity(&d->mu_matrix, g->base.system->pattern);
    lg_matrix_add_border(&d->mu_matrix, g->Bn, 1, d->B, 0, d->of_q);
}

/* d(B(q_n)^T mu)/dq as the difference of two stiffnesses. */
lg_status lg_alpha_form_reaction(lg_genalpha_stepper *g, const lg_state *before)
{
    const lg_system *system = g->base.system;
    lg_alpha_slopes *d = g->slopes;
    lg_point point = lg_alpha_start_point(g, before);
    lg_matrix_zero(&d->reaction);
    for (int sign = 1; sign >= -1; sign -= 2) {
        for (int i = 0; i < system->space->nblocks; i++)
            d->of_q[i] = (lg_chain){.k = {sign, 0, 0}};
        g->base.accel.evaluations++;
        LG_TRY(system->eval(system->self, &point,
                            &(lg_wanted){.tangent = &(lg_tangent){&d->reaction, d->of_q}, .ntangents = 1}));
        point.lam = NULL;
    }
    return LG_OK;
}

static lg_status factor_mu(lg_genalpha_stepper *g)
{
    lg_alpha_slopes *d = g->slopes;
    lg_pattern_mask_nonholonomic(g->base.system->pattern, 1, d->B);
    assemble_mu(g);
    return lg_stepper_factor(&g->base, &d->mu_matrix);
}

/* ---- one parameter ---- */

/* What is known in the step: derivatives of theta_0, v_0, a_0 and c_n from those of its start. */
static void predict(const lg_genalpha_stepper *g, double ratio, const double *dv, const double *da, const double *own)
{
    const lg_alpha_slopes *d = g->slopes;
    int nv = g->base.system->space->nv;
    double Delta = g->alpha.alpha_m - g->alpha.alpha_f;
    for (int i = 0; ratio != 1 && i < nv; i++) {
        double smooth = d->knows_vdot ? Delta * (da[i] - own[nv + i]) : 0, rest = own[i] - da[i] - smooth;
        d->ds[i] = da[i] + ratio * smooth + (d->knows_vdot ? fmin(ratio, 1) : ratio) * rest;
    }
    const double *a_n = ratio == 1 ? own : d->ds;
    lg_alpha_predict_velocities(nv, &g->scales, dv, a_n, da, d->theta0, d->v0, d->a0, d->c);
}

/* The rows of the right-hand side: minus what dq and dv alone make of them, with those of the parameter in l. */
static void set_rows(lg_genalpha_stepper *g, const double *dq, const double *dv, double *rows)
{
    const lg_pattern *pattern = g->base.system->pattern;
    const lg_alpha_slopes *d = g->slopes;
    const lg_linearised *l = &g->base.linear;
    double of_phi = -g->beta_prime, of_phidot = -g->beta_prime / g->gamma_prime;
    lg_zero(pattern->nrows, rows);
    if (g->index != LG_INDEX_3) {
        lg_axpy(pattern->nrows, of_phidot, l->phidot, rows);
        lg_pattern_add_B(pattern, l->B, of_phidot, dv, rows);
        lg_pattern_add_B(pattern, l->Z, of_phidot, dq, rows);
        return;
    }
    lg_axpy(pattern->nrows, of_phi, l->phi, rows);
    lg_pattern_add_B(pattern, d->B, of_phi, dq, rows);
    if (!pattern->nnonholonomic)
        return;
    for (int i = 0; i < pattern->nnonholonomic; i++) {
        int row = lg_pattern_nonholonomic(pattern, i);
        rows[row] += of_phidot * l->phidot[row];
    }
    lg_pattern_add_B(pattern, d->B_part, of_phidot, dv, rows);
    lg_pattern_add_B(pattern, d->Z_part, of_phidot, dq, rows);
}

/* x and dlam for the known part of dq. */
static lg_status solve(lg_genalpha_stepper *g, const double *dq)
{
    const lg_alpha_slopes *d = g->slopes;
    lg_linearised *l = &g->base.linear;
    int nv = g->base.system->space->nv, nrows = g->base.system->pattern->nrows;
    lg_copy(nv, l->force, d->x);
    lg_linearised_forces(l, -1, dq, d->v0, d->x);
    if (nrows)
        set_rows(g, dq, d->v0, d->x + nv);
    return lg_matrix_solve(&d->matrix, d->x);
}

/* Adds to dmu what the derivative of phi along dq asks for; *change is the largest part of it. */
static lg_status correct_mu(lg_genalpha_stepper *g, const double *dq, double *dmu, double *change)
{
    const lg_pattern *pattern = g->base.system->pattern;
    const lg_alpha_slopes *d = g->slopes;
    int nv = g->base.system->space->nv, nrows = pattern->nrows;
    double *rows = d->mu + nv;
    lg_zero(nv + nrows, d->mu);
    lg_axpy(nrows, -g->beta_prime, g->base.linear.phi, rows);
    lg_pattern_add_B(pattern, d->B, -g->beta_prime, dq, rows);
    lg_pattern_zero_nonholonomic(pattern, rows);
    LG_TRY(lg_matrix_solve(&d->mu_matrix, d->mu));
    *change = lg_max_abs(nrows, rows);
    lg_axpy(nrows, 1, rows, dmu);
    return LG_OK;
}

/* x, dlam, dmu and dq in stabilised index 2, from dmu of the last step. The sweeps end where it no longer changes but
   for round-off. */
static lg_status solve_with_mu(lg_genalpha_stepper *g, const lg_point *start, int k, const double *dq_n, double *dmu)
{
    const lg_pattern *pattern = g->base.system->pattern;
    const lg_alpha_slopes *d = g->slopes;
    int nv = g->base.system->space->nv, nrows = pattern->nrows;
    double change = 1, last = INFINITY;
    lg_linearised *l = &g->base.linear;
    LG_TRY(lg_linearised_reaction(l, start, k, d->ds_known));
    lg_matrix_add_product(&d->reaction, 1, dq_n, d->ds_known);
    for (int i = 0; i < LG_ALPHA_SWEEPS; i++) {
        lg_copy(nv, d->ds_known, d->ds);
        lg_pattern_add_BT(pattern, g->Bn, 1, dmu, d->ds);
        lg_alpha_move_known(g, dq_n, d->ds, d->dq);
        LG_TRY(solve(g, d->dq));
        lg_alpha_move_along(g, d->x, d->dq);
        LG_TRY(correct_mu(g, d->dq, dmu, &change));
        double size = lg_max_abs(nrows, dmu) + lg_max_abs(nv, d->x) + g->beta_prime * lg_max_abs(nv, d->dq);
        double forces = lg_max_abs(nrows, d->x + nv); /* leave round-off where they cancel, and nothing moves */
        if (change <= DBL_EPSILON * size || (change >= 0.5 * last && change <= lg_alpha_stagnant * (size + forces)))
            return LG_OK;
        last = change;
    }
    lg_report_name(&g->base.report, "the iteration for the derivatives of mu does not converge");
    return LG_NO_CONVERGENCE;
}

/* dv = v_0 + gain x, da = x and own = a_0 + kappa x */
static void put_velocities(int n, double gain, double kappa, const lg_alpha_slopes *d, double *restrict dv,
                           double *restrict da, double *restrict own)
{
    const double *restrict v0 = d->v0, *restrict a0 = d->a0, *restrict x = d->x;
    for (int i = 0; i < n; i++) {
        dv[i] = v0[i] + gain * x[i];
        da[i] = x[i];
        own[i] = a0[i] + kappa * x[i];
    }
}

static lg_status advance(lg_genalpha_stepper *g, const lg_point *start, const lg_point *end, double ratio, int k,
                         const lg_sensitivities *s)
{
    const lg_alpha_slopes *d = g->slopes;
    int nv = g->base.system->space->nv, nrows = g->base.system->pattern->nrows, nown = lg_alpha_slopes_count(&g->base);
    double *dq = s->q + (long)nv * k, *dv = s->v + (long)nv * k, *da = s->a + (long)nv * k,
           *own = s->own + (long)nown * k;
    predict(g, ratio, dv, da, own);
    LG_TRY(lg_linearised_terms(&g->base.linear, end, k));
    if (g->index == LG_INDEX_STABILIZED) {
        LG_TRY(solve_with_mu(g, start, k, dq, own + mu_offset(g)));
        lg_copy(nv, d->dq, dq);
    } else {
        lg_alpha_move_known(g, dq, NULL, dq);
        LG_TRY(solve(g, dq));
        lg_alpha_move_along(g, d->x, dq);
    }
    if (g->estimates)
        lg_copy(nv, da, own + nv);
    put_velocities(nv, g->gamma_prime / g->beta_prime, g->alpha.kappa, d, dv, da, own);
    lg_copy(nrows, d->x + nv, s->lam + (long)nrows * k);
    return LG_OK;
}

/* ---- the step ---- */

/* The accelerations with which the step has begun anew. */
static lg_status begin_anew(lg_genalpha_stepper *g, const lg_state *before, const lg_sensitivities *s)
{
    lg_point point = lg_point_after(before->t, before->q, before->v, before->mem);
    lg_linearised *l = &g->base.linear;
    int nv = g->base.system->space->nv, nrows = g->base.system->pattern->nrows;
    point.a = g->fresh, point.lam = g->fresh + nv, point.work = g->base.accel.work;
    g->matrix_valid = 0;
    LG_TRY(lg_linearise(l, &point, NULL));
    LG_TRY(lg_accel_factor(&g->base.accel, &point, &(lg_wanted){0}, &g->base.report));
    for (int k = 0; k < s->count; k++)
        LG_TRY(lg_linearised_accelerations(l, &point, k, s->q + (long)nv * k, s->v + (long)nv * k, s->a + (long)nv * k,
                                           s->lam + (long)nrows * k));
    lg_alpha_reset_slopes(&g->base, s);
    return LG_OK;
}

/* The ratio of the step to the one before, as in take_accelerations of genalpha.c. */
double lg_alpha_ratio(lg_genalpha_stepper *g, const lg_state *before)
{
    lg_alpha_carry c;
    lg_alpha_carry_layout(g, before->carry, &c);
    g->slopes->knows_vdot = g->adapts && lg_alpha_knows_vdot(g, &c);
    return g->anew || *c.h <= 0 || *c.h == g->h ? 1 : g->h / *c.h;
}

lg_status lg_alpha_factor_slopes(lg_genalpha_stepper *g, const lg_point *end)
{
    LG_TRY(lg_alpha_factor_in_place(g, &g->slopes->matrix, assemble, end));
    return g->index == LG_INDEX_STABILIZED ? factor_mu(g) : LG_OK;
}

lg_status lg_alpha_step_slopes(lg_stepper *self, const lg_state *before, const lg_state *after, double h,
                               const lg_sensitivities *s)
{
    lg_genalpha_stepper *g = (lg_genalpha_stepper *)self;
    (void)h;
    lg_point start = lg_alpha_start_point(g, before), end = lg_alpha_end_point(g, before, after);
    if (g->index == LG_INDEX_STABILIZED)
        LG_TRY(lg_alpha_form_reaction(g, before));
    if (g->anew)
        LG_TRY(begin_anew(g, before, s));
    LG_TRY(lg_alpha_factor_slopes(g, &end));
    double ratio = lg_alpha_ratio(g, before);
    for (int k = 0; k < s->count; k++)
        LG_TRY(advance(g, &start, &end, ratio, k, s));
    return LG_OK;
}
