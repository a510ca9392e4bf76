/* The loop over the kernels of one row. */
#include "model/joint/joint.h"

#include "model/tangent.h"

int lg_joint_couples(const lg_joint *joint)
{
    const lg_joint_type *type = joint->type;
    int constant = type->info.npairs == 0 && type->axes && type->axes(&joint->e) < 0;
    return !constant && lg_element_between(&joint->e);
}

/* ---- rows that were dropped ---- */

/* Moves the remaining rows up to close the gaps of dropped rows. */
static void close_gaps(const lg_joint *joint, unsigned want, lg_rows *out)
{
    int points = 0;
    for (int i = 0; i < joint->nrows; i++) {
        out->phi[i] = out->phi[joint->row_in_type[i]];
        points += joint->row_in_type[i] < out->points;
    }
    out->points = points;
    for (int i = 0; i < joint->nrows && !out->reduced; i++) {
        int from = joint->row_in_type[i];
        out->Jdot[i] = out->Jdot[from];
        for (int s = 0; s < 2 && from != i; s++) {
            lg_copy(6, out->J[s] + 6 * from, out->J[s] + 6 * i);
            if (want & LG_ROWS_Z)
                lg_copy(6, out->Z[s] + 6 * from, out->Z[s] + 6 * i);
        }
    }
}

const double *lg_joint_multipliers(const lg_joint *joint, const double *lam, double all[LG_MAX_ROWS])
{
    if (!lam || joint->nrows == joint->e.info->nrows)
        return lam;
    lg_zero(LG_MAX_ROWS, all);
    for (int i = 0; i < joint->nrows; i++)
        all[joint->row_in_type[i]] = lam[i];
    return all;
}

static inline lg_status rows_of(const lg_joint_type *type, const lg_joint *joint, const lg_pose *const f[2],
                                const lg_point *at, unsigned want, lg_rows *out)
{
    double all[LG_MAX_ROWS];
    const double *lam = at->lam ? lg_joint_multipliers(joint, at->lam + joint->row, all) : NULL;
    out->reduced = 0;
    for (int i = 0; (want & LG_ROWS_K) && i < 2; i++)
        for (int j = 0; j < 2; j++)
            out->K[i][j].has = 0;
    LG_TRY(type->rows(&joint->e, f, at, lam, want, out));
    if (joint->nrows < joint->e.info->nrows)
        close_gaps(joint, want, out);
    return LG_OK;
}

lg_status lg_joint_rows(const lg_joint_type *type, const lg_joint *joint, const lg_pose *const f[2], const lg_point *at,
                        unsigned want, lg_rows *out)
{
    return rows_of(type, joint, f, at, want, out);
}

lg_status lg_joint_values(const lg_joint_type *type, const lg_joint *joint, const lg_pose *const f[2],
                          const lg_point *at, double *phi)
{
    lg_rows rows;
    LG_TRY(rows_of(type, joint, f, at, 0, &rows));
    lg_copy(joint->nrows, rows.phi, phi);
    return LG_OK;
}

/* ---- outputs of the rows ---- */

/* J[s] of row i times (x, r) */
static double row_times(const lg_rows *rows, int s, int i, const double x[3], const double r[3])
{
    const double *J = rows->J[s] + 6 * i;
    return lg_dot3(J + 3, r) + (i < rows->points ? lg_dot3(J, x) : 0);
}

/* phi, and the outputs that depend on velocities: phidot = J twist, zeta = -(J bias + Jdot). */
static void write_levels(const lg_joint *joint, const lg_pose *const f[2], const lg_rows *rows, const lg_wanted *want)
{
    for (int i = 0; i < joint->nrows; i++) {
        if (want->phi)
            want->phi[joint->row + i] = rows->phi[i];
        if (want->phidot)
            want->phidot[joint->row + i] =
                row_times(rows, 0, i, f[0]->xdot, f[0]->omega) + row_times(rows, 1, i, f[1]->xdot, f[1]->omega);
        if (want->zeta)
            want->zeta[joint->row + i] = -rows->Jdot[i] - row_times(rows, 0, i, f[0]->xdd, f[0]->omegadot) -
                                         row_times(rows, 1, i, f[1]->xdd, f[1]->omegadot);
    }
}

/* Row i of the joint's part of B or Z for one frame: H^T J^T, and for Z the rate of H as well. `add`: adds the row. */
static void write_row(const lg_frame *f, const lg_point *at, int nrows, int i, const double *J, const double *rate,
                      int add, double *values)
{
    const lg_body *body = f->body;
    int nv = body->block->nv;
    double small[LG_MAX_NV], *row = nv <= LG_MAX_NV ? small : at->work;
    lg_zero(nv, row);
    body->type->frames->pull(f, at, 1, J, row);
    if (rate)
        body->type->frames->pull_rate(f, at, rate, row);
    for (int j = 0; j < nv; j++)
        values[i + j * nrows] = (add ? values[i + j * nrows] : 0) + row[j];
}

/* Fills the parts that kernels do not write with zeros, for bodies that need whole rows. */
static void fill_rows(int n, unsigned want, lg_rows *rows)
{
    for (int s = 0; s < 2; s++)
        for (int i = rows->points; i < n; i++) {
            lg_zero(3, rows->J[s] + 6 * i);
            if (want & LG_ROWS_Z)
                lg_zero(3, rows->Z[s] + 6 * i);
        }
}

void lg_joint_write_jacobians(const lg_joint *joint, const lg_arms *arms, const lg_point *at, lg_rows *rows,
                              const lg_wanted *want)
{
    int n = joint->nrows;
    const lg_frame *const *f = joint->e.frame;
    for (int s = 0; s < 2; s++) {
        const lg_arm *arm = &arms->to[s];
        if (arm->block && !joint->adds[s]) {
            if (want->B)
                lg_arm_rows(arm, n, rows->points, rows->J[s], NULL, want->B + joint->value[s]);
            if (want->Z)
                lg_arm_rows(arm, n, rows->points, rows->Z[s], rows->J[s], want->Z + joint->value[s]);
            continue;
        }
        if (!f[s]->body->block)
            continue;
        fill_rows(n, want->Z ? LG_ROWS_Z : 0, rows);
        for (int i = 0; i < n; i++) {
            const double *J = rows->J[s] + 6 * i;
            if (want->B)
                write_row(f[s], at, n, i, J, NULL, joint->adds[s], want->B + joint->value[s]);
            if (want->Z)
                write_row(f[s], at, n, i, rows->Z[s] + 6 * i, J, joint->adds[s], want->Z + joint->value[s]);
        }
    }
}

/* B^T lam: the rows as wrenches J^T lam on the frames. */
static void joint_add_wrenches(const lg_joint *joint, lg_pose *const f[2], const lg_rows *rows, const double *lam)
{
    for (int s = 0; s < 2; s++) {
        double *wrench = f[s]->wrench[LG_REACTIONS];
        if (rows->reduced) {
            lg_axpy(6, 1, rows->w[s], wrench);
            continue;
        }
        for (int i = 0; i < joint->nrows; i++) {
            if (i < rows->points)
                lg_axpy(3, lam[i], rows->J[s] + 6 * i, wrench);
            lg_axpy(3, lam[i], rows->J[s] + 6 * i + 3, wrench + 3);
        }
    }
}

/* Used if only phi and B^T lam are wanted. */
static inline lg_status add_residual(const lg_joint_type *type, const lg_joint *joint, const lg_point *at,
                                     const lg_wanted *want)
{
    const double *lam = want->Btlam && at->lam ? at->lam + joint->row : NULL;
    lg_pose *pose[2] = {lg_pose_of(joint->e.frame[0], at), lg_pose_of(joint->e.frame[1], at)};
    lg_rows rows;
    LG_TRY(rows_of(type, joint, (const lg_pose *const *)pose, at, lam ? LG_ROWS_W : 0, &rows));
    for (int i = 0; want->phi && i < joint->nrows; i++)
        want->phi[joint->row + i] = rows.phi[i];
    if (lam)
        joint_add_wrenches(joint, pose, &rows, lam);
    return LG_OK;
}

lg_status lg_joint_add(const lg_joint_type *type, const lg_joint *joint, const lg_point *at, const lg_wanted *want)
{
    int tangent = lg_wants_slopes(want) && at->lam;
    if (!(tangent || want->B || want->Z || want->phidot || want->zeta))
        return add_residual(type, joint, at, want);
    unsigned wish =
        LG_ROWS_J | (want->zeta ? LG_ROWS_RATE : 0u) | (want->Z ? LG_ROWS_Z : 0u) | (tangent ? LG_ROWS_K : 0u);
    const double *lam = at->lam ? at->lam + joint->row : NULL;
    lg_pose *pose[2] = {lg_pose_of(joint->e.frame[0], at), lg_pose_of(joint->e.frame[1], at)};
    const lg_pose *const *seen = (const lg_pose *const *)pose;
    lg_rows rows;
    lg_arms arms;
    LG_TRY(rows_of(type, joint, seen, at, wish, &rows));
    write_levels(joint, seen, &rows, want);
    if (lam && (want->Btlam || tangent))
        joint_add_wrenches(joint, pose, &rows, lam);
    if (want->B || want->Z || tangent)
        lg_arms_open(&joint->e, at, &arms);
    if (want->B || want->Z)
        lg_joint_write_jacobians(joint, &arms, at, &rows, want);
    if (tangent)
        lg_tangent_add_opened(&joint->e, &arms, at, want, 1, rows.K, NULL);
    return LG_OK;
}

lg_status lg_joint_span(const lg_joint_type *type, lg_joints joints, const lg_point *at, const lg_wanted *want)
{
    if (type->all)
        return type->all(joints, at, want);
    for (const lg_joint *joint = joints.first; joint < joints.end; joint++)
        LG_TRY(lg_joint_add(type, joint, at, want));
    return LG_OK;
}
