/* The part of a factor that turns, behind positions in inertial axes, which add. */
#ifndef LG_GROUP_TURNING_H
#define LG_GROUP_TURNING_H

#include "group/space.h"

typedef struct lg_turning {
    const lg_node *node;
    int v, n; /* first velocity and number of velocities */
} lg_turning;

static inline lg_turning lg_turning_part(const lg_factor *f)
{
    int first = f->node->position == LG_POSITION_INERTIAL ? f->node->attitude_v : 0;
    return (lg_turning){first ? f->node->pivot : f->node, f->v + first, f->nv - first};
}

#endif
