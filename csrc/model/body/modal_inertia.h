/* The inertia of a modal body: inertial forces F and their derivatives, in floating axes. modal_inertia.c has the
   formulas. */
#ifndef LG_MODEL_MODAL_INERTIA_H
#define LG_MODEL_MODAL_INERTIA_H

#include "model/body/modal_state.h"

/* The data of one pass, which the functions below read. F is in floating axes and stored as (3, 3, n). */
typedef struct lg_modal_pass {
    lg_modal m;
    const lg_block *block;
    lg_modal_state *now;
    double *Q, *c, *F, *column, *bending; /* 9 n, 3 n, 6 + n, nv, n */
    const double *eta, *etadot;
} lg_modal_pass;

/* sum m Phi_k Phi_l^T */
static inline const double *lg_modal_product(const lg_modal_pass *y, int k, int l)
{
    return y->m.products + 9 * (k * y->m.n + l);
}

static inline double lg_modal_trace(const double A[9])
{
    return A[0] + A[4] + A[8];
}

lg_modal_pass lg_modal_open(const lg_body *self, const lg_point *at);
/* The number of doubles of scratch that a body needs. */
size_t lg_modal_nwork(const lg_body *b);
/* Sets the moments at the present modal coordinates. */
void lg_modal_set_moments(const lg_modal_pass *y);

/* F += M (A, w', eta''); bending NULL: eta'' = 0 */
void lg_modal_add_mass(const lg_modal_pass *y, const double A[3], const double turn[3], const double *bending,
                       double *F);
/* F += h */
void lg_modal_add_gyroscopic(const lg_modal_pass *y, double *F);
/* F += dh/dw d */
void lg_modal_add_turn_slope(const lg_modal_pass *y, const double d[3], double *F);
/* F += dh/deta_k' */
void lg_modal_add_flow_slope(const lg_modal_pass *y, int k, double *F);
/* F += d(M (A, w', eta'') + h)/deta_k */
void lg_modal_add_bend_slope(const lg_modal_pass *y, int k, const double A[3], const double turn[3], double *F);

/* Sets F of the pass to zero and returns it. */
double *lg_modal_cleared(const lg_modal_pass *y);
/* out (nv) += F */
void lg_modal_project(const lg_modal_pass *y, const double *F, double *out);
/* A = R^T x or x, and turn = Hr e, for x and e in the block's velocities or accelerations: the first two parts of the
   vector that M multiplies. */
void lg_modal_to_floating_axes(const lg_modal_pass *y, double s, const double *a, double A[3], double turn[3]);
/* Adds the values that A and w' have at zero accelerations. */
void lg_modal_add_bias(const lg_modal_pass *y, double A[3], double turn[3]);

#endif
