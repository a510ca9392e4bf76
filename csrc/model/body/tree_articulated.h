/* M^-1 of a tree (articulated bodies), with work and memory that grow linearly with the number of links. */
#ifndef LG_MODEL_TREE_ARTICULATED_H
#define LG_MODEL_TREE_ARTICULATED_H

#include "model/body/tree_state.h"

/* What the factorisation keeps of a link. Doubles only. */
typedef struct lg_tree_factor {
    double inertia[36]; /* articulated inertia about o */
    double S[6], W[6], inverse; /* the joint's axis, I S / D and 1 / D with D = S . I S */
    double f[6]; /* scratch of a solve: the wrench of the subtree, then the acceleration */
} lg_tree_factor;

enum { LG_TREE_FACTOR_SIZE = sizeof(lg_tree_factor) / sizeof(double) };

/* The factors, at the inertias in `state`. LG_SINGULAR: the links beyond the joint of link *deficient have no inertia
   about its axis. */
lg_status lg_tree_factor_inertias(const lg_body *b, lg_tree_state *state, lg_tree_factor *factor, int *deficient);
/* x = M^-1 (x - tau), tau the forces of the wrenches f on the links in the joints. */
void lg_tree_solve(const lg_body *b, lg_tree_factor *factor, double *x);

/* Functions of the row. */
extern const lg_body_mass lg_tree_mass;

#endif
