/* How bodies move in a step between two states, for the conserving form: step.h.

   A body turns from R_0 to R_1 by phi about n. With theta = 2 tan(phi/2) n, the Cayley vector of the turn, and
   Rm = (R_0 + R_1)/2,

       R_1 - R_0 = theta^ Rm,

   so that a point with the arm s moves by dx + theta x Rm s: its place in the step is the mean of its ends, and its arm
   is Rm s. A force F there and a moment M do the work F . dp + M . theta. On Euler parameters a moment tau acts as
   A(e_m)^T tau, where A(e) de = 2 vec(de e*)/|e|^2 is the turn that belongs to de. All vectors are inertial. */
#ifndef LG_MODEL_MOTION_H
#define LG_MODEL_MOTION_H

#include "model/private.h"

typedef struct lg_moved { /* a frame at both ends of a step, and its arm */
    double x[2][3], R[2][9], arm[2][3];
} lg_moved; /* numbers only */

typedef struct lg_swing { /* a block in a step */
    double cosine; /* of half its turn */
    double A[12], A1[12]; /* A(e_m) and A(e_1), 3 x 4, column-major; of a point they are zero */
    double force[2][3], moment[2][3]; /* the two sums of wrenches, at the node */
    double turning[9]; /* d(moment)/dw_1 of the residual, as arms turn */
} lg_swing; /* numbers only */

typedef struct lg_motion {
    const lg_model *m;
    const lg_pair *pair;
    const lg_pair_wanted *wanted;
    lg_moved *moved; /* per frame of the model */
    lg_swing *swing; /* per block */
} lg_motion;

/* A change of one unknown, x_1 or e_1 of the body under an end of an element: the frame there moves by dx and turns by
   dw at the end of the step. */
typedef struct lg_variation {
    int end, parameter; /* which one of e_1; -1: the unknown is in x_1 */
    double dx[3], dw[3];
} lg_variation;

/* Opens the blocks; keeps where frames stand at the start (0) or at the end (1) of the step, where kinematics has put
   their poses. */
void lg_motion_open(lg_motion *step);
void lg_motion_keep(const lg_motion *step, const lg_point *at, int end);

static inline const lg_moved *lg_moved_of(const lg_motion *step, const lg_frame *f)
{
    return &step->moved[f - step->m->frames];
}

/* Mean of both ends. */
static inline void lg_mean(int n, const double *a, const double *b, double *c)
{
    for (int i = 0; i < n; i++)
        c[i] = 0.5 * (a[i] + b[i]);
}

/* Whether the bodies under both frames turn against each other by half a turn or more, given that each of them turns by
   less. */
int lg_motion_overturns(const lg_motion *step, const lg_element *e);

/* Puts a frame where it is at the middle: its point, R(e_m), and velocities whose product with h is the step. */
typedef struct lg_middle {
    double R[9], omega[3];
} lg_middle;
void lg_motion_middle(const lg_motion *step, const lg_frame *f, const lg_point *at, lg_middle *room);
/* How its pose and its twist there follow a variation of the frame. */
void lg_motion_follow(const lg_motion *step, const lg_frame *f, const lg_middle *at, const lg_variation *variation,
                      double pose[6], double twist[6]);

/* Adds a wrench to the body under a frame. */
void lg_motion_press(const lg_motion *step, const lg_frame *f, int sum, const double wrench[6]);
/* The force of a wrench on the velocities of the block, which are overwritten. */
void lg_motion_pull(const lg_motion *step, const lg_frame *f, const double wrench[6], double *out);
/* The change of an element's wrenches by a variation, inertial. */
typedef void lg_motion_slopes(const void *of, const lg_variation *variation, double wrench[2][6]);
/* Adds s times the derivatives of an element's wrenches to S, without the effect of arms that turn under constant
   wrenches, which bodies add. */
void lg_motion_add(const lg_motion *step, const lg_element *e, double s, lg_motion_slopes *slopes, const void *of);
/* Bodies take the wrenches. */
void lg_motion_collect(const lg_motion *step);

#endif
