/* Tangents of forces between two points. */
#ifndef LG_MODEL_BETWEEN_H
#define LG_MODEL_BETWEEN_H

#include "model/element.h"

/* S += s d(wrenches)/du as in tangent.h, for F on the point of the second frame and -F on that of the first, with
   dF = A dd + B dd' for their separation d. */
void lg_tangent_add_between(const lg_element *e, const lg_point *at, const lg_wanted *want, double s, const double A[9],
                            const double B[9]);

#endif
