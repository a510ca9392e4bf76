/* A rigid body: what one evaluation knows of it. Motion and wrenches stand in rigid.c, inertia in rigid_inertia.c,
   the momentum in a step in rigid_momentum.c. */
#ifndef LG_MODEL_RIGID_H
#define LG_MODEL_RIGID_H

#include "model/body/arm.h"
#include "model/body/body.h"

#include <stddef.h>

enum { LG_RIGID_MASS, LG_RIGID_INERTIA }; /* places of the parameters */

/* J and its inverse; zeros if it has none. */
typedef struct lg_rigid_prepared {
    double J[9], inverse[9];
} lg_rigid_prepared; /* numbers only */

static inline const lg_rigid_prepared *lg_rigid_prepared_of(const lg_body *b)
{
    return (const lg_rigid_prepared *)(const void *)b->prepared;
}

/* omega and the attitude only where the block has an attitude; on Lie groups omega is the velocity itself. */
typedef struct lg_rigid_state {
    const double *R; /* row-major: a part of q, or `turned` */
    double turned[9];
    lg_stiffness stiffness;
    double omega[3];
    lg_attitude attitude;
} lg_rigid_state;

static inline lg_rigid_state *lg_rigid_state_of(const lg_body *b, const lg_point *at)
{
    return (lg_rigid_state *)(void *)(at->work + b->work);
}

/* Verbs: rigid_inertia.c. */
int lg_rigid_nprepared(int nparameters);
void lg_rigid_prepare(const lg_body *b, double *prepared);
void lg_rigid_inertia(lg_span bodies, const lg_point *at, const lg_wanted *want);
int lg_rigid_is_loose(const lg_body *b);
/* On a block without an attitude: its accelerations under an inertial force and a moment in body axes, at the node. */
void lg_rigid_accelerate(const lg_body *b, const lg_point *at, const double force[3], const double moment[3],
                         double *a);
double lg_rigid_kinetic(const lg_body *body, const lg_point *at);
/* rigid_momentum.c */
lg_status lg_rigid_momentum(lg_span bodies, const lg_pair *pair, const lg_kinetic_wanted *wanted);
int lg_rigid_has_momentum(const lg_body *b);

/* rigid_quadratic.c: verbs for points that are placed by (e.e) R(e); the pose is that of (arm.h) to begin with. */
void lg_quadratic_pose(const lg_frame *f, const lg_point *at, lg_pose *pose);
void lg_quadratic_pull(const lg_frame *f, const lg_point *at, double s, const double wrench[6], double *out);
void lg_quadratic_pull_rate(const lg_frame *f, const lg_point *at, const double wrench[6], double *row);
void lg_quadratic_H(const lg_frame *f, const lg_point *at, double *H);
void lg_quadratic_Z(const lg_frame *f, const lg_point *at, double *Z);
void lg_quadratic_gather(const lg_body *body, const lg_point *at, int sum, double *out);
void lg_quadratic_add_geo(const lg_body *body, const lg_point *at, const lg_wanted *want);

#endif
