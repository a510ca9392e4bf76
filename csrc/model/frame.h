/* Frames: points on bodies (or on the ground) that forces and joints attach to. Once per evaluation every body writes
   the poses of its frames, up to the level asked for, into the run's scratch; forces and joints read them and leave
   their wrenches there; then every body gathers the wrenches of its frames in one pass.

   A variation of the pose is (dx inertial, dphi body) with dR = R dphi^; a twist is (x' inertial, omega body); a wrench
   is (force inertial, moment body), about the frame's point. */
#ifndef LG_MODEL_FRAME_H
#define LG_MODEL_FRAME_H

#include "core/small.h"
#include "system/system.h"

typedef struct lg_body lg_body;

enum { LG_FORCES, LG_REACTIONS }; /* the two sums of wrenches */

/* Frames whose poses are wanted: those that forces and joints use, all, or those that constraint rows use. */
typedef enum lg_reach { LG_REACH_USED, LG_REACH_ALL, LG_REACH_ROWS } lg_reach;

typedef struct lg_frame { /* const data of the model */
    const lg_body *body;
    int part; /* the part of the body that it is on: a tree's link, a node of a modal body */
    int at_node; /* the offset is zero */
    unsigned loaded; /* whether forces and joints act on it: bits 1 << LG_FORCES and 1 << LG_REACTIONS */
    size_t pose; /* position in the scratch */
    double offset[3]; /* from the node, body axes */
    double base[3]; /* the fixed point of a body that only turns, inertial */
} lg_frame;

/* The pose of a frame at one point. Its position is the sum of `origin` and `arm`, which is not formed: far from the
   origin of space it would lose digits of the arm, and joints would see them as gaps. Members that are used together
   stand together, since long models leave the cache: those in the middle in every evaluation, with reactions before
   them or velocities behind. */
typedef struct lg_pose {
    double wrench[2][6];
    const double *origin; /* inertial position of a point of its body, most often of the node */
    const double *R, *omega; /* rotation (row-major), body angular velocity */
    const double *omegadot; /* at v' = 0 */
    double arm[3]; /* from the origin to the frame, in inertial axes */
    double xdd[3]; /* inertial acceleration at v' = 0 */
    double xdot[3]; /* inertial velocity */
    double y[3]; /* the body's own: velocity against the node */
} lg_pose;

enum { LG_POSE_SIZE = sizeof(lg_pose) / sizeof(double) };

/* The level of kinematics that is wanted; each level includes the ones before. The first one with frames gives them
   their rotation and no wrenches. */
typedef enum lg_level { LG_NO_POSES, LG_ROTATIONS, LG_POSES, LG_TWISTS, LG_BIASES } lg_level;

static inline lg_pose *lg_pose_of(const lg_frame *f, const lg_point *at)
{
    return (lg_pose *)(void *)(at->work + f->pose);
}

static inline void lg_pose_position(const lg_pose *f, double x[3])
{
    for (int i = 0; i < 3; i++)
        x[i] = f->origin[i] + f->arm[i];
}

/* The way from one frame to another one. */
static inline void lg_pose_between(const lg_pose *from, const lg_pose *to, double d[3])
{
    for (int i = 0; i < 3; i++)
        d[i] = (to->origin[i] - from->origin[i]) + (to->arm[i] - from->arm[i]);
}

#endif
