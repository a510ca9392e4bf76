/* Euler parameters e as coordinates: v = q', and the block has a row of its own, the unit length 1/2 (e.e - 1) = 0
   (sherif2019, Sect. 2). They follow a position, or stand alone for a body that turns about a fixed point.

   Off the unit sphere the attitude is that of e/|e|. With n = e.e and omega = 2 G(e) e' on the sphere:
       omega  = H e',  H = 2 G(e)/n              (G(a) b = -G(b) a, so G(e) e = 0)
       omega' = H e'' + bias,  bias = -2 (e.e')/n omega. */
#include "group/linear.h"

/* G (3 x 4, column-major): 2 G(e) e' is the body angular velocity of a unit quaternion e. */
static void set_G(const double e[4], double G[12])
{
    const double values[12] = {-e[1], -e[2], -e[3], e[0], -e[3], e[2], e[3], e[0], -e[1], -e[2], e[1], e[0]};
    lg_copy(12, values, G);
}

/* A += s a b^T, A 3 x 4 column-major */
static void add_outer34(double s, const double a[3], const double b[4], double *A)
{
    for (int j = 0; j < 4; j++)
        lg_axpy(3, s * b[j], a, A + 3 * j);
}

/* c = A b, A 3 x 4 column-major */
static void mul34(const double *A, const double b[4], double c[3])
{
    for (int i = 0; i < 3; i++)
        c[i] = A[i] * b[0] + A[3 + i] * b[1] + A[6 + i] * b[2] + A[9 + i] * b[3];
}

/* A = -2 G(a)/n - 2 b e^T/n, the derivative of H(e) a (which is b) with respect to e */
static void set_Z(const double a[4], const double b[3], const double e[4], double n, double A[12])
{
    set_G(a, A);
    for (int i = 0; i < 12; i++)
        A[i] *= -2 / n;
    add_outer34(-2 / n, b, e, A);
}

static void attitude(const double *e, const double *edot, const double *edd, lg_attitude *out)
{
    double n = lg_dot4(e, e), s = lg_dot4(e, edot), omega[3];
    set_G(e, out->H);
    for (int i = 0; i < 12; i++)
        out->H[i] *= 2 / n;
    mul34(out->H, edot, omega);
    set_Z(edot, omega, e, n, out->Z);
    for (int i = 0; i < 3; i++)
        out->bias[i] = -2 * s / n * omega[i];

    /* d bias / d e' */
    lg_zero(12, out->Av);
    add_outer34(-2 / n, omega, e, out->Av);
    lg_axpy(12, -2 * s / n, out->H, out->Av);

    /* d (H e'') / d e + d bias / d e */
    if (edd) {
        double omegadot[3];
        mul34(out->H, edd, omegadot);
        set_Z(edd, omegadot, e, n, out->Aq);
    } else
        lg_zero(12, out->Aq);
    lg_axpy(12, -2 * s / n, out->Z, out->Aq);
    add_outer34(-2 / n, omega, edot, out->Aq);
    add_outer34(4 * s / (n * n), omega, e, out->Aq);
}

/* Q = [0, -c^T; c, -c^], column-major: G(e)^T c = Q(c) e (sherif2019 (70)). */
static void set_Q(const double c[3], double Q[16])
{
    const double values[16] = {0,     c[0], c[1], c[2],  -c[0], 0,     -c[2], c[1],
                               -c[1], c[2], 0,    -c[0], -c[2], -c[1], c[0],  0};
    lg_copy(16, values, Q);
}

/* y = A x, A 4 x 4 column-major */
static void mul44(const double *A, const double x[4], double y[4])
{
    lg_zero(4, y);
    for (int j = 0; j < 4; j++)
        lg_axpy(4, x[j], A + 4 * j, y);
}

/* H^T c = 2/n G(e)^T c */
static void attitude_geo(const double *e, const double c[3], double *G)
{
    double n = lg_dot4(e, e), Q[16], Qe[4];
    set_Q(c, Q);
    mul44(Q, e, Qe);
    for (int j = 0; j < 4; j++)
        for (int i = 0; i < 4; i++)
            G[4 * j + i] = 2 / n * (Q[4 * j + i] - 2 / n * Qe[i] * e[j]);
}

static void quat_rotation(const double *e, double R[9])
{
    double k = 1 / sqrt(lg_dot4(e, e)), p[4] = {k * e[0], k * e[1], k * e[2], k * e[3]};
    lg_quat_matrix(p, R);
}

/* A = diag(position I, k B), square of size x + 4; its first block has size x. */
static void set_block(int x, double position, double k, const double B[16], double *A)
{
    int n = x + 4;
    lg_zero(n * n, A);
    for (int i = 0; i < x; i++)
        A[i + n * i] = position;
    for (int j = 0; j < 4; j++)
        lg_axpy(4, k, B + 4 * j, A + x + n * (x + j));
}

/* For parameters that follow `x` positions: w = G(e)^T G(e0) u = Q(G(e0) u) e, which is linear in e. */
static void transport_rates(int x, const double *q0, const double *q, const double *u, double *w, double *W)
{
    double G[12], Q[16], half_omega[3];
    set_G(q0 + x, G);
    mul34(G, u + x, half_omega);
    set_Q(half_omega, Q);

    lg_copy(x, u, w);
    mul44(Q, q + x, w + x);
    if (W)
        set_block(x, 0, 1, Q, W);
}

/* w = (I - e e^T) u (sherif2019 (34)); Pq = -(e u^T + (e.u) I), as in (69). */
static void project_rates(int x, const double *q, const double *u, double *w, double *P, double *Pq)
{
    const double *e = q + x, *edot = u + x;
    double s = lg_dot4(e, edot), A[16], B[16];
    for (int j = 0; j < 4; j++)
        for (int i = 0; i < 4; i++) {
            A[i + 4 * j] = (i == j) - e[i] * e[j];
            B[i + 4 * j] = e[i] * edot[j] + (i == j ? s : 0);
        }
    lg_copy(x, u, w);
    for (int i = 0; i < 4; i++)
        w[x + i] = edot[i] - s * e[i];
    if (P)
        set_block(x, 1, 1, A, P);
    if (Pq)
        set_block(x, 0, -1, B, Pq);
}

/* The unit-length row of parameters that follow `x` positions. */
static void unit_length_row(int x, const double *q, const double *v, const double *lam, const lg_own_rows *out)
{
    const double *e = q + x, *edot = v + x;
    if (out->phi)
        *out->phi = 0.5 * (lg_dot4(e, e) - 1);
    if (out->phidot)
        *out->phidot = lg_dot4(e, edot);
    if (out->B) {
        lg_zero(x, out->B);
        lg_copy(4, e, out->B + x);
    }
    if (out->zeta)
        *out->zeta = -lg_dot4(edot, edot);
    if (out->Z) {
        lg_zero(x, out->Z);
        lg_copy(4, edot, out->Z + x);
    }
    if (out->K)
        for (int i = x; i < x + 4; i++)
            out->K[i * (x + 4) + i] += lam[0];
}

/* N = diag(I, G(e)^T) for parameters that follow `x` positions: e.G^T = 0 (kinon2024 (104), (135)). */
static void null_space(int x, const double *q, double *N)
{
    double G[12];
    set_G(q + x, G);
    lg_zero((x + 4) * (x + 3), N);
    for (int i = 0; i < x; i++)
        N[i * (x + 4) + i] = 1;
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 4; i++)
            N[(x + j) * (x + 4) + x + i] = G[3 * i + j];
}

/* e1 = cos|u| e + sin|u|/|u| G(e)^T u: a turn by 2 u in body axes (105). */
static void null_move(int x, const double *q, const double *u, double *q1)
{
    double G[12], moved[4], size = lg_norm3(u + x), ratio = size > 0 ? sin(size) / size : 1, length = 0;
    set_G(q + x, G);
    for (int i = 0; i < x; i++)
        q1[i] = q[i] + u[i];
    for (int i = 0; i < 4; i++) {
        moved[i] = cos(size) * q[x + i] + ratio * lg_dot3(G + 3 * i, u + x);
        length += moved[i] * moved[i];
    }
    for (int i = 0; i < 4; i++)
        q1[x + i] = moved[i] / sqrt(length);
}

static void pose_null_space(const double *q, double *N)
{
    null_space(3, q, N);
}

static void pose_null_move(const double *q, const double *u, double *q1)
{
    null_move(3, q, u, q1);
}

static void fixed_null_space(const double *q, double *N)
{
    null_space(0, q, N);
}

static void fixed_null_move(const double *q, const double *u, double *q1)
{
    null_move(0, q, u, q1);
}

static void pose_rotation(const double *q, double R[9])
{
    quat_rotation(q + 3, R);
}

static void pose_transport(const double *q0, const double *q, const double *u, double *w, double *W)
{
    transport_rates(3, q0, q, u, w, W);
}

static void pose_project(const double *q, const double *u, double *w, double *P, double *Pq)
{
    project_rates(3, q, u, w, P, Pq);
}

static void pose_own(const double *q, const double *v, const double *lam, const lg_own_rows *out)
{
    unit_length_row(3, q, v, lam, out);
}

static void fixed_transport(const double *q0, const double *q, const double *u, double *w, double *W)
{
    transport_rates(0, q0, q, u, w, W);
}

static void fixed_project(const double *q, const double *u, double *w, double *P, double *Pq)
{
    project_rates(0, q, u, w, P, Pq);
}

static void fixed_own(const double *q, const double *v, const double *lam, const lg_own_rows *out)
{
    unit_length_row(0, q, v, lam, out);
}

LG_LINEAR_FUNCTIONS(pose, 7)
LG_LINEAR_FUNCTIONS(fixed, 4)

static const lg_node_attitude rates = {.open = attitude, .geo = attitude_geo};
static const lg_node_unit fixed_unit = {.own = fixed_own, .null_space = fixed_null_space, .null_move = fixed_null_move};
static const lg_node_hht fixed_hht = {.transport = fixed_transport, .project = fixed_project};
static const lg_node_unit pose_unit = {.own = pose_own, .null_space = pose_null_space, .null_move = pose_null_move};
static const lg_node_hht pose_hht = {.transport = pose_transport, .project = pose_project};

const lg_node lg_euler_parameters_fixed = {
    .name = "euler_parameters_fixed",
    .reference = "sherif2019, Sect. 2",
    .nq = 4,
    .nv = 4,
    .nown = 1,
    .position = LG_POSITION_FIXED,
    .storage = LG_STORAGE_QUATERNION,
    .attitude_n = 4,
    LG_LINEAR_ROW(fixed),
    .rotation = quat_rotation,
    .attitude = &rates,
    .unit = &fixed_unit,
    .hht = &fixed_hht,
};

const lg_node lg_euler_parameters = {
    .name = "euler_parameters",
    .reference = "sherif2019, Sect. 2",
    .nq = 7,
    .nv = 7,
    .nown = 1,
    .position = LG_POSITION_INERTIAL,
    .storage = LG_STORAGE_QUATERNION,
    .pivot = &lg_euler_parameters_fixed,
    .attitude_q = 3,
    .attitude_v = 3,
    .attitude_n = 4,
    LG_LINEAR_ROW(pose),
    .rotation = pose_rotation,
    .attitude = &rates,
    .unit = &pose_unit,
    .hht = &pose_hht,
};
