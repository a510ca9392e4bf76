/* States beside a point, at which functions that read the state are called for differences. */
#ifndef LG_MODEL_BESIDE_H
#define LG_MODEL_BESIDE_H

#include "model/model.h"

typedef struct lg_beside {
    const lg_space *space;
    const lg_point *at;
    double *q, *v; /* the state beside it */
    double *theta;
} lg_beside;

/* Doubles of scratch. */
static inline size_t lg_beside_work(const lg_space *space)
{
    return (size_t)space->nq + 2 * (size_t)space->nv;
}

/* The state at the point itself, in scratch, which ends at theta + nv. */
lg_beside lg_beside_open(const lg_space *space, const lg_point *at, double *work);
/* The point with the state beside it. */
lg_point lg_beside_point(const lg_beside *b);
/* Moves the state along velocity k by v (level 1) or by a displacement (level 0), and returns by how much. */
double lg_beside_move(const lg_beside *b, int level, int k, double step);
void lg_beside_return(const lg_beside *b, int level, int k);

#endif
