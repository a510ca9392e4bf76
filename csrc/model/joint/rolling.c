/* Contact without slip: the point of the second body that touches the first one has no velocity relative to it along
   some directions E_k. Most of these rows are of velocity alone (nonholonomic). All vectors are in the axes of the
   first body, a: c is the point of b seen from that of a, d the arm from there to the contact, P = c + d, and

       w = y + omega_ba x d - omega_a x P,    y = R_a^T (x_b' - x_a'),    omega_ba = R_ab omega_b,    E_k . w = 0
       J on x_b: R_a E, on x_a: -R_a E, on phi_b: R_ab^T (d x E), on phi_a: E x P.

   Rolling: a torus with the axis u = R_ab axis, the radius r of its circle and the radius rho of its tube (0: a disk)
   on the plane through the point of a with the normal n. E are two directions along the plane and n, and with s = u . n
   the direction up along the disk is e:

       d = -r e - rho n,    e = (n - s u)/sqrt(1 - s^2),    phi = n . c - r sqrt(1 - s^2) - rho.

   The row of n is the rate of phi, the other two are of velocity alone. A knife edge has d = 0 and one E, fixed in b.

   With psi = R_ab dphi_b - dphi_a: du = psi x u, d omega_ba = psi x omega_ba, and for the knife edge dE = psi x E. */
#include "model/joint/joint.h"

enum { PLANE, AXIS = PLANE + 9, RADIUS = AXIS + 3, TUBE, NORMAL = 0 };

static const lg_parameter rolling_parameters[] = {
    LG_TRIAD("plane", LG_FIRST_AXES, "columns: two directions along the plane, and its normal"),
    {"axis", "", "the wheel's axis", LG_VECTOR(3), .valid = LG_UNIT_VECTOR, .axes = LG_SECOND_AXES},
    {"radius", "m", "radius of the wheel's circle", LG_SCALAR, .valid = LG_POSITIVE},
    {"tube", "m", "radius of the tube around that circle", LG_SCALAR, .valid = LG_NONNEGATIVE, .initially = LG_ZERO},
};

static const lg_parameter knife_edge_parameters[] = {
    {"normal", "", "the direction in which the point does not move", LG_VECTOR(3), .valid = LG_UNIT_VECTOR,
     .axes = LG_SECOND_AXES},
};

/* ---- the contact ---- */

typedef struct contact {
    int n, turns; /* directions; they turn with b */
    const double *Ra;
    double Rab[9], E[3][3];
    double c[3], d[3], P[3];
    double r, s, cosine, u[3], e[3]; /* of the wheel; r is 0 for a knife edge */
    double y[3], omega_a[3], omega_ba[3], W[3], w[3]; /* W: the angular velocity of b relative to a */
} contact;

/* The triad of the plane is stored by rows, so that its columns are every third value. Row 0 is that of the normal. */
static void open_wheel(const lg_element *e, contact *at)
{
    const double *n = at->E[0], tube = e->p[TUBE];
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++)
            at->E[k][i] = e->p[PLANE + 3 * i + (k + 2) % 3];
    lg_mul3(at->Rab, e->p + AXIS, at->u);
    at->r = e->p[RADIUS];
    at->s = lg_dot3(at->u, n);
    at->cosine = sqrt(1 - at->s * at->s);
    for (int i = 0; i < 3; i++) {
        at->e[i] = (n[i] - at->s * at->u[i]) / at->cosine;
        at->d[i] = -at->r * at->e[i] - tube * n[i];
    }
}

static void open_edge(const lg_element *e, contact *at)
{
    lg_mul3(at->Rab, e->p + NORMAL, at->E[0]);
    lg_zero(3, at->d);
    at->r = 0;
}

static void contact_open(const lg_element *e, const lg_pose *const f[2], contact *at)
{
    double apart[3];
    lg_pose_between(f[0], f[1], apart);
    at->n = e->info->nrows;
    at->turns = e->info->nrows == 1;
    at->Ra = f[0]->R;
    lg_mulT33(f[0]->R, f[1]->R, at->Rab);
    lg_mulT3(f[0]->R, apart, at->c);
    (at->turns ? open_edge : open_wheel)(e, at);
    for (int i = 0; i < 3; i++)
        at->P[i] = at->c[i] + at->d[i];
}

/* dd along psi: de = (e s/cosine - u) ds/cosine - s du/cosine */
static void turn_arm(const contact *at, const double psi[3], double dd[3])
{
    lg_zero(3, dd);
    if (at->r == 0)
        return;
    double du[3];
    lg_cross(psi, at->u, du);
    double ds = lg_dot3(at->E[0], du);
    for (int i = 0; i < 3; i++)
        dd[i] = -at->r * ((at->e[i] * at->s / at->cosine - at->u[i]) * ds - at->s * du[i]) / at->cosine;
}

/* dx along psi, for a direction x that turns with b if the contact's do. */
static void turn_direction(const contact *at, const double psi[3], const double x[3], double dx[3])
{
    if (at->turns)
        lg_cross(psi, x, dx);
    else
        lg_zero(3, dx);
}

/* ---- velocities ---- */

static void contact_move(const lg_pose *const f[2], contact *at)
{
    double apart[3] = {f[1]->xdot[0] - f[0]->xdot[0], f[1]->xdot[1] - f[0]->xdot[1], f[1]->xdot[2] - f[0]->xdot[2]};
    double with_b[3], with_a[3];
    lg_mulT3(f[0]->R, apart, at->y);
    lg_copy(3, f[0]->omega, at->omega_a);
    lg_mul3(at->Rab, f[1]->omega, at->omega_ba);
    lg_cross(at->omega_ba, at->d, with_b);
    lg_cross(at->omega_a, at->P, with_a);
    for (int i = 0; i < 3; i++) {
        at->W[i] = at->omega_ba[i] - at->omega_a[i];
        at->w[i] = at->y[i] + with_b[i] - with_a[i];
    }
}

/* (E . w)' at zero accelerations, where y' = -omega_a x y, c' = y - omega_a x c, omega_ba' = -omega_a x omega_ba. */
static void contact_biases(const contact *at, double *Jdot)
{
    double dd[3], with_a[3], on_y[3], on_omega[3], wdot[3], Edot[3], turned[3], rate[3];
    turn_arm(at, at->W, dd);
    lg_cross(at->omega_a, at->c, turned);
    for (int i = 0; i < 3; i++)
        rate[i] = at->y[i] - turned[i];
    lg_cross(at->omega_a, at->y, on_y);
    lg_cross(at->omega_a, at->omega_ba, on_omega);
    lg_cross(at->omega_a, rate, with_a);
    lg_cross(at->W, dd, wdot);
    lg_cross(on_omega, at->d, turned);
    for (int i = 0; i < 3; i++)
        wdot[i] -= on_y[i] + turned[i] + with_a[i];
    for (int k = 0; k < at->n; k++) {
        turn_direction(at, at->W, at->E[k], Edot);
        Jdot[k] = lg_dot3(at->E[k], wdot) + lg_dot3(Edot, at->w);
    }
}

/* ---- rows ---- */

/* R_a x on b and -R_a x on a */
static void put_positions(const contact *at, const double x[3], int k, double (*J)[6 * LG_MAX_ROWS])
{
    double *on_b = J[1] + 6 * k;
    lg_mul3(at->Ra, x, on_b);
    for (int i = 0; i < 3; i++)
        J[0][6 * k + i] = -on_b[i];
}

static void put_row(const contact *at, int k, lg_rows *out)
{
    double moment[3];
    put_positions(at, at->E[k], k, out->J);
    lg_cross(at->d, at->E[k], moment);
    lg_mulT3(at->Rab, moment, out->J[1] + 6 * k + 3);
    lg_cross(at->E[k], at->P, out->J[0] + 6 * k + 3);
}

/* The derivatives of E . w: by x_b - x_a, omega_a x E; by psi, z; and by phi_a besides, c x (E x omega_a) - y x E. */
static void put_slopes(const contact *at, int k, lg_rows *out)
{
    const double *E = at->E[k];
    double by_x[3], z[3], on_E[3], *on_a = out->Z[0] + 6 * k + 3;
    lg_cross(at->omega_a, E, by_x);
    put_positions(at, by_x, k, out->Z);
    for (int j = 0; j < 3; j++) {
        double psi[3] = {0}, dd[3], dE[3], domega[3], dw[3];
        psi[j] = 1;
        turn_arm(at, psi, dd);
        turn_direction(at, psi, E, dE);
        lg_cross(psi, at->omega_ba, domega);
        lg_cross(domega, at->d, dw);
        lg_add_cross(at->W, dd, dw);
        z[j] = lg_dot3(E, dw) + lg_dot3(dE, at->w);
    }
    lg_mulT3(at->Rab, z, out->Z[1] + 6 * k + 3);
    lg_cross(E, at->omega_a, on_E);
    lg_cross(at->c, on_E, on_a);
    lg_add_cross(E, at->y, on_a);
    lg_axpy(3, -1, z, on_a);
}

/* ---- wrenches: with U = sum lam_k E_k, R_a U and R_ab^T (d x U) on b, -R_a U and U x P on a ---- */

typedef struct turned { /* by psi: d(R_a U), d(R_ab^T (d x U)) and d(U x P) */
    double force[9], on_b[9], on_a[9];
} turned;

static void put_column(const double x[3], int j, double A[9])
{
    for (int i = 0; i < 3; i++)
        A[3 * i + j] = x[i];
}

static void turn_wrenches(const contact *at, const double U[3], turned *out)
{
    double m[3];
    lg_cross(at->d, U, m);
    for (int j = 0; j < 3; j++) {
        double psi[3] = {0}, dd[3], dU[3], dm[3], x[3];
        psi[j] = 1;
        turn_arm(at, psi, dd);
        turn_direction(at, psi, U, dU);
        lg_mul3(at->Ra, dU, x);
        put_column(x, j, out->force);
        lg_cross(dd, U, dm);
        lg_add_cross(at->d, dU, dm);
        lg_add_cross(m, psi, dm);
        lg_mulT3(at->Rab, dm, x);
        put_column(x, j, out->on_b);
        lg_cross(dU, at->P, x);
        lg_add_cross(U, dd, x);
        put_column(x, j, out->on_a);
    }
}

/* On b by phi_b and on a by phi_a, psi is R_ab dphi_b and -dphi_a. */
static void add_turning(const contact *at, const turned *by, lg_quarters K[2][2])
{
    double A[9];
    lg_mul33(by->force, at->Rab, A);
    lg_quarters_add(&K[1][1], LG_XR, 1, A);
    lg_quarters_add(&K[0][1], LG_XR, -1, A);
    lg_quarters_add(&K[1][0], LG_XR, -1, by->force);
    lg_quarters_add(&K[0][0], LG_XR, 1, by->force);
    lg_mul33(by->on_b, at->Rab, A);
    lg_quarters_add(&K[1][1], LG_RR, 1, A);
    lg_quarters_add(&K[1][0], LG_RR, -1, by->on_b);
    lg_mul33(by->on_a, at->Rab, A);
    lg_quarters_add(&K[0][1], LG_RR, 1, A);
    lg_quarters_add(&K[0][0], LG_RR, -1, by->on_a);
}

/* What turns with a besides: dR_a U, and U x dP with dP = R_a^T (dx_b - dx_a) + c x dphi_a. */
static void add_carried(const contact *at, const double U[3], lg_quarters K[2][2])
{
    double hat[9], Rt[9], A[9], chat[9];
    lg_hat3(U, hat);
    lg_mul33(at->Ra, hat, A);
    lg_quarters_add(&K[1][0], LG_XR, -1, A);
    lg_quarters_add(&K[0][0], LG_XR, 1, A);
    lg_transpose3(at->Ra, Rt);
    lg_mul33(hat, Rt, A);
    lg_quarters_add(&K[0][1], LG_RX, 1, A);
    lg_quarters_add(&K[0][0], LG_RX, -1, A);
    lg_hat3(at->c, chat);
    lg_mul33(hat, chat, A);
    lg_quarters_add(&K[0][0], LG_RR, 1, A);
}

static void add_tangent(const contact *at, const double *lam, lg_quarters K[2][2])
{
    double U[3] = {0};
    turned by;
    for (int k = 0; k < at->n; k++)
        lg_axpy(3, lam[k], at->E[k], U);
    turn_wrenches(at, U, &by);
    add_turning(at, &by, K);
    add_carried(at, U, K);
}

/* ---- the functions of the rows ---- */

static lg_status rows(const lg_element *e, const lg_pose *const f[2], const lg_point *at, const double *lam,
                      unsigned want, lg_rows *out)
{
    (void)at;
    contact here;
    contact_open(e, f, &here);
    out->points = here.n;
    lg_zero(here.n, out->phi);
    if (!here.turns)
        out->phi[0] = lg_dot3(here.E[0], here.c) - here.r * here.cosine - e->p[TUBE];
    for (int k = 0; k < here.n; k++)
        put_row(&here, k, out);
    if (want & (LG_ROWS_RATE | LG_ROWS_Z))
        contact_move(f, &here);
    if (want & LG_ROWS_RATE)
        contact_biases(&here, out->Jdot);
    for (int k = 0; (want & LG_ROWS_Z) && k < here.n; k++)
        put_slopes(&here, k, out);
    if (want & LG_ROWS_K)
        add_tangent(&here, lam, out->K);
    return LG_OK;
}

static const char *rolling_row_label(const lg_element *e, int row)
{
    static const char *const of_wheel[] = {"contact", "slip along e1", "slip along e2"};
    return e->info->nrows == 1 ? "slip" : of_wheel[row];
}

#define ROW(NAME, DOC, NROWS, NNONHOLONOMIC)                                                                           \
    const lg_joint_type lg_##NAME = {                                                                                  \
        .info = {.family = "joint",                                                                                    \
                 .name = #NAME,                                                                                        \
                 .doc = (DOC),                                                                                         \
                 .reference = "docs/rolling",                                                                          \
                 .nframes = 2,                                                                                         \
                 .nrows = (NROWS),                                                                                     \
                 .nnonholonomic = (NNONHOLONOMIC),                                                                     \
                 .parameters = NAME##_parameters,                                                                      \
                 .nparameters = sizeof NAME##_parameters / sizeof *NAME##_parameters},                                 \
        .rows = rows,                                                                                                  \
        .row_label = rolling_row_label,                                                                                \
    }

ROW(rolling, "A disk, wheel or torus that rolls on a plane of the first body without slip.", 3, 2);
ROW(knife_edge, "A point of the second body has no velocity along a direction that is fixed in it.", 1, 1);
