/* Where the straight part of a tendon's piece leaves the circles at its ends; see wrap.c. */
#ifndef LG_MODEL_FORCE_WRAP_H
#define LG_MODEL_FORCE_WRAP_H

typedef struct lg_wrap_circle { /* at one end of a piece */
    double r, theta, e1[3], e2[3], rho[3], tau[3]; /* rho and tau are zero for a point */
} lg_wrap_circle;

typedef struct lg_wrap { /* a piece with both circles, at given poses */
    lg_wrap_circle of[2];
    double d[3], D[3], l, t[3]; /* d between the centres */
    double J[2][2], mu[2], f[3], arm[2][3], M[2][3]; /* M = rho x arm, inertial */
} lg_wrap;

/* The angles of both points from the first axes of the circles, in (-pi, pi], and the length between them, for the
   vector d from the centre of the first circle to that of the second. All in the same axes; the columns of the triads
   (3 x 3, row-major) are the axes of the circles. Radius 0: a point, whose angle is zero. Not numbers if one is inside
   the other one's circle. */
void lg_wrap_angles(const double d[3], const double triad[2][9], const double radius[2], double theta[2],
                    double *length);

#endif
