/* A force that depends on the pose and the twist of its first frame a relative to the second one b alone. All is in the
   axes of b, with R_ba = R_b^T R_a, and w and v the angular and linear velocities in them:

       y = R_b^T (x_a - x_b),   S = R_ba,   rate = v_a - v_b - w_b x y,   turn = w_a - w_b.

   The force F on a at x_a and its moment m act on both frames in balance:

       on a: R_b F and R_ba^T m,   on b: -R_b F and -(m + y x F). */
#ifndef LG_MODEL_MUTUAL_H
#define LG_MODEL_MUTUAL_H

#include "model/element.h"

typedef struct lg_mutual {
    double y[3], S[9], rate[3], turn[3];
    double v[3], w[2][3]; /* v_a - v_b; angular velocities of a and b */
    double Fm[6]; /* F and m, zero after `open`; a kernel adds to them */
    /* d(F, m) by (dy, dphi) and (drate, dturn), where dS = dphi^ S; 6 x 6, column-major, zero after `open`. */
    double K[36], D[36];
} lg_mutual;

/* A change of a frame: of x and x' in inertial axes, of R and omega in its own, dR = R turn^. */
typedef struct lg_frame_change {
    double x[3], turn[3], xdot[3], omega[3];
} lg_frame_change;

enum { LG_MUTUAL_NUMBERS = 12 }; /* dy, dphi, drate and dturn */

/* y and S alone. */
void lg_mutual_open_pose(const lg_pose *const f[2], lg_mutual *out);
void lg_mutual_open(const lg_pose *const f[2], int linear, lg_mutual *out);
/* Writes dy, dphi, drate and dturn along a change of one of the frames; R_b: the rotation of the second one. */
void lg_mutual_change(const lg_mutual *at, const double R_b[9], int side, const lg_frame_change *of,
                      double out[LG_MUTUAL_NUMBERS]);
/* Writes the wrenches on both frames of an element and, with `linear`, their derivatives. */
void lg_mutual_spread(const lg_mutual *at, const lg_element *e, const lg_pose *const f[2], int linear, lg_load *out);

#endif
