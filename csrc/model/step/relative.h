/* The motion of the two ends of an element against each other in a step, for the conserving form: step.h.

   With a and b the two ends, p their points, r = R_a^T (p_b - p_a) and S = R_a^T R_b, the element changes by y = (dr,
   beta), dr = r_1 - r_0 and beta = log(S_0^T S_1), and nothing else. It is evaluated at relative poses alone: b at (r,
   S) where a is at (0, 1); in the middle at r_m, the mean, and S_m = S_0 exp(beta/2). What it exerts there on b, the
   force f in the axes of a and the moment m in those of b, has the power f . dr + m . beta. It acts on the bodies as

       F = Ra f on p_b,   M_b = axial(Ra S_m m^ Rb^T)/k,   -F on p_a,   M_a = -M_b - d x F,   d = mean of p_b - p_a,

   where Ra and Rb are means of both ends, k = 2 sin(|beta|/2)/|beta|, and axial(X) is the vector of (X - X^T)/2. These
   wrenches are in balance, and their work in the step (motion.h) is f . dr + m . beta exactly.

   An element of the distance alone has the same with r = (|p_b - p_a|, 0, 0), S = 1, no moments, and F = f_1 d/l_m, l_m
   the mean distance: its work is f_1 (l_1 - l_0), as d . (d_1 - d_0) = l_m (l_1 - l_0). */
#ifndef LG_MODEL_RELATIVE_H
#define LG_MODEL_RELATIVE_H

#include "model/step/motion.h"

enum { LG_AT_START, LG_AT_END, LG_AT_MIDDLE };

typedef struct lg_relative {
    int base, by_distance; /* which end of the element is a */
    const lg_moved *a, *b;
    double d[3][3], r[3][3], S[3][9]; /* at start, end and middle; d = p_b - p_a */
    double y[6], rate[6]; /* (dr, beta), over h */
    double Ra[9], Rb[9], RS[9]; /* means of both ends; Ra S_m */
    double k, k_slope; /* k, and its derivative over beta . dbeta */
    double change[36], middle[36]; /* for tangents: y, and the pose in the middle, by z; column-major */
} lg_relative;

/* The relative motion at the end is z: dr_1 in the axes of a, and the turn of b against a in those of b. */

/* `base`: which end is a. */
void lg_relative_open(const lg_motion *step, const lg_element *e, int base, int by_distance, lg_relative *out);
/* Puts the poses of the element's frames there: start, end or middle; `moving`: with the twists of y/h. */
void lg_relative_put(const lg_relative *r, const lg_element *e, const lg_point *at, int where, int moving);
/* What (f, m) is on both frames of the element, inertial. */
void lg_relative_spread(const lg_relative *r, const double fm[6], double wrench[2][6]);
/* Adds s times the derivative of the spread to S; G: the derivative of (f, m) by z, 6 x 6, column-major. */
void lg_relative_add(const lg_relative *r, const lg_motion *step, const lg_element *e, double s, const double fm[6],
                     const double G[36]);

#endif
