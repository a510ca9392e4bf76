/* Frames: points of a block (or of the ground) that elements attach to. Elements speak of poses, twists and wrenches;
   a frame turns these into the block's velocities, so that joints times formulations is a sum, not a product.

   Pose (x, R): inertial position of the point, rotation of the body. Twist (x', omega): inertial velocity, body angular
   velocity. A variation of the pose is (dx inertial, dphi body) with dR = R dphi^; a wrench is (f inertial, m body).
   With the offset X, y = omega x X (+ U where velocities stand in the body frame) and omega = Hr e':

       twist  = H v           x' = u + R (omega x X)  or  R y
       H      = [ I or R, -R X^ Hr ; 0, Hr ]
       bias   = H' v          x'' = R (omega x y + bias_r x X),  omega' = bias_r
       Z      = d(H v)/dq     rows x: -R y^ Hr - R X^ Zr
       geo(w) = d(H^T w)/dq   rows r: Hr^T X^ (R^T f)^ Hr + d(Hr^T c)/de at c = X x R^T f + m;  rows U: (R^T f)^

   This is a rigid body's frame. Frames on what carries many (the links of a tree) are kinds of their own: a row of
   functions, which read what the carrier's kinematics pass has left in the scratch. */
#ifndef LG_MODEL_FRAME_H
#define LG_MODEL_FRAME_H

#include "core/small.h"
#include "group/space.h"
#include "system/system.h"

enum { LG_MAX_NV = 7 }; /* velocities of a block that carries one body; others bring scratch, see lg_frame.scratch */

typedef struct lg_frame_kind lg_frame_kind;

/* Where a frame sits: const data of the model. */
typedef struct lg_frame_place {
    const lg_frame_kind *kind;
    const struct lg_element *carrier; /* the element that carries many frames, or NULL */
    int part; /* on which of its parts: a tree's link */
    int block; /* -1: ground */
    int at_node; /* the offset is zero */
    double base[3], offset[3];
} lg_frame_place;

/* Where a frame of a modal body sits at one point: modal_frame.c. */
typedef struct lg_flex {
    const double *Phi, *Psi; /* of the node, 3 x n, column-major */
    int n, turns; /* n = 0: a point of the floating frame; turns: Psi is not zero */
    double X[3], flow[3]; /* deformed place and Phi eta', floating axes */
    double psi[3], rate[3]; /* Psi eta, Psi eta' */
    double E[9]; /* rotation from the node's to the floating axes */
    double R[9], omega[3]; /* of the floating frame */
} lg_flex;

/* One frame at one point, filled as far as asked. */
typedef struct lg_frame {
    const lg_frame_place *at;
    const lg_block *block; /* NULL: ground */
    const lg_node *node;
    int r, m; /* first and number of the rotational velocities within the block */
    const double *q, *v; /* of the block */
    const double *offset; /* from the node, body axes */
    int at_node; /* it is zero */
    double x[3], R[9];
    double xdot[3], omega[3];
    double y[3]; /* omega x X (+ U); on a link: from the tree's reference point, inertial */
    double xdd[3], omegadot[3]; /* bias, plus H a once added */
    lg_attitude attitude; /* filled only where the node has one */
    lg_flex flex; /* only on modal bodies */
    double *work, *scratch; /* the carrier's part of the scratch; room for LG_FRAME_SCRATCH values per velocity */
} lg_frame;

enum { LG_FRAME_SCRATCH = 5 * 6 };

/* The verbs of a kind; what they do stands at the functions below. */
struct lg_frame_kind {
    void (*open)(lg_frame *f, const lg_point *point);
    void (*pose)(lg_frame *f);
    void (*twist)(lg_frame *f);
    void (*bias)(lg_frame *f);
    void (*pull)(const lg_frame *f, double s, const double wrench[6], double *force);
    void (*press)(const lg_frame *f, int sum, double s, const double wrench[6], double *force);
    void (*pull_rate)(const lg_frame *f, const double wrench[6], double *row);
    void (*H)(const lg_frame *f, double *H);
    void (*Z)(const lg_frame *f, double *Z);
    void (*add_geo)(const lg_frame *f, double s, const double wrench[6], const lg_chain *chain, double *S, int ld);
};

extern const lg_frame_kind lg_rigid_frame; /* the ground too; frame.c */
extern const lg_frame_kind lg_link_frame; /* tree_frame.c */
extern const lg_frame_kind lg_modal_frame; /* modal_frame.c */

void lg_frame_open(lg_frame *f, const lg_frame_place *at, const lg_space *space, const lg_point *point);
/* R and x */
static inline void lg_frame_pose(lg_frame *f)
{
    f->at->kind->pose(f);
}

/* Needs the pose. */
static inline void lg_frame_twist(lg_frame *f)
{
    f->at->kind->twist(f);
}

/* Needs the twist. */
static inline void lg_frame_bias(lg_frame *f)
{
    f->at->kind->bias(f);
}

/* force += s H^T wrench, force being the block's part; needs the pose unless the frame is at an inertial node. */
static inline void lg_frame_pull(const lg_frame *f, double s, const double wrench[6], double *force)
{
    f->at->kind->pull(f, s, wrench, force);
}

/* The same for all forces together (sum 0) or all reactions (sum 1): a carrier may keep the wrenches for its `gather`. */
static inline void lg_frame_press(const lg_frame *f, int sum, double s, const double wrench[6], double *force)
{
    f->at->kind->press(f, sum, s, wrench, force);
}

/* row += wrench^T d(H v)/dq: the same for the rate of the twist at fixed v. Needs the twist. */
static inline void lg_frame_pull_rate(const lg_frame *f, const double wrench[6], double *row)
{
    f->at->kind->pull_rate(f, wrench, row);
}

/* Dense, column-major, 6 x nv. */
static inline void lg_frame_H(const lg_frame *f, double *H)
{
    f->at->kind->H(f, H);
}

static inline void lg_frame_Z(const lg_frame *f, double *Z)
{
    f->at->kind->Z(f, Z);
}

/* ---- chains: finished blocks come up ---- */

/* The columns of a block's velocity variation: S (nv rows, leading dimension ld) gets rows row.. += s k A X[col.., :],
   A being nr x nc, column-major with leading dimension lda. X NULL: the identity. On direct products every X is
   diag(I, X_r), which is made use of. */
void lg_chain_add(const lg_block *block, const lg_chain *chain, int level, double s, int row, int nr, int col, int nc,
                  const double *A, int lda, double *S, int ld);

/* The same for one entry: S += s k A X with a single value A in row i and column j. */
static inline void lg_chain_add_entry(const lg_block *block, const lg_chain *chain, int level, double value, int i,
                                      int j, double *S, int ld)
{
    const double *X = chain->X[level];
    double k = value * chain->k[level];
    if (!X) {
        S[i + (size_t)j * ld] += k;
        return;
    }
    for (int l = 0; l < block->nv; l++)
        S[i + (size_t)l * ld] += k * X[j + (size_t)l * block->nv];
}

/* P (6 x nv) = A (6 x nv) k X */
void lg_chain_mul(const lg_block *block, const lg_chain *chain, int level, const double *A, double *P);

/* S_ii += s geo(wrench) k0 X0. Needs the pose. */
static inline void lg_frame_add_geo(const lg_frame *f, double s, const double wrench[6], const lg_chain *chain,
                                    double *S, int ld)
{
    f->at->kind->add_geo(f, s, wrench, chain, S, ld);
}

#endif
