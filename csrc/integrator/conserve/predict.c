/* The first guess of a step; see step.h. */
#include "integrator/conserve/step.h"

#include "core/small.h"

#include <math.h>

void lg_conserve_predict(lg_conserve_stepper *c)
{
    const lg_system *system = c->base.system;
    const lg_state *state = c->start;
    double first = c->guess == LG_GUESS_PREVIOUS ? 0 : c->h;
    double second = c->guess == LG_GUESS_EXTRAPOLATE ? 0.5 * c->h * c->h : 0;
    for (int i = 0; i < system->space->nv; i++) {
        c->vdot[i] = first * state->v[i] + (isnan(state->a[i]) ? 0 : second * state->a[i]);
        c->q1[i] = state->q[i] + c->vdot[i];
    }
    if (c->rule->null_space)
        lg_null_predict(&c->null, state->q, c->vdot, c->q1);
    for (int i = 0; i < system->pattern->nrows; i++)
        c->lam[i] = isnan(state->lam[i]) ? 0 : state->lam[i];
    lg_copy(system->space->nv, state->carry, c->p);
}
