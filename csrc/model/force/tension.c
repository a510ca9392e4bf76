/* A given tension T(t) in the line between two points, d = x_b - x_a, l = |d|, n = d/l: force -T n on b, T n on a, and
   d(-T n) = -T/l (I - n n^T) dd. It is a load: the load factor scales it. Points that coincide define no line, which is
   an error unless the tension is zero. */
#include "model/force/force.h"
#include "model/source.h"

enum { SOURCE };

static const lg_parameter parameters[] = {LG_SOURCE_PARAMETERS("N", "one value")};

static const double example[] = {LG_SOURCE_CONSTANT, 3};

static lg_status tension_check(const lg_element *e, const char **reason)
{
    return lg_source_check(e, SOURCE, 1, reason);
}

static double tension_next_kink(const lg_element *e, double t)
{
    return lg_source_next_kink(e, SOURCE, t);
}

static lg_status tension_wrenches(const lg_element *e, const lg_pose *const f[2], const lg_point *at, int linear,
                                  lg_load *out)
{
    double T, d[3], A[9];
    lg_pose_between(f[0], f[1], d);
    double l = lg_norm3(d);
    LG_TRY(lg_source_value(e, SOURCE, 1, at, &T));
    lg_zero(6, out->w[0]), lg_zero(6, out->w[1]);
    T *= at->load;
    if (l == 0)
        return T == 0 ? LG_OK : LG_NOT_FINITE;
    for (int i = 0; i < 3; i++) {
        out->w[0][i] = T * d[i] / l;
        out->w[1][i] = -T * d[i] / l;
    }
    if (!linear)
        return LG_OK;

    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            A[3 * i + j] = T / l * ((i == j) - d[i] * d[j] / (l * l));
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            lg_quarters_add(&out->K[i][j], LG_XX, i == j ? -1 : 1, A);
    return LG_OK;
}

const lg_force_type lg_tension = {
    .info = {.family = "force",
             .name = "tension",
             .doc = "A given tension in the line between two points.",
             .reference = "docs/rods",
             .nframes = 2,
             .parameters = parameters,
             .nparameters = 2,
             .example = example,
             .nexample = sizeof example / sizeof *example},
    .sees = LG_SEES_DISTANCE,
    .check = tension_check,
    .couples = lg_element_between,
    .on_point = lg_element_on_point,
    .wrenches = tension_wrenches,
    .conserves = 1,
    .next_kink = tension_next_kink,
};
