/* A drive along an axis e of the first body: the force of a law (drive.h) in the slide s acts on the second body, its
   opposite on the first. With d = x_b - x_a, c = R_a^T d and y = R_a^T d':

       s  = e . c,            ds  = g . dpose,   g on x_b: n = R_a e, on x_a: -n, on phi_a: e x c
       s' = e . (y + c x w),  ds' = g . dtwist + r . dpose,  w = omega_a,
                              r on x_b: R_a (w x e), on x_a: -R_a (w x e), on phi_a: e x y + (w x e) x c
       wrenches F g;  dg: dn = -R_a e^ dphi_a,  d(e x c) = e^ R_a^T dd + e^ c^ dphi_a. */
#include "model/force/drive.h"

enum { AXIS, DRIVE = 3 }; /* places of the parameters */

#define SLIDE_AXIS {"axis", "", "direction of the slide, a unit vector in the axes of the first body", 3}

static const lg_parameter drive_parameters[] = {SLIDE_AXIS, LG_DRIVE_PARAMETERS("N", "m")};
static const lg_parameter law_parameters[] = {SLIDE_AXIS};

static lg_status check_axis(const lg_element *e, const char **reason)
{
    *reason = "the axis is not of unit length";
    return fabs(lg_norm3(e->p + AXIS) - 1) < 1e-9 ? LG_OK : LG_BAD_ARGUMENT;
}

static lg_status check_drive(const lg_element *e, const char **reason)
{
    LG_TRY(check_axis(e, reason));
    return lg_drive_check(e, DRIVE, reason);
}

static lg_status check_law(const lg_element *e, const char **reason)
{
    LG_TRY(check_axis(e, reason));
    return lg_outside_check(e, reason);
}

static double next_kink(const lg_element *e, double t)
{
    return lg_drive_next_kink(e, DRIVE, t);
}

/* ---- the slide between the two bodies ---- */

typedef struct slide {
    double s, rate;
    double c[3], y[3];
    double g[2][6], r[2][6]; /* gradients of s and s' by the poses of the two bodies */
} slide;

static void open_slide(const double e[3], const lg_pose *const f[2], slide *out)
{
    double d[3], ddot[3], we[3];
    for (int i = 0; i < 3; i++) {
        d[i] = f[1]->x[i] - f[0]->x[i];
        ddot[i] = f[1]->xdot[i] - f[0]->xdot[i];
    }
    lg_mulT3(f[0]->R, d, out->c);
    lg_mulT3(f[0]->R, ddot, out->y);
    lg_cross(f[0]->omega, e, we);

    lg_zero(12, out->g[0]), lg_zero(12, out->r[0]);
    lg_mul3(f[0]->R, e, out->g[1]);
    lg_mul3(f[0]->R, we, out->r[1]);
    lg_axpy(3, -1, out->g[1], out->g[0]);
    lg_axpy(3, -1, out->r[1], out->r[0]);
    lg_cross(e, out->c, out->g[0] + 3);
    lg_cross(e, out->y, out->r[0] + 3);
    lg_add_cross(we, out->c, out->r[0] + 3);

    out->s = lg_dot3(e, out->c);
    out->rate = lg_dot3(e, out->y) + lg_dot3(we, out->c);
}

/* out += s u g^T */
static void add_dyad(double s, const double u[6], const double g[6], lg_quarters *out)
{
    for (int which = 0; which < 4; which++) {
        double A[9];
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                A[3 * i + j] = u[3 * (which / 2) + i] * g[3 * (which % 2) + j];
        lg_quarters_add(out, which, s, A);
    }
}

/* F dg */
static void add_turning(double F, const double e[3], const double R[9], const slide *at, lg_load *out)
{
    double ehat[9], chat[9], A[9];
    lg_hat3(e, ehat), lg_hat3(at->c, chat);
    lg_mul33(R, ehat, A);
    lg_quarters_add(&out->K[0][0], LG_XR, F, A);
    lg_quarters_add(&out->K[1][0], LG_XR, -F, A);
    lg_mul33(ehat, chat, A);
    lg_quarters_add(&out->K[0][0], LG_RR, F, A);

    // e^ R^T, whose columns are e x (row of R)
    double B[9], column[3];
    for (int j = 0; j < 3; j++) {
        lg_cross(e, R + 3 * j, column);
        for (int i = 0; i < 3; i++)
            B[3 * i + j] = column[i];
    }
    lg_quarters_add(&out->K[0][0], LG_RX, -F, B);
    lg_quarters_add(&out->K[0][1], LG_RX, F, B);
}

/* The wrenches of the law (F, dF/ds, dF/ds') and their derivatives. */
static void apply(const lg_element *e, const lg_pose *const f[2], const slide *at, const double law[3], int linear,
                  lg_load *out)
{
    lg_zero(12, out->w[0]);
    lg_axpy(12, law[0], at->g[0], out->w[0]);
    if (!linear)
        return;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            add_dyad(law[1], at->g[i], at->g[j], &out->K[i][j]);
            add_dyad(law[2], at->g[i], at->r[j], &out->K[i][j]);
            add_dyad(law[2], at->g[i], at->g[j], &out->D[i][j]);
        }
    add_turning(law[0], e->p + AXIS, f[0]->R, at, out);
}

static lg_status follow(lg_drive_rule *rule, const lg_element *e, const lg_pose *const f[2], const lg_point *point,
                        int linear, lg_load *out)
{
    double law[3];
    slide at;
    open_slide(e->p + AXIS, f, &at);
    rule(e, DRIVE, point, at.s, at.rate, law);
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
    slide at;
    double law[3];
    open_slide(e->p + AXIS, f, &at);
    LG_TRY(lg_outside_law(e, point, at.s, at.rate, linear, law));
    apply(e, f, &at, law, linear, out);
    return LG_OK;
}

static const lg_force_type at_rest = {.wrenches = drive_at_rest};

const lg_force_type lg_slide_drive = {
    .in = {[LG_FORM_STATICS] = &at_rest},
    .info = {.family = "force",
             .name = "slide_drive",
             .doc = "A constant force and a controlled slide along an axis of the first of two bodies.",
             .reference = "holzinger2024 4.4",
             .nframes = 2,
             .parameters = drive_parameters,
             .nparameters = 5},
    .needs_twists = 1,
    .sees = LG_SEES_POSE,
    .check = check_drive,
    .couples = lg_element_between,
    .wrenches = drive,
    .conserves = lg_force_conserves,
    .next_kink = next_kink,
};

const lg_force_type lg_slide_law = {
    .info = {.family = "force",
             .name = "slide_law",
             .doc = "A force along an axis of the first of two bodies, a function of time, slide and rate.",
             .reference = "holzinger2024 (9)",
             .nframes = 2,
             .parameters = law_parameters,
             .nparameters = 1},
    .needs_twists = 1,
    .sees = LG_SEES_POSE,
    .check = check_law,
    .couples = lg_element_between,
    .wrenches = outside,
    .conserves = lg_force_conserves,
    .uses_law = 1,
};
