/* Couplings of joints: sum c_i s_i = r over coordinates s_i, angles or slides. Each term is an element between the
   frames of its joint, with phi_i = r_i - c_i s_i, and the row of the coupling is the sum of its terms: the first one
   has the row, and the others, which follow it in the description, add to it. The multiplier times c_i is the effort in
   joint i, the torque about the axis or the force along it on the second body. */
#include "model/force/coordinate.h"
#include "model/joint/coordinate.h"

enum { FACTOR, OFFSET, SHARES, OWN }; /* the last parameters */

#define TERM                                                                                                           \
    {"factor", "any", "coefficient of the coordinate in the sum", LG_SCALAR, .quadratic = 1},                          \
        {"offset", "any", "value of the sum, in the first term", LG_SCALAR, .initially = LG_ZERO, .quadratic = 1},     \
        {"row",                                                                                                        \
         "",                                                                                                           \
         "whether the term has a row of its own or adds to that of the term before it",                                \
         LG_SCALAR,                                                                                                    \
         .valid = LG_CHOICE,                                                                                           \
         .initially = LG_ZERO,                                                                                         \
         .choices = "own|shared"}

static const lg_parameter angle_parameters[] = {LG_TRIADS, TERM};
static const lg_parameter slide_parameters[] = {LG_SLIDE_PARAMETERS, TERM};

static const double *own(const lg_element *e)
{
    return e->p + e->np - OWN;
}

static const double *angle_triads(const lg_element *e)
{
    return e->p;
}

static int is_slide(const lg_element *e)
{
    return e->info->nmem == 0;
}

static lg_status term_check(const lg_element *e, const char **reason)
{
    if (own(e)[FACTOR] != 0)
        return LG_OK;
    *reason = "a factor that is not zero expected";
    return LG_BAD_ARGUMENT;
}

static lg_status term_rows(const lg_element *e, const lg_pose *const f[2], const lg_point *at, const double *lam,
                           unsigned want, lg_rows *out)
{
    const double r[3] = {own(e)[OFFSET], 0, 0};
    (is_slide(e) ? lg_slide_row : lg_angle_row)(e, f, at, r, own(e)[FACTOR], lam, want, out);
    return LG_OK;
}

static void term_jets(const lg_element *e, const lg_frame_jet f[2], lg_wrench_jet (*out)[2])
{
    (is_slide(e) ? lg_slide_jets : lg_angle_jets)(e, own(e)[FACTOR], f, *out);
}

/* The terms of a row write it one after the other. */
static lg_status term_all(lg_joints joints, const lg_point *at, const lg_wanted *want)
{
    double *const out[] = {want->phi, want->phidot, want->zeta};
    for (const lg_joint *joint = joints.first; joint < joints.end; joint++) {
        double before[3];
        for (int i = 0; i < 3; i++)
            before[i] = out[i] && joint->adds_row ? out[i][joint->row] : 0;
        LG_TRY(lg_joint_add(joint->type, joint, at, want));
        for (int i = 0; i < 3; i++)
            if (out[i])
                out[i][joint->row] += before[i];
    }
    return LG_OK;
}

static const char *coupling_row_label(const lg_element *e, int row)
{
    (void)e, (void)row;
    return "sum";
}

static const lg_element_memory angle_memory = {.triads = angle_triads};

#define ROW(NAME, DOC, ...)                                                                                            \
    const lg_joint_type lg_##NAME##_coupling = {                                                                       \
        .info = {.family = "joint",                                                                                    \
                 .name = #NAME "_coupling",                                                                            \
                 .doc = (DOC),                                                                                         \
                 .reference = "docs/mechanics",                                                                        \
                 .nframes = 2,                                                                                         \
                 .nrows = 1,                                                                                           \
                 .continues = 1,                                                                                       \
                 .parameters = NAME##_parameters,                                                                      \
                 .nparameters = sizeof NAME##_parameters / sizeof *NAME##_parameters},                                 \
        .check = term_check,                                                                                           \
        .rows = term_rows,                                                                                             \
        .jets = term_jets,                                                                                             \
        .all = term_all,                                                                                               \
        .row_label = coupling_row_label,                                                                               \
        __VA_ARGS__}

ROW(angle, "A term of a coupling of joints: an angle about the axis between two bodies.", .info.nmem = 1,
    .memory = &angle_memory);
ROW(slide, "A term of a coupling of joints: a slide along an axis of the first of two bodies.");
