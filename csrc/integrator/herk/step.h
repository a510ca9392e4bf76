/* Declarations that the files of half-explicit methods share; private to them. */
#ifndef LG_INTEGRATOR_HERK_STEP_H
#define LG_INTEGRATOR_HERK_STEP_H

#include "integrator/explicit.h"
#include "integrator/stage_derivatives.h"
#include "solve/unconstrained.h"

/* What the next step begins with. */
#define LG_FIRST_STAGES(X) X(LG_FIRST_CONSISTENT, "consistent") X(LG_FIRST_PRINTED, "printed")
enum { LG_FIRST_STAGES(LG_CHOICE_CONSTANT) };

typedef struct lg_herk_options {
    lg_explicit_options shared; /* comes first, so that its rows fit */
    lg_option_value first_stage;
} lg_herk_options;

/* What the derivatives of a step by parameters need. */
typedef struct lg_herk_derivatives {
    lg_stage_derivatives at; /* of stages and points */
    double *theta, *q, *v; /* of the stage that is differentiated */
    double *Lam; /* nrows for each stage; NULL in runs without parameters */
    double *Z; /* d(phidot)/dq at its next point */
    double *q_end, *v_end, *lam_end; /* derivatives of the end, for all parameters, or their adjoint */
} lg_herk_derivatives;

typedef struct lg_herk_stepper {
    lg_stepper base;
    int stages, end; /* number of stages; the point where the step ends, counted from 0 */
    lg_weights A[LG_STAGES], b_hat; /* the last weight of a row is that of the stage that the row closes */
    double c[LG_STAGES], d[LG_STAGES];
    double h; /* of the last step */
    int levels; /* of the projection */
    int estimates;
    int consistent; /* the state has index-1 accelerations and multipliers */
    lg_slopes slopes;
    double *theta, *q, *v; /* of the present point */
    double *force; /* force - gyro of the present stage */
    double *B, *B_next; /* rows at its point and at the next one */
    double *phidot;
    double *theta_end, *q_end, *v_end, *a_end, *lam_end;
    double *error; /* 2 nv */
    lg_unconstrained unconstrained; /* used if neither the index-1 equations nor the last stage give the acceleration */
    lg_herk_derivatives derivatives; /* in runs with sensitivities */
} lg_herk_stepper;

/* Whether the acceleration of the new state follows from its multipliers. */
static inline int lg_herk_needs_acceleration(const lg_herk_stepper *rk)
{
    return !rk->consistent && rk->end == rk->stages;
}

/* A point at the time t_n + c h of a step of size h. */
static inline lg_point lg_herk_point(const lg_state *state, double h, double c, const double *theta, const double *q,
                                     const double *v)
{
    lg_point point = lg_point_at(state->t + c * h, q, v);
    point.t_in = state->t + 0.5 * h;
    point.mem = (lg_memory){state->mem, c * h, theta};
    return point;
}

/* The weight times h of the stage that a row closes. */
static inline double lg_herk_pivot(const lg_weights *weights, double h)
{
    return h * weights->weight[weights->count - 1];
}

/* Moves to the point of a row of weights: its coordinates, and its velocities without the contribution of the last
   `open` stages of the row. */
void lg_herk_move(lg_herk_stepper *rk, const lg_state *state, const lg_weights *weights, int open, double h);
/* The rows at the present point, the next one of the stage, and phidot with the velocities known so far. */
lg_status lg_herk_set_rows(lg_herk_stepper *rk, const lg_state *state, double c, double h, double *B);
/* The first stage, which is that of the state, and the point of the second one. */
void lg_herk_begin(lg_herk_stepper *rk, const lg_state *state, double h);
/* Stage i at the present point, which becomes that of stage i + 1. */
lg_status lg_herk_take_stage(lg_herk_stepper *rk, const lg_state *state, int i, double h);
/* Solves the stage (14) whose matrix has been factored, pivot = h a_i+1,i: k_i and Lam_i stand in accel->x. */
lg_status lg_herk_solve(lg_herk_stepper *rk, double pivot);
/* The end of the step: its projection, its acceleration and its multipliers. */
lg_status lg_herk_finish(lg_herk_stepper *rk, const lg_state *state, double h);

/* What derivatives of a step and their adjoint share: the present point becomes that of the derivatives, where stage
   `next` is; the point of stage i, with its accelerations and multipliers. */
void lg_herk_move_derivatives(lg_herk_stepper *rk, int next);
lg_point lg_herk_stage_point(const lg_herk_stepper *rk, int i, lg_point point);

/* Functions of lg_herk_sensitivities. */
void lg_herk_layout_derivatives(lg_stepper *self, lg_arena *arena);
lg_status lg_herk_differentiate(lg_stepper *self, const lg_state *before, const lg_state *after, double h,
                                const lg_sensitivities *s);
extern const lg_stepper_sensitivities lg_herk_sensitivities;

#endif
