/* R^n: q' = v. */
#include "group/linear.h"

LG_LINEAR_VERBS(rn, n)

static void rn_identity(int n, double *q)
{
    lg_zero(n, q);
}

const lg_node lg_rn = {
    .name = "Rn",
    .reference = "holzinger2024, (31)",
    .position = LG_POSITION_NO_BODY,
    .identity = rn_identity,
    LG_LINEAR_ROW(rn),
};
