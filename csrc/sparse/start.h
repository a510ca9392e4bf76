/* What kernels work on, and how fronts begin, with their assembled values or with zeros, before earlier fronts change
   them; private to sparse/. */
#ifndef LG_SPARSE_START_H
#define LG_SPARSE_START_H

#include "core/poll.h"
#include "core/status.h"
#include "core/two.h"
#include "sparse/fronts.h"

typedef struct lg_front_data {
    const double *values; /* assembled */
    double *factors;
    int keeps; /* S has not changed since lg_front_keep: only the panels of constant fronts are formed anew */
    int symmetric; /* the lower triangle stands for both; every front is factored from `factors` */
    int summed; /* the diagonal is a sum of terms, which `growth` holds at first */
    double *growth; /* per pivot unknown: sum of |terms| subtracted from its diagonal entry so far */
    double *scratch; /* n + m + LG_CHUNK of the largest front */
    int *pivots; /* per front: the permutation of its rows */
    double watch; /* pivots of watched fronts below this part of their terms are weak */
    double *weakest; /* the least part of weak pivots, for factorisations */
    lg_poll *poll; /* asked between the panels of a large front */
} lg_front_data;

/* B = A for n x n matrices, in pairs: GCC copies short arrays of constant size number by number. */
static LG_INLINE void copy_square(int n, const double *restrict A, double *restrict B)
{
    for (int i = 0; i + 1 < n * n; i += 2)
        lg_store_two(B + i, lg_load_two(A + i));
    if (n % 2)
        B[n * n - 1] = A[n * n - 1];
}

/* The pivot block with its assembled values, which become its factors, in a guest where they stand. */
static LG_INLINE double *start_diagonal(int n, const lg_front *front, const lg_front_data *data)
{
    double *D = data->factors + front->D;
    if (front->fresh && data->factors != data->values)
        copy_square(n, data->values + front->D, D);
    return D;
}

/* Where the panels stand before the front is factored. */
static inline const double *panels_of(const lg_front *front, const lg_front_data *data)
{
    return front->whole ? data->values : data->factors;
}

/* What earlier fronts have subtracted from the diagonal; NULL: nothing. */
static inline const double *growth_of(const lg_front *front, const lg_front_data *data)
{
    return front->fresh && !data->summed ? NULL : data->growth + front->pivot;
}

static inline lg_status failed_at(int n, int column, const double *D, int *deficient)
{
    *deficient = column;
    return isfinite(D[column + (long)n * column]) ? LG_SINGULAR : LG_NOT_FINITE;
}

/* A front that others change starts from the assembled values, or from zero, and so does the growth of its diagonal;
   nothing is copied where the factors overwrite the values. */
static inline void start_front(const lg_plan *plan, const lg_front *front, const lg_front_data *data)
{
    size_t size = (size_t)((front->whole ? front->U : front->end) - front->D) * sizeof(double);
    double *D = data->factors + front->D, *growth = data->growth + front->pivot;
    if (front->end > plan->nassembled)
        memset(D, 0, size);
    else if (data->factors != data->values)
        memcpy(D, data->values + front->D, size);
    for (int i = 0; i < front->n; i++)
        growth[i] = data->summed ? fabs(D[i * (front->n + 1L)]) : 0;
}

/* Starts what a front is the first to change, while that is about to be read, and the front itself if no other one
   did. */
static inline void start_fronts(const lg_plan *plan, const lg_front *front, const lg_front_data *data)
{
    const lg_neighbour *first = plan->neighbours + front->neighbour;
    if (!front->changed && (!front->fresh || data->summed))
        start_front(plan, front, data);
    for (const lg_neighbour *later = first; later < first + front->neighbours; later++)
        if (later->starts >= 0)
            start_front(plan, &plan->fronts[later->starts], data);
}

#endif
