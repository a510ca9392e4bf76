/* Forces along one scalar coordinate: an angle or a slide between two bodies (coordinate.h), or the coordinate of the
   tree's joint that holds the link under the frame. Each row combines a coordinate with a law of drive.h. */
#include "model/force/coordinate.h"

#include "model/body/body.h"
#include "model/force/drive.h"
#include "model/source.h"

/* The row of a force, which holds the description of its elements. */
static const lg_force_type *row_of(const lg_element *e)
{
    return (const lg_force_type *)(const void *)((const char *)e->info - offsetof(lg_force_type, info));
}

static lg_status coordinate_check(const lg_element *e, const char **reason)
{
    const lg_force_type *row = row_of(e);
    const lg_body *body = e->frame[0]->body;
    *reason = "a drive on a coordinate needs a joint of a tree";
    if (!row->along && !(body->type->tree && body->type->tree->coordinate(body, e->frame[0]->part) >= 0))
        return LG_BAD_ARGUMENT;
    return row->law->check(e, reason);
}

/* ---- between two bodies ---- */

/* out += s u g^T, for one quarter of it. */
static inline void add_dyad(int row, int column, double s, const double u[6], const double g[6], lg_quarters *out)
{
    double A[9];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            A[3 * i + j] = u[3 * row + i] * g[3 * column + j];
    lg_quarters_add(out, 2 * row + column, s, A);
}

static void add_slopes(const lg_coordinate_type *type, const lg_element *e, const lg_pose *const f[2],
                       const lg_coordinate *at, const double law[3], lg_load *out)
{
    double dtau[2][6];
    type->slopes(e, f, at, law, dtau);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            for (int row = type->first; row < type->end[i]; row++)
                for (int column = type->first; column < type->end[j]; column++) {
                    add_dyad(row, column, 1, at->u[i], dtau[j], &out->K[i][j]);
                    add_dyad(row, column, law[2], at->u[i], at->u[j], &out->D[i][j]);
                }
    type->add_turning(e, f, at, law[0], out->K);
}

static inline lg_status exert_along(lg_law_rule *rule, const lg_element *e, const lg_pose *const f[2],
                                    const lg_point *point, int linear, lg_load *out)
{
    const lg_coordinate_type *along = row_of(e)->along;
    lg_coordinate at;
    double law[3];
    along->open(e, f, point, &at);
    LG_TRY(rule(e, point, at.s, at.rate, linear, law));
    lg_zero(12, out->w[0]);
    lg_axpy(12, law[0], at.u[0], out->w[0]);
    if (linear)
        add_slopes(along, e, f, &at, law, out);
    return LG_OK;
}

static lg_status coordinate_wrenches(const lg_element *e, const lg_pose *const f[2], const lg_point *at, int linear,
                                     lg_load *out)
{
    return exert_along(row_of(e)->law->rule, e, f, at, linear, out);
}

static lg_status wrenches_at_rest(const lg_element *e, const lg_pose *const f[2], const lg_point *at, int linear,
                                  lg_load *out)
{
    return exert_along(row_of(e)->law->at_rest, e, f, at, linear, out);
}

/* ---- in a joint of a tree ---- */

static lg_status coordinate_law(const lg_element *e, const lg_point *at, double q, double v, int linear, double law[3])
{
    return row_of(e)->law->rule(e, at, q, v, linear, law);
}

static lg_status law_at_rest(const lg_element *e, const lg_point *at, double q, double v, int linear, double law[3])
{
    return row_of(e)->law->at_rest(e, at, q, v, linear, law);
}

static double tree_coordinate(const lg_element *e, const lg_point *at)
{
    const lg_body *b = e->frame[0]->body;
    return at->q[b->block->q + b->type->tree->coordinate(b, e->frame[0]->part)];
}

/* ---- the rows: a coordinate with a law ---- */

static double coordinate_potential(const lg_element *e, const lg_pose *const f[2], const lg_point *point)
{
    const lg_force_type *row = row_of(e);
    lg_coordinate at;
    if (!row->along)
        return row->law->energy(e, tree_coordinate(e, point));
    row->along->open(e, f, point, &at);
    return row->law->energy(e, at.s);
}

static const double *angle_triads(const lg_element *e)
{
    return e->p;
}

static const lg_element_memory angle_memory = {.triads = angle_triads};

/* On two bodies: about an axis, by an exact rate or by an exact gradient; along an axis of the first one; along the
   line between two points. */
#define BETWEEN(ALONG, SEES)                                                                                           \
    .info.nframes = 2, .sees = (SEES), .needs_twists = 1, .couples = lg_element_between, .along = &(ALONG),            \
    .wrenches = coordinate_wrenches
#define ABOUT(ALONG) BETWEEN(ALONG, LG_SEES_POSE), .info.nmem = 1, .memory = &angle_memory
#define ANGLE ABOUT(lg_coordinate_angle)
#define TWIST ABOUT(lg_coordinate_twist)
#define SLIDE BETWEEN(lg_coordinate_slide, LG_SEES_POSE)
#define DISTANCE BETWEEN(lg_coordinate_distance, LG_SEES_DISTANCE), .on_point = lg_element_on_point
#define TREE .info.nframes = 1, .coordinate = coordinate_law

#define DRIVE(AT_REST)                                                                                                 \
    .info.reference = "holzinger2024 4.4", .info.continuous = lg_drive_continuous,                                     \
    .in = {[LG_FORM_STATICS] = &(AT_REST)}, .next_kink = lg_drive_next_kink
#define LOAD .info.reference = "holzinger2024 (9)", .next_kink = lg_load_next_kink
#define OUTSIDE .info.reference = "holzinger2024 (9)", .info.uses_law = 1
#define EFFORT .info.reference = "docs/control", .info.uses_control = 1
#define ELASTIC .info.reference = "docs/forces", .potential = coordinate_potential

static const lg_force_type between_at_rest = {.wrenches = wrenches_at_rest};
static const lg_force_type tree_at_rest = {.coordinate = law_at_rest};

/* Arrays of a row as its fields. */
#define ARRAY(NAME, TYPE, ...)                                                                                         \
    .info.NAME = (const TYPE[]){__VA_ARGS__}, .info.n##NAME = sizeof((const TYPE[]){__VA_ARGS__}) / sizeof(TYPE)
#define PARAMETERS(...) ARRAY(parameters, lg_parameter, __VA_ARGS__)
#define EXAMPLE(...) ARRAY(example, double, __VA_ARGS__)
#define TRIADS_EXAMPLE 0.48, 0.64, 0.6, -0.8, 0.6, 0, -0.36, -0.48, 0.8, 0.6, -0.8, 0, 0.8, 0.6, 0, 0, 0, 1
#define CURVES_EXAMPLE 3, -1, 0.2, 1.5, -2, 0.1, 4, 3, -1, 0, 1, -0.2, 0, 0.3

#define FORCE(NAME, DOC, LAW, ...)                                                                                     \
    const lg_force_type lg_##NAME = {.info.family = "force",                                                           \
                                     .info.name = #NAME,                                                               \
                                     .info.doc = (DOC),                                                                \
                                     .conserves = 1,                                                                   \
                                     .check = coordinate_check,                                                        \
                                     .law = &lg_law_##LAW,                                                             \
                                     __VA_ARGS__}

FORCE(joint_drive, "A constant torque and a controlled angle about the axis between two bodies.", drive, ANGLE,
      DRIVE(between_at_rest), PARAMETERS(LG_TRIADS, LG_DRIVE_PARAMETERS("N m", "rad")));
FORCE(slide_drive, "A constant force and a controlled slide along an axis of the first of two bodies.", drive, SLIDE,
      DRIVE(between_at_rest), PARAMETERS(LG_SLIDE_PARAMETERS, LG_DRIVE_PARAMETERS("N", "m")));
FORCE(coordinate_drive, "A constant torque (or force) and a controlled coordinate in a joint of a tree.", drive, TREE,
      DRIVE(tree_at_rest), PARAMETERS(LG_DRIVE_PARAMETERS("(N m or N)", "(rad or m)")));

FORCE(joint_saturated_drive, "A drive about the axis between two bodies whose torque is limited.", saturated, ANGLE,
      DRIVE(between_at_rest), .info.has_kinks = 1,
      PARAMETERS(LG_TRIADS, LG_LIMIT_PARAMETER("N m"), LG_DRIVE_PARAMETERS("N m", "rad")));
FORCE(slide_saturated_drive, "A drive along an axis of the first of two bodies whose force is limited.", saturated,
      SLIDE, DRIVE(between_at_rest), .info.has_kinks = 1,
      PARAMETERS(LG_SLIDE_PARAMETERS, LG_LIMIT_PARAMETER("N"), LG_DRIVE_PARAMETERS("N", "m")));
FORCE(coordinate_saturated_drive, "A drive in a joint of a tree whose torque (or force) is limited.", saturated, TREE,
      DRIVE(tree_at_rest), .info.has_kinks = 1,
      PARAMETERS(LG_LIMIT_PARAMETER("N m or N"), LG_DRIVE_PARAMETERS("(N m or N)", "(rad or m)")));

FORCE(joint_load, "A given torque about the axis between two bodies.", load, ANGLE, LOAD,
      PARAMETERS(LG_TRIADS, LG_SOURCE_PARAMETERS("N m", "one value")),
      EXAMPLE(1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1, LG_SOURCE_CONSTANT, 3));
FORCE(slide_load, "A given force along an axis of the first of two bodies.", load, SLIDE, LOAD,
      PARAMETERS(LG_SLIDE_PARAMETERS, LG_SOURCE_PARAMETERS("N", "one value")), EXAMPLE(0, 0, 1, LG_SOURCE_CONSTANT, 3));
FORCE(coordinate_load, "A given torque (or force) in a joint of a tree.", load, TREE, LOAD,
      PARAMETERS(LG_SOURCE_PARAMETERS("N m or N", "one value")), EXAMPLE(LG_SOURCE_CONSTANT, 3));

FORCE(joint_law, "A torque about the axis between two bodies, a function of time, angle and rate.", outside, ANGLE,
      OUTSIDE, PARAMETERS(LG_TRIADS));
FORCE(slide_law, "A force along an axis of the first of two bodies, a function of time, slide and rate.", outside,
      SLIDE, OUTSIDE, PARAMETERS(LG_SLIDE_PARAMETERS));
FORCE(coordinate_law, "A torque (or force) in a joint of a tree, a function of time, coordinate and rate.", outside,
      TREE, OUTSIDE);
FORCE(distance_law, "A force that pulls two points together, a function of time, length and rate.", pull, DISTANCE,
      OUTSIDE);

FORCE(joint_effort, "A torque about the axis between two bodies, a value of a control.", effort, ANGLE, EFFORT,
      PARAMETERS(LG_TRIADS, LG_CONTROL_VALUE));
FORCE(slide_effort, "A force along an axis of the first of two bodies, a value of a control.", effort, SLIDE, EFFORT,
      PARAMETERS(LG_SLIDE_PARAMETERS, LG_CONTROL_VALUE));
FORCE(coordinate_effort, "A torque (or force) in a joint of a tree, a value of a control.", effort, TREE, EFFORT,
      PARAMETERS(LG_CONTROL_VALUE));

FORCE(joint_spring, "A spring and damper about an axis between two bodies.", spring, TWIST, ELASTIC,
      .info.has_kinks = 1, PARAMETERS(LG_TRIADS, LG_SPRING_PARAMETERS("N m", "rad")),
      EXAMPLE(TRIADS_EXAMPLE, 0.3, 2, 0.4, CURVES_EXAMPLE));
FORCE(slide_spring, "A spring and damper along an axis of the first of two bodies.", spring, SLIDE, ELASTIC,
      .info.has_kinks = 1, PARAMETERS(LG_SLIDE_PARAMETERS, LG_SPRING_PARAMETERS("N", "m")),
      EXAMPLE(0, 0.6, 0.8, 0.3, 2, 0.4, CURVES_EXAMPLE));
FORCE(coordinate_spring, "A spring and damper in a joint of a tree.", spring, TREE, ELASTIC, .info.has_kinks = 1,
      PARAMETERS(LG_SPRING_PARAMETERS("(N m or N)", "(rad or m)")), EXAMPLE(0.3, 2, 0.4, CURVES_EXAMPLE));
FORCE(distance_spring, "A spring and damper along the line between two points, by curves.", spring, DISTANCE, ELASTIC,
      .info.has_kinks = 1, PARAMETERS(LG_SPRING_PARAMETERS("N", "m")),
      EXAMPLE(0.3, 1, 0.4, 3, -1.2, 0.3, 2.9, -1, 0.1, 2, 3, -1, 0, 1, -0.2, 0, 0.3));

FORCE(joint_stop, "Elastic limits of an angle about an axis between two bodies.", stop, TWIST, ELASTIC,
      .info.has_kinks = 1, PARAMETERS(LG_TRIADS, LG_STOP_PARAMETERS("N m", "rad")),
      EXAMPLE(TRIADS_EXAMPLE, 2, 0.1, 0.01, 0.02));
FORCE(slide_stop, "Elastic limits of a slide along an axis of the first of two bodies.", stop, SLIDE, ELASTIC,
      .info.has_kinks = 1, PARAMETERS(LG_SLIDE_PARAMETERS, LG_STOP_PARAMETERS("N", "m")),
      EXAMPLE(0, 0.6, 0.8, 2, 0.1, 0.01, 0.02));
FORCE(coordinate_stop, "Elastic limits of the coordinate of a joint of a tree.", stop, TREE, ELASTIC,
      .info.has_kinks = 1, PARAMETERS(LG_STOP_PARAMETERS("(N m or N)", "(rad or m)")), EXAMPLE(2, 0.1, 0.01, 0.02));
