/* Weight m g, acting at the centre of mass, times the load factor; V = -m g . x. */
#include "model/force/force.h"
#include "model/share.h"

static const lg_parameter parameters[] = {
    {"mass", "kg", "mass", LG_SCALAR, .quadratic = 1, .linear = 1},
    {"gravity", "m/s^2", "acceleration of gravity, inertial axes", LG_VECTOR(3), .quadratic = 1, .linear = 2},
};

static lg_status weight_wrenches(const lg_element *e, const lg_pose *const f[2], const lg_point *at, int linear,
                                 lg_load *out)
{
    (void)f, (void)linear;
    for (int i = 0; i < 3; i++) {
        out->w[0][i] = at->load * e->p[0] * e->p[1 + i];
        out->w[0][3 + i] = 0;
    }
    return LG_OK;
}

static int weight_dead(const lg_element *e, double wrench[6])
{
    for (int i = 0; i < 3; i++) {
        wrench[i] = e->p[0] * e->p[1 + i];
        wrench[3 + i] = 0;
    }
    return 1;
}

/* Adds all weights at once; their wrenches are constant. */
static lg_status weight_all(lg_forces forces, const lg_point *at, const lg_wanted *want)
{
    (void)want;
    for (const lg_force *f = forces.first; f < forces.end; f++)
        lg_axpy(3, at->load * f->e.p[0], f->e.p + 1, lg_pose_of(f->e.frame[0], at)->wrench[LG_FORCES]);
    return LG_OK;
}

static double weight_potential(const lg_element *e, const lg_pose *const f[2], const lg_point *at)
{
    double x[3];
    lg_pose_position(f[0], x);
    return -at->load * e->p[0] * lg_dot3(e->p + 1, x);
}

static void weight_shares(const lg_element *e, const lg_pose *const f[2], const lg_point *at, const double *twists,
                          double *slopes)
{
    (void)f;
    slopes[0] = at->load * lg_dot3(e->p + 1, twists);
    lg_axpy(3, at->load * e->p[0], twists, slopes + 1);
}

static const lg_force_shares shares = {.write = weight_shares};

const lg_force_type lg_weight = {
    .info = {.family = "force",
             .name = "gravity",
             .doc = "Weight at the centre of mass.",
             .reference = "holzinger2024 (9)",
             .nframes = 1,
             .parameters = parameters,
             .nparameters = 2},
    .ignores_positions = 1,
    .on_point = lg_element_on_point,
    .dead = weight_dead,
    .wrenches = weight_wrenches,
    .all = weight_all,
    .shares = &shares,
    .potential = weight_potential,
};
