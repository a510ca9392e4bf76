/* The data of a rigid body: its parameters, data prepared from them, and its state in one evaluation. */
#ifndef LG_MODEL_RIGID_STATE_H
#define LG_MODEL_RIGID_STATE_H

#include "model/body/arm.h"
#include "model/body/body.h"

#include <stddef.h>

enum { LG_RIGID_MASS, LG_RIGID_INERTIA }; /* indices of the parameters */

/* The mass, and J and its inverse, which is zero if J has none. */
typedef struct lg_rigid_prepared {
    double mass;
    double diagonal; /* whether J and its inverse are */
    double J[9], inverse[9];
} lg_rigid_prepared; /* numbers only */

static inline const lg_rigid_prepared *lg_rigid_prepared_of(const lg_body *b)
{
    return (const lg_rigid_prepared *)(const void *)b->prepared;
}

/* c = A b for J or its inverse, which are symmetric and read by columns. */
static inline void lg_rigid_mul_inertia(const lg_rigid_prepared *p, const double A[9], const double b[3], double c[3])
{
    if (p->diagonal != 0)
        c[0] = A[0] * b[0], c[1] = A[4] * b[1], c[2] = A[8] * b[2];
    else
        lg_mulT3(A, b, c);
}

/* A body has only the first member where q contains its rotation matrix. omega and the attitude are used only if the
   block has an attitude; on Lie groups omega is the velocity itself. */
typedef struct lg_rigid_state {
    lg_stiffness stiffness; /* which comes first: lg_body_stiffness */
    double turned[9]; /* the rotation matrix */
    double omega[3];
    lg_attitude attitude;
} lg_rigid_state;

static inline lg_rigid_state *lg_rigid_state_of(const lg_body *b, const lg_point *at)
{
    return (lg_rigid_state *)(void *)(at->work + b->work);
}

/* The rotation matrix, row-major: part of q, or in the state. */
static inline const double *lg_rigid_rotation(const lg_body *b, const lg_point *at)
{
    const lg_node *node = b->block->node;
    if (node->storage == LG_STORAGE_MATRIX)
        return at->q + b->block->q + node->attitude_q;
    return lg_rigid_state_of(b, at)->turned;
}

#endif
