/* The points of contacts, for queries. */
#ifndef LG_MODEL_CONTACT_H
#define LG_MODEL_CONTACT_H

#include "model/force/force.h"
#include "model/force/touch.h"

typedef struct lg_contact_point { /* in inertial axes */
    double gap, point[3], normal[3]; /* out of the second body */
    double force[3]; /* on the first body */
} lg_contact_point;

/* How many points of a contact may touch; point k of them. */
int lg_contact_points(const lg_force *force);
int lg_contact_is_stiff(const lg_force *force);
/* Where point k is at the pose y, S of the first frame (mutual.h). */
lg_status lg_contact_touch(const lg_force *force, int k, const double y[3], const double S[9], lg_touch *out);
lg_status lg_contact_at(const lg_force *force, const lg_point *at, int k, lg_contact_point *out);

#endif
