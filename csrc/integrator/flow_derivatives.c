/* Derivatives of coordinates to which rates are added; see flow_derivatives.h. */
#include "integrator/flow_derivatives.h"

#include "core/small.h"

void lg_flow_derivatives_layout(lg_flow_derivatives *d, const lg_space *space, int stages, size_t parameters,
                                lg_arena *arena)
{
    size_t nq = (size_t)space->nq;
    *d = (lg_flow_derivatives){.space = space, .stages = stages};
    for (int i = 0; i < space->nfactors; i++)
        d->count += space->factor[i].node->flow != NULL;
    if (!d->count)
        return;
    d->start = lg_arena_take(arena, (size_t)d->count * sizeof *d->start);
    d->point = lg_arena_take(arena, (size_t)d->count * sizeof *d->point);
    d->q0 = lg_arena_doubles(arena, nq * parameters);
    d->q = lg_arena_doubles(arena, nq * parameters);
    d->rates = lg_arena_doubles(arena, nq * parameters * (size_t)stages);
}

/* The next factor with such coordinates after `f`, or the first one after NULL; NULL: there are no more. */
static const lg_factor *next_factor(const lg_flow_derivatives *d, const lg_factor *f)
{
    const lg_factor *end = d->space->factor + (d->count ? d->space->nfactors : 0);
    for (f = f ? f + 1 : d->space->factor; f < end; f++)
        if (f->node->flow)
            return f;
    return NULL;
}

static double *rates_at(const lg_flow_derivatives *d, int i, int k)
{
    return d->rates + (long)d->space->nq * ((long)d->stages * k + i);
}

/* ---- maps ---- */

static void form_maps(const lg_factor *f, const double *q, const double *v, lg_flow_maps *maps)
{
    const lg_node_flow *flow = f->node->flow;
    double unit[LG_FLOW_NQ] = {0};
    for (int j = 0; j < f->nq; j++) {
        unit[j] = 1;
        flow->slope(q, v, unit, maps->slope + f->nq * j);
        flow->velocity(q, unit, maps->inverse + f->nv * j);
        if (j < f->nv)
            flow->qdot(q, unit, maps->A + f->nq * j);
        unit[j] = 0;
    }
}

static void form_all(const lg_flow_derivatives *d, const double *q, const double *v, lg_flow_maps *maps)
{
    for (const lg_factor *f = next_factor(d, NULL); f; f = next_factor(d, f))
        form_maps(f, q + f->q, v + f->v, maps++);
}

/* y += A x, for A with m rows and n columns */
static void add_product(int m, int n, const double *A, const double *x, double *y)
{
    for (int j = 0; j < n; j++)
        lg_axpy(m, x[j], A + m * j, y);
}

/* y += A^T x */
static void add_transposed(int m, int n, const double *A, const double *x, double *y)
{
    for (int j = 0; j < n; j++)
        y[j] += lg_dot(m, A + m * j, x);
}

/* ---- forwards ---- */

static void set_rates(const lg_flow_derivatives *d, const lg_flow_maps *maps, const double *dq, const double *dv,
                      double *rates)
{
    for (const lg_factor *f = next_factor(d, NULL); f; f = next_factor(d, f), maps++) {
        lg_zero(f->nq, rates + f->q);
        add_product(f->nq, f->nq, maps->slope, dq + f->q, rates + f->q);
        add_product(f->nq, f->nv, maps->A, dv + f->v, rates + f->q);
    }
}

void lg_flow_derivatives_begin(lg_flow_derivatives *d, const lg_state *before, const lg_sensitivities *start)
{
    long nq = d->space->nq, nv = d->space->nv;
    form_all(d, before->q, before->v, d->start);
    for (int k = 0; d->count && k < start->count; k++) {
        double *q0 = d->q0 + nq * k;
        const lg_flow_maps *maps = d->start;
        for (const lg_factor *f = next_factor(d, NULL); f; f = next_factor(d, f), maps++) {
            lg_zero(f->nq, q0 + f->q);
            add_product(f->nq, f->nv, maps->A, start->q + nv * k + f->v, q0 + f->q);
        }
        set_rates(d, d->start, q0, start->v + nv * k, rates_at(d, 0, k));
    }
}

void lg_flow_derivatives_move(lg_flow_derivatives *d, const double *q, const double *v)
{
    form_all(d, q, v, d->point);
}

void lg_flow_derivatives_advance(lg_flow_derivatives *d, const lg_weights *weights, double h, int k, double *dq)
{
    const lg_flow_maps *maps = d->point;
    double *q = d->q + (long)d->space->nq * k;
    const double *q0 = d->q0 + (long)d->space->nq * k;
    for (const lg_factor *f = next_factor(d, NULL); f; f = next_factor(d, f), maps++) {
        lg_copy(f->nq, q0 + f->q, q + f->q);
        for (int j = 0; j < weights->count; j++)
            lg_axpy(f->nq, h * weights->weight[j], rates_at(d, weights->stage[j], k) + f->q, q + f->q);
        lg_zero(f->nv, dq + f->v);
        add_product(f->nv, f->nq, maps->inverse, q + f->q, dq + f->v);
    }
}

void lg_flow_derivatives_rate(lg_flow_derivatives *d, int i, int k, const double *dv)
{
    if (d->count)
        set_rates(d, d->point, d->q + (long)d->space->nq * k, dv, rates_at(d, i, k));
}

/* ---- backwards ---- */

static void rates_back(const lg_flow_derivatives *d, const lg_flow_maps *maps, const double *rates, double *dq,
                       double *dv)
{
    for (const lg_factor *f = next_factor(d, NULL); f; f = next_factor(d, f), maps++) {
        add_transposed(f->nq, f->nq, maps->slope, rates + f->q, dq + f->q);
        add_transposed(f->nq, f->nv, maps->A, rates + f->q, dv + f->v);
    }
}

void lg_flow_derivatives_begin_back(lg_flow_derivatives *d, const lg_state *before)
{
    if (!d->count)
        return;
    form_all(d, before->q, before->v, d->start);
    lg_zero(d->space->nq, d->q0);
    lg_zero(d->space->nq, d->q);
    lg_zero(d->space->nq * d->stages, d->rates);
}

void lg_flow_derivatives_rate_back(lg_flow_derivatives *d, int i, double *dv)
{
    if (d->count)
        rates_back(d, d->point, rates_at(d, i, 0), d->q, dv);
}

void lg_flow_derivatives_advance_back(lg_flow_derivatives *d, const lg_weights *weights, double h, double *dq)
{
    const lg_flow_maps *maps = d->point;
    for (const lg_factor *f = next_factor(d, NULL); f; f = next_factor(d, f), maps++) {
        double *q = d->q + f->q;
        add_transposed(f->nv, f->nq, maps->inverse, dq + f->v, q);
        lg_axpy(f->nq, 1, q, d->q0 + f->q);
        for (int j = 0; j < weights->count; j++)
            lg_axpy(f->nq, h * weights->weight[j], q, rates_at(d, weights->stage[j], 0) + f->q);
        lg_zero(f->nq, q);
        lg_zero(f->nv, dq + f->v);
    }
}

void lg_flow_derivatives_end_back(lg_flow_derivatives *d, double *dq, double *dv)
{
    const lg_flow_maps *maps = d->start;
    if (d->count)
        rates_back(d, d->start, rates_at(d, 0, 0), d->q0, dv);
    for (const lg_factor *f = next_factor(d, NULL); f; f = next_factor(d, f), maps++)
        add_transposed(f->nq, f->nv, maps->A, d->q0 + f->q, dq + f->v);
}
