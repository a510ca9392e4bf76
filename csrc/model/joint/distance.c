/* Two points at a fixed distance: phi = |d| - L, d = x_b - x_a, n = d/|d|.
   J_b = n^T on translations, J_a = -n^T;  dn = (I - n n^T) dd/|d|. */
#include "model/joint/joint.h"
#include "model/share.h"

static const lg_parameter parameters[] = {
    {"length", "m", "distance of the two points", LG_SCALAR, .valid = LG_POSITIVE, .initially = LG_START_DISTANCE,
     .quadratic = 1},
};

static void write_row(const double a[3], double row[2][6 * LG_MAX_ROWS])
{
    for (int s = 0; s < 2; s++)
        for (int i = 0; i < 3; i++) {
            row[s][i] = s ? a[i] : -a[i];
            row[s][3 + i] = 0;
        }
}

static lg_status distance_rows(const lg_element *e, const lg_pose *const f[2], const lg_point *at, const double *lam,
                               unsigned want, lg_rows *out)
{
    (void)at;
    double d[3], n[3], ndot[3];
    lg_pose_between(f[0], f[1], d);
    double l = lg_norm3(d);
    for (int i = 0; i < 3; i++)
        n[i] = d[i] / l;
    out->points = 1;
    out->phi[0] = l - e->p[0];
    write_row(n, out->J);

    // n' = (I - n n^T) d'/l
    if (want & (LG_ROWS_RATE | LG_ROWS_Z)) {
        double ddot[3] = {f[1]->xdot[0] - f[0]->xdot[0], f[1]->xdot[1] - f[0]->xdot[1], f[1]->xdot[2] - f[0]->xdot[2]};
        double rate = lg_dot3(n, ddot);
        for (int i = 0; i < 3; i++)
            ndot[i] = (ddot[i] - rate * n[i]) / l;
        out->Jdot[0] = lg_dot3(ndot, ddot);
        write_row(ndot, out->Z);
    }

    // d(n lam) = lam (I - n n^T)/l dd
    if (!(want & LG_ROWS_K))
        return LG_OK;
    double A[9];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            A[3 * i + j] = lam[0] / l * ((i == j) - n[i] * n[j]);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            lg_quarters_add(&out->K[i][j], LG_XX, i == j ? 1 : -1, A);
    return LG_OK;
}

/* The direction d/l has the rates that follow from d = l (d/l), where l' = d . d'/l. */
static void distance_jets(const lg_element *e, const lg_frame_jet f[2], lg_wrench_jet (*out)[2])
{
    (void)e;
    const lg_jet d = lg_jet_between(&f[0].x, &f[1].x);
    const lg_scalar_jet square = lg_jet_dot(&d, &d), one = {{1}};
    double l = sqrt(square.at[0]), rate = square.at[1] / (2 * l), second = (square.at[2] / 2 - rate * rate) / l;
    const lg_scalar_jet length = {{l, rate, second}}, inverse = lg_jet_quotient(&one, &length);
    const lg_jet n = lg_jet_times(&inverse, &d);
    lg_jet_push(&n, *out);
}

static lg_status distance_shares(const lg_joint *joint, const lg_pose *const f[2], const lg_point *at,
                                 const lg_term_weights *rows, const double *twists, double *slopes)
{
    (void)f, (void)at, (void)twists;
    slopes[0] = joint->nrows && rows->phi ? -rows->phi[0] : 0;
    return LG_OK;
}

static const lg_joint_shares shares = {.write = distance_shares};

static const char *distance_row_label(const lg_element *e, int row)
{
    (void)e, (void)row;
    return "distance";
}

const lg_joint_type lg_distance = {
    .info = {.family = "joint",
             .name = "distance",
             .doc = "Two points at a fixed distance.",
             .reference = "kinon2024 5.1",
             .nframes = 2,
             .nrows = 1,
             .parameters = parameters,
             .nparameters = 1},
    .sees_distance = 1,
    .on_point = lg_element_on_point,
    .rows = distance_rows,
    .jets = distance_jets,
    .shares = &shares,
    .row_label = distance_row_label,
};
