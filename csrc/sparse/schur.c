/* Solutions by the Schur complement of the constraint rows; see schur.h. */
#include "sparse/schur.h"

#include "core/small.h"
#include "sparse/fronts.h"
#include "sparse/tiles.h"

#include <math.h>
#include <stdint.h>

/* The entries of an inverse mass that are not zero: all; those of two 3 x 3 blocks, as for positions and rotations; the
   diagonal. */
enum { FULL, TWO_BLOCKS, DIAGONAL };

/* Calls a kernel with the sizes of the entries of B on a block, and the velocity from which they are not multiples of
   the identity. The compiler knows those of common joints between bodies and of the edges of rods. */
#define LG_BY_SIZE(kernel, block, from, ...)                                                                           \
    do {                                                                                                               \
        if ((block)->nv == 6 && (block)->rows == 3 && (from))                                                          \
            kernel(3, 6, 3, block, __VA_ARGS__);                                                                       \
        else if ((block)->nv == 6 && (block)->rows == 3)                                                               \
            kernel(3, 6, 0, block, __VA_ARGS__);                                                                       \
        else if ((block)->nv == 6 && (block)->rows == 5 && (from))                                                     \
            kernel(5, 6, 3, block, __VA_ARGS__);                                                                       \
        else if ((block)->nv == 6 && (block)->rows == 5)                                                               \
            kernel(5, 6, 0, block, __VA_ARGS__);                                                                       \
        else if ((block)->nv == 6 && (block)->rows == 2)                                                               \
            kernel(2, 6, 0, block, __VA_ARGS__);                                                                       \
        else                                                                                                           \
            kernel(0, (block)->nv, 0, block, __VA_ARGS__);                                                             \
    } while (0)

void lg_schur_layout(lg_schur *schur, const lg_schur_plan *plan, lg_matrix *groups, lg_arena *arena)
{
    *schur = (lg_schur){.plan = plan, .groups = groups};
    lg_matrix_layout_sums(&schur->masses, plan->masses, arena);
    lg_matrix_layout_sums(groups, plan->groups, arena);
    schur->shapes = lg_arena_take(arena, (size_t)plan->nblocks * sizeof *schur->shapes);
    schur->diagonals = lg_arena_doubles(arena, (size_t)plan->masses->nvelocities);
    schur->W = lg_arena_doubles(arena, (size_t)plan->largest);
}

/* ---- the inverse mass ---- */

static int zeros_of(int nv, const double *A)
{
    int diagonal = 1, two_blocks = nv == 6;
    for (int c = 0; c < nv; c++)
        for (int r = 0; r < nv; r++)
            if (A[r + nv * c] != 0) {
                diagonal &= r == c;
                two_blocks &= r / 3 == c / 3;
            }
    return diagonal ? DIAGONAL : two_blocks ? TWO_BLOCKS : FULL;
}

/* Whether the first three columns of a matrix are a multiple of the identity over zeros of either sign. */
static LG_INLINE int is_multiple(int rows, const double *D)
{
    uint64_t others = 0;
    UNROLL
    for (int c = 0; c < 3; c++) {
        UNROLL
        for (int r = 0; r < rows; r++) {
            uint64_t bits;
            memcpy(&bits, D + r + rows * c, sizeof bits);
            others |= r == c ? 0 : bits << 1;
        }
    }
    return others == 0 && D[0] == D[rows + 1] && D[0] == D[2 * (rows + 1)];
}

static lg_status invert_masses(lg_schur *schur)
{
    LG_TRY(lg_matrix_factor(&schur->masses));
    LG_TRY(lg_matrix_keep(&schur->masses));
    for (int b = 0; b < schur->plan->nblocks; b++) {
        const lg_schur_block *block = &schur->plan->blocks[b];
        const double *A = schur->masses.factors + block->inverse;
        schur->shapes[b].zeros = zeros_of(block->nv, A);
        schur->shapes[b].isotropic = block->nv == 6 && is_multiple(6, A);
        for (int i = 0; i < block->nv; i++)
            schur->diagonals[block->velocity + i] = A[i * (block->nv + 1)];
    }
    return LG_OK;
}

/* The inverse mass of a block: its diagonal alone, with a leading dimension of 0, or the whole matrix. */
static inline const double *inverse_of(const lg_schur *schur, const lg_schur_block *block, int zeros, int *ld)
{
    *ld = zeros == DIAGONAL ? 0 : block->nv;
    return zeros == DIAGONAL ? schur->diagonals + block->velocity : schur->masses.factors + block->inverse;
}

/* ---- factorisation ---- */

/* How many velocities the inverse mass couples with each other, if it has these zeros. */
static LG_INLINE int coupled(int nv, int zeros)
{
    return zeros == DIAGONAL ? 1 : zeros == TWO_BLOCKS ? 3 : nv;
}

/* W = B A for the inverse mass A with these zeros and leading dimension ld, in rows x nv. */
static LG_INLINE void weigh_with(int rows, int nv, int zeros, const double *restrict A, int ld,
                                 const double *restrict B, double *restrict W)
{
    int size = coupled(nv, zeros);
    UNROLL
    for (int i = 0; i < nv; i++) {
        int first = i / size * size;
        UNROLL
        for (int r = 0; r + 1 < rows; r += 2) {
            lg_two sum = lg_load_two(B + r + rows * first) * A[first + ld * i];
            UNROLL
            for (int j = first + 1; j < first + size; j++)
                sum += lg_load_two(B + r + rows * j) * A[j + ld * i];
            lg_store_two(W + r + rows * i, sum);
        }
        if (rows % 2) {
            double sum = B[rows - 1 + rows * first] * A[first + ld * i];
            UNROLL
            for (int j = first + 1; j < first + size; j++)
                sum += B[rows - 1 + rows * j] * A[j + ld * i];
            W[rows - 1 + rows * i] = sum;
        }
    }
}

static LG_INLINE void weigh(int rows, int nv, int zeros, const double *A, int ld, const double *B, double *W)
{
    if (zeros == DIAGONAL)
        weigh_with(rows, nv, DIAGONAL, A, 0, B, W);
    else if (zeros == TWO_BLOCKS && nv == 6)
        weigh_with(rows, 6, TWO_BLOCKS, A, ld, B, W);
    else
        weigh_with(rows, nv, FULL, A, ld, B, W);
}

/* Up to three columns of S -= C W^T: pairs of rows, then the last row alone. */
static LG_INLINE void subtract_three(int nv, int rows, int columns, int ld_W, const double *restrict C,
                                     const double *restrict W, double *restrict S, int ld)
{
    UNROLL
    for (int r = 0; r + 1 < rows; r += 2) {
        lg_two sum[3] = {{0}};
        UNROLL
        for (int i = 0; i < nv; i++) {
            UNROLL
            for (int c = 0; c < columns; c++)
                sum[c] += lg_load_two(C + r + rows * i) * W[c + ld_W * i];
        }
        UNROLL
        for (int c = 0; c < columns; c++)
            lg_store_two(S + r + ld * c, lg_load_two(S + r + ld * c) - sum[c]);
    }
    if (rows % 2) {
        double *last = S + rows - 1, one = 0;
        lg_two two = {0};
        UNROLL
        for (int i = 0; i < nv; i++) {
            double factor = C[rows - 1 + rows * i];
            if (columns > 1)
                two += lg_load_two(W + ld_W * i) * factor;
            if (columns % 2)
                one += W[columns - 1 + ld_W * i] * factor;
        }
        if (columns > 1)
            last[0] -= two[0], last[ld] -= two[1];
        if (columns % 2)
            last[ld * (columns - 1)] -= one;
    }
}

/* S -= C W^T */
static LG_INLINE void subtract(int nv, int rows, int columns, const double *C, const double *W, double *S, int ld)
{
    int c = 0;
    UNROLL
    for (; c + 3 <= columns; c += 3)
        subtract_three(nv, rows, 3, columns, C, W + c, S + ld * c, ld);
    if (columns - c == 2)
        subtract_three(nv, rows, 2, columns, C, W + c, S + ld * c, ld);
    else if (columns - c == 1)
        subtract_three(nv, rows, 1, columns, C, W + c, S + ld * c, ld);
}

/* The same for the lower triangle of three rows and columns. */
static LG_INLINE void subtract_lower(int nv, const double *restrict C, const double *restrict W, double *restrict S)
{
    lg_two column = {0}, row = {0}, diagonal = {0};
    UNROLL
    for (int i = 0; i < nv; i++) {
        const double *c = C + 3 * i, *w = W + 3 * i;
        column += lg_load_two(c) * w[0];
        row += lg_load_two(w) * c[2];
        diagonal += lg_load_two(c + 1) * lg_load_two(w + 1);
    }
    lg_store_two(S, lg_load_two(S) - column);
    S[2] -= row[0], S[5] -= row[1];
    S[4] -= diagonal[0], S[8] -= diagonal[1];
}

/* Whether the entries of values of B on a block are multiples of the identity for its first three velocities. */
static int has_multiples(const lg_schur_plan *plan, const lg_schur_block *block, const double *B)
{
    const lg_schur_entry *e = plan->entries + block->first, *end = e + block->count;
    int multiples = block->rows == 3 || block->rows == 5;
    for (; multiples && e < end; e++)
        multiples = block->rows == 3 ? is_multiple(3, B + e->value) : is_multiple(5, B + e->value);
    return multiples;
}

/* Subtracts the products of all entries on a block from -S. */
static LG_INLINE void form(int rows, int nv, int from, const lg_schur_block *block, const lg_schur *schur,
                           int symmetric)
{
    const lg_schur_plan *p = schur->plan;
    const lg_schur_entry *entry = p->entries + block->first;
    const lg_matrix_block *to = p->products + block->products;
    int ld, zeros = schur->shapes[block - p->blocks].zeros;
    const double *inverse = inverse_of(schur, block, zeros, &ld), *A = inverse + from * (ld + 1);
    for (int l = 0; l < block->count; l++, to += block->count) {
        int columns = rows ? rows : entry[l].rows;
        const double *B = schur->B + entry[l].value;
        weigh(columns, nv - from, zeros, A, ld, B + columns * from, schur->W);
        for (int k = symmetric ? entry[l].lower : 0; k < block->count; k++) {
            int n = rows ? rows : entry[k].rows;
            const double *C = schur->C + entry[k].value;
            double *S = schur->groups->values + to[k].at, part = from ? C[0] * inverse[0] * B[0] : 0;
            if (symmetric && rows == 3 && k == l)
                subtract_lower(nv - from, C + n * from, schur->W, S);
            else
                subtract(nv - from, n, columns, C + n * from, schur->W, S, to[k].ld);
            UNROLL
            for (int i = 0; i < from; i++)
                S[i * (to[k].ld + 1)] -= part;
        }
    }
}

/* ---- the two halves of a solution on one block ---- */

/* y = A x for an inverse mass A with these zeros */
static LG_INLINE void multiply_with(int nv, int zeros, const double *restrict A, int ld, const double *restrict x,
                                    double *restrict y)
{
    int size = coupled(nv, zeros);
    UNROLL
    for (int i = 0; i < nv; i++) {
        int first = i / size * size;
        double sum = A[i + ld * first] * x[first];
        UNROLL
        for (int j = first + 1; j < first + size; j++)
            sum += A[i + ld * j] * x[j];
        y[i] = sum;
    }
}

static LG_INLINE void multiply(const lg_schur *schur, const lg_schur_block *block, int nv, const double *x, double *y)
{
    int ld, zeros = schur->shapes[block - schur->plan->blocks].zeros;
    const double *inverse = inverse_of(schur, block, zeros, &ld);
    if (zeros == DIAGONAL)
        multiply_with(nv, DIAGONAL, inverse, 0, x, y);
    else if (zeros == TWO_BLOCKS)
        multiply_with(6, TWO_BLOCKS, inverse, 6, x, y);
    else
        multiply_with(nv, FULL, inverse, nv, x, y);
}

/* y -= A x for a column-major rows x columns matrix */
static LG_INLINE void subtract_times(int rows, int columns, const double *restrict A, const double *restrict x,
                                     double *restrict y)
{
    UNROLL
    for (int r = 0; r + 1 < rows; r += 2) {
        lg_two sum = lg_load_two(A + r) * x[0];
        UNROLL
        for (int i = 1; i < columns; i++)
            sum += lg_load_two(A + r + rows * i) * x[i];
        y[r] -= sum[0], y[r + 1] -= sum[1];
    }
    if (rows % 2) {
        double sum = A[rows - 1] * x[0];
        UNROLL
        for (int i = 1; i < columns; i++)
            sum += A[rows - 1 + rows * i] * x[i];
        y[rows - 1] -= sum;
    }
}

/* f := M^-1 f on a block without rows. */
static LG_INLINE void solve_alone(int nv, const lg_schur_block *block, const lg_schur *schur, double *x)
{
    double f[LG_MOST_INVERTED], *y = x + block->velocity;
    lg_copy(nv, y, f);
    multiply(schur, block, nv, f, y);
}

/* f := M^-1 f on a block, which is subtracted, times C, from the right-hand side of the multipliers of -S. */
static LG_INLINE void reduce(int rows, int nv, int from, const lg_schur_block *block, const lg_schur *schur, double *x,
                             double *lam)
{
    const lg_schur_entry *e = schur->plan->entries + block->first;
    double f[LG_MOST_INVERTED], *restrict y = x + block->velocity;
    lg_copy(nv, y, f);
    multiply(schur, block, nv, f, y);
    for (int k = 0; k < block->count; k++, e++) {
        int n = rows ? rows : e->rows;
        const double *C = schur->C + e->value;
        double *to = lam + e->row;
        subtract_times(n, nv - from, C + n * from, y + from, to);
        UNROLL
        for (int i = 0; i < from; i++)
            to[i] -= C[0] * y[i];
    }
}

/* a = M^-1 f - M^-1 B^T lam on a block */
static LG_INLINE void expand(int rows, int nv, int from, const lg_schur_block *block, const lg_schur *schur,
                             const double *lam, double *x)
{
    const lg_schur_entry *e = schur->plan->entries + block->first;
    double f[LG_MOST_INVERTED] = {0}, a[LG_MOST_INVERTED], *y = x + block->velocity;
    for (int k = 0; k < block->count; k++, e++) {
        int n = rows ? rows : e->rows;
        const double *restrict B = schur->B + e->value, *restrict with = lam + e->row;
        UNROLL
        for (int i = 0; i < from; i++)
            f[i] += B[0] * with[i];
        UNROLL
        for (int i = from; i < nv; i++) {
            UNROLL
            for (int r = 0; r < n; r++)
                f[i] += B[r + n * i] * with[r];
        }
    }
    multiply(schur, block, nv, f, a);
    UNROLL
    for (int i = 0; i < nv; i++)
        y[i] -= a[i];
}

static void reduce_block(const lg_schur *schur, int b, double *x)
{
    const lg_schur_block *block = &schur->plan->blocks[b];
    double *lam = x + schur->plan->masses->nvelocities;
    if (block->count)
        LG_BY_SIZE(reduce, block, schur->shapes[b].from, schur, x, lam);
    else if (block->nv == 6)
        solve_alone(6, block, schur, x);
    else
        solve_alone(block->nv, block, schur, x);
}

/* Where a chain begins to move at one end, multipliers decay along it down to subnormal numbers. These are slow, and so
   are those in products of small accelerations and velocities. Multipliers far below the largest one become zeros. */
static void drop_negligible(int n, double *lam)
{
    const double negligible = 0x1p-200;
    double bound = negligible * lg_max_abs(n, lam);
    for (int i = 0; i < n; i++)
        lam[i] = fabs(lam[i]) < bound ? 0 * lam[i] : lam[i];
}

/* a from lam and M^-1 f */
static void expand_blocks(const lg_schur *schur, double *x)
{
    const lg_schur_plan *p = schur->plan;
    double *lam = x + p->masses->nvelocities;
    drop_negligible(p->groups->size, lam);
    for (int b = 0; b < p->nblocks; b++)
        if (p->blocks[b].count)
            LG_BY_SIZE(expand, &p->blocks[b], schur->shapes[b].from, schur, lam, x);
}

/* Forms -S block by block. x: on the way, the first half of a solution; NULL: none. */
static void form_groups(const lg_schur *schur, int symmetric, double *x)
{
    const lg_schur_plan *p = schur->plan;
    lg_matrix *groups = schur->groups;
    lg_matrix_zero(groups);
    for (int b = 0; b < p->nblocks; b++) {
        const lg_schur_block *block = &p->blocks[b];
        lg_schur_shape *shape = &schur->shapes[b];
        if (block->count) {
            shape->from = shape->isotropic && has_multiples(p, block, schur->B) &&
                                  (schur->B == schur->C || has_multiples(p, block, schur->C))
                              ? 3
                              : 0;
            LG_BY_SIZE(form, block, shape->from, schur, symmetric);
        }
        if (x)
            reduce_block(schur, b, x);
    }
    for (const lg_mask_address *mask = p->masks; mask < p->masks + p->nmasks; mask++)
        groups->values[mask->at] += schur->C[mask->value];
}

static lg_status factor_groups(const lg_schur *schur, int symmetric, double *x)
{
    lg_matrix *groups = schur->groups;
    lg_status status;
    form_groups(schur, symmetric, x);
    if (x)
        status = lg_matrix_factor_forward(groups, x + schur->plan->masses->nvelocities);
    else
        status = symmetric ? lg_matrix_factor_symmetric(groups) : lg_matrix_factor(groups);
    groups->deficient_row = -1 - groups->deficient_row; /* its velocities are the constraint rows */
    return status;
}

/* ---- doubled precision ---- */

/* *sum -= x y */
static LG_INLINE void subtract_exactly(lg_two_part *sum, double x, lg_two_part y)
{
    *sum = lg_doubled_difference(*sum, lg_doubled_product((lg_two_part){x, 0}, y));
}

/* Subtracts C M^-1 B^T for two entries on a block of nv velocities, A being its M^-1. */
static void subtract_doubled(const lg_schur *schur, int nv, const double *A, const lg_schur_entry *left,
                             const lg_schur_entry *right, const lg_matrix_block *to)
{
    const double *C = schur->C + left->value, *B = schur->B + right->value;
    lg_doubles S = schur->groups->doubled.values;
    for (int c = 0; c < right->rows; c++)
        for (int i = 0; i < nv; i++) {
            lg_two_part weighed = {0};
            for (int j = 0; j < nv; j++)
                subtract_exactly(&weighed, -A[i + nv * j], (lg_two_part){B[c + right->rows * j], 0});
            for (int r = 0; r < left->rows; r++) {
                long at = to->at + r + (long)to->ld * c;
                lg_two_part sum = lg_doubles_at(S, at);
                subtract_exactly(&sum, C[r + left->rows * i], weighed);
                lg_doubles_set(S, at, sum);
            }
        }
}

static lg_status factor_doubled(const lg_schur *schur)
{
    const lg_schur_plan *p = schur->plan;
    lg_matrix *groups = schur->groups;
    groups->fallbacks++;
    LG_TRY(lg_doubled_open(&groups->doubled, p->groups, 1));
    lg_doubled_put(&groups->doubled, p->groups, NULL);
    for (const lg_schur_block *block = p->blocks; block < p->blocks + p->nblocks; block++) {
        const lg_schur_entry *entry = p->entries + block->first;
        const lg_matrix_block *to = p->products + block->products;
        for (int l = 0; l < block->count; l++)
            for (int k = 0; k < block->count; k++)
                subtract_doubled(schur, block->nv, schur->masses.factors + block->inverse, entry + k, entry + l, to++);
    }
    for (const lg_mask_address *mask = p->masks; mask < p->masks + p->nmasks; mask++)
        groups->doubled.values.high[mask->at] += schur->C[mask->value]; /* zero or one; so is the sum */
    lg_status status = lg_doubled_factor(&groups->doubled, p->groups, groups->poll, &groups->deficient_row);
    groups->is_doubled = status == LG_OK;
    return status;
}

static lg_status schur_factor(lg_schur *schur, const double *columns, const double *rows, double *x)
{
    schur->groups->refactorisations += schur->masses.keeps;
    lg_status status = schur->masses.keeps ? LG_OK : invert_masses(schur);
    if (status != LG_OK) {
        schur->groups->deficient_row = schur->masses.deficient_row;
        return status;
    }
    schur->B = columns ? columns : schur->B;
    schur->C = rows ? rows : schur->C;
    status = factor_groups(schur, schur->B == schur->C, x);
    return status == LG_SINGULAR ? factor_doubled(schur) : status;
}

lg_status lg_schur_factor(lg_schur *schur, const double *columns, const double *rows)
{
    return schur_factor(schur, columns, rows, NULL);
}

lg_status lg_schur_factor_solve(lg_schur *schur, const double *B, double *x, int *solved)
{
    LG_TRY(schur_factor(schur, B, B, x));
    *solved = !schur->groups->is_doubled;
    if (!*solved)
        return LG_OK;
    lg_matrix_solve_backward(schur->groups, x + schur->plan->masses->nvelocities);
    expand_blocks(schur, x);
    return LG_OK;
}

/* ---- solution ---- */

/* lam - C M^-1 f on a block, f being there still. */
static void reduce_doubled(const lg_schur *schur, const lg_schur_block *block, const double *f, lg_doubles lam)
{
    const lg_schur_entry *e = schur->plan->entries + block->first, *end = e + block->count;
    const double *A = schur->masses.factors + block->inverse;
    int nv = block->nv;
    for (int i = 0; i < nv; i++) {
        lg_two_part a = {0};
        for (int j = 0; j < nv; j++)
            subtract_exactly(&a, -A[i + nv * j], (lg_two_part){f[j], 0});
        for (const lg_schur_entry *to = e; to < end; to++)
            for (int r = 0; r < to->rows; r++) {
                lg_two_part sum = lg_doubles_at(lam, to->row + r);
                subtract_exactly(&sum, schur->C[to->value + r + to->rows * i], a);
                lg_doubles_set(lam, to->row + r, sum);
            }
    }
}

/* f := M^-1 (f - B^T lam) on a block. */
static void expand_doubled(const lg_schur *schur, const lg_schur_block *block, lg_doubles lam, double *f)
{
    const lg_schur_entry *e = schur->plan->entries + block->first, *end = e + block->count;
    const double *A = schur->masses.factors + block->inverse;
    lg_two_part left[LG_MOST_INVERTED], a[LG_MOST_INVERTED] = {{0}};
    int nv = block->nv;
    for (int j = 0; j < nv; j++) {
        left[j] = (lg_two_part){f[j], 0};
        for (const lg_schur_entry *from = e; from < end; from++)
            for (int r = 0; r < from->rows; r++)
                subtract_exactly(&left[j], schur->B[from->value + r + from->rows * j],
                                 lg_doubles_at(lam, from->row + r));
        for (int i = 0; i < nv; i++)
            subtract_exactly(&a[i], -A[i + nv * j], left[j]);
    }
    for (int i = 0; i < nv; i++)
        f[i] = a[i].high;
}

/* Multipliers that are large and nearly cancel each other leave accelerations all of their digits. */
static lg_status solve_doubled(const lg_schur *schur, double *x)
{
    const lg_schur_plan *p = schur->plan;
    const lg_doubled *doubled = &schur->groups->doubled;
    double *lam = x + p->masses->nvelocities;
    for (int i = 0; i < p->groups->size; i++)
        lg_doubles_set(doubled->x, i, (lg_two_part){lam[i], 0});
    for (int b = 0; b < p->nblocks; b++)
        reduce_doubled(schur, &p->blocks[b], x + p->blocks[b].velocity, doubled->x);
    LG_TRY(lg_doubled_solve(doubled, p->groups, schur->groups->poll, 0));
    for (int b = 0; b < p->nblocks; b++)
        expand_doubled(schur, &p->blocks[b], doubled->x, x + p->blocks[b].velocity);
    lg_copy(p->groups->size, doubled->x.high, lam);
    return LG_OK;
}

lg_status lg_schur_solve(const lg_schur *schur, double *x)
{
    if (schur->groups->is_doubled)
        return solve_doubled(schur, x);
    for (int b = 0; b < schur->plan->nblocks; b++)
        reduce_block(schur, b, x);
    LG_TRY(lg_matrix_solve(schur->groups, x + schur->plan->masses->nvelocities));
    expand_blocks(schur, x);
    return LG_OK;
}
