/* Spring-dampers between two frames, d = x_b - x_a.

   cartesian_spring: force on b  F = -(k (d - d0) + c d'), component by component in inertial axes.
   spring:           force on b  F = -(k (l - l0) + c l') n,  l = |d|, n = d/l, l' = n . d';
                     dF = -(k n n^T + (k (l - l0) + c l')/l (I - n n^T) + c n (d'^T (I - n n^T))/l) dd - c n n^T dd'. */
#include "model/force/force.h"

/* A force F on b, -F on a. */
static void pull_apart(const double F[3], lg_load *out)
{
    for (int i = 0; i < 3; i++) {
        out->w[0][i] = -F[i], out->w[1][i] = F[i];
        out->w[0][3 + i] = out->w[1][3 + i] = 0;
    }
}

/* dF = A (dx_b - dx_a): the four blocks of a derivative. */
static void spread(const lg_element *e, const double A[9], lg_quarters out[2][2])
{
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            if (lg_element_moves(e, i) && lg_element_moves(e, j))
                lg_quarters_add(&out[i][j], LG_XX, i == j ? 1 : -1, A);
}

static void separation(const lg_pose *const f[2], double d[3], double ddot[3])
{
    for (int i = 0; i < 3; i++) {
        d[i] = f[1]->x[i] - f[0]->x[i];
        ddot[i] = f[1]->xdot[i] - f[0]->xdot[i];
    }
}

/* ---- componentwise ---- */

static const lg_parameter cartesian_parameters[] = {
    {"stiffness", "N/m", "stiffness along x, y, z", 3},
    {"damping", "N s/m", "damping along x, y, z", 3},
    {"offset", "m", "unstretched x_b - x_a", 3},
};

static lg_status cartesian_force(const lg_element *e, const lg_pose *const f[2], const lg_point *at, int linear,
                                 lg_load *out)
{
    (void)at;
    const double *k = e->p, *c = e->p + 3, *offset = e->p + 6;
    double d[3], ddot[3], F[3], K[9] = {0}, D[9] = {0};
    separation(f, d, ddot);
    for (int i = 0; i < 3; i++) {
        F[i] = -(k[i] * (d[i] - offset[i]) + c[i] * ddot[i]);
        K[4 * i] = -k[i], D[4 * i] = -c[i];
    }
    pull_apart(F, out);
    if (linear)
        spread(e, K, out->K), spread(e, D, out->D);
    return LG_OK;
}

static double cartesian_potential(const lg_element *e, const lg_pose *const f[2])
{
    double V = 0;
    for (int i = 0; i < 3; i++) {
        double stretch = f[1]->x[i] - f[0]->x[i] - e->p[6 + i];
        V += e->p[i] * stretch * stretch / 2;
    }
    return V;
}

/* ---- point to point ---- */

static const lg_parameter spring_parameters[] = {
    {"stiffness", "N/m", "stiffness", 1},
    {"damping", "N s/m", "damping", 1},
    {"length", "m", "unstretched length", 1},
};

static void spring_tangent(const lg_element *e, double l, const double n[3], const double ddot[3], double S,
                           lg_load *out)
{
    double k = e->p[0], c = e->p[1], rate = lg_dot3(n, ddot), K[9], D[9];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double nn = n[i] * n[j], across = (i == j) - nn;
            K[3 * i + j] = -(k * nn + S / l * across + c * n[i] * (ddot[j] - rate * n[j]) / l);
            D[3 * i + j] = -c * nn;
        }
    spread(e, K, out->K), spread(e, D, out->D);
}

static lg_status spring_force(const lg_element *e, const lg_pose *const f[2], const lg_point *at, int linear,
                              lg_load *out)
{
    (void)at;
    double d[3], ddot[3], F[3], n[3];
    separation(f, d, ddot);
    double l = lg_norm3(d);
    if (!(l > 0))
        return LG_NOT_FINITE;
    for (int i = 0; i < 3; i++)
        n[i] = d[i] / l;
    double S = e->p[0] * (l - e->p[2]) + e->p[1] * lg_dot3(n, ddot);
    for (int i = 0; i < 3; i++)
        F[i] = -S * n[i];
    pull_apart(F, out);
    if (linear)
        spring_tangent(e, l, n, ddot, S, out);
    return LG_OK;
}

static double spring_potential(const lg_element *e, const lg_pose *const f[2])
{
    double d[3] = {f[1]->x[0] - f[0]->x[0], f[1]->x[1] - f[0]->x[1], f[1]->x[2] - f[0]->x[2]};
    double stretch = lg_norm3(d) - e->p[2];
    return e->p[0] * stretch * stretch / 2;
}

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
    .wrenches = cartesian_force,
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
    .couples = lg_element_between,
    .needs_twists = 1,
    .wrenches = spring_force,
    .potential = spring_potential,
};
