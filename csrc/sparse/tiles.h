/* Small dense kernels: triangular solutions, and products that are subtracted a tile of 4 rows and 3 columns at a time;
   private to sparse/. With sizes that the compiler knows, the loops marked UNROLL have constant bounds. Rows go in
   pairs, which every processor can add and multiply at once; with an odd number of rows, the second row of the last
   pair is padding or belongs to what follows, and its results are dropped. */
#ifndef LG_SPARSE_TILES_H
#define LG_SPARSE_TILES_H

#include "core/two.h"

#if defined(__GNUC__) && !defined(__clang__)
#define UNROLL _Pragma("GCC unroll 8")
#else
#define UNROLL
#endif

/* Whether a 6 x 6 matrix is block diagonal with two 3 x 3 blocks, as a matrix on a direct product of positions and
   rotations. */
static inline int is_apart(const double *A)
{
    typedef uint64_t two_words __attribute__((vector_size(16)));
    two_words bits = {0};
    uint64_t single = 0;
    UNROLL
    for (int c = 0; c < 6; c++) {
        const double *other = A + 6 * c + (c < 3 ? 3 : 0);
        two_words pair;
        uint64_t last;
        memcpy(&pair, other, sizeof pair);
        memcpy(&last, other + 2, sizeof last);
        bits |= pair;
        single |= last;
    }
    return (bits[0] | bits[1] | single) << 1 == 0; /* whatever the signs of the zeros */
}

/* Whether the first 3 x 3 block of a 6 x 6 matrix is the identity, as for positions beside rotations. */
static inline int begins_with_identity(const double *X)
{
    uint64_t word[6], bits = 0;
    memcpy(word, X + 1, 2 * sizeof *word);
    memcpy(word + 2, X + 12, 2 * sizeof *word);
    memcpy(word + 4, X + 6, sizeof *word);
    memcpy(word + 5, X + 8, sizeof *word);
    UNROLL
    for (int i = 0; i < 6; i++)
        bits |= word[i];
    return bits << 1 == 0 && X[0] == 1 && X[7] == 1 && X[14] == 1;
}

static inline void exchange_rows(long n, long ld, int p, int q, double *D)
{
    for (long c = 0; c < n; c++) {
        double t = D[p + ld * c];
        D[p + ld * c] = D[q + ld * c];
        D[q + ld * c] = t;
    }
}

/* x := L_D^-1 x */
static LG_INLINE void lower_solve(int n, const double *restrict D, double *restrict x)
{
    UNROLL
    for (int p = 0; p < n; p++) {
        UNROLL
        for (int r = p + 1; r < n; r++)
            x[r] -= D[r + n * p] * x[p];
    }
}

/* x := U_D^-1 x */
static LG_INLINE void upper_solve(int n, const double *restrict D, double *restrict x)
{
    UNROLL
    for (int p = n - 1; p >= 0; p--) {
        x[p] *= D[p + n * p];
        UNROLL
        for (int r = 0; r < p; r++)
            x[r] -= D[r + n * p] * x[p];
    }
}

/* x = y, in the pairs in which x is read next. */
static LG_INLINE void put_pairs(int n, const double *restrict y, double *restrict x)
{
    UNROLL
    for (int r = 0; r + 1 < n; r += 2)
        lg_store_two(x + r, (lg_two){y[r], y[r + 1]});
    if (n % 2)
        x[n - 1] = y[n - 1];
}

/* sum = L U for at most 4 rows, in pairs, and 3 columns: as many as the registers hold */
static LG_INLINE void multiply_tile(int n, int rows, int columns, const double *restrict L, int ld,
                                    const double *restrict U, lg_two sum[3][2])
{
    UNROLL
    for (int c = 0; c < columns; c++)
        sum[c][0] = sum[c][1] = (lg_two){0};
    UNROLL
    for (int p = 0; p < n; p++) {
        lg_two first = lg_load_two(L + ld * p), second = rows > 2 ? lg_load_two(L + ld * p + 2) : first;
        UNROLL
        for (int c = 0; c < columns; c++) {
            sum[c][0] += first * U[p + n * c];
            if (rows > 2)
                sum[c][1] += second * U[p + n * c];
        }
    }
}

/* target = from - sum, both with the same leading dimension */
static LG_INLINE void subtract_sums(int rows, int columns, lg_two sum[3][2], const double *from, double *target, int ld)
{
    UNROLL
    for (int c = 0; c < columns; c++, from += ld, target += ld) {
        UNROLL
        for (int r = 0; r + 1 < rows; r += 2)
            lg_store_two(target + r, lg_load_two(from + r) - sum[c][r / 2]);
        if (rows % 2)
            target[rows - 1] = from[rows - 1] - sum[c][rows / 2][0];
    }
}

/* target -= L U for such a tile. growth, unless NULL: of the diagonal. */
static LG_INLINE void subtract_tile(int n, int rows, int columns, const double *restrict L, int ld,
                                    const double *restrict U, double *target, int ld_target, double *restrict growth)
{
    lg_two sum[3][2];
    multiply_tile(n, rows, columns, L, ld, U, sum);
    subtract_sums(rows, columns, sum, target, target, ld_target);
    UNROLL
    for (int c = 0; growth && c < columns; c++)
        growth[c] += fabs(sum[c][c / 2][c % 2]);
}

/* target -= L U for all rows and at most 3 columns */
static LG_INLINE void subtract_columns(int n, int rows, int columns, const double *L, int ld, const double *U,
                                       double *target, int ld_target)
{
    for (; rows >= 4; rows -= 4, L += 4, target += 4)
        subtract_tile(n, 4, columns, L, ld, U, target, ld_target, NULL);
    if (rows == 3)
        subtract_tile(n, 3, columns, L, ld, U, target, ld_target, NULL);
    else if (rows == 2)
        subtract_tile(n, 2, columns, L, ld, U, target, ld_target, NULL);
    else if (rows == 1)
        subtract_tile(n, 1, columns, L, ld, U, target, ld_target, NULL);
}

/* target -= L U */
static LG_INLINE void subtract_product(int n, int rows, int columns, const double *L, int ld, const double *U,
                                       double *target, int ld_target)
{
    for (; columns >= 3; columns -= 3, U += 3 * n, target += 3 * ld_target)
        subtract_columns(n, rows, 3, L, ld, U, target, ld_target);
    if (columns == 2)
        subtract_columns(n, rows, 2, L, ld, U, target, ld_target);
    else if (columns == 1)
        subtract_columns(n, rows, 1, L, ld, U, target, ld_target);
}

/* The same for a square target of at most 3 rows, and records how much was subtracted from its diagonal */
static LG_INLINE void subtract_from_small(int n, int rows, const double *L, int ld, const double *U, double *target,
                                          double *growth)
{
    if (rows == 3)
        subtract_tile(n, 3, 3, L, ld, U, target, 3, growth);
    else if (rows == 2)
        subtract_tile(n, 2, 2, L, ld, U, target, 2, growth);
    else if (rows == 1)
        subtract_tile(n, 1, 1, L, ld, U, target, 1, growth);
}

#endif
