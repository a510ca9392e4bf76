/* SE(3) and S^3 |x R^3: rigid motions, v = (U, Omega), linear and angular velocity in the body frame
   (tumiotto2024 (18)-(20), there with Omega first).

   With h = Omega^, u = U^, y = |Omega|^2: ad(v) = [h, u; 0, h], so that a power series f(ad) is [f(h), df; 0, f(h)]
   with df the derivative of f(h) in the direction u. For f(h) = I + a(y) h + b(y) h^2 this is
       df = a u + b (h u + u h) + (Omega.U) (a_d h + b_d h^2),   a_d = a'(x)/x at x = |Omega|.
   T: a = -cosc, b = sincc; T^-1: a = 1/2, b = cotc. exp(v) = (V U, exp(h)), V = T^T = I + cosc h + sincc h^2. */
#include "group/semidirect.h"

#include "group/node.h"
#include "group/rotation.h"

/* The coefficients of f above. */
typedef struct series {
    double a, b, a_d, b_d;
} series;

static inline series tangent_series_at(double y, const lg_angle *x)
{
    return (series){-x->cosc, x->sincc, -x->cosc_d, lg_sincc_d(y)};
}

static series tangent_series(const double *theta)
{
    double y = lg_dot3(theta + 3, theta + 3);
    lg_angle x = lg_angle_of(y);
    return tangent_series_at(y, &x);
}

static series tangent_inv_series(const double *theta)
{
    double y = lg_dot3(theta + 3, theta + 3);
    return (series){0.5, lg_cotc(y), 0, lg_cotc_d(y)};
}

/* w = f(ad(theta)) v = v + a ad v + b ad^2 v + (Omega.U) (a_d h + b_d h^2) v_angular in the linear part. */
static LG_INLINE void series_mul(const double *theta, series f, const double *v, double *w)
{
    const lg_two both[3] = {{v[0], v[3]}, {v[1], v[4]}, {v[2], v[5]}};
    double s = lg_dot3(theta + 3, theta), a_d = s * f.a_d, b_d = s * f.b_d;
    lg_two once[3], twice[3];
    lg_se3_ad(theta, both, once);
    lg_se3_ad(theta, once, twice);
    for (int i = 0; i < 3; i++) {
        lg_two sum = both[i] + f.a * once[i] + f.b * twice[i];
        w[i] = sum[0] + (a_d * once[i][1] + b_d * twice[i][1]);
        w[3 + i] = sum[1];
    }
}

/* The same as a matrix: [A, C; 0, A]; h u + u h = O U^T + U O^T - 2 s I and h^2 = O O^T - y I. */
static void series_matrix(const double *theta, series f, double *M)
{
    const double *U = theta, *O = theta + 3;
    double s = lg_dot3(O, U), y = lg_dot3(O, O), A[9], C[9], skew[3];
    lg_hat_matrix(O, -f.a, f.b, A); /* column-major */
    for (int i = 0; i < 3; i++)
        skew[i] = -(f.a * U[i] + s * f.a_d * O[i]);
    lg_hat3(skew, C); /* column-major */
    for (int j = 0; j < 3; j++) {
        for (int i = 0; i < 3; i++)
            C[3 * j + i] += f.b * (O[i] * U[j] + U[i] * O[j]) + s * f.b_d * O[i] * O[j];
        C[4 * j] -= s * (2 * f.b + f.b_d * y);
    }

    for (int j = 0; j < 3; j++) {
        lg_copy(3, A + 3 * j, M + 6 * j);
        lg_zero(3, M + 6 * j + 3);
        lg_copy(3, C + 3 * j, M + 6 * (3 + j));
        lg_copy(3, A + 3 * j, M + 6 * (3 + j) + 3);
    }
}

/* C += l r^T, column-major */
static inline void add_outer33(const double l[3], const double r[3], double C[9])
{
    for (int j = 0; j < 3; j++)
        lg_axpy(3, r[j], l, C + 3 * j);
}

/* C = k I - half a^, column-major */
static inline void start_derivative(double k, double half, const double a[3], double C[9])
{
    double minus[3] = {half * a[0], half * a[1], half * a[2]};
    lg_hat3(minus, C); /* the transpose, row-major */
    for (int i = 0; i < 3; i++)
        C[4 * i] = k;
}

/* G = d((I + half h + c h^2) a)/dOmega = -half a^ + c (Omega a^T - 2 a Omega^T + (Omega.a) I) + d m Omega^T, m = h^2 a
   = (Omega.a) Omega - |Omega|^2 a; and E, the coefficient of eps in the same expression at the dual numbers Omega + eps
   U, a + eps b: each term in turn with U for Omega or b for a, and with the derivatives of c and d, which are (Omega.U)
   d and (Omega.U) dd, dd = cotc_dd. */
static void dual_derivative(const double *theta, double half, const lg_cotangent *x, const double a[3],
                            const double b[3], double G[9], double E[9])
{
    const double *U = theta, *O = theta + 3;
    double s = lg_dot3(O, U), y = lg_dot3(O, O), dd = lg_cotc_dd(y), Oa = lg_dot3(O, a), Ua = lg_dot3(U, a),
           Ob = lg_dot3(O, b);
    double left_a[3], left_b[3], left_U[3], left_O[3]; /* the factors left of a^T, b^T, U^T and Omega^T */
    for (int i = 0; i < 3; i++) {
        double m = Oa * O[i] - y * a[i], dm = (Ua + Ob) * O[i] + Oa * U[i] - 2 * s * a[i] - y * b[i];
        left_b[i] = x->c * O[i];
        left_a[i] = x->c * U[i] + s * x->d * O[i];
        left_U[i] = x->d * m - 2 * x->c * a[i];
        left_O[i] = x->d * (dm - 2 * s * a[i]) + s * dd * m - 2 * x->c * b[i];
    }

    start_derivative(x->c * Oa, half, a, G);
    add_outer33(left_b, a, G);
    add_outer33(left_U, O, G);
    start_derivative(x->c * (Ua + Ob) + s * x->d * Oa, half, b, E);
    add_outer33(left_a, a, E);
    add_outer33(left_b, b, E);
    add_outer33(left_U, U, E);
    add_outer33(left_O, O, E);
}

/* D = [G, E; 0, G] */
void lg_se3_tangent_solve_d(const double theta[6], const lg_cotangent *x, const double v[6], double D[36])
{
    double G[9], E[9];
    dual_derivative(theta, 0.5, x, v + 3, v, G, E);
    for (int j = 0; j < 3; j++) {
        lg_copy(3, G + 3 * j, D + 6 * j);
        lg_zero(3, D + 6 * j + 3);
        lg_copy(3, E + 3 * j, D + 6 * (3 + j));
        lg_copy(3, G + 3 * j, D + 6 * (3 + j) + 3);
    }
}

/* D = [0, G; G, E] */
void lg_se3_transposed_solve_d(const double theta[6], const lg_cotangent *x, const double s[6], double D[36])
{
    double G[9], E[9];
    dual_derivative(theta, -0.5, x, s, s + 3, G, E);
    for (int j = 0; j < 3; j++) {
        lg_zero(3, D + 6 * j);
        lg_copy(3, G + 3 * j, D + 6 * j + 3);
        lg_copy(3, G + 3 * j, D + 6 * (3 + j));
        lg_copy(3, E + 3 * j, D + 6 * (3 + j) + 3);
    }
}

static void semidirect_rate(int n, const double *q0, const double *theta, const double *v, double *thetadot)
{
    (void)n, (void)q0;
    series_mul(theta, tangent_inv_series(theta), v, thetadot);
}

static void semidirect_tangent(int n, const double *theta, double *T)
{
    (void)n;
    series_matrix(theta, tangent_series(theta), T);
}

static void semidirect_tangent_inv(int n, const double *theta, double *Tinv)
{
    (void)n;
    series_matrix(theta, tangent_inv_series(theta), Tinv);
}

static void semidirect_tangent_mul(int n, const double *theta, const double *v, double *w)
{
    (void)n;
    series_mul(theta, tangent_series(theta), v, w);
}

static void semidirect_ad(int n, const double *v, double *A)
{
    (void)n;
    double minus[6] = {-v[0], -v[1], -v[2], -v[3], -v[4], -v[5]}, W[9], U[9];
    lg_hat3(minus, U); /* column-major */
    lg_hat3(minus + 3, W);
    lg_zero(36, A);
    for (int j = 0; j < 3; j++) {
        lg_copy(3, W + 3 * j, A + 6 * j);
        lg_copy(3, U + 3 * j, A + 6 * (3 + j));
        lg_copy(3, W + 3 * j, A + 6 * (3 + j) + 3);
    }
}

/* d = V U, which moves the position by R0 d */
static inline void displacement(const double *theta, const lg_angle *angle, double d[3])
{
    lg_hat_apply(theta + 3, angle->cosc, angle->sincc, theta, d);
}

static inline void add_position(const double *x0, const double Rd[3], double *x)
{
    for (int i = 0; i < 3; i++)
        x[i] = x0[i] + Rd[i];
}

/* U = V^-1 R0^T (x1 - x0); theta already holds Omega */
static void position_log(const double *x0, const double R0[9], const double *x1, double *theta)
{
    double dx[3] = {x1[0] - x0[0], x1[1] - x0[1], x1[2] - x0[2]}, d[3];
    lg_mulT3(R0, dx, d);
    lg_se3_log_at(&(lg_cotangent){.c = lg_cotc(lg_dot3(theta + 3, theta + 3))}, d, theta);
}

static LG_INLINE void se3_turn(const double *q0, const double *theta, const lg_angle *angle, double *q)
{
    double d[3], Rd[3];
    displacement(theta, angle, d);
    lg_mul3(q0 + 3, d, Rd);
    add_position(q0, Rd, q);
    lg_so3_turn(q0 + 3, theta + 3, angle, q + 3);
}

static void se3_polish(double *q)
{
    lg_so3_polish(q + 3);
}

static void se3_difference(int n, const double *q0, const double *q1, double *theta)
{
    (void)n;
    lg_so3_difference(q0 + 3, q1 + 3, theta + 3);
    position_log(q0, q0 + 3, q1, theta);
}

static void se3_rotation(const double *q, double R[9])
{
    lg_copy(9, q + 3, R);
}

static LG_INLINE void s3r3_turn(const double *q0, const double *theta, const lg_angle *angle, double *q)
{
    double d[3], Rd[3];
    displacement(theta, angle, d);
    lg_quat_rotate(q0 + 3, d, Rd);
    add_position(q0, Rd, q);
    lg_s3_turn(q0 + 3, theta + 3, angle, q + 3);
}

static void s3r3_polish(double *q)
{
    lg_s3_polish(q + 3);
}

static void s3r3_difference(int n, const double *q0, const double *q1, double *theta)
{
    (void)n;
    double R0[9];
    lg_s3_difference(q0 + 3, q1 + 3, theta + 3);
    lg_quat_matrix(q0 + 3, R0);
    position_log(q0, R0, q1, theta);
}

static void s3r3_rotation(const double *q, double R[9])
{
    lg_quat_matrix(q + 3, R);
}

/* `retract`, `move` and `stage` of a storage. */
#define MOVES(storage)                                                                                                 \
    static void storage##_retract(int n, const double *q0, const double *theta, double *q)                             \
    {                                                                                                                  \
        (void)n;                                                                                                       \
        lg_angle angle = lg_angle_of(lg_dot3(theta + 3, theta + 3));                                                   \
        storage##_turn(q0, theta, &angle, q);                                                                          \
        storage##_polish(q);                                                                                           \
    }                                                                                                                  \
    static void storage##_move(int n, const double *q0, const double *theta, const double *y, double *q, double *w)    \
    {                                                                                                                  \
        (void)n;                                                                                                       \
        double x2 = lg_dot3(theta + 3, theta + 3);                                                                     \
        lg_angle angle = lg_angle_of(x2);                                                                              \
        storage##_turn(q0, theta, &angle, q);                                                                          \
        if (y)                                                                                                         \
            series_mul(theta, tangent_series_at(x2, &angle), y, w);                                                    \
    }                                                                                                                  \
    static void storage##_stage(int n, const double *q0, const double *theta, const double *v, double *q,              \
                                double *thetadot)                                                                      \
    {                                                                                                                  \
        (void)n;                                                                                                       \
        double y = lg_dot3(theta + 3, theta + 3);                                                                      \
        lg_angle angle = lg_angle_of(y);                                                                               \
        storage##_turn(q0, theta, &angle, q);                                                                          \
        series_mul(theta, (series){0.5, angle.cotc, 0, lg_cotc_d(y)}, v, thetadot);                                    \
    }

MOVES(se3)
MOVES(s3r3)

#define SEMIDIRECT(title, source, size, group, stored, fixed)                                                          \
    {                                                                                                                  \
        .name = title,                                                                                                 \
        .reference = source,                                                                                           \
        .nq = size,                                                                                                    \
        .nv = 6,                                                                                                       \
        .storage = stored,                                                                                             \
        .pivot = &fixed,                                                                                               \
        .position = LG_POSITION_BODY,                                                                                  \
        .attitude_q = 3,                                                                                               \
        .attitude_v = 3,                                                                                               \
        .attitude_n = 3,                                                                                               \
        .retract = group##_retract,                                                                                    \
        .move = group##_move,                                                                                          \
        .stage = group##_stage,                                                                                        \
        .polish = group##_polish,                                                                                      \
        .difference = group##_difference,                                                                              \
        .rate = semidirect_rate,                                                                                       \
        .tangent = semidirect_tangent,                                                                                 \
        .tangent_inv = semidirect_tangent_inv,                                                                         \
        .tangent_mul = semidirect_tangent_mul,                                                                         \
        .ad = semidirect_ad,                                                                                           \
        .rotation = group##_rotation,                                                                                  \
    }

const lg_node lg_se3 = SEMIDIRECT("SE3", "tumiotto2024, Sect. 2.4", 12, se3, LG_STORAGE_MATRIX, lg_so3);
const lg_node lg_s3r3 = SEMIDIRECT("S3R3", "tumiotto2024, (18)-(20)", 7, s3r3, LG_STORAGE_QUATERNION, lg_s3);
