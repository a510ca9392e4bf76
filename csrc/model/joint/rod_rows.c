/* The constrained strains of a rod's edge as constraint rows; formulas in rod_strain.h. */
#include "model/joint/rod_rows.h"

/* The row of -T_- or of T_+ for a constrained strain, for the motion of the section at one end. */
static inline void row_of(const lg_strained *k, int end, int strain, double row[6])
{
    const double *A = k->m.A + strain, *C = k->m.C + strain;
    if (end) {
        lg_copy(3, k->m.A + 3 * strain, row);
        lg_copy(3, k->m.C + 3 * strain, row + 3);
    } else
        for (int j = 0; j < 3; j++)
            row[j] = -A[3 * j], row[3 + j] = -C[3 * j];
}

/* ---- outputs ---- */

/* phi, and phidot = Y y - ds w0'. */
static void write_levels(const lg_joint *joint, const lg_strained *k, const lg_wanted *want)
{
    const lg_element *e = &joint->e;
    double rate[3];
    if (want->phidot)
        lg_screw_linear_rate(&k->m, k->m.y, rate);
    for (int i = 0; i < joint->nrows; i++) {
        int strain = joint->row_in_type[i];
        if (want->phi)
            want->phi[joint->row + i] = k->m.r->xi[strain] - e->p[LENGTH] * k->w0[strain];
        if (want->phidot)
            want->phidot[joint->row + i] = rate[strain];
    }
    for (int i = 0; want->phidot && lg_edge_drives_rows(e) && i < joint->nrows; i++)
        want->phidot[joint->row + i] -= e->p[LENGTH] * k->changing[6 + joint->row_in_type[i]];
}

/* zeta = ds w0'' - Y y' - Y' y, and Y' y = Q y. */
static void write_zeta(const lg_joint *joint, const lg_strained *k, const double Q[9][6], const lg_pose *const f[2],
                       double *zeta)
{
    const lg_element *e = &joint->e;
    const double *xdd[2] = {f[0]->xdd, f[1]->xdd}, *omegadot[2] = {f[0]->omegadot, f[1]->omegadot};
    double bias[9], rate[3];
    lg_screw_relative(&k->m, xdd, omegadot, bias);
    lg_screw_linear_rate(&k->m, bias, rate);
    for (int i = 0; i < joint->nrows; i++) {
        int strain = joint->row_in_type[i];
        zeta[joint->row + i] = (lg_edge_drives_rows(e) ? e->p[LENGTH] * k->changing[12 + strain] : 0) - rate[strain];
        for (int p = 0; p < 9; p++)
            zeta[joint->row + i] -= Q[p][strain] * k->m.y[p];
    }
}

/* Whether the velocities under a frame are those of the node of a Lie group. */
static inline int is_node(const lg_frame *f)
{
    return f->at_node && f->body->type->rigid && !f->body->block->node->attitude;
}

/* A row of B at such a frame. */
static inline void write_at_node(lg_node_position position, const double R[9], const double row[6], int stride,
                                 double *values)
{
    double force[3] = {row[0], row[1], row[2]};
    if (position == LG_POSITION_INERTIAL)
        lg_mul3(R, row, force);
    if (position != LG_POSITION_FIXED) {
        values[0] = force[0], values[stride] = force[1], values[2 * stride] = force[2];
        values += 3 * stride;
    }
    values[0] = row[3], values[stride] = row[4], values[2 * stride] = row[5];
}

/* The row of a constrained strain in the axes of the body. */
static inline void body_row_of(const lg_strained *k, int end, int strain, double row[6])
{
    double own[6];
    if (!k->m.axes[end]) {
        row_of(k, end, strain, row);
        return;
    }
    row_of(k, end, strain, own);
    lg_mul3(k->m.axes[end], own, row);
    lg_mul3(k->m.axes[end], own + 3, row + 3);
}

/* Rigid bodies take rows in their own axes. */
static LG_INLINE void write_end(const lg_joint *joint, const lg_strained *k, int end, const lg_point *at,
                                const lg_pose *f, double *values)
{
    const lg_frame *frame = joint->e.frame[end];
    lg_node_position position = frame->body->block->node->position;
    int n = joint->nrows;
    double row[6];
    if (is_node(frame)) {
        for (int i = 0; i < n; i++) {
            body_row_of(k, end, joint->row_in_type[i], row);
            write_at_node(position, f->R, row, n, values + i);
        }
        return;
    }
    lg_arm arm;
    frame->body->type->rigid->open(frame, at, &arm);
    for (int i = 0; i < n; i++) {
        body_row_of(k, end, joint->row_in_type[i], row);
        lg_arm_body_row(&arm, row, n, values + i);
    }
}

static void write_B(const lg_joint *joint, const lg_strained *k, const lg_point *at, const lg_pose *const f[2],
                    double *B)
{
    if (joint->e.frame[0]->body->block)
        write_end(joint, k, 0, at, f[0], B + joint->value[0]);
    if (joint->e.frame[1]->body->block)
        write_end(joint, k, 1, at, f[1], B + joint->value[1]);
}

/* Whether all bodies that move are rigid. */
static int is_rigid(const lg_element *e)
{
    for (int end = 0; end < 2; end++)
        if (e->frame[end]->body->block && !e->frame[end]->body->type->rigid)
            return 0;
    return 1;
}

/* A row for the nine motions as the rows of both frames. */
static void set_row(const lg_strained *k, const double nine[9], int i, double J[2][6 * LG_MAX_ROWS])
{
    double w[2][6];
    lg_screw_on_frames(&k->m, nine, w);
    lg_copy(6, w[0], J[0] + 6 * i);
    lg_copy(6, w[1], J[1] + 6 * i);
}

/* Y^T of a row. */
static void row_forces(const lg_strained *k, int strain, double nine[9])
{
    for (int i = 0; i < 3; i++) {
        nine[i] = k->m.A[3 * i + strain];
        nine[3 + i] = -k->m.C[3 * i + strain], nine[6 + i] = k->m.C[3 * strain + i];
    }
}

/* B and Z on any bodies, by rows in the axes of frames. */
static void write_jacobians(const lg_joint *joint, const lg_strained *k, const lg_point *at, const double Q[9][6],
                            const lg_wanted *want)
{
    lg_rows out;
    lg_arms arms;
    out.points = joint->nrows;
    for (int i = 0; i < joint->nrows; i++) {
        double nine[9];
        row_forces(k, joint->row_in_type[i], nine);
        set_row(k, nine, i, out.J);
        for (int p = 0; want->Z && p < 9; p++)
            nine[p] = Q[p][joint->row_in_type[i]];
        if (want->Z)
            set_row(k, nine, i, out.Z);
    }
    lg_arms_open(&joint->e, at, &arms);
    lg_joint_write_jacobians(joint, &arms, at, &out, want);
}

void lg_edge_rows(const lg_element *e, const lg_strained *k, int with_Z, lg_rows *out)
{
    double Y[9][6], Q[9][6];
    if (with_Z) {
        lg_screw_columns(&k->m, Y);
        lg_screw_rate_columns(&k->m, Y, Q);
    }
    out->points = e->info->nrows;
    for (int i = 0; i < e->info->nrows; i++) {
        double nine[9];
        row_forces(k, i, nine);
        set_row(k, nine, i, out->J);
        out->phi[i] = k->m.r->xi[i] - e->p[LENGTH] * k->w0[i];
        for (int p = 0; with_Z && p < 9; p++)
            nine[p] = Q[p][i];
        if (with_Z)
            set_row(k, nine, i, out->Z);
    }
}

void lg_edge_write_rows(const lg_joint *joint, const lg_strained *k, const lg_point *at, const lg_pose *const f[2],
                        const lg_wanted *want)
{
    double Y[9][6], Q[9][6];
    if (want->zeta || want->Z) {
        lg_screw_columns(&k->m, Y);
        lg_screw_rate_columns(&k->m, Y, Q);
    }
    write_levels(joint, k, want);
    if (want->zeta)
        write_zeta(joint, k, Q, f, want->zeta);
    if (want->B && !want->Z && is_rigid(&joint->e))
        write_B(joint, k, at, f, want->B);
    else if (want->B || want->Z)
        write_jacobians(joint, k, at, Q, want);
}
