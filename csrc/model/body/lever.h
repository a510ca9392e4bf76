/* A force at a point of a rigid body whose block is direct: its derivatives by the block's unknown, and how it acts on
   the block's velocities. */
#ifndef LG_MODEL_LEVER_H
#define LG_MODEL_LEVER_H

#include "model/body/arm.h"

/* The derivatives of a force by the unknown of a block: by its x and phi, column-major. */
typedef struct lg_force_tangent {
    double x[9], phi[9];
    int diagonal; /* x is a diagonal matrix, and only its diagonal is written */
} lg_force_tangent;

/* M = -R X^, column-major: how the point moves as the body turns, dx = dx_node + M dphi. */
void lg_lever(const lg_frame *f, const lg_pose *pose, double M[9]);
/* Of a force with dF = A dx + B dx' at the point, dx and dx' following from the unknown by the chain. */
void lg_lever_force_tangent(const lg_frame *f, const lg_pose *pose, const double M[9], const lg_chain *chain,
                            const double A[9], const double B[9], lg_force_tangent *out);
/* S += s d(H^T F)/du for a force at the point with these derivatives, which are by the unknown of the block `by`. */
void lg_lever_pull_tangent(const lg_frame *f, const double M[9], double s, const lg_force_tangent *dF,
                           const lg_block *by, double *S, int ld);

#endif
