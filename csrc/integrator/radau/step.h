/* Declarations that the files of Radau IIA methods share; private to them.

   A step of size h from q_n, v_n has the stages i = 1 .. s at t_n + c_i h, the last of which is its end:

       Q_i = q_n exp(theta_i)       theta_i = sum_j a_ij K_j           K_j = h theta'_j
       V_i = T(theta_i) K_i / h     V_i = v_n + h sum_j a_ij A_j       A_j: the accelerations

       M(Q_i) A_i + gyro - force + B(Q_i)^T lam_i = 0,    phidot(Q_i, V_i) = 0      at every stage

   with the local coordinates theta_i as unknowns: hairer1996 IV.8 and VII.4, in local coordinates as in Munthe-Kaas'
   methods. Since constraints hold at the level of velocities, these are equations of index 2: q and v are of order
   2s - 1, lam_i of order s. The end of the step is projected onto the constraints of position and velocity, and gets
   the accelerations and multipliers of the index-1 equations, of order 2s - 1 as well.

   The equations are solved stage by stage, in sweeps, with the triangular factor L of A = L U, where the diagonal of U
   is one (vanderhouwen1997): within a sweep

       theta_i = sum_j<=i l_ij K_j + sum_j (a_ij - l_ij) K^old_j        and likewise V_i - v_n from A_j

   so that each stage has a real matrix of its own, formed where it is. On y' = z y/h a sweep leaves at most 0.37 of the
   error (two stages: 0.18), whatever z is in the left half-plane, and nothing after s sweeps for very large z. */
#ifndef LG_INTEGRATOR_RADAU_STEP_H
#define LG_INTEGRATOR_RADAU_STEP_H

#include "integrator/options.h"
#include "integrator/stepper.h"

enum { LG_RADAU_STAGES = 3, LG_RADAU_BLOCK = 6 /* velocities of a Lie kind */ };

/* The tableau in numbers. */
typedef struct lg_radau_numbers {
    int stages;
    double A[LG_RADAU_STAGES][LG_RADAU_STAGES], inverse[LG_RADAU_STAGES][LG_RADAU_STAGES];
    double L[LG_RADAU_STAGES][LG_RADAU_STAGES]; /* lower triangular */
    double c[LG_RADAU_STAGES];
    double slope[LG_RADAU_STAGES]; /* weights of the p_i in the slope at 0 of the polynomial through 0 and them */
} lg_radau_numbers;

/* 2 or 3, in words that a static analyzer can follow. */
static inline int lg_radau_stages(const lg_radau_numbers *n)
{
    return n->stages < LG_RADAU_STAGES ? 2 : LG_RADAU_STAGES;
}

typedef struct lg_radau_stage {
    double t;
    double *theta, *q, *v, *a, *lam;
    double *K; /* h theta' */
    double *theta_known, *v_known; /* what other stages and earlier sweeps contribute to theta and v - v_n */
    lg_matrix matrix;
} lg_radau_stage;

typedef struct lg_radau_stepper {
    lg_stepper base;
    lg_radau_numbers numbers;
    double newton_rtol;
    double *rtol, *atol; /* 2 nv each, of q and of v, if they bound Newton's method; NULL: newton_rtol does */
    int max_iter;

    /* the current step */
    const lg_state *start;
    double h;
    lg_radau_stage stage[LG_RADAU_STAGES];

    /* Newton's method */
    double *bound; /* nv: of the change of the velocities by a correction that counts as converged */
    double *residual; /* nv + nrows: force rows in the place of M a, then velocity rows; then the correction */
    double *gyro, *force, *Btlam; /* nv each */
    double *turn; /* nv: a correction of theta */
    double *Z; /* d(phidot)/dq */
    double *X; /* per block: the matrix of its chain */
    lg_chain *chain;
    int worst_stage, worst_row; /* where the residual of the last sweep was largest */

    double *q_end, *v_end, *a_end, *lam_end;
} lg_radau_stepper;

/* d(V_i)/d(theta_i) over T, which is also h times what relates A_i to V_i. */
static inline double lg_radau_rate(const lg_radau_stepper *r, int stage)
{
    return 1 / (r->h * r->numbers.L[stage][stage]);
}

/* What the next step is predicted from: the size of a step (0: there is none) and its velocities v_n, V_1 .. V_s-1
   minus those at its end. */
static inline int lg_radau_carry_count(const lg_radau_stepper *r)
{
    return 1 + lg_radau_stages(&r->numbers) * r->base.system->space->nv;
}

/* ---- numbers.c ---- */

lg_radau_numbers lg_radau_numbers_of(const lg_tableau *tableau);

/* ---- newton.c ---- */

/* Where a stage is evaluated. */
lg_point lg_radau_point(const lg_radau_stepper *r, int stage);
/* Force rows, then velocity rows scaled like accelerations, into r->residual; with_matrix: the matrix as well, which
   is left factored. */
lg_status lg_radau_evaluate(lg_radau_stepper *r, int stage, const lg_point *point, int with_matrix);
/* Solves with the matrix of a stage: a residual in, the change of A_i and lam_i out. */
lg_status lg_radau_solve_stage(lg_radau_stepper *r, int stage, double *x);
/* The change of velocities that belongs to a change of A_i along the chains of the stage that has formed its matrix
   last. */
void lg_radau_follow_chain(const lg_radau_stepper *r, int stage, const double *u, double *dv);
/* Solves the predicted step. */
lg_status lg_radau_solve(lg_radau_stepper *r);
/* LG_TURNED, with the body in the report, if a stage has turned one by more than `most`. */
lg_status lg_radau_check_turns(lg_radau_stepper *r, double most);

/* ---- predict.c ---- */

/* The first guess of all stages, from the last step or from the accelerations at the start. */
void lg_radau_predict(lg_radau_stepper *r);
/* Writes the carry for the next step, after the state has become that of the end. */
void lg_radau_hand_over(const lg_radau_stepper *r, const double *v_start, lg_state *state);

#endif
