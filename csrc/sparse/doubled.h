/* Factors in doubled precision: the numbers of a block-sparse matrix are unevaluated sums of two doubles, with 32
   digits, in the places that the plan gives them. They are for matrices whose constraint rows are nearly dependent:
   if rows differ by d from combinations of others, pivots out of S leave d^2 of them, which are round-off in double
   precision long before d is, and have 16 digits left here. Memory and work grow with the fill of the plan, like
   those of the factors in double precision. */
#ifndef LG_SPARSE_DOUBLED_H
#define LG_SPARSE_DOUBLED_H

#include "core/doubled.h"
#include "core/poll.h"
#include "sparse/fronts.h"

/* Where an array of numbers has its two parts. */
typedef struct lg_doubles {
    double *high, *low;
} lg_doubles;

static LG_INLINE lg_two_part lg_doubles_at(lg_doubles x, long i)
{
    return (lg_two_part){x.high[i], x.low[i]};
}

static LG_INLINE void lg_doubles_set(lg_doubles x, long i, lg_two_part a)
{
    x.high[i] = a.high, x.low[i] = a.low;
}

typedef struct lg_doubled {
    lg_doubles values; /* assembled, which become factors */
    lg_doubles x; /* a right-hand side, which becomes the solution */
    lg_doubles z; /* the same in the order of elimination */
    lg_doubles scratch; /* for a front */
    double *growth; /* per pivot unknown: sum of |terms| of its diagonal entry before its front is factored */
    int *pivots; /* per front: the permutation of its rows */
    int summed; /* velocities stand for constraint rows: all pivots are differences of nearly equal numbers */
} lg_doubled;

/* Allocates. Nothing is done if it is open. */
lg_status lg_doubled_open(lg_doubled *doubled, const lg_plan *plan, int summed);
void lg_doubled_close(lg_doubled *doubled);

/* Sets all values to those of a matrix in double precision; NULL: to zero. */
void lg_doubled_put(lg_doubled *doubled, const lg_plan *plan, const double *values);

/* LG_SINGULAR: a pivot is too small, which is the unknown *deficient. */
lg_status lg_doubled_factor(lg_doubled *doubled, const lg_plan *plan, lg_poll *poll, int *deficient);
/* Solves for x with the matrix or its transpose. */
lg_status lg_doubled_solve(const lg_doubled *doubled, const lg_plan *plan, lg_poll *poll, int transposed);
/* The same for a right-hand side of doubles, which becomes the solution. */
lg_status lg_doubled_solve_for(const lg_doubled *doubled, const lg_plan *plan, lg_poll *poll, int transposed,
                               double *x);
/* How many eigenvalues of a symmetric matrix are negative. The factors are used up. */
int lg_doubled_negative(lg_doubled *doubled, const lg_plan *plan);

#endif
