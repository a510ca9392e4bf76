/* The table of bodies; see bodies.h. */
#include "model/body/bodies.h"

const lg_body_type *const lg_body_types[] = {
#define LG_BODY(symbol) &symbol,
#include "model/body/bodies.def"
#undef LG_BODY
};
const int lg_body_type_count = sizeof lg_body_types / sizeof *lg_body_types;
