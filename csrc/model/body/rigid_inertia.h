/* The inertia of a rigid body: functions of its row. */
#ifndef LG_MODEL_RIGID_INERTIA_H
#define LG_MODEL_RIGID_INERTIA_H

#include "model/body/body.h"

int lg_rigid_prepare(const lg_body *b, double *prepared);
void lg_rigid_inertia(lg_span bodies, const lg_point *at, const lg_wanted *want);
void lg_rigid_inertia_sherif(lg_span bodies, const lg_point *at, const lg_wanted *want);
void lg_rigid_energy(const lg_body *body, const lg_point *at, double *T, double *V);
/* Functions of the row. */
extern const lg_body_mass lg_rigid_mass;
extern const struct lg_body_shares lg_rigid_shares;

#endif
