/* Spring-dampers between two frames, d = x_b - x_a.

   cartesian_spring: force on b  F = -(k (d - d0) + c d'), component by component in inertial axes.
   spring:           force on b  F = -(k (l - l0) + c l') n,  l = |d|, n = d/l, l' = n . d';
                     dF = -(k n n^T + (k (l - l0) + c l')/l (I - n n^T) + c n (d'^T (I - n n^T))/l) dd - c n n^T dd'.
                     As l goes to 0, n follows d', so that F = -k d - c d' there if k l0 = 0. With a
                     preload there is no limit. */
#include "model/force/force.h"
#include "model/share.h"

/* ---- componentwise ---- */

static const lg_parameter cartesian_parameters[] = {
    {"stiffness", "N/m", "stiffness along x, y, z", LG_VECTOR(3), .quadratic = 1},
    {"damping", "N s/m", "damping along x, y, z", LG_VECTOR(3), .initially = LG_ZERO, .quadratic = 1},
    {"offset", "m", "unstretched x_b - x_a", LG_VECTOR(3), .initially = LG_START_SEPARATION, .quadratic = 1},
};

/* A = -diag(k) */
static void set_diagonal(const double k[3], double A[9])
{
    lg_zero(9, A);
    for (int i = 0; i < 3; i++)
        A[4 * i] = -k[i];
}

static lg_status cartesian_between(const lg_element *e, const double d[3], const double ddot[3], int linear,
                                   double F[3], double A[9], double B[9])
{
    const double *k = e->p, *c = e->p + 3, *offset = e->p + 6;
    for (int i = 0; i < 3; i++)
        F[i] = -(k[i] * (d[i] - offset[i]) + c[i] * ddot[i]);
    if (linear)
        set_diagonal(k, A), set_diagonal(c, B);
    return LG_OK;
}

static lg_status cartesian_all(lg_forces forces, const lg_point *at, const lg_wanted *want)
{
    int linear = lg_wants_slopes(want);
    for (const lg_force *f = forces.first; f < forces.end; f++)
        LG_TRY(lg_force_add_between(f, at, want, linear, cartesian_between));
    return LG_OK;
}

static double cartesian_potential(const lg_element *e, const lg_pose *const f[2], const lg_point *at)
{
    (void)at;
    double V = 0, d[3];
    lg_pose_between(f[0], f[1], d);
    for (int i = 0; i < 3; i++) {
        double stretch = d[i] - e->p[6 + i];
        V += e->p[i] * stretch * stretch / 2;
    }
    return V;
}

/* ---- point to point ---- */

static const lg_parameter spring_parameters[] = {
    {"stiffness", "N/m", "stiffness", LG_SCALAR, .quadratic = 1},
    {"damping", "N s/m", "damping", LG_SCALAR, .initially = LG_ZERO, .quadratic = 1},
    {"length", "m", "unstretched length", LG_SCALAR, .valid = LG_NONNEGATIVE, .initially = LG_START_DISTANCE,
     .quadratic = 1},
};

/* The force between two points that coincide. */
static lg_status spring_at_zero(const lg_element *e, const double ddot[3], int linear, double F[3], double A[9],
                                double B[9])
{
    double k = e->p[0], c = e->p[1];
    if (k * e->p[2] != 0)
        return LG_NOT_FINITE;
    for (int i = 0; i < 3; i++)
        F[i] = -c * ddot[i];
    if (linear)
        set_diagonal((double[]){k, k, k}, A), set_diagonal((double[]){c, c, c}, B);
    return LG_OK;
}

static lg_status spring_between(const lg_element *e, const double d[3], const double ddot[3], int linear, double F[3],
                                double A[9], double B[9])
{
    double k = e->p[0], c = e->p[1], l = lg_norm3(d), n[3];
    if (l == 0)
        return spring_at_zero(e, ddot, linear, F, A, B);
    for (int i = 0; i < 3; i++)
        n[i] = d[i] / l;
    double rate = lg_dot3(n, ddot), S = k * (l - e->p[2]) + c * rate;
    for (int i = 0; i < 3; i++)
        F[i] = -S * n[i];
    for (int i = 0; linear && i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double nn = n[i] * n[j], across = (i == j) - nn;
            A[3 * i + j] = -(k * nn + S / l * across + c * n[i] * (ddot[j] - rate * n[j]) / l);
            B[3 * i + j] = -c * nn;
        }
    return LG_OK;
}

static double spring_potential(const lg_element *e, const lg_pose *const f[2], const lg_point *at)
{
    (void)at;
    double d[3];
    lg_pose_between(f[0], f[1], d);
    double stretch = lg_norm3(d) - e->p[2];
    return e->p[0] * stretch * stretch / 2;
}

/* ---- derivatives by parameters ---- */

/* Per component: -(k (d - d0) + c d') w, where w is the virtual velocity. */
static void cartesian_shares(const lg_element *e, const lg_pose *const f[2], const lg_point *at, const double *twists,
                             double *slopes)
{
    (void)at;
    double d[3];
    lg_pose_between(f[0], f[1], d);
    for (int i = 0; i < 3; i++) {
        double w = twists[6 + i] - twists[i];
        slopes[i] = -(d[i] - e->p[6 + i]) * w;
        slopes[3 + i] = -(f[1]->xdot[i] - f[0]->xdot[i]) * w;
        slopes[6 + i] = e->p[i] * w;
    }
}

/* -(k (l - l0) + c l') n.w; -c d'.w where the points coincide and k l0 = 0 */
static void spring_shares(const lg_element *e, const lg_pose *const f[2], const lg_point *at, const double *twists,
                          double *slopes)
{
    (void)at;
    double d[3], ddot[3], w[3];
    lg_pose_between(f[0], f[1], d);
    for (int i = 0; i < 3; i++) {
        ddot[i] = f[1]->xdot[i] - f[0]->xdot[i];
        w[i] = twists[6 + i] - twists[i];
    }
    double l = lg_norm3(d), along = l > 0 ? lg_dot3(d, w) / l : 0;
    slopes[0] = -(l - e->p[2]) * along;
    slopes[1] = l > 0 ? -lg_dot3(d, ddot) / l * along : -lg_dot3(ddot, w);
    slopes[2] = e->p[0] * along;
}

static const lg_force_shares of_cartesian = {.write = cartesian_shares};
static const lg_force_shares of_spring = {.write = spring_shares};

const lg_force_type lg_cartesian_spring = {
    .info = {.family = "force",
             .name = "cartesian_spring",
             .doc = "Springs and dampers along the inertial axes between two points.",
             .reference = "holzinger2024 4.2",
             .nframes = 2,
             .parameters = cartesian_parameters,
             .nparameters = 3},
    .couples = lg_element_between,
    .needs_twists = 1,
    .between = cartesian_between,
    .all = cartesian_all,
    .shares = &of_cartesian,
    .potential = cartesian_potential,
};

const lg_force_type lg_spring = {
    .info = {.family = "force",
             .name = "spring",
             .doc = "Spring and damper along the line between two points.",
             .reference = "kinon2024 5.1",
             .nframes = 2,
             .parameters = spring_parameters,
             .nparameters = 3},
    .sees = LG_SEES_DISTANCE,
    .couples = lg_element_between,
    .needs_twists = 1,
    .between = spring_between,
    .shares = &of_spring,
    .potential = spring_potential,
};
