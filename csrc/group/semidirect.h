/* The logarithm on SE(3) and the derivatives of products with T^-1 and its transpose, theta = (U, Omega). All of them
   take the functions of the angle x = |Omega|, which lg_cotangent_of(|Omega|^2) evaluates once. Matrices are 6 x 6,
   column-major. T^-1(-theta) = T^-1(theta) - ad(theta). */
#ifndef LG_GROUP_SEMIDIRECT_H
#define LG_GROUP_SEMIDIRECT_H

#include "group/rotation.h"

/* ad(theta) v = (Omega x v_linear + U x v_angular, Omega x v_angular); each pair is a component of both parts. */
static LG_INLINE void lg_se3_ad(const double theta[6], const lg_two v[3], lg_two c[3])
{
    const double *U = theta, *O = theta + 3;
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        c[i] = O[j] * v[k] - O[k] * v[j] + (lg_two){U[j] * v[k][1] - U[k] * v[j][1], 0};
    }
}

/* U = V(Omega)^-1 d for a pose (d, exp(Omega^)), so that (U, Omega) is its logarithm; theta already holds Omega */
static inline void lg_se3_log_at(const lg_cotangent *x, const double d[3], double theta[6])
{
    lg_hat_apply(theta + 3, -0.5, x->c, d, theta); // V^-1 = I - h/2 + cotc h^2
}

/* D = d(T^-1(theta) v)/dtheta and D = d(T^-T(theta) s)/dtheta at constant v and s */
void lg_se3_tangent_solve_d(const double theta[6], const lg_cotangent *x, const double v[6], double D[36]);
void lg_se3_transposed_solve_d(const double theta[6], const lg_cotangent *x, const double s[6], double D[36]);

#endif
