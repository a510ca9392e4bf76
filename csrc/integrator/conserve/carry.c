/* What a step takes over from the one before; see step.h. */
#include "integrator/conserve/step.h"

#include "core/small.h"

#include <string.h>

int lg_conserve_carry_count(const lg_stepper *self)
{
    return 2 * self->system->space->nv + self->system->space->nq + LG_NEWTON_MEMORY;
}

lg_conserve_carry lg_conserve_carry_of(const lg_stepper *self, const lg_state *state)
{
    double *p = state->carry, *newton = p + self->system->space->nv, *q = newton + LG_NEWTON_MEMORY;
    return (lg_conserve_carry){p, newton, q, q + self->system->space->nq};
}

void lg_conserve_sign(const lg_stepper *self, const lg_state *state)
{
    lg_conserve_carry carry = lg_conserve_carry_of(self, state);
    lg_copy(self->system->space->nq, state->q, carry.q);
    lg_copy(self->system->space->nv, state->v, carry.v);
}

int lg_conserve_is_signed(const lg_stepper *self, const lg_state *state)
{
    const lg_space *space = self->system->space;
    lg_conserve_carry carry = lg_conserve_carry_of(self, state);
    return memcmp(carry.q, state->q, (size_t)space->nq * sizeof(double)) == 0 &&
           memcmp(carry.v, state->v, (size_t)space->nv * sizeof(double)) == 0;
}
