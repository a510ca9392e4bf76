/* Applied forces and torques on a frame: constant, from a table, or a function of time; in inertial or in body axes.
   A force turns with the body if its axes are the body's: f = R F, df = -f^ R dphi. A torque in inertial axes has the
   body components R^T T, d(R^T T) = (R^T T)^ dphi. The load factor multiplies both. */
#include "model/force/force.h"
#include "model/share.h"
#include "model/source.h"

enum { AXES, SOURCE }; /* indices of the parameters */

#define AXES_PARAMETER                                                                                                 \
    {"axes",                                                                                                           \
     "",                                                                                                               \
     "the axes in which the components of the vector are given",                                                       \
     LG_SCALAR,                                                                                                        \
     .valid = LG_CHOICE,                                                                                               \
     .choices = "inertial|body"}

static const lg_parameter force_parameters[] = {AXES_PARAMETER, LG_SOURCE_PARAMETERS("N", "three values")};
static const lg_parameter torque_parameters[] = {AXES_PARAMETER, LG_SOURCE_PARAMETERS("N m", "three values")};

static lg_status load_check(const lg_element *e, const char **reason)
{
    return lg_source_check(e, SOURCE, 3, reason);
}

static double load_next_kink(const lg_element *e, double t)
{
    return lg_source_next_kink(e, SOURCE, t);
}

/* The force in inertial axes, or the torque in body axes; `turn` converts values that are given in the other axes. */
static inline lg_status load_value(const lg_element *e, const double *R, const lg_point *at, int own_axes,
                                   void turn(const double R[9], const double given[3], double value[3]),
                                   double value[3])
{
    double given[3];
    LG_TRY(lg_source_value(e, SOURCE, 3, at, given));
    for (int i = 0; i < 3; i++)
        given[i] *= at->load;
    if (e->p[AXES] == own_axes)
        lg_copy(3, given, value);
    else
        turn(R, given, value);
    return LG_OK;
}

static inline lg_status applied_force(const lg_element *e, const double *R, const lg_point *at, double F[3])
{
    return load_value(e, R, at, 0, lg_mul3, F);
}

static inline lg_status applied_torque(const lg_element *e, const double *R, const lg_point *at, double T[3])
{
    return load_value(e, R, at, 1, lg_mulT3, T);
}

/* Whether the values are constant in inertial axes; if so, writes them to the wrench, beginning at component
   `first`. */
static int is_dead(const lg_element *e, int first, double wrench[6])
{
    if (e->p[AXES] != 0 || e->p[SOURCE] != LG_SOURCE_CONSTANT || e->np != SOURCE + 4)
        return 0;
    lg_zero(6, wrench);
    lg_copy(3, e->p + SOURCE + 1, wrench + first);
    return 1;
}

static int force_dead(const lg_element *e, double wrench[6])
{
    return is_dead(e, 0, wrench);
}

static int torque_dead(const lg_element *e, double wrench[6])
{
    return is_dead(e, 3, wrench);
}

static lg_status force_wrenches(const lg_element *e, const lg_pose *const f[2], const lg_point *at, int linear,
                                lg_load *out)
{
    lg_zero(6, out->w[0]);
    LG_TRY(applied_force(e, f[0]->R, at, out->w[0]));
    if (linear && e->p[AXES] != 0) {
        double hat[9], slope[9];
        lg_hat3(out->w[0], hat);
        lg_mul33(hat, f[0]->R, slope);
        lg_quarters_add(&out->K[0][0], LG_XR, -1, slope);
    }
    return LG_OK;
}

static lg_status torque_wrenches(const lg_element *e, const lg_pose *const f[2], const lg_point *at, int linear,
                                 lg_load *out)
{
    lg_zero(6, out->w[0]);
    LG_TRY(applied_torque(e, f[0]->R, at, out->w[0] + 3));
    if (linear && e->p[AXES] == 0) {
        double hat[9];
        lg_hat3(out->w[0] + 3, hat);
        lg_quarters_add(&out->K[0][0], LG_RR, 1, hat);
    }
    return LG_OK;
}

/* Adds the values of all loads to the wrenches directly, beginning at component `first`, unless their tangent is wanted
   as well. */
static inline lg_status add_all(lg_forces loads, const lg_point *at, const lg_wanted *want, int first,
                                lg_status kernel(const lg_element *e, const double *R, const lg_point *at, double *out))
{
    if (lg_wants_slopes(want))
        return lg_force_all(loads.first->type, loads, at, want);
    for (const lg_force *f = loads.first; f < loads.end; f++) {
        lg_pose *pose = lg_pose_of(f->e.frame[0], at);
        double value[3];
        LG_TRY(kernel(&f->e, pose->R, at, value));
        lg_axpy(3, 1, value, pose->wrench[LG_FORCES] + first);
    }
    return LG_OK;
}

static lg_status all_forces(lg_forces loads, const lg_point *at, const lg_wanted *want)
{
    return add_all(loads, at, want, 0, applied_force);
}

static lg_status all_torques(lg_forces loads, const lg_point *at, const lg_wanted *want)
{
    return add_all(loads, at, want, 3, applied_torque);
}

/* A force in inertial axes acts on its point alone, whereas one in body axes turns with the body. */
static int load_on_point(const lg_element *e, int end)
{
    (void)end;
    return e->p[AXES] == 0;
}

/* The axes turn with the body: R_q F. */
static int force_degree(const lg_element *e, int moments)
{
    return !moments && e->p[AXES] != 0;
}

/* (128): the torque T has the power T . omega_q with omega_q = (e.e) omega. */
static int torque_degree(const lg_element *e, int moments)
{
    (void)e;
    return moments;
}

/* ---- derivatives by constant values ---- */

static int load_has_share(const lg_element *e, int parameter)
{
    return e->p[SOURCE] == LG_SOURCE_CONSTANT && parameter > SOURCE;
}

/* The virtual velocity in the axes in which the values are given. */
static inline void load_shares(const lg_element *e, const lg_point *at, int own_axes, const double *R,
                               void turn(const double R[9], const double own[3], double given[3]), const double *own,
                               double *slopes)
{
    double given[3];
    if (!load_has_share(e, SOURCE + 1))
        return;
    if (e->p[AXES] == own_axes)
        lg_copy(3, own, given);
    else
        turn(R, own, given);
    lg_axpy(3, at->load, given, slopes + SOURCE + 1);
}

static void force_shares(const lg_element *e, const lg_pose *const f[2], const lg_point *at, const double *twists,
                         double *slopes)
{
    load_shares(e, at, 0, f[0]->R, lg_mulT3, twists, slopes);
}

static void torque_shares(const lg_element *e, const lg_pose *const f[2], const lg_point *at, const double *twists,
                          double *slopes)
{
    load_shares(e, at, 1, f[0]->R, lg_mul3, twists + 3, slopes);
}

static const lg_force_shares of_force = {.has = load_has_share, .write = force_shares};
static const lg_force_shares of_torque = {.has = load_has_share, .write = torque_shares};

const lg_force_type lg_applied_force = {
    .info = {.family = "force",
             .name = "force",
             .doc = "An applied force at a frame.",
             .reference = "holzinger2024 (9)",
             .nframes = 1,
             .parameters = force_parameters,
             .nparameters = 3},
    .check = load_check,
    .on_point = load_on_point,
    .degree = force_degree,
    .dead = force_dead,
    .wrenches = force_wrenches,
    .shares = &of_force,
    .conserves = 1,
    .all = all_forces,
    .next_kink = load_next_kink,
};

const lg_force_type lg_applied_torque = {
    .info = {.family = "force",
             .name = "torque",
             .doc = "An applied torque on a body.",
             .reference = "holzinger2024 (9)",
             .nframes = 1,
             .parameters = torque_parameters,
             .nparameters = 3},
    .check = load_check,
    .degree = torque_degree,
    .dead = torque_dead,
    .wrenches = torque_wrenches,
    .shares = &of_torque,
    .all = all_torques,
    .next_kink = load_next_kink,
};
