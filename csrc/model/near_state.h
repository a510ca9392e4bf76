/* A state near that of a point, at which functions that read the state are called for differences. */
#ifndef LG_MODEL_NEAR_STATE_H
#define LG_MODEL_NEAR_STATE_H

#include "model/model.h"

typedef struct lg_near_state {
    const lg_space *space;
    const lg_point *at;
    double *q, *v; /* that state */
    double *theta; /* scratch of a move; zeros between moves */
} lg_near_state;

/* Doubles of scratch. */
static inline size_t lg_near_state_work(const lg_space *space)
{
    return (size_t)space->nq + 2 * (size_t)space->nv;
}

/* The state at the point itself, in scratch, which ends at theta + nv. */
lg_near_state lg_near_state_open(const lg_space *space, const lg_point *at, double *work);
/* The point with that state. */
lg_point lg_near_state_point(const lg_near_state *near);
/* Moves the state along velocity k by v (level 1) or by a displacement (level 0), and returns by how much. */
double lg_near_state_move(const lg_near_state *near, int level, int k, double step);
void lg_near_state_return(const lg_near_state *near, int level, int k);

#endif
