/* The tangent of a rod's edge. */
#ifndef LG_MODEL_ROD_TANGENT_H
#define LG_MODEL_ROD_TANGENT_H

#include "model/joint/rod_strain.h"

/* The derivatives by poses of the wrenches of Y^T sum, where sum holds the elastic stress s(w), but no damping. */
void lg_edge_stiffness(const lg_element *e, const lg_strained *k, const double sum[6], lg_quarters K[2][2]);
/* Adds the derivative of the wrenches of Y^T sum, sum = s + lam. */
void lg_edge_tangent(const lg_joint *joint, const lg_strained *k, const lg_arms *arms, const double sum[6],
                     const lg_point *at, const lg_wanted *want);

#endif
