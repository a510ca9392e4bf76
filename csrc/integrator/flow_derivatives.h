/* Derivatives by parameters of coordinates to which the rates of stages are added, q' = A(q) v: see lg_node_flow. They
   are those of the coordinates themselves, as the length of Euler parameters, which means nothing at the end of a step,
   differs between stages:

       dq = dq_n + h sum of weighted dq'     dq' = A dv + d(A v)/dq dq

   Elsewhere derivatives are left-trivialised, which A and its inverse translate. */
#ifndef LG_INTEGRATOR_FLOW_DERIVATIVES_H
#define LG_INTEGRATOR_FLOW_DERIVATIVES_H

#include "core/arena.h"
#include "integrator/explicit.h"
#include "integrator/sensitivities.h"

/* At one point; column-major. */
typedef struct lg_flow_maps {
    double A[LG_FLOW_NQ * LG_FLOW_NV];
    double slope[LG_FLOW_NQ * LG_FLOW_NQ]; /* d(A v)/dq */
    double inverse[LG_FLOW_NV * LG_FLOW_NQ]; /* of A, up to what changes no rotation */
} lg_flow_maps;

typedef struct lg_flow_derivatives {
    const lg_space *space;
    int count, stages; /* factors with such coordinates; without any the functions below do nothing */
    lg_flow_maps *start, *point; /* one of each factor with such coordinates */
    double *q0, *q; /* of the start and the point, nq for each parameter; backwards for one alone */
    double *rates; /* per parameter and stage: dq' (nq) */
} lg_flow_derivatives;

void lg_flow_derivatives_layout(lg_flow_derivatives *d, const lg_space *space, int stages, size_t parameters,
                                lg_arena *arena);
/* Forms the maps of the start, whose rates are those of the first stage, and takes its derivatives. */
void lg_flow_derivatives_begin(lg_flow_derivatives *d, const lg_state *before, const lg_sensitivities *start);
/* Forms the maps of a point. */
void lg_flow_derivatives_move(lg_flow_derivatives *d, const double *q, const double *v);
/* The derivatives of the point for parameter k; in dq (nv) those of such factors are replaced. */
void lg_flow_derivatives_advance(lg_flow_derivatives *d, const lg_weights *weights, double h, int k, double *dq);
/* Those of the rates of stage i, which is at the point, with the derivatives dv (nv) of its velocities. */
void lg_flow_derivatives_rate(lg_flow_derivatives *d, int i, int k, const double *dv);

/* The transposed maps, which add to their results; adjoints that have been passed on become zero. */
void lg_flow_derivatives_begin_back(lg_flow_derivatives *d, const lg_state *before);
void lg_flow_derivatives_rate_back(lg_flow_derivatives *d, int i, double *dv);
void lg_flow_derivatives_advance_back(lg_flow_derivatives *d, const lg_weights *weights, double h, double *dq);
void lg_flow_derivatives_end_back(lg_flow_derivatives *d, double *dq, double *dv);

#endif
