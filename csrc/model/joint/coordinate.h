/* Constraint rows phi = r(t) - c s of a coordinate s, the angle or the slide of a joint. */
#ifndef LG_MODEL_JOINT_COORDINATE_H
#define LG_MODEL_JOINT_COORDINATE_H

#include "model/joint/joint.h"

/* One row with r and its first two rates. The parameters of the element begin with two triads, or with the axis of the
   slide in the first body. */
typedef void lg_coordinate_row(const lg_element *e, const lg_pose *const f[2], const lg_point *at, const double r[3],
                               double c, const double *lam, unsigned want, lg_rows *out);
lg_coordinate_row lg_angle_row, lg_slide_row;

/* Its function `jets`. */
void lg_angle_jets(const lg_element *e, double c, const lg_frame_jet f[2], lg_wrench_jet out[2]);
void lg_slide_jets(const lg_element *e, double c, const lg_frame_jet f[2], lg_wrench_jet out[2]);

#endif
