/* What bodies share that have a momentum in a step: the verb `momentum` of their rows. */
#ifndef LG_MODEL_MOMENTUM_H
#define LG_MODEL_MOMENTUM_H

#include "model/body/body.h"

/* The midpoint rule of the first three coordinates: p1 = 2 m (q1 - q0)/h - p0. */
void lg_momentum_translate(const lg_body *b, double mass, const lg_pair *pair, const lg_kinetic_wanted *wanted);

/* Puts derivatives by n of the body's coordinates from `first` on, of (p0 + p1)/2 (P) and of the slope (NULL: zero),
   column-major, into dp1 and S, if S is wanted. */
void lg_momentum_put(const lg_body *b, const lg_pair *pair, const lg_kinetic_wanted *wanted, int first, int n,
                     const double *P, const double *slope);

#endif
