/* States near that of a point; see near_state.h. */
#include "model/near_state.h"

lg_near_state lg_near_state_open(const lg_space *space, const lg_point *at, double *work)
{
    lg_near_state near = {space, at, work, work + space->nq, work + space->nq + space->nv};
    lg_copy(space->nq, at->q, near.q);
    lg_copy(space->nv, at->v, near.v);
    lg_zero(space->nv, near.theta);
    return near;
}

lg_point lg_near_state_point(const lg_near_state *near)
{
    lg_point point = *near->at;
    point.q = near->q, point.v = near->v;
    return point;
}

double lg_near_state_move(const lg_near_state *near, int level, int k, double step)
{
    if (level == 1) {
        near->v[k] = near->at->v[k] + step * (1 + fabs(near->at->v[k]));
        return near->v[k] - near->at->v[k];
    }
    near->theta[k] = step;
    lg_space_move(near->space, near->at->q, near->theta, NULL, near->q, NULL);
    near->theta[k] = 0;
    return step;
}

void lg_near_state_return(const lg_near_state *near, int level, int k)
{
    if (level == 1)
        near->v[k] = near->at->v[k];
    else
        lg_copy(near->space->nq, near->at->q, near->q);
}
