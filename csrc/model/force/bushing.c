/* A bushing: an elastic bearing between triads on two bodies, by the logarithm x of their relative pose, the
   displacement and then the rotation vector (screw.h). With C and K 6 x 6,

       s = K x + C x' - p + f(x),      s on x: -T_+^T s on b, T_-^T s on a,

   where p is the preload and f_i(x_i) a curve along axis i, if it has any. The potential is

       V = x^T K x/2 - p . x + sum of the integrals of f_i from 0 to x_i,

   and the power of damping -x'^T C x'. Exchanging the bodies turns x into -x, and with it p and the curves, so that the
   wrenches stay what they are: neither body is preferred, and force and moment act between them, where x/2 would be.
   The rotation may be more than half a turn; beyond 330 degrees the run ends (screw_turn.c). */
#include "model/curve.h"
#include "model/force/force.h"
#include "model/screw.h"

enum { AXES, STIFFNESS = 18, DAMPING = STIFFNESS + 36, PRELOAD = DAMPING + 36, CURVES = PRELOAD + 6 };

#define PARAMETERS                                                                                                     \
    LG_TRIADS, {"stiffness",                                                                                           \
                "N/m, N, N m",                                                                                         \
                "matrix K, along and about the axes",                                                                  \
                LG_MATRIX(6, 6),                                                                                       \
                .valid = LG_SEMIDEFINITE,                                                                              \
                .quadratic = 1},                                                                                       \
        {"damping",       "N s/m, N s, N m s",      "matrix C",                                                        \
         LG_MATRIX(6, 6), .valid = LG_SEMIDEFINITE, .initially = LG_ZERO,                                              \
         .quadratic = 1},                                                                                              \
        {"preload",                                                                                                    \
         "N, N m",                                                                                                     \
         "force and moment on the second body where both triads coincide",                                             \
         LG_VECTOR(6),                                                                                                 \
         .initially = LG_ZERO,                                                                                         \
         .quadratic = 1}

static const lg_parameter parameters[] = {PARAMETERS};
static const lg_parameter curved_parameters[] = {
    PARAMETERS,
    {"curves", "m, N; rad, N m", "for each axis 0, or a count and that many displacements and forces, which pull back",
     LG_REST},
};

typedef struct bushing {
    lg_screw m;
    lg_relation r;
    double s[6], slopes[36]; /* what acts along x, and its derivative by x */
} bushing;

/* ---- curves ---- */

/* The curves of a row that has them. */
static const double *curves_of(const lg_element *e)
{
    return e->info->nparameters > 5 ? e->p + CURVES : NULL;
}

static lg_status curved_check(const lg_element *e, const char **reason)
{
    *reason = lg_curves_check(e->p + CURVES, e->p + e->np, 6);
    return *reason ? LG_BAD_ARGUMENT : LG_OK;
}

static void add_curves(const lg_element *e, bushing *b)
{
    const double *p = curves_of(e);
    for (int i = 0; p && i < 6; i++) {
        double slope;
        lg_curve curve = lg_curve_next(&p);
        if (!curve.n)
            continue;
        b->s[i] += lg_curve_value(&curve, b->r.xi[i], &slope);
        b->slopes[7 * i] += slope;
    }
}

/* ---- evaluation ---- */

static void open_triads(const lg_element *e, const lg_pose *const f[2], lg_screw *m)
{
    for (int end = 0; end < 2; end++)
        lg_screw_open_end(e->p + AXES + 9 * end, f[end], end, m);
}

static void open_relation(const lg_element *e, const lg_pose *const f[2], const lg_point *at, bushing *b)
{
    static const double zero[3];
    double p[4];
    open_triads(e, f, &b->m);
    if (!lg_screw_turn_continues(b->m.d, at->mem.values ? at->mem.values + e->mem : NULL, p))
        lg_screw_turn_choose(zero, p);
    lg_screw_open_relation(&b->m, f, p, &b->r);
    b->m.r = &b->r;
}

static int is_damped(const lg_element *e)
{
    return lg_max_abs(36, e->p + DAMPING) > 0;
}

/* s += A x for a symmetric matrix, 6 x 6 */
static void bushing_add_product(const double A[36], const double x[6], double s[6])
{
    for (int i = 0; i < 6; i++)
        lg_axpy(6, x[i], A + 6 * i, s);
}

/* The columns of A Y. */
static void mul_columns(const double A[36], const double Y[9][6], double AY[9][6])
{
    lg_zero(54, AY[0]);
    for (int p = 0; p < 9; p++)
        bushing_add_product(A, Y[p], AY[p]);
}

/* The derivatives of the wrenches, which are those of -s. */
static void set_slopes(const lg_element *e, const bushing *b, int damped, lg_load *out)
{
    double Y[9][6], P[9][6], Q[9][6], W[9][6], minus[6], A[36];
    for (int i = 0; i < 6; i++)
        minus[i] = -b->s[i];
    lg_screw_columns(&b->m, Y);
    for (int i = 0; i < 36; i++)
        A[i] = -b->slopes[i];
    mul_columns(A, Y, P);
    if (damped) {
        for (int i = 0; i < 36; i++)
            A[i] = -e->p[DAMPING + i];
        lg_screw_rate_columns(&b->m, Y, Q);
        mul_columns(A, Q, W);
        lg_axpy(54, 1, W[0], P[0]);
        mul_columns(A, Y, W);
        lg_screw_damping(&b->m, Y, W, out->D);
    }
    lg_screw_stiffness(&b->m, minus, Y, P, out->K);
}

static lg_status wrenches(const lg_element *e, const lg_pose *const f[2], const lg_point *at, int linear, lg_load *out)
{
    bushing b;
    double nine[9];
    int damped = is_damped(e);
    open_relation(e, f, at, &b);
    lg_screw_open_operator(&b.m);
    lg_copy(36, e->p + STIFFNESS, b.slopes);
    for (int i = 0; i < 6; i++)
        b.s[i] = -e->p[PRELOAD + i];
    bushing_add_product(e->p + STIFFNESS, b.r.xi, b.s);
    add_curves(e, &b);
    if (damped) {
        lg_screw_open_motion(f, &b.m);
        lg_screw_open_rate(&b.m);
        bushing_add_product(e->p + DAMPING, b.m.xidot, b.s);
    }
    lg_screw_forces(&b.m, b.s, nine);
    for (int i = 0; i < 9; i++)
        nine[i] = -nine[i];
    lg_screw_on_frames(&b.m, nine, out->w);
    if (linear)
        set_slopes(e, &b, damped, out);
    return LG_OK;
}

static double potential(const lg_element *e, const lg_pose *const f[2], const lg_point *at)
{
    bushing b;
    double Kx[6] = {0}, V = 0;
    open_relation(e, f, at, &b);
    const double *x = b.r.xi, *p = curves_of(e);
    bushing_add_product(e->p + STIFFNESS, x, Kx);
    for (int i = 0; i < 6; i++) {
        V += x[i] * (Kx[i] / 2 - e->p[PRELOAD + i]);
        lg_curve curve = p ? lg_curve_next(&p) : (lg_curve){0};
        V += curve.n ? lg_curve_integral(&curve, x[i]) : 0;
    }
    return V;
}

/* ---- memory ---- */

static lg_status bushing_commit(const lg_element *e, const lg_pose *const f[2], const lg_point *from,
                                const lg_point *to, double *mem, lg_report *report)
{
    lg_screw m;
    open_triads(e, f, &m);
    lg_screw_open_motion(f, &m);
    lg_screw_turn turn = {.name = e->name, .parts = "sides", .rest = "rotation without moment", .d = m.d};
    lg_screw_turn_rate(&m, turn.rate);
    return from ? lg_screw_turn_step(&turn, to->t - from->t, mem, report) : lg_screw_turn_start(&turn, mem, report);
}

static const lg_element_memory memory = {.commit = bushing_commit};

/* ---- the rows ---- */

#define BUSHING(title, text, judge, kinks, ...)                                                                        \
    {                                                                                                                  \
        .info = {.family = "force",                                                                                    \
                 .name = title,                                                                                        \
                 .doc = text,                                                                                          \
                 .reference = "docs/forces",                                                                           \
                 .nframes = 2,                                                                                         \
                 .nmem = LG_SCREW_MEMORY,                                                                              \
                 .has_kinks = kinks,                                                                                   \
                 __VA_ARGS__},                                                                                         \
        .check = judge,                                                                                                \
        .sees = LG_SEES_POSE,                                                                                          \
        .needs_twists = 1,                                                                                             \
        .couples = lg_element_between,                                                                                 \
        .wrenches = wrenches,                                                                                          \
        .potential = potential,                                                                                        \
        .memory = &memory,                                                                                             \
    }

const lg_force_type lg_bushing =
    BUSHING("bushing", "Springs and dampers along and about three axes, by the logarithm of the relative pose.", NULL,
            0, .parameters = parameters, .nparameters = 5);

/* clang-format off */
static const double example[] = {
    0.48, 0.64, 0.6, -0.8, 0.6, 0, -0.36, -0.48, 0.8,   0.6, -0.8, 0, 0.8, 0.6, 0, 0, 0, 1,
    5, 0.1, 0.2, 0, 0.3, 0,     0.1, 4, 0, 0.2, 0, 0.1,       0.2, 0, 6, 0, 0.1, 0.4,
    0, 0.2, 0, 2, 0.3, 0.5,     0.3, 0, 0.1, 0.3, 3, 0.2,     0, 0.1, 0.4, 0.5, 0.2, 2.5,
    1, 0.1, 0, 0, 0, 0.1,       0.1, 1, 0, 0.2, 0, 0,         0, 0, 2, 0, 0.1, 0,
    0, 0.2, 0, 1, 0, 0,         0, 0, 0.1, 0, 1, 0,           0.1, 0, 0, 0, 0, 1,
    0.3, -0.2, 0.1, 0.2, 0.1, -0.3,
    3, -1, 0.2, 1.5, -2, 0.1, 4,   0, 0, 2, -1, 1, -1, 1,   0, 4, -3, -1, 1, 3, -6, -1, 2, 5};
/* clang-format on */

const lg_force_type lg_curved_bushing =
    BUSHING("curved_bushing", "A bushing with a curve of force or moment along some of its axes.", curved_check, 1,
            .parameters = curved_parameters, .nparameters = 6, .example = example,
            .nexample = sizeof example / sizeof *example);
