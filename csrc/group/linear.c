/* R^n: q' = v. And values z of first-order equations z' = f(z): n velocities without coordinates, v = z, so that
   accelerations are the rates, and nothing moves. */
#include "group/linear.h"

LG_LINEAR_FUNCTIONS(rn, n)

const lg_node lg_rn = {
    .name = "Rn",
    .reference = "holzinger2024, (31)",
    .position = LG_POSITION_NO_BODY,
    LG_LINEAR_ROW(rn),
};

static void first_order_retract(int n, const double *q0, const double *theta, double *q)
{
    (void)n, (void)q0, (void)theta, (void)q;
}

static void first_order_difference(int n, const double *q0, const double *q1, double *theta)
{
    (void)q0, (void)q1;
    lg_zero(n, theta);
}

const lg_node lg_first_order = {
    .name = "first_order",
    .reference = "docs/control",
    .position = LG_POSITION_NONE,
    .linear = 1,
    .retract = first_order_retract,
    .difference = first_order_difference,
    .rate = rn_rate,
    .tangent = rn_tangent,
    .tangent_inv = rn_tangent,
    .tangent_mul = rn_tangent_mul,
    .ad = rn_ad,
};
