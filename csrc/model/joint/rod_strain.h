/* The strain of a rod's edge and what follows from it; formulas in rod_strain.c. What explicit methods need is compiled
   into the loops over edges. */
#ifndef LG_MODEL_ROD_STRAIN_H
#define LG_MODEL_ROD_STRAIN_H

#include "group/semidirect.h"
#include "model/joint/joint.h"
#include "model/joint/rod_turn.h"
#include "model/source.h"

enum { AXES, LENGTH = 18, STIFFNESS, DAMPING = STIFFNESS + 36, SOURCE = DAMPING + 6, DATA }; /* of parameters */

/* What follows from the relative pose; it is kept in the scratch for evaluations at the same q. */
typedef struct lg_relation {
    double xi[6]; /* (U, Omega) */
    lg_cotangent x; /* of |Omega| */
} lg_relation; /* numbers only */

typedef struct lg_strained {
    const double *axes[2]; /* directors in body axes; NULL: the body's own axes */
    const double *d[2]; /* directors, inertial */
    double room[2][9]; /* for d */
    const lg_relation *r;
    double A[9], C[9]; /* of T_+ and T_- */
    double xidot[6], y[9]; /* the rate of xi, and the relative motion */
    const double *w0; /* the reference strain */
    double changing[18]; /* room for it and, where it may change constrained strains, for its first two derivatives */
} lg_strained;

/* c = A b, or b where A is NULL */
static inline void lg_out_of_section(const double *A, const double b[3], double c[3])
{
    if (A)
        lg_mul3(A, b, c);
    else
        lg_copy(3, b, c);
}

/* Traits: the directors of a section are the axes of its body, at each end; the stiffness is diagonal. */
enum { LG_EDGE_OWN_AXES = 2, LG_EDGE_DIAGONAL = 8 };

static inline int lg_edge_damped(const lg_element *e)
{
    return (e->traits & LG_DAMPED) != 0;
}

/* Whether the reference of constrained strains may change. */
static inline int lg_edge_drives_rows(const lg_element *e)
{
    return e->info->nrows && e->p[SOURCE] == LG_SOURCE_FUNCTION;
}

/* s = C (w - w0), all six of them */
static inline void lg_edge_stress(const lg_element *e, const double difference[6], double *restrict s)
{
    const double *C = e->p + STIFFNESS;
    if (e->traits & LG_EDGE_DIAGONAL) {
        for (int i = 0; i < 6; i++)
            s[i] = C[7 * i] * difference[i];
        return;
    }
    for (int i = 0; i < 6; i++)
        s[i] = C[i] * difference[0] + C[6 + i] * difference[1] + C[12 + i] * difference[2] + C[18 + i] * difference[3] +
               C[24 + i] * difference[4] + C[30 + i] * difference[5];
}

/* ---- the strain ---- */

/* The rotation vector of the reference strain. */
static inline void lg_edge_reference_turn(const lg_element *e, const lg_strained *k, double omega[3])
{
    for (int i = 0; i < 3; i++)
        omega[i] = e->p[LENGTH] * k->w0[3 + i];
}

/* The directors of a section: its own, or the axes of its body. */
static LG_INLINE void lg_edge_open_section(const lg_element *e, const lg_pose *f, int end, lg_strained *k)
{
    k->axes[end] = e->traits & LG_EDGE_OWN_AXES << end ? NULL : e->p + AXES + 9 * end;
    k->d[end] = k->axes[end] ? k->room[end] : f->R;
    if (k->axes[end])
        lg_mul33(f->R, k->axes[end], k->room[end]);
}

/* With h = Omega^ and u = U^, A = I + h/2 + c h^2, and C = u/2 + c (h u + u h) + (Omega.U) d h^2 is its derivative
   along U; h^2 = Omega Omega^T - |Omega|^2 I and h u + u h = Omega U^T + U Omega^T - 2 (Omega.U) I. Hence C = u/2 +
   Omega b^T + b Omega^T - 2 (Omega.b) I for b = c U + (Omega.U) d/2 Omega. */
static LG_INLINE void lg_edge_open_operator(lg_strained *k)
{
    const double *U = k->r->xi, *O = k->r->xi + 3;
    double *A = k->A, *C = k->C, c = k->r->x.c, x = O[0], y = O[1], z = O[2], u = U[0], v = U[1], w = U[2];
    double cx = c * x, cy = c * y, cz = c * z, xx = cx * x, yy = cy * y, zz = cz * z;
    double xy = cx * y, xz = cx * z, yz = cy * z;
    A[0] = 1 - (yy + zz), A[1] = xy - 0.5 * z, A[2] = xz + 0.5 * y;
    A[3] = xy + 0.5 * z, A[4] = 1 - (xx + zz), A[5] = yz - 0.5 * x;
    A[6] = xz - 0.5 * y, A[7] = yz + 0.5 * x, A[8] = 1 - (xx + yy);

    double d = 0.5 * k->r->x.d * (x * u + y * v + z * w), p = c * u + d * x, q = c * v + d * y, r = c * w + d * z;
    xx = -2 * (x * p), yy = -2 * (y * q), zz = -2 * (z * r);
    xy = x * q + p * y, xz = x * r + p * z, yz = y * r + q * z;
    C[0] = yy + zz, C[1] = xy - 0.5 * w, C[2] = xz + 0.5 * v;
    C[3] = xy + 0.5 * w, C[4] = xx + zz, C[5] = yz - 0.5 * u;
    C[6] = xz - 0.5 * v, C[7] = yz + 0.5 * u, C[8] = xx + yy;
}

static LG_INLINE void lg_edge_open_relation(const lg_element *e, const lg_strained *k, const lg_pose *const f[2],
                                            const double *mem, lg_relation *r)
{
    double d[3] = {f[1]->x[0] - f[0]->x[0], f[1]->x[1] - f[0]->x[1], f[1]->x[2] - f[0]->x[2]}, local[3], p[4];
    lg_mulT3(k->d[0], d, local);
    if (!lg_edge_turn_continues(k->d, mem, p)) {
        double reference[3];
        lg_edge_reference_turn(e, k, reference);
        lg_edge_turn_choose(reference, p);
    }
    lg_s3_log(p, r->xi + 3);
    r->x = lg_cotangent_of(lg_dot3(r->xi + 3, r->xi + 3));
    lg_se3_log_at(&r->x, local, r->xi);
}

static LG_INLINE lg_status lg_edge_open_reference(const lg_element *e, const lg_point *at, lg_strained *k)
{
    k->w0 = e->p[SOURCE] == LG_SOURCE_CONSTANT ? e->p + DATA : k->changing;
    if (k->w0 != k->changing)
        return LG_OK;
    if (lg_edge_drives_rows(e))
        return e->function.call(e->function.self, at->t, 18, k->changing);
    return lg_source_value(e, SOURCE, 6, at, k->changing);
}

/* Sections and reference strain at the poses of both frames, without the strain itself. */
static LG_INLINE lg_status lg_edge_open_sections(const lg_element *e, const lg_pose *const f[2], const lg_point *at,
                                                 lg_strained *k)
{
    for (int end = 0; end < 2; end++)
        lg_edge_open_section(e, f[end], end, k);
    return lg_edge_open_reference(e, at, k);
}

/* The same with the strain. r: the relation, which is computed here unless it is `known`. A and C are left open. */
static LG_INLINE lg_status lg_edge_open(const lg_element *e, const lg_pose *const f[2], const lg_point *at,
                                        lg_relation *r, int known, lg_strained *k)
{
    LG_TRY(lg_edge_open_sections(e, f, at, k));
    if (!known)
        lg_edge_open_relation(e, k, f, at->mem.values ? at->mem.values + e->mem : NULL, r);
    k->r = r;
    return LG_OK;
}

/* ---- its rate ---- */

/* c = A^T b, or b where A is NULL */
static inline void lg_edge_into_section(const double *A, const double b[3], double c[3])
{
    if (A)
        lg_mulT3(A, b, c);
    else
        lg_copy(3, b, c);
}

/* The nine relative velocities, or accelerations. */
static LG_INLINE void lg_edge_relative(const lg_strained *k, const double *const x[2], const double *const omega[2],
                                       double y[9])
{
    double apart[3] = {x[1][0] - x[0][0], x[1][1] - x[0][1], x[1][2] - x[0][2]};
    lg_mulT3(k->d[0], apart, y);
    lg_edge_into_section(k->axes[0], omega[0], y + 3);
    lg_edge_into_section(k->axes[1], omega[1], y + 6);
}

static LG_INLINE void lg_edge_open_motion(const lg_pose *const f[2], lg_strained *k)
{
    const double *xdot[2] = {f[0]->xdot, f[1]->xdot}, *omega[2] = {f[0]->omega, f[1]->omega};
    lg_edge_relative(k, xdot, omega, k->y);
}

/* The linear part of Y y. */
static LG_INLINE void lg_edge_linear_rate(const lg_strained *k, const double y[9], double rate[3])
{
    const double *A = k->A, *C = k->C;
    for (int i = 0; i < 3; i++)
        rate[i] = A[i] * y[0] + A[3 + i] * y[1] + A[6 + i] * y[2] - (C[i] * y[3] + C[3 + i] * y[4] + C[6 + i] * y[5]) +
                  lg_dot3(C + 3 * i, y + 6);
}

/* xi' = Y y */
static LG_INLINE void lg_edge_open_rate(lg_strained *k)
{
    const double *A = k->A, *y = k->y;
    lg_edge_linear_rate(k, y, k->xidot);
    for (int i = 0; i < 3; i++)
        k->xidot[3 + i] = lg_dot3(A + 3 * i, y + 6) - (A[i] * y[3] + A[3 + i] * y[4] + A[6 + i] * y[5]);
}

/* ---- stress and wrenches ---- */

/* w - w0, zero where constrained. */
static LG_INLINE void lg_edge_strain_difference(const lg_element *e, const lg_strained *k, double difference[6])
{
    double per_length = 1 / e->p[LENGTH];
    for (int i = 0; i < 6; i++)
        difference[i] = k->r->xi[i] * per_length - k->w0[i];
    lg_zero(e->info->nrows, difference);
}

/* The stress, likewise, with that of damping if it is `damped`. */
static LG_INLINE void lg_edge_set_stress(const lg_element *e, const lg_strained *k, int damped, double s[6])
{
    double difference[6], rate = 2 / e->p[LENGTH];
    lg_edge_strain_difference(e, k, difference);
    lg_edge_stress(e, difference, s);
    for (int i = 0; damped && i < 6; i++)
        s[i] += rate * e->p[DAMPING + i] * k->xidot[i];
    for (int i = 0; i < e->info->nrows; i++)
        s[i] = 0;
}

/* Y^T s: forces on the nine motions, A n on the first three for s = (n, m), and -(C n + A m) and C^T n + A^T m. Without
   A and C: the odd terms in Omega and U, which the transposes have with the other sign, are halves of p = Omega x n and
   t = U x n + Omega x m, and the even ones c Omega x p and c (Omega x t + U x p) + (Omega.U) d Omega x p. */
static LG_INLINE void lg_edge_forces(const lg_strained *k, const double s[6], double out[9])
{
    const double *U = k->r->xi, *O = k->r->xi + 3;
    double x = O[0], y = O[1], z = O[2], u = U[0], v = U[1], w = U[2], c = k->r->x.c;
    double px = y * s[2] - z * s[1], py = z * s[0] - x * s[2], pz = x * s[1] - y * s[0];
    double hx = y * pz - z * py, hy = z * px - x * pz, hz = x * py - y * px;
    out[0] = s[0] + 0.5 * px + c * hx, out[1] = s[1] + 0.5 * py + c * hy, out[2] = s[2] + 0.5 * pz + c * hz;

    double tx = (v * s[2] - w * s[1]) + (y * s[5] - z * s[4]), ty = (w * s[0] - u * s[2]) + (z * s[3] - x * s[5]);
    double tz = (u * s[1] - v * s[0]) + (x * s[4] - y * s[3]), d = k->r->x.d * (x * u + y * v + z * w);
    double ex = s[3] + c * ((y * tz - z * ty) + (v * pz - w * py)) + d * hx;
    double ey = s[4] + c * ((z * tx - x * tz) + (w * px - u * pz)) + d * hy;
    double ez = s[5] + c * ((x * ty - y * tx) + (u * py - v * px)) + d * hz;
    out[3] = -0.5 * tx - ex, out[4] = -0.5 * ty - ey, out[5] = -0.5 * tz - ez;
    out[6] = ex - 0.5 * tx, out[7] = ey - 0.5 * ty, out[8] = ez - 0.5 * tz;
}

/* These as wrenches on both frames. */
void lg_edge_on_frames(const lg_strained *k, const double nine[9], double w[2][6]);
/* The rate of the rotation after lg_edge_open_motion. */
void lg_edge_turn_rate(const lg_strained *k, double rate[3]);
/* The columns of Y, and those of d(Y y) by the nine motions of the poses at constant twists. */
void lg_edge_columns(const lg_strained *k, double Y[9][6]);
void lg_edge_rate_columns(const lg_strained *k, const double Y[9][6], double Q[9][6]);

#endif
