#include "group/space.h"

#include <float.h>
#include <limits.h>
#include <stdint.h>

int lg_space_count(lg_space *space, long long nq, long long nv)
{
    long long all = space->nv + nv;
    long long square = nv <= INT_MAX / nv ? nv * nv : INT_MAX, rows = space->nrows > 0 ? space->nrows : 1;
    if (square > INT_MAX - 1 - space->nm || nq > INT_MAX - space->nq || all > INT_MAX / rows)
        return 0;
    space->nq += (int)nq, space->nv += (int)nv, space->nm += (int)square;
    return 1;
}

double lg_space_regular(const lg_space *space, const double *q, int *block)
{
    double least = 1;
    if (!space->singular)
        return least;
    for (const lg_factor *f = space->factor, *end = f + space->nfactors; f < end; f++) {
        double regular = f->node->regular ? f->node->regular(q + f->q) : 1;
        if (regular < least)
            least = regular, *block = f->block;
    }
    return least;
}

void lg_factor_move(const lg_factor *f, const double *q0, const double *theta, const double *y, double *q, double *w)
{
    f->node->retract(f->n, q0, theta, q);
    if (y)
        f->node->tangent_mul(f->n, theta, y, w);
}

void lg_factor_stage(const lg_factor *f, const double *q0, const double *theta, const double *v, double *q,
                     double *thetadot)
{
    f->node->retract(f->n, q0, theta, q);
    f->node->rate(f->n, q0, theta, v, thetadot);
}

void lg_space_retract(const lg_space *space, const double *q0, const double *theta, double *q)
{
    for (const lg_factor *f = space->factor, *end = f + space->nfactors; f < end; f++)
        f->node->retract(f->n, q0 + f->q, theta + f->v, q + f->q);
}

void lg_space_advance(const lg_space *space, const double *theta, double *q)
{
    for (const lg_factor *f = space->factor, *end = f + space->nfactors; f < end; f++) {
        double q0[LG_NODE_NQ];
        if (f->node->move) {
            lg_copy(f->nq, q + f->q, q0);
            f->node->move(f->n, q0, theta + f->v, NULL, q + f->q, NULL);
        } else {
            f->node->retract(f->n, q + f->q, theta + f->v, q + f->q);
        }
    }
}

void lg_space_polish(const lg_space *space, double *q)
{
    for (const lg_factor *f = space->factor, *end = f + space->nfactors; f < end; f++)
        if (f->node->polish)
            f->node->polish(q + f->q);
}

/* The size of the numbers along velocity i of a factor. */
static double size_along(const lg_factor *f, const double *q, int i)
{
    if (f->node->position == LG_POSITION_NO_BODY)
        return fmax(1, fabs(q[i]));
    return i < f->node->attitude_v ? lg_max_abs(f->node->attitude_q, q) : 1;
}

void lg_space_shake(const lg_space *space, const double *q, double *theta, double *q1)
{
    const double round_off = 64 * DBL_EPSILON;
    uint32_t random = 1; /* always the same numbers */
    for (const lg_factor *f = space->factor, *end = f + space->nfactors; f < end; f++)
        for (int i = 0; i < f->nv; i++) {
            random = 1664525 * random + 1013904223;
            theta[f->v + i] = f->nq == 0 ? 0 : (random >> 31 ? round_off : -round_off) * size_along(f, q + f->q, i);
        }
    lg_space_retract(space, q, theta, q1);
}

void lg_space_difference(const lg_space *space, const double *q0, const double *q1, double *theta)
{
    for (const lg_factor *f = space->factor, *end = f + space->nfactors; f < end; f++)
        f->node->difference(f->n, q0 + f->q, q1 + f->q, theta + f->v);
}

void lg_space_rate(const lg_space *space, const double *q0, const double *theta, const double *v, double *thetadot)
{
    for (const lg_factor *f = space->factor, *end = f + space->nfactors; f < end; f++)
        f->node->rate(f->n, q0 + f->q, theta + f->v, v + f->v, thetadot + f->v);
}

void lg_space_tangent_mul(const lg_space *space, const double *theta, const double *v, double *w)
{
    for (const lg_factor *f = space->factor, *end = f + space->nfactors; f < end; f++)
        if (f->node->linear)
            lg_copy(f->nv, v + f->v, w + f->v);
        else
            f->node->tangent_mul(f->n, theta + f->v, v + f->v, w + f->v);
}
