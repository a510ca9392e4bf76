#include "model/step/relative.h"

#include "group/rotation.h"

static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, zero[3];

/* The mixed cofactor of A and B: C u is the axial vector of A u^ B^T. */
static void mix(const double A[9], const double B[9], double C[9])
{
    for (int l = 0; l < 3; l++) {
        int m = (l + 1) % 3, n = (l + 2) % 3;
        const double am[3] = {A[m], A[3 + m], A[6 + m]}, an[3] = {A[n], A[3 + n], A[6 + n]};
        const double bm[3] = {B[m], B[3 + m], B[6 + m]}, bn[3] = {B[n], B[3 + n], B[6 + n]};
        double sum[3] = {0, 0, 0};
        lg_add_cross(am, bn, sum);
        lg_add_cross(bm, an, sum);
        for (int i = 0; i < 3; i++)
            C[3 * i + l] = 0.5 * sum[i];
    }
}

/* ---- the relative motion ---- */

static void open_distance(const lg_moved *a, const lg_moved *b, lg_relative *out)
{
    for (int end = 0; end < 2; end++) {
        double d[3] = {b->x[end][0] - a->x[end][0], b->x[end][1] - a->x[end][1], b->x[end][2] - a->x[end][2]};
        out->r[end][0] = lg_norm3(d);
    }
    out->r[LG_AT_MIDDLE][0] = 0.5 * (out->r[0][0] + out->r[1][0]);
    out->dr[0] = out->r[1][0] - out->r[0][0];
    for (int where = 0; where < 3; where++)
        lg_identity3(out->S[where]);
}

/* The derivative of k by beta over beta: (x cos(x/2) - 2 sin(x/2))/x^3. */
static double slope_of(double x2, const lg_angle *x)
{
    return x2 < 0.01 ? x2 / 480 - 1. / 12 - x2 * x2 / 53760 : (x->half_cos - 2 * x->half_sin) / x2;
}

static void open_pose(const lg_moved *a, const lg_moved *b, lg_relative *out)
{
    double half[3], RS[9];
    for (int end = 0; end < 2; end++) {
        double d[3] = {b->x[end][0] - a->x[end][0], b->x[end][1] - a->x[end][1], b->x[end][2] - a->x[end][2]};
        lg_mulT3(a->R[end], d, out->r[end]);
        lg_mulT33(a->R[end], b->R[end], out->S[end]);
    }
    lg_so3_difference(out->S[0], out->S[1], out->beta);
    for (int i = 0; i < 3; i++) {
        out->dr[i] = out->r[1][i] - out->r[0][i];
        half[i] = 0.5 * out->beta[i];
    }
    lg_mean(3, out->r[0], out->r[1], out->r[LG_AT_MIDDLE]);
    lg_so3_retract(out->S[0], half, out->S[LG_AT_MIDDLE]);
    lg_copy(9, a->R[1], out->Ra1), lg_copy(9, b->R[1], out->Rb1);
    lg_mean(9, a->R[0], a->R[1], out->Ra), lg_mean(9, b->R[0], b->R[1], out->Rb);
    lg_mul33(out->Ra, out->S[LG_AT_MIDDLE], RS);
    mix(RS, out->Rb, out->C);
    double x2 = lg_dot3(out->beta, out->beta);
    lg_angle x = lg_angle_of(x2);
    out->k = 2 * x.half_sin;
    out->k_slope = slope_of(x2, &x);
}

void lg_relative_open(const lg_motion *step, const lg_element *e, int base, int by_distance, lg_relative *out)
{
    memset(out, 0, sizeof *out);
    out->base = base;
    out->by_distance = by_distance;
    const lg_moved *a = lg_moved_of(step, e->frame[out->base]), *b = lg_moved_of(step, e->frame[1 - out->base]);
    for (int i = 0; i < 3; i++) {
        double d0 = b->x[0][i] - a->x[0][i];
        out->d1[i] = b->x[1][i] - a->x[1][i];
        out->d[i] = 0.5 * (d0 + out->d1[i]);
        out->apart[i] = out->d1[i] - d0;
    }
    if (by_distance)
        open_distance(a, b, out);
    else
        open_pose(a, b, out);
    for (int i = 0; i < 3; i++) {
        out->rate[i] = out->dr[i] / step->pair->h;
        out->omega[i] = out->beta[i] / step->pair->h;
    }
}

void lg_relative_put(const lg_relative *r, const lg_element *e, const lg_point *at, int where, int moving)
{
    lg_pose *a = lg_pose_of(e->frame[r->base], at), *b = lg_pose_of(e->frame[1 - r->base], at);
    lg_zero(3, a->x), lg_zero(3, a->xdot);
    a->R = identity, a->omega = zero;
    lg_copy(3, r->r[where], b->x);
    lg_copy(3, moving ? r->rate : zero, b->xdot);
    b->R = r->S[where], b->omega = moving ? r->omega : zero;
}

/* ---- wrenches ---- */

static void force_of(const lg_relative *r, const double f[3], double F[3])
{
    double length = r->r[LG_AT_MIDDLE][0];
    if (!r->by_distance) {
        lg_mul3(r->Ra, f, F);
        return;
    }
    for (int i = 0; i < 3; i++)
        F[i] = length > 0 ? f[0] / length * r->d[i] : 0;
}

void lg_relative_spread(const lg_relative *r, const double fm[6], double wrench[2][6])
{
    double *a = wrench[r->base], *b = wrench[1 - r->base], turned[3];
    force_of(r, fm, b);
    lg_zero(3, b + 3);
    for (int i = 0; i < 3; i++)
        a[i] = -b[i];
    lg_cross(r->d, b, turned);
    if (r->by_distance) {
        lg_zero(3, a + 3);
        return;
    }
    lg_mul3(r->C, fm + 3, b + 3);
    for (int i = 0; i < 3; i++) {
        b[3 + i] /= r->k;
        a[3 + i] = -b[3 + i] - turned[i];
    }
}

/* ---- derivatives ---- */

/* d(S_m) by the turn at the end, row-major: T(beta/2) T^-1(beta)/2 */
static void middle_turn(const lg_relative *r, double E[9])
{
    double half[3] = {0.5 * r->beta[0], 0.5 * r->beta[1], 0.5 * r->beta[2]};
    for (int j = 0; j < 3; j++) {
        const double unit[3] = {j == 0, j == 1, j == 2};
        double turned[3], moved[3];
        lg_so3_tangent_solve(r->beta, unit, turned);
        lg_so3_tangent_mul(half, turned, moved);
        for (int i = 0; i < 3; i++)
            E[3 * i + j] = 0.5 * moved[i];
    }
}

/* T^-1(beta), row-major */
static void whole_turn(const lg_relative *r, double E[9])
{
    double columns[9];
    lg_so3_tangent_inv(r->beta, columns);
    lg_transpose3(columns, E);
}

void lg_relative_by_turn(const lg_relative *r, const double x[3], double out[3])
{
    double E[9];
    whole_turn(r, E);
    lg_mulT3(E, x, out);
}

/* G's quarter += s A B, B NULL: the identity */
static void add_quarter(double s, const lg_quarters *A, int which, const double *B, double G[36])
{
    double product[9];
    if (!(A->has >> which & 1))
        return;
    if (B)
        lg_mul33(A->A[which], B, product);
    else
        lg_copy(9, A->A[which], product);
    for (int i = 0; i < 3; i++)
        lg_axpy(3, s, product + 3 * i, G + 6 * (3 * (which / 2) + i) + 3 * (which % 2));
}

void lg_relative_chain(const lg_relative *r, double h, const lg_quarters *K, const lg_quarters *D, double G[36])
{
    double E[9], whole[9];
    middle_turn(r, E);
    whole_turn(r, whole);
    for (int which = 0; which < 4; which++) {
        int turns = which % 2;
        add_quarter(turns ? 1 : 0.5, K, which, turns ? E : NULL, G);
        add_quarter(1 / h, D, which, turns ? whole : NULL, G);
    }
}

/* The four quarters of a wrench by the point and the turn of an end, inertial: rows of force, rows of moment. */
typedef struct corner {
    double F[2][9], M[2][9];
} corner;

static void quarter_of(const double G[36], int row, int column, double A[9])
{
    for (int i = 0; i < 3; i++)
        lg_copy(3, G + 6 * (3 * row + i) + 3 * column, A + 3 * i);
}

/* C += s A B^T */
static void add_turned(double s, const double A[9], const double B[9], double C[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            C[3 * i + j] += s * lg_dot3(A + 3 * i, B + 3 * j);
}

/* C += s A b^ */
static void add_hat(double s, const double A[9], const double b[3], double C[9])
{
    double hat[9], product[9];
    lg_hat3(b, hat);
    lg_mul33(A, hat, product);
    lg_axpy(9, s, product, C);
}

/* C += s a^ */
static void add_cross(double s, const double a[3], double C[9])
{
    double hat[9];
    lg_hat3(a, hat);
    lg_axpy(9, s, hat, C);
}

/* dF by b and by a */
static void force_slopes(const lg_relative *r, const double f[3], const double G[36], corner by[2])
{
    double A[9], P[9], turned[3];
    quarter_of(G, 0, 0, A);
    lg_mul33(r->Ra, A, P);
    add_turned(1, P, r->Ra1, by[1].F[0]);
    quarter_of(G, 0, 1, A);
    lg_mul33(r->Ra, A, P);
    add_turned(1, P, r->Rb1, by[1].F[1]);
    lg_axpy(9, -1, by[1].F[0], by[0].F[0]);
    lg_axpy(9, -1, by[1].F[1], by[0].F[1]);
    add_hat(1, by[1].F[0], r->d1, by[0].F[1]);
    lg_mul3(r->Ra1, f, turned);
    add_cross(-0.5, turned, by[0].F[1]);
}

/* dM_b where Ra and Rb change: with A m^ B^T, half of w_a^ Ra1 S_m m^ Rb^T and of Ra S_m m^ (w_b^ Rb1)^T. */
static void mean_slopes(const lg_relative *r, const double m[3], corner by[2])
{
    double P[9], hat[9], Q[9], Y[9] = {0}, trace;
    lg_hat3(m, hat);
    lg_mul33(r->Ra1, r->S[LG_AT_MIDDLE], P);
    lg_mul33(P, hat, Q);
    add_turned(1, Q, r->Rb, Y);
    trace = Y[0] + Y[4] + Y[8];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            by[0].M[1][3 * i + j] += 0.25 / r->k * ((i == j) * trace - Y[3 * i + j]);
    lg_zero(9, Y);
    lg_mul33(r->Ra, r->S[LG_AT_MIDDLE], P);
    lg_mul33(P, hat, Q);
    add_turned(1, Q, r->Rb1, Y);
    trace = Y[0] + Y[4] + Y[8];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            by[1].M[1][3 * i + j] -= 0.25 / r->k * ((i == j) * trace - Y[3 * j + i]);
}

/* d(k M_b) by the turn at the end: C dm, the turn of S_m, and k. */
static void turn_slopes(const lg_relative *r, const double m[3], const double M[3], const double Gms[9], double Q[9])
{
    double RS[9], hat[9], Rb[9], by_middle[9], E[9], product[9];
    lg_mul33(r->C, Gms, Q);
    lg_mul33(r->Ra, r->S[LG_AT_MIDDLE], RS);
    lg_hat3(m, hat);
    lg_mul33(r->Rb, hat, Rb); // (m^ Rb^T)^T = -Rb m^
    mix(RS, Rb, by_middle);
    middle_turn(r, E);
    lg_mul33(by_middle, E, product);
    lg_axpy(9, -1, product, Q);
    for (int i = 0; i < 3; i++)
        lg_axpy(3, -r->k_slope * M[i], r->beta, Q + 3 * i);
}

/* dM_b by b and by a */
static void moment_slopes(const lg_relative *r, const double m[3], const double M[3], const double G[36], corner by[2])
{
    double A[9], P[9], Q[9];
    quarter_of(G, 1, 0, A);
    lg_mul33(r->C, A, P);
    add_turned(1 / r->k, P, r->Ra1, by[1].M[0]);
    lg_axpy(9, -1, by[1].M[0], by[0].M[0]);
    add_hat(1, by[1].M[0], r->d1, by[0].M[1]);
    quarter_of(G, 1, 1, A);
    turn_slopes(r, m, M, A, Q);
    add_turned(1 / r->k, Q, r->Rb1, by[1].M[1]);
    add_turned(-1 / r->k, Q, r->Rb1, by[0].M[1]);
    mean_slopes(r, m, by);
}

/* Of the force along the line between two points. */
static void distance_slopes(const lg_relative *r, double f, double slope, corner by[2])
{
    double length = r->r[LG_AT_MIDDLE][0], end = r->r[LG_AT_END][0];
    if (!(length > 0))
        return;
    for (int i = 0; i < 3; i++) {
        double n = end > 0 ? r->d1[i] / end : 0;
        for (int j = 0; j < 3; j++)
            by[1].F[0][3 * j + i] += (slope - 0.5 * f / length) / length * r->d[j] * n;
        by[1].F[0][4 * i] += 0.5 * f / length;
    }
    lg_axpy(9, -1, by[1].F[0], by[0].F[0]);
}

/* The wrench on a: -F, and -M_b - d x F. */
static void reflect(const lg_relative *r, const double F[3], const corner on_b[2], corner on_a[2])
{
    double hat[9], product[9];
    lg_hat3(r->d, hat);
    for (int end = 0; end < 2; end++)
        for (int k = 0; k < 2; k++) {
            lg_axpy(9, -1, on_b[end].F[k], on_a[end].F[k]);
            lg_axpy(9, -1, on_b[end].M[k], on_a[end].M[k]);
            lg_mul33(hat, on_b[end].F[k], product);
            lg_axpy(9, -1, product, on_a[end].M[k]);
        }
    add_cross(0.5, F, on_a[1].M[0]);
    add_cross(-0.5, F, on_a[0].M[0]);
}

/* By x and e of an end, from x and its turn. */
static void add_corner(const lg_motion *step, const lg_element *e, int i, int j, double s, const corner *c,
                       const lg_pair_wanted *wanted)
{
    lg_motion_slopes out = {{0}, {0}};
    const lg_body *body = e->frame[j]->body;
    if (!body->block)
        return;
    const double *A1 = step->swing[body->index].A1;
    lg_copy(9, c->F[0], out.by_x), lg_copy(9, c->M[0], out.by_x + 9);
    for (int row = 0; row < 3; row++)
        for (int k = 0; k < 4; k++) {
            out.by_e[4 * row + k] = lg_dot3(c->F[1] + 3 * row, A1 + 3 * k);
            out.by_e[12 + 4 * row + k] = lg_dot3(c->M[1] + 3 * row, A1 + 3 * k);
        }
    lg_motion_add(step, e, i, j, s, &out, wanted);
}

void lg_relative_add(const lg_relative *r, const lg_motion *step, const lg_element *e, double s, const double fm[6],
                     const double G[36], const lg_pair_wanted *wanted)
{
    corner on[2][2]; // on a and on b, by a and by b
    double wrench[2][6];
    memset(on, 0, sizeof on);
    lg_relative_spread(r, fm, wrench);
    const double *b = wrench[1 - r->base];
    if (r->by_distance) {
        distance_slopes(r, fm[0], G[0], on[1]);
        for (int end = 0; end < 2; end++)
            lg_axpy(9, -1, on[1][end].F[0], on[0][end].F[0]);
    } else {
        force_slopes(r, fm, G, on[1]);
        moment_slopes(r, fm + 3, b + 3, G, on[1]);
        reflect(r, b, on[1], on[0]);
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            add_corner(step, e, i ? 1 - r->base : r->base, j ? 1 - r->base : r->base, s, &on[i][j], wanted);
}
