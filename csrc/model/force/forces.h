/* The table of forces. */
#ifndef LG_MODEL_FORCES_H
#define LG_MODEL_FORCES_H

#include "model/force/force.h"

extern const lg_force_type *const lg_force_types[];
extern const int lg_force_type_count;

#endif
