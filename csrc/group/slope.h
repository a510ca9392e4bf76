/* The derivative of the tangent operator of a node kind. */
#ifndef LG_GROUP_SLOPE_H
#define LG_GROUP_SLOPE_H

#include "group/node.h"

enum { LG_NODE_NV = 6 }; /* the most velocities of a kind that is not linear */

/* W = d(T(theta) y)/dtheta at fixed y, nv x nv and column-major, of a kind that is not linear. */
void lg_tangent_slope(const lg_node *node, const double *theta, const double *y, double *W);

#endif
