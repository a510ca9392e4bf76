/* The momentum of a body in a step between two states: functions of its row, and what they share. */
#ifndef LG_MODEL_MOMENTUM_H
#define LG_MODEL_MOMENTUM_H

#include "model/body/body.h"
#include "system/step.h"

struct lg_body_step {
    /* Writes v1, p1, slope and dp1 and adds the tangent to S, as the function `kinetic` of steps asks; `middle` is q_m
       and v_m, with room for an evaluation. */
    lg_status (*momentum)(lg_span bodies, lg_kinetics kinetics, const lg_pair *pair, const lg_point *middle,
                          const lg_kinetic_wanted *wanted);
    /* Before `gather` with tangents in an evaluation without `inertia`. NULL: there is nothing to do. */
    void (*leave_out)(lg_span bodies, const lg_point *at);
    /* Whether the kind of the body's block has such rules under these gradients; NULL: any kind has. */
    int (*fits)(const lg_body *b, lg_gradients gradients);
};

/* The midpoint rule of the first three coordinates: p1 = 2 m (q1 - q0)/h - p0. */
void lg_momentum_translate(const lg_body *b, double mass, lg_kinetics kinetics, const lg_pair *pair,
                           const lg_kinetic_wanted *wanted);

/* Adds derivatives by n of the body's coordinates, beginning at `first`, to dp1 and S if S is wanted: P is that of (p0
   + p1)/2, `slope` that of the slope (NULL: zero), both column-major. */
void lg_momentum_put(const lg_body *b, const lg_pair *pair, const lg_kinetic_wanted *wanted, int first, int n,
                     const double *P, const double *slope);

#endif
