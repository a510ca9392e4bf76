/* The pose of one triad relative to another by its logarithm on SE(3), a screw motion: edges of rods and bushings. What
   explicit methods need is compiled into their loops.

   With the poses g_a, g_b of the triads, their twists v_a, v_b in their own axes, linear before angular, T^-1 as in
   semidirect.h and T_+ = T^-1(xi), T_- = T^-1(-xi):

       xi  = log(g_a^-1 g_b), continued through more than half a turn: screw_turn.c
       xi' = T_+ v_b - T_- v_a = Y y
       wrenches of a generalized force s along xi:  -T_-^T s on a,  T_+^T s on b

   Exchanging the triads turns xi into -xi and T_+ into T_-, so that a law s(xi, xi') that is odd has the same wrenches
   whichever body is the first. Both wrenches are in balance.

   Only relative motion matters: y = (u, omega_a, omega_b), u = R_a^T (x_b' - x_a') and the angular velocities in the
   axes of the triads. T_+ = [A, C; 0, A] and T_- = [A^T, C^T; 0, A^T], so that Y = [A^T, -C^T, C; 0, -A^T, A]. Rates,
   wrenches and tangents are formed for these nine motions; Y^T s holds the force on b in the axes of a, whose opposite
   acts on a, and both moments. */
#ifndef LG_MODEL_SCREW_H
#define LG_MODEL_SCREW_H

#include "group/semidirect.h"
#include "model/element.h"
#include "model/screw_turn.h"

/* What follows from the relative pose; it is kept in the scratch for evaluations at the same q. */
typedef struct lg_relation {
    double xi[6]; /* (U, Omega) */
    lg_cotangent x; /* of |Omega| */
} lg_relation; /* numbers only */

typedef struct lg_screw {
    const double *axes[2]; /* the triads in body axes; NULL: the body's own axes */
    const double *d[2]; /* the triads, inertial */
    double room[2][9]; /* for d */
    const lg_relation *r;
    double A[9], C[9]; /* of T_+ and T_- */
    double xidot[6], y[9]; /* the rate of xi, and the relative motion */
} lg_screw;

/* c = A b, or b where A is NULL */
static inline void lg_screw_out(const double *A, const double b[3], double c[3])
{
    if (A)
        lg_mul3(A, b, c);
    else
        lg_copy(3, b, c);
}

/* c = A^T b, or b where A is NULL */
static inline void lg_screw_into(const double *A, const double b[3], double c[3])
{
    if (A)
        lg_mulT3(A, b, c);
    else
        lg_copy(3, b, c);
}

/* The triad `axes` on the body under a frame, or that of the body itself. */
static LG_INLINE void lg_screw_open_end(const double *axes, const lg_pose *f, int end, lg_screw *m)
{
    m->axes[end] = axes;
    m->d[end] = axes ? m->room[end] : f->R;
    if (axes)
        lg_mul33(f->R, axes, m->room[end]);
}

/* The relation of two triads that are open, for one of the quaternions of their rotation. */
static LG_INLINE void lg_screw_open_relation(const lg_screw *m, const lg_pose *const f[2], const double p[4],
                                             lg_relation *r)
{
    double d[3], local[3];
    lg_pose_between(f[0], f[1], d);
    lg_mulT3(m->d[0], d, local);
    lg_s3_log(p, r->xi + 3);
    r->x = lg_cotangent_of(lg_dot3(r->xi + 3, r->xi + 3));
    lg_se3_log_at(&r->x, local, r->xi);
}

/* With h = Omega^ and u = U^, A = I + h/2 + c h^2, and C = u/2 + c (h u + u h) + (Omega.U) d h^2 is its derivative
   along U; h^2 = Omega Omega^T - |Omega|^2 I and h u + u h = Omega U^T + U Omega^T - 2 (Omega.U) I. Hence C = u/2 +
   Omega b^T + b Omega^T - 2 (Omega.b) I for b = c U + (Omega.U) d/2 Omega. */
static LG_INLINE void lg_screw_open_operator(lg_screw *m)
{
    const double *U = m->r->xi, *O = m->r->xi + 3;
    double *A = m->A, *C = m->C, c = m->r->x.c, x = O[0], y = O[1], z = O[2], u = U[0], v = U[1], w = U[2];
    double cx = c * x, cy = c * y, cz = c * z, xx = cx * x, yy = cy * y, zz = cz * z;
    double xy = cx * y, xz = cx * z, yz = cy * z;
    A[0] = 1 - (yy + zz), A[1] = xy - 0.5 * z, A[2] = xz + 0.5 * y;
    A[3] = xy + 0.5 * z, A[4] = 1 - (xx + zz), A[5] = yz - 0.5 * x;
    A[6] = xz - 0.5 * y, A[7] = yz + 0.5 * x, A[8] = 1 - (xx + yy);

    double d = 0.5 * m->r->x.d * (x * u + y * v + z * w), p = c * u + d * x, q = c * v + d * y, r = c * w + d * z;
    xx = -2 * (x * p), yy = -2 * (y * q), zz = -2 * (z * r);
    xy = x * q + p * y, xz = x * r + p * z, yz = y * r + q * z;
    C[0] = yy + zz, C[1] = xy - 0.5 * w, C[2] = xz + 0.5 * v;
    C[3] = xy + 0.5 * w, C[4] = xx + zz, C[5] = yz - 0.5 * u;
    C[6] = xz - 0.5 * v, C[7] = yz + 0.5 * u, C[8] = xx + yy;
}

/* The nine relative velocities, or accelerations. */
static LG_INLINE void lg_screw_relative(const lg_screw *m, const double *const x[2], const double *const omega[2],
                                        double y[9])
{
    double apart[3] = {x[1][0] - x[0][0], x[1][1] - x[0][1], x[1][2] - x[0][2]};
    lg_mulT3(m->d[0], apart, y);
    lg_screw_into(m->axes[0], omega[0], y + 3);
    lg_screw_into(m->axes[1], omega[1], y + 6);
}

static LG_INLINE void lg_screw_open_motion(const lg_pose *const f[2], lg_screw *m)
{
    const double *xdot[2] = {f[0]->xdot, f[1]->xdot}, *omega[2] = {f[0]->omega, f[1]->omega};
    lg_screw_relative(m, xdot, omega, m->y);
}

/* The linear part of Y y. */
static LG_INLINE void lg_screw_linear_rate(const lg_screw *m, const double y[9], double rate[3])
{
    const double *A = m->A, *C = m->C;
    for (int i = 0; i < 3; i++)
        rate[i] = A[i] * y[0] + A[3 + i] * y[1] + A[6 + i] * y[2] - (C[i] * y[3] + C[3 + i] * y[4] + C[6 + i] * y[5]) +
                  lg_dot3(C + 3 * i, y + 6);
}

/* xi' = Y y */
static LG_INLINE void lg_screw_open_rate(lg_screw *m)
{
    const double *A = m->A, *y = m->y;
    lg_screw_linear_rate(m, y, m->xidot);
    for (int i = 0; i < 3; i++)
        m->xidot[3 + i] = lg_dot3(A + 3 * i, y + 6) - (A[i] * y[3] + A[3 + i] * y[4] + A[6 + i] * y[5]);
}

/* Y^T s: forces on the nine motions, A n on the first three for s = (n, m), and -(C n + A m) and C^T n + A^T m. Without
   A and C: these are the parts of T^-1(xi) (m, n), in which the terms odd in xi have the other sign on the second
   triad. */
static LG_INLINE void lg_screw_forces(const lg_screw *m, const double s[6], double out[9])
{
    const double *xi = m->r->xi, c = m->r->x.c, d = m->r->x.d * lg_dot3(xi, xi + 3);
    const lg_two both[3] = {{s[3], s[0]}, {s[4], s[1]}, {s[5], s[2]}};
    lg_two once[3], twice[3];
    lg_se3_ad(xi, both, once);
    lg_se3_ad(xi, once, twice);
    for (int i = 0; i < 3; i++) {
        lg_two odd = 0.5 * once[i], even = both[i] + c * twice[i], sum = even + odd;
        double moment = even[0] + d * twice[i][1];
        out[i] = sum[1];
        out[3 + i] = -odd[0] - moment;
        out[6 + i] = moment - odd[0];
    }
}

/* These as wrenches on both frames. */
void lg_screw_on_frames(const lg_screw *m, const double nine[9], double w[2][6]);
/* The rate of the rotation after lg_screw_open_motion. */
void lg_screw_turn_rate(const lg_screw *m, double rate[3]);
/* The columns of Y, and those of d(Y y) by the nine motions of the poses at constant twists. */
void lg_screw_columns(const lg_screw *m, double Y[9][6]);
void lg_screw_rate_columns(const lg_screw *m, const double Y[9][6], double Q[9][6]);
/* Derivatives of the wrenches of Y^T s by poses, for the columns P of ds by the nine motions of the poses, and by
   twists, for the columns W by those of the twists. */
void lg_screw_stiffness(const lg_screw *m, const double s[6], const double Y[9][6], const double P[9][6],
                        lg_quarters K[2][2]);
void lg_screw_damping(const lg_screw *m, const double Y[9][6], const double W[9][6], lg_quarters D[2][2]);

#endif
