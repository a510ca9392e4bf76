/* The plans of a system whose couplings do not differ. */
#ifndef PLANS_H
#define PLANS_H

#include "sparse/matrix.h"

static inline lg_plans one_plan(const lg_plan *plan)
{
    lg_plans plans;
    for (int coupling = 0; coupling < LG_COUPLINGS; coupling++)
        plans.of[coupling] = plan;
    return plans;
}

#endif
