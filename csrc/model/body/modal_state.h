/* The data of a flexible body in modal coordinates: its parameters, and its state in one evaluation. The block is that
   of a rigid body followed by n linear coordinates eta: the floating frame moves as the rigid body does, and a particle
   X of the body is at x + R (X + Phi eta). Sums are over the particles. */
#ifndef LG_MODEL_MODAL_STATE_H
#define LG_MODEL_MODAL_STATE_H

#include "model/body/arm.h"
#include "model/body/body.h"

typedef struct lg_modal {
    int n, nnodes;
    double mass;
    const double *first; /* sum m X */
    const double *second; /* sum m X X^T, 3 x 3 */
    const double *shapes; /* sum m Phi_k, n times 3 */
    const double *mixed; /* sum m X Phi_k^T, n times 3 x 3 */
    const double *products; /* sum m Phi_k Phi_l^T, n times n times 3 x 3; all these matrices row-major */
    const double *stiffness, *damping; /* n x n, symmetric */
    const double *nodes; /* per node X (3), then Phi and Psi (3 x n, column-major) */
} lg_modal;

enum { LG_MODAL_FIXED = 13 }; /* parameters before those of the modes */

static inline int lg_modal_node_size(int n)
{
    return 3 + 6 * n;
}

static inline lg_modal lg_modal_of(const lg_body *b)
{
    const double *p = b->e.p;
    int n = b->block->factor[1].n;
    lg_modal m = {.n = n, .mass = p[0], .first = p + 1, .second = p + 4, .shapes = p + LG_MODAL_FIXED};
    m.mixed = m.shapes + 3 * n;
    m.products = m.mixed + 9 * n;
    m.stiffness = m.products + 9 * n * n;
    m.damping = m.stiffness + n * n;
    m.nodes = m.damping + n * n;
    m.nnodes = (int)(b->e.p + b->e.np - m.nodes) / lg_modal_node_size(n);
    return m;
}

/* The results of the kinematics pass for the body ... */
typedef struct lg_modal_state {
    double R[9], omega[3],
        U[3]; /* of the floating frame; U: its velocity in its own axes, only if that is the block's velocity */
    double s[3], flow[3]; /* flow: S eta' */
    double P[9], J[9], Q[9];
    lg_attitude attitude;
} lg_modal_state;

/* ... and for a frame on it. */
typedef struct lg_flex {
    const double *Phi, *Psi; /* of the node, 3 x n, column-major */
    int n, turns; /* n = 0: a point of the floating frame; turns: whether Psi differs from zero */
    double X[3], flow[3]; /* deformed position and Phi eta', in floating axes */
    double psi[3], rate[3]; /* Psi eta, Psi eta' */
    double E[9]; /* rotation from the node's to the floating axes */
    double R[9], omega[3], omegadot[3]; /* of the node; omega and omegadot in its axes */
    double y[3]; /* y of the rigid arm to X */
} lg_flex;

enum {
    LG_MODAL_STATE_SIZE = (sizeof(lg_modal_state) + sizeof(double) - 1) / sizeof(double),
    LG_FLEX_SIZE = (sizeof(lg_flex) + sizeof(double) - 1) / sizeof(double)
};

static inline lg_modal_state *lg_modal_state_of(const lg_body *b, const lg_point *at)
{
    return (lg_modal_state *)(void *)(at->work + b->work);
}

/* The arm to a point of the floating frame. */
static inline lg_arm lg_modal_arm(const lg_body *b, const lg_point *at)
{
    const lg_modal_state *now = lg_modal_state_of(b, at);
    return (lg_arm){.block = b->block,
                    .q = at->q + b->block->q,
                    .v = at->v + b->block->v,
                    .R = now->R,
                    .omega = now->omega,
                    .attitude = b->block->node->attitude ? &now->attitude : NULL};
}

#endif
