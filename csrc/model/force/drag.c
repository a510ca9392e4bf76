/* Viscous drag against a medium at rest: f = -R C R^T x' with constant coefficients C in body axes; with w = R^T x',
   df = R ((C w)^ - C w^) dphi - R C R^T dx'. */
#include "model/force/force.h"

static const lg_parameter parameters[] = {
    {"drag", "N s/m", "matrix C of the coefficients", LG_MATRIX(3, 3), .valid = LG_SEMIDEFINITE, .axes = LG_FIRST_AXES},
};

static lg_status drag_wrenches(const lg_element *e, const lg_pose *const f[2], const lg_point *at, int linear,
                               lg_load *out)
{
    (void)at;
    const double *R = f[0]->R, *C = e->p;
    double w[3], force[3];
    lg_mulT3(R, f[0]->xdot, w);
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
