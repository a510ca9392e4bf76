/* Relative motions in a step; see relative.h. */
#include "model/step/relative.h"

#include "group/rotation.h"

static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, zero[3];

/* ---- the relative motion ---- */

static void open_distance(lg_relative *r)
{
    for (int end = 0; end < 2; end++)
        r->r[end][0] = lg_norm3(r->d[end]);
    for (int where = 0; where < 3; where++)
        lg_identity3(r->S[where]);
}

/* The derivative of k by x = |beta|, divided by x: (x cos(x/2) - 2 sin(x/2))/x^3. */
static double slope_of(double x2, const lg_angle *x)
{
    return x2 < 0.01 ? x2 / 480 - 1. / 12 - x2 * x2 / 53760 : (x->half_cos - 2 * x->half_sin) / x2;
}

static void open_pose(lg_relative *r)
{
    double *beta = r->y + 3, half[3];
    for (int end = 0; end < 2; end++) {
        lg_mulT3(r->a->R[end], r->d[end], r->r[end]);
        lg_mulT33(r->a->R[end], r->b->R[end], r->S[end]);
    }
    lg_so3_difference(r->S[0], r->S[1], beta);
    for (int i = 0; i < 3; i++)
        half[i] = 0.5 * beta[i];
    lg_so3_retract(r->S[0], half, r->S[LG_AT_MIDDLE]);
    lg_mean(9, r->a->R[0], r->a->R[1], r->Ra);
    lg_mean(9, r->b->R[0], r->b->R[1], r->Rb);
    lg_mul33(r->Ra, r->S[LG_AT_MIDDLE], r->RS);
    double x2 = lg_dot3(beta, beta);
    lg_angle x = lg_angle_of(x2);
    r->k = 2 * x.half_sin;
    r->k_slope = slope_of(x2, &x);
}

/* dbeta = T^-1(beta) turn and dS_m = T(beta/2) dbeta/2 */
static void open_slopes(lg_relative *r)
{
    const double *beta = r->y + 3, half[3] = {0.5 * beta[0], 0.5 * beta[1], 0.5 * beta[2]};
    double turned[9];
    lg_so3_tangent_inv(beta, turned);
    for (int j = 0; j < 3; j++) {
        double *change = r->change + 6 * (3 + j) + 3, *middle = r->middle + 6 * (3 + j) + 3;
        r->change[7 * j] = 1;
        r->middle[7 * j] = 0.5;
        lg_copy(3, turned + 3 * j, change);
        lg_so3_tangent_mul(half, change, middle);
        for (int i = 0; i < 3; i++)
            middle[i] *= 0.5;
    }
}

void lg_relative_open(const lg_motion *step, const lg_element *e, int base, int by_distance, lg_relative *out)
{
    memset(out, 0, sizeof *out);
    out->base = base;
    out->by_distance = by_distance;
    out->a = lg_frame_motion_of(step, e->frame[base]), out->b = lg_frame_motion_of(step, e->frame[1 - base]);
    const lg_frame_motion *a = out->a, *b = out->b;
    for (int end = 0; end < 2; end++)
        for (int i = 0; i < 3; i++)
            out->d[end][i] = (b->origin[end][i] - a->origin[end][i]) + (b->arm[end][i] - a->arm[end][i]);
    lg_mean(3, out->d[0], out->d[1], out->d[LG_AT_MIDDLE]);
    (by_distance ? open_distance : open_pose)(out);
    lg_mean(3, out->r[0], out->r[1], out->r[LG_AT_MIDDLE]);
    for (int i = 0; i < 3; i++)
        out->y[i] = out->r[1][i] - out->r[0][i];
    for (int i = 0; i < 6; i++)
        out->rate[i] = out->y[i] / step->pair->h;
    if (step->wanted->S || step->wanted->B)
        open_slopes(out);
}

void lg_relative_put(const lg_relative *r, const lg_element *e, const lg_point *at, int where, int moving)
{
    lg_pose *a = lg_pose_of(e->frame[r->base], at), *b = lg_pose_of(e->frame[1 - r->base], at);
    lg_zero(3, a->arm), lg_zero(3, a->xdot);
    a->origin = b->origin = zero;
    a->R = identity, a->omega = zero;
    lg_copy(3, r->r[where], b->arm);
    lg_copy(3, moving ? r->rate : zero, b->xdot);
    b->R = r->S[where], b->omega = moving ? r->rate + 3 : zero;
}

/* ---- wrenches ---- */

/* c += s axial(A B^T) */
static void add_axial(double s, const double A[9], const double B[9], double c[3])
{
    for (int i = 0; i < 3; i++) {
        int m = 3 * ((i + 1) % 3), n = 3 * ((i + 2) % 3);
        c[i] += 0.5 * s * (lg_dot3(A + n, B + m) - lg_dot3(A + m, B + n));
    }
}

/* C = A b^ */
static void mul_hat(const double A[9], const double b[3], double C[9])
{
    for (int i = 0; i < 9; i += 3)
        lg_cross(A + i, b, C + i);
}

/* The force F on b of the force f, where d leads from a to b. */
static void force_of(const lg_relative *r, const double f[3], double F[3])
{
    double length = r->r[LG_AT_MIDDLE][0];
    if (!r->by_distance) {
        lg_mul3(r->Ra, f, F);
        return;
    }
    for (int i = 0; i < 3; i++)
        F[i] = length > 0 ? f[0] / length * r->d[LG_AT_MIDDLE][i] : 0;
}

/* The wrench on a that balances the wrench on b; a force along d has no moment. */
static void reflect(const lg_relative *r, const double b[6], double a[6])
{
    for (int i = 0; i < 6; i++)
        a[i] = -b[i];
    if (!r->by_distance)
        lg_add_cross(b, r->d[LG_AT_MIDDLE], a + 3);
}

void lg_relative_spread(const lg_relative *r, const double fm[6], double wrench[2][6])
{
    double *b = wrench[1 - r->base], turned[9];
    force_of(r, fm, b);
    lg_zero(3, b + 3);
    if (!r->by_distance) {
        mul_hat(r->RS, fm + 3, turned);
        add_axial(1 / r->k, turned, r->Rb, b + 3);
    }
    reflect(r, b, wrench[r->base]);
}

void lg_relative_spread_at_end(const lg_relative *r, const double by_z[6], double wrench[2][6])
{
    double *b = wrench[1 - r->base], *a = wrench[r->base];
    lg_zero(6, b);
    if (r->by_distance)
        lg_axpy(3, by_z[0] / lg_norm3(r->d[LG_AT_END]), r->d[LG_AT_END], b);
    else
        lg_mul3(r->a->R[1], by_z, b), lg_mul3(r->b->R[1], by_z + 3, b + 3);
    for (int i = 0; i < 6; i++)
        a[i] = -b[i];
    lg_add_cross(b, r->d[LG_AT_END], a + 3);
}

/* ---- derivatives ---- */

typedef struct spread { /* f and m, spread to both ends */
    const lg_relative *r;
    const double *fm, *G;
    double wrench[2][6];
    double by_z[36]; /* derivative of the wrench on b if only z changes, column-major */
    double Rf[3], RSm[9], R1Sm[9]; /* R_a1 f; Ra S_m m^ and R_a1 S_m m^ */
} spread;

/* The change of the force along the line between two points that move apart. */
static void distance_slope(const spread *s, const double apart[3], double dF[3])
{
    const lg_relative *r = s->r;
    double length = r->r[LG_AT_MIDDLE][0], end = r->r[LG_AT_END][0], f = s->fm[0];
    double longer = end > 0 ? lg_dot3(r->d[LG_AT_END], apart) / end : 0;
    for (int i = 0; i < 3 && length > 0; i++)
        dF[i] = (s->G[0] - 0.5 * f / length) * longer / length * r->d[LG_AT_MIDDLE][i] + 0.5 * f / length * apart[i];
}

/* The j-th column of by_z: f and m change and, for a turn, S_m turns and k changes with beta. */
static void set_column(spread *s, int j)
{
    const lg_relative *r = s->r;
    double *F = s->by_z + 6 * j, *M = F + 3, by_m[9], turned[9], product[9];
    lg_mul3(r->Ra, s->G + 6 * j, F);
    mul_hat(r->RS, s->G + 6 * j + 3, by_m);
    lg_zero(3, M);
    if (j >= 3) {
        mul_hat(r->RS, r->middle + 6 * j + 3, turned);
        mul_hat(turned, s->fm + 3, product);
        lg_axpy(9, 1, product, by_m);
        lg_axpy(3, -r->k_slope / r->k * r->y[j], s->wrench[1 - r->base] + 3, M);
    }
    add_axial(1 / r->k, by_m, r->Rb, M);
}

/* C = a^ B */
static void hat_mul(const double a[3], const double B[9], double C[9])
{
    for (int j = 0; j < 3; j++) {
        C[j] = a[1] * B[6 + j] - a[2] * B[3 + j];
        C[3 + j] = a[2] * B[j] - a[0] * B[6 + j];
        C[6 + j] = a[0] * B[3 + j] - a[1] * B[j];
    }
}

/* Adds the effect of Ra or Rb, which changes because b (of_b) or a turns by w. */
static void add_turn(const spread *s, const double w[3], int of_b, double b[6])
{
    const lg_relative *r = s->r;
    double half[3] = {0.5 * w[0], 0.5 * w[1], 0.5 * w[2]}, product[9];
    if (of_b) {
        hat_mul(half, r->b->R[1], product);
        add_axial(1 / r->k, s->RSm, product, b + 3);
        return;
    }
    hat_mul(half, s->R1Sm, product);
    add_axial(1 / r->k, product, r->Rb, b + 3);
    lg_add_cross(half, s->Rf, b);
}

static void pose_slope(const spread *s, const lg_variation *variation, int of_b, const double apart[3], double b[6])
{
    const lg_relative *r = s->r;
    int turns = variation->parameter >= 0;
    double moved[3], z[6];
    lg_copy(3, apart, moved);
    if (turns && !of_b)
        lg_add_cross(r->d[LG_AT_END], variation->dw, moved);
    lg_mulT3(r->a->R[1], moved, z);
    if (turns)
        lg_mulT3(r->b->R[1], variation->dw, z + 3);
    for (int j = 0; j < (turns ? 6 : 3); j++)
        lg_axpy(6, j < 3 || of_b ? z[j] : -z[j], s->by_z + 6 * j, b);
    if (turns)
        add_turn(s, variation->dw, of_b, b);
}

static void spread_slopes(const void *of, const lg_variation *variation, double wrench[2][6])
{
    const spread *s = of;
    const lg_relative *r = s->r;
    int of_b = variation->end != r->base;
    double *a = wrench[r->base], *b = wrench[1 - r->base], apart[3], half[3];
    for (int i = 0; i < 3; i++) {
        apart[i] = of_b ? variation->dx[i] : -variation->dx[i];
        half[i] = 0.5 * apart[i];
    }
    lg_zero(6, b);
    if (r->by_distance)
        distance_slope(s, apart, b);
    else
        pose_slope(s, variation, of_b, apart, b);
    reflect(r, b, a);
    if (!r->by_distance)
        lg_add_cross(s->wrench[1 - r->base], half, a + 3);
}

void lg_relative_add(const lg_relative *r, const lg_motion *step, const lg_element *e, double s, const double fm[6],
                     const double G[36])
{
    double R1S[9];
    spread of = {.r = r, .fm = fm, .G = G};
    lg_relative_spread(r, fm, of.wrench);
    lg_mul3(r->a->R[1], fm, of.Rf);
    lg_mul33(r->a->R[1], r->S[LG_AT_MIDDLE], R1S);
    mul_hat(r->RS, fm + 3, of.RSm);
    mul_hat(R1S, fm + 3, of.R1Sm);
    for (int j = 0; j < 6 && !r->by_distance; j++)
        set_column(&of, j);
    lg_motion_add(step, e, s, spread_slopes, &of);
}
