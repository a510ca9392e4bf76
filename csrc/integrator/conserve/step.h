/* Declarations that the files of energy-momentum and midpoint schemes share; private to them.

   A step solves for q1 and lam, while v1 and p1 follow from q1 by the rule of the row (`kinetic` of the waist), all
   from kinon2024:

       (72b)        (p1 - p0)/h - dT/dq - force + G^T lam = 0
       (72d)        phi(q1) = 0

   with the derivative of the kinetic energy, the gradient of the potential and the gradients G of the constraint rows
   taken in the step, discrete (71) or at the middle; see system/step.h. Newton's unknown is q1 over h^2/2, so that
   its matrix begins with M.

   The rule (72c) is linear in p1, and (72a) in v1: Newton's method on q1, v1, p1 and lam has the same corrections of q1
   and lam as that on q1 and lam alone. A row with `all` set iterates on all four: its matrix is condensed to that of q1
   and lam, and p1 follows p1(q1) + dp1/dq1 dq1, with an equation of its own that has to converge. */
#ifndef LG_INTEGRATOR_CONSERVE_STEP_H
#define LG_INTEGRATOR_CONSERVE_STEP_H

#include "integrator/conserve/null_space.h"
#include "integrator/implicit.h"
#include "integrator/momentum_rule.h"

typedef struct lg_conserve_options {
    lg_option_value equivariant, guess, hamiltonian;
    lg_newton_options stop;
} lg_conserve_options;

#define LG_GUESSES(X) X(LG_GUESS_EULER, "euler") X(LG_GUESS_PREVIOUS, "previous") X(LG_GUESS_EXTRAPOLATE, "extrapolate")
enum { LG_GUESSES(LG_CHOICE_CONSTANT) };

/* The kinetic energies that mph may take, which are rules of the waist. */
#define LG_HAMILTONIANS(X)                                                                                             \
    X(LG_HAMILTONIAN_POLYNOMIAL, "polynomial")                                                                         \
    X(LG_HAMILTONIAN_EXACT, "exact")                                                                                   \
    X(LG_HAMILTONIAN_PUBLISHED, "published")
enum { LG_HAMILTONIANS(LG_CHOICE_CONSTANT) };

typedef struct lg_conserve_stepper {
    lg_stepper base;
    const lg_momentum_rule *rule;
    lg_kinetics kinetic;
    lg_gradients gradients;
    int guess;
    lg_newton_settings newton;

    /* the current step */
    const lg_state *start;
    const double *p0;
    double h, row_scale, row_noise; /* row_scale: 1 over h^2/2 */
    /* Of the last evaluation: the part of the force rows that stays in the momenta at the end, and round-off of
       gradients in them. */
    double remaining, noise;
    double *q1, *v1, *p1, *lam;
    double *p; /* of the row with `all`: the unknown p1 */
    double *slope, *force, *Gtlam, *vdot, *G;
    double *rest; /* scratch */
    double *dp1; /* one matrix per block */
    double *residual;
    double *row_size; /* see lg_implicit_row_sizes; nrows */
    double *work; /* scratch of pairs */
    const char *turned; /* of the last evaluation, as in lg_pair_wanted */
    double *fastest; /* the largest rates that the attitude of each block has had */
    int same_start; /* as in lg_pair: the step has been evaluated before */
    int at_rest; /* the last correction moved q1 hardly more than its round-off */
    lg_chain *chain;
    lg_null_space null; /* of the rule with `null_space` */
    double *forces, *phi; /* of that rule: all force rows, all constraint rows */
} lg_conserve_stepper;

extern const lg_kinetics lg_conserve_hamiltonians[]; /* by choice */

/* ---- predict.c: the first guess of a step ---- */

void lg_conserve_predict(lg_conserve_stepper *c);

/* ---- newton.c: residual and matrix ---- */

/* Solves the predicted step. */
lg_status lg_conserve_solve(lg_conserve_stepper *c, lg_newton_memory *memory);

/* ---- end_momenta.c: the round-off of q1 in p1 ---- */

/* By how much the force rows r exceed a sixteenth of the largest error that the round-off of q1 causes in p1, over
   h. */
void lg_conserve_beyond_round_off(const lg_conserve_stepper *c, const double *r, double *rest);
/* p1 of the step, from p1(q1) and the force rows. */
void lg_conserve_end_momenta(const lg_conserve_stepper *c, double *p);

#endif
