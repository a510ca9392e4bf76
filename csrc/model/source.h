/* Values in time for loads and reference strains: constant, interpolated in a table, or a function of time. They are
   the last two parameters of an element, of which the first, at position `first`, says where the values come from. */
#ifndef LG_MODEL_SOURCE_H
#define LG_MODEL_SOURCE_H

#include "model/element.h"

#include <float.h>

enum { LG_SOURCE_CONSTANT, LG_SOURCE_TABLE, LG_SOURCE_FUNCTION };

/* The time at which a function with a kink is called: at the kink, one rounding error to the side of t_in. */
static inline double lg_beside_kink(double t, double kink, double t_in)
{
    return fabs(t - kink) <= 8 * DBL_EPSILON * fabs(kink) && t_in != kink
               ? nextafter(kink, t_in > kink ? INFINITY : -INFINITY)
               : t;
}

enum { LG_SOURCE_VALUES = 6 }; /* the largest number of values */

#define LG_SOURCE_PARAMETERS(unit, count)                                                                              \
    {"source", "", "where the values come from", LG_SCALAR, .valid = LG_CHOICE, .choices = "constant|table|function"}, \
        {"data", unit, count "; or a count n, n times and " count " for each time; or kinks of a function", LG_REST,   \
         .quadratic = 1}

/* n values; on failure *reason is a short reason. */
lg_status lg_source_check(const lg_element *e, int first, int n, const char **reason);
/* Tables are linear between their times and constant outside; t_in picks the piece, so that a step never mixes two. */
lg_status lg_source_changing(const lg_element *e, int first, int n, const lg_point *at, double *value);

static inline lg_status lg_source_value(const lg_element *e, int first, int n, const lg_point *at, double *value)
{
    if (e->p[first] != LG_SOURCE_CONSTANT)
        return lg_source_changing(e, first, n, at, value);
    lg_copy(n, e->p + first + 1, value);
    return LG_OK;
}

/* The first time of a table, or kink of a function, after t, or INFINITY. */
double lg_source_next_kink(const lg_element *e, int first, double t);

#endif
