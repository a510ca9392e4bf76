/* Factors in doubled precision; see doubled.h. The pivots are chosen as those of factors in double precision are
   (pivot.h), by the first of the two lg_doubles. */
#include "sparse/doubled.h"

#include "sparse/pivot.h"

#include <stdlib.h>
#include <string.h>

/* The part of its terms below which a pivot is too small. For constraint rows it is the square of 1e-13, which is a few
   times the round-off of the rows themselves. */
static const double least_of_rows = 1e-26;

static LG_INLINE lg_doubles from(lg_doubles x, long first)
{
    return (lg_doubles){x.high + first, x.low + first};
}

/* y -= s x */
static void subtract_scaled(int n, lg_two_part s, lg_doubles x, lg_doubles y)
{
    const double *restrict x_high = x.high, *restrict x_low = x.low;
    double *restrict y_high = y.high, *restrict y_low = y.low;
    for (int i = 0; i < n; i++) {
        lg_two_part product = lg_doubled_product(s, (lg_two_part){x_high[i], x_low[i]});
        lg_two_part left = lg_doubled_difference((lg_two_part){y_high[i], y_low[i]}, product);
        y_high[i] = left.high, y_low[i] = left.low;
    }
}

/* a - x y */
static lg_two_part subtract_dot(int n, lg_two_part a, lg_doubles x, lg_doubles y)
{
    for (int i = 0; i < n; i++)
        a = lg_doubled_difference(a, lg_doubled_product(lg_doubles_at(x, i), lg_doubles_at(y, i)));
    return a;
}

static void scale(int n, lg_two_part s, lg_doubles x)
{
    for (int i = 0; i < n; i++)
        lg_doubles_set(x, i, lg_doubled_product(s, lg_doubles_at(x, i)));
}

/* ---- memory ---- */

/* n numbers from `*at` on, which goes on behind them. */
static lg_doubles take(size_t n, double **at)
{
    lg_doubles x = {*at, *at + n};
    *at += 2 * n;
    return x;
}

lg_status lg_doubled_open(lg_doubled *d, const lg_plan *plan, int summed)
{
    size_t values = (size_t)plan->nvalues, n = (size_t)plan->size, largest = (size_t)plan->largest;
    if (d->pivots)
        return LG_OK;
    double *at = malloc((2 * (values + 2 * n + largest) + n + 1) * sizeof(double)); /* never 0 bytes */
    int *pivots = malloc((n + 1) * sizeof(int));
    if (!at || !pivots) {
        free(at);
        free(pivots);
        return LG_NO_MEMORY;
    }
    d->pivots = pivots;
    d->values = take(values, &at);
    d->x = take(n, &at), d->z = take(n, &at), d->scratch = take(largest, &at);
    d->growth = at;
    d->summed = summed;
    return LG_OK;
}

void lg_doubled_close(lg_doubled *d)
{
    free(d->values.high);
    free(d->pivots);
    *d = (lg_doubled){0};
}

void lg_doubled_put(lg_doubled *d, const lg_plan *plan, const double *values)
{
    memset(d->values.high, 0, 2 * (size_t)plan->nvalues * sizeof(double));
    if (values)
        memcpy(d->values.high, values, (size_t)plan->nassembled * sizeof(double));
}

/* ---- factorisation ---- */

/* P D = L U in place, reciprocal pivots on the diagonal. Returns the column that failed, or n. */
static int factor_diagonal_doubled(const lg_front *front, double least, lg_doubles D, int *perm, const double *growth)
{
    int n = front->n;
    double weight = front->bordered ? border_weight(n, front->velocities, D.high) : 1;
    for (int r = 0; r < n; r++)
        perm[r] = r;
    for (int p = 0; p < n; p++) {
        int q = front->bordered ? bordered_pivot_row(n, p, D.high, perm, front->velocities, weight)
                                : find_pivot_row(n, n, p, D.high);
        if (q != p) {
            swap_rows(n, n, p, q, D.high, perm);
            exchange_rows(n, n, p, q, D.low);
        }
        lg_doubles column = from(D, (long)n * p);
        double size = fabs(column.high[p]);
        if (!(size > least * pivot_terms(n, p, D.high, perm, growth) && size <= DBL_MAX))
            return p;
        lg_two_part inverse = lg_doubled_reciprocal(lg_doubles_at(column, p));
        lg_doubles_set(column, p, inverse);
        scale(n - p - 1, inverse, from(column, p + 1));
        for (int c = p + 1; c < n; c++) {
            lg_doubles target = from(D, (long)n * c);
            subtract_scaled(n - p - 1, lg_doubles_at(target, p), from(column, p + 1), from(target, p + 1));
        }
    }
    return n;
}

/* L := L U_D^-1 */
static void eliminate_left_doubled(const lg_front *front, lg_doubles D, lg_doubles L)
{
    for (int c = 0; c < front->n; c++) {
        lg_doubles target = from(L, (long)front->ld * c);
        for (int p = 0; p < c; p++)
            subtract_scaled(front->m, lg_doubles_at(D, p + (long)front->n * c), from(L, (long)front->ld * p), target);
        scale(front->m, lg_doubles_at(D, c * (front->n + 1L)), target);
    }
}

/* x := L_D^-1 x */
static void lower_solve_doubled(int n, lg_doubles D, lg_doubles x)
{
    for (int p = 0; p < n; p++)
        subtract_scaled(n - p - 1, lg_doubles_at(x, p), from(D, p + 1 + (long)n * p), from(x, p + 1));
}

/* x := P x */
static void permute(int n, const int *perm, lg_doubles x, lg_doubles scratch)
{
    memcpy(scratch.high, x.high, (size_t)n * sizeof(double));
    memcpy(scratch.low, x.low, (size_t)n * sizeof(double));
    for (int r = 0; r < n; r++)
        lg_doubles_set(x, r, lg_doubles_at(scratch, perm[r]));
}

/* Subtracts the product of a slice of L and one of U from a block of a later front. */
static void update_block(const lg_front *front, int rows, int columns, lg_doubles L, lg_doubles U, lg_doubles target,
                         int ld)
{
    for (int c = 0; c < columns; c++)
        for (int p = 0; p < front->n; p++)
            subtract_scaled(rows, lg_doubles_at(U, p + (long)front->n * c), from(L, (long)front->ld * p),
                            from(target, (long)ld * c));
}

static void add_to_growth(int n, double sign, const double *D, int ld, double *terms)
{
    for (int i = 0; i < n; i++)
        terms[i] += sign * D[i * (ld + 1L)];
}

static void update_later_doubled(lg_doubled *d, const lg_plan *plan, const lg_front *front)
{
    double *scratch = d->scratch.high;
    lg_doubles all = d->values, L = from(all, front->L), U = from(all, front->U);
    const lg_neighbour *neighbours = plan->neighbours + front->neighbour;
    const lg_update *update = plan->updates + front->updates;
    for (int t = 0; t < front->neighbours; t++)
        for (int s = 0; s < front->neighbours; s++, update++) {
            int rows = neighbours[s].size;
            lg_doubles target = from(all, update->at);
            if (s == t) {
                memset(scratch, 0, (size_t)rows * sizeof(double));
                add_to_growth(rows, 1, target.high, update->ld, scratch);
            }
            update_block(front, rows, neighbours[t].size, from(L, neighbours[s].start),
                         from(U, (long)front->n * neighbours[t].start), target, update->ld);
            if (s != t)
                continue;
            add_to_growth(rows, -1, target.high, update->ld, scratch);
            for (int i = 0; i < rows; i++)
                d->growth[neighbours[s].pivot + i] += fabs(scratch[i]);
        }
}

static int factor_front(lg_doubled *d, const lg_plan *plan, const lg_front *front)
{
    lg_doubles all = d->values, D = from(all, front->D), U = from(all, front->U);
    double least = d->summed || !front->velocities ? least_of_rows : pivot_tolerance;
    int n = front->n, *perm = d->pivots + front->pivot;
    int done = factor_diagonal_doubled(front, least, D, perm, d->growth + front->pivot);
    if (done < n)
        return done;
    eliminate_left_doubled(front, D, from(all, front->L));
    for (int c = 0; c < front->m; c++) {
        lg_doubles column = from(U, (long)n * c);
        permute(n, perm, column, d->scratch);
        lower_solve_doubled(n, D, column);
    }
    update_later_doubled(d, plan, front);
    return n;
}

/* The terms of a sum of one sign are its size. */
static void start_growth(const lg_doubled *d, const lg_plan *plan)
{
    for (const lg_front *front = plan->fronts; front < plan->fronts + plan->nfronts; front++)
        for (int i = 0; i < front->n; i++)
            d->growth[front->pivot + i] = d->summed ? fabs(d->values.high[front->D + i * (front->n + 1L)]) : 0;
}

lg_status lg_doubled_factor(lg_doubled *d, const lg_plan *plan, lg_poll *poll, int *deficient)
{
    start_growth(d, plan);
    for (const lg_front *front = plan->fronts; front < plan->fronts + plan->nfronts; front++) {
        int done = factor_front(d, plan, front);
        if (done < front->n) {
            *deficient = plan->unknowns[front->pivot + done];
            return LG_SINGULAR;
        }
        LG_TRY(lg_poll_after(poll, 20.0 * front->n * (front->n + front->m) * (front->n + front->m)));
    }
    return LG_OK;
}

/* ---- solution ---- */

static void forward_doubled(const lg_doubled *d, const lg_plan *plan, const lg_front *front)
{
    int n = front->n;
    lg_doubles all = d->values, own = from(d->z, front->pivot);
    const lg_neighbour *to = plan->neighbours + front->neighbour, *end = to + front->neighbours;
    permute(n, d->pivots + front->pivot, own, d->scratch);
    lower_solve_doubled(n, from(all, front->D), own);
    for (; to < end; to++)
        for (int p = 0; p < n; p++)
            subtract_scaled(to->size, lg_doubles_at(own, p), from(all, front->L + to->start + (long)front->ld * p),
                            from(d->z, to->pivot));
}

static void backward_doubled(const lg_doubled *d, const lg_plan *plan, const lg_front *front)
{
    int n = front->n;
    lg_doubles all = d->values, D = from(all, front->D), U = from(all, front->U), own = from(d->z, front->pivot);
    const lg_neighbour *later = plan->neighbours + front->neighbour, *end = later + front->neighbours;
    for (; later < end; later++)
        for (int c = 0; c < later->size; c++)
            subtract_scaled(n, lg_doubles_at(d->z, later->pivot + c), from(U, (long)n * (later->start + c)), own);
    for (int p = n - 1; p >= 0; p--) {
        lg_doubles_set(own, p, lg_doubled_product(lg_doubles_at(own, p), lg_doubles_at(D, p * (n + 1L))));
        subtract_scaled(p, lg_doubles_at(own, p), from(D, (long)n * p), own);
    }
}

static void forward_turned(const lg_doubled *d, const lg_plan *plan, const lg_front *front)
{
    int n = front->n;
    lg_doubles all = d->values, D = from(all, front->D), U = from(all, front->U), own = from(d->z, front->pivot);
    const lg_neighbour *to = plan->neighbours + front->neighbour, *end = to + front->neighbours;
    for (int c = 0; c < n; c++) {
        lg_two_part left = subtract_dot(c, lg_doubles_at(own, c), from(D, (long)n * c), own);
        lg_doubles_set(own, c, lg_doubled_product(left, lg_doubles_at(D, c * (n + 1L))));
    }
    for (; to < end; to++)
        for (int c = 0; c < to->size; c++)
            lg_doubles_set(
                d->z, to->pivot + c,
                subtract_dot(n, lg_doubles_at(d->z, to->pivot + c), from(U, (long)n * (to->start + c)), own));
}

static void backward_turned(const lg_doubled *d, const lg_plan *plan, const lg_front *front)
{
    int n = front->n;
    const int *perm = d->pivots + front->pivot;
    lg_doubles all = d->values, D = from(all, front->D), L = from(all, front->L), own = from(d->z, front->pivot);
    const lg_neighbour *first = plan->neighbours + front->neighbour, *end = first + front->neighbours;
    for (int c = n - 1; c >= 0; c--) {
        long below = c + 1 + (long)n * c;
        lg_two_part left = subtract_dot(n - c - 1, lg_doubles_at(own, c), from(D, below), from(d->scratch, c + 1));
        for (const lg_neighbour *later = first; later < end; later++)
            left =
                subtract_dot(later->size, left, from(L, later->start + (long)front->ld * c), from(d->z, later->pivot));
        lg_doubles_set(d->scratch, c, left);
    }
    for (int r = 0; r < n; r++)
        lg_doubles_set(own, perm[r], lg_doubles_at(d->scratch, r));
}

typedef void (*half)(const lg_doubled *d, const lg_plan *plan, const lg_front *front);

lg_status lg_doubled_solve(const lg_doubled *d, const lg_plan *plan, lg_poll *poll, int transposed)
{
    half forward = transposed ? forward_turned : forward_doubled;
    half backward = transposed ? backward_turned : backward_doubled;
    for (int i = 0; i < plan->size; i++)
        lg_doubles_set(d->z, i, lg_doubles_at(d->x, plan->unknowns[i]));
    for (int k = 0; k < plan->nfronts; k++)
        forward(d, plan, &plan->fronts[k]);
    LG_TRY(lg_poll_after(poll, 20.0 * (double)plan->nvalues));
    for (int k = plan->nfronts - 1; k >= 0; k--)
        backward(d, plan, &plan->fronts[k]);
    for (int i = 0; i < plan->size; i++)
        lg_doubles_set(d->x, plan->unknowns[i], lg_doubles_at(d->z, i));
    return LG_OK;
}

lg_status lg_doubled_solve_for(const lg_doubled *d, const lg_plan *plan, lg_poll *poll, int transposed, double *x)
{
    for (int i = 0; i < plan->size; i++)
        lg_doubles_set(d->x, i, (lg_two_part){x[i], 0});
    LG_TRY(lg_doubled_solve(d, plan, poll, transposed));
    memcpy(x, d->x.high, (size_t)plan->size * sizeof(double));
    return LG_OK;
}

/* ---- inertia ---- */

/* An entry of L U, of which no entry above or to the left has been overwritten. */
static lg_two_part product_at_doubled(int n, int row, int column, lg_doubles D)
{
    lg_two_part sum = {0};
    for (int k = 0; k < (row < column ? row : column); k++) {
        lg_two_part product =
            lg_doubled_product(lg_doubles_at(D, row + (long)n * k), lg_doubles_at(D, k + (long)n * column));
        sum = lg_doubled_difference(sum, (lg_two_part){-product.high, -product.low});
    }
    lg_two_part last = lg_doubles_at(D, row + (long)n * column), pivot = lg_doubles_at(D, column * (n + 1L));
    if (row == column)
        last = lg_doubled_reciprocal(pivot);
    else if (row > column)
        last = lg_doubled_product(last, lg_doubled_reciprocal(pivot));
    return lg_doubled_difference(sum, (lg_two_part){-last.high, -last.low});
}

/* D := the pivot block that was factored. */
static void multiply_out_doubled(int n, const int *perm, lg_doubles D, lg_doubles scratch)
{
    for (int row = n - 1; row >= 0; row--)
        for (int column = n - 1; column >= 0; column--)
            lg_doubles_set(D, row + (long)n * column, product_at_doubled(n, row, column, D));
    for (int c = 0; c < n; c++) {
        lg_doubles column = from(D, (long)n * c);
        for (int r = 0; r < n; r++)
            lg_doubles_set(scratch, perm[r], lg_doubles_at(column, r));
        memcpy(column.high, scratch.high, (size_t)n * sizeof(double));
        memcpy(column.low, scratch.low, (size_t)n * sizeof(double));
    }
}

/* The negative pivots of D = L D' L^T. Where one is small, the other sixteen digits are left. */
static int negative_pivots(int n, lg_doubles D)
{
    int negative = 0;
    for (int p = 0; p < n; p++) {
        lg_doubles column = from(D, (long)n * p);
        if (column.high[p] == 0)
            lg_doubles_set(column, p, (lg_two_part){DBL_MIN * 0x1p512, 0}); /* either sign leads to the same number */
        negative += column.high[p] < 0;
        lg_two_part inverse = lg_doubled_reciprocal(lg_doubles_at(column, p));
        for (int c = p + 1; c < n; c++) {
            lg_doubles target = from(D, (long)n * c);
            subtract_scaled(n - p - 1, lg_doubled_product(inverse, lg_doubles_at(target, p)), from(column, p + 1),
                            from(target, p + 1));
        }
    }
    return negative;
}

int lg_doubled_negative(lg_doubled *d, const lg_plan *plan)
{
    int negative = 0;
    for (const lg_front *front = plan->fronts; front < plan->fronts + plan->nfronts; front++) {
        lg_doubles D = from(d->values, front->D);
        multiply_out_doubled(front->n, d->pivots + front->pivot, D, d->scratch);
        negative += negative_pivots(front->n, D);
    }
    return negative;
}
