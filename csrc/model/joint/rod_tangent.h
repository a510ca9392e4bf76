/* The tangent of a rod's edge. */
#ifndef LG_MODEL_ROD_TANGENT_H
#define LG_MODEL_ROD_TANGENT_H

#include "model/joint/rod_strain.h"

/* The derivatives of the wrenches of Y^T sum, sum = s + lam, by poses and, if it is `damped`, by twists, else D is
   zero; those of constant multipliers alone. */
void lg_edge_slopes(const lg_element *e, const lg_strained *k, const double sum[6], int damped, lg_quarters K[2][2],
                    lg_quarters D[2][2]);
void lg_edge_reaction_slopes(const lg_strained *k, const double lam[6], lg_quarters K[2][2]);
/* Adds the derivative of the wrenches of Y^T sum, sum = s + lam. */
void lg_edge_tangent(const lg_joint *joint, const lg_strained *k, const lg_arms *arms, const double sum[6],
                     const lg_point *at, const lg_wanted *want);

#endif
