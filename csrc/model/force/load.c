/* Applied forces and torques on a frame: constant, from a table, or a function of time; in inertial or in body axes.
   A force turns with the body if its axes are the body's: f = R F, df = -R F^ dphi. A torque in inertial axes has the
   body components R^T T, d(R^T T) = (R^T T)^ dphi. The load factor multiplies both. */
#include "model/force/force.h"
#include "model/source.h"

enum { AXES, SOURCE }; /* places of the parameters */

static const lg_parameter parameters[] = {
    {"axes", "", "0 inertial, 1 body", 1},
    LG_SOURCE_PARAMETERS("N or N m", "three values"),
};

static lg_status check(const lg_element *e, const char **reason)
{
    *reason = "the axes must be 0 or 1";
    if (e->p[AXES] != 0 && e->p[AXES] != 1)
        return LG_BAD_ARGUMENT;
    return lg_source_check(e, SOURCE, 3, reason);
}

static lg_status evaluate(const lg_element *e, const lg_point *at, double value[3])
{
    LG_TRY(lg_source_value(e, SOURCE, 3, at, value));
    for (int i = 0; i < 3; i++)
        value[i] *= at->load;
    return LG_OK;
}

static double next_kink(const lg_element *e, double t)
{
    return lg_source_next_kink(e, SOURCE, t);
}

static lg_status wrenches(const lg_element *e, const lg_pose *const f[2], const lg_point *at, int linear, lg_load *out)
{
    double value[3];
    LG_TRY(evaluate(e, at, value));
    lg_zero(6, out->w[0]);
    if (e->p[AXES] == 0) {
        lg_copy(3, value, out->w[0]);
        return LG_OK;
    }
    lg_mul3(f[0]->R, value, out->w[0]);
    if (linear) {
        double hat[9], Rhat[9];
        lg_hat3(value, hat);
        lg_mul33(f[0]->R, hat, Rhat);
        lg_quarters_add(&out->K[0][0], LG_XR, -1, Rhat);
    }
    return LG_OK;
}

static lg_status torque(const lg_element *e, const lg_pose *const f[2], const lg_point *at, int linear, lg_load *out)
{
    double value[3];
    LG_TRY(evaluate(e, at, value));
    lg_zero(6, out->w[0]);
    if (e->p[AXES] != 0) {
        lg_copy(3, value, out->w[0] + 3);
        return LG_OK;
    }
    lg_mulT3(f[0]->R, value, out->w[0] + 3);
    if (linear) {
        double hat[9];
        lg_hat3(out->w[0] + 3, hat);
        lg_quarters_add(&out->K[0][0], LG_RR, 1, hat);
    }
    return LG_OK;
}

/* In inertial axes; with the body's axes it turns. */
static int on_point(const lg_element *e, int end)
{
    (void)end;
    return e->p[AXES] == 0;
}

const lg_force_type lg_applied_force = {
    .info = {.family = "force",
             .name = "force",
             .doc = "An applied force at a frame.",
             .reference = "holzinger2024 (9)",
             .nframes = 1,
             .parameters = parameters,
             .nparameters = 3},
    .check = check,
    .on_point = on_point,
    .wrenches = wrenches,
    .next_kink = next_kink,
};

const lg_force_type lg_applied_torque = {
    .info = {.family = "force",
             .name = "torque",
             .doc = "An applied torque on a body.",
             .reference = "holzinger2024 (9)",
             .nframes = 1,
             .parameters = parameters,
             .nparameters = 3},
    .check = check,
    .wrenches = torque,
    .next_kink = next_kink,
};
