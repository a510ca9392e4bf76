/* What derivatives of a step by parameters share; private to generalized-alpha. The formulas are in sensitivities.c. */
#ifndef LG_INTEGRATOR_GENALPHA_SLOPES_H
#define LG_INTEGRATOR_GENALPHA_SLOPES_H

#include "group/slope.h"
#include "group/turning.h"
#include "integrator/genalpha/step.h"
#include "integrator/sensitivities.h"

struct lg_alpha_slopes {
    lg_matrix matrix; /* [S B^T; rows] in x and dlam */
    lg_matrix mu_matrix; /* [I B(q_n)^T; B C P^-1 0] */
    lg_matrix reaction; /* d(B(q_n)^T mu)/dq */
    lg_chain *chain, *of_q; /* those of the three */
    double *chain_C, *chain_CP; /* matrices of chains */
    double *A, *C, *G, *Pinv; /* of the turning parts of factors, one after the other: A = Ad(exp(-theta)) */
    double *B, *B_part, *Z_part; /* holonomic rows; nonholonomic ones of index 3 */
    double *theta0, *v0, *a0, *c; /* derivatives of what is known in a step */
    double *ds_known, *ds, *dq; /* ds without dmu, with it */
    double *x, *mu; /* solution; right-hand side and solution of mu */
    double *adjoint_mu; /* nrows: that of phi in the last step of the adjoint, from which the next one begins */
    double *weight_phi, *weight_phidot; /* nrows: of the rows' derivatives by parameters in the adjoint */
    int is_linearised; /* the equations, by the last evaluation of Newton's method, and the maps are formed */
    int knows_vdot; /* vdot of the step before counts, see take_accelerations in genalpha.c */
};

/* ---- maps.c: how coordinates move with the unknowns ---- */

/* Memory of the maps, and what is constant in the matrices of chains. */
void lg_alpha_layout_maps(lg_genalpha_stepper *g, lg_arena *arena);
/* The maps of all factors at the end of a step, and from them the matrices of chains. */
void lg_alpha_form_maps(lg_genalpha_stepper *g);
/* dq (nv) = Ad(exp(-theta)) dq_n + C (beta' dtheta_0 + G dc_n - P^-1 ds)/beta'; ds NULL: zero. dq may be dq_n. */
void lg_alpha_move_known(const lg_genalpha_stepper *g, const double *dq_n, const double *ds, double *dq);
/* dq += C x/beta' */
void lg_alpha_move_along(const lg_genalpha_stepper *g, const double *x, double *dq);
/* The transposed maps. y = C^T dq/beta' */
void lg_alpha_move_back(const lg_genalpha_stepper *g, const double *dq, double *y);
/* That y in place of dtheta_0, dc_n, -ds and Ad(exp(-theta))^T dq of dq_n: theta_0 = beta' y, c = G^T y, ds = P^-T y
   (NULL: not wanted). */
void lg_alpha_move_back_known(const lg_genalpha_stepper *g, const double *dq, const double *y, double *dq_n,
                              double *ds);

/* ---- sensitivities.c: the functions of lg_alpha_sensitivities, and what the adjoint shares with them ---- */

const char *lg_alpha_refuse_slopes(const lg_stepper *self);
int lg_alpha_slopes_count(const lg_stepper *self);
void lg_alpha_layout_slopes(lg_stepper *self, lg_arena *arena);
void lg_alpha_close_slopes(lg_stepper *self);
void lg_alpha_reset_slopes(const lg_stepper *self, const lg_sensitivities *s);
lg_status lg_alpha_step_slopes(lg_stepper *self, const lg_state *before, const lg_state *after, double h,
                               const lg_sensitivities *s);

enum { LG_ALPHA_SWEEPS = 60 }; /* for mu, at most; each gains one or two digits */
static const double lg_alpha_stagnant = 1e-11; /* what the last ones leave where they gain nothing more */

/* Whether the equations may be linearised in Newton's method, at the last evaluation of a step: what it evaluates is
   the end of the step but for the round-off of rotations, unless the memory changes there. */
int lg_alpha_may_linearise_early(const lg_genalpha_stepper *g);
lg_status lg_alpha_linearise_early(lg_genalpha_stepper *g, const lg_wanted *wanted);

lg_point lg_alpha_end_point(const lg_genalpha_stepper *g, const lg_state *before, const lg_state *after);
lg_point lg_alpha_start_point(const lg_genalpha_stepper *g, const lg_state *before);
/* d(B(q_n)^T mu)/dq */
lg_status lg_alpha_form_reaction(lg_genalpha_stepper *g, const lg_state *before);
/* The maps and the matrices at the end of a step. */
lg_status lg_alpha_factor_slopes(lg_genalpha_stepper *g, const lg_point *end);
/* The ratio of the step to the one before, as in take_accelerations of genalpha.c. */
double lg_alpha_ratio(lg_genalpha_stepper *g, const lg_state *before);

#endif
