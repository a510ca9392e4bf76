/* The table of joints. */
#ifndef LG_MODEL_JOINTS_H
#define LG_MODEL_JOINTS_H

#include "model/joint/joint.h"

extern const lg_joint_type *const lg_joint_types[];
extern const int lg_joint_type_count;

#endif
