/* Rows of a coordinate; see coordinate.h.

   Slide: see force/slide.c; s' = e . (y + c x w) with c = R_a^T d, y = R_a^T d', w = omega_a, and at zero accelerations

       s'' = (w x e) . y + (e x (y - w x c)) . w.

   Angle: s = atan2(e2 . v, e1 . v) with v = R_a^T R_b e1 of b. With omega = R_ab omega_b and W = omega - omega_a,

       v' = W x v,   n = ds/dv,   s' = W . m,   m = v x n,   s'' = n' . v' + n . ((omega x omega_a) x v + W x v')

   where dv = psi x v and dW = psi x omega for the turn psi = R_ab dphi_b - dphi_a of b in a. The gradient m is e3 in a
   joint that is closed. */
#include "model/joint/coordinate.h"

#include "model/force/coordinate.h"
#include "model/triad.h"

/* ---- angles ---- */

typedef struct angle {
    lg_turn turn;
    double e1[3], e2[3], n[3], m[3], W[3], vdot[3]; /* axes of the first triad, and the vectors above */
    double c, s, square; /* e1 . v, e2 . v, and the sum of their squares */
} angle;

static void angle_open(const lg_element *e, const lg_pose *const f[2], const lg_point *at, angle *a)
{
    lg_turn_open(e, e->p, f, at, &a->turn);
    lg_triad_axis(e->p, 0, a->e1);
    lg_triad_axis(e->p, 1, a->e2);
    a->c = lg_dot3(a->e1, a->turn.v), a->s = lg_dot3(a->e2, a->turn.v);
    a->square = a->c * a->c + a->s * a->s;
    for (int i = 0; i < 3; i++) {
        a->n[i] = (a->c * a->e2[i] - a->s * a->e1[i]) / a->square;
        a->W[i] = a->turn.omega[i] - f[0]->omega[i];
    }
    lg_cross(a->turn.v, a->n, a->m);
    lg_cross(a->W, a->turn.v, a->vdot);
}

/* dn for a change dv */
static void change_n(const angle *a, const double dv[3], double dn[3])
{
    double dc = lg_dot3(a->e1, dv), ds = lg_dot3(a->e2, dv), growth = 2 * (a->c * dc + a->s * ds) / a->square;
    for (int i = 0; i < 3; i++)
        dn[i] = (dc * a->e2[i] - ds * a->e1[i]) / a->square - growth * a->n[i];
}

/* s'' at zero accelerations */
static double angle_bias(const angle *a, const double omega_a[3])
{
    double ndot[3], Wdot[3], vdd[3];
    change_n(a, a->vdot, ndot);
    lg_cross(a->turn.omega, omega_a, Wdot);
    lg_cross(Wdot, a->turn.v, vdd);
    lg_add_cross(a->W, a->vdot, vdd);
    return lg_dot3(ndot, a->vdot) + lg_dot3(a->n, vdd);
}

/* The derivatives of s' and of m along psi: z (3) and M (3 x 3, row-major). */
static void angle_slopes(const angle *a, double z[3], double M[9])
{
    for (int j = 0; j < 3; j++) {
        double psi[3] = {0}, dv[3], dn[3], dW[3], dvdot[3], dm[3];
        psi[j] = 1;
        lg_cross(psi, a->turn.v, dv);
        lg_cross(psi, a->turn.omega, dW);
        change_n(a, dv, dn);
        lg_cross(dW, a->turn.v, dvdot);
        lg_add_cross(a->W, dv, dvdot);
        z[j] = lg_dot3(dn, a->vdot) + lg_dot3(a->n, dvdot);
        lg_cross(dv, a->n, dm);
        lg_add_cross(a->turn.v, dn, dm);
        for (int i = 0; i < 3; i++)
            M[3 * i + j] = dm[i];
    }
}

/* The wrenches of lam are -lam m and lam m on a and b for the gradient of s, and the opposite ones for phi. */
static void angle_turning(const angle *a, const double M[9], double lam, lg_quarters K[2][2])
{
    double Rba[9], hat[9], on_b[9], A[9], B[9];
    lg_transpose3(a->turn.Rab, Rba);
    lg_hat3(a->m, hat);
    for (int i = 0; i < 9; i++)
        hat[i] += M[i];
    lg_mul33(Rba, hat, on_b);
    lg_mul33(M, a->turn.Rab, A);
    lg_mul33(on_b, a->turn.Rab, B);
    lg_quarters_add(&K[0][0], LG_RR, -lam, M);
    lg_quarters_add(&K[0][1], LG_RR, lam, A);
    lg_quarters_add(&K[1][0], LG_RR, lam, on_b);
    lg_quarters_add(&K[1][1], LG_RR, -lam, B);
}

/* Writes sign x and -sign R_ba x as the rotations of a row. */
static void put_turn(const angle *a, double sign, const double x[3], double row[2][6 * LG_MAX_ROWS])
{
    double on_b[3];
    lg_mulT3(a->turn.Rab, x, on_b);
    for (int i = 0; i < 3; i++)
        row[0][3 + i] = sign * x[i], row[1][3 + i] = -sign * on_b[i];
}

void lg_angle_row(const lg_element *e, const lg_pose *const f[2], const lg_point *at, const double r[3], double c,
                  const double *lam, unsigned want, lg_rows *out)
{
    angle a;
    double z[3], M[9];
    angle_open(e, f, at, &a);
    out->points = 0;
    out->phi[0] = r[0] - c * a.turn.phi;
    put_turn(&a, c, a.m, out->J);
    if (want & LG_ROWS_RATE)
        out->Jdot[0] = r[2] - c * angle_bias(&a, f[0]->omega);
    if (!(want & (LG_ROWS_Z | LG_ROWS_K)))
        return;

    angle_slopes(&a, z, M);
    if (want & LG_ROWS_Z)
        put_turn(&a, c, z, out->Z);
    if (want & LG_ROWS_K)
        angle_turning(&a, M, c * lam[0], out->K);
}

void lg_angle_jets(const lg_element *e, double c, const lg_frame_jet f[2], lg_wrench_jet out[2])
{
    double e1[3], e2[3], v[3];
    lg_triad_axis(e->p, 0, e1);
    lg_triad_axis(e->p, 1, e2);
    lg_triad_axis(e->p + 9, 0, v);
    const lg_jet a1 = lg_jet_fixed(&f[0], e1), a2 = lg_jet_fixed(&f[0], e2), b = lg_jet_fixed(&f[1], v);
    const lg_scalar_jet x = lg_jet_dot(&a1, &b), y = lg_jet_dot(&a2, &b);
    const lg_scalar_jet square = lg_jet_products(&x, &x, 1, &y, &y);
    const lg_scalar_jet by_x = lg_jet_quotient(&x, &square), by_y = lg_jet_quotient(&y, &square);
    const lg_jet on_2 = lg_jet_times(&by_x, &a2), on_1 = lg_jet_times(&by_y, &a1);
    const lg_jet n = lg_jet_between(&on_1, &on_2), m = lg_jet_cross(&b, &n); // n = ds/dv and m as above
    const lg_jet on_a = lg_jet_scaled(c, &m), on_b = lg_jet_scaled(-c, &m);
    lg_jet_turn(&on_a, &out[0]);
    lg_jet_turn(&on_b, &out[1]);
}

/* ---- slides ---- */

static double slide_bias(const lg_element *e, const lg_pose *const f[2], const lg_coordinate *s)
{
    const double *w = f[0]->omega;
    double we[3], wc[3], rate[3], moment[3];
    lg_cross(w, e->p, we);
    lg_cross(w, s->c, wc);
    for (int i = 0; i < 3; i++)
        rate[i] = s->y[i] - wc[i];
    lg_cross(e->p, rate, moment);
    return lg_dot3(we, s->y) + lg_dot3(moment, w);
}

void lg_slide_row(const lg_element *e, const lg_pose *const f[2], const lg_point *at, const double r[3], double c,
                  const double *lam, unsigned want, lg_rows *out)
{
    const double rate_alone[3] = {0, 0, -c};
    double slopes[2][6];
    lg_coordinate s;
    lg_coordinate_slide.open(e, f, at, &s);
    out->points = 1;
    out->phi[0] = r[0] - c * s.s;
    for (int i = 0; i < 12; i++)
        out->J[i / 6][i % 6] = -c * s.u[i / 6][i % 6];
    if (want & LG_ROWS_RATE)
        out->Jdot[0] = r[2] - c * slide_bias(e, f, &s);
    if (want & LG_ROWS_Z) {
        lg_coordinate_slide.slopes(e, f, &s, rate_alone, slopes);
        lg_copy(6, slopes[0], out->Z[0]), lg_copy(6, slopes[1], out->Z[1]);
    }
    if (want & LG_ROWS_K)
        lg_coordinate_slide.add_turning(e, f, &s, -c * lam[0], out->K);
}

void lg_slide_jets(const lg_element *e, double c, const lg_frame_jet f[2], lg_wrench_jet out[2])
{
    const lg_jet along = lg_jet_fixed(&f[0], e->p), d = lg_jet_between(&f[0].x, &f[1].x);
    const lg_jet arm = lg_jet_cross(&along, &d), force = lg_jet_scaled(-c, &along), moment = lg_jet_scaled(-c, &arm);
    lg_jet_push(&force, out);
    lg_jet_turn(&moment, &out[0]);
}
