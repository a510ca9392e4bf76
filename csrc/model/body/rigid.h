/* A rigid body: what one evaluation knows of it. Motion and wrenches stand in rigid.c, inertia in rigid_inertia.c,
   the momentum in a step in rigid_momentum.c. */
#ifndef LG_MODEL_RIGID_H
#define LG_MODEL_RIGID_H

#include "model/body/arm.h"
#include "model/body/body.h"

#include <stddef.h>

enum { LG_RIGID_MASS, LG_RIGID_INERTIA }; /* places of the parameters */

/* omega and the attitude only where the block has an attitude; on Lie groups omega is the velocity itself. */
typedef struct lg_rigid_state {
    double R[9];
    lg_stiffness stiffness;
    double omega[3];
    lg_attitude attitude;
} lg_rigid_state;

static inline lg_rigid_state *lg_rigid_state_of(const lg_body *b, const lg_point *at)
{
    return (lg_rigid_state *)(void *)(at->work + b->work);
}

/* Verbs: rigid_inertia.c. */
void lg_rigid_inertia(lg_span bodies, const lg_point *at, const lg_wanted *want);
double lg_rigid_kinetic(const lg_body *body, const lg_point *at);
/* rigid_momentum.c */
lg_status lg_rigid_momentum(lg_span bodies, const lg_pair *pair, const lg_kinetic_wanted *wanted);
int lg_rigid_has_momentum(const lg_body *b);

#endif
