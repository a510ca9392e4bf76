/* Verbs of a rigid body whose points are placed by (e.e) R(e). */
#ifndef LG_MODEL_RIGID_QUADRATIC_H
#define LG_MODEL_RIGID_QUADRATIC_H

#include "model/body/body.h"

/* Turns the pose by R(e) (arm.h) into this one. */
void lg_quadratic_pose(const lg_frame *f, const lg_point *at, lg_pose *pose);
void lg_quadratic_pull(const lg_frame *f, const lg_point *at, double s, const double wrench[6], double *out);
void lg_quadratic_pull_rate(const lg_frame *f, const lg_point *at, const double wrench[6], double *row);
void lg_quadratic_H(const lg_frame *f, const lg_point *at, double *H);
void lg_quadratic_Z(const lg_frame *f, const lg_point *at, double *Z);
void lg_quadratic_gather(const lg_body *body, const lg_point *at, int sum, double *out);
void lg_quadratic_add_geo(const lg_body *body, const lg_point *at, const lg_wanted *want);

#endif
