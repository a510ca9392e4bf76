/* Motions through a step; see path.h. A frame that turns far moves along no cubic: one on an arm goes round its hub,
   and one that flies may have its origin beside the centre of mass. Its centre d is the point whose motion is
   straightest,

       p = x + R d,   h p'_0 = h p'_1 = p_1 - p_0:   [h R_0 omega_0^ - R_1 + R_0; h R_1 omega_1^ - R_1 + R_0] d = b

   in the sense of least squares, with a little weight on |d|, which is negligible where there is such a point. */
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
        lg_copy(3, f[i]->x, end->x);
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
        pose[i] = (lg_pose){.R = end->R, .omega = end->omega};
        lg_copy(3, end->x, pose[i].x);
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

/* M += A^T A and y += A^T b for the equations at one end. */
static void add_equations(const lg_way *way, const lg_end *end, double h, double M[9], double y[3])
{
    double hat[9], A[9], product[9], b[3], by[3];
    lg_hat3(end->omega, hat);
    lg_mul33(end->R, hat, A);
    for (int i = 0; i < 9; i++)
        A[i] = h * A[i] - way->to.R[i] + way->from.R[i];
    for (int i = 0; i < 3; i++)
        b[i] = way->to.x[i] - way->from.x[i] - h * end->xdot[i];
    lg_mulT33(A, A, product);
    lg_mulT3(A, b, by);
    lg_axpy(9, 1, product, M);
    lg_axpy(3, 1, by, y);
}

static void find_centre(lg_way *way, double h)
{
    double M[9], y[3] = {0}, normal[3][3];
    lg_identity3(M);
    for (int i = 0; i < 3; i++)
        M[4 * i] = weight * weight;
    add_equations(way, &way->from, h, M, y);
    add_equations(way, &way->to, h, M, y);
    for (int i = 0; i < 3; i++)
        lg_cross(M + 3 * ((i + 1) % 3), M + 3 * ((i + 2) % 3), normal[i]);
    double det = lg_dot3(M, normal[0]);
    for (int i = 0; i < 3; i++)
        way->centre[i] = lg_dot3(normal[i], y) / det;
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

static void open_way(const lg_end *from, const lg_end *to, double h, lg_way *out)
{
    *out = (lg_way){.from = *from, .to = *to};
    turn_between(from, to, h, out->turn);
    if (lg_norm3(out->turn) < small_turn)
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
   round-off, it is that mean: divided by h, round-off would grow without bound. */
static void mean_rate(const double from[3], const double to[3], const double ahead[3], double round_off, double h,
                      double mean[3])
{
    double off[3];
    for (int i = 0; i < 3; i++) {
        mean[i] = 0.5 * (from[i] + to[i]);
        off[i] = ahead[i] - h * mean[i];
    }
    if (lg_norm3(off) > round_off)
        lg_axpy(3, 1 / h, off, mean);
}

static void follow(const lg_way *way, double h, double s, lg_end *out)
{
    static const double few = 16 * DBL_EPSILON;
    const double *first = way->from.xdot, *last = way->to.xdot;
    double turned[3], R[9], ahead[3], mean[3], r = 1 - s;
    for (int i = 0; i < 3; i++)
        ahead[i] = way->to.x[i] - way->from.x[i];
    mean_rate(first, last, ahead, few * lg_norm3(way->from.x), h, mean);
    mean_rate(way->from.omega, way->to.omega, way->turn, few, h, out->omega);
    for (int i = 0; i < 3; i++) {
        out->x[i] = way->from.x[i] + s * (s * (1 + 2 * r) * ahead[i] + r * h * (r * first[i] - s * last[i]));
        out->xdot[i] = r * first[i] + s * last[i] + 6 * r * s * (mean[i] - 0.5 * (first[i] + last[i]));
        turned[i] = s * way->turn[i];
    }
    lg_so3_exp(turned, R);
    lg_mul33(way->from.R, R, out->R);
    add_offset(-1, way->centre, out);
}

void lg_path_at(const lg_path *path, double s, lg_mutual *out)
{
    lg_ends ends;
    for (int i = 0; i < 2; i++)
        follow(&path->of[i], path->h, s, &ends.of[i]);
    lg_ends_open(&ends, out);
}
