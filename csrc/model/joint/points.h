#ifndef LG_MODEL_POINTS_H
#define LG_MODEL_POINTS_H

#include "model/joint/joint.h"

/* The batch function of a joint without pairs that locks all three translations; its first parameter is the carrier. */
lg_status lg_points_all(lg_joints joints, const lg_point *at, const lg_wanted *want);

/* Whether this is such a joint, in inertial axes and on rigid bodies of Lie groups. */
int lg_points_are_plain(const lg_joint *joint);
/* Adds the rates of their Z^T w along the motion with the velocities and accelerations of a point. */
void lg_points_add_rates(lg_joints joints, const lg_point *at, const double *w, double *rate);

#endif
