/* The mass matrix of a tree and its tangent. */
#ifndef LG_MODEL_TREE_TANGENT_H
#define LG_MODEL_TREE_TANGENT_H

#include "model/body/tree_state.h"

/* Whether the tangent along a chain has derivatives by q or v. */
static inline int lg_tree_has_rates(const lg_chain *chain)
{
    return chain->k[0] != 0 || chain->k[1] != 0;
}

/* Mass, first moment and inertia of each subtree and, if `moves`, what the tangent needs of their motion. */
void lg_tree_set_composites(const lg_body *b, lg_tree_state *state, int moves);
/* Y = I X */
void lg_tree_mul_inertia(const lg_tree_sum *s, const double X[6], double Y[6]);
/* S += the mass matrix, for the tangents that need no more. */
void lg_tree_add_mass(const lg_body *b, const lg_point *at, const lg_wanted *want);
/* S += the tangent, once the wrenches are summed over the subtrees. */
void lg_tree_add_tangent(const lg_body *b, const lg_point *at, const lg_wanted *want);

#endif
