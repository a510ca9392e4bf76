/* Two points that coincide, in inertial axes: the three rows phi = x_b - x_a of many joints at once. Their derivatives
   are the identity, so that only the arms of the bodies turn. Joints whose rows are carried by a body, or of which rows
   were dropped, use the kernel in pairs.c. */
#include "model/joint/points.h"

/* to = a - b */
static void subtract(const double a[3], const double b[3], double *to)
{
    for (int i = 0; i < 3; i++)
        to[i] = a[i] - b[i];
}

static void write_levels(const lg_joint *joint, const lg_pose *a, const lg_pose *b, const lg_wanted *want)
{
    if (want->phi)
        lg_pose_between(a, b, want->phi + joint->row);
    if (want->phidot)
        subtract(b->xdot, a->xdot, want->phidot + joint->row);
    if (want->zeta)
        subtract(a->xdd, b->xdd, want->zeta + joint->row);
}

/* The rows of B, where velocities are those of the frame's twist at the node. */
static inline void write_direct(const lg_frame *f, const lg_pose *pose, double s, double *values)
{
    double sX[3] = {s * f->offset[0], s * f->offset[1], s * f->offset[2]};
    if (f->body->block->node->position == LG_POSITION_INERTIAL) {
        for (int i = 0; i < 9; i++)
            values[i] = i % 4 ? 0 : s;
        values += 9;
    }
    lg_turn_arm(pose->R, sX, values);
}

static void write_opened(const lg_joint *joint, int end, const lg_point *at, const lg_wanted *want)
{
    const lg_frame *f = joint->e.frame[end];
    lg_arm arm;
    f->body->type->rigid->open(f, at, &arm);
    if (want->B)
        lg_arm_point_rows(&arm, end ? 1 : -1, want->B + joint->value[end]);
    if (want->Z)
        lg_arm_point_rates(&arm, end ? 1 : -1, want->Z + joint->value[end]);
}

static inline void write_jacobians(const lg_joint *joint, const lg_pose *const pose[2], const lg_point *at,
                                   const lg_wanted *want)
{
    for (int s = 0; s < 2; s++) {
        const lg_frame *f = joint->e.frame[s];
        if (!f->body->block)
            continue;
        if (!want->Z && lg_block_is_direct(f->body->block))
            write_direct(f, pose[s], s ? 1 : -1, want->B + joint->value[s]);
        else
            write_opened(joint, s, at, want);
    }
}

/* `jacobians`: whether B or Z is wanted, for which bodies have to be rigid. */
static int is_plain(const lg_joint *joint, int jacobians)
{
    if (joint->e.p[0] != 0 || joint->nrows != 3)
        return 0;
    for (int s = 0; s < 2 && jacobians; s++)
        if (joint->e.frame[s]->body->block && !joint->e.frame[s]->body->type->rigid)
            return 0;
    return 1;
}

int lg_points_coincide(const lg_joint *joint)
{
    const char *locked = joint->e.info->locked;
    return locked && !strcmp(locked, "123") && joint->e.p[0] == 0 && joint->nrows >= 3 && joint->row_in_type[2] == 2;
}

/* ---- rows of accelerations ---- */

int lg_points_are_plain(const lg_joint *joint)
{
    if (joint->type->all != lg_points_all || !is_plain(joint, 1))
        return 0;
    for (int s = 0; s < 2; s++) {
        const lg_block *block = joint->e.frame[s]->body->block;
        if (block && block->node->attitude)
            return 0;
    }
    return 1;
}

static void put_row(const double x[3], double *values)
{
    values[0] = x[0], values[3] = x[1], values[6] = x[2];
}

/* The unit forces g = s R^T e_i in body axes at the arm X, with the rates of body/arm_jet.h:
   of_q: (omega' x X + omega x (omega x X)) x g,  of_v: 2 (omega x X) x g - omega x (X x g). With velocities U in body
   axes U' + omega x U adds to the first arm and U to the second one, and on U itself there is -omega x g. */
static void accelerate_end(const lg_frame *f, double s, const lg_point *at, double *of_q, double *of_v)
{
    const lg_block *block = f->body->block;
    const lg_node *node = block->node;
    const double *q = at->q + block->q, *v = at->v + block->v, *a = at->a + block->v, *X = f->offset;
    const double *omega = v + node->attitude_v, *R = q + node->attitude_q;
    int first = 3 * node->attitude_v, in_body = node->position == LG_POSITION_BODY;
    double turned[9], y[3], second[3], g[3], m[3], row[3];
    if (node->storage != LG_STORAGE_MATRIX) {
        node->rotation(q, turned);
        R = turned;
    }
    lg_cross(omega, X, y);
    lg_cross(omega, y, second);
    lg_add_cross(a + node->attitude_v, X, second);
    for (int i = 0; i < 3; i++)
        y[i] = 2 * y[i] + (in_body ? v[i] : 0), second[i] += in_body ? a[i] : 0;
    if (in_body)
        lg_add_cross(omega, v, second);
    for (int i = 0; i < 3; i++) {
        g[0] = s * R[3 * i], g[1] = s * R[3 * i + 1], g[2] = s * R[3 * i + 2];
        lg_cross(second, g, row);
        put_row(row, of_q + first + i);
        lg_cross(X, g, m);
        lg_cross(m, omega, row);
        lg_add_cross(y, g, row);
        put_row(row, of_v + first + i);
        lg_cross(g, omega, row);
        if (in_body)
            put_row(row, of_v + i);
    }
}

void lg_points_accelerate(const lg_joint *joint, const lg_point *at, double *of_q, double *of_v)
{
    for (int s = 0; s < 2; s++)
        if (joint->e.frame[s]->body->block)
            accelerate_end(joint->e.frame[s], s ? 1 : -1, at, of_q + joint->value[s], of_v + joint->value[s]);
}

/* ---- all terms ---- */

lg_status lg_points_all(lg_joints joints, const lg_point *at, const lg_wanted *want)
{
    int loads = at->lam && (want->Btlam || lg_wants_slopes(want));
    for (const lg_joint *joint = joints.first; joint < joints.end; joint++) {
        if (!is_plain(joint, want->B || want->Z)) {
            LG_TRY(lg_joint_add(joint->type, joint, at, want));
            continue;
        }
        lg_pose *a = lg_pose_of(joint->e.frame[0], at), *b = lg_pose_of(joint->e.frame[1], at);
        write_levels(joint, a, b, want);
        if (want->B || want->Z)
            write_jacobians(joint, (const lg_pose *const[]){a, b}, at, want);
        if (loads) {
            lg_axpy(3, -1, at->lam + joint->row, a->wrench[LG_REACTIONS]);
            lg_axpy(3, 1, at->lam + joint->row, b->wrench[LG_REACTIONS]);
        }
    }
    return LG_OK;
}
