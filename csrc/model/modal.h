/* A flexible body in modal coordinates: what stands in its parameters, for its inertia (modal.c) and the frames at its
   nodes (modal_frame.c). The block is that of a rigid body with n linear coordinates eta behind it: the floating frame moves
   as the rigid body does, and a particle X of the body is at x + R (X + Phi eta). Sums go over the particles. */
#ifndef LG_MODEL_MODAL_H
#define LG_MODEL_MODAL_H

#include "model/element.h"

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

enum { LG_MODAL_FIXED = 13 }; /* parameters that come before those per mode */

static inline int lg_modal_node_size(int n)
{
    return 3 + 6 * n;
}

static inline lg_modal lg_modal_of(const lg_element *e)
{
    const double *p = e->p;
    int n = e->block->n;
    lg_modal m = {.n = n, .mass = p[0], .first = p + 1, .second = p + 4, .shapes = p + LG_MODAL_FIXED};
    m.mixed = m.shapes + 3 * n;
    m.products = m.mixed + 9 * n;
    m.stiffness = m.products + 9 * n * n;
    m.damping = m.stiffness + n * n;
    m.nodes = m.damping + n * n;
    m.nnodes = (int)(e->p + e->np - m.nodes) / lg_modal_node_size(n);
    return m;
}

#endif
