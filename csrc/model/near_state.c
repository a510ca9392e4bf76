/* States near that of a point; see near_state.h. */
#include "model/near_state.h"

lg_near_state lg_near_state_open(const lg_space *space, const lg_point *at, double *work)
{
    lg_near_state b = {space, at, work, work + space->nq, work + space->nq + space->nv};
    lg_copy(space->nq, at->q, b.q);
    lg_copy(space->nv, at->v, b.v);
    lg_zero(space->nv, b.theta);
    return b;
}

lg_point lg_near_state_point(const lg_near_state *b)
{
    lg_point point = *b->at;
    point.q = b->q, point.v = b->v;
    return point;
}

double lg_near_state_move(const lg_near_state *b, int level, int k, double step)
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

void lg_near_state_return(const lg_near_state *b, int level, int k)
{
    if (level == 1)
        b->v[k] = b->at->v[k];
    else
        lg_copy(b->space->nq, b->at->q, b->q);
}
