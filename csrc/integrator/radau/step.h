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
   error (two stages: 0.18), whatever z is in the left half-plane, and nothing after s sweeps for very large z.

   With fixed steps, where that takes less work (way.c), a sweep solves for all stages together, in the eigenbasis of
   the tableau, with the matrices of one state (eigen.c). */
#ifndef LG_INTEGRATOR_RADAU_STEP_H
#define LG_INTEGRATOR_RADAU_STEP_H

#include "integrator/options.h"
#include "integrator/stepper.h"
#include "solve/renewal.h"

#include <math.h>

enum { LG_RADAU_STAGES = 3, LG_RADAU_BLOCK = 6 /* velocities of a Lie kind */ };

/* The tableau in numbers. */
typedef struct lg_radau_numbers {
    int third; /* there is a third stage */
    double A[LG_RADAU_STAGES][LG_RADAU_STAGES], inverse[LG_RADAU_STAGES][LG_RADAU_STAGES];
    double L[LG_RADAU_STAGES][LG_RADAU_STAGES]; /* lower triangular */
    double c[LG_RADAU_STAGES];
    double slope[LG_RADAU_STAGES]; /* weights of the p_i in the slope at 0 of the polynomial through 0 and them */
    /* Real and imaginary part of an eigenvalue of A^-1, and with a third stage the real eigenvalue; from values at the
       stages to the parts of their eigenvectors, and back. */
    double eigenvalue[LG_RADAU_STAGES];
    double to[LG_RADAU_STAGES][LG_RADAU_STAGES], from[LG_RADAU_STAGES][LG_RADAU_STAGES];
} lg_radau_numbers;

/* The parts of a vector in the eigenbasis. */
enum { LG_RADAU_RE, LG_RADAU_IM, LG_RADAU_REAL };

/* How a sweep solves: stage by stage, or for all stages together. */
typedef enum lg_radau_way { LG_RADAU_SPLITTING, LG_RADAU_EIGENBASIS, LG_RADAU_WAYS } lg_radau_way;

static inline int lg_radau_stages(const lg_radau_numbers *n)
{
    return n->third ? LG_RADAU_STAGES : LG_RADAU_STAGES - 1;
}

typedef struct lg_radau_stage {
    double t;
    double *theta, *q, *v, *a, *lam;
    double *K; /* h theta' */
    double *theta_known, *v_known; /* what other stages and earlier sweeps contribute to theta and v - v_n */
    lg_matrix matrix; /* that of the stage, or that of the part with its number in the eigenbasis */
} lg_radau_stage;

/* What one step hands to the next about its sweeps; zeros: nothing is known. */
typedef struct lg_radau_memory {
    double new_rate; /* what a sweep with new matrices left of the correction before */
    double failures; /* of older matrices within steps, less the steps that they have served; 0 to 3 */
    lg_renewal_memory renewal;
} lg_radau_memory;

/* Corrections of a first guess by what extrapolation has missed: with fixed steps, and with others, which seldom have
   the size of the last one. */
enum { LG_RADAU_CORRECTIONS = 4, LG_RADAU_CORRECTIONS_ADAPTIVE = 2 };

enum { LG_RADAU_MEMORY = sizeof(lg_radau_memory) / sizeof(double) };

/* What decides about the way of the next step; zeros: the splitting, of which nothing is known. */
typedef struct lg_radau_choice {
    double way;
    double steps, sweeps, matrices; /* since this way was taken, or last judged */
    double least; /* work of a step by the splitting */
    double wait; /* steps of the splitting between two attempts with the eigenbasis; 0: there was none */
} lg_radau_choice;

enum { LG_RADAU_CHOICE = sizeof(lg_radau_choice) / sizeof(double) };

/* The data that a step takes over from earlier steps. */
typedef struct lg_radau_carry {
    double *h; /* of the last step; 0: there is none */
    double *v; /* its velocities v_n, V_1 .. V_s-1 minus those at its end */
    double *lam; /* the multipliers lam_1 .. lam_s of that step */
    double *order; /* how many of the following corrections would have made the last first guess best */
    /* V_i and lam_i minus the extrapolated ones in the last step, and their backward differences */
    double *miss[LG_RADAU_CORRECTIONS], *miss_lam[LG_RADAU_CORRECTIONS];
    double *memory; /* an lg_radau_memory */
    double *formed; /* states of the kept matrices */
    double *choice; /* an lg_radau_choice */
} lg_radau_carry;

/* The states at which the matrices of a step were formed: everything that they depend on. In the eigenbasis only one
   stage has them. */
typedef struct lg_radau_formed {
    double *h, *t; /* of the step, h 0: there are no matrices; t at its start */
    double *q, *mem; /* at its start */
    double *theta[LG_RADAU_STAGES], *K[LG_RADAU_STAGES], *a[LG_RADAU_STAGES], *lam[LG_RADAU_STAGES];
    double *way; /* an lg_radau_way */
} lg_radau_formed;

/* What the eigenbasis needs beside the stages; its parts have the order of the eigenvalues. */
typedef struct lg_radau_eigen {
    double *part[LG_RADAU_STAGES]; /* nv + nrows each: the residuals of all stages, then their corrections */
    double *X[LG_RADAU_STAGES]; /* matrices of chains, beside r->X */
    lg_chain *chain[LG_RADAU_STAGES];
} lg_radau_eigen;

typedef struct lg_radau_slopes lg_radau_slopes; /* slopes.h */

typedef struct lg_radau_stepper {
    lg_stepper base;
    lg_radau_numbers numbers;
    double newton_rtol;
    double *rtol, *atol; /* 2 nv each, of q and of v, if they bound Newton's method; NULL: newton_rtol does */
    int max_iter;
    int corrections; /* of a first guess that are kept */

    /* the current step */
    const lg_state *start;
    double h;
    lg_radau_stage stage[LG_RADAU_STAGES];

    /* Newton's method */
    double *weight; /* nv: 1 over the change of a velocity by a correction that counts as converged */
    double *residual; /* nv + nrows: force rows in the place of M a, then velocity rows; then the correction */
    double *gyro, *force, *Btlam; /* nv each */
    double *turn; /* nv: a correction of theta */
    lg_renewal_settings renewal[LG_RADAU_WAYS];
    double sweep_work[LG_RADAU_WAYS]; /* of a sweep, over that of the splitting */
    int chooses; /* counted work decides about the way; else it is always `only` */
    lg_radau_way only;
    lg_radau_choice choice;
    lg_radau_memory memory;
    double *formed; /* states of the present matrices, in the form in which they are carried */
    double matrix_h; /* size of the step in which they were formed */
    lg_radau_way matrices; /* the present ones */
    int has_matrices; /* matrices of earlier steps may serve this one */
    int renewed; /* this step has formed its own */
    double *X; /* per block: the matrix of its chain */
    lg_chain *chain;
    lg_radau_eigen eigen; /* if it may be used */

    double *q_end, *v_end, *a_end, *lam_end;
    lg_radau_slopes *slopes; /* of runs with sensitivities, else NULL */
} lg_radau_stepper;

/* d(V_i)/d(theta_i) over T, which is also h times what relates A_i to V_i. */
static inline double lg_radau_rate(const lg_radau_stepper *r, int stage)
{
    return 1 / (r->h * r->numbers.L[stage][stage]);
}

/* d(V_i)/d(theta_i) in the matrix of a stage, which may be that of a step of another size. */
static inline double lg_radau_matrix_rate(const lg_radau_stepper *r, int stage)
{
    return 1 / (r->matrix_h * r->numbers.L[stage][stage]);
}

static inline lg_radau_way lg_radau_way_of(const lg_radau_stepper *r)
{
    return (lg_radau_way)r->choice.way;
}

/* Whether matrices of steps of size `formed` (0: there are none) may serve one of size h. */
static inline int lg_radau_serves(double formed, double h)
{
    return formed > 0 && fabs(formed - h) <= 1e-6 * h;
}

/* ---- end.c ---- */

/* The end of the step on the constraints, with its accelerations and multipliers. */
lg_status lg_radau_finish(lg_radau_stepper *r);

/* ---- adjoint.c ---- */

extern const lg_stepper_sensitivities lg_radau_sensitivities;

/* ---- numbers.c ---- */

lg_radau_numbers lg_radau_numbers_of(const lg_tableau *tableau);

/* ---- newton.c ---- */

/* Makes the step from `start` of size h the current one. */
void lg_radau_set_step(lg_radau_stepper *r, const lg_state *start, double h);
/* Q_i and V_i from theta_i and K_i. */
void lg_radau_move(lg_radau_stepper *r, int stage);
/* Q_i, V_i and A_i from K_i and what other stages contribute. */
void lg_radau_follow(lg_radau_stepper *r, int stage);
/* A_i from all V_i. */
void lg_radau_set_accelerations(lg_radau_stepper *r);
/* Where a stage is evaluated. */
lg_point lg_radau_point(const lg_radau_stepper *r, int stage);
/* Force rows, then velocity rows, into r->residual, and any number of tangents, with B and Z if there are some. */
lg_status lg_radau_balance(lg_radau_stepper *r, const lg_point *point, int ntangents, const lg_tangent *tangent);
/* Force rows, then velocity rows scaled like accelerations, into r->residual; with_matrix: the matrix as well, which is
   left factored. */
lg_status lg_radau_evaluate(lg_radau_stepper *r, int stage, const lg_point *point, int with_matrix);
/* Solves with the matrix of a stage: a residual in, the change of A_i and lam_i out. */
lg_status lg_radau_solve_stage(lg_radau_stepper *r, int stage, double *x);
/* Corrects a stage by that change, which stands in r->residual; `turn`: theta_i and lam_i alone. */
void lg_radau_correct(lg_radau_stepper *r, int stage);
void lg_radau_turn(lg_radau_stepper *r, int stage);
/* The change of velocities that belongs to a change of A_i along the chains of the stage that has formed its matrix
   last. */
void lg_radau_follow_chain(const lg_radau_stepper *r, int stage, const double *u, double *dv);

/* ---- eigen.c: sweeps for all stages together ---- */

/* Memory for it. */
void lg_radau_eigen_layout(lg_radau_stepper *r, lg_arena *arena);
/* The stage at which matrices are formed. */
int lg_radau_eigen_stage(const lg_radau_stepper *r);
/* Q_i and V_i of all stages from theta_i. */
void lg_radau_follow_all(lg_radau_stepper *r);
/* Evaluates that stage with the matrices, which are left factored. */
lg_status lg_radau_form_all(lg_radau_stepper *r);
/* Evaluates all stages, with_matrices: those as well, and solves for their corrections. */
lg_status lg_radau_solve_all(lg_radau_stepper *r, int with_matrices);
/* Solves with the complex matrix for the real part of what some forces of a stage correct. */
lg_status lg_radau_solve_forces(lg_radau_stepper *r, double *x);
/* The correction of a stage, as lg_radau_solve_stage gives it, into r->residual. */
void lg_radau_take_correction(lg_radau_stepper *r, int stage);

/* ---- way.c ---- */

/* The costs of both ways by counts. */
void lg_radau_set_costs(lg_radau_stepper *r);
/* Notes what a step has taken, and chooses the way of the next one. */
void lg_radau_choose(lg_radau_stepper *r, double sweeps, int matrices);
/* Gives up the eigenbasis, which has failed in this step. */
void lg_radau_give_up(lg_radau_stepper *r);

/* ---- sweeps.c ---- */

/* Solves the step. */
lg_status lg_radau_solve(lg_radau_stepper *r);

/* ---- turns.c ---- */

/* LG_TURNED if a stage has turned a body by more than `most`; the report names the body. */
lg_status lg_radau_check_turns(lg_radau_stepper *r, double most);

/* ---- predict.c ---- */

/* The first guess of all stages, from the last step or from the accelerations at the start. */
void lg_radau_predict(lg_radau_stepper *r);

/* Notes how far the extrapolated values of the present step were from its results, beside those of the last step. */
void lg_radau_note_miss(lg_radau_stepper *r, const double *v_start, double *carry);

/* ---- carry.c: the data that a step takes over from earlier steps ---- */

int lg_radau_carry_count(const lg_radau_stepper *r);
/* The parts of a carry in the memory at `base`. */
lg_radau_carry lg_radau_carry_in(const lg_radau_stepper *r, double *base);
/* The function `adopt`. */
int lg_radau_adopt(const lg_stepper *self, int count, const double *given, double *carry);
/* The number of doubles in the states of matrices. */
int lg_radau_formed_count(const lg_radau_stepper *r);
/* Writes the state at which a stage forms its matrix, and that at the start of the step, into r->formed. */
void lg_radau_note_stage(lg_radau_stepper *r, int stage);
void lg_radau_note_step(lg_radau_stepper *r);
/* Takes over the memory, and the kept matrices: a resumed run, or one whose last step has failed, forms them again. */
lg_status lg_radau_take_over(lg_radau_stepper *r);
/* Writes the carry for the next step, after the state has become that of the end. */
void lg_radau_hand_over(const lg_radau_stepper *r, const double *v_start, lg_state *state);

#endif
