/* The table of forces; see forces.h. */
#include "model/force/forces.h"

const lg_force_type *const lg_force_types[] = {
#define LG_FORCE(symbol) &symbol,
#include "model/force/forces.def"
#undef LG_FORCE
};
const int lg_force_type_count = sizeof lg_force_types / sizeof *lg_force_types;
