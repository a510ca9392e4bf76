/* Where the straight part of a tendon's piece leaves the circles at its ends; see wrap.c. */
#ifndef LG_MODEL_FORCE_WRAP_H
#define LG_MODEL_FORCE_WRAP_H

/* The angles of both points from the first axes of the circles, in (-pi, pi], and the length between them, for the
   vector d from the centre of the first circle to that of the second. All in the same axes; the columns of the triads
   (3 x 3, row-major) are the axes of the circles. Radius 0: a point, whose angle is zero. Not numbers if one is inside
   the other one's circle. */
void lg_wrap_angles(const double d[3], const double triad[2][9], const double radius[2], double theta[2],
                    double *length);

#endif
