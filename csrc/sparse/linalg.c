/* The only user of LAPACK: dense factorisation and solution through the `_work` entries, which neither allocate nor
   transpose. Some builds of OpenBLAS give all names a prefix; setup.py finds it and passes LG_LAPACK_PREFIX. */
#include "sparse/linalg.h"

#include <float.h>
#include <lapacke.h>
#include <math.h>

#ifndef LG_LAPACK_PREFIX
#define LG_LAPACK_PREFIX
#endif
#define LG_PASTE(prefix, name) prefix##name
#define LG_PASTE_EXPANDED(prefix, name) LG_PASTE(prefix, name)
#define LG_LAPACKE(name) LG_PASTE_EXPANDED(LG_LAPACK_PREFIX, LAPACKE_##name)

#ifdef LG_HAVE_OPENBLAS_THREADS
#define LG_SET_THREADS LG_PASTE_EXPANDED(LG_LAPACK_PREFIX, openblas_set_num_threads)
void LG_SET_THREADS(int count);
#endif

/* |u_jj| relative to the largest entry of its column of U, which is that of the factored column up to a factor n */
static double pivot_ratio(int n, const double *A, int j)
{
    const double *u = A + (long)n * j;
    double largest = 0;
    for (int i = 0; i <= j; i++)
        largest = fmax(largest, fabs(u[i]));
    return largest > 0 ? fabs(u[j]) / largest : 0;
}

/* The smallest of these ratios, NaN if one is not finite. */
static double weakest_pivot(int n, const double *A, int *column)
{
    double smallest = INFINITY;
    for (int j = 0; j < n; j++) {
        if (!isfinite(A[j + (long)n * j]))
            return NAN;
        double ratio = pivot_ratio(n, A, j);
        if (ratio < smallest) {
            smallest = ratio;
            *column = j;
        }
    }
    return smallest;
}

/* A ratio of round-off, n eps with a margin for the growth of the factors, leaves no correct digit. */
lg_status lg_dense_factor(int n, double *A, int *pivots, int *deficient)
{
    *deficient = 0;
    if (n == 0)
        return LG_OK;
    LG_LAPACKE(dgetrf_work)(LAPACK_COL_MAJOR, n, n, A, n, pivots);

    double smallest = weakest_pivot(n, A, deficient);
    return isnan(smallest) ? LG_NOT_FINITE : smallest > 16 * n * DBL_EPSILON ? LG_OK : LG_SINGULAR;
}

void lg_dense_solve(int n, const double *A, const int *pivots, double *x)
{
    if (n > 0)
        LG_LAPACKE(dgetrs_work)(LAPACK_COL_MAJOR, 'N', n, 1, A, n, pivots, x, n);
}

void lg_dense_solve_transposed(int n, const double *A, const int *pivots, double *x)
{
    if (n > 0)
        LG_LAPACKE(dgetrs_work)(LAPACK_COL_MAJOR, 'T', n, 1, A, n, pivots, x, n);
}

/* By Sylvester's law of inertia, from A = L D L^T, whose D has blocks of one and two. */
int lg_dense_negative(int n, double *A, int *pivots, double *work)
{
    int negative = 0;
    if (n == 0)
        return 0;
    LG_LAPACKE(dsytrf_work)(LAPACK_COL_MAJOR, 'L', n, A, n, pivots, work, n);
    for (int j = 0; j < n; j++) {
        const double *d = A + (long)n * j + j;
        if (pivots[j] > 0)
            negative += d[0] < 0;
        else {
            negative += d[0] * d[n + 1] < d[1] * d[1] ? 1 : 2 * (d[0] < 0);
            j++;
        }
    }
    return negative;
}

void lg_dense_single_thread(void)
{
#ifdef LG_HAVE_OPENBLAS_THREADS
    LG_SET_THREADS(1);
#endif
}
