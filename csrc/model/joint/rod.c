/* The edge of a Cosserat rod between two nodes: a joint with compliance (tumiotto2024, Sect. 4). Its first two or three
   strains may be constrained, which gives rows; the others give stress.

   With the sections' poses g_a, g_b in SE(3), their twists v_a, v_b in section axes, linear before angular, the length
   ds, T^-1 as in semidirect.h and T_+ = T^-1(xi), T_- = T^-1(-xi):

       strain    w  = xi/ds,   xi = log(g_a^-1 g_b), with the smallest angle
       its rate  w' = xi'/ds,  xi' = T_+ v_b - T_- v_a = Y y
       stress    s  = C (w - w0(t)) + 2 C_d w',  0 where the strain is constrained
       potential V  = ds/2 (w - w0)^T C (w - w0), constrained strains left out
       rows      phi_k = xi_k - ds w0_k(t)
       wrenches  T_-^T s on a,  -T_+^T s on b

   Order of strains: shear along d1 and d2, stretch along d3 (1 where the length is ds), bending about d1 and d2,
   torsion about d3. The damping acts on the rate of the strain itself, not on that of w - w0(t).

   Only relative motion matters: y = (u, omega_a, omega_b), u = R_a^T (x_b' - x_a') and the angular velocities in
   section axes. T_+ = [A, C; 0, A] and T_- = [A^T, C^T; 0, A^T], so that Y = [A^T, -C^T, C; 0, -A^T, A]. Rows, their
   rates, wrenches and tangents are formed for these nine motions; Y^T s holds the force on b in the axes of a, whose
   opposite acts on a, and both moments. The residual J^T lam - force has those of s + lam. */
#include "model/joint/rod.h"

#include "group/rotation.h"
#include "model/body/body.h"
#include "model/source.h"
#include "model/triad.h"

static const lg_parameter parameters[] = {
    {"axes_a", "", "directors of the section on the first body, body axes; columns d1 d2 d3, row-major", 9},
    {"axes_b", "", "directors of the section on the second body, body axes; columns d1 d2 d3, row-major", 9},
    {"length", "m", "length of the unstrained edge", 1},
    {"stiffness", "N, N m, N m^2", "symmetric matrix C of the section", 36},
    {"damping", "N s, N m^2 s", "diagonal of C_d", 6},
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

enum { MAX_CONSTRAINED = 3 };

/* ---- the strain ---- */

/* Whether a rotation is the identity. */
static int is_identity(const double R[9])
{
    return R[0] > 0 && R[4] > 0 && R[1] * R[1] + R[2] * R[2] + R[5] * R[5] == 0;
}

/* The directors of a section: its own, or the axes of its body. */
static void open_section(const lg_element *e, const lg_pose *f, int end, lg_strained *k)
{
    const double *axes = e->p + AXES + 9 * end;
    k->axes[end] = is_identity(axes) ? NULL : axes;
    k->d[end] = k->axes[end] ? k->room[end] : f->R;
    if (k->axes[end])
        lg_mul33(f->R, axes, k->room[end]);
}

/* With h = Omega^ and u = U^, A = I + h/2 + c h^2, and C = u/2 + c (h u + u h) + (Omega.U) d h^2 is its derivative
   along U; h u + u h = Omega U^T + U Omega^T - 2 (Omega.U) I. */
static void open_operator(lg_relation *r)
{
    const double *U = r->xi, *O = r->xi + 3, c = r->x.c, s = lg_dot3(O, U), sd = s * r->x.d;
    double half[3], diagonal = 2 * c * s + sd * lg_dot3(O, O);
    lg_hat_matrix(O, 0.5, c, r->A);
    for (int i = 0; i < 3; i++)
        half[i] = U[i] / 2;
    lg_hat3(half, r->C);
    for (int i = 0; i < 3; i++)
        half[i] = c * U[i] + sd / 2 * O[i];
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            r->C[3 * i + j] += O[i] * half[j] + half[i] * O[j];
        r->C[4 * i] -= diagonal;
    }
}

static void open_relation(const lg_strained *k, const lg_pose *const f[2], lg_relation *r)
{
    double d[3] = {f[1]->x[0] - f[0]->x[0], f[1]->x[1] - f[0]->x[1], f[1]->x[2] - f[0]->x[2]}, local[3];
    lg_mulT3(k->d[0], d, local);
    lg_so3_difference(k->d[0], k->d[1], r->xi + 3);
    r->x = lg_cotangent_of(lg_dot3(r->xi + 3, r->xi + 3));
    lg_se3_log_at(&r->x, local, r->xi);
    open_operator(r);
}

/* r: the relation, which is computed here unless it is `known`. */
static void open_edge(const lg_element *e, const lg_pose *const f[2], lg_relation *r, int known, lg_strained *k)
{
    for (int end = 0; end < 2; end++)
        open_section(e, f[end], end, k);
    if (!known)
        open_relation(k, f, r);
    k->r = r;
}

/* Whether the reference of constrained strains may change. */
static int drives_rows(const lg_element *e)
{
    return e->info->nrows && e->p[SOURCE] == LG_SOURCE_FUNCTION;
}

static lg_status open_reference(const lg_element *e, const lg_point *at, lg_strained *k)
{
    k->w0 = e->p[SOURCE] == LG_SOURCE_CONSTANT ? e->p + DATA : k->changing;
    if (k->w0 != k->changing)
        return LG_OK;
    if (drives_rows(e)) {
        LG_TRY(e->function.call(e->function.self, at->t, 18, k->changing));
        lg_zero(at->at_rest ? 12 : 0, k->changing + 6);
        return LG_OK;
    }
    return lg_source_value(e, SOURCE, 6, at, k->changing);
}

/* c = A^T b, or b where A is NULL */
static void into_section(const double *A, const double b[3], double c[3])
{
    if (A)
        lg_mulT3(A, b, c);
    else
        lg_copy(3, b, c);
}

/* The nine relative velocities, or accelerations. */
static void relative(const lg_strained *k, const double *const x[2], const double *const omega[2], double y[9])
{
    double apart[3] = {x[1][0] - x[0][0], x[1][1] - x[0][1], x[1][2] - x[0][2]};
    lg_mulT3(k->d[0], apart, y);
    into_section(k->axes[0], omega[0], y + 3);
    into_section(k->axes[1], omega[1], y + 6);
}

static void open_motion(const lg_pose *const f[2], lg_strained *k)
{
    const double *xdot[2] = {f[0]->xdot, f[1]->xdot}, *omega[2] = {f[0]->omega, f[1]->omega};
    relative(k, xdot, omega, k->y);
}

/* c += s A b and c += s A^T b */
static void add_mul3(double s, const double A[9], const double b[3], double c[3])
{
    for (int i = 0; i < 3; i++)
        c[i] += s * lg_dot3(A + 3 * i, b);
}

static void add_mulT3(double s, const double A[9], const double b[3], double c[3])
{
    for (int i = 0; i < 3; i++)
        lg_axpy(3, s * b[i], A + 3 * i, c);
}

/* xi' = Y y */
static void open_rate(lg_strained *k)
{
    lg_mulT3(k->r->A, k->y, k->xidot);
    add_mulT3(-1, k->r->C, k->y + 3, k->xidot);
    add_mul3(1, k->r->C, k->y + 6, k->xidot);
    lg_mul3(k->r->A, k->y + 6, k->xidot + 3);
    add_mulT3(-1, k->r->A, k->y + 3, k->xidot + 3);
}

/* ---- stress and wrenches ---- */

/* w - w0, zero where constrained */
static void strain_difference(const lg_element *e, const lg_strained *k, double difference[6])
{
    double per_length = 1 / e->p[LENGTH];
    for (int i = 0; i < 6; i++)
        difference[i] = k->r->xi[i] * per_length - k->w0[i];
    lg_zero(e->info->nrows, difference);
}

static void stress_of(const lg_element *e, const lg_strained *k, double s[6])
{
    double difference[6], rate = 2 / e->p[LENGTH];
    strain_difference(e, k, difference);
    lg_edge_stress(e, difference, s);
    if (lg_edge_damped(e))
        for (int i = 0; i < 6; i++)
            s[i] += rate * e->p[DAMPING + i] * k->xidot[i];
    lg_zero(e->info->nrows, s);
}

/* Y^T s */
void lg_edge_forces(const lg_strained *k, const double s[6], double out[9])
{
    lg_mul3(k->r->A, s, out);
    lg_zero(3, out + 3);
    add_mul3(-1, k->r->C, s, out + 3);
    add_mul3(-1, k->r->A, s + 3, out + 3);
    lg_mulT3(k->r->C, s, out + 6);
    add_mulT3(1, k->r->A, s + 3, out + 6);
}

/* Forces on the nine motions as wrenches on both frames. */
static void on_frames(const lg_strained *k, const double nine[9], double w[2][6])
{
    lg_mul3(k->d[0], nine, w[1]);
    for (int i = 0; i < 3; i++)
        w[0][i] = -w[1][i];
    lg_out_of_section(k->axes[0], nine + 3, w[0] + 3);
    lg_out_of_section(k->axes[1], nine + 6, w[1] + 3);
}

static void press(const lg_strained *k, double sign, const double s[6], lg_pose *const pose[2], int sum)
{
    double nine[9], w[2][6];
    lg_edge_forces(k, s, nine);
    on_frames(k, nine, w);
    lg_axpy(6, sign, w[0], pose[0]->wrench[sum]);
    lg_axpy(6, sign, w[1], pose[1]->wrench[sum]);
}

/* ---- rows ---- */

/* A constrained strain: its row of -T_- and of T_+, for the motions of both sections. */
typedef struct edge_row {
    double t[2][6];
} edge_row;

static void open_row(const lg_strained *k, int strain, edge_row *row)
{
    for (int j = 0; j < 3; j++) {
        row->t[0][j] = -k->r->A[3 * j + strain], row->t[0][3 + j] = -k->r->C[3 * j + strain];
        row->t[1][j] = k->r->A[3 * strain + j], row->t[1][3 + j] = k->r->C[3 * strain + j];
    }
}

/* The row of Y times nine velocities or accelerations. */
static double row_times(const edge_row *row, const double y[9])
{
    return lg_dot3(row->t[0] + 3, y + 3) + lg_dot3(row->t[1] + 3, y + 6) - lg_dot3(row->t[0], y);
}

/* ---- derivatives ---- */

/* The columns of Y. */
void lg_edge_columns(const lg_strained *k, double Y[9][6])
{
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++) {
            Y[j][i] = k->r->A[3 * j + i], Y[j][3 + i] = 0;
            Y[3 + j][i] = -k->r->C[3 * j + i], Y[3 + j][3 + i] = -k->r->A[3 * j + i];
            Y[6 + j][i] = k->r->C[3 * i + j], Y[6 + j][3 + i] = k->r->A[3 * i + j];
        }
}

/* The columns of d(Y y) by the nine motions of the poses at constant twists: H = d(Y y)/dxi times Y, and u in the axes
   of a, which changes by u x dphi_a. Y y = T_+ (0, omega_b) - T_- (-u, omega_a). */
void lg_edge_rate_columns(const lg_strained *k, const double Y[9][6], double Q[9][6])
{
    const double back[6] = {-k->r->xi[0], -k->r->xi[1], -k->r->xi[2], -k->r->xi[3], -k->r->xi[4], -k->r->xi[5]},
                 *u = k->y;
    const double v_a[6] = {-u[0], -u[1], -u[2], k->y[3], k->y[4], k->y[5]},
                 v_b[6] = {0, 0, 0, k->y[6], k->y[7], k->y[8]};
    double H[36], from_a[36], hat[9];
    lg_se3_tangent_solve_d(k->r->xi, &k->r->x, v_b, H);
    lg_se3_tangent_solve_d(back, &k->r->x, v_a, from_a); // d(-T_- v_a)/dxi
    lg_axpy(36, 1, from_a, H);
    for (int p = 0; p < 9; p++) {
        lg_zero(6, Q[p]);
        for (int i = 0; i < 6; i++)
            lg_axpy(6, Y[p][i], H + 6 * i, Q[p]);
    }
    lg_hat3(u, hat);
    for (int p = 0; p < 3; p++)
        for (int i = 0; i < 3; i++)
            lg_axpy(6, hat[3 * i + p], Y[i], Q[3 + p]);
}

/* ---- outputs of the rows ---- */

static void write_levels(const lg_joint *joint, const lg_strained *k, const edge_row rows[], const lg_wanted *want)
{
    const lg_element *e = &joint->e;
    for (int i = 0; i < joint->nrows; i++) {
        int strain = joint->row_in_type[i];
        if (want->phi)
            want->phi[joint->row + i] = k->r->xi[strain] - e->p[LENGTH] * k->w0[strain];
        if (want->phidot)
            want->phidot[joint->row + i] =
                row_times(&rows[i], k->y) - (drives_rows(e) ? e->p[LENGTH] * k->changing[6 + strain] : 0);
    }
}

/* zeta = ds w0'' - Y y' - Y' y, and Y' y = Q y. */
static void write_zeta(const lg_joint *joint, const lg_strained *k, const edge_row rows[], const double Q[9][6],
                       const lg_pose *const f[2], double *zeta)
{
    const lg_element *e = &joint->e;
    const double *xdd[2] = {f[0]->xdd, f[1]->xdd}, *omegadot[2] = {f[0]->omegadot, f[1]->omegadot};
    double bias[9];
    relative(k, xdd, omegadot, bias);
    for (int i = 0; i < joint->nrows; i++) {
        int strain = joint->row_in_type[i];
        zeta[joint->row + i] =
            (drives_rows(e) ? e->p[LENGTH] * k->changing[12 + strain] : 0) - row_times(&rows[i], bias);
        for (int p = 0; p < 9; p++)
            zeta[joint->row + i] -= Q[p][strain] * k->y[p];
    }
}

/* Rigid bodies take rows in their own axes. */
static int has_arms(const lg_joint *joint)
{
    for (int end = 0; end < 2; end++) {
        const lg_body *body = joint->e.frame[end]->body;
        if (body->block && !body->type->arm)
            return 0;
    }
    return 1;
}

static void write_B(const lg_joint *joint, const lg_strained *k, const lg_point *at, const edge_row rows[], double *B)
{
    for (int end = 0; end < 2; end++) {
        const lg_frame *f = joint->e.frame[end];
        if (!f->body->block)
            continue;
        lg_arm arm = f->body->type->arm(f, at);
        for (int i = 0; i < joint->nrows; i++) {
            double turned[6];
            const double *row = rows[i].t[end];
            if (k->axes[end]) {
                lg_mul3(k->axes[end], row, turned);
                lg_mul3(k->axes[end], row + 3, turned + 3);
                row = turned;
            }
            lg_arm_body_row(&arm, row, joint->nrows, B + joint->value[end] + i);
        }
    }
}

/* A row for the nine motions as the rows of both frames. */
static void set_row(const lg_strained *k, const double nine[9], int i, double J[2][6 * LG_MAX_ROWS])
{
    double w[2][6];
    on_frames(k, nine, w);
    lg_copy(6, w[0], J[0] + 6 * i);
    lg_copy(6, w[1], J[1] + 6 * i);
}

/* B and Z on any bodies, by rows in the axes of frames. */
static void write_jacobians(const lg_joint *joint, const lg_strained *k, const lg_point *at, const edge_row rows[],
                            const double Q[9][6], const lg_wanted *want)
{
    lg_rows out;
    out.points = joint->nrows;
    for (int i = 0; i < joint->nrows; i++) {
        const double (*t)[6] = rows[i].t;
        double nine[9] = {-t[0][0], -t[0][1], -t[0][2], t[0][3], t[0][4], t[0][5], t[1][3], t[1][4], t[1][5]};
        set_row(k, nine, i, out.J);
        for (int p = 0; want->Z && p < 9; p++)
            nine[p] = Q[p][joint->row_in_type[i]];
        if (want->Z)
            set_row(k, nine, i, out.Z);
    }
    lg_joint_write(joint, at, &out, &(lg_wanted){.B = want->B, .Z = want->Z});
}

static void write_rows(const lg_joint *joint, const lg_strained *k, const lg_point *at, const lg_pose *const f[2],
                       const lg_wanted *want)
{
    edge_row rows[MAX_CONSTRAINED];
    double Y[9][6], Q[9][6];
    for (int i = 0; i < joint->nrows; i++)
        open_row(k, joint->row_in_type[i], &rows[i]);
    if (want->zeta || want->Z) {
        lg_edge_columns(k, Y);
        lg_edge_rate_columns(k, Y, Q);
    }
    write_levels(joint, k, rows, want);
    if (want->zeta)
        write_zeta(joint, k, rows, Q, f, want->zeta);
    if (want->B && !want->Z && !at->quadratic && has_arms(joint))
        write_B(joint, k, at, rows, want->B);
    else if (want->B || want->Z)
        write_jacobians(joint, k, at, rows, Q, want);
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
    int tangent = want->S && want->chain, damped = (want->force || tangent) && lg_edge_damped(e),
        reactions = joint->nrows && at->lam && (want->Btlam || tangent);
    double s[6] = {0}, lam[6] = {0};
    lg_strained k;
    open_edge(e, seen, (lg_relation *)(void *)(at->work + joint->work), at->same_q, &k);
    LG_TRY(open_reference(e, at, &k));
    if (damped || want->phidot || want->zeta || want->Z)
        open_motion(seen, &k);
    if (damped)
        open_rate(&k);
    if (want->force || tangent) {
        stress_of(e, &k, s);
        press(&k, -1, s, pose, LG_FORCES);
    }
    if (joint->nrows)
        write_rows(joint, &k, at, seen, want);
    if (reactions) {
        constraint_stress(joint, at, lam);
        press(&k, 1, lam, pose, LG_REACTIONS);
    }
    if (tangent) {
        lg_axpy(6, 1, lam, s);
        lg_edge_tangent(joint, &k, s, at, want);
    }
    return LG_OK;
}

static lg_status all(lg_joints joints, const lg_point *at, const lg_wanted *want)
{
    for (const lg_joint *joint = joints.first; joint < joints.end; joint++)
        LG_TRY(add_edge(joint, at, want));
    return LG_OK;
}

/* The potential, and the stress that comes from it. */
static double strain_energy(const lg_element *e, const lg_strained *k, double s[6])
{
    double difference[6];
    strain_difference(e, k, difference);
    lg_edge_stress(e, difference, s);
    return e->p[LENGTH] / 2 * (lg_dot3(difference, s) + lg_dot3(difference + 3, s + 3));
}

static lg_status potential(const lg_element *e, const lg_pose *const f[2], const lg_point *at, double *V)
{
    double s[6];
    lg_relation r;
    lg_strained k;
    open_edge(e, f, &r, 0, &k);
    LG_TRY(open_reference(e, at, &k));
    *V = strain_energy(e, &k, s);
    return LG_OK;
}

static void reverse(int linear, lg_load *load)
{
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 6; k++)
            load->w[i][k] = -load->w[i][k];
        for (int j = 0; linear && j < 2; j++)
            for (int which = 0; which < 4; which++)
                for (int k = 0; k < 9; k++)
                    load->K[i][j].A[which][k] = -load->K[i][j].A[which][k];
    }
}

static lg_status elastic(const lg_joint *joint, const lg_point *at, int linear, double *V, lg_load *out)
{
    const lg_element *e = &joint->e;
    const lg_pose *f[2] = {lg_pose_of(e->frame[0], at), lg_pose_of(e->frame[1], at)};
    double s[6], nine[9];
    lg_strained k;
    open_edge(e, f, (lg_relation *)(void *)(at->work + joint->work), 1, &k);
    LG_TRY(open_reference(e, at, &k));
    *V = strain_energy(e, &k, s);
    lg_zero(e->info->nrows, s);
    lg_edge_forces(&k, s, nine);
    on_frames(&k, nine, out->w);
    if (linear)
        lg_edge_stiffness(e, &k, s, out->K);
    reverse(linear, out); // the force is the negative gradient
    return LG_OK;
}

static lg_status strain(const lg_joint *joint, const lg_point *at, double w[6], double s[6])
{
    const lg_element *e = &joint->e;
    const lg_pose *pose[2] = {lg_pose_of(e->frame[0], at), lg_pose_of(e->frame[1], at)};
    double constrained[6];
    lg_relation r;
    lg_strained k;
    open_edge(e, pose, &r, 0, &k);
    LG_TRY(open_reference(e, at, &k));
    open_motion(pose, &k);
    open_rate(&k);
    stress_of(e, &k, s);
    constraint_stress(joint, at, constrained);
    for (int i = 0; i < 6; i++) {
        w[i] = r.xi[i] / e->p[LENGTH];
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
        .nwork = sizeof(lg_relation) / sizeof(double),                                                                 \
        .check = check,                                                                                                \
        .couples = lg_element_between,                                                                                 \
        .all = all,                                                                                                    \
        .potential = potential,                                                                                        \
        .elastic = elastic,                                                                                            \
        .strain = strain,                                                                                              \
        .next_kink = next_kink,                                                                                        \
        .row_label = row_label,                                                                                        \
    }

const lg_joint_type lg_edge = EDGE("edge", 0, "An edge of a rod, elastic in shear, stretch, bending and torsion.");
const lg_joint_type lg_kirchhoff_edge = EDGE("kirchhoff_edge", 2, "An edge of a rod without shear.");
const lg_joint_type lg_inextensible_edge =
    EDGE("inextensible_edge", 3, "An edge of a rod without shear and of constant length.");
