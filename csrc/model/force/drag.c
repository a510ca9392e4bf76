/* Viscous drag against a medium at rest, or with the velocity u(t): f = -R C R^T (x' - u) with constant coefficients C
   in body axes; with w = R^T (x' - u), df = R ((C w)^ - C w^) dphi - R C R^T dx'. */
#include "model/force/force.h"
#include "model/source.h"

enum { DRAG, SOURCE = 9 }; /* indices of the parameters */

#define DRAG_PARAMETER                                                                                                 \
    {"drag",                                                                                                           \
     "N s/m",                                                                                                          \
     "matrix C of the coefficients",                                                                                   \
     LG_MATRIX(3, 3),                                                                                                  \
     .valid = LG_SEMIDEFINITE,                                                                                         \
     .axes = LG_FIRST_AXES,                                                                                            \
     .quadratic = 1}

static const lg_parameter parameters[] = {DRAG_PARAMETER};
static const lg_parameter wind_parameters[] = {DRAG_PARAMETER, LG_SOURCE_PARAMETERS("m/s", "three values")};

static lg_status drag_against(const lg_element *e, const lg_pose *const f[2], const double velocity[3], int linear,
                              lg_load *out)
{
    const double *R = f[0]->R, *C = e->p;
    double w[3], force[3];
    lg_mulT3(R, velocity, w);
    lg_mul3(C, w, force);
    lg_zero(6, out->w[0]);
    lg_mul3(R, force, out->w[0]);
    for (int i = 0; i < 3; i++)
        out->w[0][i] = -out->w[0][i];
    if (!linear)
        return LG_OK;

    double hat[9], A[9], B[9];
    lg_hat3(w, hat);
    lg_mul33(C, hat, A);
    lg_hat3(force, hat);
    lg_axpy(9, -1, hat, A); /* C w^ - (C w)^ */
    lg_mul33(R, A, B);
    lg_quarters_add(&out->K[0][0], LG_XR, -1, B);
    lg_transpose3(R, hat);
    lg_mul33(C, hat, A);
    lg_mul33(R, A, B);
    lg_quarters_add(&out->D[0][0], LG_XX, -1, B);
    return LG_OK;
}

static lg_status drag_wrenches(const lg_element *e, const lg_pose *const f[2], const lg_point *at, int linear,
                               lg_load *out)
{
    (void)at;
    return drag_against(e, f, f[0]->xdot, linear, out);
}

static lg_status wind_wrenches(const lg_element *e, const lg_pose *const f[2], const lg_point *at, int linear,
                               lg_load *out)
{
    double u[3], velocity[3];
    LG_TRY(lg_source_value(e, SOURCE, 3, at, u));
    for (int i = 0; i < 3; i++)
        velocity[i] = f[0]->xdot[i] - u[i];
    return drag_against(e, f, velocity, linear, out);
}

static lg_status wind_check(const lg_element *e, const char **reason)
{
    return lg_source_check(e, SOURCE, 3, reason);
}

static double wind_next_kink(const lg_element *e, double t)
{
    return lg_source_next_kink(e, SOURCE, t);
}

/* R_q C R_q^T */
static int drag_degree(const lg_element *e, int moments)
{
    (void)e;
    return moments ? 0 : 2;
}

const lg_force_type lg_drag = {
    .info = {.family = "force",
             .name = "drag",
             .doc = "Viscous drag on a frame, in proportion to its velocity along each axis of the body.",
             .reference = "docs/rods",
             .nframes = 1,
             .parameters = parameters,
             .nparameters = 1},
    .needs_twists = 1,
    .dissipates = 1,
    .degree = drag_degree,
    .wrenches = drag_wrenches,
};

const lg_force_type lg_wind_drag = {
    .info = {.family = "force",
             .name = "wind_drag",
             .doc = "Viscous drag on a frame, in proportion to its velocity in a wind along each axis of the body.",
             .reference = "docs/forces",
             .nframes = 1,
             .parameters = wind_parameters,
             .nparameters = 3},
    .check = wind_check,
    .needs_twists = 1,
    .degree = drag_degree,
    .wrenches = wind_wrenches,
    .next_kink = wind_next_kink,
};
