/* The data of a tree of links in minimal coordinates: its parameters, and what one evaluation knows of every link. One
   velocity per link: that of the angle or the slide of its joint to the parent, or a component of the velocity of a
   node, the factor of the block that stands for a spherical or a free joint. Such a joint, and one with several angles
   and slides, is a chain of links without mass, the inner ones, that ends with the body's link.

   Twists and wrenches are six numbers in inertial axes, linear before angular, about a reference point o that does not
   move, the point of the first joint or, if the root is free, of its node in the instant: a twist is (velocity of the
   body's point at o, angular velocity), a wrench (force, moment about o). The joint of link i has the axis S_i,
   V_i = V_parent + S_i q_i'. The axes of a node are fixed in its last link and turn with it: all have the same base,
   the link that carries the joint. Featherstone, Rigid Body Dynamics Algorithms, 2008. */
#ifndef LG_MODEL_TREE_STATE_H
#define LG_MODEL_TREE_STATE_H

#include "model/body/body.h"
#include "system/chain.h"

/* A link in the layout of the parameters; doubles only. */
typedef struct lg_tree_link {
    double parent; /* index of a link that comes before, or -1: the ground */
    double joint; /* lg_tree_kind */
    double inner; /* 1: it belongs to the joint of the next link, which is its only child, and has no mass */
    double R[9],
        point[3]; /* of the link's axes and of its origin, a point of the joint, in the parent's axes at q = 0 */
    double axis[3]; /* link axes, unit length; a node's are those of its last link */
    double mass, com[3], inertia[6]; /* about the COM; link axes; xx, yy, zz, xy, xz, yz */
} lg_tree_link;

/* Kinds of links: angle, slide, or an axis of a node that turns with it. A node whose velocity is in inertial axes has
   three slides along these before its rotation. */
typedef enum lg_tree_kind { LG_TREE_REVOLUTE, LG_TREE_PRISMATIC, LG_TREE_NODE } lg_tree_kind;

enum { LG_TREE_LINK_SIZE = sizeof(lg_tree_link) / sizeof(double) };

/* Derived from a link's parameters and the block: its joint's axis in the parent's axes, and the rotation from the
   link's to the parent's axes, K + cos q C + sin q W if the joint turns, K if it slides. */
typedef struct lg_tree_joint {
    double axis[3], K[9], C[9], W[9];
    double q; /* index of its coordinate, or of the node's first one, among those of the block */
    double base; /* the link that carries the joint, or -1: not the parent only within a node */
    double factor, column,
        last; /* of a node: the factor, the axis (slides 0, 1, 2, turns 3, 4, 5), and its last link */
} lg_tree_joint;

enum { LG_TREE_JOINT_SIZE = sizeof(lg_tree_joint) / sizeof(double) };

/* Inertia about o of a link's subtree, the link included: mass, mass times COM, inertia; then, for the tangent, the
   linear momentum and the gyroscopic matrix of tree_tangent.c. Doubles only, summed as one array. */
typedef struct lg_tree_sum {
    double mass, h[3], J[9], p[3], G[9];
} lg_tree_sum;

enum { LG_BY_ACCELERATION, LG_BY_VELOCITY }; /* parts of F: M a and gyro */

/* The scratch of a link at one point. Doubles only. */
typedef struct lg_tree_state {
    double R[9], y[3], S[6]; /* of the link's axes and, from o, of its origin; the joint's axis. Inner links of a node
                                are where its last link is. */
    double V[6], omega[3]; /* twist; its angular velocity in body axes, for frames */
    double Sdot[6], bias[6], omegadot[3]; /* S' at rest in the joint, V' at q'' = 0; its angular part in body axes */
    double c[3], J[9]; /* COM from o, inertia about it */
    double A[6]; /* the part of V' due to q'' */
    double F[2][6]; /* inertial wrenches of A and of the bias: of the link, then of its subtree */
    double a[6], b[3]; /* of the tangent in tree_tangent.c; of b the angular part, which is all that counts */
    double above[3]; /* likewise of the load */
    lg_tree_sum sum;
    double wrench[2][6]; /* forces, reactions: of its own frames, then of its subtree */
    double T[9]; /* likewise the sum of f y^T over forces f at y, as they appear in the residual */
} lg_tree_state;

enum { LG_TREE_STATE_SIZE = sizeof(lg_tree_state) / sizeof(double) };

static inline int lg_tree_size(const lg_body *b)
{
    return b->e.np / LG_TREE_LINK_SIZE;
}

static inline const lg_tree_link *lg_tree_links(const lg_body *b)
{
    return (const lg_tree_link *)b->e.p;
}

static inline int lg_tree_parent(const lg_body *b, int link)
{
    return (int)lg_tree_links(b)[link].parent;
}

static inline const lg_tree_joint *lg_tree_joints(const lg_body *b)
{
    return (const lg_tree_joint *)b->prepared;
}

/* The link that carries the joint of a link, or -1. */
static inline int lg_tree_base(const lg_body *b, int link)
{
    return (int)lg_tree_joints(b)[link].base;
}

static inline lg_tree_state *lg_tree_states(const lg_body *b, const lg_point *at)
{
    return (lg_tree_state *)(void *)(at->work + b->work);
}

/* o, behind the links. */
static inline double *lg_tree_origin(const lg_body *b, const lg_point *at)
{
    return (double *)(lg_tree_states(b, at) + lg_tree_size(b));
}

static inline double lg_dot6(const double a[6], const double b[6])
{
    return lg_dot3(a, b) + lg_dot3(a + 3, b + 3);
}

/* C = A x B, the rate of a twist B that moves with the twist A */
static inline void lg_twist_cross(const double A[6], const double B[6], double C[6])
{
    lg_cross(A + 3, B, C);
    lg_add_cross(A, B + 3, C);
    lg_cross(A + 3, B + 3, C + 3);
}

/* W += A x F, the rate of a wrench F that moves with the twist A */
static inline void lg_wrench_add_cross(const double A[6], const double F[6], double W[6])
{
    lg_add_cross(A + 3, F, W);
    lg_add_cross(A + 3, F + 3, W + 3);
    lg_add_cross(A, F, W + 3);
}

/* Velocity at y of the twist A. */
static inline void lg_twist_at(const double A[6], const double y[3], double u[3])
{
    lg_cross(A + 3, y, u);
    lg_axpy(3, 1, A, u);
}

/* The ground as the parent of links. Its origin is not o, which matters only where links are placed. */
extern const lg_tree_state lg_tree_ground;

static inline const lg_tree_state *lg_tree_parent_state(const lg_body *b, const lg_tree_state *state, int link)
{
    int p = lg_tree_parent(b, link);
    return p < 0 ? &lg_tree_ground : &state[p];
}

static inline const lg_tree_state *lg_tree_base_state(const lg_body *b, const lg_tree_state *state, int link)
{
    int base = lg_tree_base(b, link);
    return base < 0 ? &lg_tree_ground : &state[base];
}

static inline void lg_tree_set_twist(const lg_tree_state *parent, double v, lg_tree_state *s)
{
    for (int k = 0; k < 6; k++)
        s->V[k] = parent->V[k] + s->S[k] * v;
}

static inline void lg_tree_set_bias(const lg_tree_state *parent, const lg_tree_state *base, double v, lg_tree_state *s)
{
    lg_twist_cross(base->V, s->S, s->Sdot);
    for (int k = 0; k < 6; k++)
        s->bias[k] = parent->bias[k] + s->Sdot[k] * v;
}

#endif
