/* Motions through a step; see path.h. A frame that turns far moves along no cubic: one on an arm goes round its hub,
   and one that flies may have its origin beside the centre of mass. Its centre d is the point whose motion is
   straightest,

       p = x + R d,   h p'_0 = h p'_1 = p_1 - p_0:   [h R_0 omega_0^ - R_1 + R_0; h R_1 omega_1^ - R_1 + R_0] d = b

   in the sense of least squares, with a little weight on |d|, which is negligible where there is such a point. With the
   residuals r = b - A d of both ends it changes by

       (w^2 I + sum A^T A) dd = sum dA^T r + A^T (db - dA d). */
#include "model/force/path.h"

#include <float.h>

#include "group/rotation.h"

static const double weight = 1e-3;
/* The turn below which the origin serves as centre: a cubic misses a circle of radius 1 by its fourth power/384. */
static const double small_turn = 0.1;

void lg_ends_copy(const lg_pose *const f[2], lg_ends *out)
{
    for (int i = 0; i < 2; i++) {
        lg_end *end = &out->of[i];
        lg_pose_position(f[i], end->x);
        lg_copy(3, f[i]->xdot, end->xdot);
        lg_copy(9, f[i]->R, end->R);
        lg_copy(3, f[i]->omega, end->omega);
    }
}

void lg_ends_open(const lg_ends *ends, lg_mutual *out)
{
    lg_pose pose[2];
    const lg_pose *const f[2] = {&pose[0], &pose[1]};
    for (int i = 0; i < 2; i++) {
        const lg_end *end = &ends->of[i];
        pose[i] = (lg_pose){.origin = end->x, .R = end->R, .omega = end->omega};
        lg_copy(3, end->xdot, pose[i].xdot);
    }
    lg_mutual_open(f, 0, out);
}

/* The turn in the axes of the frame, through the revolutions that the mean of both rates tells. */
static void turn_between(const lg_end *from, const lg_end *to, double h, double turn[3])
{
    double mean[3], axis[3];
    lg_so3_difference(from->R, to->R, turn);
    for (int i = 0; i < 3; i++)
        mean[i] = 0.5 * h * (from->omega[i] + to->omega[i]);
    if (lg_norm3(mean) <= LG_PI)
        return;
    double size = lg_norm3(turn), far = lg_norm3(mean);
    for (int i = 0; i < 3; i++)
        axis[i] = size > 0 ? turn[i] / size : mean[i] / far;
    double missing = 2 * LG_PI * round((lg_dot3(mean, axis) - size) / (2 * LG_PI));
    lg_axpy(3, missing, axis, turn);
}

/* The matrix A of the equations at one end. */
static void write_equations(const lg_way *way, const lg_end *end, double h, double A[9])
{
    double hat[9];
    lg_hat3(end->omega, hat);
    lg_mul33(end->R, hat, A);
    for (int i = 0; i < 9; i++)
        A[i] = h * A[i] - way->to.R[i] + way->from.R[i];
}

/* b of the way of the origin; of that of the centre, the residual b - A d. */
static void write_residual(const lg_way *way, const lg_end *end, double h, double b[3])
{
    for (int i = 0; i < 3; i++)
        b[i] = way->to.x[i] - way->from.x[i] - h * end->xdot[i];
}

/* d = (w^2 I + sum A^T A)^-1 y */
static void solve_centre(const lg_way *way, double h, const double y[3], double d[3])
{
    const lg_end *const ends[] = {&way->from, &way->to};
    double M[9], A[9], product[9], normal[3][3];
    lg_identity3(M);
    for (int i = 0; i < 3; i++)
        M[4 * i] = weight * weight;
    for (int i = 0; i < 2; i++) {
        write_equations(way, ends[i], h, A);
        lg_mulT33(A, A, product);
        lg_axpy(9, 1, product, M);
    }
    for (int i = 0; i < 3; i++)
        lg_cross(M + 3 * ((i + 1) % 3), M + 3 * ((i + 2) % 3), normal[i]);
    double det = lg_dot3(M, normal[0]);
    for (int i = 0; i < 3; i++)
        d[i] = lg_dot3(normal[i], y) / det;
}

static void find_centre(lg_way *way, double h)
{
    const lg_end *const ends[] = {&way->from, &way->to};
    double A[9], b[3], by[3], y[3] = {0};
    for (int i = 0; i < 2; i++) {
        write_equations(way, ends[i], h, A);
        write_residual(way, ends[i], h, b);
        lg_mulT3(A, b, by);
        lg_axpy(3, 1, by, y);
    }
    solve_centre(way, h, y, way->centre);
}

/* out += R d and its rate. */
static void add_offset(double sign, const double d[3], lg_end *out)
{
    double arm[3], turned[3];
    lg_mul3(out->R, d, arm);
    lg_axpy(3, sign, arm, out->x);
    lg_cross(out->omega, d, arm);
    lg_mul3(out->R, arm, turned);
    lg_axpy(3, sign, turned, out->xdot);
}

static int has_centre(const lg_way *way)
{
    return !(lg_norm3(way->turn) < small_turn);
}

static void open_way(const lg_end *from, const lg_end *to, double h, lg_way *out)
{
    *out = (lg_way){.from = *from, .to = *to};
    turn_between(from, to, h, out->turn);
    if (!has_centre(out))
        return;
    find_centre(out, h);
    add_offset(1, out->centre, &out->from);
    add_offset(1, out->centre, &out->to);
}

void lg_path_open(const lg_ends *from, const lg_ends *to, double h, lg_path *out)
{
    out->h = h;
    for (int i = 0; i < 2; i++)
        open_way(&from->of[i], &to->of[i], h, &out->of[i]);
}

/* The mean of a rate over the step. In steps so short that the way differs from h times the mean of both ends by
   round-off, it is that mean: divided by h, round-off would grow without bound. Returns whether it is. */
static int mean_rate(const double from[3], const double to[3], const double ahead[3], double round_off, double h,
                     double mean[3])
{
    double off[3];
    for (int i = 0; i < 3; i++) {
        mean[i] = 0.5 * (from[i] + to[i]);
        off[i] = ahead[i] - h * mean[i];
    }
    if (!(lg_norm3(off) > round_off))
        return 1;
    lg_axpy(3, 1 / h, off, mean);
    return 0;
}

static const double few = 16 * DBL_EPSILON;

/* Between its ends, the change of x from the start and its rate at a part s of a cubic. */
static void follow_cubic(double h, double s, const double ahead[3], const double first[3], const double last[3],
                         const double mean[3], double x[3], double xdot[3])
{
    double r = 1 - s;
    for (int i = 0; i < 3; i++) {
        x[i] = s * (s * (1 + 2 * r) * ahead[i] + r * h * (r * first[i] - s * last[i]));
        xdot[i] = r * first[i] + s * last[i] + 6 * r * s * (mean[i] - 0.5 * (first[i] + last[i]));
    }
}

static void follow(const lg_way *way, double h, double s, lg_end *out)
{
    const double *first = way->from.xdot, *last = way->to.xdot;
    double turned[3], R[9], ahead[3], mean[3];
    for (int i = 0; i < 3; i++) {
        ahead[i] = way->to.x[i] - way->from.x[i];
        turned[i] = s * way->turn[i];
    }
    mean_rate(first, last, ahead, few * lg_norm3(way->from.x), h, mean);
    mean_rate(way->from.omega, way->to.omega, way->turn, few, h, out->omega);
    follow_cubic(h, s, ahead, first, last, mean, out->x, out->xdot);
    for (int i = 0; i < 3; i++)
        out->x[i] = way->from.x[i] + out->x[i];
    lg_so3_exp(turned, R);
    lg_mul33(way->from.R, R, out->R);
    add_offset(-1, way->centre, out);
}

void lg_path_ends(const lg_path *path, double s, lg_ends *out)
{
    for (int i = 0; i < 2; i++)
        follow(&path->of[i], path->h, s, &out->of[i]);
}

void lg_path_at(const lg_path *path, double s, lg_mutual *out)
{
    lg_ends ends;
    lg_path_ends(path, s, &ends);
    lg_ends_open(&ends, out);
}

/* ---- derivatives ---- */

/* A += s R (turn^ omega^ + rate^), the change of R omega^; omega NULL: A += s R turn^, that of R. */
static void add_turned(const double R[9], const double turn[3], const double *omega, const double *rate, double s,
                       double A[9])
{
    double hat[9], inner[9], product[9];
    lg_hat3(turn, inner);
    if (omega) {
        lg_hat3(omega, hat);
        lg_mul33(inner, hat, product);
        lg_hat3(rate, inner);
        lg_axpy(9, 1, product, inner);
    }
    lg_mul33(R, inner, product);
    lg_axpy(9, s, product, A);
}

static void centre_change(const lg_way *way, double h, const lg_frame_change *from, const lg_frame_change *to,
                          double out[3])
{
    const lg_end *const ends[] = {&way->from, &way->to};
    const lg_frame_change *const changes[] = {from, to};
    double A[9], dA[9], rest[3], db[3], moved[3], y[3] = {0};
    for (int e = 0; e < 2; e++) {
        lg_zero(9, dA);
        add_turned(ends[e]->R, changes[e]->turn, ends[e]->omega, changes[e]->omega, h, dA);
        add_turned(way->to.R, to->turn, NULL, NULL, -1, dA);
        add_turned(way->from.R, from->turn, NULL, NULL, 1, dA);
        write_residual(way, ends[e], h, rest);
        lg_mulT3(dA, rest, moved);
        lg_axpy(3, 1, moved, y);
        lg_mul3(dA, way->centre, moved);
        for (int i = 0; i < 3; i++)
            db[i] = to->x[i] - from->x[i] - h * changes[e]->xdot[i] - moved[i];
        write_equations(way, ends[e], h, A);
        lg_mulT3(A, db, moved);
        lg_axpy(3, 1, moved, y);
    }
    solve_centre(way, h, y, out);
}

/* out += the change of sign R d and of its rate */
static void offset_change(double sign, const lg_end *at, const double d[3], const double dd[3], lg_frame_change *out)
{
    double arm[3], turned[3];
    lg_cross(out->turn, d, arm);
    lg_axpy(3, 1, dd, arm);
    lg_mul3(at->R, arm, turned);
    lg_axpy(3, sign, turned, out->x);
    lg_cross(at->omega, d, turned);
    lg_cross(out->turn, turned, arm);
    lg_add_cross(out->omega, d, arm);
    lg_add_cross(at->omega, dd, arm);
    lg_mul3(at->R, arm, turned);
    lg_axpy(3, sign, turned, out->xdot);
}

void lg_way_change_open(const lg_path *path, int side, const lg_frame_change *from, const lg_frame_change *to,
                        lg_way_change *out)
{
    const lg_way *way = &path->of[side];
    double E[9], seen[3];
    *out = (lg_way_change){.from = *from, .to = *to};
    lg_mulT33(way->from.R, way->to.R, E);
    lg_mulT3(E, from->turn, seen);
    for (int i = 0; i < 3; i++)
        seen[i] = to->turn[i] - seen[i];
    lg_so3_tangent_solve(way->turn, seen, out->turn);
    if (!has_centre(way))
        return;
    centre_change(way, path->h, from, to, out->centre);
    offset_change(1, &way->from, way->centre, out->centre, &out->from);
    offset_change(1, &way->to, way->centre, out->centre, &out->to);
}

/* The change of a mean rate, which is that of both ends or follows from the way. */
static void mean_change(int is_mean, const double first[3], const double last[3], const double ahead[3], double h,
                        double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = is_mean ? 0.5 * (first[i] + last[i]) : ahead[i] / h;
}

void lg_way_change_at(const lg_path *path, int side, const lg_way_change *change, double s, const lg_end *at,
                      lg_frame_change *out)
{
    const lg_way *way = &path->of[side];
    const lg_frame_change *from = &change->from, *to = &change->to;
    double h = path->h, ahead[3], way_ahead[3], mean[3], turned[3], ahead_turn[3], E[9], rest[3];
    for (int i = 0; i < 3; i++) {
        ahead[i] = to->x[i] - from->x[i];
        way_ahead[i] = way->to.x[i] - way->from.x[i];
        turned[i] = s * way->turn[i];
        ahead_turn[i] = s * change->turn[i];
    }
    int is_mean = mean_rate(way->from.xdot, way->to.xdot, way_ahead, few * lg_norm3(way->from.x), h, mean);
    mean_change(is_mean, from->xdot, to->xdot, ahead, h, mean);
    follow_cubic(h, s, ahead, from->xdot, to->xdot, mean, out->x, out->xdot);
    lg_axpy(3, 1, from->x, out->x);
    is_mean = mean_rate(way->from.omega, way->to.omega, way->turn, few, h, rest);
    mean_change(is_mean, from->omega, to->omega, change->turn, h, out->omega);
    lg_so3_exp(turned, E);
    lg_mulT3(E, from->turn, out->turn);
    lg_so3_tangent_mul(turned, ahead_turn, rest);
    lg_axpy(3, 1, rest, out->turn);
    offset_change(-1, at, way->centre, change->centre, out);
}
