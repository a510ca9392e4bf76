/* The end of an arm along the motion of its body, and the wrenches of constraint rows that follow it.

   A row with a multiplier of one gives a frame the wrench w = (f, m) = d(phi)/d pose. In inertial axes its second
   derivative by time is how phi'' changes with the pose of the frame, and 2 w' nearly how it does with the twist:

       d(phi'') = w''.(dx, R dphi) + 2 w'.(dx', R domega) - (omega x R^T m) . domega + w.(dx'', R domega'). */
#ifndef LG_MODEL_ARM_JET_H
#define LG_MODEL_ARM_JET_H

#include "model/body/body.h"
#include "model/jet.h"

typedef struct lg_arm_jet {
    lg_arm arm; /* block NULL: the body does not move with a block */
    double X[LG_JET][3], node[LG_JET][3]; /* in body axes: the arm, and the rates of the point where it begins */
    lg_attitude attitude; /* with the second rates; of coordinates other than those of Lie groups */
} lg_arm_jet;

/* Opens it at a point with accelerations a, for a frame whose pose has biases, with the motion of that frame. */
void lg_arm_jet_open(const lg_frame *f, const lg_point *at, lg_arm_jet *out, lg_frame_jet *end);
/* Adds the derivatives of phi'' at fixed a by q and v, as rows of n values each. */
void lg_arm_jet_pull(const lg_arm_jet *jet, const lg_wrench_jet *wrench, int n, double *of_q, double *of_v);

#endif
