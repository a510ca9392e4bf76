/* The block-sparse matrix: assembly, factorisation front by front, solution, and the fall-backs. */
#include "sparse/matrix.h"

#include "core/small.h"

#include "sparse/front.h"
#include "sparse/inertia.h"
#include "sparse/single.h"
#include "sparse/tiles.h"
#include "sparse/transposed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory ---- */

/* The work array: a measure of growth per unknown, then the scratch of the kernels, aligned for pairs. */
static long scratch_start(const lg_plan *plan)
{
    return plan->size + plan->size % 2;
}

/* Kernels may read beyond the end of values and factors. */
static size_t values_size(const lg_plan *plan)
{
    return (size_t)plan->nassembled + LG_CHUNK;
}

static size_t factors_size(const lg_plan *plan)
{
    return (size_t)plan->nvalues + LG_CHUNK;
}

static size_t work_size(const lg_plan *plan)
{
    return (size_t)scratch_start(plan) + 2 * (size_t)plan->largest + (size_t)plan->widest + LG_CHUNK;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

void lg_matrix_layout_host(lg_matrix *host, const lg_plan *plan, const lg_plan *guest, lg_arena *arena)
{
    *host = (lg_matrix){.plan = plan, .matrix_blocks = plan->matrix_blocks};
    host->values = lg_arena_doubles(arena, larger(values_size(plan), guest ? factors_size(guest) : 0));
    host->work = lg_arena_doubles(arena, larger(work_size(plan), guest ? work_size(guest) : 0));
    host->factors = lg_arena_doubles(arena, factors_size(plan));
    host->pivots = lg_arena_ints(arena, (size_t)plan->size);
}

void lg_matrix_layout(lg_matrix *matrix, const lg_plan *plan, lg_arena *arena)
{
    lg_matrix_layout_host(matrix, plan, NULL, arena);
}

void lg_matrix_layout_in_place(lg_matrix *matrix, const lg_plan *plan, lg_arena *arena)
{
    *matrix = (lg_matrix){.plan = plan, .matrix_blocks = plan->matrix_blocks, .no_fallback = 1};
    matrix->values = matrix->factors = lg_arena_doubles(arena, factors_size(plan));
    matrix->work = lg_arena_doubles(arena, work_size(plan));
    matrix->pivots = lg_arena_ints(arena, (size_t)plan->size);
}

void lg_matrix_layout_sums(lg_matrix *matrix, const lg_plan *plan, lg_arena *arena)
{
    lg_matrix_layout_in_place(matrix, plan, arena);
    matrix->summed = 1;
}

void lg_matrix_layout_values(lg_matrix *matrix, const lg_plan *plan, lg_arena *arena)
{
    *matrix = (lg_matrix){.plan = plan, .matrix_blocks = plan->matrix_blocks};
    matrix->values = lg_arena_doubles(arena, values_size(plan));
}

void lg_matrix_layout_guest(lg_matrix *guest, const lg_plan *plan, const lg_matrix *host, lg_arena *arena)
{
    *guest = (lg_matrix){.plan = plan,
                         .matrix_blocks = plan->matrix_blocks,
                         .values = host->values,
                         .factors = host->values,
                         .work = host->work,
                         .no_fallback = 1};
    guest->pivots = lg_arena_ints(arena, (size_t)plan->size);
}

double *lg_matrix_layout_rest(const lg_matrix *host, const lg_plan *guest, size_t taken, size_t count, lg_arena *arena)
{
    size_t used = (guest ? factors_size(guest) : 0) + taken;
    if (used + count > values_size(host->plan))
        return lg_arena_doubles(arena, count);
    return host->values ? host->values + used : NULL;
}

void lg_matrix_close(lg_matrix *matrix)
{
    lg_doubled_close(&matrix->doubled);
    lg_components_close(&matrix->dense);
    matrix->is_doubled = matrix->is_dense = 0;
}

static lg_front_data front_data(const lg_matrix *matrix)
{
    return (lg_front_data){.values = matrix->values,
                           .factors = matrix->factors,
                           .keeps = matrix->keeps,
                           .summed = matrix->summed,
                           .growth = matrix->work,
                           .scratch = matrix->work + scratch_start(matrix->plan),
                           .pivots = matrix->pivots,
                           .watch = matrix->watch,
                           .poll = matrix->poll};
}

/* ---- assembly ---- */

void lg_matrix_zero(lg_matrix *matrix)
{
    matrix->keeps = 0;
    memset(matrix->values, 0, (size_t)matrix->plan->nassembled * sizeof(double));
}

double lg_matrix_largest(const lg_matrix *matrix)
{
    return lg_max_abs((int)matrix->plan->nassembled, matrix->values);
}

/* U += B^T */
static LG_INLINE void add_transposed(int rows, int nv, const double *restrict B, double *restrict U, int ld)
{
    for (int r = 0; r < rows; r++)
        for (int i = 0; i < nv; i++)
            U[i + ld * r] += B[r + rows * i];
}

/* The same for three rows, with two entries of a column at once. */
static LG_INLINE void add_transposed_three(int nv, const double *restrict B, double *restrict U, int ld)
{
    for (int r = 0; r < 3; r++, B++, U += ld) {
        for (int i = 0; i + 1 < nv; i += 2)
            lg_store_two(U + i, lg_load_two(U + i) + (lg_two){B[3 * i], B[3 * i + 3]});
        if (nv % 2)
            U[nv - 1] += B[3 * (nv - 1)];
    }
}

static inline void add_column_entry(const lg_matrix *matrix, const lg_entry_address *entry, const double *B)
{
    double *U = matrix->values + entry->U;
    if (entry->rows == 3 && entry->nv == 6)
        add_transposed_three(6, B + entry->value, U, entry->ld_U);
    else if (entry->rows == 3 && entry->nv == 3)
        add_transposed_three(3, B + entry->value, U, entry->ld_U);
    else
        add_transposed(entry->rows, entry->nv, B + entry->value, U, entry->ld_U);
}

/* L += s B */
static LG_INLINE void add_scaled(int rows, int columns, double s, const double *restrict B, int ld_B,
                                 double *restrict L, int ld_L)
{
    for (int c = 0; c < columns; c++)
        for (int r = 0; r < rows; r++)
            L[r + ld_L * c] += s * B[r + ld_B * c];
}

static void add_scaled_entry(const lg_entry_address *entry, double s, const double *B, double *L)
{
    add_scaled(entry->rows, entry->nv, s, B, entry->rows, L, entry->ld_L);
}

/* L += s B for three rows, two of them at once */
static LG_INLINE void add_scaled_three(int columns, double s, const double *restrict B, int ld_B, double *restrict L,
                                       int ld_L)
{
    for (int c = 0; c < columns; c++, B += ld_B, L += ld_L) {
        lg_store_two(L, lg_load_two(L) + s * lg_load_two(B));
        L[2] += s * B[2];
    }
}

/* L += s B X for three rows and a 3 x 3 matrix X, with two rows at once */
static LG_INLINE void add_product_of_three(double s, const double *restrict B, int ld_B, const double *restrict X,
                                           int ld_X, double *restrict L, int ld_L)
{
    lg_two b0 = lg_load_two(B), b1 = lg_load_two(B + ld_B), b2 = lg_load_two(B + 2 * ld_B);
    for (int c = 0; c < 3; c++, X += ld_X, L += ld_L) {
        lg_store_two(L, lg_load_two(L) + s * (b0 * X[0] + b1 * X[1] + b2 * X[2]));
        L[2] += s * (B[2] * X[0] + B[2 + ld_B] * X[1] + B[2 + 2 * ld_B] * X[2]);
    }
}

/* L += s B X for `rows` <= 3 rows; X is n x n out of a larger matrix */
static LG_INLINE void add_product(int rows, int n, double s, const double *restrict B, int ld_B,
                                  const double *restrict X, int ld_X, double *restrict L, int ld_L)
{
    if (rows == 3 && n == 3) {
        add_product_of_three(s, B, ld_B, X, ld_X, L, ld_L);
        return;
    }
    for (int c = 0; c < n; c++) {
        double sum[3];
        for (int r = 0; r < rows; r++)
            sum[r] = B[r] * X[ld_X * c];
        for (int i = 1; i < n; i++)
            for (int r = 0; r < rows; r++)
                sum[r] += B[r + ld_B * i] * X[i + ld_X * c];
        for (int r = 0; r < rows; r++)
            L[r + ld_L * c] += s * sum[r];
    }
}

/* One call for each common kind of block, so that the compiler knows the sizes. */
static LG_INLINE void add_product_rows(int rows, const lg_entry_address *entry, int apart, double s, const double *B,
                                       int ld_B, const double *X, double *L)
{
    int nv = entry->nv, ld_L = entry->ld_L;
    if (apart) {
        if (begins_with_identity(X))
            add_scaled(rows, 3, s, B, ld_B, L, ld_L);
        else
            add_product(rows, 3, s, B, ld_B, X, 6, L, ld_L);
        add_product(rows, 3, s, B + 3 * ld_B, ld_B, X + 6 * 3 + 3, 6, L + 3 * ld_L, ld_L);
    } else if (nv == 6)
        add_product(rows, 6, s, B, ld_B, X, 6, L, ld_L);
    else if (nv == 3)
        add_product(rows, 3, s, B, ld_B, X, 3, L, ld_L);
    else if (nv)
        add_product(rows, nv, s, B, ld_B, X, nv, L, ld_L);
}

/* L += s B X, three rows at a time, the most frequent number, and the rest one by one */
static void add_scaled_product(const lg_entry_address *entry, double s, const double *B, const double *X, double *L)
{
    int row = 0, apart = entry->nv == 6 && is_apart(X);
    if (entry->rows == 3) {
        add_product_rows(3, entry, apart, s, B, 3, X, L);
        return;
    }
    for (; row + 3 <= entry->rows; row += 3)
        add_product_rows(3, entry, apart, s, B + row, entry->rows, X, L + row);
    for (; row < entry->rows; row++)
        add_product_rows(1, entry, apart, s, B + row, entry->rows, X, L + row);
}

/* The same for three rows and X = diag(I, X_r), as of points and the velocities of most rigid bodies. */
static LG_INLINE void add_turned_three(double s, const double *restrict B, const double *restrict X, double *restrict L,
                                       int ld_L)
{
    add_scaled_three(3, s, B, 3, L, ld_L);
    add_product_of_three(s, B + 9, 3, X + 21, 6, L + 3 * ld_L, ld_L);
}

/* The last X, and whether it is diag(I, X_r): entries of one block often follow one another. */
typedef struct last_link {
    const double *X;
    int turns;
} last_link;

static inline int turns_alone(const double *X, last_link *last)
{
    if (X != last->X)
        *last = (last_link){X, is_apart(X) && begins_with_identity(X)};
    return last->turns;
}

static inline void add_row_entry(const lg_matrix *matrix, const lg_entry_address *entry, double s, const double *B,
                                 int level, const lg_chain *chain, last_link *last)
{
    double *L = matrix->values + entry->L;
    double k = chain ? s * chain[entry->block].k[level] : s;
    const double *X = chain ? chain[entry->block].X[level] : NULL;
    if (k == 0)
        return;
    if (X && entry->rows == 3 && entry->nv == 6 && turns_alone(X, last))
        add_turned_three(k, B + entry->value, X, L, entry->ld_L);
    else if (X)
        add_scaled_product(entry, k, B + entry->value, X, L);
    else
        add_scaled_entry(entry, k, B + entry->value, L);
}

static void add_masks(const lg_matrix *matrix, const double *B)
{
    const lg_plan *plan = matrix->plan;
    for (const lg_mask_address *mask = plan->masks; mask < plan->masks + plan->nmasks; mask++)
        matrix->values[mask->at] += B[mask->value];
}

void lg_matrix_add_rows(lg_matrix *matrix, double s, const double *B, int level, const lg_chain *chain)
{
    const lg_plan *plan = matrix->plan;
    last_link last = {0};
    for (const lg_entry_address *entry = plan->entries; entry < plan->entries + plan->nentries; entry++)
        add_row_entry(matrix, entry, s, B, level, chain, &last);
    add_masks(matrix, B);
}

void lg_matrix_add_border(lg_matrix *matrix, const double *C, double s, const double *B, int level,
                          const lg_chain *chain)
{
    const lg_plan *plan = matrix->plan;
    last_link last = {0};
    for (const lg_entry_address *entry = plan->entries, *end = entry + plan->nentries; entry < end; entry++) {
        add_column_entry(matrix, entry, C);
        add_row_entry(matrix, entry, s, B, level, chain, &last);
    }
    add_masks(matrix, B);
}

static LG_INLINE void put_transposed(int rows, int nv, const double *restrict B, double *restrict U, int ld)
{
    for (int r = 0; r < rows; r++)
        for (int i = 0; i < nv; i++)
            U[i + ld * r] = B[r + rows * i];
}

void lg_matrix_put_columns(lg_matrix *matrix, const double *B)
{
    const lg_plan *plan = matrix->plan;
    for (const lg_entry_address *entry = plan->entries; entry < plan->entries + plan->nentries; entry++) {
        double *U = matrix->values + entry->U;
        if (entry->again)
            add_transposed(entry->rows, entry->nv, B + entry->value, U, entry->ld_U);
        else if (entry->rows == 3 && entry->nv == 6)
            put_transposed(3, 6, B + entry->value, U, entry->ld_U);
        else
            put_transposed(entry->rows, entry->nv, B + entry->value, U, entry->ld_U);
    }
}

static LG_INLINE void matrix_put(int rows, int nv, const double *restrict B, double *restrict L, int ld)
{
    for (int i = 0; i < nv; i++)
        for (int r = 0; r < rows; r++)
            L[r + ld * i] = B[r + rows * i];
}

void lg_matrix_put_rows(lg_matrix *matrix, const double *B)
{
    const lg_plan *plan = matrix->plan;
    for (const lg_entry_address *entry = plan->entries; entry < plan->entries + plan->nentries; entry++) {
        double *L = matrix->values + entry->L;
        if (entry->again)
            add_scaled_entry(entry, 1, B + entry->value, L);
        else if (entry->rows == 3 && entry->nv == 6)
            matrix_put(3, 6, B + entry->value, L, entry->ld_L);
        else
            matrix_put(entry->rows, entry->nv, B + entry->value, L, entry->ld_L);
    }
    for (const lg_mask_address *mask = plan->masks; mask < plan->masks + plan->nmasks; mask++)
        matrix->values[mask->at] = B[mask->value];
}

/* ---- fall-backs ---- */

/* Unknowns that belong to the same front or to neighbours. */
static void join_fronts(const lg_plan *plan, int *above)
{
    for (const lg_front *front = plan->fronts; front < plan->fronts + plan->nfronts; front++) {
        const int *own = plan->unknowns + front->pivot;
        const lg_neighbour *with = plan->neighbours + front->neighbour, *end = with + front->neighbours;
        for (int i = 1; i < front->n; i++)
            lg_components_join(above, own[0], own[i]);
        for (; front->n && with < end; with++)
            lg_components_join(above, own[0], plan->unknowns[with->pivot]);
    }
}

static lg_status open_dense(lg_matrix *matrix)
{
    int n = matrix->plan->size, *above = matrix->dense.values ? NULL : malloc(((size_t)n + 1) * sizeof(int));
    if (matrix->dense.values)
        return LG_OK;
    if (!above)
        return LG_NO_MEMORY;
    for (int i = 0; i < n; i++)
        above[i] = i;
    join_fronts(matrix->plan, above);
    lg_status status = lg_components_open(&matrix->dense, n, above);
    free(above);
    return status;
}

/* The parts of the panels that belong to a front and one of its later fronts */
static void copy_panels(lg_matrix *matrix, const lg_front *front, const lg_neighbour *with)
{
    const lg_plan *plan = matrix->plan;
    const int *own = plan->unknowns + front->pivot, *later = plan->unknowns + with->pivot;
    for (int c = 0; c < front->n; c++)
        for (int i = 0, r = with->start; i < with->size; i++, r++) {
            *lg_components_at(&matrix->dense, later[i], own[c]) = matrix->values[front->L + r + (long)front->ld * c];
            *lg_components_at(&matrix->dense, own[c], later[i]) = matrix->values[front->U + c + (long)front->n * r];
        }
}

static void dense_assemble(lg_matrix *matrix)
{
    const lg_plan *plan = matrix->plan;
    lg_components_zero(&matrix->dense);
    for (const lg_front *front = plan->fronts; front < plan->fronts + plan->nfronts; front++) {
        const int *own = plan->unknowns + front->pivot;
        if (front->end > plan->nassembled)
            continue;
        for (int c = 0; c < front->n; c++)
            for (int r = 0; r < front->n; r++)
                *lg_components_at(&matrix->dense, own[r], own[c]) = matrix->values[front->D + r + front->n * c];
        for (int s = 0; s < front->neighbours; s++)
            copy_panels(matrix, front, plan->neighbours + front->neighbour + s);
    }
}

/* A constraint row, or -1 - (velocity index) */
static int row_of_unknown(const lg_plan *plan, int unknown)
{
    return unknown < plan->nvelocities ? -1 - unknown : unknown - plan->nvelocities;
}

/* Constraint rows that are nearly dependent. */
static lg_status factor_doubled(lg_matrix *matrix)
{
    int deficient = 0;
    LG_TRY(lg_doubled_open(&matrix->doubled, matrix->plan, 0));
    lg_doubled_put(&matrix->doubled, matrix->plan, matrix->values);
    lg_status status = lg_doubled_factor(&matrix->doubled, matrix->plan, matrix->poll, &deficient);
    if (status == LG_SINGULAR)
        matrix->deficient_row = row_of_unknown(matrix->plan, deficient);
    matrix->is_doubled = status == LG_OK;
    return status;
}

/* A singular S that its constraint rows make regular. Without memory for dense factors it stays singular. */
static lg_status factor_dense(lg_matrix *matrix)
{
    int deficient = 0;
    matrix->no_dense = open_dense(matrix) != LG_OK;
    if (matrix->no_dense)
        return LG_SINGULAR;
    dense_assemble(matrix);
    lg_status status = lg_components_factor(&matrix->dense, &deficient);
    if (status == LG_SINGULAR)
        matrix->deficient_row = row_of_unknown(matrix->plan, deficient);
    matrix->is_dense = status == LG_OK;
    return status;
}

lg_status lg_matrix_fall_back(lg_matrix *matrix)
{
    matrix->fallbacks++;
    lg_status status = factor_doubled(matrix);
    return status == LG_SINGULAR || status == LG_NO_MEMORY ? factor_dense(matrix) : status;
}

/* ---- factorisation and solution ---- */

/* Where an unknown has failed: the fall-backs, if they may follow. */
static lg_status failed_unknown(lg_matrix *matrix, int unknown)
{
    matrix->deficient_row = row_of_unknown(matrix->plan, unknown);
    return matrix->no_fallback ? LG_SINGULAR : lg_matrix_fall_back(matrix);
}

/* z: a vector for which every front, once factored, makes its part of the first half of a solution; NULL: none. */
static lg_status factor_fronts(lg_matrix *matrix, int symmetric, double *z)
{
    const lg_plan *plan = matrix->plan;
    lg_front_data data = front_data(matrix);
    data.symmetric = symmetric;
    matrix->is_doubled = matrix->is_dense = matrix->no_dense = 0;
    matrix->weakest = fmin(matrix->weakest, 1);
    data.weakest = &matrix->weakest;
    for (const lg_front *front = plan->fronts; front < plan->fronts + plan->nfronts; front++) {
        int deficient = 0;
        lg_status status = lg_front_factor(plan, front, &data, &deficient);
        if (status == LG_SINGULAR)
            return failed_unknown(matrix, plan->unknowns[front->pivot + deficient]);
        if (status != LG_OK)
            return status;
        if (z)
            lg_front_forward(plan, front, &data, z);
        LG_TRY(lg_poll_after(matrix->poll, 0.5 * (double)(front->n + front->m) * (front->n + front->m)));
    }
    return LG_OK;
}

lg_status lg_matrix_factor(lg_matrix *matrix)
{
    matrix->factorisations++;
    matrix->keeps = 0;
    return factor_fronts(matrix, 0, NULL);
}

lg_status lg_matrix_factor_symmetric(lg_matrix *matrix)
{
    matrix->factorisations++;
    return factor_fronts(matrix, 1, NULL);
}

lg_status lg_matrix_factor_forward(lg_matrix *matrix, double *x)
{
    matrix->factorisations++;
    return factor_fronts(matrix, 1, x);
}

lg_status lg_matrix_keep(lg_matrix *matrix)
{
    const lg_plan *plan = matrix->plan;
    lg_front_data data = front_data(matrix);
    if (matrix->is_doubled || matrix->is_dense)
        return LG_OK;
    for (const lg_front *front = plan->fronts; front < plan->fronts + plan->nfronts; front++)
        lg_front_keep(front, &data);
    matrix->keeps = 1;
    return plan->apart ? LG_OK : factor_fronts(matrix, 0, NULL);
}

lg_status lg_matrix_refactor(lg_matrix *matrix)
{
    matrix->factorisations++;
    matrix->refactorisations++;
    return factor_fronts(matrix, 0, NULL);
}

/* ---- solution ---- */

/* x := A x for a column-major n x n A */
static LG_INLINE void multiply(int n, const double *restrict A, double *restrict x)
{
    double y[LG_MOST_INVERTED];
    for (int i = 0; i < n; i++) {
        double sum = A[i] * x[0];
        for (int j = 1; j < n; j++)
            sum += A[i + n * j] * x[j];
        y[i] = sum;
    }
    for (int i = 0; i < n; i++)
        x[i] = y[i];
}

/* The solution where all pivots are kept inverses and nothing couples the blocks. */
static void multiply_inverses(const lg_matrix *matrix, double *x)
{
    const lg_plan *plan = matrix->plan;
    for (const lg_front *front = plan->fronts, *end = front + plan->nfronts; front < end; front++) {
        const double *inverse = matrix->factors + front->D;
        double *at = x + plan->unknowns[front->pivot];
        if (front->n == 3)
            multiply(3, inverse, at);
        else if (front->n == 6)
            multiply(6, inverse, at);
        else if (front->n)
            multiply(front->n, inverse, at);
    }
}

typedef void (*half)(const lg_plan *plan, const lg_front_data *data, double *z);

/* A solution by all fronts, once there and once back. */
static lg_status solve_by_fronts(const lg_matrix *matrix, half forward, half backward, double *x)
{
    const lg_plan *plan = matrix->plan;
    lg_front_data data = front_data(matrix);
    double *z = plan->in_place ? x : matrix->work; /* free once the matrix is factored */
    for (int i = 0; !plan->in_place && i < plan->size; i++)
        z[i] = x[plan->unknowns[i]];
    forward(plan, &data, z);
    LG_TRY(lg_poll_after(matrix->poll, (double)plan->nvalues));
    backward(plan, &data, z);
    for (int i = 0; !plan->in_place && i < plan->size; i++)
        x[plan->unknowns[i]] = z[i];
    return LG_OK;
}

lg_status lg_matrix_solve(const lg_matrix *matrix, double *x)
{
    if (matrix->keeps && matrix->plan->apart) {
        multiply_inverses(matrix, x);
        return LG_OK;
    }
    if (matrix->is_doubled)
        return lg_doubled_solve_for(&matrix->doubled, matrix->plan, matrix->poll, 0, x);
    if (matrix->is_dense) {
        lg_components_solve(&matrix->dense, x);
        return LG_OK;
    }
    return solve_by_fronts(matrix, lg_fronts_forward, lg_fronts_backward, x);
}

void lg_matrix_solve_backward(const lg_matrix *matrix, double *x)
{
    lg_front_data data = front_data(matrix);
    lg_fronts_backward(matrix->plan, &data, x);
}

lg_status lg_matrix_solve_transposed(const lg_matrix *matrix, double *x)
{
    if (matrix->is_doubled)
        return lg_doubled_solve_for(&matrix->doubled, matrix->plan, matrix->poll, 1, x);
    if (matrix->is_dense) {
        lg_components_solve_transposed(&matrix->dense, x);
        return LG_OK;
    }
    return solve_by_fronts(matrix, lg_fronts_forward_transposed, lg_fronts_backward_transposed, x);
}

/* ---- inertia ---- */

static void average(double *a, double *b)
{
    *a = *b = 0.5 * (*a + *b);
}

void lg_matrix_stiffen(lg_matrix *matrix, double s)
{
    const lg_plan *plan = matrix->plan;
    for (const lg_front *front = plan->fronts; front < plan->fronts + plan->nfronts; front++)
        for (int i = 0; front->end <= plan->nassembled && i < front->n; i++) {
            double *entry = matrix->values + front->D + i + (long)front->n * i;
            *entry += s * fabs(*entry);
        }
}

void lg_matrix_symmetrise(lg_matrix *matrix)
{
    const lg_plan *plan = matrix->plan;
    for (const lg_front *front = plan->fronts; front < plan->fronts + plan->nfronts; front++) {
        int n = front->n;
        double *D = matrix->values + front->D, *U = matrix->values + front->U, *L = matrix->values + front->L;
        if (front->end > plan->nassembled)
            continue;
        for (int c = 0; c < n; c++) {
            for (int r = 0; r < c; r++)
                average(D + r + (long)n * c, D + c + (long)n * r);
            for (int r = 0; r < front->m; r++)
                average(U + c + (long)n * r, L + r + (long)front->ld * c);
        }
    }
}

static int dense_negative(lg_matrix *matrix)
{
    dense_assemble(matrix);
    return lg_components_negative(&matrix->dense, matrix->work);
}

/* Of a pivot block. That of a pinned body and its joint begins with a block that is zero for the joint, and has as many
   negative eigenvalues there as it has positive ones. */
static int front_negative(const lg_matrix *matrix, const lg_front *front)
{
    double *D = matrix->factors + front->D, *scratch = matrix->work + scratch_start(matrix->plan);
    int *perm = matrix->pivots + front->pivot;
    if (!lg_is_pinned(front, matrix->pivots))
        return lg_pivot_negative(front->n, D, perm, scratch);
    if (front->n == 3)
        return 3;
    for (int c = 0; c < 3; c++)
        lg_copy(3, D + 21 + 6 * c, D + 3 * c);
    return lg_pivot_negative(3, D, perm + 3, scratch);
}

/* The elimination is one by congruences, front by front, so that the matrix has as many negative eigenvalues as all
   pivot blocks together (haynsworth1968). */
int lg_matrix_negative(lg_matrix *matrix)
{
    const lg_plan *plan = matrix->plan;
    int negative = 0;
    if (matrix->is_doubled)
        return lg_doubled_negative(&matrix->doubled, plan);
    if (matrix->is_dense)
        return dense_negative(matrix);
    for (const lg_front *front = plan->fronts; front < plan->fronts + plan->nfronts; front++)
        negative += front_negative(matrix, front);
    return negative;
}
