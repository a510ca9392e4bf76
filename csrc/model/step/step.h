/* The conserving form of a step: everything but the kinetic energy, such that energy and momenta are conserved
   together.

   Under the kinetics of this form (body/rigid_momentum.c) a wrench in a step does the work F . dp + M . theta, with the
   Cayley vector theta of the turn (motion.h). With mean rates, as in the printed form, energy, momentum and consistency
   contradict each other if two bodies turn together: a balanced pair of forces F and -F across a distance d would do
   work although nothing changes between the bodies.

   Elements that see two bodies relative to each other are evaluated at relative poses in the middle, and what they
   exert is spread to both bodies with exactly that work (relative.h). The gradient of a potential or of a row is
   corrected along the relative motion itself: this is Gonzalez' discrete gradient in y = (dr, beta) with the weight W =
   diag(1, l^2). The correction is of second order in y, so that it is left out only where it would be round-off. A body
   that rests or is moved from outside is an end like any other: whatever moves it does the work -(F . dp + M . theta)
   of the wrench on it. Forces that see where bodies are in space act at the middle; those that are constant or linear
   there need no correction. Bodies in Euler parameters add no dead loads themselves. */
#ifndef LG_MODEL_STEP_H
#define LG_MODEL_STEP_H

#include "model/private.h"

size_t lg_step_work(const lg_model *m);
/* The function `pair` of a step in this form, without the own rows of blocks in G and Gtlam, and without the
   derivatives of laws by what they read; q, v: the middle and the velocities (q1 - q0)/h. */
lg_status lg_step_pair(const lg_model *m, const lg_pair *pair, const lg_pair_wanted *wanted, const double *q,
                       const double *v, double *work);

#endif
