/* The adjoint of a step, from its end to its start: the transposed maps of sensitivities.c.

   With w_i and r_i for the force and velocity rows of a stage, e_i for V_i = T K_i/h + ..., and with the adjoint q^, v^
   of the end, which counts in the last stage alone,

       p_i = D^T w_i + B^T r_i - h e_i - v^         g_i = W^T e_i + T^T (K^T w_i + Z^T r_i - q^)
       M w_j + h sum_i a_ij p_i = 0                 T^T e_j + sum_i a_ij g_i = 0               B w_j = 0.

   Sweeps go from the last stage to the first, with the triangular factor L: a stage takes p_i and g_i of the later
   ones, and those of the last sweep times a_ij - l_ij, as its known P and G. With mu = 1/(h l_jj), its matrix S has

       S^T [ w; r/mu ] = [ (q^ - T^-T G/l_jj)/mu^2 + (I + l_jj W T^-1)^T (v^/mu - h P); 0 ].

   A parameter has the share - sum (w_i.dR/dp + r_i.d(phidot)/dp). */
#include "core/small.h"
#include "integrator/radau/slopes.h"

#include <float.h>
#include <math.h>

/* ---- what is kept of a step ---- */

/* Its size; theta, K and lam of all stages. */
static int count(const lg_stepper *self)
{
    const lg_radau_stepper *r = (const lg_radau_stepper *)self;
    return 1 + lg_radau_stages(&r->numbers) * (2 * self->system->space->nv + self->system->pattern->nrows);
}

static void keep(const lg_stepper *self, double *kept)
{
    const lg_radau_stepper *r = (const lg_radau_stepper *)self;
    int nv = self->system->space->nv, nrows = self->system->pattern->nrows;
    *kept++ = r->h;
    for (int i = 0; i < lg_radau_stages(&r->numbers); i++, kept += 2 * nv + nrows) {
        lg_copy(nv, r->stage[i].theta, kept);
        lg_copy(nv, r->stage[i].K, kept + nv);
        lg_copy(nrows, r->stage[i].lam, kept + 2 * nv);
    }
}

static void take(lg_radau_stepper *r, const lg_state *before, const double *kept)
{
    int nv = r->base.system->space->nv, nrows = r->base.system->pattern->nrows;
    lg_radau_set_step(r, before, *kept++);
    for (int i = 0; i < lg_radau_stages(&r->numbers); i++, kept += 2 * nv + nrows) {
        lg_copy(nv, kept, r->stage[i].theta);
        lg_copy(nv, kept + nv, r->stage[i].K);
        lg_copy(nrows, kept + 2 * nv, r->stage[i].lam);
        lg_radau_move(r, i);
    }
}

/* ---- a sweep ---- */

/* The parts of a stage: p and g are da and dK, of the last sweep old_a and old_K; e is dv; w and r are `known`. */

/* P and G. */
static void gather_back(lg_radau_stepper *r, int i)
{
    const lg_radau_numbers *n = &r->numbers;
    lg_radau_slopes *d = r->slopes;
    int nv = r->base.system->space->nv;
    lg_zero(nv, d->v);
    lg_zero(nv, d->theta);
    for (int j = 0; j < lg_radau_stages(n); j++) {
        double old = n->A[j][i] - n->L[j][i];
        lg_axpy(nv, old, d->stage[j].old_a, d->v);
        lg_axpy(nv, old, d->stage[j].old_K, d->theta);
        if (j > i) {
            lg_axpy(nv, n->L[j][i], d->stage[j].da, d->v);
            lg_axpy(nv, n->L[j][i], d->stage[j].dK, d->theta);
        }
    }
}

/* out += (I + l W T^-1)^T x; d->dv0 is room. */
static void add_chain_back(lg_radau_slopes *d, const lg_moves *moves, int nv, double l, const double *x, double *out)
{
    double *turned = d->turn, *room = d->dv0;
    lg_zero(nv, turned);
    lg_zero(nv, room);
    lg_moves_velocity_adjoint(moves, x, turned, room);
    lg_zero(nv, room);
    lg_moves_rate_adjoint(moves, turned, d->y, room);
    for (int k = 0; k < nv; k++)
        out[k] += x[k] + l * room[k];
}

/* w and r of a stage for P and G; q and v NULL: zero. */
static lg_status solve_rows(lg_radau_stepper *r, int i, const double *q, const double *v)
{
    lg_radau_slopes *d = r->slopes;
    lg_radau_stage_slopes *s = &d->stage[i];
    int nv = r->base.system->space->nv, nrows = r->base.system->pattern->nrows;
    double mu = lg_radau_rate(r, i), own = r->numbers.L[i][i], *x = s->known, *of_v = d->x;
    lg_zero(nv + nrows, x);
    lg_moves_rate_adjoint(&s->moves, d->theta, d->y, x);
    for (int k = 0; k < nv; k++) {
        x[k] = ((q ? q[k] : 0) - x[k] / own) / (mu * mu);
        of_v[k] = (v ? v[k] / mu : 0) - r->h * d->v[k];
    }
    add_chain_back(d, &s->moves, nv, own, of_v, x);
    LG_TRY(lg_matrix_solve_transposed(&s->matrix, x));
    for (int k = 0; k < nrows; k++)
        x[nv + k] *= mu;
    return LG_OK;
}

/* out += K^T w + Z^T r, less q (NULL: zero) */
static void add_position(const lg_radau_stepper *r, const lg_radau_stage_slopes *s, const double *q, double *out)
{
    int nv = r->base.system->space->nv;
    lg_matrix_add_transposed(&s->K, 1, s->known, out);
    lg_pattern_add_BT(r->base.system->pattern, s->Z, 1, s->known + nv, out);
    if (q)
        lg_axpy(nv, -1, q, out);
}

/* Solves a stage; *change: the largest change of p and h g since the last sweep. */
static lg_status solve_stage_back(lg_radau_stepper *r, int i, const double *q, const double *v, double *change)
{
    lg_radau_slopes *d = r->slopes;
    lg_radau_stage_slopes *s = &d->stage[i];
    int nv = r->base.system->space->nv;
    double mu = lg_radau_rate(r, i), *inertia = d->x, *e = s->dv, *position = d->turn;
    gather_back(r, i);
    LG_TRY(solve_rows(r, i, q, v));
    lg_zero(nv, inertia);
    lg_zero(nv, e);
    lg_zero(nv, position);
    lg_matrix_add_transposed(&s->M, mu, s->known, inertia);
    lg_axpy(nv, mu * r->h, d->v, inertia);
    lg_matrix_add_transposed(&s->D, 1, s->known, e);
    lg_pattern_add_BT(r->base.system->pattern, s->B, 1, s->known + nv, e);
    for (int k = 0; k < nv; k++) {
        e[k] = (e[k] + inertia[k] - (v ? v[k] : 0)) / r->h;
        s->da[k] = -inertia[k];
    }
    add_position(r, s, q, position);
    lg_zero(nv, s->dK);
    lg_zero(nv, d->y);
    lg_moves_velocity_adjoint(&s->moves, e, s->dK, d->y);
    lg_moves_end_adjoint(&s->moves, position, d->y, s->dK);
    for (int k = 0; k < nv; k++)
        *change = fmax(*change, fmax(fabs(s->da[k] - s->old_a[k]), r->h * fabs(s->dK[k] - s->old_K[k])));
    return LG_OK;
}

static double largest_back(const lg_radau_stepper *r)
{
    int nv = r->base.system->space->nv;
    double largest = DBL_MIN;
    for (int i = 0; i < lg_radau_stages(&r->numbers); i++) {
        const lg_radau_stage_slopes *s = &r->slopes->stage[i];
        largest = fmax(largest, fmax(lg_max_abs(nv, s->da), r->h * lg_max_abs(nv, s->dK)));
    }
    return largest;
}

/* Sweeps until p and g change by round-off alone: by theirs, or where nothing can move by that of the adjoint of the
   end, which multipliers take up. */
static lg_status sweep_back(lg_radau_stepper *r, const double *q, const double *v)
{
    int nv = r->base.system->space->nv, stages = lg_radau_stages(&r->numbers);
    lg_radau_progress progress = {0};
    double noise = 16 * DBL_EPSILON * fmax(lg_max_abs(nv, v), r->h * lg_max_abs(nv, q));
    for (int i = 0; i < stages; i++) {
        lg_zero(nv, r->slopes->stage[i].dK);
        lg_zero(nv, r->slopes->stage[i].da);
    }
    for (int n = 0; n < LG_RADAU_MOST_SWEEPS; n++) {
        double change = 0;
        for (int i = 0; i < stages; i++) {
            lg_copy(nv, r->slopes->stage[i].dK, r->slopes->stage[i].old_K);
            lg_copy(nv, r->slopes->stage[i].da, r->slopes->stage[i].old_a);
        }
        for (int i = stages - 1; i >= 0; i--)
            LG_TRY(solve_stage_back(r, i, i == stages - 1 ? q : NULL, i == stages - 1 ? v : NULL, &change));
        if (lg_radau_converged(&progress, change, largest_back(r)) || (progress.stuck && change <= noise))
            return LG_OK;
    }
    lg_report_name(&r->base.report, "the iteration for the adjoint of the stages does not converge");
    return LG_NO_CONVERGENCE;
}

/* ---- the step ---- */

/* From the adjoint of the state at the end to that of q and v before their projection. */
static lg_status end_back(lg_radau_stepper *r, const lg_sensitivities *s, double *gradient)
{
    lg_stepper *base = &r->base;
    lg_follower *follower = &r->slopes->follower;
    lg_follow_begin(follower);
    base->accel.follower = follower;
    lg_status status = lg_radau_finish(r);
    base->accel.follower = NULL;
    LG_TRY(status);
    lg_point end = lg_radau_point(r, lg_radau_stages(&r->numbers) - 1);
    end.q = r->q_end, end.v = r->v_end, end.a = r->a_end, end.lam = r->lam_end;
    LG_TRY(lg_linearise(&base->linear, &end, NULL));
    if (!base->system->pattern->nrows)
        LG_TRY(lg_accel_factor(&base->accel, &end, &(lg_wanted){0}, &base->report));
    LG_TRY(lg_linearised_accelerations_adjoint(&base->linear, &end, base->nparameters, s->a, s->lam, s->q, s->v,
                                               gradient));
    return lg_follow_back(follower, base->nparameters, s->q, s->v, gradient, &base->report);
}

/* What a stage adds to the adjoint of the start, and to the shares of all parameters. */
static lg_status stage_to_start(lg_radau_stepper *r, int i, const double *q_end, const lg_sensitivities *s,
                                double *gradient)
{
    lg_radau_slopes *d = r->slopes;
    const lg_radau_stage_slopes *stage = &d->stage[i];
    lg_linearised *l = &r->base.linear;
    int nv = r->base.system->space->nv;
    lg_point point = lg_radau_point(r, i);
    lg_zero(nv, d->turn);
    add_position(r, stage, q_end, d->turn);
    for (int k = 0; k < nv; k++)
        d->turn[k] = -d->turn[k];
    lg_moves_end_adjoint(&stage->moves, d->turn, s->q, d->dv0);
    lg_axpy(nv, -1, stage->da, s->v);
    const lg_term_weights weights = {.forces = stage->known, .phidot = stage->known + nv};
    return lg_linearised_weigh(l, &point, r->base.nparameters, &weights, -1, gradient);
}

static lg_status step(lg_stepper *self, const lg_state *before, const lg_state *after, const double *kept,
                      const lg_sensitivities *s, double *gradient)
{
    lg_radau_stepper *r = (lg_radau_stepper *)self;
    lg_radau_slopes *d = r->slopes;
    int nv = self->system->space->nv, stages = lg_radau_stages(&r->numbers);
    (void)after;
    take(r, before, kept);
    LG_TRY(end_back(r, s, gradient));
    LG_TRY(lg_radau_form_slopes(r));
    LG_TRY(sweep_back(r, s->q, s->v));
    lg_copy(nv, s->q, d->x);
    lg_zero(nv, s->q);
    lg_zero(nv, s->v);
    for (int i = 0; i < stages; i++)
        LG_TRY(stage_to_start(r, i, i == stages - 1 ? d->x : NULL, s, gradient));
    lg_zero(nv, s->a);
    lg_zero(self->system->pattern->nrows, s->lam);
    return LG_OK;
}

static const lg_stepper_adjoint adjoint = {.count = count, .keep = keep, .step = step};

const lg_stepper_sensitivities lg_radau_sensitivities = {.layout = lg_radau_layout_slopes,
                                                         .step = lg_radau_step_slopes,
                                                         .adjoint = &adjoint,
                                                         .close = lg_radau_close_slopes};
