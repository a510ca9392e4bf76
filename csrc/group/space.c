#include "group/space.h"

#include "core/small.h"

void lg_space_retract(const lg_space *space, const double *q0, const double *theta, double *q)
{
    for (const lg_block *b = space->block, *end = b + space->nblocks; b < end; b++)
        b->node->retract(b->n, q0 + b->q, theta + b->v, q + b->q);
}

void lg_space_difference(const lg_space *space, const double *q0, const double *q1, double *theta)
{
    for (const lg_block *b = space->block, *end = b + space->nblocks; b < end; b++)
        b->node->difference(b->n, q0 + b->q, q1 + b->q, theta + b->v);
}

void lg_space_rate(const lg_space *space, const double *q0, const double *theta, const double *v, double *thetadot)
{
    for (const lg_block *b = space->block, *end = b + space->nblocks; b < end; b++)
        b->node->rate(b->n, q0 + b->q, theta + b->v, v + b->v, thetadot + b->v);
}

void lg_space_tangent(const lg_space *space, const double *theta, double *T)
{
    for (const lg_block *b = space->block, *end = b + space->nblocks; b < end; b++)
        if (!b->node->linear)
            b->node->tangent(b->n, theta + b->v, T + b->m);
}

void lg_space_tangent_mul(const lg_space *space, const double *theta, const double *v, double *w)
{
    for (const lg_block *b = space->block, *end = b + space->nblocks; b < end; b++)
        if (b->node->linear)
            lg_copy(b->nv, v + b->v, w + b->v);
        else
            b->node->tangent_mul(b->n, theta + b->v, v + b->v, w + b->v);
}

void lg_space_ad(const lg_space *space, const double *v, double *A)
{
    for (const lg_block *b = space->block, *end = b + space->nblocks; b < end; b++)
        if (!b->node->linear)
            b->node->ad(b->n, v + b->v, A + b->m);
}
