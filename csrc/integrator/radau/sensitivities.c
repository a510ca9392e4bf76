/* Derivatives of a step by parameters, by the implicit function theorem at its stages.

   The stages of the derivatives are linear equations, which are solved as the step itself: stage by stage, in sweeps,
   with the triangular factor L. With mu = 1/(h l_ii), and with what is known of theta_i and V_i - v_n in a sweep,

       y = T dtheta_i     dq_i = Ad(exp(-theta_i)) dq_n + y
       dV_i = mu ((I + l_ii W T^-1) y - T dtheta_known)       dA_i = mu (dV_i - dv_n - dv_known),

   where W = d(T(theta_i) K_i)/dtheta_i. The unknown of a stage's matrix is u = mu^2 y, and velocity rows are multiplied
   by mu. The end of the step is that of the last stage, followed through its projection. */
#include "core/small.h"
#include "integrator/radau/slopes.h"

#include <float.h>
#include <math.h>

static void layout_stage(lg_radau_stepper *r, lg_radau_stage_slopes *s, lg_arena *arena)
{
    const lg_system *system = r->base.system;
    const lg_plan *plan = r->base.plan;
    size_t nv = (size_t)system->space->nv, nrows = (size_t)system->pattern->nrows;
    double **velocities[] = {&s->dK, &s->da, &s->old_K, &s->old_a, &s->dv};
    lg_moves_layout(&s->moves, system->space, arena);
    lg_matrix_layout_values(&s->K, plan, arena);
    lg_matrix_layout_values(&s->D, plan, arena);
    lg_matrix_layout_values(&s->M, plan, arena);
    lg_matrix_layout(&s->matrix, plan, arena);
    s->X = lg_arena_doubles(arena, (size_t)system->space->nm);
    s->B = lg_arena_doubles(arena, (size_t)system->pattern->nvalues);
    s->Z = lg_arena_doubles(arena, (size_t)system->pattern->nvalues);
    s->known = lg_arena_doubles(arena, nv + nrows);
    for (size_t i = 0; i < sizeof velocities / sizeof *velocities; i++)
        *velocities[i] = lg_arena_doubles(arena, nv);
    s->dlam = lg_arena_doubles(arena, nrows);
}

void lg_radau_layout_slopes(lg_stepper *self, lg_arena *arena)
{
    lg_radau_stepper *r = (lg_radau_stepper *)self;
    const lg_space *space = self->system->space;
    lg_radau_slopes room = {0}, *d = lg_arena_take(arena, sizeof *d);
    r->slopes = d;
    d = d ? d : &room;
    size_t nv = (size_t)space->nv, nrows = (size_t)self->system->pattern->nrows;
    lg_chain **chains[] = {&d->chain, &d->of_q, &d->of_v, &d->of_a};
    double **velocities[] = {&d->theta, &d->v, &d->dv0, &d->turn};
    for (int i = 0; i < lg_radau_stages(&r->numbers); i++)
        layout_stage(r, &d->stage[i], arena);
    for (int i = 0; i < 4; i++) {
        *chains[i] = lg_arena_take(arena, (size_t)space->nblocks * sizeof(lg_chain));
        *velocities[i] = lg_arena_doubles(arena, nv);
    }
    for (int i = 0; arena->base && i < space->nblocks; i++) {
        d->of_q[i] = (lg_chain){.k = {1, 0, 0}};
        d->of_v[i] = (lg_chain){.k = {0, 1, 0}};
        d->of_a[i] = (lg_chain){.k = {0, 0, 1}};
    }
    d->x = lg_arena_doubles(arena, nv + nrows);
    d->y = lg_arena_doubles(arena, nv + nrows);
    d->follower.linear = &self->linear;
    lg_follow_layout(&d->follower, self->nparameters, self->backwards, arena);
}

void lg_radau_close_slopes(lg_stepper *self)
{
    lg_radau_slopes *d = ((lg_radau_stepper *)self)->slopes;
    for (int i = 0; d && i < LG_RADAU_STAGES; i++)
        lg_matrix_close(&d->stage[i].matrix);
}

/* ---- matrices ---- */

static void form_chains(lg_radau_stepper *r, int i)
{
    const lg_space *space = r->base.system->space;
    lg_radau_stage_slopes *s = &r->slopes->stage[i];
    double mu = lg_radau_rate(r, i);
    lg_moves_form(&s->moves, r->stage[i].theta, r->stage[i].K);
    lg_moves_chain(&s->moves, r->numbers.L[i][i], s->X);
    for (int k = 0; k < space->nblocks; k++) {
        const double *X = space->block[k].linear ? NULL : s->X + space->block[k].m;
        r->slopes->chain[k] = (lg_chain){{1 / (mu * mu), 1 / mu, 1}, {NULL, X, X}};
    }
}

/* The equations of a stage, linearised where it is, and its matrix, factored. */
static lg_status form_stage(lg_radau_stepper *r, int i)
{
    lg_radau_slopes *d = r->slopes;
    lg_radau_stage_slopes *s = &d->stage[i];
    int nrows = r->base.system->pattern->nrows;
    double mu = lg_radau_rate(r, i);
    lg_point point = lg_radau_point(r, i);
    lg_tangent tangents[] = {{&s->K, d->of_q}, {&s->D, d->of_v}, {&s->M, d->of_a}, {&s->matrix, d->chain}};
    lg_wanted wanted = {.B = nrows ? s->B : NULL, .Z = nrows ? s->Z : NULL, .tangent = tangents, .ntangents = 4};
    form_chains(r, i);
    for (int k = 0; k < 4; k++)
        lg_matrix_zero(tangents[k].S);
    LG_TRY(lg_accel_eval(&r->base.accel, &point, &wanted, &r->base.report));
    if (nrows) {
        lg_matrix_add_border(&s->matrix, s->B, mu, s->B, 1, d->chain);
        lg_matrix_add_rows(&s->matrix, mu, s->Z, 0, d->chain);
    }
    s->matrix.poll = r->base.accel.matrix.poll;
    return lg_stepper_factor(&r->base, &s->matrix);
}

lg_status lg_radau_form_slopes(lg_radau_stepper *r)
{
    lg_radau_set_accelerations(r);
    for (int i = 0; i < lg_radau_stages(&r->numbers); i++)
        LG_TRY(form_stage(r, i));
    return LG_OK;
}

/* ---- one parameter ---- */

/* sum += s A x for velocities x */
static void add_forces(lg_radau_stepper *r, const lg_matrix *A, double s, const double *x, double *sum)
{
    lg_radau_slopes *d = r->slopes;
    int nv = r->base.system->space->nv, nrows = r->base.system->pattern->nrows;
    lg_copy(nv, x, d->y);
    lg_zero(nrows, d->y + nv);
    lg_matrix_add_product(A, s, d->y, sum);
}

/* The right-hand side of a stage by parameter k and by dq_n alone. */
static lg_status set_known(lg_radau_stepper *r, int i, int k, const double *dq)
{
    lg_radau_slopes *d = r->slopes;
    lg_radau_stage_slopes *s = &d->stage[i];
    lg_linearised *l = &r->base.linear;
    const lg_pattern *pattern = r->base.system->pattern;
    int nv = r->base.system->space->nv;
    lg_point point = lg_radau_point(r, i);
    LG_TRY(lg_linearised_terms(l, &point, k));
    lg_zero(nv, d->turn);
    lg_moves_end(&s->moves, dq, d->turn, d->dv0);
    lg_zero(nv + pattern->nrows, s->known);
    add_forces(r, &s->K, -1, d->dv0, s->known);
    lg_zero(pattern->nrows, s->known + nv);
    lg_axpy(nv, 1, l->force, s->known);
    lg_axpy(pattern->nrows, -1, l->phidot, s->known + nv);
    lg_pattern_add_B(pattern, s->Z, -1, d->dv0, s->known + nv);
    return LG_OK;
}

/* What the other stages contribute to theta_i and V_i - v_n. */
static void gather(lg_radau_stepper *r, int i)
{
    const lg_radau_numbers *n = &r->numbers;
    lg_radau_slopes *d = r->slopes;
    int nv = r->base.system->space->nv;
    lg_zero(nv, d->theta);
    lg_zero(nv, d->v);
    for (int j = 0; j < lg_radau_stages(n); j++) {
        double old = n->A[i][j] - n->L[i][j];
        lg_axpy(nv, old, d->stage[j].old_K, d->theta);
        lg_axpy(nv, r->h * old, d->stage[j].old_a, d->v);
        if (j < i) {
            lg_axpy(nv, n->L[i][j], d->stage[j].dK, d->theta);
            lg_axpy(nv, r->h * n->L[i][j], d->stage[j].da, d->v);
        }
    }
}

/* Solves a stage; *change: the largest change of its velocities since the last sweep. */
static lg_status solve_stage(lg_radau_stepper *r, int i, const double *dv, double *change)
{
    lg_radau_slopes *d = r->slopes;
    lg_radau_stage_slopes *s = &d->stage[i];
    int nv = r->base.system->space->nv, nrows = r->base.system->pattern->nrows;
    double mu = lg_radau_rate(r, i), own = r->numbers.L[i][i];
    gather(r, i);
    lg_moves_velocity(&s->moves, NULL, d->theta, d->dv0);
    for (int k = 0; k < nv; k++) {
        d->dv0[k] *= -mu;
        d->turn[k] = mu * (d->dv0[k] - dv[k] - d->v[k]);
    }
    lg_copy(nv + nrows, s->known, d->x);
    add_forces(r, &s->D, -1, d->dv0, d->x);
    add_forces(r, &s->M, -1, d->turn, d->x);
    lg_copy(nrows, s->known + nv, d->x + nv);
    lg_pattern_add_B(r->base.system->pattern, s->B, -1, d->dv0, d->x + nv);
    for (int k = 0; k < nrows; k++)
        d->x[nv + k] *= mu;
    LG_TRY(lg_matrix_solve(&s->matrix, d->x));

    for (int k = 0; k < nv; k++)
        d->x[k] /= mu * mu;
    lg_moves_rate(&s->moves, NULL, d->x, d->turn);
    for (int k = 0; k < nv; k++)
        s->dK[k] = (d->turn[k] - d->theta[k]) / own;
    lg_moves_velocity(&s->moves, d->turn, s->dK, d->dv0);
    for (int k = 0; k < nv; k++) {
        double now = d->dv0[k] / r->h;
        *change = fmax(*change, fabs(now - s->dv[k]));
        s->dv[k] = now;
        s->da[k] = mu * (now - dv[k] - d->v[k]);
    }
    lg_copy(nrows, d->x + nv, s->dlam);
    return LG_OK;
}

/* The first guess: the derivatives of a motion with those velocities and accelerations. */
static void guess(lg_radau_stepper *r, const double *dv, const double *da)
{
    int nv = r->base.system->space->nv;
    for (int i = 0; i < lg_radau_stages(&r->numbers); i++) {
        lg_radau_stage_slopes *s = &r->slopes->stage[i];
        for (int k = 0; k < nv; k++) {
            s->dv[k] = dv[k];
            s->dK[k] = r->h * dv[k];
            s->da[k] = da[k];
        }
    }
}

static double largest_of(const lg_radau_stepper *r)
{
    double largest = DBL_MIN;
    for (int i = 0; i < lg_radau_stages(&r->numbers); i++)
        largest = fmax(largest, lg_max_abs(r->base.system->space->nv, r->slopes->stage[i].dv));
    return largest;
}

/* The largest acceleration that forces would give to single velocities without constraints. */
static double free_acceleration(const lg_radau_stepper *r, const lg_matrix *M, const double *forces)
{
    const lg_space *space = r->base.system->space;
    double largest = 0;
    for (int i = 0, ld; i < space->nblocks; i++) {
        const double *inertia = lg_matrix_at(M, i, &ld), *own = forces + space->block[i].v;
        for (int k = 0; k < space->block[i].nv; k++)
            largest = inertia[k + k * ld] > 0 ? fmax(largest, fabs(own[k]) / inertia[k + k * ld]) : largest;
    }
    return largest;
}

/* By how much velocities move where the products with dq_n are off by their round-off: that of the largest entries of
   the matrices, which other entries may have as a whole; where the derivatives of the terms are off by theirs; and
   where rows are off by that of the accelerations from which they hold back what cannot move. */
static lg_status measure_noise(lg_radau_stepper *r, const double *dq, double *noise)
{
    lg_radau_slopes *d = r->slopes;
    const lg_pattern *pattern = r->base.system->pattern;
    int nv = r->base.system->space->nv;
    double share = 16 * DBL_EPSILON, shaken = share * lg_max_abs(nv, dq);
    *noise = 0;
    for (int i = 0; i < lg_radau_stages(&r->numbers); i++) {
        const lg_radau_stage_slopes *s = &d->stage[i];
        double mu = lg_radau_rate(r, i);
        double forces = shaken * lg_matrix_largest(&s->K);
        double rows = shaken * mu * (lg_max_abs(pattern->nvalues, s->Z) + lg_max_abs(pattern->nvalues, s->B));
        forces += share * lg_max_abs(nv, s->known);
        rows += share * mu * lg_max_abs(pattern->nrows, s->known + nv);
        rows += share * lg_max_abs(pattern->nvalues, s->B) * free_acceleration(r, &s->M, s->known);
        for (int k = 0; k < nv + pattern->nrows; k++)
            d->x[k] = (k % 2 ? -1 : 1) * (k < nv ? forces : rows);
        LG_TRY(lg_matrix_solve(&s->matrix, d->x));
        *noise = fmax(*noise, lg_max_abs(nv, d->x) / mu);
    }
    return LG_OK;
}

/* Sweeps until derivatives change by round-off alone. */
static lg_status sweep(lg_radau_stepper *r, const double *dq, const double *dv)
{
    int nv = r->base.system->space->nv, stages = lg_radau_stages(&r->numbers);
    lg_radau_progress progress = {0};
    double noise = NAN;
    for (int n = 0; n < LG_RADAU_MOST_SWEEPS; n++) {
        double change = 0;
        for (int i = 0; i < stages; i++) {
            lg_copy(nv, r->slopes->stage[i].dK, r->slopes->stage[i].old_K);
            lg_copy(nv, r->slopes->stage[i].da, r->slopes->stage[i].old_a);
        }
        for (int i = 0; i < stages; i++)
            LG_TRY(solve_stage(r, i, dv, &change));
        if (lg_radau_converged(&progress, change, largest_of(r)))
            return LG_OK;
        if (progress.stuck && isnan(noise))
            LG_TRY(measure_noise(r, dq, &noise));
        if (progress.stuck && change <= noise)
            return LG_OK;
    }
    lg_report_name(&r->base.report, "the iteration for the derivatives of the stages does not converge");
    return LG_NO_CONVERGENCE;
}

static lg_status advance(lg_radau_stepper *r, const lg_sensitivities *s, int k)
{
    lg_radau_slopes *d = r->slopes;
    int nv = r->base.system->space->nv, stages = lg_radau_stages(&r->numbers), last = stages - 1;
    double *dq = s->q + (long)nv * k, *dv = s->v + (long)nv * k;
    for (int i = 0; i < stages; i++)
        LG_TRY(set_known(r, i, k, dq));
    guess(r, dv, s->a + (long)nv * k);
    LG_TRY(sweep(r, dq, dv));
    lg_zero(nv, d->theta);
    for (int j = 0; j < stages; j++)
        lg_axpy(nv, r->numbers.A[last][j], d->stage[j].dK, d->theta);
    lg_moves_end(&d->stage[last].moves, dq, d->theta, d->turn);
    lg_copy(nv, d->turn, dq);
    lg_copy(nv, d->stage[last].dv, dv);
    return LG_OK;
}

/* ---- the step ---- */

/* The end of the step, which its projection moves once more, with its derivatives. */
static lg_status follow_end(lg_radau_stepper *r, const lg_sensitivities *s)
{
    lg_accel *accel = &r->base.accel;
    lg_linearised *l = &r->base.linear;
    int nv = r->base.system->space->nv, nrows = r->base.system->pattern->nrows;
    r->slopes->follower.dq = s->q, r->slopes->follower.dv = s->v;
    accel->follower = &r->slopes->follower;
    lg_status status = lg_radau_finish(r);
    accel->follower = NULL;
    LG_TRY(status);
    lg_point end = lg_radau_point(r, lg_radau_stages(&r->numbers) - 1);
    end.q = r->q_end, end.v = r->v_end, end.a = r->a_end, end.lam = r->lam_end;
    LG_TRY(lg_linearise(l, &end, NULL));
    if (!nrows)
        LG_TRY(lg_accel_factor(accel, &end, &(lg_wanted){0}, &r->base.report));
    for (int k = 0; k < s->count; k++)
        LG_TRY(lg_linearised_accelerations(l, &end, k, s->q + (long)nv * k, s->v + (long)nv * k, s->a + (long)nv * k,
                                           s->lam + (long)nrows * k));
    return LG_OK;
}

lg_status lg_radau_step_slopes(lg_stepper *self, const lg_state *before, const lg_state *after, double h,
                               const lg_sensitivities *s)
{
    lg_radau_stepper *r = (lg_radau_stepper *)self;
    (void)after, (void)h;
    r->start = before;
    LG_TRY(lg_radau_form_slopes(r));
    for (int k = 0; k < s->count; k++)
        LG_TRY(advance(r, s, k));
    return follow_end(r, s);
}
