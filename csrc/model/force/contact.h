/* The points of contacts, for queries. */
#ifndef LG_MODEL_CONTACT_H
#define LG_MODEL_CONTACT_H

#include "model/force/force.h"
#include "model/force/mutual.h"
#include "model/force/path.h"
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

/* Bristles are memory, which the row's `commit` brings to the end of a step as evaluations in the step do: as if it
   went there straight on. `before` is the memory at the start of the step. */
int lg_contact_has_bristles(const lg_force *force);
/* Whether some have slid in a step, so that their path matters. */
int lg_contact_has_slid(const lg_force *force, const double *before, const double *mem);
/* The memory, straight on from there. */
lg_status lg_contact_renew(const lg_force *force, const lg_mutual *at, double *mem);
/* Replaces the displacements of those that have slid by what follows from the motion through a step, which ends at
   `to`. */
lg_status lg_contact_follow(const lg_force *force, const lg_path *path, const lg_mutual *to, const double *before,
                            double *mem);
/* The largest difference that this makes to a displacement z, as a part of atol + rtol |z|; straight: the memory
   without it. */
double lg_contact_bristle_error(const lg_force *force, const double *before, const double *straight, const double *mem,
                                double rtol, double atol);

#endif
