/* The constrained strains of a rod's edge as constraint rows; formulas in rod_strain.c. */
#include "model/joint/rod_rows.h"

enum { MAX_CONSTRAINED = 3 };

/* A constrained strain: its row of -T_- and of T_+, for the motions of both sections. */
typedef struct edge_row {
    double t[2][6];
} edge_row;

static void open_row(const lg_strained *k, int strain, edge_row *row)
{
    for (int j = 0; j < 3; j++) {
        row->t[0][j] = -k->A[3 * j + strain], row->t[0][3 + j] = -k->C[3 * j + strain];
        row->t[1][j] = k->A[3 * strain + j], row->t[1][3 + j] = k->C[3 * strain + j];
    }
}

/* The row of Y times nine velocities or accelerations. */
static double row_times(const edge_row *row, const double y[9])
{
    return lg_dot3(row->t[0] + 3, y + 3) + lg_dot3(row->t[1] + 3, y + 6) - lg_dot3(row->t[0], y);
}

/* ---- outputs ---- */

static void write_levels(const lg_joint *joint, const lg_strained *k, const edge_row rows[], const lg_wanted *want)
{
    const lg_element *e = &joint->e;
    for (int i = 0; i < joint->nrows; i++) {
        int strain = joint->row_in_type[i];
        if (want->phi)
            want->phi[joint->row + i] = k->r->xi[strain] - e->p[LENGTH] * k->w0[strain];
        if (want->phidot)
            want->phidot[joint->row + i] =
                row_times(&rows[i], k->y) - (lg_edge_drives_rows(e) ? e->p[LENGTH] * k->changing[6 + strain] : 0);
    }
}

/* zeta = ds w0'' - Y y' - Y' y, and Y' y = Q y. */
static void write_zeta(const lg_joint *joint, const lg_strained *k, const edge_row rows[], const double Q[9][6],
                       const lg_pose *const f[2], double *zeta)
{
    const lg_element *e = &joint->e;
    const double *xdd[2] = {f[0]->xdd, f[1]->xdd}, *omegadot[2] = {f[0]->omegadot, f[1]->omegadot};
    double bias[9];
    lg_edge_relative(k, xdd, omegadot, bias);
    for (int i = 0; i < joint->nrows; i++) {
        int strain = joint->row_in_type[i];
        zeta[joint->row + i] =
            (lg_edge_drives_rows(e) ? e->p[LENGTH] * k->changing[12 + strain] : 0) - row_times(&rows[i], bias);
        for (int p = 0; p < 9; p++)
            zeta[joint->row + i] -= Q[p][strain] * k->y[p];
    }
}

/* Rigid bodies take rows in their own axes. */
static void write_B(const lg_joint *joint, const lg_strained *k, const lg_arms *arms, const edge_row rows[], double *B)
{
    for (int end = 0; end < 2; end++) {
        const lg_arm *arm = &arms->to[end];
        for (int i = 0; arm->block && i < joint->nrows; i++) {
            double turned[6];
            const double *row = rows[i].t[end];
            if (k->axes[end]) {
                lg_mul3(k->axes[end], row, turned);
                lg_mul3(k->axes[end], row + 3, turned + 3);
                row = turned;
            }
            lg_arm_body_row(arm, row, joint->nrows, B + joint->value[end] + i);
        }
    }
}

/* A row for the nine motions as the rows of both frames. */
static void set_row(const lg_strained *k, const double nine[9], int i, double J[2][6 * LG_MAX_ROWS])
{
    double w[2][6];
    lg_edge_on_frames(k, nine, w);
    lg_copy(6, w[0], J[0] + 6 * i);
    lg_copy(6, w[1], J[1] + 6 * i);
}

/* Y^T of a row. */
static void row_forces(const edge_row *row, double nine[9])
{
    for (int i = 0; i < 3; i++) {
        nine[i] = -row->t[0][i];
        nine[3 + i] = row->t[0][3 + i], nine[6 + i] = row->t[1][3 + i];
    }
}

/* B and Z on any bodies, by rows in the axes of frames. */
static void write_jacobians(const lg_joint *joint, const lg_strained *k, const lg_arms *arms, const lg_point *at,
                            const edge_row rows[], const double Q[9][6], const lg_wanted *want)
{
    lg_rows out;
    out.points = joint->nrows;
    for (int i = 0; i < joint->nrows; i++) {
        double nine[9];
        row_forces(&rows[i], nine);
        set_row(k, nine, i, out.J);
        for (int p = 0; want->Z && p < 9; p++)
            nine[p] = Q[p][joint->row_in_type[i]];
        if (want->Z)
            set_row(k, nine, i, out.Z);
    }
    lg_joint_write_jacobians(joint, arms, at, &out, want);
}

void lg_edge_rows(const lg_element *e, const lg_strained *k, int with_Z, lg_rows *out)
{
    double Y[9][6], Q[9][6];
    if (with_Z) {
        lg_edge_columns(k, Y);
        lg_edge_rate_columns(k, Y, Q);
    }
    out->points = e->info->nrows;
    for (int i = 0; i < e->info->nrows; i++) {
        edge_row row;
        double nine[9];
        open_row(k, i, &row);
        row_forces(&row, nine);
        set_row(k, nine, i, out->J);
        out->phi[i] = k->r->xi[i] - e->p[LENGTH] * k->w0[i];
        for (int p = 0; with_Z && p < 9; p++)
            nine[p] = Q[p][i];
        if (with_Z)
            set_row(k, nine, i, out->Z);
    }
}

void lg_edge_write_rows(const lg_joint *joint, const lg_strained *k, const lg_arms *arms, const lg_point *at,
                        const lg_pose *const f[2], const lg_wanted *want)
{
    edge_row rows[MAX_CONSTRAINED];
    double Y[9][6], Q[9][6];
    for (int i = 0; i < joint->nrows; i++)
        open_row(k, joint->row_in_type[i], &rows[i]);
    if (want->zeta || want->Z) {
        lg_edge_columns(k, Y);
        lg_edge_rate_columns(k, Y, Q);
    }
    write_levels(joint, k, rows, want);
    if (want->zeta)
        write_zeta(joint, k, rows, Q, f, want->zeta);
    if (want->B && !want->Z && arms->all)
        write_B(joint, k, arms, rows, want->B);
    else if (want->B || want->Z)
        write_jacobians(joint, k, arms, at, rows, Q, want);
}
