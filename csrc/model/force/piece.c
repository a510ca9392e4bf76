/* Pieces of elastic tendons, straight ones between two points and those that may end on circles (wrap.c). A tendon is
   without friction, so that all its pieces, which follow one another in the description, have one tension T. It depends
   on their lengths together (model/tendon.h), and stands in the scratch when they are asked; a piece of length s exerts
   -T grad s. */
#include "model/force/coordinate.h"

enum { RADII = 18 }; /* behind both triads */

#define TENDON                                                                                                         \
    {"stiffness", "N/m", "stiffness of the whole tendon, at its first piece", LG_SCALAR, .valid = LG_NONNEGATIVE},     \
        {"damping",           "N s/m", "damping of the whole tendon, likewise", LG_SCALAR, .valid = LG_NONNEGATIVE,    \
         .initially = LG_ZERO},                                                                                        \
        {"length", "m", "length without tension, likewise", LG_SCALAR, .valid = LG_NONNEGATIVE},                       \
        {"piece",                                                                                                      \
         "",                                                                                                           \
         "whether the piece begins a tendon or continues the previous piece",                                          \
         LG_SCALAR,                                                                                                    \
         .valid = LG_CHOICE,                                                                                           \
         .initially = LG_ZERO,                                                                                         \
         .choices = "first|next"}

static const lg_parameter straight_parameters[] = {TENDON};
static const lg_parameter wrapped_parameters[] = {
    LG_TRIADS,
    {"radius_a", "m", "radius of the circle about e3 on the first body; 0: a point", LG_SCALAR, .valid = LG_NONNEGATIVE,
     .of_shape = 1},
    {"radius_b", "m", "the same on the second body", LG_SCALAR, .valid = LG_NONNEGATIVE, .of_shape = 1},
    TENDON,
};

static const double straight_example[] = {1, 0.3, 0.5, 0};
static const double wrapped_example[] = {-0.48, -0.64, 0.6, 0.8, -0.6, 0, 0.36, 0.48, 0.8, 0.6, -0.8, 0,
                                         0.8,   0.6,   0,   0,   0,    1, 0.1,  0.2,  1.2, 0.2, 0.6,  0};

static lg_status exert(const lg_coordinate_type *type, const lg_element *e, const lg_pose *const f[2],
                       const lg_point *at, int linear, lg_load *out)
{
    double T = at->work[e->value];
    lg_coordinate length;
    lg_zero(12, out->w[0]);
    if (T == 0)
        return LG_OK;
    type->open(e, f, at, &length);
    lg_axpy(12, -T, length.u[0], out->w[0]);
    if (linear)
        type->add_turning(e, f, &length, -T, out->K);
    return LG_OK;
}

static lg_status straight_wrenches(const lg_element *e, const lg_pose *const f[2], const lg_point *at, int linear,
                                   lg_load *out)
{
    return exert(&lg_coordinate_distance, e, f, at, linear, out);
}

static lg_status wrapped_wrenches(const lg_element *e, const lg_pose *const f[2], const lg_point *at, int linear,
                                  lg_load *out)
{
    return exert(&lg_coordinate_wrap, e, f, at, linear, out);
}

/* What has the wrenches as gradient if the tension is given. */
static double straight_potential(const lg_element *e, const lg_pose *const f[2], const lg_point *at)
{
    lg_coordinate length;
    lg_coordinate_distance.open(e, f, at, &length);
    return at->work[e->value] * length.s;
}

static double wrapped_potential(const lg_element *e, const lg_pose *const f[2], const lg_point *at)
{
    lg_coordinate length;
    lg_coordinate_wrap.open(e, f, at, &length);
    return at->work[e->value] * length.s;
}

static int wrapped_on_point(const lg_element *e, int end)
{
    return e->p[RADII + end] == 0;
}

/* The angles at both ends. */
static lg_status piece_commit(const lg_element *e, const lg_pose *const f[2], const lg_point *from, const lg_point *to,
                              double *mem, lg_report *report)
{
    lg_coordinate length;
    lg_coordinate_wrap.open(e, f, to, &length);
    for (int end = 0; end < 2; end++) {
        if (from && fabs(length.theta[end] - mem[end]) > 0.75 * LG_PI) {
            lg_report_say(report,
                          "the point where %.*s leaves a pulley moves round it by more than 135 degrees in one step",
                          LG_SHORT(e->name));
            return LG_TURNED;
        }
        mem[end] = length.theta[end];
    }
    return LG_OK;
}

static const lg_element_memory memory = {.commit = piece_commit};

#define PIECE(NAME, DOC, ...)                                                                                          \
    .info = {.family = "force",                                                                                        \
             .name = #NAME "_tendon",                                                                                  \
             .doc = (DOC),                                                                                             \
             .reference = "docs/forces",                                                                               \
             .nframes = 2,                                                                                             \
             .continues = 1,                                                                                           \
             .has_kinks = 1,                                                                                           \
             __VA_ARGS__},                                                                                             \
    .needs_twists = 1

const lg_force_type lg_elastic_tendon = {
    PIECE(elastic, "A straight piece of an elastic tendon between two points.", .parameters = straight_parameters,
          .nparameters = 4, .example = straight_example, .nexample = sizeof straight_example / sizeof(double)),
    .sees = LG_SEES_DISTANCE,
    .on_point = lg_element_on_point,
    .wrenches = straight_wrenches,
    .potential = straight_potential,
    .piece = &lg_coordinate_distance,
};

const lg_force_type lg_wrapped_tendon = {
    PIECE(wrapped, "A piece of an elastic tendon between points or circles, round which it runs.", .nmem = 2,
          .parameters = wrapped_parameters, .nparameters = 8, .example = wrapped_example,
          .nexample = sizeof wrapped_example / sizeof(double)),
    .sees = LG_SEES_POSE,
    .on_point = wrapped_on_point,
    .wrenches = wrapped_wrenches,
    .potential = wrapped_potential,
    .memory = &memory,
    .piece = &lg_coordinate_wrap,
};
