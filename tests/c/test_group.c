/* Compares the functions of every row of groups.def with what they mean, mostly by central differences. */
#include "check.h"

#include "core/small.h"
#include "group/semidirect.h"
#include "group/series.h"
#include "group/space.h"

enum { MAX = 12 };

static const double step = 1e-5;

/* c = A b, A n x m column-major */
static void multiply(int n, int m, const double *A, const double *b, double *c)
{
    lg_zero(n, c);
    for (int j = 0; j < m; j++)
        lg_axpy(n, b[j], A + n * j, c);
}

/* c = a + s b */
static void combine(int n, const double *a, double s, const double *b, double *c)
{
    lg_copy(n, a, c);
    lg_axpy(n, s, b, c);
}

/* d = (plus - minus) / (2 step) */
static void quotient(int n, const double *plus, const double *minus, double *d)
{
    for (int i = 0; i < n; i++)
        d[i] = (plus[i] - minus[i]) / (2 * step);
}

static void check_retract(const lg_node *node, int n, const double *q0, const double *theta)
{
    int nq = lg_node_nq(node, n), nv = lg_node_nv(node, n);
    double q[MAX], back[MAX], zero[MAX] = {0};
    node->retract(n, q0, theta, q);
    node->difference(n, q0, q, back);
    CHECK(distance(nv, back, theta) < 1e-13);

    lg_copy(nq, q0, back);
    node->retract(n, back, theta, back);
    CHECK(distance(nq, q, back) == 0);

    node->retract(n, q0, zero, q);
    CHECK(distance(nq, q, q0) < 1e-14);
}

/* Functions for use within a step, which share the functions of the angle, agree with the separate ones. */
static void check_moves(const lg_node *node, int n, const double *q0, const double *theta, const double *v)
{
    int nq = lg_node_nq(node, n), nv = lg_node_nv(node, n);
    double q[MAX], moved[MAX], Tv[MAX], with[MAX], rate[MAX], staged[MAX];
    if (!node->move)
        return;
    node->retract(n, q0, theta, q);
    node->tangent_mul(n, theta, v, Tv);
    node->rate(n, q0, theta, v, rate);
    node->move(n, q0, theta, v, moved, with);
    CHECK(distance(nq, q, moved) < 1e-14 && distance(nv, Tv, with) < 1e-14);
    node->move(n, q0, theta, NULL, moved, NULL);
    CHECK(distance(nq, q, moved) < 1e-14);
    const lg_factor factor = {.node = node, .n = n, .nq = nq, .nv = nv};
    lg_space space = {.nfactors = 1, .factor = &factor};
    lg_copy(nq, q0, staged);
    lg_space_advance(&space, theta, staged);
    CHECK(distance(nq, staged, moved) == 0);
    if (node->polish)
        node->polish(moved);
    CHECK(distance(nq, q, moved) == 0);
    node->stage(n, q0, theta, v, moved, staged);
    CHECK(distance(nq, q, moved) < 1e-14 && distance(nv, rate, staged) < 1e-14);
}

/* T by differences of `difference`, T^-1, the products without matrices, and ad from the first terms of T's series. */
static void check_tangent(const lg_node *node, int n, const double *q0, const double *theta, const double *v)
{
    int nv = lg_node_nv(node, n);
    double T[MAX * MAX], Tinv[MAX * MAX], A[MAX * MAX], Tp[MAX * MAX], Tm[MAX * MAX];
    double at[MAX], q[MAX], qp[MAX], qm[MAX], p[MAX], m[MAX], w[MAX], x[MAX];
    node->tangent(n, theta, T);
    node->tangent_inv(n, theta, Tinv);

    node->retract(n, q0, theta, q);
    combine(nv, theta, step, v, at);
    node->retract(n, q0, at, qp);
    combine(nv, theta, -step, v, at);
    node->retract(n, q0, at, qm);
    node->difference(n, q, qp, p);
    node->difference(n, q, qm, m);
    quotient(nv, p, m, w);
    multiply(nv, nv, T, v, x);
    CHECK(distance(nv, x, w) < 1e-9);

    node->tangent_mul(n, theta, v, w);
    CHECK(distance(nv, x, w) < 1e-14);
    multiply(nv, nv, Tinv, x, w);
    CHECK(distance(nv, w, v) < 1e-13);
    node->rate(n, q0, theta, x, w);
    CHECK(distance(nv, w, v) < 1e-13);

    lg_zero(nv, p);
    lg_axpy(nv, step, v, p);
    lg_zero(nv, m);
    lg_axpy(nv, -step, v, m);
    node->tangent(n, p, Tp);
    node->tangent(n, m, Tm);
    quotient(nv * nv, Tm, Tp, Tinv);
    node->ad(n, v, A);
    for (int i = 0; i < nv * nv; i++)
        A[i] /= 2;
    CHECK(distance(nv * nv, A, Tinv) < 1e-9);
}

/* R' = R omega^, and the meaning of the linear velocities. */
static void check_frame(const lg_node *node, int n, const double *q0, const double *v)
{
    int nv = lg_node_nv(node, n);
    double R[9], G[9], I[9], Rp[9], Rm[9], dR[9], W[9], RW[9], at[MAX], qp[MAX], qm[MAX], x[3], u[3], omega[3];
    node->rotation(q0, R);
    lg_mulT33(R, R, G);
    lg_identity3(I);
    CHECK(distance(9, G, I) < 2e-15);

    lg_zero(nv, at);
    lg_axpy(nv, step, v, at);
    node->retract(n, q0, at, qp);
    lg_zero(nv, at);
    lg_axpy(nv, -step, v, at);
    node->retract(n, q0, at, qm);
    node->rotation(qp, Rp);
    node->rotation(qm, Rm);
    quotient(9, Rp, Rm, dR);
    lg_copy(3, v + node->attitude_v, omega);
    if (node->attitude) {
        lg_attitude a;
        node->attitude->open(q0 + node->attitude_q, v + node->attitude_v, NULL, &a);
        multiply(3, node->attitude_n, a.H, v + node->attitude_v, omega);
    }
    lg_hat3(omega, W);
    lg_mul33(R, W, RW);
    CHECK(distance(9, dR, RW) < 1e-8);

    if (node->position == LG_POSITION_FIXED)
        return;
    quotient(3, qp, qm, x);
    lg_copy(3, v, u);
    if (node->position == LG_POSITION_BODY)
        lg_mul3(R, v, u);
    CHECK(distance(3, x, u) < 1e-9);
}

static void test_rows(void)
{
    uint64_t state = 1;
    for (int k = 0; k < lg_node_count; k++) {
        const lg_node *node = lg_nodes[k];
        int n = node->nv ? 0 : 5, nv = lg_node_nv(node, n);
        CHECK(lg_node_find(node->name) == node);
        CHECK(node->attitude_q == node->attitude_v);
        CHECK((node->position == LG_POSITION_NO_BODY || node->position == LG_POSITION_NONE) ==
              (node->rotation == NULL));
        CHECK((lg_node_nq(node, n) == 0) == (node->position == LG_POSITION_NONE));
        if (node->position == LG_POSITION_NONE)
            continue; /* it has no coordinates */

        /* lengths of theta from round-off to almost pi */
        for (int trial = 0; trial < 200; trial++) {
            double q0[MAX], theta[MAX], v[MAX], scale = pow(10, -8.0 * (trial % 5) / 4);
            draws(&state, nv, node->linear ? 0.4 : 1.8, theta); /* keeps Euler parameters away from zero */
            lg_node_identity(node, n, q0);
            node->retract(n, q0, theta, q0);
            draws(&state, nv, 1.8 * scale, theta);
            draws(&state, nv, 1, v);
            check_retract(node, n, q0, theta);
            check_tangent(node, n, q0, theta, v);
            check_moves(node, n, q0, theta, v);
            if (node->rotation)
                check_frame(node, n, q0, v);
        }
    }
    CHECK(lg_node_find("SO(3)") == NULL);
}

/* The storages of one group are retracted side by side through many turns and have the same poses at every step. */
static void check_storages(const char *first, const char *second, double scale)
{
    const lg_node *a = lg_node_find(first), *b = lg_node_find(second);
    double qa[MAX], qb[MAX], Ra[9], Rb[9], theta[6], worst = 0;
    uint64_t state = 7;
    lg_node_identity(a, 0, qa);
    lg_node_identity(b, 0, qb);
    for (int i = 0; i < 20000; i++) {
        draws(&state, 6, scale, theta);
        theta[a->nv - 1] += scale;
        a->retract(0, qa, theta, qa);
        b->retract(0, qb, theta, qb);
        a->rotation(qa, Ra);
        b->rotation(qb, Rb);
        worst = fmax(worst, distance(9, Ra, Rb));
        if (a->attitude_q == 3)
            worst = fmax(worst, distance(3, qa, qb) / (1 + lg_norm3(qa)));
    }
    CHECK(worst < 2e-13); /* a random walk of 2e4 roundings */
}

static void test_storages(void)
{
    static const char *const pairs[][2] = {
        {"SO3", "S3"}, {"SO3", "RV"}, {"R3xSO3", "R3xS3"}, {"R3xSO3", "R3xRV"}, {"SE3", "S3R3"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        check_storages(pairs[i][0], pairs[i][1], 0.05);
        check_storages(pairs[i][0], pairs[i][1], 2);
    }
}

/* The values derived from the half angle agree with the functions evaluated separately. */
static void test_angle(void)
{
    for (double x = 1e-9; x < LG_PI; x *= 1.07) {
        lg_angle at = lg_angle_of(x * x);
        double sinc, cosc, sincc;
        lg_trig(x * x, &sinc, &cosc, &sincc);
        CHECK_CLOSE(at.cotc / lg_cotc(x * x), 1, 1e-15);
        CHECK_CLOSE(at.cosc_d / lg_cosc_d(x * x), 1, 1e-15);
        CHECK(at.sinc == sinc && at.cosc == cosc && at.sincc == sincc);
        CHECK_CLOSE(at.half_cos * at.half_cos + x * x * at.half_sin * at.half_sin, 1, 5e-16);
    }
}

/* In a million equal steps matrices stay orthogonal and quaternions keep their unit length. Without the Newton step in
   retract the same rounding error, repeated a million times, would add up to 4e-11. */
static void test_drift(void)
{
    const double theta[6] = {0.03, -0.1, 0.12, 0.03, -0.1, 0.12};
    for (int k = 0; k < lg_node_count; k++) {
        const lg_node *node = lg_nodes[k];
        if (node->linear)
            continue;
        double q[MAX], R[9], G[9], I[9];
        lg_node_identity(node, 0, q);
        for (int i = 0; i < 1000000; i++)
            node->retract(0, q, theta, q);
        node->rotation(q, R);
        lg_mulT33(R, R, G);
        lg_identity3(I);
        CHECK(distance(9, G, I) < 1e-15);
    }
}

/* The attitude of Euler parameters, on and off the unit sphere. */
static void attitude_of(const lg_node *node, const double *e, const double *edot, const double *edd, lg_attitude *a,
                        double omega[3], double omegadot[3])
{
    node->attitude->open(e, edot, edd, a);
    multiply(3, 4, a->H, edot, omega);
    multiply(3, 4, a->H, edd, omegadot);
    lg_axpy(3, 1, a->bias, omegadot);
}

/* omega' is the derivative of omega along a parabola e(t). */
static void check_rate(const lg_node *node, const double *e, const double *edot, const double *edd)
{
    lg_attitude a;
    double omega[3], omegadot[3], w[2][3], unused[3], d[3], x[4], xd[4];
    attitude_of(node, e, edot, edd, &a, omega, omegadot);
    for (int side = 0; side < 2; side++) {
        double s = side ? -step : step;
        for (int i = 0; i < 4; i++) {
            x[i] = e[i] + s * edot[i] + s * s / 2 * edd[i];
            xd[i] = edot[i] + s * edd[i];
        }
        attitude_of(node, x, xd, edd, &a, w[side], unused);
    }
    quotient(3, w[0], w[1], d);
    CHECK(distance(3, d, omegadot) < 1e-8);
}

/* Partial derivatives, one coordinate at a time. */
static void check_attitude(const lg_node *node, const double *e, const double *edot, const double *edd)
{
    lg_attitude a, p, m;
    double omega[3], omegadot[3], wp[3], wm[3], ap[3], am[3], d[3], x[4], xd[4];
    check_rate(node, e, edot, edd);
    attitude_of(node, e, edot, edd, &a, omega, omegadot);
    for (int j = 0; j < 4; j++) {
        double unit[4] = {0};
        unit[j] = 1;
        combine(4, e, step, unit, x);
        attitude_of(node, x, edot, edd, &p, wp, ap);
        combine(4, e, -step, unit, x);
        attitude_of(node, x, edot, edd, &m, wm, am);
        quotient(3, wp, wm, d);
        CHECK(distance(3, d, a.Z + 3 * j) < 1e-8);
        quotient(3, ap, am, d);
        CHECK(distance(3, d, a.Aq + 3 * j) < 1e-8);

        combine(4, edot, step, unit, xd);
        attitude_of(node, e, xd, edd, &p, wp, ap);
        combine(4, edot, -step, unit, xd);
        attitude_of(node, e, xd, edd, &m, wm, am);
        quotient(3, ap, am, d);
        CHECK(distance(3, d, a.Av + 3 * j) < 1e-8);
    }
}

static void moment_of(const lg_node *node, const double *e, const double c[3], double f[4])
{
    const double zero[4] = {0};
    lg_attitude a;
    node->attitude->open(e, zero, NULL, &a);
    for (int j = 0; j < 4; j++)
        f[j] = lg_dot3(a.H + 3 * j, c);
}

static void check_geo(const lg_node *node, const double *e, const double c[3])
{
    double G[16], x[4], p[4], m[4], d[4];
    node->attitude->geo(e, c, G);
    for (int j = 0; j < 4; j++) {
        double unit[4] = {0};
        unit[j] = 1;
        combine(4, e, step, unit, x);
        moment_of(node, x, c, p);
        combine(4, e, -step, unit, x);
        moment_of(node, x, c, m);
        quotient(4, p, m, d);
        CHECK(distance(4, d, G + 4 * j) < 1e-8);
    }
}

/* phidot, B, zeta, Z and K follow from phi, which is quadratic, so that central differences are exact up to
   round-off. */
static void check_own(const lg_node *node, const double *q, const double *v)
{
    int n = node->nv;
    double lam = 0.7, phi, phidot, B[MAX], zeta, Z[MAX], K[MAX * MAX] = {0}, x[MAX], pp, pm, dp, dm, Bp[MAX], Bm[MAX];
    double d[MAX], BV = 0;
    node->unit->own(q, v, &lam, &(lg_own_rows){&phi, &phidot, &zeta, B, Z, K});
    for (int i = 0; i < n; i++)
        BV += B[i] * v[i];
    CHECK(fabs(phidot - BV) < 1e-14);

    double zv = 0;
    for (int j = 0; j < n; j++) {
        double unit[MAX] = {0};
        unit[j] = 1;
        combine(n, q, step, unit, x);
        node->unit->own(x, v, &lam, &(lg_own_rows){.phi = &pp, .phidot = &dp, .B = Bp});
        combine(n, q, -step, unit, x);
        node->unit->own(x, v, &lam, &(lg_own_rows){.phi = &pm, .phidot = &dm, .B = Bm});
        CHECK(fabs((pp - pm) / (2 * step) - B[j]) < 1e-9);
        CHECK(fabs((dp - dm) / (2 * step) - Z[j]) < 1e-9);
        quotient(n, Bp, Bm, d);
        for (int i = 0; i < n; i++)
            CHECK(fabs(lam * d[i] - K[n * j + i]) < 1e-9);
        zv += Z[j] * v[j];
    }
    CHECK(fabs(zeta + zv) < 1e-14);
}

static void test_euler_parameters(void)
{
    uint64_t state = 3;
    for (int k = 0; k < lg_node_count; k++) {
        const lg_node *node = lg_nodes[k];
        CHECK((node->unit != NULL) == (node->nown > 0));
        for (int trial = 0; node->unit && trial < 50; trial++) {
            double q[MAX], v[MAX], edd[4], c[3];
            draws(&state, node->nq, 1, q);
            draws(&state, node->nv, 1, v);
            draws(&state, 4, 1, edd);
            draws(&state, 3, 1, c);
            q[node->attitude_q] += 2; /* length between 1 and 3.5 */
            check_attitude(node, q + node->attitude_q, v + node->attitude_v, edd);
            check_geo(node, q + node->attitude_q, c);
            check_own(node, q, v);
        }
    }
}

/* The logarithm from an angle whose functions are known is the inverse of the exponential map. */
static void test_logarithm_at_an_angle(void)
{
    uint64_t state = 4;
    for (int trial = 0; trial < 50; trial++) {
        double theta[6], q[12], identity[12], back[6];
        draws(&state, 6, 1.5, theta);
        lg_cotangent x = lg_cotangent_of(lg_dot3(theta + 3, theta + 3));
        lg_node_identity(&lg_se3, 0, identity);
        lg_se3.retract(0, identity, theta, q);
        lg_copy(3, theta + 3, back + 3);
        lg_se3_log_at(&x, q, back);
        CHECK(distance(6, back, theta) < 1e-13);
    }
}

int main(void)
{
    RUN(test_rows);
    RUN(test_storages);
    RUN(test_angle);
    RUN(test_drift);
    RUN(test_euler_parameters);
    RUN(test_logarithm_at_an_angle);
    return check_result();
}
