/* The data in the row of a method with momenta: how it takes its steps. */
#ifndef LG_INTEGRATOR_MOMENTUM_RULE_H
#define LG_INTEGRATOR_MOMENTUM_RULE_H

#include "integrator/stepper.h"
#include "system/step.h"

struct lg_momentum_rule {
    lg_gradients gradients[2]; /* as printed; as the equivariant form has them */
    lg_kinetics kinetic[2];
    int with_inverse; /* v = M^-1 p in every state, so that the kinetic energy is p.v/2; else it is p.v - T(q, v) */
    int all; /* Newton's method iterates on v and p as well */
    int null_space; /* Newton's method iterates on coordinates that keep the blocks' own rows */
    /* A rule that conserves the same, and whose rates do not grow on bodies that tumble; NULL: none. */
    const lg_momentum_rule *steadier;
};

#endif
