/* Factorisation of a complex matrix front by front, and solutions; the pivots are chosen and judged as those of a real
   one (pivot.h), by |re| + |im|. */
#include "sparse/complex.h"

#include "sparse/fronts.h"
#include "sparse/tiles.h"

#include <float.h>
#include <math.h>

static const double pivot_tolerance = 1e-12; /* part of its terms below which a pivot is too small */

/* Where an array of complex numbers has its two parts. */
typedef struct parts {
    double *re, *im;
} parts;

static LG_INLINE parts from(parts x, long first)
{
    return (parts){x.re + first, x.im + first};
}

static LG_INLINE double size_at(parts x, long i)
{
    return fabs(x.re[i]) + fabs(x.im[i]);
}

static parts factors_of(const lg_matrix *re, const lg_matrix *im)
{
    return (parts){re->factors, im->factors};
}

/* y -= s x */
static LG_INLINE void subtract_scaled(int n, double s_re, double s_im, parts x, parts y)
{
    const double *restrict x_re = x.re, *restrict x_im = x.im;
    double *restrict y_re = y.re, *restrict y_im = y.im;
    UNROLL
    for (int i = 0; i < n; i++) {
        y_re[i] -= s_re * x_re[i] - s_im * x_im[i];
        y_im[i] -= s_re * x_im[i] + s_im * x_re[i];
    }
}

/* x *= s */
static LG_INLINE void scale(int n, double s_re, double s_im, parts x)
{
    for (int i = 0; i < n; i++) {
        double re = x.re[i];
        x.re[i] = s_re * re - s_im * x.im[i];
        x.im[i] = s_re * x.im[i] + s_im * re;
    }
}

/* ---- factorisation ---- */

/* The factor that brings a block's own rows to the scale of its velocities' rows, for the choice of pivots. */
static double border_weight(const lg_front *front, parts D)
{
    double velocity = 0, own = 0;
    for (int c = 0; c < front->velocities; c++)
        for (int r = 0; r < front->n; r++) {
            double *largest = r < front->velocities ? &velocity : &own;
            *largest = fmax(*largest, size_at(D, r + (long)front->n * c));
        }
    return own > 0 && velocity > 0 ? velocity / own : 1;
}

static int pivot_row(const lg_front *front, int p, parts D, const int *perm, double weight)
{
    int best = p;
    double largest = -1;
    for (int r = p; r < front->n; r++) {
        double size = size_at(D, r + (long)front->n * p) * (perm[r] < front->velocities ? 1 : weight);
        if (size > largest)
            largest = size, best = r;
    }
    return best;
}

/* Sum of |terms| that made the pivot p: within the front, and before it in the updates of its entry. */
static double pivot_terms(int n, int p, parts D, const int *perm, const double *growth)
{
    double terms = sqrt(growth[p] * growth[perm[p]]);
    for (int s = 0; s < p; s++)
        terms += size_at(D, p + (long)n * s) * size_at(D, s + (long)n * p);
    return terms;
}

/* P D = L U in place, reciprocal pivots on the diagonal. Returns the column that failed, or n. */
static int factor_diagonal(const lg_front *front, parts D, int *perm, const double *growth)
{
    int n = front->n;
    double weight = front->bordered ? border_weight(front, D) : 1;
    for (int r = 0; r < n; r++)
        perm[r] = r;
    for (int p = 0; p < n; p++) {
        int q = pivot_row(front, p, D, perm, weight), t = perm[p];
        if (q != p) {
            exchange_rows(n, n, p, q, D.re);
            exchange_rows(n, n, p, q, D.im);
            perm[p] = perm[q];
            perm[q] = t;
        }
        parts column = from(D, (long)n * p);
        double re = column.re[p], im = column.im[p], size = size_at(column, p);
        if (!(size > pivot_tolerance * pivot_terms(n, p, D, perm, growth) && size <= DBL_MAX))
            return p;
        double square = re * re + im * im;
        column.re[p] = re / square;
        column.im[p] = -im / square;
        scale(n - p - 1, column.re[p], column.im[p], from(column, p + 1));
        for (int c = p + 1; c < n; c++) {
            parts target = from(D, (long)n * c);
            subtract_scaled(n - p - 1, target.re[p], target.im[p], from(column, p + 1), from(target, p + 1));
        }
    }
    return n;
}

/* x := L_D^-1 x */
static LG_INLINE void lower_solve_complex(int n, parts D, parts x)
{
    UNROLL
    for (int p = 0; p < n; p++)
        subtract_scaled(n - p - 1, x.re[p], x.im[p], from(D, (long)n * p + p + 1), from(x, p + 1));
}

/* x := U_D^-1 x */
static LG_INLINE void upper_solve_complex(int n, parts D, parts x)
{
    UNROLL
    for (int p = n - 1; p >= 0; p--) {
        parts column = from(D, (long)n * p);
        scale(1, column.re[p], column.im[p], from(x, p));
        subtract_scaled(p, x.re[p], x.im[p], column, x);
    }
}

/* The panels: L := L U_D^-1 and U := L_D^-1 P U. */
static void eliminate(const lg_front *front, parts factors, const int *perm, double *scratch)
{
    int n = front->n, ld = front->ld;
    parts D = from(factors, front->D), L = from(factors, front->L), U = from(factors, front->U);
    for (int c = 0; c < n; c++) {
        parts column = from(L, (long)ld * c), above = from(D, (long)n * c);
        for (int p = 0; p < c; p++)
            subtract_scaled(front->m, above.re[p], above.im[p], from(L, (long)ld * p), column);
        scale(front->m, above.re[c], above.im[c], column);
    }
    for (int c = 0; c < front->m; c++, U = from(U, n)) {
        for (int part = 0; part < 2; part++) {
            double *column = part ? U.im : U.re;
            for (int r = 0; r < n; r++)
                scratch[r] = column[perm[r]];
            lg_copy(n, scratch, column);
        }
        lower_solve_complex(n, D, U);
    }
}

/* target -= L U for a slice of each panel; growth, unless NULL: how much of the diagonal. */
static void subtract_block(int n, int rows, int columns, parts L, int ld, parts U, parts target, int ld_target,
                           double *growth)
{
    for (int c = 0; c < columns; c++) {
        parts u = from(U, (long)n * c), column = from(target, (long)ld_target * c);
        double re = column.re[c < rows ? c : 0], im = column.im[c < rows ? c : 0];
        for (int p = 0; p < n; p++)
            subtract_scaled(rows, u.re[p], u.im[p], from(L, (long)ld * p), column);
        if (growth)
            growth[c] += fabs(re - column.re[c]) + fabs(im - column.im[c]);
    }
}

static void update_later(const lg_plan *plan, const lg_front *front, parts factors, double *growth)
{
    const lg_neighbour *neighbours = plan->neighbours + front->neighbour;
    const lg_update *update = plan->updates + front->updates;
    parts L = from(factors, front->L), U = from(factors, front->U);
    for (int t = 0; t < front->neighbours; t++)
        for (int s = 0; s < front->neighbours; s++, update++)
            subtract_block(front->n, neighbours[s].size, neighbours[t].size, from(L, neighbours[s].start), front->ld,
                           from(U, (long)front->n * neighbours[t].start), from(factors, update->at), update->ld,
                           s == t ? growth + neighbours[s].pivot : NULL);
}

/* The assembled values, and zero where there is fill alone. */
static void start(lg_matrix *matrix)
{
    const lg_plan *plan = matrix->plan;
    matrix->keeps = matrix->is_doubled = matrix->is_dense = 0;
    memcpy(matrix->factors, matrix->values, (size_t)plan->nassembled * sizeof(double));
    memset(matrix->factors + plan->nassembled, 0, (size_t)(plan->nvalues - plan->nassembled) * sizeof(double));
}

lg_status lg_complex_factor(lg_matrix *re, lg_matrix *im)
{
    const lg_plan *plan = re->plan;
    parts factors = factors_of(re, im);
    double *growth = re->work;
    re->factorisations++;
    start(re);
    start(im);
    lg_zero(plan->size, growth);
    for (const lg_front *front = plan->fronts; front < plan->fronts + plan->nfronts; front++) {
        int *perm = re->pivots + front->pivot;
        if (factor_diagonal(front, from(factors, front->D), perm, growth + front->pivot) < front->n)
            return LG_SINGULAR;
        eliminate(front, factors, perm, im->work);
        update_later(plan, front, factors, growth);
        LG_TRY(lg_poll_after(re->poll, 2.0 * (double)(front->n + front->m) * (front->n + front->m)));
    }
    return LG_OK;
}

/* ---- solution ---- */

/* Subtracts L y from the unknowns of the later fronts, two rows at a time. */
static LG_INLINE void subtract_left(int n, const lg_plan *plan, const lg_front *front, parts L, parts y, parts z)
{
    const lg_neighbour *to = plan->neighbours + front->neighbour, *end = to + front->neighbours;
    for (; to < end; to++)
        for (int r = 0; r < to->size; r += 2) {
            double *at_re = z.re + to->first_unknown + r, *at_im = z.im + to->first_unknown + r;
            lg_two re = {0}, im = {0};
            UNROLL
            for (int p = 0; p < n; p++) {
                long at = to->start + r + (long)front->ld * p;
                lg_two L_re = lg_load_two(L.re + at), L_im = lg_load_two(L.im + at);
                re += L_re * y.re[p] - L_im * y.im[p];
                im += L_re * y.im[p] + L_im * y.re[p];
            }
            if (r + 1 < to->size) {
                lg_store_two(at_re, lg_load_two(at_re) - re);
                lg_store_two(at_im, lg_load_two(at_im) - im);
            } else {
                *at_re -= re[0];
                *at_im -= im[0];
            }
        }
}

/* y -= U times the unknowns of the later fronts */
static LG_INLINE void subtract_right(int n, const lg_plan *plan, const lg_front *front, parts U, parts z, parts y)
{
    const lg_neighbour *with = plan->neighbours + front->neighbour, *end = with + front->neighbours;
    for (; with < end; with++)
        for (int c = 0; c < with->size; c++, U = from(U, n))
            subtract_scaled(n, z.re[with->first_unknown + c], z.im[with->first_unknown + c], U, y);
}

static LG_INLINE void copy(int n, parts x, parts y)
{
    UNROLL
    for (int r = 0; r < n; r++)
        y.re[r] = x.re[r], y.im[r] = x.im[r];
}

static LG_INLINE void forward(int n, const lg_plan *plan, const lg_front *front, parts factors, const int *perm,
                              parts y, parts z)
{
    parts own = from(z, front->first_unknown);
    UNROLL
    for (int r = 0; r < n; r++)
        y.re[r] = own.re[perm[r]], y.im[r] = own.im[perm[r]];
    lower_solve_complex(n, from(factors, front->D), y);
    copy(n, y, own);
    subtract_left(n, plan, front, from(factors, front->L), y, z);
}

static LG_INLINE void backward(int n, const lg_plan *plan, const lg_front *front, parts factors, parts y, parts z)
{
    parts own = from(z, front->first_unknown);
    copy(n, own, y);
    subtract_right(n, plan, front, from(factors, front->U), z, y);
    upper_solve_complex(n, from(factors, front->D), y);
    copy(n, y, own);
}

/* One copy of both for each common size, and one for any, which needs scratch for the unknowns of a front. */
#define LG_SIZES(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8)

static void forward_any(const lg_plan *plan, const lg_front *front, parts factors, const int *perm, parts scratch,
                        parts z)
{
#define LG_CASE(N)                                                                                                     \
    case N: {                                                                                                          \
        double re[N], im[N];                                                                                           \
        forward(N, plan, front, factors, perm, (parts){re, im}, z);                                                    \
        return;                                                                                                        \
    }
    switch (front->n) {
        LG_SIZES(LG_CASE)
    default:
        forward(front->n, plan, front, factors, perm, scratch, z);
    }
#undef LG_CASE
}

static void backward_any(const lg_plan *plan, const lg_front *front, parts factors, parts scratch, parts z)
{
#define LG_CASE(N)                                                                                                     \
    case N: {                                                                                                          \
        double re[N], im[N];                                                                                           \
        backward(N, plan, front, factors, (parts){re, im}, z);                                                         \
        return;                                                                                                        \
    }
    switch (front->n) {
        LG_SIZES(LG_CASE)
    default:
        backward(front->n, plan, front, factors, scratch, z);
    }
#undef LG_CASE
}

/* In the order of elimination. */
static void gather(const lg_plan *plan, const double *x, double *z)
{
    for (int i = 0; i < plan->size; i++)
        z[i] = x[plan->unknowns[i]];
}

static void scatter(const lg_plan *plan, const double *z, double *x)
{
    for (int i = 0; i < plan->size; i++)
        x[plan->unknowns[i]] = z[i];
}

lg_status lg_complex_solve(const lg_matrix *re, const lg_matrix *im, double *x_re, double *x_im)
{
    const lg_plan *plan = re->plan;
    parts factors = factors_of(re, im), scratch = {re->work + plan->size, im->work + plan->size};
    parts z = plan->in_place ? (parts){x_re, x_im} : (parts){re->work, im->work};
    if (!plan->in_place) {
        gather(plan, x_re, z.re);
        gather(plan, x_im, z.im);
    }
    for (int k = 0; k < plan->nfronts; k++)
        forward_any(plan, &plan->fronts[k], factors, re->pivots + plan->fronts[k].pivot, scratch, z);
    LG_TRY(lg_poll_after(re->poll, 4.0 * (double)plan->nvalues));
    for (int k = plan->nfronts - 1; k >= 0; k--)
        backward_any(plan, &plan->fronts[k], factors, scratch, z);
    if (!plan->in_place) {
        scatter(plan, z.re, x_re);
        scatter(plan, z.im, x_im);
    }
    return LG_OK;
}
