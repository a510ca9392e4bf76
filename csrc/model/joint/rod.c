/* The edge of a Cosserat rod between two nodes, a joint with compliance: its rows in the table of joints. */
#include "model/joint/rod_rows.h"
#include "model/joint/rod_tangent.h"
#include "model/share.h"
#include "model/triad.h"

static const lg_parameter parameters[] = {
    LG_TRIAD("axes_a", LG_FIRST_AXES, "directors of the section on the first body; columns d1 d2 d3"),
    LG_TRIAD("axes_b", LG_SECOND_AXES, "directors of the section on the second body; columns d1 d2 d3"),
    {"length", "m", "length of the unstrained edge", LG_SCALAR, .valid = LG_POSITIVE},
    {"stiffness", "N, N m, N m^2", "matrix C of the section", LG_MATRIX(6, 6), .valid = LG_SEMIDEFINITE,
     .quadratic = 1},
    {"damping", "N s, N m^2 s", "diagonal of C_d", LG_VECTOR(6), .valid = LG_NONNEGATIVE, .quadratic = 1},
    LG_SOURCE_PARAMETERS("1, 1/m", "six reference strains"),
};

/* clang-format off */
static const double example[] = {
    0.48, 0.64, 0.6, -0.8, 0.6, 0, -0.36, -0.48, 0.8,   0.6, -0.8, 0, 0.8, 0.6, 0, 0, 0, 1,   1.25,
    5, 0.1, 0.2, 0, 0.3, 0,     0.1, 4, 0, 0.2, 0, 0.1,       0.2, 0, 6, 0, 0.1, 0.4,
    0, 0.2, 0, 2, 0.3, 0.5,     0.3, 0, 0.1, 0.3, 3, 0.2,     0, 0.1, 0.4, 0.5, 0.2, 2.5,
    0.3, 0.2, 0.4, 0.1, 0.15, 0.25,   0,   0.1, -0.2, 1.1, 0.3, 0.2, -0.4};
/* clang-format on */

/* Whether the reference of the constrained strains is constant; a function may change it, and gives its derivatives. */
static int holds_constraints(const lg_element *e)
{
    const double *value = e->p + DATA;
    int length = e->p[SOURCE] == LG_SOURCE_TABLE ? (int)*value : 0;
    value += 1 + length;
    for (int i = 1; i < length; i++)
        for (int k = 0; k < e->info->nrows; k++)
            if (value[6 * i + k] != value[k])
                return 0;
    return 1;
}

static lg_status check(const lg_element *e, const char **reason)
{
    LG_TRY(lg_source_check(e, SOURCE, 6, reason));
    *reason = "a table cannot change the reference of a constrained strain";
    return holds_constraints(e) ? LG_OK : LG_BAD_ARGUMENT;
}

static double next_kink(const lg_element *e, double t)
{
    return lg_source_next_kink(e, SOURCE, t);
}

/* ---- evaluation ---- */

static inline void rod_add_wrenches(const lg_strained *k, double sign, const double s[6], lg_pose *const pose[2],
                                    int sum)
{
    double nine[9], force[3], moment[3], *a = pose[0]->wrench[sum], *b = pose[1]->wrench[sum];
    lg_screw_forces(&k->m, s, nine);
    lg_mul3(k->m.d[0], nine, force);
    for (int i = 0; i < 3; i++)
        a[i] -= sign * force[i], b[i] += sign * force[i];
    for (int end = 0; end < 2; end++) {
        lg_screw_out(k->m.axes[end], nine + 3 + 3 * end, moment);
        lg_axpy(3, sign, moment, pose[end]->wrench[sum] + 3);
    }
}

/* Multipliers as a stress. */
static void constraint_stress(const lg_joint *joint, const lg_point *at, double s[6])
{
    double all[LG_MAX_ROWS];
    const double *lam = lg_joint_multipliers(joint, at->lam + joint->row, all);
    lg_zero(6, s);
    lg_copy(joint->e.info->nrows, lam, s);
}

/* The strain once, for the force, the rows and their tangent, of which the compiler knows what is not wanted.
   `at_rest`: strains that are given stand still. */
static LG_INLINE lg_status add_edge(const lg_joint *joint, const lg_point *at, const lg_wanted *want, int at_rest,
                                    int forces, int rows, int tangent)
{
    const lg_element *e = &joint->e;
    lg_pose *pose[2] = {lg_pose_of(e->frame[0], at), lg_pose_of(e->frame[1], at)};
    const lg_pose *const *seen = (const lg_pose *const *)pose;
    int damped = forces && lg_edge_damped(e);
    double s[6] = {0}, lam[6] = {0};
    lg_strained k;
    int known = at->same_q && joint->nrows; // the rows were there
    LG_TRY(lg_edge_open(e, seen, at, (lg_relation *)(void *)(at->work + joint->work), known, &k));
    rows = rows && joint->nrows;
    if (rows || tangent || damped)
        lg_screw_open_operator(&k.m);
    if (at_rest)
        lg_zero(12, k.changing + 6);
    if (damped || (rows && (want->phidot || want->zeta || want->Z)))
        lg_screw_open_motion(seen, &k.m);
    if (damped)
        lg_screw_open_rate(&k.m);
    if (forces) {
        lg_edge_set_stress(e, &k, damped, s);
        rod_add_wrenches(&k, -1, s, pose, LG_FORCES);
    }
    if (rows)
        lg_edge_write_rows(joint, &k, at, seen, want);
    if (rows && at->lam && (want->Btlam || tangent)) {
        constraint_stress(joint, at, lam);
        rod_add_wrenches(&k, 1, lam, pose, LG_REACTIONS);
    }
    if (tangent) {
        lg_arms arms;
        lg_arms_open(e, at, &arms);
        lg_axpy(6, 1, lam, s);
        lg_edge_tangent(joint, &k, &arms, s, at, want);
    }
    return LG_OK;
}

static lg_status add_forces(lg_joints joints, const lg_point *at, const lg_wanted *want)
{
    for (const lg_joint *joint = joints.first; joint < joints.end; joint++)
        LG_TRY(add_edge(joint, at, want, 0, 1, 0, 0));
    return LG_OK;
}

static lg_status rod_add_rows(lg_joints joints, const lg_point *at, const lg_wanted *want)
{
    for (const lg_joint *joint = joints.first; joint < joints.end; joint++)
        if (joint->nrows)
            LG_TRY(add_edge(joint, at, want, 0, 0, 1, 0));
    return LG_OK;
}

static inline lg_status add_all(lg_joints joints, const lg_point *at, const lg_wanted *want, int at_rest)
{
    int tangent = lg_wants_slopes(want), forces = want->force || tangent;
    for (const lg_joint *joint = joints.first; joint < joints.end; joint++)
        if (forces || joint->nrows)
            LG_TRY(add_edge(joint, at, want, at_rest, forces, 1, tangent));
    return LG_OK;
}

/* Explicit methods ask for the forces and the rows one after the other. */
static lg_status all(lg_joints joints, const lg_point *at, const lg_wanted *want)
{
    if (lg_wants_slopes(want))
        return add_all(joints, at, want, 0);
    if (!want->force)
        return rod_add_rows(joints, at, want);
    if (!(want->Btlam || want->phi || want->phidot || want->zeta || want->B || want->Z))
        return add_forces(joints, at, want);
    return add_all(joints, at, want, 0);
}

static lg_status all_at_rest(lg_joints joints, const lg_point *at, const lg_wanted *want)
{
    return add_all(joints, at, want, 1);
}

/* ---- energy and strain ---- */

/* lg_edge_open with A and C, outside the loops over edges. */
static LG_APART lg_status open_edge(const lg_element *e, const lg_pose *const f[2], const lg_point *at, lg_relation *r,
                                    lg_strained *k)
{
    LG_TRY(lg_edge_open(e, f, at, r, 0, k));
    lg_screw_open_operator(&k->m);
    return LG_OK;
}

/* The potential, and the stress that comes from it. */
static double strain_energy(const lg_element *e, const lg_strained *k, double s[6])
{
    double difference[6];
    lg_edge_strain_difference(e, k, difference);
    lg_edge_stress(e, difference, s);
    return e->p[LENGTH] / 2 * (lg_dot3(difference, s) + lg_dot3(difference + 3, s + 3));
}

static void reverse(int linear, lg_load *load)
{
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 6; k++)
            load->w[i][k] = -load->w[i][k];
        for (int j = 0; linear && j < 2; j++)
            for (int which = 0; which < 4; which++)
                for (int k = 0; k < 9; k++) {
                    load->K[i][j].A[which][k] = -load->K[i][j].A[which][k];
                    load->D[i][j].A[which][k] = load->D[i][j].has ? -load->D[i][j].A[which][k] : 0;
                }
    }
}

static lg_status exert(const lg_joint *joint, const lg_point *at, int moving, int linear, double *V, lg_load *out)
{
    const lg_element *e = &joint->e;
    const lg_pose *f[2] = {lg_pose_of(e->frame[0], at), lg_pose_of(e->frame[1], at)};
    double s[6], nine[9];
    int damped = moving && lg_edge_damped(e);
    lg_relation r;
    lg_strained k;
    LG_TRY(open_edge(e, f, at, &r, &k));
    *V = strain_energy(e, &k, s);
    if (!out)
        return LG_OK;
    if (damped) {
        lg_screw_open_motion(f, &k.m);
        lg_screw_open_rate(&k.m);
        lg_edge_set_stress(e, &k, damped, s);
    }
    lg_zero(e->info->nrows, s);
    lg_screw_forces(&k.m, s, nine);
    lg_screw_on_frames(&k.m, nine, out->w);
    if (linear)
        lg_edge_slopes(e, &k, s, damped, out->K, out->D);
    reverse(linear, out); // the force is the negative gradient
    return LG_OK;
}

/* In a step between two states. */
static lg_status rows(const lg_element *e, const lg_pose *const f[2], const lg_point *at, const double *lam,
                      unsigned want, lg_rows *out)
{
    lg_relation r;
    lg_strained k;
    LG_TRY(open_edge(e, f, at, &r, &k));
    if (want & LG_ROWS_Z)
        lg_screw_open_motion(f, &k.m);
    lg_edge_rows(e, &k, (want & LG_ROWS_Z) != 0, out);
    if (want & LG_ROWS_K) {
        double s[6] = {0};
        lg_copy(e->info->nrows, lam, s);
        lg_edge_reaction_slopes(&k, s, out->K);
    }
    return LG_OK;
}

static lg_status strain(const lg_joint *joint, const lg_point *at, double w[6], double s[6])
{
    const lg_element *e = &joint->e;
    const lg_pose *pose[2] = {lg_pose_of(e->frame[0], at), lg_pose_of(e->frame[1], at)};
    double constrained[6];
    lg_relation r;
    lg_strained k;
    LG_TRY(open_edge(e, pose, at, &r, &k));
    lg_screw_open_motion(pose, &k.m);
    lg_screw_open_rate(&k.m);
    lg_edge_set_stress(e, &k, lg_edge_damped(e), s);
    constraint_stress(joint, at, constrained);
    for (int i = 0; i < 6; i++) {
        w[i] = r.xi[i] / e->p[LENGTH];
        s[i] += constrained[i];
    }
    return LG_OK;
}

/* ---- derivatives by stiffness and damping ---- */

static int has_share(const lg_element *e, int parameter)
{
    (void)e;
    return parameter >= STIFFNESS && parameter < SOURCE;
}

/* The rate of xi along twists of the frames, zero where the strain is constrained. */
static void rate_along(const lg_element *e, const lg_screw *of, const double *twists, double rate[6])
{
    lg_screw m = *of;
    const double *x[2] = {twists, twists + 6}, *omega[2] = {twists + 3, twists + 9};
    lg_screw_relative(&m, x, omega, m.y);
    lg_screw_open_rate(&m);
    lg_copy(6, m.xidot, rate);
    lg_zero(e->info->nrows, rate);
}

/* s . xi' with s = C (w - w0) + 2 C_d w' */
static lg_status rod_shares(const lg_joint *joint, const lg_pose *const f[2], const lg_point *at,
                            const lg_term_weights *rows, const double *twists, double *slopes)
{
    (void)rows;
    const lg_element *e = &joint->e;
    double difference[6], along[6];
    lg_relation r;
    lg_strained k;
    if (!twists)
        return LG_OK;
    LG_TRY(open_edge(e, f, at, &r, &k));
    lg_screw_open_motion(f, &k.m);
    lg_screw_open_rate(&k.m);
    lg_edge_strain_difference(e, &k, difference);
    rate_along(e, &k.m, twists, along);
    for (int i = 0; i < 6; i++) {
        lg_axpy(6, along[i], difference, slopes + STIFFNESS + 6 * i);
        slopes[DAMPING + i] = 2 / e->p[LENGTH] * k.m.xidot[i] * along[i];
    }
    return LG_OK;
}

static const lg_joint_shares shares = {.has = has_share, .write = rod_shares};

/* ---- memory ---- */

static lg_status rod_commit(const lg_element *e, const lg_pose *const f[2], const lg_point *from, const lg_point *to,
                            double *mem, lg_report *report)
{
    lg_strained k;
    LG_TRY(lg_edge_open_sections(e, f, to, &k));
    lg_screw_turn turn = {.name = e->name, .parts = "sections", .rest = "reference strain", .d = k.m.d};
    for (int end = 0; end < 2; end++)
        lg_screw_into(k.m.axes[end], f[end]->omega, k.m.y + 3 + 3 * end);
    lg_edge_reference_turn(e, &k, turn.reference);
    lg_screw_turn_rate(&k.m, turn.rate);
    return from ? lg_screw_turn_step(&turn, to->t - from->t, mem, report) : lg_screw_turn_start(&turn, mem, report);
}

static const char *rod_row_label(const lg_element *e, int row)
{
    static const char *const labels[] = {"shear along d1",   "shear along d2",   "stretch along d3",
                                         "bending about d1", "bending about d2", "torsion about d3"};
    (void)e;
    return labels[row];
}

/* ---- the rows ---- */

static int is_identity(const double A[9])
{
    for (int i = 0; i < 9; i++)
        if (A[i] != (i % 4 == 0))
            return 0;
    return 1;
}

static int is_diagonal(const double C[36])
{
    for (int i = 0; i < 36; i++)
        if (C[i] != 0 && i % 7 != 0)
            return 0;
    return 1;
}

static unsigned traits(const lg_element *e)
{
    unsigned found = is_diagonal(e->p + STIFFNESS) ? LG_EDGE_DIAGONAL : 0;
    for (int end = 0; end < 2; end++)
        if (is_identity(e->p + AXES + 9 * end))
            found |= LG_EDGE_OWN_AXES << end;
    for (int i = 0; i < 6; i++)
        if (e->p[DAMPING + i] != 0)
            found |= LG_DAMPED;
    return found;
}

static const lg_compliance compliance = {.exert = exert, .traits = traits, .strain = strain};
static const lg_element_memory memory = {.commit = rod_commit};
static const lg_joint_type at_rest = {.all = all_at_rest};

/* The first n strains are constrained. */
#define EDGE(title, n, text)                                                                                           \
    {                                                                                                                  \
        .info = {.family = "joint",                                                                                    \
                 .name = title,                                                                                        \
                 .doc = text,                                                                                          \
                 .reference = "tumiotto2024, Sect. 4",                                                                 \
                 .nframes = 2,                                                                                         \
                 .nrows = n,                                                                                           \
                 .nmem = LG_SCREW_MEMORY,                                                                              \
                 .parameters = parameters,                                                                             \
                 .nparameters = 7,                                                                                     \
                 .example = example,                                                                                   \
                 .nexample = sizeof example / sizeof *example},                                                        \
        .in = {[LG_FORM_STATICS] = &at_rest},                                                                          \
        .nwork = sizeof(lg_relation) / sizeof(double),                                                                 \
        .check = check,                                                                                                \
        .rows = rows,                                                                                                  \
        .all = all,                                                                                                    \
        .next_kink = next_kink,                                                                                        \
        .row_label = rod_row_label,                                                                                    \
        .compliance = &compliance,                                                                                     \
        .shares = &shares,                                                                                             \
        .memory = &memory,                                                                                             \
    }

const lg_joint_type lg_edge = EDGE("edge", 0, "An edge of a rod, elastic in shear, stretch, bending and torsion.");
const lg_joint_type lg_kirchhoff_edge = EDGE("kirchhoff_edge", 2, "An edge of a rod without shear.");
const lg_joint_type lg_inextensible_edge =
    EDGE("inextensible_edge", 3, "An edge of a rod without shear and of constant length.");
