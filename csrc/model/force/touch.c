/* The shapes of contacts. The first shape of a pair has points that touch, spheres of some radius; the second one is a
   distance phi in space with its gradient n and the derivative H of n. The values of a shape stand in the order of its
   parameters. */
#include "model/force/touch.h"

/* ---- second shapes: distances of a point c from them ---- */

/* Writes phi, n and, with `linear`, H. */
typedef lg_status distance(const double *shape, const double c[3], int linear, double *phi, double n[3], double H[9]);

/* H = (I - n n^T - s t t^T)/d for a nearest point that moves by s t (t . dc). */
static void set_bend(double d, const double n[3], double s, const double t[3], double H[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            H[3 * i + j] = ((i == j) - n[i] * n[j] - s * t[i] * t[j]) / d;
}

/* The distance from the nearest point, which is fixed (s = 0) or moves along t. */
static lg_status from_nearest(const double nearest[3], const double c[3], double s, const double t[3], int linear,
                              double *phi, double n[3], double H[9])
{
    for (int i = 0; i < 3; i++)
        n[i] = c[i] - nearest[i];
    double d = *phi = lg_norm3(n);
    if (d == 0)
        return LG_NOT_FINITE;
    for (int i = 0; i < 3; i++)
        n[i] /= d;
    if (linear)
        set_bend(d, n, s, t, H);
    return LG_OK;
}

static lg_status plane(const double *shape, const double c[3], int linear, double *phi, double n[3], double H[9])
{
    lg_copy(3, shape + 3, n);
    *phi = lg_dot3(n, c) - lg_dot3(n, shape);
    if (linear)
        lg_zero(9, H);
    return LG_OK;
}

static lg_status sphere(const double *shape, const double c[3], int linear, double *phi, double n[3], double H[9])
{
    static const double fixed[3];
    LG_TRY(from_nearest(shape, c, 0, fixed, linear, phi, n, H));
    *phi -= shape[3];
    return LG_OK;
}

static lg_status capsule(const double *shape, const double c[3], int linear, double *phi, double n[3], double H[9])
{
    double t[3], from[3], nearest[3];
    for (int i = 0; i < 3; i++) {
        t[i] = shape[3 + i] - shape[i];
        from[i] = c[i] - shape[i];
    }
    double length = lg_norm3(t);
    for (int i = 0; i < 3 && length > 0; i++)
        t[i] /= length;
    double at = lg_dot3(t, from), inside = fmin(fmax(at, 0), length);
    for (int i = 0; i < 3; i++)
        nearest[i] = shape[i] + inside * t[i];
    LG_TRY(from_nearest(nearest, c, at == inside, t, linear, phi, n, H));
    *phi -= shape[6];
    return LG_OK;
}

/* A flat disc without thickness; beside it the nearest point is on the rim. */
static lg_status disc(const double *shape, const double c[3], int linear, double *phi, double n[3], double H[9])
{
    const double *axis = shape + 3;
    double radius = shape[6], out[3], nearest[3], t[3];
    for (int i = 0; i < 3; i++)
        out[i] = c[i] - shape[i];
    double height = lg_dot3(axis, out);
    lg_axpy(3, -height, axis, out);
    double apart = lg_norm3(out);
    if (apart <= radius) {
        *phi = fabs(height);
        for (int i = 0; i < 3; i++)
            n[i] = height < 0 ? -axis[i] : axis[i];
        if (linear)
            lg_zero(9, H);
        return LG_OK;
    }
    for (int i = 0; i < 3; i++) {
        out[i] /= apart;
        nearest[i] = shape[i] + radius * out[i];
    }
    lg_cross(axis, out, t);
    return from_nearest(nearest, c, radius / apart, t, linear, phi, n, H);
}

/* The face of a box that is nearest to a point c inside, of those on the side of w along each axis. */
static void inside_box(const double *axes, const double half[3], const double c[3], const double w[3], int linear,
                       double *phi, double n[3], double H[9])
{
    int face = 0;
    double depth[3];
    for (int i = 0; i < 3; i++) {
        depth[i] = (w[i] < 0 ? -c[i] : c[i]) - half[i];
        face = depth[i] > depth[face] ? i : face;
    }
    *phi = depth[face];
    for (int i = 0; i < 3; i++)
        n[i] = w[face] < 0 ? -axes[3 * i + face] : axes[3 * i + face];
    if (linear)
        lg_zero(9, H);
}

/* Outside, the nearest point moves with c along the axes in which c is between two faces. Inside, a corner of another
   box has come through a face on the side of that box: `from`, the direction from the corner to its centre. */
static lg_status box_from(const double *shape, const double c[3], const double *from, int linear, double *phi,
                          double n[3], double H[9])
{
    const double *axes = shape + 3, *half = shape + 12;
    double out[3], local[3], nearest[3], gradient[3], bend[9] = {0};
    int beside = 0;
    for (int i = 0; i < 3; i++)
        out[i] = c[i] - shape[i];
    lg_mulT3(axes, out, local);
    for (int i = 0; i < 3; i++) {
        nearest[i] = fmin(fmax(local[i], -half[i]), half[i]);
        beside += nearest[i] != local[i];
    }
    if (!beside) {
        double side[3];
        if (from)
            lg_mulT3(axes, from, side);
        inside_box(axes, half, local, from ? side : local, linear, phi, n, H);
        return LG_OK;
    }
    LG_TRY(from_nearest(nearest, local, 0, nearest, linear, phi, gradient, bend));
    lg_mul3(axes, gradient, n);
    if (!linear)
        return LG_OK;
    double turned[9], back[9];
    for (int i = 0; i < 3; i++)
        if (nearest[i] == local[i])
            bend[4 * i] = 0; // n has no component along these axes
    lg_mul33(axes, bend, turned);
    lg_transpose3(axes, back);
    lg_mul33(turned, back, H);
    return LG_OK;
}

static lg_status box(const double *shape, const double c[3], int linear, double *phi, double n[3], double H[9])
{
    return box_from(shape, c, NULL, linear, phi, n, H);
}

/* ---- a point of the first shape against a distance ---- */

/* Y = I and C = -s^ for a point at s = c - x_a that is fixed to the first body. */
static void fix_to_body(const double s[3], lg_touch *out)
{
    double turned[3] = {-s[0], -s[1], -s[2]};
    lg_identity3(out->Y);
    lg_hat3(turned, out->C);
}

/* Writes what follows from c = y + s at the distance phi: `out->C`, `out->n` and `out->H` are known. */
static void touch_at(const double s[3], const double c[3], double phi, double radius, int linear, lg_touch *out)
{
    out->turns = 0;
    out->gap = phi - radius;
    double reach = 0.5 * (phi + radius);
    for (int i = 0; i < 3; i++) {
        out->p[i] = c[i] - reach * out->n[i];
        out->z[i] = s[i] - reach * out->n[i];
    }
    for (int i = 0; linear && i < 3; i++)
        for (int j = 0; j < 3; j++)
            out->P[3 * i + j] = (i == j) - 0.5 * out->n[i] * out->n[j] - reach * out->H[3 * i + j];
}

static lg_status meet(const double s[3], double radius, const double y[3], distance *from, const double *shape,
                      int linear, lg_touch *out)
{
    double phi, c[3] = {y[0] + s[0], y[1] + s[1], y[2] + s[2]};
    LG_TRY(from(shape, c, linear, &phi, out->n, out->H));
    touch_at(s, c, phi, radius, linear, out);
    return LG_OK;
}

static lg_status meet_fixed(const double point[3], double radius, const double y[3], const double S[9], distance *from,
                            const double *shape, int linear, lg_touch *out)
{
    double s[3];
    lg_mul3(S, point, s);
    if (linear)
        fix_to_body(s, out);
    return meet(s, radius, y, from, shape, linear, out);
}

/* ---- first shapes ---- */

static lg_status meet_sphere(const double *p, int k, const double y[3], const double S[9], distance *from, int linear,
                             lg_touch *out)
{
    (void)k;
    return meet_fixed(p, p[3], y, S, from, p + 4, linear, out);
}

/* The two ends of a capsule. */
static lg_status meet_capsule(const double *p, int k, const double y[3], const double S[9], distance *from, int linear,
                              lg_touch *out)
{
    return meet_fixed(p + 3 * k, p[6], y, S, from, p + 7, linear, out);
}

/* The place of corner k of a box from its centre, and from the origin of its body. */
static void corner_of(const double *box, int k, double arm[3], double point[3])
{
    const double *half = box + 12;
    double corner[3] = {k & 1 ? half[0] : -half[0], k & 2 ? half[1] : -half[1], k & 4 ? half[2] : -half[2]};
    lg_mul3(box + 3, corner, arm);
    for (int i = 0; i < 3; i++)
        point[i] = box[i] + arm[i];
}

/* The corners of a box. */
static lg_status meet_box(const double *p, int k, const double y[3], const double S[9], distance *from, int linear,
                          lg_touch *out)
{
    double arm[3], point[3];
    corner_of(p, k, arm, point);
    return meet_fixed(point, 0, y, S, from, p + 15, linear, out);
}

/* ---- two boxes ---- */

enum { BOX = 15 }; /* values of a box */

/* A corner of the first box in the second one. */
static lg_status meet_first_corner(const double *p, int k, const double y[3], const double S[9], int linear,
                                   lg_touch *out)
{
    double arm[3], point[3], s[3], c[3], from[3], phi;
    corner_of(p, k, arm, point);
    lg_mul3(S, point, s);
    lg_mul3(S, arm, from);
    for (int i = 0; i < 3; i++) {
        c[i] = y[i] + s[i];
        from[i] = -from[i];
    }
    if (linear)
        fix_to_body(s, out);
    LG_TRY(box_from(p + BOX, c, from, linear, &phi, out->n, out->H));
    touch_at(s, c, phi, 0, linear, out);
    return LG_OK;
}

/* A corner c of the second box in the first one, where it is seen at S^T r, r = c - y:
       d gap = n . (dy + dphi x r),   dn = H (dy + dphi x r) + dphi x n,   p = c + gap/2 n. */
static lg_status meet_second_corner(const double *p, int k, const double y[3], const double S[9], int linear,
                                    lg_touch *out)
{
    double arm[3], c[3], r[3], seen[3], from[3], n[3], H[9];
    corner_of(p + BOX, k, arm, c);
    for (int i = 0; i < 3; i++) {
        r[i] = c[i] - y[i];
        arm[i] = -arm[i];
    }
    lg_mulT3(S, r, seen);
    lg_mulT3(S, arm, from);
    LG_TRY(box_from(p, seen, from, linear, &out->gap, n, H));
    lg_mul3(S, n, out->n);
    for (int i = 0; i < 3; i++) {
        out->n[i] = -out->n[i];
        out->p[i] = c[i] + 0.5 * out->gap * out->n[i];
        out->z[i] = out->p[i] - y[i];
    }
    out->turns = 1;
    if (!linear)
        return LG_OK;
    double turned[9], back[9];
    lg_mul33(S, H, turned);
    lg_transpose3(S, back);
    lg_mul33(turned, back, out->H);
    fix_to_body(r, out);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            out->P[3 * i + j] = 0.5 * (out->n[i] * out->n[j] + out->gap * out->H[3 * i + j]);
    return LG_OK;
}

static lg_status meet_boxes(const double *p, int k, const double y[3], const double S[9], int linear, lg_touch *out)
{
    return k < LG_POINTS_OF_box ? meet_first_corner(p, k, y, S, linear, out)
                                : meet_second_corner(p, k - LG_POINTS_OF_box, y, S, linear, out);
}

const lg_shapes lg_box_on_box = {2 * LG_POINTS_OF_box, 0, meet_boxes};

/* Four points of the rim of a disc, at quarter turns from the one that is deepest along -n, where n is the gradient of
   the distance at the disc's centre c_0 = y + S p: s = S p + r e_k with e_0 = -l/|l|, l = n - (n . a) a, a = S axis.
   Among the points of the body they turn about a by sigma . dphi + w . dn:

       dc = dy + dphi x s + r (sigma . dphi + w . dn) a x e_k,   dn = H (dy + dphi x S p),
       sigma = -a - (n . a)/|l| e_0,   w = -(a x e_0)/|l|.

   A disc that lies flat on a face has no deepest point; four that are fixed to it then stand for them, which makes no
   difference, since the sum of four springs does not depend on their direction. */
#define FLAT 1e-9

typedef struct rim {
    double e[3], sigma[3], w[3]; /* e_0 and how it turns */
} rim;

static void fixed_rim(const double axis[3], const double S[9], double e[3])
{
    int least = 0;
    double unit[3] = {0}, on_rim[3];
    for (int i = 1; i < 3; i++)
        if (fabs(axis[i]) < fabs(axis[least]))
            least = i;
    unit[least] = 1;
    lg_axpy(3, -axis[least], axis, unit);
    double length = lg_norm3(unit);
    for (int i = 0; i < 3; i++)
        on_rim[i] = unit[i] / length;
    lg_mul3(S, on_rim, e);
}

/* Of a disc with the axis S axis = a. */
static rim find_rim(const double axis[3], const double S[9], const double a[3], const double n[3])
{
    rim out = {.e = {0}};
    double l[3], cosine = lg_dot3(n, a);
    for (int i = 0; i < 3; i++)
        l[i] = n[i] - cosine * a[i];
    lg_axpy(3, -lg_dot3(a, l), a, l); // what rounding has left along a matters where l is short
    double length = lg_norm3(l);
    if (length < FLAT) {
        fixed_rim(axis, S, out.e);
        return out;
    }
    for (int i = 0; i < 3; i++) {
        out.e[i] = -l[i] / length;
        out.sigma[i] = -a[i] - cosine / length * out.e[i];
    }
    lg_cross(out.e, a, out.w);
    for (int i = 0; i < 3; i++)
        out.w[i] /= length;
    return out;
}

/* The derivatives of a point at s on the rim, which moves along r a x e_k = `along` as well; middle: S p. */
static void move_on_rim(const rim *at, const double along[3], const double s[3], const double middle[3],
                        const double H[9], lg_touch *out)
{
    double by_y[3], by_turn[3];
    lg_mulT3(H, at->w, by_y);
    lg_cross(middle, by_y, by_turn);
    lg_axpy(3, 1, at->sigma, by_turn);
    fix_to_body(s, out);
    for (int i = 0; i < 3; i++) {
        lg_axpy(3, along[i], by_y, out->Y + 3 * i);
        lg_axpy(3, along[i], by_turn, out->C + 3 * i);
    }
}

static lg_status meet_disc(const double *p, int k, const double y[3], const double S[9], distance *from, int linear,
                           lg_touch *out)
{
    double middle[3], c[3], n[3], H[9], phi, a[3], e[3], next[3], s[3], along[3], radius = p[6];
    lg_mul3(S, p, middle);
    lg_mul3(S, p + 3, a);
    for (int i = 0; i < 3; i++)
        c[i] = y[i] + middle[i];
    LG_TRY(from(p + 7, c, linear, &phi, n, H));
    rim at = find_rim(p + 3, S, a, n);
    lg_copy(3, at.e, e);
    lg_cross(a, e, next);
    for (int turns = 0; turns < k; turns++)
        for (int i = 0; i < 3; i++) {
            double ahead = next[i];
            next[i] = -e[i];
            e[i] = ahead;
        }
    for (int i = 0; i < 3; i++) {
        s[i] = middle[i] + radius * e[i];
        along[i] = radius * next[i];
    }
    if (linear)
        move_on_rim(&at, along, s, middle, H, out);
    return meet(s, 0, y, from, p + 7, linear, out);
}

/* ---- the pairs ---- */

enum { IS_sphere, IS_capsule = 0, IS_disc = 0, IS_box = 0, IS_plane = 1 };

#define LG_PAIR(A, B, ...)                                                                                             \
    static lg_status A##_meets_##B(const double *p, int k, const double y[3], const double S[9], int linear,           \
                                   lg_touch *out)                                                                      \
    {                                                                                                                  \
        return meet_##A(p, k, y, S, B, linear, out);                                                                   \
    }                                                                                                                  \
    const lg_shapes lg_##A##_on_##B = {LG_POINTS_OF_##A, IS_##B, A##_meets_##B};
LG_POINT_PAIRS(LG_PAIR)
LG_SLIDING_PAIRS(LG_PAIR)
#undef LG_PAIR
