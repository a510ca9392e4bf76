/* How bodies move in a step between two states, for the conserving form (step.h).

   A body turns from R_0 to R_1 by phi about n. With theta = 2 tan(phi/2) n, the Cayley vector of the turn, and
   Rm = (R_0 + R_1)/2,

       R_1 - R_0 = theta^ Rm,

   so that a point with the arm s moves by dp = dx + theta x Rm s: during the step it is at the mean of its end
   positions, with the arm Rm s. A force F there and a moment M do the work F . dp + M . theta. A moment tau acts on
   Euler parameters as A(e_m)^T tau, where A(e) de = 2 vec(de e*)/|e|^2 is the turn by de. All vectors are inertial. */
#ifndef LG_MODEL_MOTION_H
#define LG_MODEL_MOTION_H

#include "model/private.h"

typedef struct lg_frame_motion { /* of a frame: its pose at both ends of a step, as in lg_pose */
    double origin[2][3], arm[2][3], R[2][9];
} lg_frame_motion; /* numbers only */

typedef struct lg_block_motion { /* of a block: how it turns in a step, and what elements exert on its body meanwhile */
    double cosine; /* of half the angle by which it turns */
    double A[12], A1[12]; /* A(e_m) and A(e_1), 3 x 4, column-major; zero for a point */
    double force[2][3], moment[2][3]; /* the sums of wrenches at the node: LG_FORCES and LG_REACTIONS */
    double turning[9]; /* d(moment)/dw_1 in the residual, because arms turn */
} lg_block_motion; /* numbers only */

typedef struct lg_motion { /* of all frames and blocks of a model in a step */
    const lg_model *m;
    const lg_pair *pair; /* the states at both ends */
    const lg_pair_wanted *wanted;
    lg_frame_motion *frames; /* per frame of the model */
    lg_block_motion *blocks; /* per block of the model */
} lg_motion;

/* A change of one unknown, x_1 or e_1 of the body under an end of an element: the frame there moves by dx and turns by
   dw at the end of the step. */
typedef struct lg_variation {
    int end, parameter; /* index of the unknown in e_1; -1: it is in x_1 */
    double dx[3], dw[3];
} lg_variation;

/* Finds how the blocks turn, and sets their sums of wrenches to zero. */
void lg_motion_open(lg_motion *step);
/* Stores the poses that the kinematics has found for the state at the start (end = 0) or the end (1) of the step. */
void lg_motion_keep(const lg_motion *step, const lg_point *at, int end);

static inline const lg_frame_motion *lg_frame_motion_of(const lg_motion *step, const lg_frame *f)
{
    return &step->frames[f - step->m->frames];
}

/* c = (a + b)/2 */
static inline void lg_mean(int n, const double *a, const double *b, double *c)
{
    for (int i = 0; i < n; i++)
        c[i] = 0.5 * (a[i] + b[i]);
}

/* Whether the bodies under both frames turn relative to each other by half a turn or more, given that each of them
   turns by less. */
int lg_motion_overturns(const lg_motion *step, const lg_element *e);

typedef struct lg_middle { /* the numbers to which the pose of a frame at the middle of a step points */
    double origin[3], R[9], omega[3];
} lg_middle;

/* Sets lg_pose_of(f, at) to the frame at the middle of the step: the mean of its points, the rotation R(e_m), and the
   velocities that move the frame from its start to its end within h. The pose points to numbers in `middle`. */
void lg_motion_middle(const lg_motion *step, const lg_frame *f, const lg_point *at, lg_middle *middle);
/* The change of that pose and twist by a variation. */
void lg_motion_follow(const lg_motion *step, const lg_frame *f, const lg_middle *at, const lg_variation *variation,
                      double pose[6], double twist[6]);

/* Adds a wrench to the body under a frame. */
void lg_motion_add_wrench(const lg_motion *step, const lg_frame *f, int sum, const double wrench[6]);
/* The force of a wrench on the velocities of the block, which are overwritten. */
void lg_motion_pull(const lg_motion *step, const lg_frame *f, const double wrench[6], double *out);
/* The work of a wrench along the unknowns of the block at the end of the step, for rows there. */
void lg_motion_pull_at_end(const lg_motion *step, const lg_element *e, int end, const double wrench[6], double *out);
/* The change of an element's wrenches by a variation, in inertial axes. */
typedef void lg_motion_slopes(const void *of, const lg_variation *variation, double wrench[2][6]);
/* Adds s times the derivatives of an element's wrenches to S, except for the effect of arms that turn under constant
   wrenches, which lg_motion_collect adds. */
void lg_motion_add(const lg_motion *step, const lg_element *e, double s, lg_motion_slopes *slopes, const void *of);
/* Turns the wrenches collected on the bodies into forces on velocities, and adds their tangents. */
void lg_motion_collect(const lg_motion *step);

#endif
