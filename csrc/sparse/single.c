/* Kernels of fronts with a single neighbour; see single.h. All sizes are constants, so that loops are unrolled and
   numbers of L_D are read once for all columns of U. Every number is the result of the same operations, in the same
   order, as by the kernels for any fronts. */
#include "sparse/single.h"

#include "sparse/pinned.h"
#include "sparse/pivot.h"
#include "sparse/start.h"

/* ---- factorisation ---- */

/* L := source U_D^-1 */
static LG_INLINE void eliminate_left(int n, int m, const double *restrict D, const double *source, double *L)
{
    enum { PAIRS = (LG_MOST_INVERTED + 1) / 2 };
    int ld = m + m % 2;
    lg_two x[LG_MOST_INVERTED][PAIRS];
    UNROLL
    for (int c = 0; c < n; c++) {
        UNROLL
        for (int i = 0; i < ld / 2; i++)
            x[c][i] = lg_load_two(source + 2 * i + ld * c);
        UNROLL
        for (int p = 0; p < c; p++) {
            double d = D[p + n * c];
            UNROLL
            for (int i = 0; i < ld / 2; i++)
                x[c][i] -= x[p][i] * d;
        }
        UNROLL
        for (int i = 0; i < ld / 2; i++) {
            x[c][i] *= D[c + n * c];
            lg_store_two(L + 2 * i + ld * c, x[c][i]);
        }
    }
}

/* Two columns of U := L_D^-1 P source */
static LG_INLINE void eliminate_two(int n, const double *restrict D, const int *restrict perm, const double *source,
                                    double *U)
{
    lg_two x[LG_MOST_INVERTED];
    UNROLL
    for (int r = 0; r < n; r++)
        x[r] = (lg_two){source[perm[r]], source[perm[r] + n]};
    UNROLL
    for (int p = 0; p < n; p++) {
        UNROLL
        for (int r = p + 1; r < n; r++)
            x[r] -= D[r + n * p] * x[p];
    }
    UNROLL
    for (int r = 0; r < n; r++)
        U[r] = x[r][0], U[r + n] = x[r][1];
}

/* U := L_D^-1 P source */
static LG_INLINE void eliminate_right(int n, int m, const double *restrict D, const int *restrict perm,
                                      const double *source, double *U)
{
    UNROLL
    for (int c = 0; c + 1 < m; c += 2)
        eliminate_two(n, D, perm, source + n * c, U + n * c);
    if (m % 2) {
        double x[LG_MOST_INVERTED];
        UNROLL
        for (int r = 0; r < n; r++)
            x[r] = source[perm[r] + n * (m - 1)];
        lower_solve(n, D, x);
        UNROLL
        for (int r = 0; r < n; r++)
            U[r + n * (m - 1)] = x[r];
    }
}

/* The part of target = from - L U in some rows and columns, and what it changes on the diagonal. */
static LG_INLINE void put_tile(int n, int m, int row, int rows, int column, int columns, const double *restrict L,
                               const double *restrict U, const double *from, double *target, double *restrict growth)
{
    lg_two sum[3][2];
    multiply_tile(n, rows, columns, L + row, m + m % 2, U + n * column, sum);
    subtract_sums(rows, columns, sum, from + row + m * column, target + row + m * column, m);
    UNROLL
    for (int c = 0; c < columns; c++) {
        int r = column + c - row;
        if (r >= 0 && r < rows)
            growth[column + c] = fabs(sum[c][r / 2][r % 2]);
    }
}

static LG_INLINE void put_columns(int n, int m, int column, int columns, const double *L, const double *U,
                                  const double *from, double *target, double *growth)
{
    UNROLL
    for (int row = 0; row < m; row += 4)
        put_tile(n, m, row, m - row < 4 ? m - row : 4, column, columns, L, U, from, target, growth);
}

/* The pivot block of the neighbour, which nothing has changed before. */
static LG_INLINE void start_neighbour(int n, int m, const lg_plan *plan, const lg_front *front,
                                      const lg_front_data *data, const double *L, const double *U)
{
    enum { LARGEST = LG_MOST_INVERTED * LG_MOST_INVERTED };
    static const double zeros[LARGEST];
    const lg_neighbour *with = plan->neighbours + front->neighbour;
    int at = plan->updates[front->updates].at;
    const double *from = at < plan->nassembled ? data->values + at : zeros;
    double *target = data->factors + at, *growth = data->growth + with->pivot;
    UNROLL
    for (int column = 0; column < m; column += 3)
        put_columns(n, m, column, m - column < 3 ? m - column : 3, L, U, from, target, growth);
}

static LG_INLINE lg_status factor_single(int n, int m, const lg_plan *plan, const lg_front *front,
                                         const lg_front_data *data, int *deficient)
{
    double *D = start_diagonal(n, front, data), *U = data->factors + front->U, *L = data->factors + front->L;
    int *perm = data->pivots + front->pivot;
    int done = factor_block(n, n, 0, front, data->watch, data->weakest, 1, D, perm, growth_of(front, data));
    if (done < n)
        return failed_at(n, done, D, deficient);
    eliminate_left(n, m, D, data->values + front->L, L);
    eliminate_right(n, m, D, perm, data->values + front->U, U);
    start_neighbour(n, m, plan, front, data, L, U);
    return LG_OK;
}

/* ---- solution ---- */

/* z -= L y for the neighbour's z */
static LG_INLINE void subtract_left(int n, int m, const double *restrict L, const double *restrict y, double *z)
{
    UNROLL
    for (int r = 0; r < m; r += 2) {
        lg_two sum = {0};
        UNROLL
        for (int p = 0; p < n; p++)
            sum += lg_load_two(L + r + (m + m % 2) * p) * y[p];
        if (r + 1 < m)
            lg_store_two(z + r, lg_load_two(z + r) - sum);
        else
            z[r] -= sum[0];
    }
}

static LG_INLINE void forward_single(int n, int m, const lg_plan *plan, const lg_front *front,
                                     const lg_front_data *data, double *z)
{
    const int *perm = data->pivots + front->pivot;
    double y[LG_MOST_INVERTED], *own = z + front->first_unknown;
    UNROLL
    for (int r = 0; r < n; r++)
        y[r] = own[perm[r]];
    lower_solve(n, data->factors + front->D, y);
    put_pairs(n, y, own);
    subtract_left(n, m, data->factors + front->L, y, z + plan->neighbours[front->neighbour].first_unknown);
}

static LG_INLINE void backward_single(int n, int m, const lg_plan *plan, const lg_front *front,
                                      const lg_front_data *data, double *z)
{
    const double *U = data->factors + front->U, *later = z + plan->neighbours[front->neighbour].first_unknown;
    double y[LG_MOST_INVERTED], *own = z + front->first_unknown;
    UNROLL
    for (int r = 0; r < n; r++)
        y[r] = own[r];
    UNROLL
    for (int c = 0; c < m; c++) {
        UNROLL
        for (int r = 0; r < n; r++)
            y[r] -= U[r + n * c] * later[c];
    }
    upper_solve(n, data->factors + front->D, y);
    put_pairs(n, y, own);
}

/* ---- one copy for each pair of sizes ---- */

#define LG_SINGLE_KERNELS(N, M)                                                                                        \
    static lg_status factor_##N##_##M(const lg_plan *plan, const lg_front *front, const lg_front_data *data,           \
                                      int *deficient)                                                                  \
    {                                                                                                                  \
        return factor_single(N, M, plan, front, data, deficient);                                                      \
    }                                                                                                                  \
    static void forward_##N##_##M(const lg_plan *plan, const lg_front *front, const lg_front_data *data, double *z)    \
    {                                                                                                                  \
        forward_single(N, M, plan, front, data, z);                                                                    \
    }                                                                                                                  \
    static void backward_##N##_##M(const lg_plan *plan, const lg_front *front, const lg_front_data *data, double *z)   \
    {                                                                                                                  \
        backward_single(N, M, plan, front, data, z);                                                                   \
    }
LG_SINGLES(LG_SINGLE_KERNELS)

/* ---- bodies that may be pinned ---- */

static lg_status factor_pinned(const lg_plan *plan, const lg_front *front, const lg_front_data *data, int *deficient)
{
    if (choose_pin(plan, front, data))
        return pinned_factor(plan, front, data, deficient);
    return factor_6_3(plan, front, data, deficient);
}

static void forward_pinned(const lg_plan *plan, const lg_front *front, const lg_front_data *data, double *z)
{
    if (data->pivots[front->pivot] < 0)
        pinned_forward(plan, front, data, z);
    else
        forward_6_3(plan, front, data, z);
}

static void backward_pinned(const lg_plan *plan, const lg_front *front, const lg_front_data *data, double *z)
{
    if (data->pivots[front->pivot] < 0)
        pinned_backward(plan, front, data, z);
    else
        backward_6_3(plan, front, data, z);
}

/* Those of a joint, which have been done together with its body if it has pinned one. */
static lg_status factor_pinning(const lg_plan *plan, const lg_front *front, const lg_front_data *data, int *deficient)
{
    return data->pivots[front->pivot] < 0 ? LG_OK : factor_3_6(plan, front, data, deficient);
}

static void forward_pinning(const lg_plan *plan, const lg_front *front, const lg_front_data *data, double *z)
{
    if (data->pivots[front->pivot] >= 0)
        forward_3_6(plan, front, data, z);
}

static void backward_pinning(const lg_plan *plan, const lg_front *front, const lg_front_data *data, double *z)
{
    if (data->pivots[front->pivot] >= 0)
        backward_3_6(plan, front, data, z);
}

/* ---- the table ---- */

#define LG_SINGLE_ROW(N, M) {factor_##N##_##M, forward_##N##_##M, backward_##N##_##M},
const lg_single lg_singles[] = {{NULL, NULL, NULL},
                                LG_SINGLES(LG_SINGLE_ROW){factor_pinned, forward_pinned, backward_pinned},
                                {factor_pinning, forward_pinning, backward_pinning}};

#define LG_SINGLE_SIZES(N, M) {N, M},
unsigned char lg_single_of(int n, int m)
{
    static const int sizes[][2] = {LG_SINGLES(LG_SINGLE_SIZES)};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (n == sizes[i][0] && m == sizes[i][1])
            return (unsigned char)(i + 1);
    return 0;
}
