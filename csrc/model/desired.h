/* The desired motion s_d(t) of a coordinate, with its rate and second rate: a function of the user, or quadratic in
   pieces, s_d = a + b r + c r^2/2, r = t - t_i. A piece is a row (t_i, a, b, c) of parameters; the first one also holds
   before its time, and the last one has no end. Without pieces it is zero. Where a function gives the motion, the
   pieces only mark times at which its second rate jumps. */
#ifndef LG_MODEL_DESIRED_H
#define LG_MODEL_DESIRED_H

#include "model/element.h"

/* The pieces are the parameters from `first` to the last one of the element. */
lg_status lg_desired(const lg_element *e, const double *first, const lg_point *at, double motion[3]);
lg_status lg_desired_check(const lg_element *e, const double *first, const char **reason);
/* The beginning of the first piece after t. */
double lg_desired_next_kink(const lg_element *e, const double *first, double t);

#endif
