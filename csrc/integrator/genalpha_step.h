/* What the files of generalized-alpha share; private to them.

   With gamma' = gamma/(h beta), beta' = (1 - alpha_m)/(h^2 beta (1 - alpha_f)), kappa = (1 - alpha_f)/(1 - alpha_m),
   the unknowns of a step are w and mu, both like accelerations, and the multipliers lam:

       theta = theta_0 + w/beta'     v = v_0 + gamma'/beta' (w + E)     a = a_0 + kappa (w + E)     vdot = w + E,
       P E = beta' sigma (T(theta) - I)(theta - c_n) + B(q_n)^T mu,     P = sigma I + (1 - sigma) T(theta),

   after holzinger2025 (11)-(16); mu is eta of (13) times h beta', there in stabilised index 2 only. */
#ifndef LG_INTEGRATOR_GENALPHA_STEP_H
#define LG_INTEGRATOR_GENALPHA_STEP_H

#include "integrator/genalpha.h"
#include "solve/newton.h"

enum { LG_ALPHA_BLOCK = 6 }; /* velocities of a Lie kind */

typedef struct lg_alpha {
    double alpha_m, alpha_f, beta, gamma, sigma, kappa;
} lg_alpha;

typedef enum lg_alpha_index { LG_INDEX_3, LG_INDEX_2, LG_INDEX_STABILIZED, LG_INDEX_COUNT } lg_alpha_index;
typedef enum lg_alpha_form { LG_FORM_EXACT, LG_FORM_PRINTED, LG_FORM_PRINTED_HALF } lg_alpha_form;

/* Where a matrix is formed: all that it depends on, so that a resumed run can form it again, bit for bit. */
typedef struct lg_alpha_place {
    double t, t_in, h;
    double *q, *v, *a, *lam, *mem, *theta, *c, *qn; /* c_n and q_n of its step */
} lg_alpha_place;

typedef struct lg_genalpha_stepper {
    lg_stepper base;
    lg_alpha alpha;
    lg_alpha_index index;
    lg_alpha_form form;
    int optimal_start, extrapolates, force_terms, operator, scaled;
    lg_newton_settings newton;
    int likely; /* iterations of the last step */

    /* the step under way */
    const lg_state *start;
    double h, beta_prime, gamma_prime;
    double noise_phi, noise_phidot;
    double *vn, *an; /* v_n and a_n as the step uses them */
    double *theta0, *v0, *a0; /* predicted */
    double *a; /* a_n+1 */
    double *w, *lam, *mu; /* unknowns */
    lg_alpha_place now; /* at the end of the step; now.a is vdot */
    double *Btmu, *shift, *more; /* B(q_n)^T mu; velocities and rows of a correction of mu; of a second sweep */
    double *residual, *Ma, *gyro, *force, *Btlam;

    /* the matrix */
    double *T, *X, *Bn, *Z; /* per block: T(theta), dv/dtheta over gamma'; B(q_n); d(phidot)/dq */
    lg_chain *chain;
    int chained; /* what stays the same through a step has been formed */
    lg_matrix lift; /* [I B(q_n)^T; B 0], stabilised index 2 only */
    int live; /* the matrix in memory is that of `kept` */
    double *kept; /* modified Newton: the place of the present matrix, as it is carried */
} lg_genalpha_stepper;

static inline double lg_beta_prime(const lg_alpha *p, double h)
{
    return 1 / (h * h * p->beta * p->kappa);
}

static inline double lg_gamma_prime(const lg_alpha *p, double h)
{
    return p->gamma / (h * p->beta);
}

/* ---- genalpha_forms.c: the formulas of a step ---- */

/* theta_0, v_0, a_0 and c_n from vn and an; of a printed form the first guess too. */
void lg_genalpha_predict(lg_genalpha_stepper *g);
/* q, v, a and vdot from the unknowns. */
void lg_genalpha_follow(lg_genalpha_stepper *g);
/* unknowns -= correction: of velocities (dw at fixed mu), and `shift` on top of it for theta. */
void lg_genalpha_correct(lg_genalpha_stepper *g, const double *dw);
/* The chains of the matrix at a place. */
void lg_genalpha_chains(lg_genalpha_stepper *g, const lg_alpha_place *place);
/* Instead of them: how a correction of mu, as y = -B(q_n)^T dmu, moves q at fixed v. */
void lg_genalpha_lift_chains(lg_genalpha_stepper *g, const lg_alpha_place *place);
/* How y moves q, with T, or w. */
void lg_genalpha_lift(const lg_genalpha_stepper *g, int with_T, const double *y, double *out);

/* ---- genalpha_newton.c: residual and matrix ---- */

/* Solves the step that has been predicted. */
lg_status lg_genalpha_solve(lg_genalpha_stepper *g, lg_newton_result *result);
/* B(q_n) into g->Bn. */
lg_status lg_genalpha_base_rows(lg_genalpha_stepper *g, const lg_alpha_place *place);
/* Modified Newton: forms and factors the matrix of g->kept again. */
lg_status lg_genalpha_rebuild(lg_genalpha_stepper *g);

/* ---- genalpha_carry.c: what a step takes over from those before ---- */

int lg_genalpha_carry_count(const lg_stepper *self);
lg_status lg_genalpha_reset(lg_stepper *self, lg_state *state, lg_reset reason);
/* vn, an, the guess of w, lam and mu, and the matrix of modified Newton. */
lg_status lg_genalpha_take_over(lg_genalpha_stepper *g);
/* After an accepted step, which began with lam_n: the carry of the next. */
void lg_genalpha_hand_over(const lg_genalpha_stepper *g, lg_state *state, const double *lam_n);
/* Doubles of a kept place: a flag, then its numbers and vectors. */
int lg_genalpha_place_count(const lg_system *system);
lg_alpha_place lg_genalpha_place_in(const lg_system *system, double *kept);

#endif
