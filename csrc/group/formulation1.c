/* "Formulation 1" of holzinger2024 (Sect. 2.1.1, Table 2): Euler parameters or Tait-Bryan angles for the rotation,
   whose velocity is the body angular velocity; q' = A(q) v. Explicit methods add h q' to q (`qdot`), as for any
   ordinary differential equation, so the length of the Euler parameters drifts; the rotation is that of e/|e|.

   Everything else (retract, difference, tangent operator) is that of the rotation group: since v is the body angular
   velocity, variations of the configuration are rotations. */
#include "core/small.h"
#include "group/node.h"
#include "group/rotation.h"

#define LG_NODE(symbol, name) extern const lg_node symbol;
#include "group/groups.def"
#undef LG_NODE

/* ---- Euler parameters: e' = e o (0, omega)/2 ---- */

static void euler_rotation(const double *e, double R[9])
{
    lg_euler_parameters_fixed.rotation(e, R);
}

static void euler_rates(const double *e, const double omega[3], double *edot)
{
    const double turn[4] = {0, omega[0] / 2, omega[1] / 2, omega[2] / 2};
    lg_quat_mul(e, turn, edot);
}

static void euler_retract(const double *e0, const double *theta, double *e)
{
    lg_s3_retract(e0, theta, e);
}

static void euler_difference(const double *e0, const double *e1, double *theta)
{
    lg_s3_difference(e0, e1, theta);
}

/* A is linear in e. */
static void euler_slope(const double *e, const double omega[3], const double *de, double *dedot)
{
    (void)e;
    euler_rates(de, omega, dedot);
}

static void euler_velocity(const double *e, const double *edot, double omega[3])
{
    const double back[4] = {e[0], -e[1], -e[2], -e[3]}, scale = 2 / (e[0] * e[0] + lg_dot3(e + 1, e + 1));
    double turn[4];
    lg_quat_mul(back, edot, turn);
    for (int i = 0; i < 3; i++)
        omega[i] = scale * turn[1 + i];
}

/* ---- Tait-Bryan angles ---- */

static void angles_rotation(const double *e, double R[9])
{
    lg_tait_bryan_fixed.rotation(e, R);
}

/* The inverse of omega = H e', see tait_bryan.c. */
static void angles_rates(const double *e, const double omega[3], double *edot)
{
    double sc = sin(e[2]), cc = cos(e[2]), first = (cc * omega[0] - sc * omega[1]) / cos(e[1]);
    edot[0] = first;
    edot[1] = sc * omega[0] + cc * omega[1];
    edot[2] = omega[2] - sin(e[1]) * first;
}

static void angles_slope(const double *e, const double omega[3], const double *de, double *dedot)
{
    double sb = sin(e[1]), cb = cos(e[1]), sc = sin(e[2]), cc = cos(e[2]);
    double across = sc * omega[0] + cc * omega[1], first = (cc * omega[0] - sc * omega[1]) / cb;
    dedot[0] = (first * sb * de[1] - across * de[2]) / cb;
    dedot[1] = cb * first * de[2];
    dedot[2] = -cb * first * de[1] - sb * dedot[0];
}

static void angles_velocity(const double *e, const double *edot, double omega[3])
{
    double sb = sin(e[1]), cb = cos(e[1]), sc = sin(e[2]), cc = cos(e[2]);
    omega[0] = cb * cc * edot[0] + sc * edot[1];
    omega[1] = -cb * sc * edot[0] + cc * edot[1];
    omega[2] = sb * edot[0] + edot[2];
}

/* The angle plus the multiple of 2 pi that brings it nearest to `near`. */
static double nearest_turn(double angle, double near)
{
    return angle + 2 * LG_PI * round((near - angle) / (2 * LG_PI));
}

/* The angles of R on that one of the two branches (a, b, c), (a + pi, pi - b, c + pi) which is nearer to e0. */
static void angles_of(const double R[9], const double e0[3], double e[3])
{
    double b = asin(fmax(-1, fmin(1, R[2])));
    if (cos(e0[1]) < 0)
        b = LG_PI - b;
    double side = cos(b) < 0 ? -1 : 1;
    e[0] = nearest_turn(atan2(-side * R[5], side * R[8]), e0[0]);
    e[1] = nearest_turn(b, e0[1]);
    e[2] = nearest_turn(atan2(-side * R[1], side * R[0]), e0[2]);
}

static void angles_retract(const double *e0, const double *theta, double *e)
{
    double R0[9], R[9];
    angles_rotation(e0, R0);
    lg_so3_retract(R0, theta, R);
    angles_of(R, (const double[3]){e0[0], e0[1], e0[2]}, e);
}

static void angles_difference(const double *e0, const double *e1, double *theta)
{
    double R0[9], R1[9];
    angles_rotation(e0, R0);
    angles_rotation(e1, R1);
    lg_so3_difference(R0, R1, theta);
}

static double angles_pose_regular(const double *q)
{
    return fabs(cos(q[4]));
}

static double angles_fixed_regular(const double *q)
{
    return fabs(cos(q[1]));
}

/* ---- the nodes: alone and after a position ---- */

/* The functions of a node, from those of a storage and of `group`, which has the same velocities. */
#define FUNCTIONS(kind, storage, group, x)                                                                             \
    static void kind##_retract(int n, const double *q0, const double *theta, double *q)                                \
    {                                                                                                                  \
        (void)n;                                                                                                       \
        for (int i = 0; i < x; i++)                                                                                    \
            q[i] = q0[i] + theta[i];                                                                                   \
        storage##_retract(q0 + x, theta + x, q + x);                                                                   \
    }                                                                                                                  \
    static void kind##_difference(int n, const double *q0, const double *q1, double *theta)                            \
    {                                                                                                                  \
        (void)n;                                                                                                       \
        for (int i = 0; i < x; i++)                                                                                    \
            theta[i] = q1[i] - q0[i];                                                                                  \
        storage##_difference(q0 + x, q1 + x, theta + x);                                                               \
    }                                                                                                                  \
    static void kind##_rate(int n, const double *q0, const double *theta, const double *v, double *thetadot)           \
    {                                                                                                                  \
        group.rate(n, q0, theta, v, thetadot);                                                                         \
    }                                                                                                                  \
    static void kind##_tangent(int n, const double *theta, double *T)                                                  \
    {                                                                                                                  \
        group.tangent(n, theta, T);                                                                                    \
    }                                                                                                                  \
    static void kind##_tangent_inv(int n, const double *theta, double *Tinv)                                           \
    {                                                                                                                  \
        group.tangent_inv(n, theta, Tinv);                                                                             \
    }                                                                                                                  \
    static void kind##_tangent_mul(int n, const double *theta, const double *v, double *w)                             \
    {                                                                                                                  \
        group.tangent_mul(n, theta, v, w);                                                                             \
    }                                                                                                                  \
    static void kind##_ad(int n, const double *v, double *A)                                                           \
    {                                                                                                                  \
        group.ad(n, v, A);                                                                                             \
    }                                                                                                                  \
    static void kind##_rotation(const double *q, double R[9])                                                          \
    {                                                                                                                  \
        storage##_rotation(q + x, R);                                                                                  \
    }                                                                                                                  \
    static void kind##_qdot(const double *q, const double *v, double *qdot)                                            \
    {                                                                                                                  \
        lg_copy(x, v, qdot);                                                                                           \
        storage##_rates(q + x, v + x, qdot + x);                                                                       \
    }                                                                                                                  \
    static void kind##_slope(const double *q, const double *v, const double *dq, double *dqdot)                        \
    {                                                                                                                  \
        lg_zero(x, dqdot);                                                                                             \
        storage##_slope(q + x, v + x, dq + x, dqdot + x);                                                              \
    }                                                                                                                  \
    static void kind##_velocity(const double *q, const double *qdot, double *v)                                        \
    {                                                                                                                  \
        lg_copy(x, qdot, v);                                                                                           \
        storage##_velocity(q + x, qdot + x, v + x);                                                                    \
    }                                                                                                                  \
    static const lg_node_flow kind##_flow = {kind##_qdot, kind##_slope, kind##_velocity};

#define NODE(kind, title, length, x, where, stored, fixed, singular)                                                   \
    {                                                                                                                  \
        .name = title,                                                                                                 \
        .reference = "holzinger2024, Sect. 2.1.1, Table 2",                                                            \
        .nq = x + length,                                                                                              \
        .nv = x + 3,                                                                                                   \
        .position = where,                                                                                             \
        .storage = stored,                                                                                             \
        .pivot = fixed,                                                                                                \
        .attitude_q = x,                                                                                               \
        .attitude_v = x,                                                                                               \
        .attitude_n = 3,                                                                                               \
        .retract = kind##_retract,                                                                                     \
        .difference = kind##_difference,                                                                               \
        .rate = kind##_rate,                                                                                           \
        .tangent = kind##_tangent,                                                                                     \
        .tangent_inv = kind##_tangent_inv,                                                                             \
        .tangent_mul = kind##_tangent_mul,                                                                             \
        .ad = kind##_ad,                                                                                               \
        .rotation = kind##_rotation,                                                                                   \
        .regular = singular,                                                                                           \
        .flow = &kind##_flow,                                                                                          \
    }

FUNCTIONS(euler_pose, euler, lg_r3xs3, 3)
FUNCTIONS(euler_fixed, euler, lg_s3, 0)
FUNCTIONS(angles_pose, angles, lg_r3xs3, 3)
FUNCTIONS(angles_fixed, angles, lg_s3, 0)

/* clang-format off */
const lg_node lg_euler_parameters_omega_fixed =
    NODE(euler_fixed, "euler_parameters_omega_fixed", 4, 0, LG_POSITION_FIXED, LG_STORAGE_QUATERNION, NULL, NULL);
const lg_node lg_euler_parameters_omega =
    NODE(euler_pose, "euler_parameters_omega", 4, 3, LG_POSITION_INERTIAL, LG_STORAGE_QUATERNION,
         &lg_euler_parameters_omega_fixed, NULL);
const lg_node lg_tait_bryan_omega_fixed =
    NODE(angles_fixed, "tait_bryan_omega_fixed", 3, 0, LG_POSITION_FIXED, LG_STORAGE_ANGLES, NULL,
         angles_fixed_regular);
const lg_node lg_tait_bryan_omega =
    NODE(angles_pose, "tait_bryan_omega", 3, 3, LG_POSITION_INERTIAL, LG_STORAGE_ANGLES,
         &lg_tait_bryan_omega_fixed, angles_pose_regular);
/* clang-format on */
