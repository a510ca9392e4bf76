/* The round-off of q1 in p1.

   p1(q1) and the force rows r hold the round-off of q1 over h and over h^2. After the step p1 is p1(q1) - h r, that of
   (72b): otherwise the work of this round-off would remain in the energy of every step, and the forces by which stiff
   elements amplify it in the momenta. A coordinate without mass keeps p1(q1) exactly. */
#include "integrator/conserve/step.h"

#include <float.h>
#include <math.h>

/* The largest error that the round-off of q1 causes in the i-th momentum of a block, without forces. */
static double round_off_of(const lg_conserve_stepper *c, const lg_block *b, int i)
{
    double sum = 0;
    for (int j = 0; j < b->nv; j++)
        sum += 4 * DBL_EPSILON * fabs(c->dp1[b->m + j * b->nv + i] * c->q1[b->q + j]);
    return sum;
}

void lg_conserve_beyond_round_off(const lg_conserve_stepper *c, const double *r, double *rest)
{
    const lg_space *space = c->base.system->space;
    for (const lg_block *b = space->block, *end = b + space->nblocks; b < end; b++)
        for (int i = 0; i < b->nv; i++)
            rest[b->v + i] = fdim(fabs(r[b->v + i]), 0.0625 * round_off_of(c, b, i) / c->h);
}

void lg_conserve_end_momenta(const lg_conserve_stepper *c, double *p)
{
    const lg_space *space = c->base.system->space;
    for (const lg_block *b = space->block, *end = b + space->nblocks; b < end; b++)
        for (int i = 0; i < b->nv; i++) {
            int k = b->v + i;
            p[k] = c->p1[k] - (round_off_of(c, b, i) > 0 ? c->h * c->forces[k] : 0);
        }
}
