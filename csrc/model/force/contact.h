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

/* Numbers of the memory of a point with bristles: whether it is in touch; z, s_0 and p_0 (contact.c). */
enum { LG_BRISTLE_TOUCH, LG_BRISTLE_Z, LG_BRISTLE_MEMORY = 10 };
enum { LG_BRISTLE_NUMBERS = 9 }; /* from z on: those with derivatives */

/* Bristles are memory, which the row's `commit` brings to the end of a step as evaluations in the step do: as if it
   went there straight on. `before` is the memory at the start of the step. */
int lg_contact_has_bristles(const lg_force *force);
/* Whether some have slid in a step, so that their path matters. */
int lg_contact_has_slid(const lg_force *force, const double *before, const double *mem);
int lg_contact_point_has_slid(const double *before, const double *mem); /* the same of one point, with its memory */
/* The memory, straight on from there. */
lg_status lg_contact_renew(const lg_force *force, const lg_mutual *at, double *mem);
/* Replaces the displacements of those that have slid by what follows from the motion through a step, which ends at
   `to`. */
lg_status lg_contact_follow(const lg_force *force, const lg_path *path, const lg_mutual *to, const double *before,
                            double *mem);
/* For this, the motion is taken in so many parts, and in twice as many. */
enum { LG_FEW_PARTS = 4 };

/* The derivatives of the memory of a point that is renewed, column-major: of z by dy, dphi, drate and dturn (mutual.h)
   and by the displacement that it remembers, dz + S ds_0 - dp_0; of s_0 and p_0 by dy and dphi. Zeros where there is no
   force. */
typedef struct lg_bristle_renewal {
    double z[3 * LG_MUTUAL_NUMBERS], kept[9], s_0[18], p_0[18];
} lg_bristle_renewal;

/* Renews the memory m of point k, straight on from there, and writes its derivatives, those of the present branch. */
lg_status lg_contact_renewal(const lg_force *force, int k, const lg_mutual *at, double *m, lg_bristle_renewal *out);
/* Of the force on the first frame at point k: its place z from that frame, and its derivatives by the displacement that
   bristles remember, column-major. Returns status; *acts: whether there is such a force. */
lg_status lg_contact_held(const lg_force *force, int k, const lg_mutual *at, const double *m, int *acts, double z[3],
                          double dF[9]);
/* Adds to F and m of `at` their change along one of the memory. */
lg_status lg_contact_add_held(const lg_force *force, const double *mem, const double *dmem, lg_mutual *at);
/* out += s times the transposed map of a motion (dy, dphi). */
lg_status lg_contact_held_back(const lg_force *force, const lg_mutual *at, const double *mem, double s,
                               const double motion[6], double *out);
/* Renews the memory m of point k of a contact whose parameters, or whose frames `at`, are a little different from p_0
   and at_0: to the first order, on the branch of these, whose memory m_0 it renews as well. */
lg_status lg_contact_renew_beside(const lg_force *force, const double *p_0, int k, const lg_mutual *at,
                                  const lg_mutual *at_0, double *m, double *m_0);
/* Writes the reference of such a contact, where its frames are and its parameters; its size. */
int lg_contact_reference_size(const lg_force *force);
void lg_contact_refer(const lg_force *force, const lg_point *at, double *reference);
/* The largest difference that this makes to a displacement z, as a part of atol + rtol |z|; straight: the memory
   without it. */
double lg_contact_bristle_error(const lg_force *force, const double *before, const double *straight, const double *mem,
                                double rtol, double atol);

#endif
