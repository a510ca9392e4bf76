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
        subtract(b->x, a->x, want->phi + joint->row);
    if (want->phidot)
        subtract(b->xdot, a->xdot, want->phidot + joint->row);
    if (want->zeta)
        subtract(a->xdd, b->xdd, want->zeta + joint->row);
}

static void write_jacobians(const lg_joint *joint, const lg_point *at, const lg_wanted *want)
{
    for (int s = 0; s < 2; s++) {
        const lg_frame *f = joint->e.frame[s];
        if (!f->body->block)
            continue;
        lg_arm arm;
        f->body->type->rigid->open(f, at, &arm);
        if (want->B)
            lg_arm_point_rows(&arm, s ? 1 : -1, want->B + joint->value[s]);
        if (want->Z)
            lg_arm_point_rates(&arm, s ? 1 : -1, want->Z + joint->value[s]);
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
            write_jacobians(joint, at, want);
        if (loads) {
            lg_axpy(3, -1, at->lam + joint->row, a->wrench[LG_REACTIONS]);
            lg_axpy(3, 1, at->lam + joint->row, b->wrench[LG_REACTIONS]);
        }
    }
    return LG_OK;
}
