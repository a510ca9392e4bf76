/* The derivatives of a run's state by parameters, which are part of its carry. */
#ifndef LG_RUN_SENSITIVITIES_H
#define LG_RUN_SENSITIVITIES_H

#include "integrator/sensitivities.h"

/* Numbers of the stepper's carry that have derivatives. */
int lg_sensitivities_own_count(const lg_stepper *stepper);
/* Numbers in the carry; 0 in a run without parameters. */
int lg_sensitivities_count(const lg_stepper *stepper);
/* The parts of the carry from `base` on. */
lg_sensitivities lg_sensitivities_in(const lg_stepper *stepper, double *base);
/* LG_BAD_ARGUMENT, with the reason in the report, if the stepper's steps have no derivatives. */
lg_status lg_sensitivities_check(lg_stepper *stepper);
void lg_sensitivities_layout(lg_stepper *stepper, lg_arena *arena);
void lg_sensitivities_close(lg_stepper *stepper);

/* Writes the derivatives of the memory after the sample that is due at a point, nmem for each parameter. Behind them
   there must be room for nmem more. */
lg_status lg_sensitivities_sample(lg_stepper *stepper, const lg_point *point, const lg_sensitivities *s,
                                  double *sampled);
/* Writes the derivatives of the memory at a start, which `commit` has made of a guess. */
lg_status lg_sensitivities_begin_memory(lg_stepper *stepper, const double *guess, const lg_state *start,
                                        const lg_sensitivities *s);
/* Takes the derivatives of the start of a step, of which `old` is a copy, to its end. */
lg_status lg_sensitivities_step(lg_stepper *stepper, const lg_state *before, const lg_state *after, double h,
                                const lg_sensitivities *old, const lg_sensitivities *s);
/* The adjoints of these. That of the memory is part of the gradient, behind the parameters. */
lg_status lg_sensitivities_begin_memory_adjoint(lg_stepper *stepper, const double *guess, const lg_state *start,
                                                const lg_sensitivities *s, double *gradient);
lg_status lg_sensitivities_step_adjoint(lg_stepper *stepper, const lg_state *before, const lg_state *after, double h,
                                        const double *kept, const lg_sensitivities *s, double *gradient);
/* Where a run begins, or begins anew, at a point: derivatives of the accelerations and multipliers of a state from
   those of q and v, and those of the stepper's carry. */
lg_status lg_sensitivities_restart(lg_stepper *stepper, const lg_point *point, const lg_state *state,
                                   const lg_sensitivities *s);
/* The adjoint of this: from that of the accelerations, multipliers and carry to that of q and v, in place. */
lg_status lg_sensitivities_restart_adjoint(lg_stepper *stepper, const lg_point *point, const lg_state *state,
                                           const lg_sensitivities *s, double *gradient);

#endif
