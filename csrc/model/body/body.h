/* A body gives a block its inertia and carries frames. It is a row of bodies.def: rigid bodies, trees of links,
   flexible bodies and the ground are all of this kind, and none is a special case of another. The functions that take a
   span, which is bodies of one row, are called once per evaluation, in the order kinematics, inertia, (forces and
   joints), gather. NULL: there is nothing to do. */
#ifndef LG_MODEL_BODY_H
#define LG_MODEL_BODY_H

#include "model/body/arm.h"
#include "model/element.h"

typedef struct lg_body_type lg_body_type;
typedef struct lg_body_step lg_body_step;

/* A force and a torque that are constant in inertial axes up to the load factor. */
typedef struct lg_dead_load {
    double force[3], torque[3];
    const double *arm; /* from the node to the point of the force, body axes; NULL: the force has no moment */
    int has_torque;
} lg_dead_load;

struct lg_body { /* const data of the model */
    lg_element e;
    const lg_body_type *type;
    const lg_block *block; /* NULL: the ground or a support */
    int index; /* of the block and of its node in the matrix; -1: there is none */
    const lg_frame *frames; /* its frames, which are contiguous; forces and joints use the first `nactive` */
    int nframes, nactive;
    int has_rows; /* constraint rows use some of them */
    const lg_dead_load *loads; /* dead loads that it adds itself */
    int nloads;
    size_t work; /* position of its part of the scratch */
    const double *prepared; /* the data written by `prepare` */
};

typedef struct lg_span { /* bodies of one row */
    const lg_body *first, *end;
} lg_span;

/* The number of its frames whose poses are wanted; active frames come first. */
static inline int lg_body_reach(const lg_body *b, lg_level level, lg_reach reach)
{
    return reach == LG_REACH_ALL ? b->nframes : level == LG_NO_POSES ? 0 : b->nactive;
}

/* Whether this end of an element is on a body that moves. */
static inline int lg_element_moves(const lg_element *e, int end)
{
    return e->frame[end]->body->block != NULL;
}

/* M^-1 of a body without the matrix M, with work that grows linearly with the body's velocities. */
typedef struct lg_body_mass {
    int (*size)(const lg_body *b); /* doubles of a factor; -1: its parameters or its block do not allow M^-1 */
    /* Comes after `kinematics`. NULL: there is nothing to factor. */
    lg_status (*factor)(const lg_body *b, const lg_point *at, double *factor, int *deficient);
    void (*solve)(const lg_body *b, double *factor, int n, int ld, double *x); /* lg_inverse_mass.solve */
} lg_body_mass;

/* Functions of bodies that find their accelerations themselves. */
typedef struct lg_body_alone {
    /* May replace `inertia` and `gather` in systems without constraints: writes the accelerations of the bodies under
       the wrenches of forces over the forces on coordinates of trees, which `a` holds. Comes after `kinematics` if
       forces act on frames or if some body is a tree. */
    lg_status (*accelerate)(lg_span bodies, const lg_point *at, double *a);
    const lg_body_mass *mass; /* a body that has no M^-1 does not accelerate alone either */
} lg_body_alone;

/* Functions of a tree of links. */
typedef struct lg_body_tree {
    int (*coordinate)(const lg_body *b, int part); /* index among the block's coordinates; -1: an axis of a node */
} lg_body_tree;

/* Functions of one frame, with H = d twist/dv and Z = d(H v)/dq, 6 x nv column-major: out += s H^T wrench, row +=
   wrench^T Z, and both matrices. */
typedef struct lg_body_frames {
    void (*pull)(const lg_frame *f, const lg_point *at, double s, const double wrench[6], double *out);
    void (*pull_rate)(const lg_frame *f, const lg_point *at, const double wrench[6], double *row);
    void (*H)(const lg_frame *f, const lg_point *at, double *H);
    void (*Z)(const lg_frame *f, const lg_point *at, double *Z);
} lg_body_frames;

/* Functions of a body that is rigid at every frame. Its scratch begins with an lg_stiffness: the sum of the derivatives
   of wrenches by the body's own motion, converted to the node. If a tangent is wanted, `inertia` sets it to zero, and
   `gather` adds it to S. */
typedef struct lg_body_rigid {
    void (*open)(const lg_frame *f, const lg_point *at, lg_arm *arm); /* opens the arm to a frame */
} lg_body_rigid;

static inline lg_stiffness *lg_body_stiffness(const lg_body *b, const lg_point *at)
{
    return (lg_stiffness *)(void *)(at->work + b->work);
}

struct lg_body_type {
    lg_element_info info;
    /* The functions `kinematics` and `inertia` in other forms; NULL: they are the same there. */
    const lg_body_type *in[LG_FORM_COUNT];
    int constant_mass; /* its mass matrix is constant if the block's velocities are the body's own */
    int adds_dead_loads; /* on a direct block: what collects the wrenches of forces adds them, without a frame */
    int has_forces; /* `gather` adds forces of its own to those of wrenches */
    int is_support; /* it has no block and no functions for inertia */
    int is_point; /* it has no rotation: its frames are at the node, and moments cannot act on it */
    /* Checks the parameters. On failure *reason says briefly what is wrong. */
    lg_status (*check)(const lg_body *b, const char **reason);
    int (*parts)(const lg_body *b); /* number of parts that can carry frames; NULL: 1 */
    size_t (*nwork)(const lg_body *b); /* doubles of scratch, once its frames are known */
    /* Writes parameters in the form that kernels need, unless `prepared` is NULL, and returns their number of doubles,
       which depends on that of the parameters alone. NULL: there are none. */
    int (*prepare)(const lg_body *b, double *prepared);

    /* Writes the poses of its frames and the data that the other functions need; fails only if a function of time
       does, which is not called at LG_NO_POSES. With LG_REACH_ROWS bodies without rows may be left out, unless factors
       of their masses read what is written here; to them the point of the next evaluation is then a new one. */
    lg_status (*kinematics)(lg_span bodies, const lg_point *at, lg_level level, lg_reach reach);
    /* Writes M a and gyro, and adds the tangent of wa M a + gyro to S. */
    void (*inertia)(lg_span bodies, const lg_point *at, const lg_wanted *want);
    /* Turns the wrenches on its frames into forces on its velocities and writes them as force and Btlam; adds to S how
       they turn with q. */
    void (*gather)(lg_span bodies, const lg_point *at, const lg_wanted *want);
    const lg_body_alone *alone; /* NULL: it has no accelerations of its own */
    const lg_body_tree *tree; /* NULL: it is no tree */
    void (*energy)(const lg_body *b, const lg_point *at, double *T, double *V); /* adds what it has of both */
    const struct lg_body_shares *shares; /* share.h; NULL: none */
    const lg_body_step *step; /* functions of steps between two states (momentum.h); NULL: none */

    const lg_body_frames *frames; /* NULL: its frames do not move with a block */
    const lg_body_rigid *rigid; /* NULL: it is not rigid at every frame */

    /* After `gather`: the inertial force and moment that hold a part in its joint, or with which a support acts on what
       is attached to it. NULL: none. */
    void (*transmit)(const lg_body *b, const lg_point *at, int part, double wrench[6]);

    /* The first time after t at which its motion is not smooth, or INFINITY. NULL: none. */
    double (*next_kink)(const lg_body *b, double t);
};

#define LG_BODY(symbol) extern const lg_body_type symbol;
#include "model/body/bodies.def"
#undef LG_BODY
extern const lg_body_type lg_ground; /* ground.c: carries frames and has no inertia */

/* The arms to the frames of an element, opened once for its constraint rows and its tangent. */
typedef struct lg_arms {
    lg_arm to[2]; /* block NULL: the body is at rest or not rigid */
    int all; /* whether every body that moves has an arm */
} lg_arms;

void lg_arms_open(const lg_element *e, const lg_point *at, lg_arms *arms);

/* The block of S that belongs to the velocities of a body's block. */
static inline double *lg_body_tangent(const lg_body *b, const lg_tangent *to, int *ld)
{
    return lg_matrix_at(to->S, b->index, ld);
}

/* Whether the body under a frame turns, so that it can carry the rows of a joint. */
static inline int lg_frame_turns(const lg_frame *f)
{
    return f->body->block && !f->body->type->is_point;
}

/* Sets the wrenches of a frame to zero. */
static inline void lg_pose_clear(const lg_frame *f, lg_pose *pose)
{
    if (f->loaded >> LG_FORCES & 1)
        lg_zero(6, pose->wrench[LG_FORCES]);
    if (f->loaded >> LG_REACTIONS & 1)
        lg_zero(6, pose->wrench[LG_REACTIONS]);
}

/* The wrench on a frame as it appears in the residual: reactions minus forces. */
static inline void lg_pose_residual(const lg_frame *f, const lg_pose *pose, double wrench[6])
{
    lg_zero(6, wrench);
    if (f->loaded >> LG_REACTIONS & 1)
        lg_axpy(6, 1, pose->wrench[LG_REACTIONS], wrench);
    if (f->loaded >> LG_FORCES & 1)
        lg_axpy(6, -1, pose->wrench[LG_FORCES], wrench);
}

/* J of an inertia xx, yy, zz, xy, xz, yz. */
static inline void lg_inertia_matrix(const double inertia[6], double J[9])
{
    J[0] = inertia[0], J[1] = inertia[3], J[2] = inertia[4];
    J[3] = inertia[3], J[4] = inertia[1], J[5] = inertia[5];
    J[6] = inertia[4], J[7] = inertia[5], J[8] = inertia[2];
}

/* Adds the derivatives of c.J d by these six numbers. */
static inline void lg_inertia_add_products(const double c[3], const double d[3], double slopes[6])
{
    for (int i = 0; i < 3; i++)
        slopes[i] += c[i] * d[i];
    slopes[3] += c[0] * d[1] + c[1] * d[0];
    slopes[4] += c[0] * d[2] + c[2] * d[0];
    slopes[5] += c[1] * d[2] + c[2] * d[1];
}

#endif
