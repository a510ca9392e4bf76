/* The frames of bodies that stretch what they turn; see frame.h. With R_q = n R and a force f at the point X of the
   body,

       f . R_q(e) X = e . M e,   M = [f.X, (X x f)^T; X x f, f X^T + X f^T - (f.X) 1],

   so that f acts on e with the force 2 M e, the component along f of the velocity of the point is that of the node plus
   2 M e . e', and the derivative of 2 M e is 2 M. Moments act on omega = 2 G(e) e'/(e.e) as elsewhere. */
#include "model/printed/frame.h"

#include "model/body/rigid_state.h"

lg_stretched lg_stretched_at(const lg_body *body, const lg_point *at)
{
    const lg_block *b = body->block;
    lg_stretched out = {.block = b, .n = 1};
    if (!b || b->node->storage != LG_STORAGE_QUATERNION || !b->node->attitude)
        return out;
    out.turns = 1;
    out.first = b->node->attitude_v;
    out.e = at->q + b->q + b->node->attitude_q;
    out.rate = at->v + b->v + out.first;
    out.n = lg_dot4(out.e, out.e);
    return out;
}

double lg_stretch_power(double n, int degree)
{
    return degree == 0 ? 1 : n * lg_stretch_power(n, degree - 1);
}

/* M += s M(X, f), 4 x 4 */
static void add_form(double s, const double X[3], const double f[3], double M[16])
{
    double dot = lg_dot3(X, f), cross[3];
    lg_cross(X, f, cross);
    M[0] += s * dot;
    for (int i = 0; i < 3; i++) {
        M[1 + i] += s * cross[i];
        M[4 * (1 + i)] += s * cross[i];
        for (int j = 0; j < 3; j++)
            M[4 * (1 + i) + 1 + j] += s * (f[i] * X[j] + f[j] * X[i] - (i == j ? dot : 0));
    }
}

/* y += s M e */
static void add_matrix_times(double s, const double M[16], const double e[4], double y[4])
{
    for (int j = 0; j < 4; j++)
        lg_axpy(4, s * e[j], M + 4 * j, y);
}

/* H and Z of the rotation, as the kinematics have left them. */
static const lg_attitude *attitude_of(const lg_frame *f, const lg_point *at)
{
    return &lg_rigid_state_of(f->body, at)->attitude;
}

/* The derivative of R_q X by e: a row 2 M(X, u) e for each unit vector u, column-major with leading dimension 6. */
static void set_columns(const double X[3], const double e[4], double *columns)
{
    for (int i = 0; i < 3; i++) {
        double u[3] = {i == 0, i == 1, i == 2}, M[16] = {0}, row[4] = {0};
        add_form(2, X, u, M);
        add_matrix_times(1, M, e, row);
        for (int j = 0; j < 4; j++)
            columns[6 * j + i] = row[j];
    }
}

void lg_printed_pose(const lg_frame *f, const lg_point *at)
{
    lg_stretched b = lg_stretched_at(f->body, at);
    lg_pose *pose = lg_pose_of(f, at);
    if (!b.turns)
        return;
    double rate = 2 * lg_dot4(b.e, b.rate), moved[3], turned[3];
    lg_mul3(pose->R, f->offset, moved);
    lg_axpy(3, b.n - 1, moved, pose->arm); // which has R X already
    lg_cross(pose->omega, f->offset, turned);
    lg_axpy(3, rate, moved, pose->xdot);
    lg_mul3(pose->R, turned, moved);
    lg_axpy(3, b.n - 1, moved, pose->xdot);
}

void lg_printed_pull(const lg_frame *f, const lg_point *at, double s, const double wrench[6], double *out)
{
    lg_stretched b = lg_stretched_at(f->body, at);
    double M[16] = {0};
    if (!b.turns) {
        f->body->type->frames->pull(f, at, s, wrench, out);
        return;
    }
    const lg_attitude *attitude = attitude_of(f, at);
    if (b.first > 0)
        lg_axpy(3, s, wrench, out);
    add_form(2 * s, f->offset, wrench, M);
    add_matrix_times(1, M, b.e, out + b.first);
    for (int j = 0; j < 4; j++)
        out[b.first + j] += s * lg_dot3(attitude->H + 3 * j, wrench + 3);
}

void lg_printed_pull_rate(const lg_frame *f, const lg_point *at, const double wrench[6], double *row)
{
    lg_stretched b = lg_stretched_at(f->body, at);
    double M[16] = {0};
    if (!b.turns) {
        f->body->type->frames->pull_rate(f, at, wrench, row);
        return;
    }
    const lg_attitude *attitude = attitude_of(f, at);
    add_form(2, f->offset, wrench, M);
    add_matrix_times(1, M, b.rate, row + b.first);
    for (int j = 0; j < 4; j++)
        row[b.first + j] += lg_dot3(attitude->Z + 3 * j, wrench + 3);
}

/* The derivative of the point by e and that of the rotation, H; or the rates of both, Z. */
static void write_dense(const lg_frame *f, const lg_stretched *b, const double *e, const double *turning, double *A)
{
    lg_zero(6 * f->body->block->nv, A);
    set_columns(f->offset, e, A + 6 * b->first);
    for (int j = 0; j < 4; j++)
        lg_copy(3, turning + 3 * j, A + 6 * (b->first + j) + 3);
}

void lg_printed_twist(const lg_frame *f, const lg_point *at, double *H, double *Z)
{
    lg_stretched b = lg_stretched_at(f->body, at);
    if (!b.turns) {
        f->body->type->frames->H(f, at, H);
        f->body->type->frames->Z(f, at, Z);
        return;
    }
    const lg_attitude *attitude = attitude_of(f, at);
    write_dense(f, &b, b.e, attitude->H, H);
    write_dense(f, &b, b.rate, attitude->Z, Z);
    for (int i = 0; b.first > 0 && i < 3; i++)
        H[7 * i] = 1;
}

void lg_printed_turning(const lg_frame *f, const lg_point *at, double s, const double wrench[6], double *A)
{
    lg_stretched b = lg_stretched_at(f->body, at);
    double M[16] = {0}, G[16];
    if (!b.turns)
        return;
    add_form(2, f->offset, wrench, M);
    b.block->node->attitude->geo(b.e, wrench + 3, G);
    lg_axpy(16, 1, M, G);
    for (int j = 0; j < 4; j++)
        lg_axpy(4, s, G + 4 * j, A + b.first + (b.first + j) * b.block->nv);
}
