/* Matrices without own rows; see reduce.h. */
#include "sparse/reduce.h"

#include "core/small.h"
#include "sparse/fronts.h"

#include <stdlib.h>
#include <string.h>

typedef struct lg_reduced_block {
    int row, column; /* blocks */
    long whole, reduced; /* in the assembled values */
    int ld_whole, ld_reduced;
} lg_reduced_block;

/* ---- creation ---- */

typedef struct reduced_sizes {
    const lg_pattern *pattern;
    long nmatrix_blocks; /* of all cliques of the plan */
    lg_reduction *reduction;
    int *nv, *zeros, *v_start, *group_value, *basis;
    lg_reduced_block *blocks;
} reduced_sizes;

static void reduce_layout(void *self, lg_arena *arena)
{
    reduced_sizes *s = self;
    size_t nblocks = (size_t)s->pattern->nblocks;
    s->nv = lg_arena_ints(arena, nblocks);
    s->zeros = lg_arena_ints(arena, nblocks);
    s->basis = lg_arena_ints(arena, nblocks);
    s->v_start = lg_arena_ints(arena, nblocks + 1);
    s->group_value = lg_arena_ints(arena, (size_t)s->pattern->group_start[s->pattern->ngroups]);
    s->blocks = lg_arena_take(arena, (size_t)s->nmatrix_blocks * sizeof *s->blocks);
}

static void fill_pattern(const reduced_sizes *s)
{
    const lg_pattern *from = s->pattern;
    lg_pattern *to = &s->reduction->pattern;
    *to = *from;
    to->nvalues = 0;
    to->nrows = from->group_row[from->ngroups];
    for (int b = 0; b < from->nblocks; b++) {
        s->nv[b] = from->nv[b] - from->nown[b];
        s->v_start[b + 1] = s->v_start[b] + s->nv[b];
        s->basis[b] = s->reduction->nbases;
        s->reduction->nbases += from->nv[b] * s->nv[b];
    }
    for (int g = 0; g < from->ngroups; g++)
        for (int e = from->group_start[g]; e < from->group_start[g + 1]; e++) {
            s->group_value[e] = to->nvalues;
            to->nvalues += (from->group_row[g + 1] - from->group_row[g]) * s->nv[from->group_block[e]];
        }
    to->mask_value = to->nvalues;
    to->nvalues += to->nmasked;
    to->nv = s->nv, to->nown = s->zeros, to->v_start = s->v_start;
    to->own_row = to->own_value = s->zeros;
    to->group_value = s->group_value;
}

static int reduce_order(const void *a, const void *b)
{
    long x = ((const lg_reduced_block *)a)->whole, y = ((const lg_reduced_block *)b)->whole;
    return (x > y) - (x < y);
}

/* The number of blocks under a clique of a plan, and these: cliques of the pattern, then groups if the plan has
   them. */
static int members(const lg_pattern *p, int clique, const int **block)
{
    int group = clique - p->ncliques;
    const int *start = group < 0 ? p->clique_start + clique : p->group_start + group;
    *block = (group < 0 ? p->clique_block : p->group_block) + start[0];
    return start[1] - start[0];
}

/* Pairs of blocks that occur in several cliques are listed once. */
static void list_blocks(const reduced_sizes *s, const lg_plan *whole)
{
    const lg_matrix_block *a = whole->matrix_blocks, *b = s->reduction->plan->matrix_blocks;
    lg_reduced_block *next = s->blocks;
    for (int c = 0; c < whole->ncliques; c++) {
        const int *block;
        int n = members(s->pattern, c, &block);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++, a++, b++)
                *next++ = (lg_reduced_block){block[i], block[j], a->at, b->at, a->ld, b->ld};
    }
    qsort(s->blocks, (size_t)s->nmatrix_blocks, sizeof *next, reduce_order);
    int n = 0;
    for (long k = 0; k < s->nmatrix_blocks; k++)
        if (n == 0 || s->blocks[k].whole != s->blocks[n - 1].whole)
            s->blocks[n++] = s->blocks[k];
    s->reduction->nblocks = n;
}

lg_status lg_reduction_create(const lg_pattern *pattern, const lg_plan *plan, lg_coupling coupling,
                              lg_reduction *reduction)
{
    reduced_sizes s = {.pattern = pattern, .nmatrix_blocks = plan->nmatrix_blocks, .reduction = reduction};
    *reduction = (lg_reduction){.nv = pattern->nv, .value = pattern->group_value, .mask_value = pattern->mask_value};
    LG_TRY(lg_arena_open(&reduction->memory, reduce_layout, &s));
    fill_pattern(&s);
    reduction->basis = s.basis;
    lg_status status = lg_plan_create(&reduction->pattern, coupling, &reduction->plan);
    if (status == LG_OK)
        list_blocks(&s, plan);
    reduction->blocks = s.blocks;
    return status;
}

void lg_reduction_close(lg_reduction *reduction)
{
    lg_plan_free(reduction->plan);
    lg_arena_close(&reduction->memory);
    *reduction = (lg_reduction){0};
}

/* ---- products ---- */

enum { MOST = 12 }; /* velocities of a block with own rows */

/* Whether a block has own rows; the matrix of any other block is the identity. */
static int has_basis(const lg_reduction *r, int block)
{
    return r->pattern.nv[block] < r->nv[block];
}

/* The matrix of a block; NULL: the identity. */
static const double *basis_of(const lg_reduction *r, const double *bases, int block)
{
    return has_basis(r, block) ? bases + r->basis[block] : NULL;
}

/* y (n) += A^T x, A being m x n */
static void add_transposed_product(int m, int n, const double *A, const double *x, double *y)
{
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++)
            y[j] += A[i + j * m] * x[i];
}

/* y += column j of S X; X NULL: the identity */
static void add_column(int rows, int columns, const double *S, int ld, const double *X, int j, double *y)
{
    if (!X) {
        lg_axpy(rows, 1, S + (size_t)j * ld, y);
        return;
    }
    for (int k = 0; k < columns; k++)
        lg_axpy(rows, X[k + j * columns], S + (size_t)k * ld, y);
}

static void add_block_of_S(const lg_reduction *r, const lg_reduced_block *both, const double *S, const double *N,
                           const double *X, double *out)
{
    int rows = r->nv[both->row], columns = r->nv[both->column];
    for (int j = 0; j < r->pattern.nv[both->column]; j++) {
        double *y = out + (size_t)j * both->ld_reduced;
        if (!N) {
            add_column(rows, columns, S, both->ld_whole, X, j, y);
            continue;
        }
        double x[MOST] = {0};
        add_column(rows, columns, S, both->ld_whole, X, j, x);
        add_transposed_product(rows, r->pattern.nv[both->row], N, x, y);
    }
}

void lg_reduction_add(const lg_reduction *r, const lg_matrix *whole, const double *N, const double *X,
                      lg_matrix *reduced)
{
    for (const lg_reduced_block *both = r->blocks; both < r->blocks + r->nblocks; both++)
        add_block_of_S(r, both, whole->values + both->whole, basis_of(r, N, both->row), basis_of(r, X, both->column),
                       reduced->values + both->reduced);
}

/* out (rows x n) = B (rows x m) X */
static void mul_rows(int rows, int m, int n, const double *B, const double *X, double *out)
{
    memset(out, 0, (size_t)rows * (size_t)n * sizeof *out);
    for (int j = 0; j < n; j++)
        add_column(rows, m, B, rows, X, j, out + (size_t)j * rows);
}

void lg_reduction_rows(const lg_reduction *r, const double *B, const double *X, double *out)
{
    const lg_pattern *p = &r->pattern;
    for (int g = 0; g < p->ngroups; g++)
        for (int e = p->group_start[g]; e < p->group_start[g + 1]; e++) {
            int block = p->group_block[e];
            mul_rows(p->group_row[g + 1] - p->group_row[g], r->nv[block], p->nv[block], B + r->value[e],
                     basis_of(r, X, block), out + p->group_value[e]);
        }
    lg_copy(p->nmasked, B + r->mask_value, out + p->mask_value);
}

void lg_reduction_pull(const lg_reduction *r, const double *N, const double *x, double *y)
{
    memset(y, 0, (size_t)r->pattern.v_start[r->pattern.nblocks] * sizeof *y);
    for (int b = 0; b < r->pattern.nblocks; b++) {
        if (has_basis(r, b))
            add_transposed_product(r->nv[b], r->pattern.nv[b], N + r->basis[b], x, y);
        else
            lg_axpy(r->nv[b], 1, x, y);
        x += r->nv[b], y += r->pattern.nv[b];
    }
}
