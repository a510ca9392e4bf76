/* Prescribed motions of a coordinate s, the angle or the slide of a joint: phi = s_d(t) - s, so that the multiplier is
   the effort of an actuator, the torque about the axis or the force along it on the second body. */
#include "model/desired.h"
#include "model/force/coordinate.h"
#include "model/joint/coordinate.h"

enum { ANGLE_MOTION = 18, SLIDE_MOTION = 3 }; /* indices of the parameters */

#define MOTION(UNIT)                                                                                                   \
    {"motion", "s, " UNIT ", " UNIT "/s, " UNIT "/s^2",                                                                \
     "pieces of the motion: begin, coordinate, rate, second rate; with a function, times at which it kinks", LG_REST}

static const lg_parameter angle_parameters[] = {LG_TRIADS, MOTION("rad")};
static const lg_parameter slide_parameters[] = {LG_SLIDE_PARAMETERS, MOTION("m")};

static const double *angle_triads(const lg_element *e)
{
    return e->p;
}

static int is_slide(const lg_element *e)
{
    return e->info->nmem == 0;
}

static const double *motion_of(const lg_element *e)
{
    return e->p + (is_slide(e) ? SLIDE_MOTION : ANGLE_MOTION);
}

static lg_status motion_check(const lg_element *e, const char **reason)
{
    return lg_desired_check(e, motion_of(e), reason);
}

static lg_status motion_rows(const lg_element *e, const lg_pose *const f[2], const lg_point *at, const double *lam,
                             unsigned want, lg_rows *out)
{
    double motion[3];
    LG_TRY(lg_desired(e, motion_of(e), at, motion));
    (is_slide(e) ? lg_slide_row : lg_angle_row)(e, f, at, motion, 1, lam, want, out);
    return LG_OK;
}

static void motion_jets(const lg_element *e, const lg_frame_jet f[2], lg_wrench_jet (*out)[2])
{
    (is_slide(e) ? lg_slide_jets : lg_angle_jets)(e, 1, f, *out);
}

static lg_status motion_at_rest_all(lg_joints joints, const lg_point *at, const lg_wanted *want)
{
    for (const lg_joint *joint = joints.first; joint < joints.end; joint++)
        LG_TRY(lg_joint_add(joint->type, joint, at, want));
    return LG_OK;
}

/* phidot also has the rate of the motion. */
static lg_status motion_all(lg_joints joints, const lg_point *at, const lg_wanted *want)
{
    double motion[3];
    LG_TRY(motion_at_rest_all(joints, at, want));
    for (const lg_joint *joint = joints.first; want->phidot && joint < joints.end; joint++)
        if (joint->nrows) {
            LG_TRY(lg_desired(&joint->e, motion_of(&joint->e), at, motion));
            want->phidot[joint->row] += motion[1];
        }
    return LG_OK;
}

static double motion_next_kink(const lg_element *e, double t)
{
    return lg_desired_next_kink(e, motion_of(e), t);
}

static const char *motion_row_label(const lg_element *e, int row)
{
    (void)row;
    return is_slide(e) ? "slide" : "angle";
}

static lg_status motion_continuous(const lg_element *e, double begin, double end, lg_report *report)
{
    return lg_course_continuous(&(lg_course){.e = e, .n = 1}, begin, end, report);
}

static const lg_joint_type at_rest = {.all = motion_at_rest_all};
static const lg_element_memory angle_memory = {.triads = angle_triads};

#define ROW(NAME, DOC, ...)                                                                                            \
    const lg_joint_type lg_##NAME##_motion = {                                                                         \
        .info = {.family = "joint",                                                                                    \
                 .name = #NAME "_motion",                                                                              \
                 .doc = (DOC),                                                                                         \
                 .reference = "docs/control",                                                                          \
                 .nframes = 2,                                                                                         \
                 .nrows = 1,                                                                                           \
                 .continuous = motion_continuous,                                                                      \
                 .parameters = NAME##_parameters,                                                                      \
                 .nparameters = sizeof NAME##_parameters / sizeof *NAME##_parameters},                                 \
        .in = {[LG_FORM_STATICS] = &at_rest},                                                                          \
        .check = motion_check,                                                                                         \
        .rows = motion_rows,                                                                                           \
        .jets = motion_jets,                                                                                           \
        .all = motion_all,                                                                                             \
        .next_kink = motion_next_kink,                                                                                 \
        .row_label = motion_row_label,                                                                                 \
        __VA_ARGS__}

ROW(angle, "A prescribed angle about the axis between two bodies.", .info.nmem = 1, .memory = &angle_memory);
ROW(slide, "A prescribed slide along an axis of the first of two bodies.");
