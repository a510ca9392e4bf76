/* The slide s along an axis e of the first body. With d = x_b - x_a, c = R_a^T d, y = R_a^T d' and w = omega_a:

       s  = e . c,            ds = u . dpose,   u on x_b: n = R_a e, on x_a: -n, on phi_a: e x c
       s' = e . (y + c x w),  ds' = u . dtwist + r . dpose,
                              r on x_b: R_a (w x e), on x_a: -R_a (w x e), on phi_a: e x y + (w x e) x c
       du: dn = -R_a e^ dphi_a,  d(e x c) = e^ R_a^T dd + e^ c^ dphi_a. */
#include "model/force/coordinate.h"

/* (-R a on x_a, moment on phi_a; R a on x_b) */
static void spread_on_frames(const double R[9], const double a[3], const double moment[3], double out[2][6])
{
    lg_zero(12, out[0]);
    lg_mul3(R, a, out[1]);
    lg_axpy(3, -1, out[1], out[0]);
    lg_copy(3, moment, out[0] + 3);
}

static void slide_open(const lg_element *e, const lg_pose *const f[2], const lg_point *point, lg_coordinate *out)
{
    (void)point;
    double d[3], ddot[3], we[3], moment[3];
    lg_pose_between(f[0], f[1], d);
    for (int i = 0; i < 3; i++)
        ddot[i] = f[1]->xdot[i] - f[0]->xdot[i];
    lg_mulT3(f[0]->R, d, out->c);
    lg_mulT3(f[0]->R, ddot, out->y);
    lg_cross(f[0]->omega, e->p, we);
    lg_cross(e->p, out->c, moment);
    spread_on_frames(f[0]->R, e->p, moment, out->u);
    out->s = lg_dot3(e->p, out->c);
    out->rate = lg_dot3(e->p, out->y) + lg_dot3(we, out->c);
}

static void slide_slopes(const lg_element *e, const lg_pose *const f[2], const lg_coordinate *at, const double law[3],
                         double dtau[2][6])
{
    double we[3], moment[3], r[2][6];
    lg_cross(f[0]->omega, e->p, we);
    lg_cross(e->p, at->y, moment);
    lg_add_cross(we, at->c, moment);
    spread_on_frames(f[0]->R, we, moment, r);
    for (int i = 0; i < 12; i++)
        dtau[i / 6][i % 6] = law[1] * at->u[i / 6][i % 6] + law[2] * r[i / 6][i % 6];
}

static void slide_add_turning(const lg_element *e, const lg_pose *const f[2], const lg_coordinate *at, double tau,
                              lg_quarters K[2][2])
{
    const double *R = f[0]->R;
    double ehat[9], chat[9], A[9];
    lg_hat3(e->p, ehat), lg_hat3(at->c, chat);
    lg_mul33(R, ehat, A);
    lg_quarters_add(&K[0][0], LG_XR, tau, A);
    lg_quarters_add(&K[1][0], LG_XR, -tau, A);
    lg_mul33(ehat, chat, A);
    lg_quarters_add(&K[0][0], LG_RR, tau, A);

    // e^ R^T, whose columns are e x (row of R)
    double B[9], column[3];
    for (int j = 0; j < 3; j++) {
        lg_cross(e->p, R + 3 * j, column);
        for (int i = 0; i < 3; i++)
            B[3 * i + j] = column[i];
    }
    lg_quarters_add(&K[0][0], LG_RX, -tau, B);
    lg_quarters_add(&K[0][1], LG_RX, tau, B);
}

const lg_coordinate_type lg_coordinate_slide = {
    .first = 0, .end = {2, 1}, .open = slide_open, .slopes = slide_slopes, .add_turning = slide_add_turning};
