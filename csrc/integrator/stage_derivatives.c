/* Derivatives of stages and points; see stage_derivatives.h. */
#include "integrator/stage_derivatives.h"

#include "core/small.h"

void lg_stage_derivatives_layout(lg_stage_derivatives *d, lg_stepper *stepper, int stages, lg_arena *arena)
{
    size_t n = stepper->backwards ? 1 : (size_t)stepper->nparameters, nv = (size_t)stepper->system->space->nv;
    d->nv = (int)nv;
    d->stages = stages;
    d->slopes = lg_arena_doubles(arena, 2 * nv * n * (size_t)stages);
    d->theta = lg_arena_doubles(arena, nv * n);
    d->q = lg_arena_doubles(arena, nv * n);
    d->v = lg_arena_doubles(arena, nv * n);
    d->lam = lg_arena_doubles(arena, (size_t)stepper->system->pattern->nrows);
    lg_moves_layout(&d->moves, stepper->system->space, arena);
    lg_flow_derivatives_layout(&d->flows, stepper->system->space, stages, n, arena);
    stepper->linear.wants_Z = stepper->backwards && !lg_linearised_knows_rows(&stepper->linear);
    d->follower.linear = &stepper->linear;
    lg_follow_layout(&d->follower, stepper->nparameters, stepper->backwards, arena);
}

void lg_stage_derivatives_begin(lg_stage_derivatives *d, const lg_state *before, const lg_sensitivities *start,
                                double h)
{
    d->start = start;
    d->h = h;
    for (int k = 0; k < start->count; k++) {
        double *first = lg_stage_derivatives_at(d, 0, k);
        lg_copy(d->nv, start->v + (long)d->nv * k, first);
        lg_copy(d->nv, start->a + (long)d->nv * k, first + d->nv);
    }
    lg_flow_derivatives_begin(&d->flows, before, start);
}

void lg_stage_derivatives_move(lg_stage_derivatives *d, const double *q, const double *v, const double *theta,
                               const double *K)
{
    lg_moves_form(&d->moves, theta, K);
    lg_flow_derivatives_move(&d->flows, q, v);
}

void lg_stage_derivatives_advance(lg_stage_derivatives *d, const lg_weights *weights, int open, int k)
{
    long at = (long)d->nv * k;
    double *theta = d->theta + at, *v = d->v + at;
    lg_zero(d->nv, theta);
    lg_copy(d->nv, d->start->v + at, v);
    for (int j = 0; j < weights->count; j++) {
        const double *slopes = lg_stage_derivatives_at(d, weights->stage[j], k);
        double weight = d->h * weights->weight[j];
        lg_axpy(d->nv, weight, slopes, theta);
        if (j < weights->count - open)
            lg_axpy(d->nv, weight, slopes + d->nv, v);
    }
    lg_moves_end(&d->moves, d->start->q + at, theta, d->q + at);
    lg_flow_derivatives_advance(&d->flows, weights, d->h, k, d->q + at);
}

void lg_stage_derivatives_rate(lg_stage_derivatives *d, int i, int k)
{
    long at = (long)d->nv * k;
    lg_moves_rate(&d->moves, d->theta + at, d->v + at, lg_stage_derivatives_at(d, i, k));
    lg_flow_derivatives_rate(&d->flows, i, k, d->v + at);
}

/* ---- the way back ---- */

static void clear_point(lg_stage_derivatives *d)
{
    lg_zero(d->nv, d->theta);
    lg_zero(d->nv, d->q);
    lg_zero(d->nv, d->v);
}

void lg_stage_derivatives_begin_back(lg_stage_derivatives *d, const lg_state *before, const lg_sensitivities *start,
                                     double h)
{
    d->start = start;
    d->h = h;
    lg_zero(2 * d->nv * d->stages, d->slopes);
    clear_point(d);
    lg_copy(d->nv, start->q, d->q);
    lg_copy(d->nv, start->v, d->v);
    lg_zero(d->nv, start->q);
    lg_zero(d->nv, start->v);
    lg_flow_derivatives_begin_back(&d->flows, before);
}

void lg_stage_derivatives_rate_back(lg_stage_derivatives *d, int i)
{
    lg_moves_rate_adjoint(&d->moves, lg_stage_derivatives_at(d, i, 0), d->theta, d->v);
    lg_flow_derivatives_rate_back(&d->flows, i, d->v);
}

void lg_stage_derivatives_advance_back(lg_stage_derivatives *d, const lg_weights *weights, int open)
{
    lg_flow_derivatives_advance_back(&d->flows, weights, d->h, d->q);
    lg_moves_end_adjoint(&d->moves, d->q, d->start->q, d->theta);
    lg_axpy(d->nv, 1, d->v, d->start->v);
    for (int j = 0; j < weights->count; j++) {
        double *slopes = lg_stage_derivatives_at(d, weights->stage[j], 0), weight = d->h * weights->weight[j];
        lg_axpy(d->nv, weight, d->theta, slopes);
        if (j < weights->count - open)
            lg_axpy(d->nv, weight, d->v, slopes + d->nv);
    }
    clear_point(d);
}

void lg_stage_derivatives_end_back(lg_stage_derivatives *d)
{
    const double *first = lg_stage_derivatives_at(d, 0, 0);
    lg_axpy(d->nv, 1, first, d->start->v);
    lg_copy(d->nv, first + d->nv, d->start->a);
    lg_flow_derivatives_end_back(&d->flows, d->start->q, d->start->v);
}
