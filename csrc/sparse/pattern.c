/* Products with the constraint matrix B, entry by entry. */
#include "sparse/pattern.h"

/* y += s A x for the column-major rows x columns matrix A */
static inline void add_product(int rows, int columns, const double *A, double s, const double *restrict x,
                               double *restrict y)
{
    for (int j = 0; j < columns; j++) {
        double sx = s * x[j];
        for (int i = 0; i < rows; i++)
            y[i] += A[i + rows * j] * sx;
    }
}

/* y += s A^T x */
static inline void add_transposed(int rows, int columns, const double *A, double s, const double *restrict x,
                                  double *restrict y)
{
    for (int j = 0; j < columns; j++) {
        double sum = 0;
        for (int i = 0; i < rows; i++)
            sum += A[i + rows * j] * x[i];
        y[j] += s * sum;
    }
}

void lg_pattern_add_B(const lg_pattern *pattern, const double *B, double s, const double *x, double *y)
{
    for (int g = 0; g < pattern->ngroups; g++) {
        int row = pattern->group_row[g], rows = pattern->group_row[g + 1] - row;
        for (int e = pattern->group_start[g]; e < pattern->group_start[g + 1]; e++) {
            int b = pattern->group_block[e];
            add_product(rows, pattern->nv[b], B + pattern->group_value[e], s, x + pattern->v_start[b], y + row);
        }
    }
    for (int b = 0; b < pattern->nblocks; b++)
        if (pattern->nown[b])
            add_product(pattern->nown[b], pattern->nv[b], B + pattern->own_value[b], s, x + pattern->v_start[b],
                        y + pattern->own_row[b]);
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
