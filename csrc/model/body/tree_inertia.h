/* The inertia of a tree. */
#ifndef LG_MODEL_TREE_INERTIA_H
#define LG_MODEL_TREE_INERTIA_H

#include "model/body/tree_state.h"

/* COM and inertia of every link. */
void lg_tree_set_inertias(const lg_body *b, lg_tree_state *state);
/* Mass, first moment and inertia about o of a single link, once its COM and inertia are known. */
void lg_tree_set_sum(double mass, lg_tree_state *s);
/* Twists, inertias, and F of every single link: due to a (NULL: not wanted), and due to the velocities if `moves`. */
void lg_tree_set_links(const lg_body *b, const lg_point *at, const double *a, int moves);
/* Twists, inertias, and inertial wrenches F, summed over the subtree of each link: due to the accelerations a of the
   coordinates (NULL: not wanted), and due to the velocities if `moves`. Ma and gyro (NULL: not wanted): those in the
   joints. */
void lg_tree_set_dynamics(const lg_body *b, const lg_point *at, const double *a, int moves, double *Ma, double *gyro);
void lg_tree_energy(const lg_body *b, const lg_point *at, double *T, double *V);
extern const struct lg_body_shares lg_tree_shares; /* by masses, centres of mass and inertias of links */

#endif
