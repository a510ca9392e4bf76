/* Frames on the links of a tree: functions of its row. */
#ifndef LG_MODEL_TREE_FRAME_H
#define LG_MODEL_TREE_FRAME_H

#include "model/body/body.h"

void lg_tree_pose(const lg_frame *f, const lg_point *at, lg_level level);
/* Adds the wrenches on a frame to those of its link; `geo`: updates T as well. */
void lg_tree_collect(const lg_frame *f, const lg_point *at, int geo);
void lg_tree_pull(const lg_frame *f, const lg_point *at, double s, const double wrench[6], double *out);
void lg_tree_pull_rate(const lg_frame *f, const lg_point *at, const double wrench[6], double *row);
void lg_tree_H(const lg_frame *f, const lg_point *at, double *H);
void lg_tree_Z(const lg_frame *f, const lg_point *at, double *Z);

#endif
