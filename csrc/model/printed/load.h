/* The wrenches of loads where bodies stretch what they turn. */
#ifndef LG_MODEL_PRINTED_LOAD_H
#define LG_MODEL_PRINTED_LOAD_H

#include "model/printed/frame.h"

/* Multiplies the wrenches of a load and, with `linear`, their derivatives by the powers `degree` of n, of forces and of
   moments; with `linear` adds to S what these factors contribute. */
void lg_printed_load(const lg_element *e, const int degree[2], const lg_point *at, const lg_wanted *want, int linear,
                     lg_load *load);

#endif
