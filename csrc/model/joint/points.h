#ifndef LG_MODEL_POINTS_H
#define LG_MODEL_POINTS_H

#include "model/joint/joint.h"

/* The batch function of a joint without pairs that locks all three translations; its first parameter is the carrier. */
lg_status lg_points_all(lg_joints joints, const lg_point *at, const lg_wanted *want);

/* Whether the first three rows of a joint say in inertial axes that two points coincide, and the others depend on
   rotations alone. */
int lg_points_coincide(const lg_joint *joint);

/* Whether this is such a joint, in inertial axes and on rigid bodies of Lie groups. */
int lg_points_are_plain(const lg_joint *joint);
/* Adds what its function `jets` gives for the derivatives of B a - zeta, without poses. */
void lg_points_accelerate(const lg_joint *joint, const lg_point *at, double *of_q, double *of_v);

#endif
