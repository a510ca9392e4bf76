/* Frames: points of a block (or of the ground) that elements attach to. Elements speak of poses, twists and wrenches;
   a frame turns these into the block's velocities, so that joints times formulations is a sum, not a product.

   Pose (x, R): inertial position of the point, rotation of the body. Twist (x', omega): inertial velocity, body angular
   velocity. A variation of the pose is (dx inertial, dphi body) with dR = R dphi^; a wrench is (f inertial, m body).
   With the offset X, y = omega x X (+ U where velocities stand in the body frame) and omega = Hr e':

       twist  = H v           x' = u + R (omega x X)  or  R y
       H      = [ I or R, -R X^ Hr ; 0, Hr ]
       bias   = H' v          x'' = R (omega x y + bias_r x X),  omega' = bias_r
       Z      = d(H v)/dq     rows x: -R y^ Hr - R X^ Zr
       geo(w) = d(H^T w)/dq   rows r: Hr^T X^ (R^T f)^ Hr + d(Hr^T c)/de at c = X x R^T f + m;  rows U: (R^T f)^ */
#ifndef LG_MODEL_FRAME_H
#define LG_MODEL_FRAME_H

#include "core/small.h"
#include "group/space.h"
#include "system/system.h"

enum { LG_MAX_NV = 7 }; /* velocities of a block that carries bodies */

/* Where a frame sits: const data of the model. */
typedef struct lg_frame_place {
    int block;                   /* -1: ground */
    int at_node;                 /* the offset is zero */
    double base[3], offset[3];
} lg_frame_place;

/* One frame at one point, filled as far as asked. */
typedef struct lg_frame {
    const lg_frame_place *at;
    const lg_block *block;       /* NULL: ground */
    const lg_node *node;
    int r, m;                    /* first and number of the rotational velocities within the block */
    const double *q, *v;         /* of the block */
    double x[3], R[9];
    double xdot[3], omega[3];
    double y[3];                 /* omega x X (+ U) */
    double xdd[3], omegadot[3];  /* bias, plus H a once added */
    lg_attitude attitude;        /* filled only where the node has one */
} lg_frame;

void lg_frame_open(lg_frame *f, const lg_frame_place *at, const lg_space *space, const lg_point *point);
void lg_frame_pose(lg_frame *f);  /* R and x */
void lg_frame_twist(lg_frame *f); /* needs the pose */
void lg_frame_bias(lg_frame *f);  /* needs the twist */

/* force += s H^T wrench, force being the block's part; needs the pose unless the frame is at an inertial node. */
void lg_frame_pull(const lg_frame *f, double s, const double wrench[6], double *force);

/* row += wrench^T d(H v)/dq: the same for the rate of the twist at fixed v. Needs the twist. */
void lg_frame_pull_rate(const lg_frame *f, const double wrench[6], double *row);

/* Dense, column-major, 6 x nv. */
void lg_frame_H(const lg_frame *f, double *H);
void lg_frame_Z(const lg_frame *f, double *Z);

/* ---- chains: finished blocks come up ---- */

/* The columns of a block's velocity variation: S (nv rows, leading dimension ld) gets rows row.. += s k A X[col.., :],
   A being nr x nc, column-major with leading dimension lda. X NULL: the identity. On direct products every X is
   diag(I, X_r), which is made use of. */
void lg_chain_add(const lg_block *block, const lg_chain *chain, int level, double s, int row, int nr, int col, int nc,
                  const double *A, int lda, double *S, int ld);

/* P (6 x nv) = A (6 x nv) k X */
void lg_chain_mul(const lg_block *block, const lg_chain *chain, int level, const double *A, double *P);

/* S_ii += s geo(wrench) k0 X0. Needs the pose. */
void lg_frame_add_geo(const lg_frame *f, double s, const double wrench[6], const lg_chain *chain, double *S, int ld);

#endif
