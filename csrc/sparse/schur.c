/* Solutions by the Schur complement of the constraint rows; see schur.h. */
#include "sparse/schur.h"

#include "sparse/fronts.h"
#include "sparse/tiles.h"

/* The entries of an inverse mass that are not zero: all; those of two 3 x 3 blocks, as for positions and rotations; the
   diagonal. */
enum { FULL, TWO_BLOCKS, DIAGONAL };

/* Calls a kernel with the sizes of an entry of B. The compiler knows those of common joints between bodies and of the
   edges of rods. */
#define LG_BY_SIZE(kernel, rows, nv, ...)                                                                              \
    do {                                                                                                               \
        if ((nv) == 6 && (rows) == 3)                                                                                  \
            kernel(3, 6, __VA_ARGS__);                                                                                 \
        else if ((nv) == 6 && (rows) == 2)                                                                             \
            kernel(2, 6, __VA_ARGS__);                                                                                 \
        else if ((nv) == 6 && (rows) == 5)                                                                             \
            kernel(5, 6, __VA_ARGS__);                                                                                 \
        else                                                                                                           \
            kernel(rows, nv, __VA_ARGS__);                                                                             \
    } while (0)

void lg_schur_layout(lg_schur *schur, const lg_schur_plan *plan, lg_matrix *groups, lg_arena *arena)
{
    *schur = (lg_schur){.plan = plan, .groups = groups};
    lg_matrix_layout_sums(&schur->masses, plan->masses, arena);
    lg_matrix_layout_sums(groups, plan->groups, arena);
    schur->zeros = lg_arena_ints(arena, (size_t)plan->nblocks);
    schur->C = lg_arena_doubles(arena, (size_t)plan->nvalues + LG_CHUNK);
    schur->W = lg_arena_doubles(arena, (size_t)plan->nvalues + LG_CHUNK);
}

/* ---- the inverse mass ---- */

static const double *inverse_of(const lg_schur *schur, int block)
{
    return schur->masses.factors + schur->plan->blocks[block].inverse;
}

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

static lg_status invert_masses(lg_schur *schur)
{
    LG_TRY(lg_matrix_factor(&schur->masses));
    LG_TRY(lg_matrix_keep(&schur->masses));
    for (int b = 0; b < schur->plan->nblocks; b++)
        schur->zeros[b] = zeros_of(schur->plan->blocks[b].nv, inverse_of(schur, b));
    return LG_OK;
}

/* y = A x for a column-major A with these zeros; strides between the entries of x */
static LG_INLINE void multiply(int nv, int zeros, const double *restrict A, const double *restrict x, int stride,
                               double *restrict y)
{
    int size = zeros == DIAGONAL ? 1 : zeros == TWO_BLOCKS ? 3 : nv;
    UNROLL
    for (int first = 0; first < nv; first += size) {
        UNROLL
        for (int r = first; r < first + size; r++) {
            double sum = A[r + nv * first] * x[stride * first];
            UNROLL
            for (int c = first + 1; c < first + size; c++)
                sum += A[r + nv * c] * x[stride * c];
            y[r] = sum;
        }
    }
}

/* ---- columns and rows ---- */

static LG_INLINE void weigh(int rows, int nv, int zeros, const double *inverse, const double *B, double *W)
{
    UNROLL
    for (int r = 0; r < rows; r++)
        multiply(nv, zeros, inverse, B + r, rows, W + nv * r);
}

static LG_INLINE void weigh_rows(int rows, int nv, int zeros, const double *inverse, const double *B, double *W)
{
    if (zeros == DIAGONAL)
        weigh(rows, nv, DIAGONAL, inverse, B, W);
    else if (zeros == TWO_BLOCKS)
        weigh(rows, 6, TWO_BLOCKS, inverse, B, W);
    else
        weigh(rows, nv, FULL, inverse, B, W);
}

static void put_columns(const lg_schur *schur, const double *B)
{
    const lg_schur_plan *p = schur->plan;
    for (const lg_schur_entry *e = p->entries; e < p->entries + p->nentries; e++)
        LG_BY_SIZE(weigh_rows, e->rows, e->nv, schur->zeros[e->block], inverse_of(schur, e->block), B + e->value,
                   schur->W + e->value);
}

/* ---- factorisation ---- */

/* -S += -C W for a pair of entries of as many rows. */
static LG_INLINE void subtract_square(int rows, int nv, const double *C, const double *W, double *S, int ld)
{
    if (rows <= 3)
        subtract_tile(nv, rows, rows, C, rows, W, S, ld, NULL);
    else
        subtract_product(nv, rows, rows, C, rows, W, S, ld);
}

static LG_INLINE void subtract(const lg_schur *schur, const lg_schur_product *to)
{
    const double *C = schur->C + to->left, *W = schur->W + to->right;
    double *S = schur->groups->values + to->at;
    if (to->rows == to->columns)
        LG_BY_SIZE(subtract_square, to->rows, to->nv, C, W, S, to->ld);
    else
        subtract_product(to->nv, to->rows, to->columns, C, to->rows, W, S, to->ld);
}

static lg_status factor_groups(const lg_schur *schur, int symmetric)
{
    const lg_schur_plan *p = schur->plan;
    lg_matrix *groups = schur->groups;
    lg_matrix_zero(groups);
    for (long i = 0; i < (symmetric ? p->nlower : p->nproducts); i++)
        subtract(schur, &p->products[i]);
    for (const lg_mask_place *mask = p->masks; mask < p->masks + p->nmasks; mask++)
        groups->values[mask->at] += schur->C[mask->value];
    lg_status status = symmetric ? lg_matrix_factor_symmetric(groups) : lg_matrix_factor(groups);
    groups->deficient_row = -1 - groups->deficient_row; /* its velocities are the constraint rows */
    return status;
}

lg_status lg_schur_factor(lg_schur *schur, const double *columns, const double *rows)
{
    schur->groups->refactorisations += schur->masses.keeps;
    lg_status status = schur->masses.keeps ? LG_OK : invert_masses(schur);
    if (status != LG_OK) {
        schur->groups->deficient_row = schur->masses.deficient_row;
        return status;
    }
    if (columns)
        put_columns(schur, columns);
    if (rows)
        lg_copy(schur->plan->nvalues, rows, schur->C);
    return factor_groups(schur, columns == rows);
}

/* ---- solution ---- */

static void multiply_blocks(const lg_schur *schur, double *x)
{
    for (int b = 0; b < schur->plan->nblocks; b++) {
        const lg_schur_block *block = &schur->plan->blocks[b];
        const double *inverse = inverse_of(schur, b);
        double f[LG_MOST_INVERTED], *y = x + block->velocity;
        lg_copy(block->nv, y, f);
        if (schur->zeros[b] == DIAGONAL)
            multiply(block->nv, DIAGONAL, inverse, f, 1, y);
        else if (schur->zeros[b] == TWO_BLOCKS)
            multiply(6, TWO_BLOCKS, inverse, f, 1, y);
        else
            multiply(block->nv, FULL, inverse, f, 1, y);
    }
}

/* y -= A x for a column-major rows x columns matrix */
static LG_INLINE void subtract_times(int rows, int columns, const double *restrict A, const double *restrict x,
                                     double *restrict y)
{
    UNROLL
    for (int r = 0; r < rows; r += 2) {
        pair sum = {0};
        UNROLL
        for (int c = 0; c < columns; c++)
            sum += load(A + r + rows * c) * x[c];
        y[r] -= sum[0];
        if (r + 1 < rows)
            y[r + 1] -= sum[1];
    }
}

static LG_INLINE void subtract_row(int rows, int nv, const double *C, const double *velocities, double *row)
{
    subtract_times(rows, nv, C, velocities, row);
}

static LG_INLINE void subtract_column(int rows, int nv, const double *W, const double *row, double *velocities)
{
    subtract_times(nv, rows, W, row, velocities);
}

/* The right-hand side of the multipliers of -S: zeta - C M^-1 f */
static void subtract_rows(const lg_schur *schur, const double *velocities, double *rows)
{
    const lg_schur_plan *p = schur->plan;
    for (const lg_schur_entry *e = p->entries; e < p->entries + p->nentries; e++)
        LG_BY_SIZE(subtract_row, e->rows, e->nv, schur->C + e->value, velocities + e->velocity, rows + e->row);
}

/* a = M^-1 f - W lam */
static void subtract_columns_of(const lg_schur *schur, const double *lam, double *velocities)
{
    const lg_schur_plan *p = schur->plan;
    for (const lg_schur_entry *e = p->entries; e < p->entries + p->nentries; e++)
        LG_BY_SIZE(subtract_column, e->rows, e->nv, schur->W + e->value, lam + e->row, velocities + e->velocity);
}

lg_status lg_schur_solve(const lg_schur *schur, double *x)
{
    double *rows = x + schur->masses.plan->nvelocities;
    multiply_blocks(schur, x);
    subtract_rows(schur, x, rows);
    LG_TRY(lg_matrix_solve(schur->groups, rows));
    subtract_columns_of(schur, rows, x);
    return LG_OK;
}
