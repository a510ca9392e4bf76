/* The factorisation of a pivot block: the choice of pivots, their smallest size, and the elimination column by column;
   private to sparse/. */
#ifndef LG_SPARSE_PIVOT_H
#define LG_SPARSE_PIVOT_H

#include "sparse/fronts.h"
#include "sparse/tiles.h"

#include <float.h>
#include <math.h>

/* A pivot is what is left of a sum of terms. Round-off of the sum is some n eps = 1e-15 of the terms; a pivot below
   1e-12 of them has lost all but four digits. The measure does not change when rows or columns are scaled. */
static const double pivot_tolerance = 1e-12;

/* Own rows have a scale of their own (a unit length beside masses over h^2): the factor that brings their largest
   entry to that of the velocities' rows, for the choice of pivots only. */
static __attribute__((noinline)) double border_weight(int n, int nv, const double *D)
{
    double velocity = 0, own = 0;
    for (int c = 0; c < nv; c++) {
        for (int r = 0; r < nv; r++)
            velocity = fmax(velocity, fabs(D[r + n * c]));
        for (int r = nv; r < n; r++)
            own = fmax(own, fabs(D[r + n * c]));
    }
    return own > 0 && velocity > 0 ? velocity / own : 1;
}

/* D is n x n, in this kernel and the next ones with a leading dimension of its own: it may be a block of a larger
   pivot block. */
static LG_APART int find_pivot_row(int n, int ld, int p, const double *D)
{
    int best = p;
    double largest = fabs(D[p + ld * p]);
    for (int r = p + 1; r < n; r++)
        if (fabs(D[r + ld * p]) > largest) {
            largest = fabs(D[r + ld * p]);
            best = r;
        }
    return best;
}

/* The same where the row is most often p. */
static LG_INLINE int pivot_row(int n, int ld, int p, const double *D)
{
    double own = fabs(D[p + ld * p]), largest = own;
    UNROLL
    for (int r = p + 1; r < n; r++)
        largest = lg_larger(fabs(D[r + ld * p]), largest);
    return own >= largest ? p : find_pivot_row(n, ld, p, D);
}

static __attribute__((noinline)) int bordered_pivot_row(int n, int p, const double *D, const int *perm, int nv,
                                                        double weight)
{
    int best = p;
    double largest = -1;
    for (int r = p; r < n; r++) {
        double size = fabs(D[r + n * p]) * (perm[r] < nv ? 1 : weight);
        if (size > largest) {
            largest = size;
            best = r;
        }
    }
    return best;
}

static LG_APART void swap_rows(int n, int ld, int p, int q, double *D, int *perm)
{
    exchange_rows(n, ld, p, q, D);
    int t = perm[p];
    perm[p] = perm[q];
    perm[q] = t;
}

/* Sum of |terms| that made the pivot p: within the front, and before it in the updates of its entry. */
static LG_INLINE double pivot_terms(int ld, int p, const double *D, const int *perm, const double *growth)
{
    double terms = 0;
    if (growth)
        terms = perm[p] == p ? growth[p] : sqrt(growth[p] * growth[perm[p]]);
    UNROLL
    for (int s = 0; s < p; s++)
        terms += fabs(D[p + ld * s] * D[s + ld * p]);
    return terms;
}

/* The same where rows have changed places, which is rare. */
static LG_APART double moved_terms(int ld, int p, const double *D, const int *perm, const double *growth)
{
    return pivot_terms(ld, p, D, perm, growth);
}

/* The part of its terms above which a pivot needs no second look; `watch`: where a pivot of a watched front is weak. */
static LG_INLINE double tolerance_of(const lg_front *front, double watch)
{
    return front->watched ? fmax(watch, pivot_tolerance) : pivot_tolerance;
}

/* Whether a pivot that is not above the tolerance can be used all the same; *weakest: the least part of weak pivots. */
static __attribute__((noinline)) int may_use(double pivot, double terms, const lg_front *front, double *weakest)
{
    if (front->watched)
        *weakest = fmin(*weakest, fabs(pivot) > 0 ? fabs(pivot) / terms : 0);
    return fabs(pivot) > pivot_tolerance * terms && fabs(pivot) <= DBL_MAX;
}

/* Eliminates column p, whose reciprocal pivot is known, from those that follow it, and adds what changes their diagonal
   to `terms`. Rows go in the pairs 0 and 1, 2 and 3, and so on for every p, so that no pair is loaded of which another
   pair has just stored a part. */
static LG_INLINE void eliminate(int n, int ld, int p, double inverse, double *restrict D, double *restrict terms)
{
    double *column = D + ld * p;
    int single = p + 1 < n && p % 2 == 0, first = p + 1 + single, last = n % 2 && first < n;
    if (single)
        column[p + 1] *= inverse;
    UNROLL
    for (int r = first; r + 1 < n; r += 2)
        lg_store_two(column + r, lg_load_two(column + r) * inverse);
    if (last)
        column[n - 1] *= inverse;
    UNROLL
    for (int c = p + 1; c < n; c++) {
        double *target = D + ld * c, u = target[p];
        if (single) {
            double change = column[p + 1] * u;
            target[p + 1] -= change;
            if (c == p + 1)
                terms[c] += fabs(change);
        }
        UNROLL
        for (int r = first; r + 1 < n; r += 2) {
            lg_two change = lg_load_two(column + r) * u;
            lg_store_two(target + r, lg_load_two(target + r) - change);
            if (r == c || r + 1 == c)
                terms[c] += fabs(change[c - r]);
        }
        if (last) {
            double change = column[n - 1] * u;
            target[n - 1] -= change;
            if (c == n - 1)
                terms[c] += fabs(change);
        }
    }
}

/* P D = L U in place, reciprocal pivots on the diagonal. The terms of the pivots are known from the elimination until
   rows change places. Returns the column that failed, or n. */
static LG_INLINE int factor_block(int n, int ld, int bordered, const lg_front *front, double watch, double *weakest,
                                  double weight, double *restrict D, int *restrict perm, const double *restrict growth)
{
    double tolerance = tolerance_of(front, watch), known[LG_MOST_INVERTED];
    int moved = 0;
    UNROLL
    for (int r = 0; r < n; r++) {
        perm[r] = r;
        known[r] = growth ? growth[r] : 0;
    }
    UNROLL
    for (int p = 0; p < n; p++) {
        int q = bordered ? bordered_pivot_row(n, p, D, perm, front->velocities, weight) : pivot_row(n, ld, p, D);
        if (q != p) {
            swap_rows(n, ld, p, q, D, perm);
            moved = 1;
        }

        double pivot = D[p + ld * p], terms = moved ? moved_terms(ld, p, D, perm, growth) : known[p];
        if (!(fabs(pivot) > tolerance * terms && fabs(pivot) <= DBL_MAX) && !may_use(pivot, terms, front, weakest))
            return p;

        double inverse = 1 / pivot;
        D[p + ld * p] = inverse;
        eliminate(n, ld, p, inverse, D, known);
    }
    return n;
}

static LG_INLINE int factor_diagonal(int n, const lg_front *front, double watch, double *weakest, double *restrict D,
                                     int *restrict perm, const double *restrict growth)
{
    double weight = front->bordered ? border_weight(n, front->velocities, D) : 1;
    return factor_block(n, n, front->bordered, front, watch, weakest, weight, D, perm, growth);
}

#endif
