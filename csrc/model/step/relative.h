/* The motion of the two ends of an element relative to each other in a step, for the conserving form (step.h).

   With a and b the two ends, p their points, r = R_a^T (p_b - p_a) and S = R_a^T R_b, the element is changed by y =
   (dr, beta) alone, dr = r_1 - r_0 and beta = log(S_0^T S_1). It is evaluated at relative poses only: a at (0, 1) and b
   at (r, S), in the middle at the mean r_m and at S_m = S_0 exp(beta/2). There it exerts on b a force f, in the axes of
   a, and a moment m, in those of b, with the power f . dr + m . beta. They act on the bodies as

       F = Ra f on p_b,   M_b = axial(Ra S_m m^ Rb^T)/k,   -F on p_a,   M_a = -M_b - d x F,   d = mean of p_b - p_a,

   where Ra and Rb are means of both ends, k = 2 sin(|beta|/2)/|beta|, and axial(X) is the vector of (X - X^T)/2. These
   wrenches are in balance, and their work in the step (motion.h) is exactly f . dr + m . beta.

   The same holds for an element that sees only the distance, with r = (|p_b - p_a|, 0, 0), S = 1, no moments, and F =
   f_1 d/l_m, l_m the mean distance: its work is f_1 (l_1 - l_0), since d . (d_1 - d_0) = l_m (l_1 - l_0). */
#ifndef LG_MODEL_RELATIVE_H
#define LG_MODEL_RELATIVE_H

#include "model/step/motion.h"

enum { LG_AT_START, LG_AT_END, LG_AT_MIDDLE };

typedef struct lg_relative {
    int base, by_distance; /* which end of the element is a; whether it sees only the distance */
    const lg_frame_motion *a, *b;
    double d[3][3], r[3][3], S[3][9]; /* at start, end and middle; d = p_b - p_a */
    double y[6], rate[6]; /* (dr, beta), and the same divided by h */
    double Ra[9], Rb[9], RS[9]; /* means of both ends; Ra S_m */
    double k, k_slope; /* k, and k' such that dk = k' beta . dbeta */
    double change[36],
        middle[36]; /* for tangents: derivatives of y, and of the pose in the middle, by z; column-major */
} lg_relative;

/* z is the relative motion at the end of the step: dr_1 in the axes of a, and the turn of b relative to a in those of
   b. */

/* Opens the relative motion of an element; `base`: which end is a. */
void lg_relative_open(const lg_motion *step, const lg_element *e, int base, int by_distance, lg_relative *out);
/* Sets the poses of the element's frames to those at the start, the end or the middle; `moving`: with the twist y/h. */
void lg_relative_put(const lg_relative *r, const lg_element *e, const lg_point *at, int where, int moving);
/* The wrenches of (f, m) on both frames of the element, in inertial axes. */
void lg_relative_spread(const lg_relative *r, const double fm[6], double wrench[2][6]);
/* The wrenches at the end of the step whose work is that of by_z along z. */
void lg_relative_spread_at_end(const lg_relative *r, const double by_z[6], double wrench[2][6]);
/* Adds s times the derivative of these wrenches to S. G is the derivative of (f, m) by z, 6 x 6, column-major. */
void lg_relative_add(const lg_relative *r, const lg_motion *step, const lg_element *e, double s, const double fm[6],
                     const double G[36]);

#endif
