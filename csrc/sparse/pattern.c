/* Products with the constraint matrix B, entry by entry, and rows of it that are inactive. */
#include "sparse/pattern.h"

#include "core/two.h"

#include <math.h>

/* y += s A x for the column-major rows x columns matrix A */
static LG_INLINE void add_columns(int rows, int columns, const double *restrict A, double s, const double *restrict x,
                                  double *restrict y)
{
    for (int j = 0; j < columns; j++) {
        double sx = s * x[j];
        for (int i = 0; i < rows; i++)
            y[i] += A[i + rows * j] * sx;
    }
}

typedef struct three_rows {
    lg_two first;
    double last;
} three_rows;

/* y + s A x for three rows */
static LG_INLINE three_rows add_to_three(three_rows y, int columns, const double *A, double s, const double *x)
{
    for (int j = 0; j < columns; j++, A += 3) {
        double sx = s * x[j];
        y.first += lg_load_two(A) * sx;
        y.last += A[2] * sx;
    }
    return y;
}

/* y += s B x for three rows that depend on some blocks, from one entry to another. */
static inline void add_three_rows(const lg_pattern *pattern, int entry, int end, const double *B, double s,
                                  const double *x, double *y)
{
    const int *block = pattern->group_block, *value = pattern->group_value, *v = pattern->v_start, *nv = pattern->nv;
    three_rows sum = {lg_load_two(y), y[2]};
    for (; entry < end; entry++) {
        int b = block[entry], n = nv[b];
        if (n == 6)
            sum = add_to_three(sum, 6, B + value[entry], s, x + v[b]);
        else
            sum = add_to_three(sum, n, B + value[entry], s, x + v[b]);
    }
    lg_store_two(y, sum.first);
    y[2] = sum.last;
}

/* y += s A^T x */
static LG_INLINE void add_transposed_rows(int rows, int columns, const double *A, double s, const double *restrict x,
                                          double *restrict y)
{
    for (int j = 0; j < columns; j++) {
        double sum = 0;
        for (int i = 0; i < rows; i++)
            sum += A[i + rows * j] * x[i];
        y[j] += s * sum;
    }
}

/* The same with the most frequent sizes as constants. */
static inline void add_transposed(int rows, int columns, const double *A, double s, const double *restrict x,
                                  double *restrict y)
{
    if (rows == 3 && columns == 6)
        add_transposed_rows(3, 6, A, s, x, y);
    else if (rows == 3)
        add_transposed_rows(3, columns, A, s, x, y);
    else
        add_transposed_rows(rows, columns, A, s, x, y);
}

void lg_pattern_add_B(const lg_pattern *pattern, const double *B, double s, const double *x, double *y)
{
    for (int g = 0; g < pattern->ngroups; g++) {
        int row = pattern->group_row[g], rows = pattern->group_row[g + 1] - row;
        int entry = pattern->group_start[g], end = pattern->group_start[g + 1];
        if (rows == 3) {
            add_three_rows(pattern, entry, end, B, s, x, y + row);
            continue;
        }
        for (; entry < end; entry++) {
            int b = pattern->group_block[entry];
            add_columns(rows, pattern->nv[b], B + pattern->group_value[entry], s, x + pattern->v_start[b], y + row);
        }
    }
    for (int b = 0; b < pattern->nblocks; b++)
        if (pattern->nown[b])
            add_columns(pattern->nown[b], pattern->nv[b], B + pattern->own_value[b], s, x + pattern->v_start[b],
                        y + pattern->own_row[b]);
}

/* The sum of |entries| of a row of a column-major rows x columns matrix. */
static double row_size(int rows, int columns, const double *A, int row)
{
    double sum = 0;
    for (int j = 0; j < columns; j++)
        sum += fabs(A[row + rows * j]);
    return sum;
}

void lg_pattern_row_sizes(const lg_pattern *pattern, const double *B, double *size)
{
    for (int g = 0; g < pattern->ngroups; g++) {
        int first = pattern->group_row[g], rows = pattern->group_row[g + 1] - first;
        for (int r = 0; r < rows; r++) {
            size[first + r] = 0;
            for (int e = pattern->group_start[g]; e < pattern->group_start[g + 1]; e++)
                size[first + r] += row_size(rows, pattern->nv[pattern->group_block[e]], B + pattern->group_value[e], r);
        }
    }
    for (int b = 0; b < pattern->nblocks; b++)
        for (int r = 0; r < pattern->nown[b]; r++)
            size[pattern->own_row[b] + r] = row_size(pattern->nown[b], pattern->nv[b], B + pattern->own_value[b], r);
}

double lg_pattern_relative(const lg_pattern *pattern, const double *B, const double *x)
{
    double largest = 0;
    for (int g = 0; g < pattern->ngroups; g++) {
        int first = pattern->group_row[g], rows = pattern->group_row[g + 1] - first;
        for (int r = 0; r < rows; r++) {
            double size = 1;
            for (int e = pattern->group_start[g]; e < pattern->group_start[g + 1]; e++)
                size += row_size(rows, pattern->nv[pattern->group_block[e]], B + pattern->group_value[e], r);
            largest = fmax(largest, fabs(x[first + r]) / size);
        }
    }
    for (int b = 0; b < pattern->nblocks; b++)
        for (int r = 0; r < pattern->nown[b]; r++)
            largest = fmax(largest, fabs(x[pattern->own_row[b] + r]) /
                                        (1 + row_size(pattern->nown[b], pattern->nv[b], B + pattern->own_value[b], r)));
    return largest;
}

void lg_pattern_add_BT(const lg_pattern *pattern, const double *B, double s, const double *x, double *y)
{
    for (int g = 0; g < pattern->ngroups; g++) {
        int row = pattern->group_row[g], rows = pattern->group_row[g + 1] - row;
        for (int e = pattern->group_start[g]; e < pattern->group_start[g + 1]; e++) {
            int b = pattern->group_block[e];
            add_transposed(rows, pattern->nv[b], B + pattern->group_value[e], s, x + row, y + pattern->v_start[b]);
        }
    }
    for (int b = 0; b < pattern->nblocks; b++)
        if (pattern->nown[b])
            add_transposed(pattern->nown[b], pattern->nv[b], B + pattern->own_value[b], s, x + pattern->own_row[b],
                           y + pattern->v_start[b]);
}

void lg_pattern_mask(const lg_pattern *p, int i, double one, double *values)
{
    int first = p->group_row[p->masked_group[i]], rows = p->group_row[p->masked_group[i] + 1] - first;
    for (int e = p->group_start[p->masked_group[i]]; e < p->group_start[p->masked_group[i] + 1]; e++)
        for (int j = 0; j < p->nv[p->group_block[e]]; j++)
            values[p->group_value[e] + p->masked_row[i] - first + j * rows] = 0;
    values[p->mask_value + i] = one;
}

void lg_pattern_mask_nonholonomic(const lg_pattern *p, double one, double *values)
{
    for (int i = p->nmasked - p->nnonholonomic; i < p->nmasked; i++)
        lg_pattern_mask(p, i, one, values);
}

void lg_pattern_part(const lg_pattern *p, double *values, double *part)
{
    for (int i = 0; i < p->nvalues; i++)
        part[i] = values[i];
    lg_pattern_mask_nonholonomic(p, 0, values);
    for (int i = 0; i < p->nvalues; i++)
        part[i] -= values[i];
}
