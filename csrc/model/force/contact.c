/* Forces of contacts between two shapes (touch.h). At a point with the depth d = -gap > 0 and the velocity u of the
   first body relative to the second one, d' = -n . u and u_t = u - (n . u) n, the force on the first body is

       F = N n - mu N u_t/sqrt(|u_t|^2 + v_s^2),   N = max(0, k d^n (1 + c d')),

   after K. H. Hunt and F. R. E. Crossley (1975), with friction of Coulomb's kind that is smooth around rest: at the
   speed v_s it has 1/sqrt(2) of its limit. The potential is k d^(n+1)/(n+1). */
#include "model/force/contact.h"

#include "model/force/mutual.h"
#include "model/force/touch.h"

enum { STIFFNESS, EXPONENT, DAMPING, FRICTION, REGULARIZATION, SHAPES };

#define LAW                                                                                                            \
    {"stiffness", "N/m^exponent", "stiffness", LG_SCALAR, .valid = LG_NONNEGATIVE},                                    \
        {"exponent", "", "exponent of the depth, at least 1", LG_SCALAR, .valid = LG_POSITIVE},                        \
        {"damping",                                                                                                    \
         "s/m",                                                                                                        \
         "damping, which multiplies the rate of the depth",                                                            \
         LG_SCALAR,                                                                                                    \
         .valid = LG_NONNEGATIVE,                                                                                      \
         .initially = LG_ZERO},                                                                                        \
        {"friction", "", "coefficient of friction", LG_SCALAR, .valid = LG_NONNEGATIVE, .initially = LG_ZERO},         \
    {                                                                                                                  \
        "regularization", "m/s", "speed around which friction begins", LG_SCALAR, .valid = LG_POSITIVE                 \
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
    double rest, F[3]; /* sqrt(|u_t|^2 + v_s^2) */
} contact_force;

/* Returns 0 if there is no force. */
static int exert(const double *p, const lg_touch *touch, const lg_mutual *at, contact_force *c)
{
    double d = -touch->gap;
    if (!(d > 0))
        return 0;
    lg_copy(3, at->rate, c->u);
    lg_add_cross(at->turn, touch->z, c->u);
    double un = lg_dot3(touch->n, c->u), elastic = p[STIFFNESS] * power(d, p[EXPONENT]), damped = 1 - p[DAMPING] * un;
    if (!(damped > 0))
        return 0;
    c->N = elastic * damped;
    c->N_depth = p[EXPONENT] * c->N / d;
    c->N_rate = p[DAMPING] * elastic;
    double square = p[REGULARIZATION] * p[REGULARIZATION];
    for (int i = 0; i < 3; i++) {
        c->slip[i] = c->u[i] - un * touch->n[i];
        square += c->slip[i] * c->slip[i];
    }
    c->rest = sqrt(square);
    for (int i = 0; i < 3; i++)
        c->F[i] = c->N * (touch->n[i] - p[FRICTION] * c->slip[i] / c->rest);
    return 1;
}

/* The change of F along dc, dn and du. */
static void force_slope(const double *p, const lg_touch *touch, const contact_force *c, const double dc[3],
                        const double dn[3], const double du[3], double dF[3])
{
    const double *n = touch->n, *slip = c->slip;
    double un = lg_dot3(n, c->u), dun = lg_dot3(n, du) + lg_dot3(dn, c->u), dslip[3];
    double dN = -c->N_depth * lg_dot3(n, dc) - c->N_rate * dun, mu = p[FRICTION] / c->rest;
    for (int i = 0; i < 3; i++)
        dslip[i] = du[i] - dun * n[i] - un * dn[i];
    double along = lg_dot3(slip, dslip) / (c->rest * c->rest);
    for (int i = 0; i < 3; i++)
        dF[i] = dN * (n[i] - mu * slip[i]) + c->N * (dn[i] - mu * (dslip[i] - along * slip[i]));
}

/* out += (dF, z x dF + dz x F) */
static void add_column(const contact_force *c, const double z[3], const double dz[3], const double dF[3], double *out)
{
    lg_axpy(3, 1, dF, out);
    lg_add_cross(z, dF, out + 3);
    lg_add_cross(dz, c->F, out + 3);
}

static void add_slopes(const double *p, const lg_touch *touch, const contact_force *c, lg_mutual *at)
{
    static const double zero[3];
    for (int j = 0; j < 6; j++) {
        double unit[3] = {0}, dc[3], dn[3], dz[3], du[3] = {0}, dF[3];
        unit[j % 3] = 1;
        for (int i = 0; i < 3; i++)
            dc[i] = j < 3 ? unit[i] : touch->C[3 * i + j - 3];
        lg_mul3(touch->H, dc, dn);
        lg_mul3(touch->P, dc, dz);
        for (int i = 0; i < 3 && j < 3; i++)
            dz[i] -= unit[i];
        lg_cross(at->turn, dz, du);
        force_slope(p, touch, c, dc, dn, du, dF);
        add_column(c, touch->z, dz, dF, at->K + 6 * j);

        lg_copy(3, unit, du);
        if (j >= 3)
            lg_cross(unit, touch->z, du);
        force_slope(p, touch, c, zero, zero, du, dF);
        add_column(c, touch->z, zero, dF, at->D + 6 * j);
    }
}

static lg_status exert_wrenches(const lg_shapes *shapes, const lg_element *e, const lg_pose *const f[2], int linear,
                                lg_load *out)
{
    const double *p = e->p;
    lg_mutual at;
    int touching = 0;
    lg_mutual_open(f, linear, &at);
    for (int k = 0; k < shapes->points; k++) {
        lg_touch touch;
        contact_force c;
        LG_TRY(shapes->touch(p + SHAPES, k, at.y, at.S, 0, &touch));
        if (!exert(p, &touch, &at, &c))
            continue;
        touching = 1;
        lg_axpy(3, 1, c.F, at.Fm);
        lg_add_cross(touch.z, c.F, at.Fm + 3);
        if (!linear)
            continue;
        LG_TRY(shapes->touch(p + SHAPES, k, at.y, at.S, 1, &touch));
        add_slopes(p, &touch, &c, &at);
    }
    lg_zero(12, out->w[0]);
    if (touching)
        lg_mutual_spread(&at, e, f, linear, out);
    return LG_OK;
}

static double stored(const lg_shapes *shapes, const double *p, const lg_pose *const f[2])
{
    lg_mutual at;
    double V = 0, n = p[EXPONENT];
    lg_mutual_open_pose(f, &at);
    for (int k = 0; k < shapes->points; k++) {
        lg_touch touch;
        if (shapes->touch(p + SHAPES, k, at.y, at.S, 0, &touch) == LG_OK && touch.gap < 0)
            V -= p[STIFFNESS] * power(-touch.gap, n) * touch.gap / (n + 1);
    }
    return V;
}

int lg_contact_points(const lg_force *force)
{
    return force->type->shapes->points;
}

lg_status lg_contact_at(const lg_force *force, const lg_point *at, int k, lg_contact_point *out)
{
    const lg_pose *f[2];
    lg_mutual seen;
    lg_touch touch;
    contact_force c;
    lg_element_poses(&force->e, at, f);
    lg_mutual_open(f, 0, &seen);
    LG_TRY(force->type->shapes->touch(force->e.p + SHAPES, k, seen.y, seen.S, 0, &touch));
    if (!exert(force->e.p, &touch, &seen, &c))
        lg_zero(3, c.F);
    out->gap = touch.gap;
    lg_mul3(f[1]->R, touch.p, out->point);
    lg_axpy(3, 1, f[1]->x, out->point);
    lg_mul3(f[1]->R, touch.n, out->normal);
    lg_mul3(f[1]->R, c.F, out->force);
    return LG_OK;
}

/* ---- the rows: one for each pair of shapes ---- */

/* Values with which most points are in touch, wherever the bodies are near each other. */
#define LAW_EXAMPLE 0.05, 1.5, 0.02, 0.4, 0.5
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

#define LG_PAIR(A, B, ...)                                                                                             \
    static lg_status A##_##B##_wrenches(const lg_element *e, const lg_pose *const f[2], const lg_point *at,            \
                                        int linear, lg_load *out)                                                      \
    {                                                                                                                  \
        (void)at;                                                                                                      \
        return exert_wrenches(&lg_##A##_on_##B, e, f, linear, out);                                                    \
    }                                                                                                                  \
    static double A##_##B##_potential(const lg_element *e, const lg_pose *const f[2], const lg_point *at)              \
    {                                                                                                                  \
        (void)at;                                                                                                      \
        return stored(&lg_##A##_on_##B, e->p, f);                                                                      \
    }                                                                                                                  \
    static const lg_parameter A##_##B##_parameters[] = {LAW, __VA_ARGS__};                                             \
    static const double A##_##B##_example[] = {LAW_EXAMPLE, A##_a_example, B##_b_example};                             \
    const lg_force_type lg_contact_##A##_##B = {                                                                       \
        .info = {.family = "force",                                                                                    \
                 .name = "contact_" #A "_" #B,                                                                         \
                 .doc = "Contact of a " #A " on the first body with a " #B " on the second one.",                      \
                 .reference = "docs/contact",                                                                          \
                 .nframes = 2,                                                                                         \
                 .parameters = A##_##B##_parameters,                                                                   \
                 .nparameters = sizeof A##_##B##_parameters / sizeof(lg_parameter),                                    \
                 .example = A##_##B##_example,                                                                         \
                 .nexample = sizeof A##_##B##_example / sizeof(double)},                                               \
        .sees = LG_SEES_POSE,                                                                                          \
        .needs_twists = 1,                                                                                             \
        .check = contact_check,                                                                                        \
        .couples = lg_element_between,                                                                                 \
        .wrenches = A##_##B##_wrenches,                                                                                \
        .potential = A##_##B##_potential,                                                                              \
        .shapes = &lg_##A##_on_##B,                                                                                    \
    };
LG_SHAPE_PAIRS(LG_PAIR)
#undef LG_PAIR
