#include "model/joint/joints.h"

const lg_joint_type *const lg_joint_types[] = {
#define LG_JOINT(symbol, name, translations, pairs, angle, doc) &symbol,
#define LG_CONSTRAINT(symbol) &symbol,
#include "model/joint/joints.def"
#undef LG_JOINT
#undef LG_CONSTRAINT
};
const int lg_joint_type_count = sizeof lg_joint_types / sizeof *lg_joint_types;
