/* A body is what gives a block its inertia and carries frames: a row of bodies.def. Rigid bodies, trees of links, flexible
   bodies and the ground are all of this kind, and none is a special case of another. Verbs over a span of bodies of one
   row come once per evaluation, in the order kinematics, inertia, (forces and joints), gather. NULL: nothing to do. */
#ifndef LG_MODEL_BODY_H
#define LG_MODEL_BODY_H

#include "model/body/arm.h"
#include "model/element.h"

typedef struct lg_body_type lg_body_type;

struct lg_body { /* const data of the model */
    lg_element e;
    const lg_body_type *type;
    const lg_block *block; /* NULL: the ground */
    int index; /* of the block, -1: the ground */
    const lg_frame *frames; /* those on it stand together; forces and joints use the first `nactive` */
    int nframes, nactive;
    size_t work; /* place of its part of the scratch */
    const double *prepared; /* what `prepare` has written */
};

typedef struct lg_span { /* bodies of one row */
    const lg_body *first, *end;
} lg_span;

struct lg_body_type {
    lg_element_info info;
    int constant_mass; /* on a block whose velocities are the body's own */
    int is_point; /* without rotation: frames sit on the node, and nothing turns the body or turns with it */
    /* Parameters make sense? On failure a short reason. */
    lg_status (*check)(const lg_body *b, const char **reason);
    int (*parts)(const lg_body *b); /* frames may sit on; NULL: 1 */
    size_t (*nwork)(const lg_body *b); /* doubles of scratch, once its frames are known */
    /* What kernels need of the parameters in another form: how many doubles, and what writes them. NULL: nothing. */
    int (*nprepared)(int nparameters);
    void (*prepare)(const lg_body *b, double *prepared);

    /* Writes the poses of its frames, `all` of them or the active ones, and what the other verbs need of q and v. */
    void (*kinematics)(lg_span bodies, const lg_point *at, lg_level level, int all);
    /* Writes M a and gyro, adds the tangent of wa M a + gyro to S. */
    void (*inertia)(lg_span bodies, const lg_point *at, const lg_wanted *want);
    /* Writes what the wrenches on its frames are in its velocities, as force and Btlam; adds to S how they turn with q. */
    void (*gather)(lg_span bodies, const lg_point *at, const lg_wanted *want);
    double (*kinetic)(const lg_body *b, const lg_point *at);
    double (*potential)(const lg_body *b, const lg_point *at);

    /* One frame at a time, with H = d twist/dv and Z = d(H v)/dq, 6 x nv column-major:
       out += s H^T wrench,  row += wrench^T Z,  and both dense. */
    void (*pull)(const lg_frame *f, const lg_point *at, double s, const double wrench[6], double *out);
    void (*pull_rate)(const lg_frame *f, const lg_point *at, const double wrench[6], double *row);
    void (*H)(const lg_frame *f, const lg_point *at, double *H);
    void (*Z)(const lg_frame *f, const lg_point *at, double *Z);

    /* Bodies that are rigid at every frame, else NULL: the arm to the frame. What derivatives of wrenches by the body's own
       motion come to at the node is collected in `stiffness`, which begins as zero, and goes to S in `gather`. */
    lg_arm (*arm)(const lg_frame *f, const lg_point *at);
    lg_stiffness *(*stiffness)(const lg_body *b, const lg_point *at);

    /* After forces and reactions are gathered: force and moment (inertial) that hold a part in its joint. NULL: has none. */
    void (*transmit)(const lg_body *b, const lg_point *at, int part, double wrench[6]);
};

#define LG_BODY(symbol) extern const lg_body_type symbol;
#include "model/body/bodies.def"
#undef LG_BODY
extern const lg_body_type lg_ground; /* carries frames, has no inertia: ground.c */

extern const lg_body_type *const lg_body_types[];
extern const int lg_body_type_count;

static inline int lg_body_prepared(const lg_body_type *type, int nparameters)
{
    return type->nprepared ? type->nprepared(nparameters) : 0;
}

/* Where the velocities of a body's block meet in S. */
static inline double *lg_body_tangent(const lg_body *b, const lg_wanted *want, int *ld)
{
    return lg_matrix_at(want->S, b->index, 0, 0, ld);
}

/* The wrenches of a frame begin as zero. */
static inline void lg_pose_clear(const lg_frame *f, lg_pose *pose)
{
    if (f->pressed >> LG_FORCES & 1)
        lg_zero(6, pose->wrench[LG_FORCES]);
    if (f->pressed >> LG_REACTIONS & 1)
        lg_zero(6, pose->wrench[LG_REACTIONS]);
}

/* The wrench on a frame as it stands in the residual: reactions less forces. */
static inline void lg_pose_residual(const lg_frame *f, const lg_pose *pose, double wrench[6])
{
    lg_zero(6, wrench);
    if (f->pressed >> LG_REACTIONS & 1)
        lg_axpy(6, 1, pose->wrench[LG_REACTIONS], wrench);
    if (f->pressed >> LG_FORCES & 1)
        lg_axpy(6, -1, pose->wrench[LG_FORCES], wrench);
}

/* J of an inertia xx, yy, zz, xy, xz, yz. */
static inline void lg_inertia_matrix(const double inertia[6], double J[9])
{
    J[0] = inertia[0], J[1] = inertia[3], J[2] = inertia[4];
    J[3] = inertia[3], J[4] = inertia[1], J[5] = inertia[5];
    J[6] = inertia[4], J[7] = inertia[5], J[8] = inertia[2];
}

#endif
