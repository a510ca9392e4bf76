/* SO(3), S^3 and rotation vectors: one algebra, three storages.

   With y = |w|^2: exp(w) = I + sinc(y) w^ + cosc(y) w^2, T(w) = I - cosc(y) w^ + sincc(y) w^2,
   T^-1(w) = I + w^/2 + cotc(y) w^2 (holzinger2024 (A2), (A3)); quaternion of exp(w): (cos |w|/2, sin(|w|/2) w/|w|)
   (tumiotto2024 (17)). */
#include "group/rotation.h"

#include "group/node.h"

/* One Newton step towards the nearest rotation, R (3 I - R^T R) / 2, for an R that is orthogonal up to round-off.
   Without polishing, the rounding errors of a steady rotation repeat and add up (to 4e-11 in 1e6 steps). */
void lg_so3_polish(double R[9])
{
    double a = lg_dot3(R, R), b = lg_dot3(R + 3, R + 3), c = lg_dot3(R + 6, R + 6);
    double ab = lg_dot3(R, R + 3), ac = lg_dot3(R, R + 6), bc = lg_dot3(R + 3, R + 6);

    /* the same step from the left, (3 I - R R^T) R / 2: rows are contiguous */
    for (int j = 0; j < 3; j++) {
        double x = R[j], y = R[3 + j], z = R[6 + j];
        R[j] = x + 0.5 * ((1 - a) * x - ab * y - ac * z);
        R[3 + j] = y + 0.5 * ((1 - b) * y - ab * x - bc * z);
        R[6 + j] = z + 0.5 * ((1 - c) * z - ac * x - bc * y);
    }
}

void lg_so3_exp(const double w[3], double R[9])
{
    double sinc, cosc, sincc;
    lg_trig(lg_dot3(w, w), &sinc, &cosc, &sincc);
    lg_hat_matrix(w, sinc, cosc, R);
}

void lg_so3_retract(const double R0[9], const double w[3], double R[9])
{
    lg_angle x = lg_angle_of(lg_dot3(w, w));
    lg_so3_turn(R0, w, &x, R);
    lg_so3_polish(R);
}

/* With the largest component as pivot (Shepperd). */
void lg_so3_quaternion(const double R[9], double p[4])
{
    int i = 0;
    for (int k = 1; k < 3; k++)
        if (R[4 * k] > R[4 * i])
            i = k;

    int j = (i + 1) % 3, k = (i + 2) % 3;
    p[0] = R[3 * k + j] - R[3 * j + k];
    p[1 + i] = 1 + R[4 * i] - R[4 * j] - R[4 * k];
    p[1 + j] = R[3 * j + i] + R[3 * i + j];
    p[1 + k] = R[3 * k + i] + R[3 * i + k];
}

static void quat_exp(const double w[3], double p[4])
{
    lg_angle x = lg_angle_of(lg_dot3(w, w));
    p[0] = x.half_cos;
    for (int i = 0; i < 3; i++)
        p[1 + i] = x.half_sin * w[i];
}

/* 2 atan2(n, u)/n for n2 = n^2 > 0 or u > 0. With y = n/u small, 2 atan(y)/n is (2/u) (1 - y^2/3 + y^4/5 - ...). */
static double angle_per_sine(double u, double n2)
{
    /* clang-format off */
    static const double series[] = {1, -1 / 3., 1 / 5., -1 / 7., 1 / 9.,
                                    -1 / 11., 1 / 13., -1 / 15., 1 / 17., -1 / 19.};
    /* clang-format on */
    if (u > 0 && n2 < 0.03 * (u * u)) {
        double inverse = 1 / u, y2 = n2 * inverse * inverse;
        return 2 * inverse * (y2 < 0.0015 ? lg_series(6, series, y2) : lg_series(10, series, y2));
    }
    double n = sqrt(n2);
    return 2 * atan2(n, u) / n;
}

void lg_s3_log(const double p[4], double w[3])
{
    double k = angle_per_sine(p[0], lg_dot3(p + 1, p + 1));
    for (int i = 0; i < 3; i++)
        w[i] = k * p[1 + i];
}

/* The logarithm of p or -p, whichever turns less; the length of p does not matter. */
static void quat_log(const double p[4], double w[3])
{
    double k = copysign(angle_per_sine(fabs(p[0]), lg_dot3(p + 1, p + 1)), p[0]);
    for (int i = 0; i < 3; i++)
        w[i] = k * p[1 + i];
}

void lg_so3_difference(const double R0[9], const double R1[9], double w[3])
{
    double p[4];
    lg_so3_turn_between(R0, R1, p);
    quat_log(p, w);
}

/* The factor (3 - r.r) / 2 is one Newton step towards unit length, for a length that is 1 up to round-off. */
void lg_s3_polish(double p[4])
{
    double k = 1.5 - 0.5 * (p[0] * p[0] + lg_dot3(p + 1, p + 1));
    for (int i = 0; i < 4; i++)
        p[i] *= k;
}

void lg_s3_retract(const double p0[4], const double w[3], double p[4])
{
    lg_angle x = lg_angle_of(lg_dot3(w, w));
    lg_s3_turn(p0, w, &x, p);
    lg_s3_polish(p);
}

void lg_s3_difference(const double p0[4], const double p1[4], double w[3])
{
    double inverse[4] = {p0[0], -p0[1], -p0[2], -p0[3]}, r[4];
    lg_quat_mul(inverse, p1, r);
    quat_log(r, w);
}

/* holzinger2024 A.3, by the quaternion product, since (A10) there is misprinted. It needs no history and allows any
   number of turns. */
void lg_rv_turn(const double psi0[3], const double w[3], const lg_angle *x, double psi[3])
{
    double p0[4], p[4];
    quat_exp(psi0, p0);
    lg_s3_turn(p0, w, x, p);
    quat_log(p, psi);
}

void lg_rv_retract(const double psi0[3], const double w[3], double psi[3])
{
    lg_angle x = lg_angle_of(lg_dot3(w, w));
    lg_rv_turn(psi0, w, &x, psi);
}

void lg_rv_difference(const double psi0[3], const double psi1[3], double w[3])
{
    double p0[4], p1[4];
    quat_exp(psi0, p0);
    quat_exp(psi1, p1);
    lg_s3_difference(p0, p1, w);
}

void lg_rv_matrix(const double psi[3], double R[9])
{
    double p[4];
    quat_exp(psi, p);
    lg_quat_matrix(p, R);
}

void lg_so3_tangent_mul(const double w[3], const double v[3], double c[3])
{
    lg_angle x = lg_angle_of(lg_dot3(w, w));
    lg_so3_tangent_mul_at(w, &x, v, c);
}

void lg_so3_tangent_solve(const double w[3], const double v[3], double c[3])
{
    lg_hat_apply(w, 0.5, lg_cotc(lg_dot3(w, w)), v, c);
}

void lg_so3_tangent(const double w[3], double T[9])
{
    double sinc, cosc, sincc;
    lg_trig(lg_dot3(w, w), &sinc, &cosc, &sincc);
    lg_hat_matrix(w, cosc, sincc, T); /* T^T row-major */
}

void lg_so3_tangent_inv(const double w[3], double Tinv[9])
{
    lg_hat_matrix(w, -0.5, lg_cotc(lg_dot3(w, w)), Tinv);
}

/* ---- the node kinds: what the storages share, then what each has of its own ---- */

/* `move` and `stage` of a storage. */
#define MOVES(storage)                                                                                                 \
    static void storage##_move(int n, const double *q0, const double *theta, const double *y, double *q, double *w)    \
    {                                                                                                                  \
        (void)n;                                                                                                       \
        lg_angle x = lg_angle_of(lg_dot3(theta, theta));                                                               \
        lg_##storage##_turn(q0, theta, &x, q);                                                                         \
        if (y)                                                                                                         \
            lg_so3_tangent_mul_at(theta, &x, y, w);                                                                    \
    }                                                                                                                  \
    static void storage##_stage(int n, const double *q0, const double *theta, const double *v, double *q,              \
                                double *thetadot)                                                                      \
    {                                                                                                                  \
        (void)n;                                                                                                       \
        lg_angle x = lg_angle_of(lg_dot3(theta, theta));                                                               \
        lg_##storage##_turn(q0, theta, &x, q);                                                                         \
        lg_so3_tangent_solve_at(theta, &x, v, thetadot);                                                               \
    }

MOVES(so3)
MOVES(s3)
MOVES(rv)

static void rotation_rate(int n, const double *q0, const double *theta, const double *v, double *thetadot)
{
    (void)n, (void)q0;
    lg_so3_tangent_solve(theta, v, thetadot);
}

static void rotation_tangent(int n, const double *theta, double *T)
{
    (void)n;
    lg_so3_tangent(theta, T);
}

static void rotation_tangent_inv(int n, const double *theta, double *Tinv)
{
    (void)n;
    lg_so3_tangent_inv(theta, Tinv);
}

static void rotation_tangent_mul(int n, const double *theta, const double *v, double *w)
{
    (void)n;
    lg_so3_tangent_mul(theta, v, w);
}

static void rotation_ad(int n, const double *v, double *A)
{
    (void)n;
    const double minus[3] = {-v[0], -v[1], -v[2]};
    lg_hat3(minus, A); /* column-major */
}

static void so3_retract(int n, const double *q0, const double *theta, double *q)
{
    (void)n;
    lg_so3_retract(q0, theta, q);
}

static void so3_difference(int n, const double *q0, const double *q1, double *theta)
{
    (void)n;
    lg_so3_difference(q0, q1, theta);
}

static void so3_rotation(const double *q, double R[9])
{
    lg_copy(9, q, R);
}

static void s3_retract(int n, const double *q0, const double *theta, double *q)
{
    (void)n;
    lg_s3_retract(q0, theta, q);
}

static void s3_difference(int n, const double *q0, const double *q1, double *theta)
{
    (void)n;
    lg_s3_difference(q0, q1, theta);
}

static void rv_retract(int n, const double *q0, const double *theta, double *q)
{
    (void)n;
    lg_rv_retract(q0, theta, q);
}

static void rv_difference(int n, const double *q0, const double *q1, double *theta)
{
    (void)n;
    lg_rv_difference(q0, q1, theta);
}

const lg_node lg_so3 = {
    .name = "SO3",
    .reference = "holzinger2024, App. A.1",
    .nq = 9,
    .nv = 3,
    .storage = LG_STORAGE_MATRIX,
    .position = LG_POSITION_FIXED,
    .attitude_n = 3,
    .retract = so3_retract,
    .move = so3_move,
    .stage = so3_stage,
    .polish = lg_so3_polish,
    .difference = so3_difference,
    .rate = rotation_rate,
    .tangent = rotation_tangent,
    .tangent_inv = rotation_tangent_inv,
    .tangent_mul = rotation_tangent_mul,
    .ad = rotation_ad,
    .rotation = so3_rotation,
};

const lg_node lg_s3 = {
    .name = "S3",
    .reference = "tumiotto2024, (17), (19)",
    .nq = 4,
    .nv = 3,
    .storage = LG_STORAGE_QUATERNION,
    .position = LG_POSITION_FIXED,
    .attitude_n = 3,
    .retract = s3_retract,
    .move = s3_move,
    .stage = s3_stage,
    .polish = lg_s3_polish,
    .difference = s3_difference,
    .rate = rotation_rate,
    .tangent = rotation_tangent,
    .tangent_inv = rotation_tangent_inv,
    .tangent_mul = rotation_tangent_mul,
    .ad = rotation_ad,
    .rotation = lg_quat_matrix,
};

const lg_node lg_rv = {
    .name = "RV",
    .reference = "holzinger2024, App. A.3",
    .nq = 3,
    .nv = 3,
    .storage = LG_STORAGE_VECTOR,
    .position = LG_POSITION_FIXED,
    .attitude_n = 3,
    .retract = rv_retract,
    .move = rv_move,
    .stage = rv_stage,
    .difference = rv_difference,
    .rate = rotation_rate,
    .tangent = rotation_tangent,
    .tangent_inv = rotation_tangent_inv,
    .tangent_mul = rotation_tangent_mul,
    .ad = rotation_ad,
    .rotation = lg_rv_matrix,
};
