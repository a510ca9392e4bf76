/* Lower-pair joints as masks over one kernel (joints.def). With triads u_i on the first body and v_j on the second:

   translation along axis u of the carrier p (0: inertial axes), d = x_b - x_a, c = R_p^T d:
       phi = (R_p u) . d,   J on x_b: R_p u, on x_a: -R_p u, on phi_p: u x c
       d/dt J:  u x (R_p^T d' - omega_p x c);   with y = R_p^T d', s = omega_p x u:
       Z on phi_p: u x y + s x c, on x_b: R_p s, on x_a: -R_p s
       lam-weighted axis U: force R_p U, moment U x c; d: -R_p U^ dphi_p,  U^ (R_p^T dd + c^ dphi_p)
   pair u on a, v on b, p = R_a^T R_b v, r = R_b^T R_a u:
       phi = u . p,  J on phi_a: u x p, on phi_b: v x r
       dp = p^ dphi_a - R_ab v^ dphi_b,  dr = r^ dphi_b - R_ab^T u^ dphi_a. */
#include "model/joint/joint.h"
#include "model/joint/points.h"
#include "model/triad.h"

enum { CARRIER, TRIAD_A, TRIAD_B = TRIAD_A + 9 }; /* where the parameters begin */

static const lg_parameter parameters[] = {
    {"carrier", "", "whose axes carry the translation rows", LG_SCALAR, .valid = LG_CHOICE,
     .choices = "inertial|first|second"},
    LG_TRIADS,
};

/* Rows of translation depend on the rotation of the carrier alone. */
static int on_point(const lg_element *e, int end)
{
    return e->info->npairs == 0 && e->p[CARRIER] != end + 1;
}

static int carrier_of(const lg_element *e)
{
    return (int)e->p[CARRIER];
}

/* Three translations vanish in any axes, so that their rows can be in those of a body that turns. Axes of the ground
   and of a point mass are inertial. */
static int turning_carrier(const lg_element *e)
{
    int carrier = carrier_of(e), second = lg_frame_turns(e->frame[1]);
    if (lg_frame_turns(e->frame[0]))
        return carrier == 2 && second ? 2 : 1;
    return second ? 2 : carrier;
}

static int axes(const lg_element *e)
{
    return carrier_of(e) - 1;
}

static int turning_axes(const lg_element *e)
{
    return turning_carrier(e) - 1;
}

/* ---- translations ---- */

typedef struct separation { /* the separation seen by the carrier */
    int p; /* slot of the carrier, -1: inertial axes */
    const double *triad, *R;
    double c[3], y[3], omega[3]; /* R_p^T d, R_p^T d', omega_p */
} separation;

static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};

static void open_separation(const lg_element *e, int carrier, const lg_pose *const f[2], unsigned want, separation *at)
{
    double d[3];
    at->p = carrier - 1;
    at->triad = carrier == 0 ? identity : e->p + (carrier == 1 ? TRIAD_A : TRIAD_B);
    at->R = carrier == 0 ? identity : f[at->p]->R;
    lg_pose_between(f[0], f[1], d);
    lg_mulT3(at->R, d, at->c);
    if (!(want & (LG_ROWS_RATE | LG_ROWS_Z)))
        return;
    for (int i = 0; i < 3; i++)
        d[i] = f[1]->xdot[i] - f[0]->xdot[i];
    lg_mulT3(at->R, d, at->y);
    if (carrier)
        lg_copy(3, f[at->p]->omega, at->omega);
    else
        lg_zero(3, at->omega);
}

/* a on x_b, -a on x_a */
static void set_opposite(const double a[3], double *on_a, double *on_b)
{
    for (int i = 0; i < 3; i++)
        on_a[i] = -a[i], on_b[i] = a[i];
}

static void translation_row(const separation *at, const double u[3], int row, unsigned want, lg_rows *out)
{
    double Ru[3];
    lg_mul3(at->R, u, Ru);
    set_opposite(Ru, out->J[0] + 6 * row, out->J[1] + 6 * row);
    if (at->p >= 0)
        lg_cross(u, at->c, out->J[at->p] + 6 * row + 3);
    if (!(want & (LG_ROWS_RATE | LG_ROWS_Z)) || at->p < 0)
        return;

    // (d/dt R_p u) . d' + (u x c') . omega = s . y + s . c'  with  c' = y - omega x c
    double s[3], turned[3], cdot[3], Rs[3];
    lg_cross(at->omega, u, s);
    lg_cross(at->omega, at->c, turned);
    for (int k = 0; k < 3; k++)
        cdot[k] = at->y[k] - turned[k];
    out->Jdot[row] = lg_dot3(s, at->y) + lg_dot3(s, cdot);
    if (!(want & LG_ROWS_Z))
        return;
    lg_mul3(at->R, s, Rs);
    set_opposite(Rs, out->Z[0] + 6 * row, out->Z[1] + 6 * row);
    lg_cross(u, at->y, out->Z[at->p] + 6 * row + 3);
    lg_add_cross(s, at->c, out->Z[at->p] + 6 * row + 3);
}

/* With U = sum lam_i u_i: the force R_p U on b, its opposite on a, and the moment U x c on the carrier. */
static inline void add_translation_wrenches(const separation *at, const double U[3], lg_rows *out)
{
    double RU[3];
    lg_mul3(at->R, U, RU);
    lg_axpy(3, 1, RU, out->w[1]);
    lg_axpy(3, -1, RU, out->w[0]);
    if (at->p >= 0)
        lg_add_cross(U, at->c, out->w[at->p] + 3);
}

/* Derivative of the wrenches (-R_p U, R_p U; U x c on p) for U = sum lam_i u_i. */
static void translation_tangent(const separation *at, const double U[3], lg_rows *out)
{
    int p = at->p;
    double Uhat[9], RU[9], UR[9], Rt[9], chat[9], Uc[9];
    lg_hat3(U, Uhat);
    lg_mul33(at->R, Uhat, RU);
    lg_quarters_add(&out->K[1][p], LG_XR, -1, RU);
    lg_quarters_add(&out->K[0][p], LG_XR, 1, RU);
    lg_transpose3(at->R, Rt);
    lg_mul33(Uhat, Rt, UR);
    lg_quarters_add(&out->K[p][1], LG_RX, 1, UR);
    lg_quarters_add(&out->K[p][0], LG_RX, -1, UR);
    lg_hat3(at->c, chat);
    lg_mul33(Uhat, chat, Uc);
    lg_quarters_add(&out->K[p][p], LG_RR, 1, Uc);
}

/* ---- pairs of axes ---- */

typedef struct axis_pair {
    double u[3], v[3], p[3], r[3]; /* p = R_ab v, r = R_ab^T u */
} axis_pair;

static void pair_row(const axis_pair *a, const double Rab[9], const lg_pose *const f[2], int row, unsigned want,
                     lg_rows *out)
{
    lg_cross(a->u, a->p, out->J[0] + 6 * row + 3);
    lg_cross(a->v, a->r, out->J[1] + 6 * row + 3);
    if (!(want & (LG_ROWS_RATE | LG_ROWS_Z)))
        return;

    // s_a = omega_a x u and s_b = omega_b x v, and both seen from the other body
    double sa[3], sb[3], sa_b[3], sb_a[3];
    lg_cross(f[0]->omega, a->u, sa);
    lg_cross(f[1]->omega, a->v, sb);
    lg_mulT3(Rab, sa, sa_b);
    lg_mul3(Rab, sb, sb_a);

    // p' = R_ab s_b - omega_a x p, r' = R_ab^T s_a - omega_b x r;  (u x p') . omega_a = s_a . p'
    double turned[3];
    lg_cross(f[0]->omega, a->p, turned);
    out->Jdot[row] = lg_dot3(sa, sb_a) - lg_dot3(sa, turned);
    lg_cross(f[1]->omega, a->r, turned);
    out->Jdot[row] += lg_dot3(sb, sa_b) - lg_dot3(sb, turned);
    if (!(want & LG_ROWS_Z))
        return;
    lg_cross(sa, a->p, out->Z[0] + 6 * row + 3);
    lg_add_cross(a->u, sb_a, out->Z[0] + 6 * row + 3);
    lg_cross(sb, a->r, out->Z[1] + 6 * row + 3);
    lg_add_cross(a->v, sa_b, out->Z[1] + 6 * row + 3);
}

/* B = a^ b^ = b a^T - (a . b) 1 */
static void double_cross(const double a[3], const double b[3], double B[9])
{
    double dot = lg_dot3(a, b);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            B[3 * i + j] = b[i] * a[j] - (i == j ? dot : 0);
}

/* For u = sum lam_i u_i of pairs with one v: u x p on a and v x r on b. */
static inline void add_pair_wrenches(const axis_pair *a, lg_rows *out)
{
    lg_add_cross(a->u, a->p, out->w[0] + 3);
    lg_add_cross(a->v, a->r, out->w[1] + 3);
}

/* Their derivative. */
static void pair_tangent(const axis_pair *a, const double Rab[9], lg_rows *out)
{
    double A[9], UR[9], B[9], Bt[9];
    double_cross(a->u, a->p, A);
    lg_quarters_add(&out->K[0][0], LG_RR, 1, A);
    double_cross(a->v, a->r, A);
    lg_quarters_add(&out->K[1][1], LG_RR, 1, A);

    // u^ R_ab v^, whose transpose is v^ R_ab^T u^; columns of u^ R_ab are u x (columns of R_ab), rows of A v^ are (row
    // x v)
    for (int j = 0; j < 3; j++) {
        double column[3] = {Rab[j], Rab[3 + j], Rab[6 + j]}, turned[3];
        lg_cross(a->u, column, turned);
        UR[j] = turned[0], UR[3 + j] = turned[1], UR[6 + j] = turned[2];
    }
    for (int i = 0; i < 3; i++)
        lg_cross(UR + 3 * i, a->v, B + 3 * i);
    lg_transpose3(B, Bt);
    lg_quarters_add(&out->K[0][1], LG_RR, -1, B);
    lg_quarters_add(&out->K[1][0], LG_RR, -1, Bt);
}

/* ---- along a motion ---- */

/* Rows in inertial axes have forces that are constant in space. */
static void inertial_jets(const lg_element *e, lg_wrench_jet (*out)[2])
{
    for (const char *digit = e->info->locked; *digit; digit++, out++)
        for (int s = 0; s < 2; s++) {
            (*out)[s].has = LG_JET_FORCE;
            for (int i = 0; i < 3; i++)
                (*out)[s].force.at[0][i] = (i == *digit - '1') * (s ? 1 : -1);
        }
}

static void translation_jets(const lg_element *e, int p, const lg_frame_jet f[2], lg_wrench_jet (*out)[2])
{
    const lg_jet d = lg_jet_between(&f[0].x, &f[1].x);
    for (const char *digit = e->info->locked; *digit; digit++, out++) {
        double u[3];
        lg_triad_axis(e->p + (p ? TRIAD_B : TRIAD_A), *digit - '1', u);
        const lg_jet along = lg_jet_fixed(&f[p], u), moment = lg_jet_cross(&along, &d);
        lg_jet_push(&along, *out);
        lg_jet_turn(&moment, &(*out)[p]);
    }
}

static void pair_jets(const lg_element *e, const lg_frame_jet f[2], lg_wrench_jet (*out)[2])
{
    for (const char *digit = e->info->pairs; *digit; digit += 2, out++) {
        double u[3], v[3];
        lg_triad_axis(e->p + TRIAD_A, digit[0] - '1', u);
        lg_triad_axis(e->p + TRIAD_B, digit[1] - '1', v);
        const lg_jet a = lg_jet_fixed(&f[0], u), b = lg_jet_fixed(&f[1], v);
        const lg_jet on_a = lg_jet_cross(&a, &b), on_b = lg_jet_scaled(-1, &on_a);
        lg_jet_turn(&on_a, &(*out)[0]);
        lg_jet_turn(&on_b, &(*out)[1]);
    }
}

static void carried_jets(const lg_element *e, int carrier, const lg_frame_jet f[2], lg_wrench_jet (*out)[2])
{
    if (carrier)
        translation_jets(e, carrier - 1, f, out);
    else
        inertial_jets(e, out);
    if (e->info->npairs)
        pair_jets(e, f, out + e->info->nrows - e->info->npairs);
}

static void jets(const lg_element *e, const lg_frame_jet f[2], lg_wrench_jet (*out)[2])
{
    carried_jets(e, carrier_of(e), f, out);
}

static void turning_jets(const lg_element *e, const lg_frame_jet f[2], lg_wrench_jet (*out)[2])
{
    carried_jets(e, turning_carrier(e), f, out);
}

/* ---- the functions of the row ---- */

static const char *pairs_row_label(const lg_element *e, int row)
{
    static const char *const along[2][3] = {
        {"translation along x", "translation along y", "translation along z"},
        {"translation along e1", "translation along e2", "translation along e3"},
    };
    static const char *const about[] = {"rotation about e1", "rotation about e2", "rotation about e3"};
    int ntranslations = e->info->nrows - e->info->npairs;
    if (row < ntranslations)
        return along[e->p[CARRIER] != 0][e->info->locked[row] - '1'];

    // the pair (i, j) locks the third axis, and the digits of all three add up to 6
    const char *pair = e->info->pairs + 2 * (row - ntranslations);
    return about[6 - (pair[0] - '0') - (pair[1] - '0') - 1];
}

/* Rows on positions have moments only on the carrier. */
static inline void open_rows(int npoints, int nrows, unsigned want, lg_rows *out)
{
    out->points = npoints;
    out->reduced = !(want & LG_ROWS_J);
    if (want & LG_ROWS_W)
        lg_zero(6, out->w[0]), lg_zero(6, out->w[1]);
    if (out->reduced)
        return;
    for (int s = 0; s < 2; s++)
        for (int i = 0; i < npoints; i++) {
            lg_zero(3, out->J[s] + 6 * i + 3);
            if (want & LG_ROWS_Z)
                lg_zero(6, out->Z[s] + 6 * i);
        }
    for (int i = 0; i < nrows; i++)
        out->Jdot[i] = 0;
}

static LG_INLINE void translation_rows(const lg_element *e, int carrier, const lg_pose *const f[2], const double *lam,
                                       unsigned want, lg_rows *out)
{
    separation at;
    double U[3] = {0, 0, 0}, u[3];
    int row = 0;
    open_separation(e, carrier, f, want, &at);
    for (const char *digit = e->info->locked; *digit; digit++, row++) {
        lg_triad_axis(at.triad, *digit - '1', u);
        out->phi[row] = lg_dot3(u, at.c);
        if (want & LG_ROWS_J)
            translation_row(&at, u, row, want, out);
        if (want & (LG_ROWS_W | LG_ROWS_K))
            lg_axpy(3, lam[row], u, U);
    }
    if (want & LG_ROWS_W)
        add_translation_wrenches(&at, U, out);
    if ((want & LG_ROWS_K) && at.p >= 0)
        translation_tangent(&at, U, out);
}

/* Three rows x_b - x_a in inertial axes. */
static void point_rows(const lg_pose *const f[2], lg_rows *out)
{
    lg_pose_between(f[0], f[1], out->phi);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            out->J[0][6 * i + k] = -(i == k);
            out->J[1][6 * i + k] = i == k;
        }
}

/* Pairs with one v together. */
static LG_INLINE void pair_rows(const lg_element *e, const lg_pose *const f[2], int row, const double *lam,
                                unsigned want, lg_rows *out)
{
    double Rab[9];
    lg_mulT33(f[0]->R, f[1]->R, Rab);
    for (const char *digit = e->info->pairs; *digit;) {
        axis_pair pair;
        double U[3] = {0, 0, 0};
        char axis = digit[1];
        lg_triad_axis(e->p + TRIAD_B, axis - '1', pair.v);
        lg_mul3(Rab, pair.v, pair.p);
        for (; *digit && digit[1] == axis; digit += 2, row++) {
            lg_triad_axis(e->p + TRIAD_A, digit[0] - '1', pair.u);
            out->phi[row] = lg_dot3(pair.u, pair.p);
            if (want & LG_ROWS_J) {
                lg_mulT3(Rab, pair.u, pair.r);
                pair_row(&pair, Rab, f, row, want, out);
            }
            if (want & (LG_ROWS_W | LG_ROWS_K))
                lg_axpy(3, lam[row], pair.u, U);
        }
        if (!(want & (LG_ROWS_W | LG_ROWS_K)))
            continue;
        lg_copy(3, U, pair.u);
        lg_mulT3(Rab, U, pair.r);
        if (want & LG_ROWS_W)
            add_pair_wrenches(&pair, out);
        else
            pair_tangent(&pair, Rab, out);
    }
}

static LG_INLINE void write_rows(const lg_element *e, int carrier, const lg_pose *const f[2], const double *lam,
                                 unsigned want, lg_rows *out)
{
    int npairs = e->info->npairs, npoints = e->info->nrows - npairs;
    open_rows(npoints, e->info->nrows, want, out);
    if (carrier == 0 && npoints == 3 && (want & LG_ROWS_J))
        point_rows(f, out);
    else
        translation_rows(e, carrier, f, lam, want, out);
    if (npairs)
        pair_rows(e, f, npoints, lam, want, out);
}

static void write_all(const lg_element *e, int carrier, const lg_pose *const f[2], const double *lam, unsigned want,
                      lg_rows *out)
{
    write_rows(e, carrier, f, lam, (want & ~(unsigned)LG_ROWS_W) | LG_ROWS_J, out);
}

/* Most evaluations want phi and w at most; the compiler knows what these do not need. */
static LG_INLINE void carried_rows(const lg_element *e, int carrier, const lg_pose *const f[2], const double *lam,
                                   unsigned want, lg_rows *out)
{
    if (want & LG_ROWS_J)
        write_all(e, carrier, f, lam, want, out);
    else
        write_rows(e, carrier, f, lam, want & LG_ROWS_W, out);
}

static lg_status rows(const lg_element *e, const lg_pose *const f[2], const lg_point *at, const double *lam,
                      unsigned want, lg_rows *out)
{
    (void)at;
    carried_rows(e, carrier_of(e), f, lam, want, out);
    return LG_OK;
}

static lg_status turning_rows(const lg_element *e, const lg_pose *const f[2], const lg_point *at, const double *lam,
                              unsigned want, lg_rows *out)
{
    (void)at;
    carried_rows(e, turning_carrier(e), f, lam, want, out);
    return LG_OK;
}

static const double *triads(const lg_element *e)
{
    return e->p + TRIAD_A;
}

static const lg_joint_type in_body_axes = {.axes = turning_axes, .rows = turning_rows, .jets = turning_jets};
static const lg_element_memory memory = {.triads = triads};

#define LG_CONSTRAINT(symbol)
#define LG_JOINT(symbol, joint_name, joint_translations, joint_pairs, has_angle, text)                                 \
    const lg_joint_type symbol = {                                                                                     \
        .info = {.family = "joint",                                                                                    \
                 .name = joint_name,                                                                                   \
                 .doc = text,                                                                                          \
                 .reference = "lower pairs, see docs/models",                                                          \
                 .nframes = 2,                                                                                         \
                 .nrows = (int)sizeof(joint_translations) - 1 + (int)(sizeof(joint_pairs) / 2),                        \
                 .nmem = has_angle,                                                                                    \
                 .parameters = parameters,                                                                             \
                 .nparameters = 3,                                                                                     \
                 .locked = joint_translations,                                                                         \
                 .pairs = joint_pairs,                                                                                 \
                 .npairs = (int)(sizeof(joint_pairs) / 2)},                                                            \
        .on_point = on_point,                                                                                          \
        .in = {[LG_FORM_BODY_AXES] = sizeof(joint_translations) == 4 ? &in_body_axes : NULL},                          \
        .axes = axes,                                                                                                  \
        .rows = rows,                                                                                                  \
        .jets = jets,                                                                                                  \
        .all = sizeof(joint_translations) == 4 && sizeof(joint_pairs) == 1 ? lg_points_all : NULL,                     \
        .row_label = pairs_row_label,                                                                                  \
        .memory = has_angle ? &memory : NULL,                                                                          \
    };
#include "model/joint/joints.def"
#undef LG_JOINT
#undef LG_CONSTRAINT
