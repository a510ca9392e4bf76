/* Numbers of doubled precision: unevaluated sums of two doubles, of which the second one is round-off of the first
   (dekker1971). The sums need arithmetic that rounds every operation to double and contracts none. */
#ifndef LG_CORE_DOUBLED_H
#define LG_CORE_DOUBLED_H

#include "core/small.h"

typedef struct lg_two_part {
    double high, low;
} lg_two_part;

/* The sum of two doubles, exactly. */
static LG_INLINE lg_two_part lg_exact_sum(double a, double b)
{
    double sum = a + b, part = sum - a;
    return (lg_two_part){sum, (a - (sum - part)) + (b - part)};
}

/* The same for |a| >= |b|. */
static LG_INLINE lg_two_part lg_exact_ordered_sum(double a, double b)
{
    double sum = a + b;
    return (lg_two_part){sum, b - (sum - a)};
}

/* The upper 26 digits of a double; the others have as many. */
static LG_INLINE double lg_upper_half(double a)
{
    double shifted = 134217729 * a; /* 2^27 + 1 */
    return shifted - (shifted - a);
}

/* The product of two doubles, exactly. */
static LG_INLINE lg_two_part lg_exact_product(double a, double b)
{
    double product = a * b, a_up = lg_upper_half(a), b_up = lg_upper_half(b), a_low = a - a_up, b_low = b - b_up;
    return (lg_two_part){product, ((a_up * b_up - product) + a_up * b_low + a_low * b_up) + a_low * b_low};
}

static LG_INLINE lg_two_part lg_doubled_product(lg_two_part a, lg_two_part b)
{
    lg_two_part product = lg_exact_product(a.high, b.high);
    return lg_exact_ordered_sum(product.high, product.low + (a.high * b.low + a.low * b.high));
}

/* a - b, with an error of 1e-32 of both. */
static LG_INLINE lg_two_part lg_doubled_difference(lg_two_part a, lg_two_part b)
{
    lg_two_part sum = lg_exact_sum(a.high, -b.high);
    return lg_exact_ordered_sum(sum.high, sum.low + (a.low - b.low));
}

static LG_INLINE lg_two_part lg_doubled_reciprocal(lg_two_part a)
{
    double first = 1 / a.high;
    lg_two_part rest = lg_doubled_difference((lg_two_part){1, 0}, lg_doubled_product(a, (lg_two_part){first, 0}));
    return lg_exact_ordered_sum(first, first * rest.high);
}

#endif
