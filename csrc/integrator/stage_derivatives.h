/* Derivatives by parameters of what the steps of explicit Runge-Kutta methods are made of: the slopes K and k of their
   stages, and the points to which combinations of them lead. Everything is differentiated as it is computed:

       dtheta = h sum of weighted dK     dq = Ad(exp(-theta)) dq_n + T dtheta     dv = dv_n + h sum of weighted dk
       dK = T^-1 (dv - d(T K)/dtheta dtheta) */
#ifndef LG_INTEGRATOR_STAGE_DERIVATIVES_H
#define LG_INTEGRATOR_STAGE_DERIVATIVES_H

#include "group/moves.h"
#include "integrator/flow_derivatives.h"
#include "solve/follow.h"

typedef struct lg_stage_derivatives {
    int nv, stages;
    double h; /* of the step */
    const lg_sensitivities *start; /* the derivatives of its start */
    double *slopes; /* per parameter and stage: dK, dk */
    double *theta, *q, *v; /* of a point, nv for each parameter; backwards for one alone */
    double *lam; /* nrows: of multipliers that do not count */
    lg_moves moves; /* from the start of the step to it */
    lg_flow_derivatives flows;
    lg_follower follower; /* of the projection of the end */
} lg_stage_derivatives;

/* Room for the slopes of `stages` stages. */
void lg_stage_derivatives_layout(lg_stage_derivatives *d, lg_stepper *stepper, int stages, lg_arena *arena);
/* A step of size h from a start with these derivatives, whose velocities and accelerations are the first slopes. */
void lg_stage_derivatives_begin(lg_stage_derivatives *d, const lg_state *before, const lg_sensitivities *start,
                                double h);
/* Makes theta the displacement to the point at q and v, with the rate K there (NULL: it is not wanted). */
void lg_stage_derivatives_move(lg_stage_derivatives *d, const double *q, const double *v, const double *theta,
                               const double *K);
/* The derivatives of the point for parameter k: of v without the last `open` stages of the weights. */
void lg_stage_derivatives_advance(lg_stage_derivatives *d, const lg_weights *weights, int open, int k);
/* dK of stage i, which is at the point. */
void lg_stage_derivatives_rate(lg_stage_derivatives *d, int i, int k);

/* The transposed maps, for the way back over a step: d->slopes, q and v hold the adjoints of slopes and of a point. It
   begins with the adjoint of the end of the step, at which the point is then, and makes `start` that of its start. */
void lg_stage_derivatives_begin_back(lg_stage_derivatives *d, const lg_state *before, const lg_sensitivities *start,
                                     double h);
/* From that of the rate of stage i to that of the point. */
void lg_stage_derivatives_rate_back(lg_stage_derivatives *d, int i);
/* From that of the point, which becomes zero, to those of the slopes. */
void lg_stage_derivatives_advance_back(lg_stage_derivatives *d, const lg_weights *weights, int open);
/* From that of the first slopes to that of the start. */
void lg_stage_derivatives_end_back(lg_stage_derivatives *d);

/* The slopes of a stage for parameter k: dK, and behind it dk. */
static inline double *lg_stage_derivatives_at(const lg_stage_derivatives *d, int i, int k)
{
    return d->slopes + 2L * d->nv * ((long)d->stages * k + i);
}

#endif
