/* Frames on a modal body: functions of its row. */
#ifndef LG_MODEL_MODAL_FRAME_H
#define LG_MODEL_MODAL_FRAME_H

#include "model/body/arm.h"
#include "model/body/body.h"

void lg_modal_pose(const lg_frame *f, const lg_point *at, lg_level level);
void lg_modal_collect(const lg_frame *f, const lg_point *at, const double wrench[6], int geo, lg_resultant *sum);
/* The part of H^T wrench on eta. */
void lg_modal_bend(const lg_frame *f, const lg_point *at, double s, const double wrench[6], double *force);
/* S += s geo(wrench) k0 X0, except for the part of the resultant of all wrenches. */
void lg_modal_add_geo(const lg_frame *f, const lg_point *at, double s, const double wrench[6], const lg_chain *chain,
                      double *S, int ld);
void lg_modal_pull(const lg_frame *f, const lg_point *at, double s, const double wrench[6], double *out);
void lg_modal_pull_rate(const lg_frame *f, const lg_point *at, const double wrench[6], double *row);
void lg_modal_H(const lg_frame *f, const lg_point *at, double *H);
void lg_modal_Z(const lg_frame *f, const lg_point *at, double *Z);

#endif
