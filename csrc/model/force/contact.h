/* The points of contacts, for queries. */
#ifndef LG_MODEL_CONTACT_H
#define LG_MODEL_CONTACT_H

#include "model/force/force.h"

typedef struct lg_contact_point { /* in inertial axes */
    double gap, point[3], normal[3]; /* out of the second body */
    double force[3]; /* on the first body */
} lg_contact_point;

/* How many points of a contact may touch; point k of them. */
int lg_contact_points(const lg_force *force);
lg_status lg_contact_at(const lg_force *force, const lg_point *at, int k, lg_contact_point *out);

#endif
