/* A drive about e3 between two bodies with triads: proportional-differential control of the angle phi from the first
   triad to the second, on top of a constant torque tau0,

       tau = tau0 + P (phi_d(t) - phi) + D (phi_d'(t) - phi')

   about e3 of the first body, on the second body; the opposite on the first. phi runs through full turns: its branch is
   the one next to the angle in memory. phi_d is quadratic in pieces, phi_d = a + b s + c s^2/2 with s = t - t_i.

   With e = e3 of a, r = R_b^T R_a e, v = R_a^T R_b e1 of b, and n = d phi/d v:
       phi' = r . omega_b - e . omega_a
       dv = v^ dphi_a - R_ab e1^ dphi_b,   dr = r^ dphi_b - R_ab^T e^ dphi_a. */
#include "model/element.h"
#include "model/triad.h"

enum { TRIAD_A, TRIAD_B = 9, TORQUE = 18, STIFFNESS, DAMPING, MOTION, PIECE = 4 }; /* places of the parameters */

static const lg_parameter parameters[] = {
    {"axes_a", "", "triad on the first body, body axes; columns e1 e2 e3, row-major", 9},
    {"axes_b", "", "triad on the second body, body axes; columns e1 e2 e3, row-major", 9},
    {"torque", "N m", "constant part", 1},
    {"stiffness", "N m/rad", "P", 1},
    {"damping", "N m s/rad", "D", 1},
    {"motion", "s, rad, rad/s, rad/s^2", "pieces of the desired motion: begin, angle, rate, second rate; or nothing",
     -1},
};

static int pieces(const lg_element *e)
{
    return (e->np - MOTION) / PIECE;
}

static double begin_of(const lg_element *e, int piece)
{
    return e->p[MOTION + PIECE * piece];
}

static lg_status check(const lg_element *e, const char **reason)
{
    *reason = NULL;
    if (!lg_triad_orthonormal(e->p + TRIAD_A) || !lg_triad_orthonormal(e->p + TRIAD_B))
        *reason = "the axes are not orthonormal";
    if ((e->np - MOTION) % PIECE)
        *reason = "a piece of the motion has four values";
    for (int i = 1; i < pieces(e); i++)
        if (!(begin_of(e, i) > begin_of(e, i - 1)))
            *reason = "the pieces of the motion must ascend";
    return *reason ? LG_BAD_ARGUMENT : LG_OK;
}

static int couples(const lg_element *e)
{
    return e->frame[0]->block >= 0 && e->frame[1]->block >= 0;
}

/* phi_d and its rate at t. t_in picks the piece; the first piece holds before its begin as well. */
static void desired(const lg_element *e, double t, double t_in, double *angle, double *rate)
{
    *angle = *rate = 0;
    int i = 0, n = pieces(e);
    if (!n)
        return;
    while (i + 1 < n && begin_of(e, i + 1) <= t_in)
        i++;
    const double *piece = e->p + MOTION + PIECE * i;
    double s = t - piece[0];
    *angle = piece[1] + s * (piece[2] + s * piece[3] / 2);
    *rate = piece[2] + s * piece[3];
}

static double next_kink(const lg_element *e, double t)
{
    for (int i = 0; i < pieces(e); i++)
        if (begin_of(e, i) > t)
            return begin_of(e, i);
    return INFINITY;
}

/* ---- the turn between the two bodies ---- */

typedef struct turn {
    double Rab[9];
    double e[3], r[3]; /* the axis in both bodies */
    double e1[3], v[3]; /* e1 of b, in b and in a */
    double omega[3]; /* omega_b in a */
} turn;

static void open_turn(const lg_element *e, const lg_frame f[2], turn *out)
{
    lg_mulT33(f[0].R, f[1].R, out->Rab);
    lg_triad_axis(e->p + TRIAD_A, 2, out->e);
    lg_triad_axis(e->p + TRIAD_B, 0, out->e1);
    lg_mulT3(out->Rab, out->e, out->r);
    lg_mul3(out->Rab, out->e1, out->v);
}

/* Gradients of phi along dphi_a and dphi_b. */
static void angle_gradient(const lg_element *e, const turn *at, double on_a[3], double on_b[3])
{
    double e1[3], e2[3], n[3], nb[3];
    lg_triad_axis(e->p + TRIAD_A, 0, e1);
    lg_triad_axis(e->p + TRIAD_A, 1, e2);
    double c = lg_dot3(e1, at->v), s = lg_dot3(e2, at->v), square = c * c + s * s;
    for (int i = 0; i < 3; i++)
        n[i] = (c * e2[i] - s * e1[i]) / square;
    lg_cross(n, at->v, on_a);
    lg_mulT3(at->Rab, n, nb);
    lg_cross(at->e1, nb, on_b);
}

/* Gradients of phi' along dphi_a and dphi_b. */
static void rate_gradient(const turn *at, const lg_frame f[2], double on_a[3], double on_b[3])
{
    lg_cross(at->e, at->omega, on_a);
    lg_cross(f[1].omega, at->r, on_b);
}

/* K += s u g^T between rotations */
static void add_dyad(double s, const double u[3], const double g[3], double *K)
{
    for (int j = 0; j < 3; j++)
        lg_axpy(3, s * g[j], u, K + (3 + j) * 6 + 3);
}

/* Derivatives of the moments -tau e on a and tau r on b. */
static void tangent(const lg_element *e, const lg_frame f[2], const turn *at, double tau, lg_load *out)
{
    double P = e->p[STIFFNESS], D = e->p[DAMPING], grad[2][3], rate[2][3], hat[9], A[9];
    angle_gradient(e, at, grad[0], grad[1]);
    rate_gradient(at, f, rate[0], rate[1]);
    lg_zero(4 * 36, out->K[0][0]);
    lg_zero(4 * 36, out->D[0][0]);

    // d tau = -P dphi - D dphi'
    for (int j = 0; j < 2; j++) {
        const double *axis = j ? at->r : at->e;
        double side = j ? -D : D;
        for (int i = 0; i < 3; i++)
            grad[j][i] = -P * grad[j][i] - D * rate[j][i];
        add_dyad(-1, at->e, grad[j], out->K[0][j]);
        add_dyad(1, at->r, grad[j], out->K[1][j]);
        add_dyad(-side, at->e, axis, out->D[0][j]);
        add_dyad(side, at->r, axis, out->D[1][j]);
    }

    // tau dr
    lg_hat3(at->r, hat);
    lg_add_block3(tau, hat, 3, 3, out->K[1][1]);
    lg_hat3(at->e, hat);
    double Rba[9];
    for (int i = 0; i < 9; i++)
        Rba[i] = at->Rab[3 * (i % 3) + i / 3];
    lg_mul33(Rba, hat, A);
    lg_add_block3(-tau, A, 3, 3, out->K[1][0]);
}

static lg_status force(const lg_element *e, const lg_frame f[2], const lg_point *point, int linear, lg_load *out)
{
    double angle, rate;
    turn at;
    open_turn(e, f, &at);
    lg_mul3(at.Rab, f[1].omega, at.omega);
    desired(e, point->t, point->t_in, &angle, &rate);
    angle -= lg_triad_angle(e->p + TRIAD_A, at.v, point->mem ? point->mem[e->mem] : 0);
    rate -= lg_dot3(at.e, at.omega) - lg_dot3(at.e, f[0].omega);

    double tau = e->p[TORQUE] + e->p[STIFFNESS] * angle + e->p[DAMPING] * rate;
    lg_zero(12, out->w[0]);
    lg_axpy(3, -tau, at.e, out->w[0] + 3);
    lg_axpy(3, tau, at.r, out->w[1] + 3);
    out->has_K = out->has_D = linear;
    if (linear)
        tangent(e, f, &at, tau, out);
    return LG_OK;
}

static void commit(const lg_element *e, const lg_frame f[2], double *mem)
{
    turn at;
    open_turn(e, f, &at);
    *mem = lg_triad_angle(e->p + TRIAD_A, at.v, *mem);
}

const lg_element_type lg_joint_drive = {
    .name = "joint_drive",
    .doc = "A constant torque and a controlled angle about the axis between two bodies.",
    .reference = "holzinger2024 4.4",
    .nframes = 2,
    .nmem = 1,
    .parameters = parameters,
    .nparameters = 6,
    .check = check,
    .couples = couples,
    .force = force,
    .next_kink = next_kink,
    .commit = commit,
};
