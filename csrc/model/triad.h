/* Triads (e1, e2, e3) on two bodies, for joints and drives: 3 x 3 row-major in body axes, columns e1 e2 e3. */
#ifndef LG_MODEL_TRIAD_H
#define LG_MODEL_TRIAD_H

#include "core/small.h"

/* Column i (0-based) of a triad. */
static inline void lg_triad_axis(const double *triad, int i, double u[3])
{
    u[0] = triad[i], u[1] = triad[3 + i], u[2] = triad[6 + i];
}

static inline int lg_triad_orthonormal(const double *triad)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double u[3], v[3];
            lg_triad_axis(triad, i, u);
            lg_triad_axis(triad, j, v);
            if (!(fabs(lg_dot3(u, v) - (i == j)) < 1e-9))
                return 0;
        }
    return 1;
}

/* The angle about e3 from the first triad to the second, on the branch nearest to `near`; v = R_a^T R_b e1 of the
   second. */
static inline double lg_triad_angle(const double *triad_a, const double v[3], double near)
{
    double e1[3], e2[3], turn = 2 * LG_PI;
    lg_triad_axis(triad_a, 0, e1);
    lg_triad_axis(triad_a, 1, e2);
    double angle = atan2(lg_dot3(e2, v), lg_dot3(e1, v));
    return angle + turn * round((near - angle) / turn);
}

#endif
