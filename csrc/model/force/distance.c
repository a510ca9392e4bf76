/* The distance l of two points, d = x_b - x_a, n = d/l: l' = n . d', u = -n on the first point and n on the second,
   du_b = (I - n n^T)/l dd. It is not defined where the points coincide, and neither is the force then. */
#include "model/force/coordinate.h"

static void distance_open(const lg_element *e, const lg_pose *const f[2], const lg_point *point, lg_coordinate *out)
{
    (void)e, (void)point;
    double d[3];
    lg_pose_between(f[0], f[1], d);
    out->s = lg_norm3(d), out->rate = 0;
    lg_zero(12, out->u[0]);
    for (int i = 0; i < 3; i++) {
        out->c[i] = d[i] / out->s, out->y[i] = f[1]->xdot[i] - f[0]->xdot[i];
        out->u[0][i] = -out->c[i], out->u[1][i] = out->c[i];
        out->rate += out->c[i] * out->y[i];
    }
}

static void distance_slopes(const lg_element *e, const lg_pose *const f[2], const lg_coordinate *at,
                            const double law[3], double dtau[2][6])
{
    (void)e, (void)f;
    for (int i = 0; i < 3; i++) {
        dtau[1][i] = law[1] * at->c[i] + law[2] * (at->y[i] - at->rate * at->c[i]) / at->s;
        dtau[0][i] = -dtau[1][i];
    }
}

static void distance_add_turning(const lg_element *e, const lg_pose *const f[2], const lg_coordinate *at, double tau,
                                 lg_quarters K[2][2])
{
    (void)e, (void)f;
    double A[9];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            A[3 * i + j] = ((i == j) - at->c[i] * at->c[j]) / at->s;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            lg_quarters_add(&K[i][j], LG_XX, i == j ? tau : -tau, A);
}

const lg_coordinate_type lg_coordinate_distance = {
    .first = 0, .end = {1, 1}, .open = distance_open, .slopes = distance_slopes, .add_turning = distance_add_turning};
