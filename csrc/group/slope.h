/* The derivative of the tangent operator of a node kind. */
#ifndef LG_GROUP_SLOPE_H
#define LG_GROUP_SLOPE_H

#include "group/node.h"
#include "group/rotation.h"

enum { LG_NODE_NV = 6 }; /* the most velocities of a kind that is not linear */

/* W = d(T(theta) y)/dtheta at fixed y, nv x nv and column-major, of a kind that is not linear. */
void lg_tangent_slope(const lg_node *node, const double *theta, const double *y, double *W);

/* The functions of an angle in the derivative of T of a rotation. */
typedef struct lg_angles {
    lg_angle x;
    double sincc_d;
} lg_angles;

static inline lg_angles lg_angles_of(const double theta[3])
{
    double x2 = lg_dot3(theta, theta);
    return (lg_angles){lg_angle_of(x2), lg_sincc_d(x2)};
}

/* The same W of a rotation in closed form. */
void lg_rotation_slope(const lg_angles *angles, const double theta[3], const double y[3], double W[9]);

#endif
