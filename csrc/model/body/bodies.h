/* The table of bodies. */
#ifndef LG_MODEL_BODIES_H
#define LG_MODEL_BODIES_H

#include "model/body/body.h"

extern const lg_body_type *const lg_body_types[];
extern const int lg_body_type_count;

#endif
