/* The inertia of a pivot block: it is multiplied out from its factors and factored again as a symmetric matrix, because
   the signs of the pivots of P D = L U say nothing about the eigenvalues of D. */
#include "sparse/inertia.h"

#include "core/small.h"
#include "sparse/linalg.h"

/* An entry of L U, of which no entry above or to the left has been overwritten. */
static double product_at(int n, int row, int column, const double *D)
{
    int last = row < column ? row : column;
    double sum = 0;
    for (int k = 0; k < last; k++)
        sum += D[row + (long)n * k] * D[k + (long)n * column];
    if (row < column)
        return sum + D[row + (long)n * column];
    double pivot = 1 / D[column + (long)n * column];
    return sum + (row == column ? pivot : D[row + (long)n * column] * pivot);
}

/* D := L U */
static void multiply_out(int n, double *D)
{
    for (int row = n - 1; row >= 0; row--)
        for (int column = n - 1; column >= 0; column--)
            D[row + (long)n * column] = product_at(n, row, column, D);
}

static void undo_permutation(int n, const int *perm, double *D, double *scratch)
{
    for (int c = 0; c < n; c++) {
        double *column = D + (long)n * c;
        lg_copy(n, column, scratch);
        for (int r = 0; r < n; r++)
            column[perm[r]] = scratch[r];
    }
}

int lg_pivot_negative(int n, double *D, int *perm, double *scratch)
{
    multiply_out(n, D);
    undo_permutation(n, perm, D, scratch);
    return lg_dense_negative(n, D, perm, scratch);
}
