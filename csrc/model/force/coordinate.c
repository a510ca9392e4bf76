/* Forces on one scalar coordinate: an angle or a slide between two bodies (coordinate.h), or the coordinate of the
   tree's joint that holds the link under the frame. Each row combines a coordinate with a law of drive.h. */
#include "model/force/coordinate.h"

#include "model/body/body.h"
#include "model/force/drive.h"
#include "model/source.h"

/* The check of a law, and that a force with one frame is on a tree. */
static lg_status check_tree(const lg_element *e, const char **reason)
{
    *reason = "a drive on a coordinate needs a joint of a tree";
    const lg_body *b = e->frame[0]->body;
    return b->type->tree && b->type->tree->coordinate(b, e->frame[0]->part) >= 0 ? LG_OK : LG_BAD_ARGUMENT;
}

static lg_status check_tree_drive(const lg_element *e, const char **reason)
{
    LG_TRY(check_tree(e, reason));
    return lg_drive_check(e, reason);
}

static lg_status check_tree_saturated(const lg_element *e, const char **reason)
{
    return check_tree_drive(e, reason);
}

static lg_status check_tree_outside(const lg_element *e, const char **reason)
{
    LG_TRY(check_tree(e, reason));
    return lg_outside_check(e, reason);
}

static lg_status check_tree_effort(const lg_element *e, const char **reason)
{
    LG_TRY(check_tree(e, reason));
    return lg_effort_check(e, reason);
}

static lg_status check_tree_spring(const lg_element *e, const char **reason)
{
    LG_TRY(check_tree(e, reason));
    return lg_spring_check(e, reason);
}

static lg_status check_tree_stop(const lg_element *e, const char **reason)
{
    LG_TRY(check_tree(e, reason));
    return lg_stop_check(e, reason);
}

static lg_status check_tree_load(const lg_element *e, const char **reason)
{
    LG_TRY(check_tree(e, reason));
    return lg_load_check(e, reason);
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

static inline lg_status exert_on_coordinate(const lg_coordinate_type *type, lg_law_rule *rule, const lg_element *e,
                                            const lg_pose *const f[2], const lg_point *point, int linear, lg_load *out)
{
    lg_coordinate at;
    double law[3];
    type->open(e, f, point, &at);
    LG_TRY(rule(e, point, at.s, at.rate, linear, law));
    lg_zero(12, out->w[0]);
    lg_axpy(12, law[0], at.u[0], out->w[0]);
    if (linear)
        add_slopes(type, e, f, &at, law, out);
    return LG_OK;
}

static double tree_coordinate(const lg_element *e, const lg_point *at)
{
    const lg_body *b = e->frame[0]->body;
    return at->q[b->block->q + b->type->tree->coordinate(b, e->frame[0]->part)];
}

static double tree_spring_potential(const lg_element *e, const lg_pose *const f[2], const lg_point *at)
{
    (void)f;
    return lg_spring_energy(e, tree_coordinate(e, at));
}

static double tree_stop_potential(const lg_element *e, const lg_pose *const f[2], const lg_point *at)
{
    (void)f;
    return lg_stop_energy(e, tree_coordinate(e, at));
}

static const double *angle_triads(const lg_element *e)
{
    return e->p;
}

static const lg_element_memory angle_memory = {.triads = angle_triads};

/* ---- the rows: a coordinate with a law ---- */

#define WRENCHES(COORDINATE, LAW)                                                                                      \
    static lg_status COORDINATE##_##LAW(const lg_element *e, const lg_pose *const f[2], const lg_point *at,            \
                                        int linear, lg_load *out)                                                      \
    {                                                                                                                  \
        return exert_on_coordinate(&lg_coordinate_##COORDINATE, lg_##LAW##_law, e, f, at, linear, out);                \
    }

WRENCHES(angle, drive)
WRENCHES(angle, drive_at_rest)
WRENCHES(angle, saturated)
WRENCHES(angle, saturated_at_rest)
WRENCHES(angle, load)
WRENCHES(angle, outside)
WRENCHES(angle, effort)
WRENCHES(slide, drive)
WRENCHES(slide, drive_at_rest)
WRENCHES(slide, saturated)
WRENCHES(slide, saturated_at_rest)
WRENCHES(slide, load)
WRENCHES(slide, outside)
WRENCHES(slide, effort)

WRENCHES(twist, spring)
WRENCHES(slide, spring)
WRENCHES(twist, stop)
WRENCHES(slide, stop)
WRENCHES(distance, spring)
WRENCHES(distance, pull)

/* The potential of a spring or a stop. */
#define POTENTIAL(COORDINATE, LAW)                                                                                     \
    static double COORDINATE##_##LAW##_potential(const lg_element *e, const lg_pose *const f[2],                       \
                                                 const lg_point *point)                                                \
    {                                                                                                                  \
        lg_coordinate at;                                                                                              \
        lg_coordinate_##COORDINATE.open(e, f, point, &at);                                                             \
        return lg_##LAW##_energy(e, at.s);                                                                             \
    }

POTENTIAL(twist, spring)
POTENTIAL(twist, stop)
POTENTIAL(slide, spring)
POTENTIAL(slide, stop)
POTENTIAL(distance, spring)

static const lg_force_type angle_at_rest = {.wrenches = angle_drive_at_rest};
static const lg_force_type slide_at_rest = {.wrenches = slide_drive_at_rest};
static const lg_force_type tree_at_rest = {.coordinate = lg_drive_at_rest_law};

static const lg_parameter joint_drive_parameters[] = {LG_TRIADS, LG_DRIVE_PARAMETERS("N m", "rad")};
static const lg_force_type angle_saturated_rest = {.wrenches = angle_saturated_at_rest};
static const lg_force_type slide_saturated_rest = {.wrenches = slide_saturated_at_rest};
static const lg_force_type tree_saturated_rest = {.coordinate = lg_saturated_at_rest_law};

static const lg_parameter joint_saturated_parameters[] = {LG_TRIADS, LG_LIMIT_PARAMETER("N m"),
                                                          LG_DRIVE_PARAMETERS("N m", "rad")};
static const lg_parameter slide_saturated_parameters[] = {LG_SLIDE_PARAMETERS, LG_LIMIT_PARAMETER("N"),
                                                          LG_DRIVE_PARAMETERS("N", "m")};
static const lg_parameter coordinate_saturated_parameters[] = {LG_LIMIT_PARAMETER("N m or N"),
                                                               LG_DRIVE_PARAMETERS("(N m or N)", "(rad or m)")};
static const lg_parameter joint_load_parameters[] = {LG_TRIADS, LG_SOURCE_PARAMETERS("N m", "one value")};
static const lg_parameter joint_law_parameters[] = {LG_TRIADS};
static const lg_parameter joint_effort_parameters[] = {LG_TRIADS, LG_CONTROL_VALUE};
static const lg_parameter slide_drive_parameters[] = {LG_SLIDE_PARAMETERS, LG_DRIVE_PARAMETERS("N", "m")};
static const lg_parameter slide_load_parameters[] = {LG_SLIDE_PARAMETERS, LG_SOURCE_PARAMETERS("N", "one value")};
static const lg_parameter slide_law_parameters[] = {LG_SLIDE_PARAMETERS};
static const lg_parameter slide_effort_parameters[] = {LG_SLIDE_PARAMETERS, LG_CONTROL_VALUE};
static const lg_parameter coordinate_drive_parameters[] = {LG_DRIVE_PARAMETERS("(N m or N)", "(rad or m)")};
static const lg_parameter coordinate_effort_parameters[] = {LG_CONTROL_VALUE};
static const lg_parameter coordinate_load_parameters[] = {LG_SOURCE_PARAMETERS("N m or N", "one value")};

static const lg_parameter joint_spring_parameters[] = {LG_TRIADS, LG_SPRING_PARAMETERS("N m", "rad")};
static const lg_parameter slide_spring_parameters[] = {LG_SLIDE_PARAMETERS, LG_SPRING_PARAMETERS("N", "m")};
static const lg_parameter coordinate_spring_parameters[] = {LG_SPRING_PARAMETERS("(N m or N)", "(rad or m)")};
static const lg_parameter distance_spring_parameters[] = {LG_SPRING_PARAMETERS("N", "m")};

static const lg_parameter joint_stop_parameters[] = {LG_TRIADS, LG_STOP_PARAMETERS("N m", "rad")};
static const lg_parameter slide_stop_parameters[] = {LG_SLIDE_PARAMETERS, LG_STOP_PARAMETERS("N", "m")};
static const lg_parameter coordinate_stop_parameters[] = {LG_STOP_PARAMETERS("(N m or N)", "(rad or m)")};

static const double joint_stop_example[] = {0.48, 0.64, 0.6, -0.8, 0.6, 0, -0.36, -0.48, 0.8, 0.6,  -0.8,
                                            0,    0.8,  0.6, 0,    0,   0, 1,     2,     0.1, 0.01, 0.02};
static const double slide_stop_example[] = {0, 0.6, 0.8, 2, 0.1, 0.01, 0.02};
static const double coordinate_stop_example[] = {2, 0.1, 0.01, 0.02};

#define CURVES_EXAMPLE 3, -1, 0.2, 1.5, -2, 0.1, 4, 3, -1, 0, 1, -0.2, 0, 0.3
static const double joint_spring_example[] = {0.48, 0.64, 0.6, -0.8, 0.6, 0, -0.36, -0.48, 0.8, 0.6, -0.8,
                                              0,    0.8,  0.6, 0,    0,   0, 1,     0.3,   2,   0.4, CURVES_EXAMPLE};
static const double slide_spring_example[] = {0, 0.6, 0.8, 0.3, 2, 0.4, CURVES_EXAMPLE};
static const double coordinate_spring_example[] = {0.3, 2, 0.4, CURVES_EXAMPLE};
static const double distance_spring_example[] = {0.3, 1, 0.4, 3, -1.2, 0.3, 2.9, -1, 0.1, 2, 3, -1, 0, 1, -0.2, 0, 0.3};

static const double joint_load_example[] = {1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 3};
static const double slide_load_example[] = {0, 0, 1, LG_SOURCE_CONSTANT, 3};
static const double coordinate_load_example[] = {LG_SOURCE_CONSTANT, 3};

#define PARAMETERS(NAME)                                                                                               \
    .info.parameters = NAME##_parameters, .info.nparameters = sizeof NAME##_parameters / sizeof *NAME##_parameters

#define BETWEEN(COORDINATE, LAW)                                                                                       \
    .info.nframes = 2, .sees = LG_SEES_POSE, .needs_twists = 1, .couples = lg_element_between,                         \
    .check = lg_##LAW##_check, .wrenches = COORDINATE##_##LAW
#define TWIST(LAW) BETWEEN(twist, LAW), .info.nmem = 1, .memory = &angle_memory, .potential = twist_##LAW##_potential
#define DISTANCE(LAW, CHECK)                                                                                           \
    .info.nframes = 2, .sees = LG_SEES_DISTANCE, .needs_twists = 1, .couples = lg_element_between,                     \
    .on_point = lg_element_on_point, .check = CHECK, .wrenches = distance_##LAW
#define ANGLE(LAW) BETWEEN(angle, LAW), .info.nmem = 1, .memory = &angle_memory
#define SLIDE(LAW) BETWEEN(slide, LAW)
#define TREE(LAW) .info.nframes = 1, .check = check_tree_##LAW, .coordinate = lg_##LAW##_law

#define DRIVE(AT_REST)                                                                                                 \
    .info.reference = "holzinger2024 4.4", .info.continuous = lg_drive_continuous,                                     \
    .in = {[LG_FORM_STATICS] = &(AT_REST)}, .next_kink = lg_drive_next_kink
#define EFFORT .info.reference = "docs/control", .info.uses_control = 1
#define LOAD(NAME)                                                                                                     \
    PARAMETERS(NAME), .info.reference = "holzinger2024 (9)", .info.example = NAME##_example,                           \
                      .info.nexample = sizeof NAME##_example / sizeof *NAME##_example, .next_kink = lg_load_next_kink
#define SPRING(NAME)                                                                                                   \
    PARAMETERS(NAME), .info.reference = "docs/forces", .info.example = NAME##_example,                                 \
                      .info.nexample = sizeof NAME##_example / sizeof *NAME##_example
#define OUTSIDE .info.reference = "holzinger2024 (9)", .info.uses_law = 1

#define FORCE(NAME, DOC, ...)                                                                                          \
    const lg_force_type lg_##NAME = {                                                                                  \
        .info.family = "force", .info.name = #NAME, .info.doc = (DOC), .conserves = 1, __VA_ARGS__}

FORCE(joint_drive, "A constant torque and a controlled angle about the axis between two bodies.", ANGLE(drive),
      DRIVE(angle_at_rest), PARAMETERS(joint_drive));
FORCE(joint_law, "A torque about the axis between two bodies, a function of time, angle and rate.", ANGLE(outside),
      OUTSIDE, PARAMETERS(joint_law));
FORCE(joint_effort, "A torque about the axis between two bodies, a value of a control.", ANGLE(effort), EFFORT,
      PARAMETERS(joint_effort));
FORCE(joint_load, "A given torque about the axis between two bodies.", ANGLE(load), LOAD(joint_load));
FORCE(slide_load, "A given force along an axis of the first of two bodies.", SLIDE(load), LOAD(slide_load));
FORCE(coordinate_load, "A given torque (or force) in a joint of a tree.", TREE(load), LOAD(coordinate_load));
FORCE(slide_drive, "A constant force and a controlled slide along an axis of the first of two bodies.", SLIDE(drive),
      DRIVE(slide_at_rest), PARAMETERS(slide_drive));
FORCE(slide_law, "A force along an axis of the first of two bodies, a function of time, slide and rate.",
      SLIDE(outside), OUTSIDE, PARAMETERS(slide_law));
FORCE(slide_effort, "A force along an axis of the first of two bodies, a value of a control.", SLIDE(effort), EFFORT,
      PARAMETERS(slide_effort));
FORCE(coordinate_drive, "A constant torque (or force) and a controlled coordinate in a joint of a tree.", TREE(drive),
      DRIVE(tree_at_rest), PARAMETERS(coordinate_drive));
FORCE(coordinate_law, "A torque (or force) in a joint of a tree, a function of time, coordinate and rate.",
      TREE(outside), OUTSIDE);
FORCE(coordinate_effort, "A torque (or force) in a joint of a tree, a value of a control.", TREE(effort), EFFORT,
      PARAMETERS(coordinate_effort));
FORCE(joint_spring, "A spring and damper about an axis between two bodies.", TWIST(spring), SPRING(joint_spring));
FORCE(slide_spring, "A spring and damper along an axis of the first of two bodies.", SLIDE(spring),
      .potential = slide_spring_potential, SPRING(slide_spring));
FORCE(coordinate_spring, "A spring and damper in a joint of a tree.", TREE(spring), .potential = tree_spring_potential,
      SPRING(coordinate_spring));
FORCE(joint_stop, "Elastic limits of an angle about an axis between two bodies.", TWIST(stop), SPRING(joint_stop));
FORCE(slide_stop, "Elastic limits of a slide along an axis of the first of two bodies.", SLIDE(stop),
      .potential = slide_stop_potential, SPRING(slide_stop));
FORCE(coordinate_stop, "Elastic limits of the coordinate of a joint of a tree.", TREE(stop),
      .potential = tree_stop_potential, SPRING(coordinate_stop));
FORCE(distance_spring, "A spring and damper along the line between two points, by curves.",
      DISTANCE(spring, lg_spring_check), .potential = distance_spring_potential, SPRING(distance_spring));
FORCE(distance_law, "A force that pulls two points together, a function of time, length and rate.",
      DISTANCE(pull, lg_outside_check), OUTSIDE);
FORCE(joint_saturated_drive, "A drive about the axis between two bodies whose torque is limited.", ANGLE(saturated),
      DRIVE(angle_saturated_rest), PARAMETERS(joint_saturated));
FORCE(slide_saturated_drive, "A drive along an axis of the first of two bodies whose force is limited.",
      SLIDE(saturated), DRIVE(slide_saturated_rest), PARAMETERS(slide_saturated));
FORCE(coordinate_saturated_drive, "A drive in a joint of a tree whose torque (or force) is limited.", TREE(saturated),
      DRIVE(tree_saturated_rest), PARAMETERS(coordinate_saturated));
