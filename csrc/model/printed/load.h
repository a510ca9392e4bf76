/* The wrenches of loads in the printed form (frame.h). */
#ifndef LG_MODEL_PRINTED_LOAD_H
#define LG_MODEL_PRINTED_LOAD_H

#include "model/printed/frame.h"

/* Multiplies the wrenches of a load and, with `linear`, their derivatives by powers of n, whose exponents `degree` are
   those of forces and of moments. With `linear` it also adds the derivatives of these factors to S. */
void lg_printed_load(const lg_element *e, const int degree[2], const lg_point *at, const lg_wanted *want, int linear,
                     lg_load *load);

#endif
