/* The edge of a Cosserat rod between two nodes: a joint with compliance (tumiotto2024, Sect. 4). Its first two or three strains may
   be constrained, which gives rows; the others give stress.

   With the sections' poses g_a, g_b in SE(3), their twists v_a, v_b in section axes, linear before angular, the length
   ds, T^-1 as in semidirect.h and T_+ = T^-1(xi), T_- = T^-1(-xi):

       strain    w  = xi/ds,   xi = log(g_a^-1 g_b), the short way
       its rate  w' = xi'/ds,  xi' = T_+ v_b - T_- v_a
       stress    s  = C (w - w0(t)) + 2 C_d w',  0 where the strain is constrained
       potential V  = ds/2 (w - w0)^T C (w - w0), constrained strains left out
       rows      phi_k = xi_k - ds w0_k(t)
       wrenches  T_-^T s on a,  -T_+^T s on b

   Order of strains: shear along d1 and d2, stretch along d3 (1 where the length is ds), bending about d1 and d2, torsion
   about d3. The damping resists all deformation, that of the reference strain w0(t) included.

   T_+- = I +- ad/2 + E with ad = ad(xi) and an even part E: xi' = (I + E)(v_b - v_a) + ad (v_a + v_b)/2. The force is
   the same at both ends, in inertial axes. The residual has the wrenches J^T lam - force, those of -(s + lam). */
#include "group/rotation.h"
#include "group/semidirect.h"
#include "model/joint/joint.h"
#include "model/source.h"
#include "model/triad.h"

enum { AXES, LENGTH = 18, STIFFNESS, DAMPING = STIFFNESS + 36, SOURCE = DAMPING + 6, DATA }; /* places of parameters */

static const lg_parameter parameters[] = {
    {"axes_a", "", "directors of the section on the first body, body axes; columns d1 d2 d3, row-major", 9},
    {"axes_b", "", "directors of the section on the second body, body axes; columns d1 d2 d3, row-major", 9},
    {"length", "m", "length of the unstrained edge", 1},
    {"stiffness", "N, N m, N m^2", "symmetric matrix C of the section", 36},
    {"damping", "N s, N m^2 s", "diagonal of C_d", 6},
    LG_SOURCE_PARAMETERS("1, 1/m", "six reference strains; six"),
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
    *reason = NULL;
    if (!lg_triad_orthonormal(e->p + AXES) || !lg_triad_orthonormal(e->p + AXES + 9))
        *reason = "the directors of a section are not orthonormal";
    if (!(e->p[LENGTH] > 0))
        *reason = "the length must be positive";
    for (int i = 0; i < 36; i++)
        if (e->p[STIFFNESS + i] != e->p[STIFFNESS + i % 6 * 6 + i / 6])
            *reason = "the stiffness is not symmetric";
    if (!holds_constraints(e))
        *reason = "a table cannot change the reference of a constrained strain";
    return *reason ? LG_BAD_ARGUMENT : LG_OK;
}

static double next_kink(const lg_element *e, double t)
{
    return lg_source_next_kink(e, SOURCE, t);
}

/* ---- the strain ---- */

typedef struct edge {
    const double *axes[2]; /* directors in body axes; NULL: the body's own axes */
    const double *d[2]; /* directors, inertial */
    double room[2][9]; /* for d */
    double xi[6], xidot[6], v[2][6];
    lg_cotangent x; /* of |Omega| */
    double w0[3][6]; /* reference strain and its first two derivatives */
} edge;

static int is_identity(const double R[9])
{
    return R[0] == 1 && R[4] == 1 && R[1] == 0 && R[2] == 0 && R[5] == 0;
}

/* Sections have axes of their own or those of their bodies. */
static void open_section(const lg_element *e, const lg_pose *f, int end, edge *k)
{
    const double *axes = e->p + AXES + 9 * end;
    k->axes[end] = is_identity(axes) ? NULL : axes;
    k->d[end] = k->axes[end] ? k->room[end] : f->R;
    if (k->axes[end])
        lg_mul33(f->R, axes, k->room[end]);
}

static void open_edge(const lg_element *e, const lg_pose *const f[2], edge *k)
{
    double d[3] = {f[1]->x[0] - f[0]->x[0], f[1]->x[1] - f[0]->x[1], f[1]->x[2] - f[0]->x[2]}, r[3];
    for (int end = 0; end < 2; end++)
        open_section(e, f[end], end, k);
    lg_mulT3(k->d[0], d, r);
    lg_so3_difference(k->d[0], k->d[1], k->xi + 3);
    k->x = lg_cotangent_of(lg_dot3(k->xi + 3, k->xi + 3));
    lg_se3_log_at(&k->x, r, k->xi);
}

static lg_status open_reference(const lg_element *e, const lg_point *at, edge *k)
{
    if (e->info->nrows && e->p[SOURCE] == LG_SOURCE_FUNCTION)
        return e->function.call(e->function.self, at->t, 18, k->w0[0]);
    lg_zero(12, k->w0[1]);
    return lg_source_value(e, SOURCE, 6, at, k->w0[0]);
}

/* c = A^T b, or b where A is NULL */
static void into_section(const double *A, const double b[3], double c[3])
{
    if (A)
        lg_mulT3(A, b, c);
    else
        lg_copy(3, b, c);
}

/* c = A b, or b where A is NULL */
static void out_of_section(const double *A, const double b[3], double c[3])
{
    if (A)
        lg_mul3(A, b, c);
    else
        lg_copy(3, b, c);
}

/* The even part E times (a, b), halves of a vector; transposed, the halves change places. With h = Omega^, u = U^:
   E = [c h^2, c (h u + u h) + (Omega.U) d h^2; 0, c h^2]. */
static void add_even(const edge *k, const double a[3], const double b[3], double to_a[3], double to_b[3])
{
    const double *U = k->xi, *O = k->xi + 3;
    double c = k->x.c, sd = lg_dot3(O, U) * k->x.d, Ob[3], OOb[3], inner[3], outer[3];
    lg_cross(O, b, Ob);
    lg_cross(O, Ob, OOb);
    lg_cross(O, a, inner);
    lg_add_cross(U, b, inner);
    lg_cross(O, inner, outer);
    lg_add_cross(U, Ob, outer);
    for (int i = 0; i < 3; i++) {
        to_a[i] += c * outer[i] + sd * OOb[i];
        to_b[i] += c * OOb[i];
    }
}

static void open_rate(const lg_pose *const f[2], edge *k)
{
    double d[6], m[6];
    for (int end = 0; end < 2; end++) {
        lg_mulT3(k->d[end], f[end]->xdot, k->v[end]);
        into_section(k->axes[end], f[end]->omega, k->v[end] + 3);
    }
    for (int i = 0; i < 6; i++) {
        k->xidot[i] = d[i] = k->v[1][i] - k->v[0][i];
        m[i] = (k->v[0][i] + k->v[1][i]) / 2;
    }
    add_even(k, d, d + 3, k->xidot, k->xidot + 3);
    lg_add_cross(k->xi + 3, m, k->xidot);
    lg_add_cross(k->xi, m + 3, k->xidot);
    lg_add_cross(k->xi + 3, m + 3, k->xidot + 3);
}

/* ---- stress and wrenches ---- */

static int is_damped(const lg_element *e)
{
    const double *c = e->p + DAMPING;
    return c[0] != 0 || c[1] != 0 || c[2] != 0 || c[3] != 0 || c[4] != 0 || c[5] != 0;
}

/* w - w0, zero where constrained */
static void strain_difference(const lg_element *e, const edge *k, double difference[6])
{
    for (int i = 0; i < 6; i++)
        difference[i] = i < e->info->nrows ? 0 : k->xi[i] / e->p[LENGTH] - k->w0[0][i];
}

/* s = C (w - w0), all six of them */
static void elastic_stress(const lg_element *e, const double difference[6], double s[6])
{
    lg_zero(6, s);
    for (int j = 0; j < 6; j++)
        lg_axpy(6, difference[j], e->p + STIFFNESS + 6 * j, s);
}

static void stress_of(const lg_element *e, const edge *k, double s[6])
{
    double difference[6], rate = 2 / e->p[LENGTH];
    strain_difference(e, k, difference);
    elastic_stress(e, difference, s);
    if (is_damped(e))
        for (int i = 0; i < 6; i++)
            s[i] += rate * e->p[DAMPING + i] * k->xidot[i];
    lg_zero(e->info->nrows, s);
}

/* Adds the wrenches of a stress, or of multipliers as one: T_-^T s on a, -T_+^T s on b, times `sign`. */
static void press(const edge *k, const double s[6], double sign, lg_pose *const pose[2], int sum)
{
    const double *U = k->xi, *O = k->xi + 3;
    double even[6], odd[6], moment[3], turned[3], force[3]; /* odd: ad^T s/2 */
    lg_copy(6, s, even);
    add_even(k, s + 3, s, even + 3, even);
    lg_cross(s, O, odd);
    lg_cross(s, U, odd + 3);
    lg_add_cross(s + 3, O, odd + 3);
    for (int i = 0; i < 3; i++)
        turned[i] = even[i] - odd[i] / 2;
    lg_mul3(k->d[0], turned, force);
    for (int end = 0; end < 2; end++) {
        double side = end ? -sign : sign, half = end ? 0.5 : -0.5, *wrench = pose[end]->wrench[sum];
        for (int i = 0; i < 3; i++)
            moment[i] = even[3 + i] + half * odd[3 + i];
        out_of_section(k->axes[end], moment, turned);
        lg_axpy(3, side, force, wrench);
        lg_axpy(3, side, turned, wrench + 3);
    }
}

/* ---- rows ---- */

/* Row i < 3 of T_+ = [A, C; 0, A], half being 1/2: A = I + h/2 + c h^2 and its derivative along U, C = u/2 + c (h u + u h)
   + (Omega.U) d h^2. Row i of T_-: half is -1/2. */
static void row_of_T(const edge *k, int i, double half, double A[3], double C[3])
{
    const double *U = k->xi, *O = k->xi + 3;
    double s = lg_dot3(O, U), sd = s * k->x.d, c = k->x.c, unit[3] = {i == 0, i == 1, i == 2};
    lg_cross(unit, O, A);
    lg_cross(unit, U, C);
    for (int j = 0; j < 3; j++) {
        A[j] = half * A[j] + c * O[i] * O[j];
        C[j] = half * C[j] + c * (O[i] * U[j] + U[i] * O[j]) + sd * O[i] * O[j];
    }
    double y = lg_dot3(O, O);
    A[i] += 1 - c * y;
    C[i] -= 2 * c * s + sd * y;
}

/* A row in section axes as a row of a frame: inertial before body axes. */
static void to_frame(const edge *k, int end, double side, const double t[6], double J[6])
{
    double force[3], moment[3];
    lg_mul3(k->d[end], t, force);
    out_of_section(k->axes[end], t + 3, moment);
    for (int i = 0; i < 3; i++)
        J[i] = side * force[i], J[3 + i] = side * moment[i];
}

static void fill_row(const lg_joint *joint, const edge *k, int i, lg_rows *out)
{
    int row = joint->row_in_type[i];
    double t[6];
    out->phi[i] = k->xi[row] - joint->e.p[LENGTH] * k->w0[0][row];
    for (int end = 0; end < 2; end++) {
        row_of_T(k, row, end ? 0.5 : -0.5, t, t + 3);
        to_frame(k, end, end ? 1 : -1, t, out->J[end] + 6 * i);
    }
}

/* H = d xi'/d xi at constant twists in section axes, column-major; d(T_- v)/dxi is that of T_+ at -xi, with the sign
   changed. */
static void rate_derivative(const edge *k, double H[36])
{
    const double back[6] = {-k->xi[0], -k->xi[1], -k->xi[2], -k->xi[3], -k->xi[4], -k->xi[5]};
    double from_a[36];
    lg_se3_tangent_solve_d(k->xi, &k->x, k->v[1], H);
    lg_se3_tangent_solve_d(back, &k->x, k->v[0], from_a);
    lg_axpy(36, 1, from_a, H);
}

/* The derivatives of xi'_k, with row h of H, by the variations of the sections, xi moving by T_+ and -T_-. A velocity v
   that stays as it is changes in section axes by v x dphi. */
static void rate_row(const edge *k, int end, const double h[6], const double t[6], const double T[36], double z[6])
{
    double turned[3];
    for (int j = 0; j < 6; j++)
        z[j] = lg_dot3(h, T + 6 * j) + lg_dot3(h + 3, T + 6 * j + 3);
    lg_cross(t, k->v[end], turned);
    lg_axpy(3, 1, turned, z + 3);
}

/* Z, and J' times the twist, which is Z times the twist. */
static void fill_rates(const lg_joint *joint, const edge *k, lg_rows *out)
{
    const double back[6] = {-k->xi[0], -k->xi[1], -k->xi[2], -k->xi[3], -k->xi[4], -k->xi[5]};
    double H[36], T[2][36], t[6], h[6], z[6];
    rate_derivative(k, H);
    lg_se3_tangent_inv_at(back, &k->x, T[0]);
    lg_se3_tangent_inv_at(k->xi, &k->x, T[1]);
    for (int i = 0; i < joint->nrows; i++) {
        int row = joint->row_in_type[i];
        out->Jdot[i] = -joint->e.p[LENGTH] * k->w0[2][row];
        for (int end = 0; end < 2; end++) {
            for (int j = 0; j < 6; j++)
                h[j] = H[row + 6 * j], t[j] = T[end][row + 6 * j];
            double side = end ? 1 : -1;
            rate_row(k, end, h, t, T[end], z);
            out->Jdot[i] += side * (lg_dot3(z, k->v[end]) + lg_dot3(z + 3, k->v[end] + 3));
            to_frame(k, end, side, z, out->Z[end] + 6 * i);
        }
    }
}

static void write_rows(const lg_joint *joint, const edge *k, const lg_point *at, const lg_wanted *want)
{
    lg_rows rows;
    rows.points = joint->nrows;
    for (int i = 0; i < joint->nrows; i++)
        fill_row(joint, k, i, &rows);
    if (want->zeta || want->Z)
        fill_rates(joint, k, &rows);
    lg_joint_write(joint, at, &rows, want);
    for (int i = 0; want->phidot && i < joint->nrows; i++)
        want->phidot[joint->row + i] -= joint->e.p[LENGTH] * k->w0[1][joint->row_in_type[i]];
}

/* Multipliers as a stress. */
static void constraint_stress(const lg_joint *joint, const lg_point *at, double s[6])
{
    double all[LG_MAX_ROWS];
    const double *lam = lg_joint_multipliers(joint, at->lam + joint->row, all);
    lg_zero(6, s);
    lg_copy(joint->e.info->nrows, lam, s);
}

/* ---- the verbs ---- */

/* The strain once, for the force, the rows and their tangent. */
static lg_status add_edge(const lg_joint *joint, const lg_point *at, const lg_wanted *want)
{
    const lg_element *e = &joint->e;
    lg_pose *pose[2] = {lg_pose_of(e->frame[0], at), lg_pose_of(e->frame[1], at)};
    const lg_pose *const *seen = (const lg_pose *const *)pose;
    int tangent = want->S && want->chain, forces = want->force || tangent, rows = joint->nrows > 0;
    double s[6];
    edge k;
    open_edge(e, seen, &k);
    LG_TRY(open_reference(e, at, &k));
    if (tangent || want->zeta || want->Z || (forces && is_damped(e)))
        open_rate(seen, &k);
    if (forces) {
        stress_of(e, &k, s);
        press(&k, s, 1, pose, LG_FORCES);
    }
    if (rows)
        write_rows(joint, &k, at, want);
    if (rows && at->lam && (want->Btlam || tangent)) {
        constraint_stress(joint, at, s);
        press(&k, s, -1, pose, LG_REACTIONS);
    }
    return LG_OK;
}

static lg_status all(lg_joints joints, const lg_point *at, const lg_wanted *want)
{
    for (const lg_joint *joint = joints.first; joint < joints.end; joint++)
        LG_TRY(add_edge(joint, at, want));
    return LG_OK;
}

static lg_status potential(const lg_element *e, const lg_pose *const f[2], const lg_point *at, double *V)
{
    double difference[6], s[6];
    edge k;
    open_edge(e, f, &k);
    LG_TRY(open_reference(e, at, &k));
    strain_difference(e, &k, difference);
    elastic_stress(e, difference, s);
    *V = e->p[LENGTH] / 2 * (lg_dot3(difference, s) + lg_dot3(difference + 3, s + 3));
    return LG_OK;
}

static lg_status strain(const lg_joint *joint, const lg_point *at, double w[6], double s[6])
{
    const lg_element *e = &joint->e;
    const lg_pose *pose[2] = {lg_pose_of(e->frame[0], at), lg_pose_of(e->frame[1], at)};
    double constrained[6];
    edge k;
    open_edge(e, pose, &k);
    LG_TRY(open_reference(e, at, &k));
    open_rate(pose, &k);
    stress_of(e, &k, s);
    constraint_stress(joint, at, constrained);
    for (int i = 0; i < 6; i++) {
        w[i] = k.xi[i] / e->p[LENGTH];
        s[i] += constrained[i];
    }
    return LG_OK;
}

static const char *row_label(const lg_element *e, int row)
{
    static const char *const labels[] = {"shear along d1",   "shear along d2",   "stretch along d3",
                                         "bending about d1", "bending about d2", "torsion about d3"};
    (void)e;
    return labels[row];
}

/* `rows` strains, the first ones, are constrained. */
#define EDGE(title, rows, text)                                                                                        \
    {                                                                                                                  \
        .info = {.family = "joint",                                                                                    \
                 .name = title,                                                                                        \
                 .doc = text,                                                                                          \
                 .reference = "tumiotto2024, Sect. 4",                                                                 \
                 .nframes = 2,                                                                                         \
                 .nrows = rows,                                                                                        \
                 .parameters = parameters,                                                                             \
                 .nparameters = 7,                                                                                     \
                 .example = example,                                                                                   \
                 .nexample = sizeof example / sizeof *example},                                                        \
        .check = check,                                                                                                \
        .couples = lg_element_between,                                                                                 \
        .all = all,                                                                                                    \
        .potential = potential,                                                                                        \
        .strain = strain,                                                                                              \
        .next_kink = next_kink,                                                                                        \
        .row_label = row_label,                                                                                        \
    }

const lg_joint_type lg_edge = EDGE("edge", 0, "An edge of a rod, elastic in shear, stretch, bending and torsion.");
const lg_joint_type lg_kirchhoff_edge = EDGE("kirchhoff_edge", 2, "An edge of a rod without shear.");
const lg_joint_type lg_inextensible_edge =
    EDGE("inextensible_edge", 3, "An edge of a rod without shear and of constant length.");
