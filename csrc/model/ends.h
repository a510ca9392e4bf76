/* Points of a step between two states, of which its evaluations are made: both ends, and the middle, whose pose and
   velocity follow from q1 by (1/2, 1/h). */
#ifndef LG_MODEL_ENDS_H
#define LG_MODEL_ENDS_H

#include "model/private.h"
#include "system/step.h"

/* A point at the middle of the step in time, so that prescribed changes in time do not differ between points. */
lg_point lg_step_point(const lg_pair *pair, const double *q, const double *v);
/* The end of the step, at its time. */
lg_point lg_step_end(const lg_pair *pair, const double *v);
/* The chains of the middle, from those of q1. */
void lg_step_chains(const lg_model *m, const lg_pair *pair, const lg_chain *end, lg_chain *middle);
/* Evaluates the rows at a point (NULL: not wanted), whose poses then stand in the scratch. */
lg_status lg_step_rows(const lg_model *m, lg_form form, const lg_point *at, double *phi, double *B);
/* Writes the nonholonomic rows of the midpoint rule: h B(q_m) v_m in place of phi, and its derivatives by q1,
   B(q_m) + h/2 Z, in place of B. All are evaluated in the middle; B and Z are changed, `part` is as long. */
void lg_step_slips(const lg_model *m, const lg_pair *pair, const lg_pair_wanted *wanted, const double *phidot,
                   double *B, double *Z, double *part);

#endif
