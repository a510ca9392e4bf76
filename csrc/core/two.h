/* Two numbers that every processor can add and multiply at once. */
#ifndef LG_CORE_TWO_H
#define LG_CORE_TWO_H

#include "core/small.h"

typedef double lg_two __attribute__((vector_size(16), may_alias));

static LG_INLINE lg_two lg_load_two(const double *at)
{
    lg_two x;
    memcpy(&x, at, sizeof x);
    return x;
}

static LG_INLINE void lg_store_two(double *at, lg_two x)
{
    memcpy(at, &x, sizeof x);
}

#endif
