/* The arm from a rigid body's node to a point X on it, in body axes, and the twists and wrenches that follow there.

   With y = omega x X (+ U if velocities are in the body frame) and omega = Hr e' (Hr = 1 on Lie groups):

       twist  = H v           x' = u + R (omega x X)  or  R y
       H      = [ I or R, -R X^ Hr ; 0, Hr ]
       bias   = H' v          x'' = R (omega x y + bias_r x X),  omega' = bias_r
       Z      = d(H v)/dq     rows x: -R y^ Hr - R X^ Zr
       geo(w) = d(H^T w)/dq   rows r: Hr^T X^ (R^T f)^ Hr + d(Hr^T c)/de at c = X x R^T f + m;  rows U: (R^T f)^ */
#ifndef LG_MODEL_ARM_H
#define LG_MODEL_ARM_H

#include "core/two.h"
#include "model/element.h"
#include "system/chain.h"

typedef struct lg_arm {
    const lg_block *block;
    const double *q, *v; /* of the block */
    const double *R, *omega; /* of the body */
    const lg_attitude *attitude; /* of the block, NULL on Lie groups */
    const double *X;
    int at_node; /* X is zero */
    double *y; /* in the scratch, where the kinematics writes it */
} lg_arm;

/* M = -R a^, column-major: the velocity of the end of an arm a under a rotation */
static inline void lg_turn_arm(const double R[9], const double a[3], double *restrict M)
{
    double x = a[0], y = a[1], z = a[2];
    for (int i = 0; i < 3; i++) {
        M[i] = y * R[3 * i + 2] - z * R[3 * i + 1];
        M[3 + i] = z * R[3 * i] - x * R[3 * i + 2];
        M[6 + i] = x * R[3 * i + 1] - y * R[3 * i];
    }
}

/* x' of the end, and y. */
static inline void lg_arm_twist(const lg_arm *arm, double xdot[3])
{
    lg_node_position position = arm->block->node->position;
    lg_cross(arm->omega, arm->X, arm->y);
    if (position == LG_POSITION_BODY)
        lg_axpy(3, 1, arm->v, arm->y);
    lg_mul3(arm->R, arm->y, xdot);
    if (position == LG_POSITION_INERTIAL)
        lg_axpy(3, 1, arm->v, xdot);
}

/* x'' of the end at v' = 0; the body's omega' is its attitude's bias. */
void lg_arm_bias(const lg_arm *arm, double xdd[3]);

/* Wrenches on a rigid body, summed to a single one at its node: inertial force, moment in body axes, and the derivative
   of the moment as the arms turn, X^ (R^T f)^ row-major. */
typedef struct lg_resultant {
    double f[3], c[3], G[9];
} lg_resultant; /* numbers only */

/* G += s X^ g^, row-major: how the moment of a force s g, constant in space, turns with the arm X; both in body
   axes. */
static inline void lg_add_turning(double s, const double X[3], const double g[3], double G[9])
{
    double dot = lg_dot3(X, g);
    for (int i = 0; i < 3; i++) {
        lg_axpy(3, s * g[i], X, G + 3 * i);
        G[4 * i] -= s * dot;
    }
}

/* Adds a wrench at the end of the arm; `geo`: updates G as well. */
static inline void lg_arm_collect(const lg_arm *arm, const double wrench[6], int geo, lg_resultant *sum)
{
    lg_axpy(3, 1, wrench, sum->f);
    lg_axpy(3, 1, wrench + 3, sum->c);
    if (arm->at_node)
        return;

    const double *X = arm->X;
    double g[3];
    lg_mulT3(arm->R, wrench, g);
    lg_add_cross(X, g, sum->c);
    if (geo)
        lg_add_turning(1, X, g, sum->G);
}

/* The sum's part of H^T wrench, at any arm of the body: force += s H^T sum. */
static inline void lg_resultant_pull(const lg_resultant *sum, const lg_arm *arm, double s, double *force)
{
    const lg_node *node = arm->block->node;
    if (node->position == LG_POSITION_INERTIAL) {
        lg_axpy(3, s, sum->f, force);
    } else if (node->position == LG_POSITION_BODY) {
        double g[3];
        lg_mulT3(arm->R, sum->f, g);
        lg_axpy(3, s, g, force);
    }

    double *rotation = force + node->attitude_v;
    if (!arm->attitude) {
        lg_axpy(3, s, sum->c, rotation);
        return;
    }
    for (int j = 0; j < node->attitude_n; j++)
        rotation[j] += s * lg_dot3(arm->attitude->H + 3 * j, sum->c);
}

/* S += s d(H^T sum)/dq k0 X0 */
void lg_resultant_add_geo(const lg_resultant *sum, const lg_arm *arm, double s, const lg_chain *chain, double *S,
                          int ld);

/* force += s H^T wrench */
static inline void lg_arm_pull(const lg_arm *arm, double s, const double wrench[6], double *force)
{
    lg_resultant sum;
    lg_zero(6, sum.f);
    lg_arm_collect(arm, wrench, 0, &sum);
    lg_resultant_pull(&sum, arm, s, force);
}

/* row += wrench^T Z */
void lg_arm_pull_rate(const lg_arm *arm, const double wrench[6], double *row);
/* Dense, column-major, 6 x nv. */
void lg_arm_H(const lg_arm *arm, double *H);
void lg_arm_Z(const lg_arm *arm, double *Z);
/* ---- derivatives of wrenches, in the axes of forces and joints ---- */

/* Derivatives of wrenches at a node by the pose and the twist of a node: (x, phi) and (x', omega). */
typedef struct lg_stiffness {
    lg_quarters K, D;
} lg_stiffness;

static inline void lg_stiffness_clear(lg_stiffness *sum)
{
    sum->K.has = sum->D.has = 0;
}

/* Adds s times the derivatives K and D (NULL: none) of a wrench at the end of arm i by pose and twist of the end of arm
   j, converted to the nodes. */
void lg_arm_shift(const lg_arm *i, const lg_arm *j, double s, const lg_quarters *K, const lg_quarters *D,
                  lg_stiffness *sum);
/* Whether the velocities of a block are x' (if the node moves) and omega themselves, as for most bodies. */
static inline int lg_block_is_direct(const lg_block *b)
{
    return !b->node->attitude && b->node->position != LG_POSITION_BODY;
}

/* The rotational part of a chain on such a block. */
static inline const double *lg_chain_turning(const lg_chain *chain, int level, const lg_block *b)
{
    int r = b->node->attitude_v;
    return chain->X[level] ? chain->X[level] + r + r * b->nv : NULL;
}

/* S += k A X for a 3 x 3 matrix A, all of them column-major; X with leading dimension ldx, NULL: the identity */
static inline void lg_add_through(double k, const double A[9], const double *X, int ldx, double *S, int ld)
{
    if (X) {
        lg_add_product3(k, A, X, ldx, S, ld);
        return;
    }
    for (int j = 0; j < 3; j++, A += 3, S += ld) {
        lg_store_two(S, lg_load_two(S) + k * lg_load_two(A));
        S[2] += k * A[2];
    }
}

/* S += the derivatives by the unknown of the block under j, in the velocities of the block under i. */
void lg_stiffness_add(const lg_stiffness *sum, const lg_arm *i, const lg_arm *j, const lg_chain *chain, double *S,
                      int ld);

/* ---- a force at the end, on a block that is direct ---- */

/* The derivatives of a force by the unknown of a block: by its x and phi, column-major. */
typedef struct lg_force_tangent {
    double x[9], phi[9];
    int diagonal; /* x is a diagonal matrix, and only its diagonal is written */
} lg_force_tangent;

/* M = -R X^, column-major: how the end moves as the body turns, dx = dx_node + M dphi. */
void lg_arm_turned(const lg_arm *arm, double M[9]);
/* Of a force with dF = A dx + B dx' at the end, dx and dx' following from the unknown by the chain. */
void lg_arm_follow_force(const lg_arm *arm, const double M[9], const lg_chain *chain, const double A[9],
                         const double B[9], lg_force_tangent *out);
/* S += s d(H^T F)/du for a force at the end with these derivatives, which are by the unknown of the block `by`. */
void lg_arm_pull_force(const lg_arm *arm, const double M[9], double s, const lg_force_tangent *dF, const lg_block *by,
                       double *S, int ld);

/* ---- constraint rows ---- */

/* B or Z of n rows at the end of the arm: values[r + n j] (column j) get row r of J, n x 6 row-major; rate: NULL or the
   rows whose wrench^T Z is added. Rows from `points` on act on rotations alone; their first three values are
   not read. */
void lg_arm_rows(const lg_arm *arm, int n, int points, const double *J, const double *rate, double *values);
/* One row of B, `stride` values apart, from a row in the axes of the body: of the velocity of the end, and of omega. */
static inline void lg_arm_body_row(const lg_arm *arm, const double row[6], int stride, double *values)
{
    const lg_node *node = arm->block->node;
    double force[3] = {row[0], row[1], row[2]}, moment[3] = {row[3], row[4], row[5]};
    if (!arm->at_node)
        lg_add_cross(arm->X, row, moment);
    if (node->position == LG_POSITION_INERTIAL)
        lg_mul3(arm->R, row, force);
    if (node->position != LG_POSITION_FIXED)
        values[0] = force[0], values[stride] = force[1], values[2 * stride] = force[2];
    values += stride * node->attitude_v;
    if (!arm->attitude) {
        values[0] = moment[0], values[stride] = moment[1], values[2 * stride] = moment[2];
        return;
    }
    for (int j = 0; j < node->attitude_n; j++)
        values[stride * j] = lg_dot3(arm->attitude->H + 3 * j, moment);
}
/* B and Z of the three rows s x, x being the end of the arm. */
void lg_arm_point_rows(const lg_arm *arm, double s, double *values);
void lg_arm_point_rates(const lg_arm *arm, double s, double *values);

#endif
