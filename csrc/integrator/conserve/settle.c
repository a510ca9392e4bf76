/* The round-off of q1 in p1.

   p1(q1) and the force rows r hold the round-off of q1 over h and over h^2. After the step p1 is p1(q1) - h r, that of
   (72b): otherwise the work of this round-off would remain in the energy of every step. It moves by no more than the
   round-off explains, so that a coordinate without mass keeps p1(q1) exactly. */
#include "integrator/conserve/step.h"

#include <float.h>
#include <math.h>

/* The most by which the i-th momentum of a block moves. */
static double most_of(const lg_conserve_stepper *c, const lg_block *b, int i)
{
    double most = 0;
    for (int j = 0; j < b->nv; j++)
        most += 4 * DBL_EPSILON * fabs(c->dp1[b->m + j * b->nv + i] * c->q1[b->q + j]);
    return most;
}

void lg_conserve_unsettled(const lg_conserve_stepper *c, const double *r, double *rest)
{
    const lg_space *space = c->base.system->space;
    for (const lg_block *b = space->block, *end = b + space->nblocks; b < end; b++)
        for (int i = 0; i < b->nv; i++)
            rest[b->v + i] = fdim(fabs(r[b->v + i]), 0.25 * most_of(c, b, i) / c->h);
}

void lg_conserve_settle(const lg_conserve_stepper *c, double *p)
{
    const lg_space *space = c->base.system->space;
    for (const lg_block *b = space->block, *end = b + space->nblocks; b < end; b++)
        for (int i = 0; i < b->nv; i++) {
            double most = most_of(c, b, i), rest = c->h * c->forces[b->v + i];
            p[b->v + i] = c->p1[b->v + i] - fmin(fmax(rest, -most), most);
        }
}
