/* The motion of a tree's links. */
#ifndef LG_MODEL_TREE_MOTION_H
#define LG_MODEL_TREE_MOTION_H

#include "model/body/tree_state.h"

/* Functions of the row: the joints in the form that kinematics needs. */
int lg_tree_prepare(const lg_body *b, double *prepared);

/* Poses and axes of all links at q. */
void lg_tree_set_poses(const lg_body *b, const lg_point *at);
/* Twists and, if the level says so, biases, and the values of them that frames refer to. */
void lg_tree_set_motion(const lg_body *b, const lg_point *at, lg_level level);

#endif
