/* Drives on a coordinate of a tree: that of the joint that holds the link under the frame. */
#include "model/body/body.h"
#include "model/force/drive.h"

static const lg_parameter parameters[] = {LG_DRIVE_PARAMETERS("(N m or N)", "(rad or m)")};

static lg_status check_place(const lg_element *e, const char **reason)
{
    *reason = "a drive on a coordinate needs a joint of a tree";
    return e->frame[0]->body->type->transmit ? LG_OK : LG_BAD_ARGUMENT;
}

static lg_status check_drive(const lg_element *e, const char **reason)
{
    LG_TRY(check_place(e, reason));
    return lg_drive_check(e, 0, reason);
}

static lg_status check_law(const lg_element *e, const char **reason)
{
    LG_TRY(check_place(e, reason));
    return lg_outside_check(e, reason);
}

static lg_status drive(const lg_element *e, const lg_point *at, double q, double v, int linear, double law[3])
{
    (void)linear;
    lg_drive_law(e, 0, at, q, v, law);
    return LG_OK;
}

static lg_status drive_at_rest(const lg_element *e, const lg_point *at, double q, double v, int linear, double law[3])
{
    (void)linear;
    lg_drive_law_at_rest(e, 0, at, q, v, law);
    return LG_OK;
}

static double next_kink(const lg_element *e, double t)
{
    return lg_drive_next_kink(e, 0, t);
}

static const lg_force_type at_rest = {.coordinate = drive_at_rest};

const lg_force_type lg_coordinate_drive = {
    .in = {[LG_FORM_STATICS] = &at_rest},
    .info = {.family = "force",
             .name = "coordinate_drive",
             .doc = "A constant torque (or force) and a controlled coordinate in a joint of a tree.",
             .reference = "holzinger2024 4.4",
             .nframes = 1,
             .parameters = parameters,
             .nparameters = 4},
    .check = check_drive,
    .coordinate = drive,
    .conserves = lg_force_conserves,
    .next_kink = next_kink,
};

const lg_force_type lg_coordinate_law = {
    .info = {.family = "force",
             .name = "coordinate_law",
             .doc = "A torque (or force) in a joint of a tree, a function of time, coordinate and rate.",
             .reference = "holzinger2024 (9)",
             .nframes = 1},
    .check = check_law,
    .coordinate = lg_outside_law,
    .conserves = lg_force_conserves,
    .uses_law = 1,
};
