/* A force and a moment on a body, six values of a control: the force in inertial axes at the frame, the moment in axes
   that turn with the body. */
#include "model/force/drive.h"

static const lg_parameter parameters[] = {
    {"turn", "", "from the axes of the moment to those of the body's node", LG_MATRIX(3, 3), .valid = LG_ROTATION},
    LG_CONTROL_VALUE,
};

static lg_status effort_wrenches(const lg_element *e, const lg_pose *const f[2], const lg_point *at, int linear,
                                 lg_load *out)
{
    (void)f, (void)linear;
    const double *value = at->work + e->value;
    lg_copy(3, value, out->w[0]);
    lg_mul3(e->p, value + 3, out->w[0] + 3);
    return LG_OK;
}

const lg_force_type lg_body_effort = {
    .info = {.family = "force",
             .name = "body_effort",
             .doc = "A force in inertial axes and a moment in body axes, values of a control.",
             .reference = "docs/control",
             .nframes = 1,
             .uses_control = 6,
             .parameters = parameters,
             .nparameters = 2},
    .check = lg_effort_check,
    .wrenches = effort_wrenches,
};
