/* Forces of contacts between two shapes (touch.h). At a point with the depth d = -gap > 0 and the velocity u of the
   first body relative to the second one, d' = -n . u and u_t = u - (n . u) n, the force on the first body is

       F = N n + mu N tau/s,   N = max(0, k d^n (1 + c d')),

   after K. H. Hunt and F. R. E. Crossley (1975). Friction is of Coulomb's kind, either smooth around rest, where at the
   speed v_s it has 1/sqrt(2) of its limit, or by bristles with the displacement z, which stick:

       tau = -u_t,   s = sqrt(|u_t|^2 + v_s^2),   or   tau = -(k_b z + c_b u_t),   s = max(|tau|, mu N),

   with |z| <= mu N/k_b.

   Bristles are memory: z at the end of the last step, and where the point was on both bodies, s_0 and p_0. As long as
   they do not slide, z grows by the displacement of these two against each other, y + S s_0 - p_0 (mutual.h). If they
   slide, z depends on the motion within the step, which it follows in parts at the end of the step. Without bristles
   the potential is k d^(n+1)/(n+1). With them, or where points slide over a shape (touch.h), there is none. */
#include "model/force/contact.h"

#include "model/force/mutual.h"
#include "model/force/touch.h"

enum { STIFFNESS, EXPONENT, DAMPING, FRICTION, REGULARIZATION, BRISTLE = REGULARIZATION, BRISTLE_DAMPING };
/* The memory of a point; all 0 if it is not in touch. */
enum { TOUCH = LG_BRISTLE_TOUCH, Z = LG_BRISTLE_Z, S_0 = 4, P_0 = 7, BRISTLE_MEMORY = LG_BRISTLE_MEMORY };
enum { APART, STICKS, SLIDES }; /* TOUCH; what is close to its limit slides */

typedef struct contact_kind {
    const lg_shapes *shapes;
    int bristles, first; /* whether it has them; where the values of the shapes begin */
} contact_kind;

static inline int first_value(int bristles)
{
    return (bristles ? BRISTLE_DAMPING : REGULARIZATION) + 1;
}

#define NORMAL_LAW                                                                                                     \
    {"stiffness", "N/m^exponent", "stiffness", LG_SCALAR, .valid = LG_NONNEGATIVE},                                    \
        {"exponent", "", "exponent of the depth, at least 1", LG_SCALAR, .valid = LG_POSITIVE},                        \
        {"damping",                                                                                                    \
         "s/m",                                                                                                        \
         "damping, which multiplies the rate of the depth",                                                            \
         LG_SCALAR,                                                                                                    \
         .valid = LG_NONNEGATIVE,                                                                                      \
         .initially = LG_ZERO},                                                                                        \
    {                                                                                                                  \
        "friction", "", "coefficient of friction", LG_SCALAR, .valid = LG_NONNEGATIVE, .initially = LG_ZERO            \
    }
#define SMOOTH_LAW                                                                                                     \
    NORMAL_LAW,                                                                                                        \
    {                                                                                                                  \
        "regularization", "m/s", "speed around which friction begins", LG_SCALAR, .valid = LG_POSITIVE                 \
    }
#define BRISTLE_LAW                                                                                                    \
    NORMAL_LAW, {"bristle", "N/m", "stiffness of bristles", LG_SCALAR, .valid = LG_POSITIVE},                          \
    {                                                                                                                  \
        "bristle_damping", "N s/m", "damping of bristles", LG_SCALAR, .valid = LG_NONNEGATIVE, .initially = LG_ZERO    \
    }

static lg_status contact_check(const lg_element *e, const char **reason)
{
    *reason = "the exponent must be at least 1";
    return e->p[EXPONENT] >= 1 ? LG_OK : LG_BAD_ARGUMENT;
}

static double power(double d, double n)
{
    return n == 1 ? d : n == 1.5 ? d * sqrt(d) : pow(d, n);
}

typedef struct contact_force { /* at a point in touch */
    double u[3], slip[3]; /* the relative velocity, and u_t */
    double N, N_depth, N_rate; /* and its derivatives by d and d' */
    double z[3], anchor[3]; /* of bristles, z with its normal part and beyond its limit; S s_0 */
    double bent[3], excess; /* z, and by what it had to be divided; 1 within its limit */
    double tau[3], s, F[3];
    int sticks, remembers; /* bristles do not slide; they have been in touch before */
} contact_force;

/* out = a - (n . a) n; returns n . a. */
static double leave_normal(const double n[3], const double a[3], double out[3])
{
    double along = lg_dot3(n, a);
    for (int i = 0; i < 3; i++)
        out[i] = a[i] - along * n[i];
    return along;
}

/* The displacement of bristles with their memory m, and tau. */
static void bend(const double *p, const double *m, const lg_touch *touch, const lg_mutual *at, contact_force *c)
{
    c->remembers = m[TOUCH] != APART;
    lg_mul3(at->S, m + S_0, c->anchor);
    for (int i = 0; i < 3; i++)
        c->z[i] = c->remembers ? m[Z + i] + at->y[i] + c->anchor[i] - m[P_0 + i] : 0;
    leave_normal(touch->n, c->z, c->bent);
    double limit = p[FRICTION] * c->N, elastic = p[BRISTLE] * lg_norm3(c->bent);
    c->excess = elastic > limit ? elastic / limit : 1;
    for (int i = 0; i < 3; i++) {
        c->bent[i] = elastic > limit ? c->bent[i] / c->excess : c->bent[i];
        c->tau[i] = -p[BRISTLE] * c->bent[i] - p[BRISTLE_DAMPING] * c->slip[i];
    }
    double size = lg_norm3(c->tau);
    c->sticks = size <= limit;
    c->s = c->sticks ? limit : size;
}

static void slide(const double *p, contact_force *c)
{
    c->s = sqrt(lg_dot3(c->slip, c->slip) + p[REGULARIZATION] * p[REGULARIZATION]);
    c->sticks = 0;
    for (int i = 0; i < 3; i++)
        c->tau[i] = -c->slip[i];
}

/* Returns 0 if there is no force. m: the memory of the point, NULL without bristles. */
static int exert(const double *p, const double *m, const lg_touch *touch, const lg_mutual *at, contact_force *c)
{
    double d = -touch->gap;
    if (!(d > 0))
        return 0;
    lg_copy(3, at->rate, c->u);
    lg_add_cross(at->turn, touch->z, c->u);
    double un = leave_normal(touch->n, c->u, c->slip), elastic = p[STIFFNESS] * power(d, p[EXPONENT]);
    double damped = 1 - p[DAMPING] * un;
    if (!(damped > 0))
        return 0;
    c->N = elastic * damped;
    c->N_depth = p[EXPONENT] * c->N / d;
    c->N_rate = p[DAMPING] * elastic;
    if (m)
        bend(p, m, touch, at, c);
    else
        slide(p, c);
    double share = c->sticks ? 1 : p[FRICTION] * c->N / c->s;
    for (int i = 0; i < 3; i++)
        c->F[i] = c->N * touch->n[i] + share * c->tau[i];
    return 1;
}

/* ---- derivatives ---- */

typedef struct change { /* of what a force depends on, along one direction */
    double gap, n[3], u[3], z[3];
    double N, friction, bristle, bristle_damping; /* by the numbers of the law; N at the same depth and rate */
} change;

/* The change of N, with that of the rate u . n. */
static double normal_slope(const double n[3], const contact_force *c, const change *by, double *dun)
{
    *dun = lg_dot3(n, by->u) + lg_dot3(by->n, c->u);
    return by->N - c->N_depth * by->gap - c->N_rate * *dun;
}

/* The change of bristles; at their limit it follows that of mu N/k_b. */
static void bent_slope(const double *p, const double n[3], const contact_force *c, const change *by, double dN,
                       double dz[3])
{
    double zn = lg_dot3(n, c->z), dzn = lg_dot3(n, by->z) + lg_dot3(by->n, c->z);
    for (int i = 0; i < 3; i++)
        dz[i] = by->z[i] - dzn * n[i] - zn * by->n[i];
    if (!(c->excess > 1))
        return;
    double square = lg_dot3(c->bent, c->bent), along = square > 0 ? lg_dot3(c->bent, dz) / (c->excess * square) : 0;
    double limit = dN / c->N + (by->friction != 0 ? by->friction / p[FRICTION] : 0) - by->bristle / p[BRISTLE];
    for (int i = 0; i < 3; i++)
        dz[i] = dz[i] / c->excess + (limit - along) * c->bent[i];
}

/* The change of tau, with the changes of the rate u . n and of N. */
static void tau_slope(const double *p, int bristles, const lg_touch *touch, const contact_force *c, const change *by,
                      double dun, double dN, double dtau[3])
{
    const double *n = touch->n;
    double un = lg_dot3(n, c->u), dz[3] = {0};
    if (bristles)
        bent_slope(p, n, c, by, dN, dz);
    for (int i = 0; i < 3; i++) {
        double dslip = by->u[i] - dun * n[i] - un * by->n[i];
        dtau[i] = bristles ? -p[BRISTLE] * dz[i] - p[BRISTLE_DAMPING] * dslip : -dslip;
        dtau[i] -= by->bristle * c->bent[i] + by->bristle_damping * c->slip[i];
    }
}

static void force_slope(const double *p, int bristles, const lg_touch *touch, const contact_force *c, const change *by,
                        double dF[3])
{
    const double *n = touch->n, *tau = c->tau;
    double dun, dtau[3], mu = p[FRICTION], dN = normal_slope(n, c, by, &dun);
    tau_slope(p, bristles, touch, c, by, dun, dN, dtau);
    double along = lg_dot3(tau, dtau) / (c->s * c->s), more = by->friction * c->N / c->s;
    for (int i = 0; i < 3; i++) {
        double dT = c->sticks ? dtau[i] : mu / c->s * (dN * tau[i] + c->N * (dtau[i] - along * tau[i])) + more * tau[i];
        dF[i] = dN * n[i] + c->N * by->n[i] + dT;
    }
}

/* out += (dF, z x dF + dz x F) */
static void add_column(const contact_force *c, const double z[3], const double dz[3], const double dF[3], double *out)
{
    lg_axpy(3, 1, dF, out);
    lg_add_cross(z, dF, out + 3);
    lg_add_cross(dz, c->F, out + 3);
}

/* Along component j of the displacement (j < 3) or of the turn; dz: the change of the point's place on a. */
static change by_pose(const lg_touch *touch, const contact_force *c, const lg_mutual *at, int j, double dz[3])
{
    change by = {.gap = 0};
    double unit[3] = {0}, moved[3];
    unit[j % 3] = 1;
    for (int i = 0; i < 3; i++)
        moved[i] = j < 3 ? touch->Y[3 * i + j] : touch->C[3 * i + j - 3];
    by.gap = lg_dot3(touch->n, moved);
    lg_mul3(touch->H, moved, by.n);
    lg_mul3(touch->P, moved, dz);
    for (int i = 0; i < 3 && j < 3; i++)
        dz[i] -= unit[i];
    if (touch->turns && j >= 3) {
        double turned[3];
        lg_cross(unit, touch->n, turned);
        lg_axpy(3, 1, turned, by.n);
        lg_axpy(3, 0.5 * touch->gap, turned, dz);
    }
    lg_cross(at->turn, dz, by.u);
    if (c->remembers && j < 3)
        lg_copy(3, unit, by.z);
    else if (c->remembers)
        lg_cross(unit, c->anchor, by.z);
    return by;
}

static change by_twist(const lg_touch *touch, int j)
{
    change by = {.gap = 0};
    double unit[3] = {0};
    unit[j % 3] = 1;
    lg_copy(3, unit, by.u);
    if (j >= 3)
        lg_cross(unit, touch->z, by.u);
    return by;
}

static void add_slopes(const double *p, int bristles, const lg_touch *touch, const contact_force *c, lg_mutual *at)
{
    static const double zero[3];
    for (int j = 0; j < 6; j++) {
        double dz[3], dF[3];
        change by = by_pose(touch, c, at, j, dz);
        force_slope(p, bristles, touch, c, &by, dF);
        add_column(c, touch->z, dz, dF, at->K + 6 * j);
        by = by_twist(touch, j);
        force_slope(p, bristles, touch, c, &by, dF);
        add_column(c, touch->z, zero, dF, at->D + 6 * j);
    }
}

/* ---- all points ---- */

static const double *memory_of(const contact_kind *kind, const lg_element *e, const lg_point *at, int k)
{
    return kind->bristles ? at->mem.values + e->mem + BRISTLE_MEMORY * k : NULL;
}

static lg_status exert_wrenches(const contact_kind *kind, const lg_element *e, const lg_pose *const f[2],
                                const lg_point *point, int linear, lg_load *out)
{
    const double *p = e->p;
    lg_mutual at;
    int touching = 0;
    lg_mutual_open(f, linear, &at);
    for (int k = 0; k < kind->shapes->points; k++) {
        lg_touch touch;
        contact_force c = {.z = {0}};
        LG_TRY(kind->shapes->touch(p + kind->first, k, at.y, at.S, 0, &touch));
        if (!exert(p, memory_of(kind, e, point, k), &touch, &at, &c))
            continue;
        touching = 1;
        lg_axpy(3, 1, c.F, at.Fm);
        lg_add_cross(touch.z, c.F, at.Fm + 3);
        if (!linear)
            continue;
        LG_TRY(kind->shapes->touch(p + kind->first, k, at.y, at.S, 1, &touch));
        add_slopes(p, kind->bristles, &touch, &c, &at);
    }
    lg_zero(12, out->w[0]);
    if (touching)
        lg_mutual_spread(&at, e, f, linear, out);
    return LG_OK;
}

static double stored(const contact_kind *kind, const double *p, const lg_pose *const f[2])
{
    lg_mutual at;
    double V = 0, n = p[EXPONENT];
    lg_mutual_open_pose(f, &at);
    for (int k = 0; k < kind->shapes->points; k++) {
        lg_touch touch;
        if (kind->shapes->touch(p + kind->first, k, at.y, at.S, 0, &touch) == LG_OK && touch.gap < 0)
            V -= p[STIFFNESS] * power(-touch.gap, n) * touch.gap / (n + 1);
    }
    return V;
}

/* ---- bristles ---- */

/* The memory of a point after a step, or at a start (m all zero): the displacement that friction can hold, and where
   the point is on both bodies. */
static void renew(const double *p, const lg_touch *touch, const lg_mutual *at, double *m)
{
    static const double close = 0.9;
    contact_force c;
    if (!exert(p, m, touch, at, &c)) {
        lg_zero(BRISTLE_MEMORY, m);
        return;
    }
    m[TOUCH] = p[BRISTLE] * lg_norm3(c.bent) > close * p[FRICTION] * c.N ? SLIDES : STICKS;
    lg_copy(3, c.bent, m + Z);
    lg_mulT3(at->S, touch->z, m + S_0);
    lg_copy(3, touch->p, m + P_0);
}

static lg_status renew_all(const contact_kind *kind, const lg_element *e, const lg_mutual *at, double *mem)
{
    for (int k = 0; k < kind->shapes->points; k++) {
        lg_touch touch;
        LG_TRY(kind->shapes->touch(e->p + kind->first, k, at->y, at->S, 0, &touch));
        renew(e->p, &touch, at, mem + BRISTLE_MEMORY * k);
    }
    return LG_OK;
}

static lg_status commit_bristles(const contact_kind *kind, const lg_element *e, const lg_pose *const f[2], double *mem)
{
    lg_mutual at;
    lg_mutual_open(f, 0, &at);
    return renew_all(kind, e, &at, mem);
}

/* A point that is in touch at the end of a step does not stick at both ends. */
int lg_contact_point_has_slid(const double *before, const double *mem)
{
    return mem[TOUCH] != APART && (before[TOUCH] != STICKS || mem[TOUCH] != STICKS);
}

static int memory_size(const lg_force *force)
{
    return BRISTLE_MEMORY * force->type->shapes->points;
}

static contact_kind kind_of(const lg_force *force)
{
    int bristles = force->type->memory != NULL;
    return (contact_kind){force->type->shapes, bristles, first_value(bristles)};
}

int lg_contact_has_bristles(const lg_force *force)
{
    return force->type->shapes && force->type->memory;
}

int lg_contact_has_slid(const lg_force *force, const double *before, const double *mem)
{
    for (int k = 0; k < memory_size(force); k += BRISTLE_MEMORY)
        if (lg_contact_point_has_slid(before + k, mem + k))
            return 1;
    return 0;
}

lg_status lg_contact_renew(const lg_force *force, const lg_mutual *at, double *mem)
{
    const contact_kind kind = kind_of(force);
    return renew_all(&kind, &force->e, at, mem);
}

double lg_contact_bristle_error(const lg_force *force, const double *before, const double *straight, const double *mem,
                                double rtol, double atol)
{
    double largest = 0;
    for (int k = Z; k < memory_size(force); k += BRISTLE_MEMORY) {
        double off[3], size = fmax(lg_norm3(before + k), lg_norm3(mem + k));
        for (int i = 0; i < 3; i++)
            off[i] = mem[k + i] - straight[k + i];
        double error = lg_norm3(off);
        largest = fmax(largest, error > 0 ? error / (atol + rtol * size) : 0);
    }
    return largest;
}

/* ---- derivatives of bristles ---- */

static void renewal_by_motion(const double *p, const lg_touch *touch, const lg_mutual *at, const contact_force *c,
                              lg_bristle_renewal *out)
{
    const double *n = touch->n;
    for (int j = 0; j < LG_MUTUAL_NUMBERS; j++) {
        double dz[3] = {0}, unit[3] = {0}, on_a[3];
        unit[j % 3] = 1;
        change by = j < 6 ? by_pose(touch, c, at, j, dz) : by_twist(touch, j - 6);
        double dun, dN = normal_slope(n, c, &by, &dun);
        bent_slope(p, n, c, &by, dN, out->z + 3 * j);
        if (j >= 6)
            continue;
        lg_copy(3, dz, out->p_0 + 3 * j);
        if (j < 3)
            out->p_0[3 * j + j] += 1;
        lg_copy(3, dz, on_a);
        if (j >= 3)
            lg_add_cross(touch->z, unit, on_a);
        lg_mulT3(at->S, on_a, out->s_0 + 3 * j);
    }
}

lg_status lg_contact_renewal(const lg_force *force, int k, const lg_mutual *at, double *m, lg_bristle_renewal *out)
{
    const double *p = force->e.p;
    const contact_kind kind = kind_of(force);
    lg_touch touch;
    contact_force c;
    *out = (lg_bristle_renewal){.z = {0}};
    LG_TRY(kind.shapes->touch(p + kind.first, k, at->y, at->S, 0, &touch));
    if (exert(p, m, &touch, at, &c)) {
        LG_TRY(kind.shapes->touch(p + kind.first, k, at->y, at->S, 1, &touch));
        renewal_by_motion(p, &touch, at, &c, out);
        for (int j = 0; j < 3 && c.remembers; j++) {
            change by = {.gap = 0};
            by.z[j] = 1;
            bent_slope(p, touch.n, &c, &by, 0, out->kept + 3 * j);
        }
    }
    renew(p, &touch, at, m);
    return LG_OK;
}

lg_status lg_contact_held(const lg_force *force, int k, const lg_mutual *at, const double *m, int *acts, double z[3],
                          double dF[9])
{
    const double *p = force->e.p;
    const contact_kind kind = kind_of(force);
    lg_touch touch;
    contact_force c;
    LG_TRY(kind.shapes->touch(p + kind.first, k, at->y, at->S, 0, &touch));
    *acts = exert(p, m, &touch, at, &c) && c.remembers;
    for (int j = 0; j < 3 && *acts; j++) {
        change by = {.gap = 0};
        by.z[j] = 1;
        force_slope(p, 1, &touch, &c, &by, dF + 3 * j);
    }
    lg_copy(3, touch.z, z);
    return LG_OK;
}

/* ---- beside a reference ---- */

/* A contact with bristles where a number is a little different, and the same contact where it is not, which decides on
   its branches. */
typedef struct comparison {
    const contact_kind *kind;
    const double *p, *p_0;
    const lg_mutual *at, *at_0;
} comparison;

static double normal_change(const double *p, const double *p_0, double d, double un)
{
    double elastic = p_0[STIFFNESS] * power(d, p_0[EXPONENT]), damped = 1 - p_0[DAMPING] * un, by_exponent = 0;
    double by_stiffness = power(d, p_0[EXPONENT]) * damped;
    if (p[EXPONENT] != p_0[EXPONENT])
        by_exponent = elastic * damped * log(d);
    return by_stiffness * (p[STIFFNESS] - p_0[STIFFNESS]) + by_exponent * (p[EXPONENT] - p_0[EXPONENT]) -
           elastic * un * (p[DAMPING] - p_0[DAMPING]);
}

/* The change at a point, from the present touch and memory and those of the reference with the force c. */
static change change_beside(const comparison *b, const lg_touch *touch, const lg_touch *touch_0, const double *m,
                            const contact_force *c)
{
    const double *p = b->p, *p_0 = b->p_0;
    change by = {.gap = touch->gap - touch_0->gap};
    double anchor[3];
    lg_copy(3, b->at->rate, by.u);
    lg_add_cross(b->at->turn, touch->z, by.u);
    lg_mul3(b->at->S, m + S_0, anchor);
    for (int i = 0; i < 3; i++) {
        by.n[i] = touch->n[i] - touch_0->n[i];
        by.u[i] -= c->u[i];
        by.z[i] = c->remembers ? m[Z + i] + b->at->y[i] + anchor[i] - m[P_0 + i] - c->z[i] : 0;
    }
    by.N = normal_change(p, p_0, -touch_0->gap, lg_dot3(touch_0->n, c->u));
    by.friction = p[FRICTION] - p_0[FRICTION];
    by.bristle = p[BRISTLE] - p_0[BRISTLE];
    by.bristle_damping = p[BRISTLE_DAMPING] - p_0[BRISTLE_DAMPING];
    return by;
}

/* Where a point is touched, here and in the reference, with the force c there. Returns status; *acts: whether there is
   one. */
static lg_status touch_beside(const comparison *b, int k, const double *m_0, lg_touch *touch, lg_touch *touch_0,
                              contact_force *c, int *acts)
{
    const contact_kind *kind = b->kind;
    LG_TRY(kind->shapes->touch(b->p + kind->first, k, b->at->y, b->at->S, 0, touch));
    LG_TRY(kind->shapes->touch(b->p_0 + kind->first, k, b->at_0->y, b->at_0->S, 0, touch_0));
    *acts = exert(b->p_0, m_0, touch_0, b->at_0, c);
    return LG_OK;
}

/* Renews the memory m of a point, to the first order in what is different, and m_0, that of the reference. */
static lg_status renew_beside(const comparison *b, int k, double *m, double *m_0)
{
    lg_touch touch, touch_0;
    contact_force c;
    double dun, dz[3];
    int acts;
    LG_TRY(touch_beside(b, k, m_0, &touch, &touch_0, &c, &acts));
    if (acts) {
        change by = change_beside(b, &touch, &touch_0, m, &c);
        bent_slope(b->p_0, touch_0.n, &c, &by, normal_slope(touch_0.n, &c, &by, &dun), dz);
        for (int i = 0; i < 3; i++)
            m[Z + i] = c.bent[i] + dz[i];
        lg_mulT3(b->at->S, touch.z, m + S_0);
        lg_copy(3, touch.p, m + P_0);
    } else {
        lg_zero(BRISTLE_MEMORY, m);
    }
    renew(b->p_0, &touch_0, b->at_0, m_0);
    m[TOUCH] = m_0[TOUCH];
    return LG_OK;
}

lg_status lg_contact_renew_beside(const lg_force *force, const double *p_0, int k, const lg_mutual *at,
                                  const lg_mutual *at_0, double *m, double *m_0)
{
    const contact_kind kind = kind_of(force);
    return renew_beside(&(comparison){&kind, force->e.p, p_0, at, at_0}, k, m, m_0);
}

/* The reference that lg_contact_refer has left in the scratch. */
static lg_status exert_beside(const contact_kind *kind, const lg_element *e, const lg_pose *const f[2],
                              const lg_point *point, lg_load *out)
{
    const double *reference = point->work + e->reference;
    lg_mutual at, at_0;
    lg_mutual_open(f, 0, &at);
    lg_ends_open((const lg_ends *)(const void *)reference, &at_0);
    const comparison b = {kind, e->p, reference + LG_ENDS_SIZE, &at, &at_0};
    for (int k = 0; k < kind->shapes->points; k++) {
        const double *m = memory_of(kind, e, point, k);
        lg_touch touch, touch_0;
        contact_force c;
        double dF[3];
        int acts;
        LG_TRY(touch_beside(&b, k, m, &touch, &touch_0, &c, &acts));
        if (!acts)
            continue;
        change by = change_beside(&b, &touch, &touch_0, m, &c);
        force_slope(b.p_0, 1, &touch_0, &c, &by, dF);
        lg_axpy(3, 1, c.F, dF);
        lg_axpy(3, 1, dF, at.Fm);
        lg_add_cross(touch.z, dF, at.Fm + 3);
    }
    lg_mutual_spread(&at, e, f, 0, out);
    return LG_OK;
}

/* ---- queries ---- */

int lg_contact_points(const lg_force *force)
{
    return force->type->shapes->points;
}

int lg_contact_is_stiff(const lg_force *force)
{
    return force->e.p[STIFFNESS] > 0;
}

lg_status lg_contact_touch(const lg_force *force, int k, const double y[3], const double S[9], lg_touch *out)
{
    return force->type->shapes->touch(force->e.p + first_value(force->type->memory != NULL), k, y, S, 0, out);
}

lg_status lg_contact_at(const lg_force *force, const lg_point *at, int k, lg_contact_point *out)
{
    const lg_pose *f[2];
    lg_mutual seen;
    lg_touch touch;
    contact_force c;
    const lg_element *e = &force->e;
    const contact_kind kind = kind_of(force);
    lg_element_poses(e, at, f);
    lg_mutual_open(f, 0, &seen);
    LG_TRY(kind.shapes->touch(e->p + kind.first, k, seen.y, seen.S, 0, &touch));
    if (!exert(e->p, memory_of(&kind, e, at, k), &touch, &seen, &c))
        lg_zero(3, c.F);
    out->gap = touch.gap;
    double arm[3];
    lg_pose_position(f[1], out->point);
    lg_mul3(f[1]->R, touch.p, arm);
    lg_axpy(3, 1, arm, out->point);
    lg_mul3(f[1]->R, touch.n, out->normal);
    lg_mul3(f[1]->R, c.F, out->force);
    return LG_OK;
}

/* ---- the rows: one for each pair of shapes ---- */

/* Values with which most points are in touch, wherever the bodies are near each other. */
#define SMOOTH_EXAMPLE 0.05, 1.5, 0.02, 0.4, 0.5
#define BRISTLE_EXAMPLE 0.05, 1.5, 0.02, 0.4, 0.3, 0.2
#define AXES_EXAMPLE 0.36, 0.48, -0.8, -0.8, 0.6, 0, 0.48, 0.64, 0.6
#define sphere_a_example 0.2, -0.1, 0.3, 4
#define sphere_b_example -0.3, 0.1, 0.2, 5
#define capsule_a_example 0.5, 0.2, -0.3, -0.6, 0.1, 0.4, 4
#define capsule_b_example 1.5, 0.2, -0.3, -1.6, 0.1, 0.4, 5
#define disc_a_example 0.2, -0.1, 0.3, 0.48, -0.6, 0.64, 1.5
#define disc_b_example -0.2, 0.1, 0.3, 0.48, -0.6, 0.64, 0.2
#define box_a_example 0.2, -0.1, 0.3, AXES_EXAMPLE, 0.5, 0.6, 0.7
#define box_b_example -0.2, 0.1, 0.3, AXES_EXAMPLE, 8, 9, 10
#define plane_b_example 4, -5, 5, 0.48, -0.6, 0.64

#define KERNELS(NAME, A, B, BRISTLES)                                                                                  \
    static const contact_kind NAME##_kind = {&lg_##A##_on_##B, BRISTLES,                                               \
                                             (BRISTLES ? BRISTLE_DAMPING : REGULARIZATION) + 1};                       \
    static lg_status NAME##_wrenches(const lg_element *e, const lg_pose *const f[2], const lg_point *at, int linear,   \
                                     lg_load *out)                                                                     \
    {                                                                                                                  \
        return e->reference && !linear ? exert_beside(&NAME##_kind, e, f, at, out)                                     \
                                       : exert_wrenches(&NAME##_kind, e, f, at, linear, out);                          \
    }

#define CONTACT(NAME, A, B, DOC)                                                                                       \
    .info.family = "force", .info.name = "contact_" #NAME,                                                             \
    .info.doc = "Contact of a " #A " on the first body with a " #B " on the second one" DOC ".",                       \
    .info.reference = "docs/contact", .info.nframes = 2, .info.parameters = NAME##_parameters,                         \
    .info.nparameters = sizeof NAME##_parameters / sizeof(lg_parameter), .info.example = NAME##_example,               \
    .info.nexample = sizeof NAME##_example / sizeof(double), .sees = LG_SEES_POSE, .needs_twists = 1,                  \
    .info.has_kinks = 1, .check = contact_check, .couples = lg_element_between, .wrenches = NAME##_wrenches,           \
    .shapes = &lg_##A##_on_##B

#define SMOOTH_ROW(A, B, POTENTIAL, ...)                                                                               \
    KERNELS(A##_##B, A, B, 0)                                                                                          \
    static const lg_parameter A##_##B##_parameters[] = {SMOOTH_LAW, __VA_ARGS__};                                      \
    static const double A##_##B##_example[] = {SMOOTH_EXAMPLE, A##_a_example, B##_b_example};                          \
    const lg_force_type lg_contact_##A##_##B = {CONTACT(A##_##B, A, B, ""), .potential = (POTENTIAL)};

#define LG_PAIR(A, B, ...)                                                                                             \
    static double A##_##B##_potential(const lg_element *e, const lg_pose *const f[2], const lg_point *at)              \
    {                                                                                                                  \
        (void)at;                                                                                                      \
        const contact_kind kind = {&lg_##A##_on_##B, 0, first_value(0)};                                               \
        return stored(&kind, e->p, f);                                                                                 \
    }                                                                                                                  \
    SMOOTH_ROW(A, B, A##_##B##_potential, __VA_ARGS__)
LG_POTENTIAL_PAIRS(LG_PAIR)
#undef LG_PAIR

#define LG_PAIR(A, B, ...) SMOOTH_ROW(A, B, NULL, __VA_ARGS__)
LG_SLIDING_PAIRS(LG_PAIR)
#undef LG_PAIR

#define BRISTLE_ROW(A, B, POINTS, ...)                                                                                 \
    KERNELS(A##_##B##_bristle, A, B, 1)                                                                                \
    static lg_status A##_##B##_commit(const lg_element *e, const lg_pose *const f[2], const lg_point *from,            \
                                      const lg_point *to, double *mem, lg_report *report)                              \
    {                                                                                                                  \
        (void)from, (void)to, (void)report;                                                                            \
        return commit_bristles(&A##_##B##_bristle_kind, e, f, mem);                                                    \
    }                                                                                                                  \
    static const lg_element_memory A##_##B##_memory = {.commit = A##_##B##_commit};                                    \
    static const lg_parameter A##_##B##_bristle_parameters[] = {BRISTLE_LAW, __VA_ARGS__};                             \
    static const double A##_##B##_bristle_example[] = {BRISTLE_EXAMPLE, A##_a_example, B##_b_example};                 \
    const lg_force_type lg_contact_##A##_##B##_bristle = {                                                             \
        CONTACT(A##_##B##_bristle, A, B, ", with bristles"), .info.nmem = BRISTLE_MEMORY * (POINTS),                   \
        .info.follows = BRISTLE_MEMORY, .memory = &A##_##B##_memory};

#define LG_PAIR(A, B, ...) BRISTLE_ROW(A, B, LG_POINTS_OF_##A, __VA_ARGS__)
LG_POINT_PAIRS(LG_PAIR)
LG_SLIDING_PAIRS(LG_PAIR)
#undef LG_PAIR

BRISTLE_ROW(box, box, 2 * LG_POINTS_OF_box, LG_BOX("a", LG_FIRST_AXES), LG_BOX("b", LG_SECOND_AXES))
