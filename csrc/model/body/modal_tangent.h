/* The tangent of a modal body. */
#ifndef LG_MODEL_MODAL_TANGENT_H
#define LG_MODEL_MODAL_TANGENT_H

#include "model/body/modal_inertia.h"

/* S += d(wa M a + gyro)/du, elasticity and damping included. */
void lg_modal_add_tangent(const lg_modal_pass *y, const lg_point *at, const lg_chain *chain, double *S, int ld);

#endif
