/* Dense factors with complete pivoting; see pivoted.h. */
#include "sparse/pivoted.h"

#include "core/small.h"

#include <float.h>
#include <math.h>

/* The scale of S: far above round-off, and far below rows that are told from dependent ones. A power of two. */
static const double low = 0x1p-40;

void lg_dense_equilibrate(int n, double *A, double *row, double *column)
{
    for (int i = 0; i < n; i++)
        row[i] = 0;
    for (long j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            row[i] = fmax(row[i], fabs(A[i + n * j]));
    for (int i = 0; i < n; i++)
        row[i] = row[i] > 0 ? 1 / row[i] : 1;

    for (long j = 0; j < n; j++) {
        double largest = 0;
        for (int i = 0; i < n; i++)
            largest = fmax(largest, fabs(A[i + n * j] *= row[i]));
        column[j] = largest > 0 ? 1 / largest : 1;
        for (int i = 0; i < n; i++)
            A[i + n * j] *= column[j];
    }
}

/* S times `low`: rows of velocities times it, and columns of multipliers divided by it. */
static void lower_S(int n, int nv, double *A, double *row, double *column)
{
    for (long j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            A[i + n * j] *= (i < nv ? low : 1) * (j < nv ? 1 : 1 / low);
    for (int i = 0; i < nv; i++)
        row[i] *= low;
    for (int j = nv; j < n; j++)
        column[j] /= low;
}

/* The largest entry from (p, p) on; NaN if an entry is not finite. */
static double largest_entry(int n, int p, const double *A, int *row, int *column)
{
    double largest = -1, zero = 0;
    for (int j = p; j < n; j++)
        for (int i = p; i < n; i++) {
            double size = fabs(A[i + (long)n * j]);
            zero += 0 * size;
            if (size > largest)
                largest = size, *row = i, *column = j;
        }
    return largest + zero;
}

static void swap(double *a, double *b)
{
    double t = *a;
    *a = *b, *b = t;
}

static void swap_numbers(int *order, int a, int b)
{
    int t = order[a];
    order[a] = order[b], order[b] = t;
}

static void bring(int n, int p, int row, int column, double *A, int *order)
{
    for (int j = 0; j < n && row != p; j++)
        swap(A + p + (long)n * j, A + row + (long)n * j);
    for (int i = 0; i < n && column != p; i++)
        swap(A + i + (long)n * p, A + i + (long)n * column);
    swap_numbers(order, p, row);
    swap_numbers(order + n, p, column);
}

static void remove_pivot(int n, int p, double *A)
{
    double *pivot = A + (long)n * p;
    for (int i = p + 1; i < n; i++)
        pivot[i] /= pivot[p];
    for (int j = p + 1; j < n; j++) {
        double *target = A + (long)n * j;
        if (target[p] != 0)
            lg_axpy(n - p - 1, -target[p], pivot + p + 1, target + p + 1);
    }
}

lg_status lg_pivoted_factor(int n, int nv, double *A, int *order)
{
    double *row = A + (long)n * n, *column = row + n;
    lg_dense_equilibrate(n, A, row, column);
    lower_S(n, nv, A, row, column);
    for (int i = 0; i < n; i++)
        order[i] = order[n + i] = i;
    for (int p = 0; p < n; p++) {
        int i = p, j = p;
        double largest = largest_entry(n, p, A, &i, &j);
        bring(n, p, i, j, A, order);
        if (!isfinite(largest))
            return LG_NOT_FINITE;
        if (largest <= 4 * n * DBL_EPSILON * (order[p] < nv && order[n + p] < nv ? low : 1))
            return LG_SINGULAR;
        remove_pivot(n, p, A);
    }
    return LG_OK;
}

void lg_pivoted_solve(int n, double *A, const int *order, double *x)
{
    double *row = A + (long)n * n, *column = row + n, *y = column + n;
    for (int i = 0; i < n; i++)
        y[i] = x[order[i]] * row[order[i]];
    for (int p = 0; p < n; p++)
        lg_axpy(n - p - 1, -y[p], A + (long)n * p + p + 1, y + p + 1);
    for (int p = n - 1; p >= 0; p--) {
        y[p] /= A[p + (long)n * p];
        lg_axpy(p, -y[p], A + (long)n * p, y);
    }
    for (int j = 0; j < n; j++)
        x[order[n + j]] = y[j] * column[order[n + j]];
}

void lg_pivoted_solve_transposed(int n, double *A, const int *order, double *x)
{
    double *row = A + (long)n * n, *column = row + n, *y = column + n;
    for (int j = 0; j < n; j++)
        y[j] = x[order[n + j]] * column[order[n + j]];
    for (int p = 0; p < n; p++)
        y[p] = (y[p] - lg_dot(p, A + (long)n * p, y)) / A[p + (long)n * p];
    for (int p = n - 1; p >= 0; p--)
        y[p] -= lg_dot(n - p - 1, A + (long)n * p + p + 1, y + p + 1);
    for (int i = 0; i < n; i++)
        x[order[i]] = y[i] * row[order[i]];
}
