/* A drive about e3 between two bodies with triads: the torque of a law (drive.h) in the angle phi from the first triad
   to the second. It acts about e3 of the first body on the second body, and its opposite on the first. phi counts full
   turns: its branch is the one nearest to the angle in memory.

   With e = e3 of a, r = R_b^T R_a e, v = R_a^T R_b e1 of b, and n = d phi/d v:
       phi' = r . omega_b - e . omega_a
       dv = v^ dphi_a - R_ab e1^ dphi_b,   dr = r^ dphi_b - R_ab^T e^ dphi_a. */
#include "model/force/drive.h"
#include "model/triad.h"
#include "model/turn.h"

enum { TRIAD_A, TRIAD_B = 9, DRIVE = 18 }; /* places of the parameters */

#define TRIADS                                                                                                         \
    {"axes_a", "", "triad on the first body, body axes; columns e1 e2 e3, row-major", 9},                              \
        {"axes_b", "", "triad on the second body, body axes; columns e1 e2 e3, row-major", 9}

static const lg_parameter drive_parameters[] = {TRIADS, LG_DRIVE_PARAMETERS("N m", "rad")};
static const lg_parameter law_parameters[] = {TRIADS};

static lg_status check_axes(const lg_element *e, const char **reason)
{
    *reason = "the axes are not orthonormal";
    return lg_triad_orthonormal(e->p + TRIAD_A) && lg_triad_orthonormal(e->p + TRIAD_B) ? LG_OK : LG_BAD_ARGUMENT;
}

static lg_status check_drive(const lg_element *e, const char **reason)
{
    LG_TRY(check_axes(e, reason));
    return lg_drive_check(e, DRIVE, reason);
}

static lg_status check_law(const lg_element *e, const char **reason)
{
    LG_TRY(check_axes(e, reason));
    return lg_outside_check(e, reason);
}

static double next_kink(const lg_element *e, double t)
{
    return lg_drive_next_kink(e, DRIVE, t);
}

/* ---- tangents ---- */

/* Gradients of phi along dphi_a and dphi_b. */
static void angle_gradient(const lg_element *e, const lg_turn *at, double on_a[3], double on_b[3])
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
static void rate_gradient(const lg_turn *at, const lg_pose *const f[2], double on_a[3], double on_b[3])
{
    lg_cross(at->e, at->omega, on_a);
    lg_cross(f[1]->omega, at->r, on_b);
}

/* K += s u g^T between rotations */
static void add_dyad(double s, const double u[3], const double g[3], lg_quarters *K)
{
    double A[9];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            A[3 * i + j] = u[i] * g[j];
    lg_quarters_add(K, LG_RR, s, A);
}

/* Derivatives of the moments -tau e on a and tau r on b, for the law (tau, d tau/d phi, d tau/d phi'). */
static void tangent(const lg_element *e, const lg_pose *const f[2], const lg_turn *at, const double law[3],
                    lg_load *out)
{
    double tau = law[0], P = -law[1], D = -law[2], grad[2][3], rate[2][3], hat[9], A[9];
    angle_gradient(e, at, grad[0], grad[1]);
    rate_gradient(at, f, rate[0], rate[1]);

    // d tau = -P dphi - D dphi'
    for (int j = 0; j < 2; j++) {
        const double *axis = j ? at->r : at->e;
        double side = j ? -D : D;
        for (int i = 0; i < 3; i++)
            grad[j][i] = -P * grad[j][i] - D * rate[j][i];
        add_dyad(-1, at->e, grad[j], &out->K[0][j]);
        add_dyad(1, at->r, grad[j], &out->K[1][j]);
        add_dyad(-side, at->e, axis, &out->D[0][j]);
        add_dyad(side, at->r, axis, &out->D[1][j]);
    }

    // tau dr
    lg_hat3(at->r, hat);
    lg_quarters_add(&out->K[1][1], LG_RR, tau, hat);
    lg_hat3(at->e, hat);
    double Rba[9];
    lg_transpose3(at->Rab, Rba);
    lg_mul33(Rba, hat, A);
    lg_quarters_add(&out->K[1][0], LG_RR, -tau, A);
}

/* ---- the verbs ---- */

static void apply(const lg_element *e, const lg_pose *const f[2], const lg_turn *at, const double law[3], int linear,
                  lg_load *out)
{
    lg_zero(12, out->w[0]);
    lg_axpy(3, -law[0], at->e, out->w[0] + 3);
    lg_axpy(3, law[0], at->r, out->w[1] + 3);
    if (linear)
        tangent(e, f, at, law, out);
}

static lg_status follow(lg_drive_rule *rule, const lg_element *e, const lg_pose *const f[2], const lg_point *point,
                        int linear, lg_load *out)
{
    double law[3];
    lg_turn at;
    lg_turn_open(e, e->p + TRIAD_A, f, point, &at);
    rule(e, DRIVE, point, at.phi, at.rate, law);
    apply(e, f, &at, law, linear, out);
    return LG_OK;
}

static lg_status drive(const lg_element *e, const lg_pose *const f[2], const lg_point *point, int linear, lg_load *out)
{
    return follow(lg_drive_law, e, f, point, linear, out);
}

static lg_status drive_at_rest(const lg_element *e, const lg_pose *const f[2], const lg_point *point, int linear,
                               lg_load *out)
{
    return follow(lg_drive_law_at_rest, e, f, point, linear, out);
}

static lg_status outside(const lg_element *e, const lg_pose *const f[2], const lg_point *point, int linear,
                         lg_load *out)
{
    double law[3];
    lg_turn at;
    lg_turn_open(e, e->p + TRIAD_A, f, point, &at);
    LG_TRY(lg_outside_law(e, point, at.phi, at.rate, linear, law));
    apply(e, f, &at, law, linear, out);
    return LG_OK;
}

static const double *triads(const lg_element *e)
{
    return e->p + TRIAD_A;
}

static const lg_force_type at_rest = {.wrenches = drive_at_rest};

const lg_force_type lg_joint_drive = {
    .in = {[LG_FORM_STATICS] = &at_rest},
    .info = {.family = "force",
             .name = "joint_drive",
             .doc = "A constant torque and a controlled angle about the axis between two bodies.",
             .reference = "holzinger2024 4.4",
             .nframes = 2,
             .nmem = 1,
             .parameters = drive_parameters,
             .nparameters = 6},
    .sees = LG_SEES_POSE,
    .check = check_drive,
    .couples = lg_element_between,
    .needs_twists = 1,
    .wrenches = drive,
    .conserves = lg_force_conserves,
    .next_kink = next_kink,
    .triads = triads,
};

const lg_force_type lg_joint_law = {
    .info = {.family = "force",
             .name = "joint_law",
             .doc = "A torque about the axis between two bodies, a function of time, angle and rate.",
             .reference = "holzinger2024 (9)",
             .nframes = 2,
             .nmem = 1,
             .parameters = law_parameters,
             .nparameters = 2},
    .sees = LG_SEES_POSE,
    .check = check_law,
    .couples = lg_element_between,
    .needs_twists = 1,
    .wrenches = outside,
    .conserves = lg_force_conserves,
    .triads = triads,
    .uses_law = 1,
};
