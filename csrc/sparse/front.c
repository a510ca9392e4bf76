/* Kernels of the block-sparse factorisation, written once for any size n and compiled for each common one. Rows of L go
   through the kernels in pairs; see tiles.h. */
#include "sparse/front.h"

#include "sparse/pivot.h"
#include "sparse/single.h"
#include "sparse/start.h"

#include <float.h>
#include <math.h>

/* ---- factorisation ---- */

/* L := source U_D^-1, two rows at a time; scratch holds the n pairs of these rows */
static LG_INLINE void eliminate_left(int n, int ld_D, int ld, const double *restrict D, const double *source, double *L,
                                     lg_two *restrict scratch)
{
    for (int r = 0; r < ld; r += 2) {
        UNROLL
        for (int c = 0; c < n; c++) {
            lg_two x = lg_load_two(source + r + ld * c);
            UNROLL
            for (int p = 0; p < c; p++)
                x -= scratch[p] * D[p + ld_D * c];
            scratch[c] = x * D[c + ld_D * c];
            lg_store_two(L + r + ld * c, scratch[c]);
        }
    }
}

/* U := L_D^-1 P source; scratch holds a column while it is permuted */
static LG_INLINE void eliminate_right(int n, int m, const double *restrict D, const int *restrict perm,
                                      const double *source, double *U, double *restrict scratch)
{
    for (int c = 0; c < m; c++, source += n, U += n) {
        UNROLL
        for (int r = 0; r < n; r++)
            scratch[r] = source[perm[r]];
        lower_solve(n, D, scratch);
        UNROLL
        for (int r = 0; r < n; r++)
            U[r] = scratch[r];
    }
}

static void save_diagonal(int n, const double *D, double *diagonal)
{
    for (int r = 0; r < n; r++)
        diagonal[r] = D[r + n * r];
}

static void add_growth(int n, const double *D, const double *before, double *growth)
{
    for (int r = 0; r < n; r++)
        growth[r] += fabs(before[r] - D[r + n * r]);
}

/* Subtracts the product of a slice of L and one of U from the block of a later front in which neighbours s and t meet;
   `left` and `right` are these panels. */
static LG_INLINE void update_one(int n, const lg_front *front, const lg_front_data *data,
                                 const lg_neighbour *neighbours, int s, int t, const lg_update *update,
                                 const double *left, const double *right)
{
    int rows = neighbours[s].size;
    const double *L = left + neighbours[s].start, *U = right + (long)n * neighbours[t].start;
    double *target = data->factors + update->at;
    if (s == t && rows <= 3) {
        subtract_from_small(n, rows, L, front->ld, U, target, data->growth + neighbours[s].pivot);
        return;
    }
    if (s == t)
        save_diagonal(rows, target, data->scratch);
    subtract_product(n, rows, neighbours[t].size, L, front->ld, U, target, update->ld);
    if (s == t)
        add_growth(rows, target, data->scratch, data->growth + neighbours[s].pivot);
}

/* The same for all pairs of neighbours, or those of the lower triangle alone; L is the left panel. */
static LG_INLINE void update_later(int n, const lg_plan *plan, const lg_front *front, const lg_front_data *data,
                                   const double *L, int lower)
{
    const lg_neighbour *neighbours = plan->neighbours + front->neighbour;
    const double *U = data->factors + front->U;
    for (int t = 0; t < front->neighbours; t++) {
        const lg_update *update = plan->updates + front->updates + (long)t * front->neighbours;
        for (int s = lower ? t : 0; s < front->neighbours; s++)
            update_one(n, front, data, neighbours, s, t, &update[s], L, U);
    }
}

/* Both panels, once the pivot block is factored. */
static LG_INLINE void eliminate_panels(int n, const lg_front *front, const lg_front_data *data, lg_two *scratch)
{
    const double *source = panels_of(front, data);
    double *D = data->factors + front->D, *U = data->factors + front->U, *L = data->factors + front->L;
    eliminate_left(n, n, front->ld, D, source + front->L, L, scratch);
    eliminate_right(n, front->m, D, data->pivots + front->pivot, source + front->U, U, (double *)scratch);
}

/* A pivot block of six velocities of which the first three and the last three do not couple: each half by itself, with
   the same operations as together but for those with zeros. Returns the column that failed, or 6. */
static int factor_halves(const lg_front *front, const lg_front_data *data, double *D)
{
    const double *growth = growth_of(front, data);
    int *perm = data->pivots + front->pivot;
    for (int half = 0; half < 6; half += 3) {
        int done = factor_block(3, 6, 0, front, data->watch, data->weakest, 1, D + 7 * half, perm + half,
                                growth ? growth + half : NULL);
        if (done < 3)
            return half + done;
    }
    return 6;
}

/* U := L_D^-1 P source for three of six rows. */
static LG_INLINE void eliminate_half(int m, const double *restrict D, const int perm[3], const double *source,
                                     double *U)
{
    long first = perm[0], second = perm[1], third = perm[2];
    double yx = D[1], zx = D[2], zy = D[8];
    for (const double *end = source + 6L * m; source < end; source += 6, U += 6) {
        double x = source[first], y = source[second] - yx * x, z = source[third] - zx * x - zy * y;
        U[0] = x, U[1] = y, U[2] = z;
        LG_ONE_BY_ONE(U);
    }
}

static lg_status factor_apart(const lg_front *front, const lg_front_data *data, double *D, int *deficient)
{
    const double *source = panels_of(front, data);
    double *U = data->factors + front->U, *L = data->factors + front->L;
    int *perm = data->pivots + front->pivot, done = factor_halves(front, data, D);
    lg_two rows[3];
    if (done < 6)
        return failed_at(6, done, D, deficient);
    for (int half = 0; half < 6; half += 3) {
        int left = half * front->ld;
        eliminate_left(3, 6, front->ld, D + 7 * half, source + front->L + left, L + left, rows);
        eliminate_half(front->m, D + 7 * half, perm + half, source + front->U + half, U + half);
    }
    for (int i = 3; i < 6; i++)
        perm[i] += 3;
    return LG_OK;
}

static LG_INLINE lg_status factor(int n, const lg_front *front, const lg_front_data *data, int *deficient,
                                  lg_two *scratch)
{
    double *D = start_diagonal(n, front, data);
    if (n == 6 && front->fresh && !front->bordered && is_apart(D))
        return factor_apart(front, data, D, deficient);
    int done =
        factor_diagonal(n, front, data->watch, data->weakest, D, data->pivots + front->pivot, growth_of(front, data));
    if (done < n)
        return failed_at(n, done, D, deficient);
    eliminate_panels(n, front, data, scratch);
    return LG_OK;
}

/* ---- symmetric matrices, of which the lower triangle is read: no pivot is chosen, and the factors stand where those
   of any other matrix do ---- */

/* D = L U in place, U being L^T times the pivots. */
static LG_INLINE int factor_diagonal_symmetric(int n, const lg_front *front, const lg_front_data *data,
                                               double *restrict D, int *restrict perm, const double *restrict growth)
{
    double tolerance = tolerance_of(front, data->watch);
    UNROLL
    for (int r = 0; r < n; r++)
        perm[r] = r;
    UNROLL
    for (int p = 0; p < n; p++) {
        double pivot = D[p + n * p], terms = pivot_terms(n, p, D, perm, growth);
        if (!(fabs(pivot) > tolerance * terms && fabs(pivot) <= DBL_MAX) &&
            !may_use(pivot, terms, front, data->weakest))
            return p;
        double inverse = 1 / pivot;
        D[p + n * p] = inverse;
        UNROLL
        for (int r = p + 1; r < n; r++) {
            D[p + n * r] = D[r + n * p];
            D[r + n * p] *= inverse;
        }
        UNROLL
        for (int c = p + 1; c < n; c++) {
            UNROLL
            for (int r = c; r < n; r++)
                D[r + n * c] -= D[r + n * p] * D[p + n * c];
        }
    }
    return n;
}

/* U := (L L_D^-T)^T, L := U^T times the reciprocal pivots, two rows of L at a time. */
static LG_INLINE void eliminate_symmetric(int n, int m, int ld, const double *restrict D, double *restrict L,
                                          double *restrict U)
{
    for (int r = 0; r < m; r += 2) {
        lg_two x[LG_MOST_INVERTED];
        UNROLL
        for (int c = 0; c < n; c++) {
            x[c] = lg_load_two(L + r + ld * c);
            UNROLL
            for (int p = 0; p < c; p++)
                x[c] -= x[p] * D[c + n * p];
            lg_store_two(L + r + ld * c, x[c] * D[c + n * c]);
            U[c + n * r] = x[c][0];
        }
        if (r + 1 == m)
            break;
        UNROLL
        for (int c = 0; c < n; c++)
            U[c + n * (r + 1)] = x[c][1];
    }
}

static LG_INLINE lg_status factor_symmetric(int n, const lg_front *front, const lg_front_data *data, int *deficient)
{
    double *D = start_diagonal(n, front, data), *U = data->factors + front->U, *L = data->factors + front->L;
    int done = factor_diagonal_symmetric(n, front, data, D, data->pivots + front->pivot, growth_of(front, data));
    if (done < n)
        return failed_at(n, done, D, deficient);
    eliminate_symmetric(n, front->m, front->ld, D, L, U);
    return LG_OK;
}

/* Completes the upper triangle, so that a large pivot block is factored like any other. */
static void mirror(const lg_front *front, const lg_front_data *data)
{
    int n = front->n;
    double *D = data->factors + front->D, *U = data->factors + front->U, *L = data->factors + front->L;
    for (int c = 0; c < n; c++) {
        for (int r = 0; r < c; r++)
            D[r + (long)n * c] = D[c + (long)n * r];
        for (int r = 0; r < front->m; r++)
            U[c + (long)n * r] = L[r + (long)front->ld * c];
    }
}

/* ---- large pivot blocks: eight columns at a time ---- */

enum { PANEL = 8 };

/* y -= s x */
static LG_INLINE void subtract_scaled(int n, double s, const double *restrict x, double *restrict y)
{
    for (int i = 0; i < n; i++)
        y[i] -= s * x[i];
}

/* Factors the columns from `first` to `end`, which earlier ones have updated. Returns the column that failed, or
   `end`. */
static int factor_panel(int n, int first, int end, const lg_front *front, const lg_front_data *data, double weight,
                        double *D, int *perm)
{
    const double *growth = growth_of(front, data);
    double tolerance = tolerance_of(front, data->watch);
    for (int p = first; p < end; p++) {
        int q =
            front->bordered ? bordered_pivot_row(n, p, D, perm, front->velocities, weight) : find_pivot_row(n, n, p, D);
        if (q != p)
            swap_rows(n, n, p, q, D, perm);

        double *column = D + (long)n * p, pivot = column[p];
        double terms = pivot_terms(n, p, D, perm, growth);
        if (!(fabs(pivot) > tolerance * terms && fabs(pivot) <= DBL_MAX) &&
            !may_use(pivot, terms, front, data->weakest))
            return p;

        column[p] = 1 / pivot;
        for (int r = p + 1; r < n; r++)
            column[r] *= column[p];
        for (int c = p + 1; c < end; c++)
            subtract_scaled(n - p - 1, D[p + (long)n * c], column + p + 1, D + (long)n * c + p + 1);
    }
    return end;
}

/* Eliminates a factored panel from the columns that follow it, three at a time: their upper part becomes U, and the
   part below is updated. */
static void apply_panel(int n, int first, double *D)
{
    int end = first + PANEL;
    const double *L = D + end + (long)n * first;
    for (int c = end; c < n; c += 3) {
        int columns = n - c < 3 ? n - c : 3;
        double U[3 * PANEL], *target = D + (long)n * c;
        for (int i = 0; i < columns; i++) {
            double *top = target + (long)n * i + first;
            for (int p = 0; p < PANEL; p++)
                subtract_scaled(PANEL - p - 1, top[p], D + (long)n * (first + p) + first + p + 1, top + p + 1);
            memcpy(U + PANEL * i, top, PANEL * sizeof(double));
        }
        if (columns == 3)
            subtract_columns(PANEL, n - end, 3, L, n, U, target + end, n);
        else
            subtract_product(PANEL, n - end, columns, L, n, U, target + end, n);
    }
}

/* P D = L U as in factor_diagonal. *done: the column that failed, or n. */
static lg_status factor_large(int n, const lg_front *front, const lg_front_data *data, double *D, int *done)
{
    int *perm = data->pivots + front->pivot;
    double weight = front->bordered ? border_weight(n, front->velocities, D) : 1;
    for (int r = 0; r < n; r++)
        perm[r] = r;
    for (int first = 0; first < n; first += PANEL) {
        int end = first + PANEL < n ? first + PANEL : n;
        *done = factor_panel(n, first, end, front, data, weight, D, perm);
        if (*done < end)
            return LG_OK;
        if (end < n)
            apply_panel(n, first, D);
        LG_TRY(lg_poll_after(data->poll, (double)PANEL * (n - first) * (n - first)));
    }
    *done = n;
    return LG_OK;
}

/* ---- solution ---- */

/* The unknowns of a front are contiguous. */

/* Subtracts L y from the unknowns of the later fronts. */
static LG_INLINE void subtract_left(int n, const lg_plan *plan, const lg_front *front, const double *L,
                                    const double *restrict y, double *z)
{
    const lg_neighbour *to = plan->neighbours + front->neighbour, *end = to + front->neighbours;
    for (; to < end; to++)
        for (int r = 0; r < to->size; r += 2) {
            double *at = z + to->first_unknown + r;
            lg_two sum = {0};
            UNROLL
            for (int p = 0; p < n; p++)
                sum += lg_load_two(L + to->start + r + front->ld * p) * y[p];
            if (r + 1 < to->size)
                lg_store_two(at, lg_load_two(at) - sum);
            else
                *at -= sum[0];
        }
}

/* y -= U times the unknowns of the later fronts */
static LG_INLINE void subtract_right(int n, const lg_plan *plan, const lg_front *front, const double *U,
                                     const double *z, double *restrict y)
{
    const lg_neighbour *from = plan->neighbours + front->neighbour, *end = from + front->neighbours;
    for (; from < end; from++)
        for (int c = 0; c < from->size; c++, U += n) {
            double known = z[from->first_unknown + c];
            UNROLL
            for (int r = 0; r < n; r++)
                y[r] -= U[r] * known;
        }
}

static LG_INLINE void forward(int n, const lg_plan *plan, const lg_front *front, const lg_front_data *data,
                              double *restrict y, double *z)
{
    const int *perm = data->pivots + front->pivot;
    double *own = z + front->first_unknown;

    UNROLL
    for (int r = 0; r < n; r++)
        y[r] = own[perm[r]];
    lower_solve(n, data->factors + front->D, y);
    UNROLL
    for (int r = 0; r < n; r++)
        own[r] = y[r];
    subtract_left(n, plan, front, data->factors + front->L, y, z);
}

static LG_INLINE void backward(int n, const lg_plan *plan, const lg_front *front, const lg_front_data *data,
                               double *restrict y, double *z)
{
    double *own = z + front->first_unknown;

    UNROLL
    for (int r = 0; r < n; r++)
        y[r] = own[r];
    subtract_right(n, plan, front, data->factors + front->U, z, y);
    upper_solve(n, data->factors + front->D, y);
    put_pairs(n, y, own);
}

/* ---- small pivot blocks that are kept: D is replaced by its inverse, U is D^-1 times the assembled panel, and L is
   the assembled panel itself ---- */

static void invert(int n, const lg_front *front, const lg_front_data *data)
{
    double *D = data->factors + front->D, inverse[LG_MOST_INVERTED * LG_MOST_INVERTED] = {0};
    const int *perm = data->pivots + front->pivot;
    for (int c = 0; c < n; c++) {
        double *column = inverse + n * c;
        for (int r = 0; r < n; r++)
            column[r] = perm[r] == c;
        lower_solve(n, D, column);
        upper_solve(n, D, column);
    }
    memcpy(D, inverse, (size_t)n * (size_t)n * sizeof(double));
}

/* y = A x for an n x n A */
static LG_INLINE void multiply(int n, const double *restrict A, const double *restrict x, double *restrict y)
{
    UNROLL
    for (int r = 0; r + 1 < n; r += 2) {
        lg_two sum = lg_load_two(A + r) * x[0];
        UNROLL
        for (int c = 1; c < n; c++)
            sum += lg_load_two(A + r + n * c) * x[c];
        lg_store_two(y + r, sum);
    }
    if (n % 2) {
        double sum = A[n - 1] * x[0];
        UNROLL
        for (int c = 1; c < n; c++)
            sum += A[n - 1 + n * c] * x[c];
        y[n - 1] = sum;
    }
}

static LG_INLINE void refactor(int n, const lg_front *front, const lg_front_data *data)
{
    const double *source = data->values + front->U;
    double *U = data->factors + front->U;
    for (int c = 0; c < front->m; c++)
        multiply(n, data->factors + front->D, source + n * c, U + n * c);
}

static LG_INLINE void forward_kept(int n, const lg_plan *plan, const lg_front *front, const lg_front_data *data,
                                   double *z)
{
    double y[LG_MOST_INVERTED], *own = z + front->first_unknown;
    multiply(n, data->factors + front->D, own, y);
    UNROLL
    for (int r = 0; r < n; r++)
        own[r] = y[r];
    subtract_left(n, plan, front, data->values + front->L, y, z);
}

static LG_INLINE void backward_kept(int n, const lg_plan *plan, const lg_front *front, const lg_front_data *data,
                                    double *z)
{
    subtract_right(n, plan, front, data->factors + front->U, z, z + front->first_unknown);
}

/* ---- one copy of the kernels for every common size, and one for any. The three factorisations of a size share the
   update of later fronts, which is the largest part of each, except at sizes where a call would cost too much ---- */

#define LG_SIZES(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8)

#define LG_KERNELS(N)                                                                                                  \
    static LG_APART void update_##N(const lg_plan *plan, const lg_front *front, const lg_front_data *data,             \
                                    const double *L, int lower)                                                        \
    {                                                                                                                  \
        update_later(N, plan, front, data, L, lower);                                                                  \
    }                                                                                                                  \
    static LG_INLINE void end_##N(const lg_plan *plan, const lg_front *front, const lg_front_data *data,               \
                                  const double *L, int lower)                                                          \
    {                                                                                                                  \
        if (N <= 3 || (N == 6 && !lower))                                                                              \
            update_later(N, plan, front, data, L, lower);                                                              \
        else if (front->neighbours)                                                                                    \
            update_##N(plan, front, data, L, lower);                                                                   \
    }                                                                                                                  \
    static lg_status factor_##N(const lg_plan *plan, const lg_front *front, const lg_front_data *data, int *deficient) \
    {                                                                                                                  \
        lg_two y[N];                                                                                                   \
        LG_TRY(factor(N, front, data, deficient, y));                                                                  \
        end_##N(plan, front, data, data->factors + front->L, 0);                                                       \
        return LG_OK;                                                                                                  \
    }                                                                                                                  \
    static lg_status symmetric_##N(const lg_plan *plan, const lg_front *front, const lg_front_data *data,              \
                                   int *deficient)                                                                     \
    {                                                                                                                  \
        LG_TRY(factor_symmetric(N, front, data, deficient));                                                           \
        end_##N(plan, front, data, data->factors + front->L, 1);                                                       \
        return LG_OK;                                                                                                  \
    }                                                                                                                  \
    static void forward_##N(const lg_plan *plan, const lg_front *front, const lg_front_data *data, double *z)          \
    {                                                                                                                  \
        double y[N];                                                                                                   \
        forward(N, plan, front, data, y, z);                                                                           \
    }                                                                                                                  \
    static void backward_##N(const lg_plan *plan, const lg_front *front, const lg_front_data *data, double *z)         \
    {                                                                                                                  \
        double y[N];                                                                                                   \
        backward(N, plan, front, data, y, z);                                                                          \
    }                                                                                                                  \
    static lg_status refactor_##N(const lg_plan *plan, const lg_front *front, const lg_front_data *data,               \
                                  int *deficient)                                                                      \
    {                                                                                                                  \
        (void)deficient;                                                                                               \
        refactor(N, front, data);                                                                                      \
        end_##N(plan, front, data, data->values + front->L, 0);                                                        \
        return LG_OK;                                                                                                  \
    }                                                                                                                  \
    static void forward_kept_##N(const lg_plan *plan, const lg_front *front, const lg_front_data *data, double *z)     \
    {                                                                                                                  \
        forward_kept(N, plan, front, data, z);                                                                         \
    }                                                                                                                  \
    static void backward_kept_##N(const lg_plan *plan, const lg_front *front, const lg_front_data *data, double *z)    \
    {                                                                                                                  \
        backward_kept(N, plan, front, data, z);                                                                        \
    }
LG_SIZES(LG_KERNELS)

static LG_APART void finish_any(const lg_plan *plan, const lg_front *front, const lg_front_data *data)
{
    eliminate_panels(front->n, front, data, (lg_two *)data->scratch);
    update_later(front->n, plan, front, data, data->factors + front->L, 0);
}

static lg_status factor_any(const lg_plan *plan, const lg_front *front, const lg_front_data *data, int *deficient)
{
    int n = front->n, done;
    double *D = start_diagonal(n, front, data);
    LG_TRY(factor_large(n, front, data, D, &done));
    if (done < n)
        return failed_at(n, done, D, deficient);
    finish_any(plan, front, data);
    return LG_OK;
}

static lg_status symmetric_any(const lg_plan *plan, const lg_front *front, const lg_front_data *data, int *deficient)
{
    mirror(front, data);
    return factor_any(plan, front, data, deficient);
}

static lg_status refactor_any(const lg_plan *plan, const lg_front *front, const lg_front_data *data, int *deficient)
{
    (void)deficient;
    finish_any(plan, front, data);
    return LG_OK;
}

static void forward_any(const lg_plan *plan, const lg_front *front, const lg_front_data *data, double *z)
{
    forward(front->n, plan, front, data, data->scratch, z);
}

static void backward_any(const lg_plan *plan, const lg_front *front, const lg_front_data *data, double *z)
{
    backward(front->n, plan, front, data, data->scratch, z);
}

typedef struct kernels {
    lg_status (*factor)(const lg_plan *, const lg_front *, const lg_front_data *, int *);
    void (*forward)(const lg_plan *, const lg_front *, const lg_front_data *, double *);
    void (*backward)(const lg_plan *, const lg_front *, const lg_front_data *, double *);
} kernels;

#define LG_ROW(N) {factor_##N, forward_##N, backward_##N},
#define LG_KEPT_ROW(N) {refactor_##N, forward_kept_##N, backward_kept_##N},
#define LG_SYMMETRIC_ROW(N) {symmetric_##N, forward_##N, backward_##N},
enum { ANY, KEPT, SYMMETRIC, KINDS };
static const kernels by_size[KINDS][LG_MOST_INVERTED + 1] = {
    {{factor_any, forward_any, backward_any}, LG_SIZES(LG_ROW)},
    {{refactor_any, forward_any, backward_any}, LG_SIZES(LG_KEPT_ROW)},
    {{symmetric_any, forward_any, backward_any}, LG_SIZES(LG_SYMMETRIC_ROW)},
};

static const kernels *kernels_of(const lg_front *front, const lg_front_data *data)
{
    int kind = data->symmetric ? SYMMETRIC : data->keeps && front->constant ? KEPT : ANY;
    return &by_size[kind][front->n <= LG_MOST_INVERTED ? front->n : 0];
}

/* Whether kernels for single neighbours may take the fronts that have them. */
static int takes_singles(const lg_front_data *data)
{
    return !(data->symmetric || data->keeps || data->summed);
}

/* ---- whole fronts ---- */

lg_status lg_front_factor(const lg_plan *plan, const lg_front *front, const lg_front_data *data, int *deficient)
{
    if (front->single && takes_singles(data) && !(front->fresh && front->n == 6 && is_apart(data->values + front->D)))
        return lg_singles[front->single].factor(plan, front, data, deficient);
    start_fronts(plan, front, data);
    return kernels_of(front, data)->factor(plan, front, data, deficient);
}

void lg_front_keep(const lg_front *front, const lg_front_data *data)
{
    if (front->constant && front->n <= LG_MOST_INVERTED)
        invert(front->n, front, data);
}

void lg_front_forward(const lg_plan *plan, const lg_front *front, const lg_front_data *data, double *z)
{
    kernels_of(front, data)->forward(plan, front, data, z);
}

void lg_fronts_forward(const lg_plan *plan, const lg_front_data *data, double *z)
{
    int singles = takes_singles(data);
    for (const lg_front *front = plan->fronts, *end = front + plan->nfronts; front < end; front++)
        if (singles && front->single)
            lg_singles[front->single].forward(plan, front, data, z);
        else
            kernels_of(front, data)->forward(plan, front, data, z);
}

void lg_fronts_backward(const lg_plan *plan, const lg_front_data *data, double *z)
{
    int singles = takes_singles(data);
    for (const lg_front *front = plan->fronts + plan->nfronts; front-- > plan->fronts;)
        if (singles && front->single)
            lg_singles[front->single].backward(plan, front, data, z);
        else
            kernels_of(front, data)->backward(plan, front, data, z);
}
