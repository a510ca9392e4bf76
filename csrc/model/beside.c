/* States beside a point; see beside.h. */
#include "model/beside.h"

lg_beside lg_beside_open(const lg_space *space, const lg_point *at, double *work)
{
    lg_beside b = {space, at, work, work + space->nq, work + space->nq + space->nv};
    lg_copy(space->nq, at->q, b.q);
    lg_copy(space->nv, at->v, b.v);
    lg_zero(space->nv, b.theta);
    return b;
}

lg_point lg_beside_point(const lg_beside *b)
{
    lg_point beside = *b->at;
    beside.q = b->q, beside.v = b->v;
    return beside;
}

double lg_beside_move(const lg_beside *b, int level, int k, double step)
{
    if (level == 1) {
        b->v[k] = b->at->v[k] + step * (1 + fabs(b->at->v[k]));
        return b->v[k] - b->at->v[k];
    }
    b->theta[k] = step;
    lg_space_move(b->space, b->at->q, b->theta, NULL, b->q, NULL);
    b->theta[k] = 0;
    return step;
}

void lg_beside_return(const lg_beside *b, int level, int k)
{
    if (level == 1)
        b->v[k] = b->at->v[k];
    else
        lg_copy(b->space->nq, b->at->q, b->q);
}
