/* R^3 x rotations: position and orientation do not couple, v = (inertial velocity, body angular velocity)
   (holzinger2024 (17), (18), (A1)). The rotation follows the position, in one of three storages. */
#include "group/node.h"
#include "group/rotation.h"

#include <stddef.h>

static void direct_rate(int n, const double *q0, const double *theta, const double *v, double *thetadot)
{
    (void)n, (void)q0;
    lg_copy(3, v, thetadot);
    lg_so3_tangent_solve(theta + 3, v + 3, thetadot + 3);
}

/* M = diag(diagonal I, A), both 6 x 6 and 3 x 3 column-major */
static void set_diagonal(double diagonal, const double A[9], double *M)
{
    lg_zero(36, M);
    for (int j = 0; j < 3; j++) {
        M[7 * j] = diagonal;
        lg_copy(3, A + 3 * j, M + 6 * (3 + j) + 3);
    }
}

static void direct_tangent(int n, const double *theta, double *T)
{
    (void)n;
    double A[9];
    lg_so3_tangent(theta + 3, A);
    set_diagonal(1, A, T);
}

static void direct_tangent_inv(int n, const double *theta, double *Tinv)
{
    (void)n;
    double A[9];
    lg_so3_tangent_inv(theta + 3, A);
    set_diagonal(1, A, Tinv);
}

static void direct_tangent_mul(int n, const double *theta, const double *v, double *w)
{
    (void)n;
    lg_copy(3, v, w);
    lg_so3_tangent_mul(theta + 3, v + 3, w + 3);
}

static void direct_ad(int n, const double *v, double *A)
{
    (void)n;
    double minus[3] = {-v[3], -v[4], -v[5]}, W[9];
    lg_hat3(minus, W); /* column-major */
    set_diagonal(0, W, A);
}

static inline void add_position(const double *restrict x0, const double *restrict u, double *restrict x)
{
    for (int i = 0; i < 3; i++)
        x[i] = x0[i] + u[i];
}

static void subtract_position(const double *x0, const double *x1, double *u)
{
    for (int i = 0; i < 3; i++)
        u[i] = x1[i] - x0[i];
}

static void so3_retract(int n, const double *q0, const double *theta, double *q)
{
    (void)n;
    add_position(q0, theta, q);
    lg_so3_retract(q0 + 3, theta + 3, q + 3);
}

static void so3_difference(int n, const double *q0, const double *q1, double *theta)
{
    (void)n;
    subtract_position(q0, q1, theta);
    lg_so3_difference(q0 + 3, q1 + 3, theta + 3);
}

static void so3_rotation(const double *q, double R[9])
{
    lg_copy(9, q + 3, R);
}

static void s3_retract(int n, const double *q0, const double *theta, double *q)
{
    (void)n;
    add_position(q0, theta, q);
    lg_s3_retract(q0 + 3, theta + 3, q + 3);
}

static void s3_difference(int n, const double *q0, const double *q1, double *theta)
{
    (void)n;
    subtract_position(q0, q1, theta);
    lg_s3_difference(q0 + 3, q1 + 3, theta + 3);
}

static void s3_rotation(const double *q, double R[9])
{
    lg_quat_matrix(q + 3, R);
}

static void rv_retract(int n, const double *q0, const double *theta, double *q)
{
    (void)n;
    add_position(q0, theta, q);
    lg_rv_retract(q0 + 3, theta + 3, q + 3);
}

static void rv_difference(int n, const double *q0, const double *q1, double *theta)
{
    (void)n;
    subtract_position(q0, q1, theta);
    lg_rv_difference(q0 + 3, q1 + 3, theta + 3);
}

static void rv_rotation(const double *q, double R[9])
{
    lg_rv_matrix(q + 3, R);
}

/* Writes velocities in the pairs in which loops over all of them load them. */
static LG_INLINE void put_velocities(const double x[3], const double turn[3], double v[6])
{
    lg_store_two(v, lg_load_two(x));
    lg_store_two(v + 2, (lg_two){x[2], turn[0]});
    lg_store_two(v + 4, (lg_two){turn[1], turn[2]});
}

/* `move` and `stage` of a storage; `turn` is its kernel in rotation.h. */
#define MOVES(storage, turn)                                                                                           \
    static void storage##_move(int n, const double *q0, const double *theta, const double *y, double *q, double *w)    \
    {                                                                                                                  \
        (void)n;                                                                                                       \
        lg_angle x = lg_angle_of(lg_dot3(theta + 3, theta + 3));                                                       \
        add_position(q0, theta, q);                                                                                    \
        turn(q0 + 3, theta + 3, &x, q + 3);                                                                            \
        if (!y)                                                                                                        \
            return;                                                                                                    \
        double turn_y[3];                                                                                              \
        lg_so3_tangent_mul_at(theta + 3, &x, y + 3, turn_y);                                                           \
        put_velocities(y, turn_y, w);                                                                                  \
    }                                                                                                                  \
    static void storage##_stage(int n, const double *q0, const double *theta, const double *v, double *q,              \
                                double *thetadot)                                                                      \
    {                                                                                                                  \
        (void)n;                                                                                                       \
        lg_angle x = lg_angle_of(lg_dot3(theta + 3, theta + 3));                                                       \
        add_position(q0, theta, q);                                                                                    \
        turn(q0 + 3, theta + 3, &x, q + 3);                                                                            \
        double turn_rate[3];                                                                                           \
        lg_so3_tangent_solve_at(theta + 3, &x, v + 3, turn_rate);                                                      \
        put_velocities(v, turn_rate, thetadot);                                                                        \
    }

MOVES(so3, lg_so3_turn)
MOVES(s3, lg_s3_turn)
MOVES(rv, lg_rv_turn)

static void so3_polish(double *q)
{
    lg_so3_polish(q + 3);
}

static void s3_polish(double *q)
{
    lg_s3_polish(q + 3);
}

#define DIRECT(title, source, size, group, stored, keep)                                                               \
    {                                                                                                                  \
        .name = title,                                                                                                 \
        .reference = source,                                                                                           \
        .nq = size,                                                                                                    \
        .nv = 6,                                                                                                       \
        .storage = stored,                                                                                             \
        .pivot = &lg_##group,                                                                                          \
        .position = LG_POSITION_INERTIAL,                                                                              \
        .attitude_q = 3,                                                                                               \
        .attitude_v = 3,                                                                                               \
        .attitude_n = 3,                                                                                               \
        .retract = group##_retract,                                                                                    \
        .move = group##_move,                                                                                          \
        .stage = group##_stage,                                                                                        \
        .polish = keep,                                                                                                \
        .difference = group##_difference,                                                                              \
        .rate = direct_rate,                                                                                           \
        .tangent = direct_tangent,                                                                                     \
        .tangent_inv = direct_tangent_inv,                                                                             \
        .tangent_mul = direct_tangent_mul,                                                                             \
        .ad = direct_ad,                                                                                               \
        .rotation = group##_rotation,                                                                                  \
    }

const lg_node lg_r3xso3 = DIRECT("R3xSO3", "holzinger2024, Sect. 2.2", 12, so3, LG_STORAGE_MATRIX, so3_polish);
const lg_node lg_r3xs3 = DIRECT("R3xS3", "tumiotto2024, Sect. 2.3", 7, s3, LG_STORAGE_QUATERNION, s3_polish);
const lg_node lg_r3xrv = DIRECT("R3xRV", "holzinger2024, (27), App. A.3", 6, rv, LG_STORAGE_VECTOR, NULL);
