/* The relative motion of the two bodies under an element as a pair of wrenches that balance each other. */
#ifndef LG_MODEL_RELATIVE_H
#define LG_MODEL_RELATIVE_H

#include "model/element.h"

typedef struct lg_relative {
    const double *R[2]; /* of the bodies */
    double alpha[2], sign[2]; /* shares of the bodies in the turning of d; direction of the end */
    double square, turning[9]; /* l^2 Pi, and l^2 */
    int slides, radial; /* whether r is in it; whether only its part along d is */
    double d[3], u[3], w[2][3], mean[3]; /* inertial */
    double r[3], s[3];
    double wrench[2][6]; /* nu: inertial force, moment in body axes */
    double power; /* nu . twists */
} lg_relative;

/* At the present poses and twists; l2: the square of a length by which angles count. vertical: the axis about which
   rotations do not count for what acts between a body and the ground, zero if there is none. */
void lg_relative_open(const lg_element *e, const lg_pose *const f[2], const double vertical[3], double l2,
                      lg_relative *out);
/* Derivatives of the wrenches by poses and twists, but for a change of nu by a factor. */
void lg_relative_tangent(const lg_element *e, const lg_relative *a, lg_quarters K[2][2], lg_quarters D[2][2]);

#endif
