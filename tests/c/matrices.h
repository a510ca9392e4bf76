/* Systems of random numbers and of every shape, assembled by the library and from the definition, for the tests of the
   block-sparse matrix. */
#ifndef MATRICES_H
#define MATRICES_H

#include "check.h"
#include "sparse/fronts.h"
#include "sparse/linalg.h"
#include "sparse/matrix.h"
#include "sparse/pattern.h"

#include <stdlib.h>

/* ---- a system of random numbers ---- */

enum { MAX_BLOCKS = 24, MAX_GROUPS = 40, MAX_ENTRIES = 160 };

typedef struct problem {
    int nblocks, ngroups, ncliques;
    int nv[MAX_BLOCKS], nown[MAX_BLOCKS], v_start[MAX_BLOCKS + 1], own_row[MAX_BLOCKS], own_value[MAX_BLOCKS];
    int group_rows[MAX_GROUPS], group_row[MAX_GROUPS + 1], group_start[MAX_GROUPS + 1];
    int group_block[MAX_ENTRIES], group_value[MAX_ENTRIES], group_sufficient[MAX_ENTRIES];
    int clique_start[MAX_GROUPS + 1], clique_block[MAX_ENTRIES];
    lg_pattern pattern;
    double *B[2]; /* values of B, and other values that are added to its rows */
    double *X[3]; /* per level the X of all blocks, 16 x 16 each */
    lg_chain chain[MAX_BLOCKS];
    double *S[MAX_GROUPS]; /* per clique, entry by entry (i, j), each 16 x 16 */
    lg_plan *plan;
    lg_arena arena;
    lg_matrix matrix, guest;
    int has_guest;
    double *rest; /* REST doubles of the matrix's memory that the guest leaves free */
    int size;
    double *dense; /* the same matrix, built from the definition */
    lg_coupling coupling;
    int lower; /* index of the B in the rows; the columns hold B[0] */
} problem;

enum { WIDE = 16, SLOT = WIDE * WIDE, REST = 4 };

static inline int add_block(problem *p, int nv, int nown)
{
    p->nv[p->nblocks] = nv;
    p->nown[p->nblocks] = nown;
    return p->nblocks++;
}

static inline void add_group(problem *p, int rows, int count, const int *blocks)
{
    int start = p->group_start[p->ngroups];
    p->group_rows[p->ngroups] = rows;
    for (int i = 0; i < count; i++)
        p->group_block[start + i] = blocks[i];
    p->group_start[++p->ngroups] = start + count;
}

static inline void add_clique(problem *p, int count, const int *blocks)
{
    int start = p->clique_start[p->ncliques];
    for (int i = 0; i < count; i++)
        p->clique_block[start + i] = blocks[i];
    p->clique_start[++p->ncliques] = start + count;
}

#define BLOCKS(...)                                                                                                    \
    (int)(sizeof((int[]){__VA_ARGS__}) / sizeof(int)), (int[])                                                         \
    {                                                                                                                  \
        __VA_ARGS__                                                                                                    \
    }

static inline void number(problem *p)
{
    int row = 0, value = 0;
    for (int g = 0; g < p->ngroups; g++) {
        p->group_row[g] = row;
        row += p->group_rows[g];
        for (int e = p->group_start[g]; e < p->group_start[g + 1]; e++) {
            p->group_value[e] = value;
            value += p->group_rows[g] * p->nv[p->group_block[e]];
        }
    }
    p->group_row[p->ngroups] = row;
    for (int b = 0; b < p->nblocks; b++) {
        p->v_start[b + 1] = p->v_start[b] + p->nv[b];
        p->own_row[b] = row;
        p->own_value[b] = value;
        row += p->nown[b];
        value += p->nown[b] * p->nv[b];
    }
    p->pattern = (lg_pattern){.nblocks = p->nblocks,
                              .nv = p->nv,
                              .nown = p->nown,
                              .v_start = p->v_start,
                              .own_row = p->own_row,
                              .own_value = p->own_value,
                              .ngroups = p->ngroups,
                              .group_row = p->group_row,
                              .group_start = p->group_start,
                              .group_block = p->group_block,
                              .group_value = p->group_value,
                              .group_sufficient = p->group_sufficient,
                              .ncliques = p->ncliques,
                              .nmass_cliques = p->ncliques,
                              .clique_start = p->clique_start,
                              .clique_block = p->clique_block,
                              .nrows = row,
                              .nvalues = value};
}

static inline double *random_array(uint64_t *state, int count)
{
    double *a = malloc(((size_t)count + 1) * sizeof(double));
    for (int i = 0; i < count; i++)
        a[i] = random_number(state);
    return a;
}

static inline void add_to_diagonal(double *A, int n, int ld, double s)
{
    for (int i = 0; i < n; i++)
        A[i + ld * i] += s;
}

/* Draws random values; the diagonal blocks of S are well conditioned, like masses. */
static inline void draw(problem *p, uint64_t *state)
{
    for (int c = 0; c < 2; c++)
        p->B[c] = random_array(state, p->pattern.nvalues);
    for (int level = 0; level < 3; level++) {
        p->X[level] = random_array(state, SLOT * p->nblocks);
        for (int b = 0; b < p->nblocks; b++) {
            double *X = p->X[level] + SLOT * b;
            add_to_diagonal(X, p->nv[b], p->nv[b], 4);
            p->chain[b].k[level] = 1.5 + random_number(state);
            p->chain[b].X[level] = random_int(state, 0, 1) ? X : NULL;
        }
    }
    for (int c = 0; c < p->ncliques; c++) {
        int count = p->clique_start[c + 1] - p->clique_start[c];
        p->S[c] = random_array(state, SLOT * count * count);
        for (int i = 0; i < count; i++)
            add_to_diagonal(p->S[c] + SLOT * (i * count + i), WIDE, WIDE, 6);
    }
}

static inline void layout(void *self, lg_arena *arena)
{
    problem *p = self;
    lg_matrix_layout_host(&p->matrix, p->plan, p->has_guest ? p->plan : NULL, arena);
    if (p->has_guest)
        lg_matrix_layout_guest(&p->guest, p->plan, &p->matrix, arena);
    p->rest = lg_matrix_layout_rest(&p->matrix, p->has_guest ? p->plan : NULL, 0, REST, arena);
}

static inline void open_problem(problem *p, uint64_t *state)
{
    number(p);
    draw(p, state);
    CHECK(lg_plan_create(&p->pattern, p->coupling, &p->plan) == LG_OK);
    CHECK(lg_arena_open(&p->arena, layout, p) == LG_OK);
    p->size = p->v_start[p->nblocks] + p->pattern.nrows;
    p->dense = malloc(((size_t)(p->size * p->size) + 1) * sizeof(double));
}

static inline void close_problem(problem *p)
{
    for (int c = 0; c < 2; c++)
        free(p->B[c]);
    for (int level = 0; level < 3; level++)
        free(p->X[level]);
    for (int c = 0; c < p->ncliques; c++)
        free(p->S[c]);
    free(p->dense);
    lg_matrix_close(&p->matrix);
    lg_matrix_close(&p->guest);
    lg_plan_free(p->plan);
    lg_arena_close(&p->arena);
}

/* ---- assembly, by the library and from the definition ---- */

static inline void assemble_cliques(problem *p)
{
    long matrix_block = 0;
    for (int c = 0; c < p->ncliques; c++) {
        int start = p->clique_start[c], count = p->clique_start[c + 1] - start;
        for (int i = 0; i < count; i++)
            for (int j = 0; j < count; j++) {
                int bi = p->clique_block[start + i], bj = p->clique_block[start + j], ld;
                const double *S = p->S[c] + SLOT * (i * count + j);
                double *at = lg_matrix_at(&p->matrix, matrix_block++, &ld);
                for (int k = 0; k < p->nv[bj]; k++)
                    for (int r = 0; r < p->nv[bi]; r++) {
                        at[r + ld * k] += S[r + WIDE * k];
                        p->dense[p->v_start[bi] + r + p->size * (p->v_start[bj] + k)] += S[r + WIDE * k];
                    }
            }
    }
}

/* Adds one entry of B, rows x nv at `value`, to the columns and, times s k X of level 0, to the rows of the dense
   matrix. */
static inline void dense_entry(problem *p, int block, int row, int rows, int value, double s)
{
    int nv = p->nv[block], v = p->v_start[block], first = p->v_start[p->nblocks] + row;
    const double *B = p->B[0] + value, *lower = p->B[p->lower] + value, *X = p->chain[block].X[0];
    for (int r = 0; r < rows; r++)
        for (int k = 0; k < nv; k++) {
            double BX = 0;
            for (int i = 0; i < nv; i++)
                BX += lower[r + rows * i] * (X ? X[i + nv * k] : i == k);
            p->dense[v + k + p->size * (first + r)] += B[r + rows * k];
            p->dense[first + r + p->size * (v + k)] += s * p->chain[block].k[0] * BX;
        }
}

static inline void dense_constraints(problem *p, double s)
{
    for (int g = 0; g < p->ngroups; g++)
        for (int e = p->group_start[g]; e < p->group_start[g + 1]; e++)
            dense_entry(p, p->group_block[e], p->group_row[g], p->group_rows[g], p->group_value[e], s);
    for (int b = 0; b < p->nblocks; b++)
        dense_entry(p, b, p->own_row[b], p->nown[b], p->own_value[b], s);
}

static inline void assemble(problem *p)
{
    memset(p->dense, 0, (size_t)(p->size * p->size) * sizeof(double));
    lg_matrix_zero(&p->matrix);
    assemble_cliques(p);
    lg_matrix_add_border(&p->matrix, p->B[0], 1.5, p->B[0], 0, p->chain);
    dense_constraints(p, 1.5);
}

/* The largest |A x - b|, or |A^T x - b|, divided by the largest |A| |x| */
static inline double residual(const problem *p, int transposed, const double *x, const double *b)
{
    double worst = 0, scale = 0;
    for (int i = 0; i < p->size; i++) {
        double r = -b[i], s = 0;
        for (int j = 0; j < p->size; j++) {
            double term = p->dense[transposed ? j + p->size * i : i + p->size * j] * x[j];
            r += term;
            s += fabs(term);
        }
        worst = fmax(worst, isnan(r) ? INFINITY : fabs(r));
        scale = fmax(scale, s);
    }
    return worst / scale;
}

static inline void check_transposed(const problem *p, const double *b, double tolerance)
{
    double *x = malloc((size_t)p->size * sizeof(double));
    memcpy(x, b, (size_t)p->size * sizeof(double));
    CHECK(lg_matrix_solve_transposed(&p->matrix, x) == LG_OK);
    CHECK_CLOSE(residual(p, 1, x, b), 0, tolerance);
    free(x);
}

/* Factors and solves, also with the transposed matrix; the caller frees the solution. */
static inline double *solved(problem *p, const double *b, double tolerance)
{
    double *x = malloc((size_t)p->size * sizeof(double));
    memcpy(x, b, (size_t)p->size * sizeof(double));
    CHECK(p->plan->size == p->size);
    CHECK((p->matrix.keeps ? lg_matrix_refactor : lg_matrix_factor)(&p->matrix) == LG_OK);
    CHECK(lg_matrix_solve(&p->matrix, x) == LG_OK);
    CHECK_CLOSE(residual(p, 0, x, b), 0, tolerance);
    if (!p->matrix.keeps)
        check_transposed(p, b, tolerance);
    return x;
}

/* LAPACK's solution of the same matrix */
static inline double *solved_densely(const problem *p, const double *b)
{
    size_t n = (size_t)p->size;
    int deficient, *pivots = malloc(n * sizeof(int));
    double *A = malloc(n * n * sizeof(double)), *x = malloc(n * sizeof(double));
    memcpy(A, p->dense, n * n * sizeof(double));
    memcpy(x, b, n * sizeof(double));
    CHECK(lg_dense_factor(p->size, A, pivots, &deficient) == LG_OK);
    lg_dense_solve(p->size, A, pivots, x);
    free(A), free(pivots);
    return x;
}

static inline void check_solution(problem *p, uint64_t *state, double tolerance)
{
    double *b = random_array(state, p->size), *x = solved(p, b, tolerance), *y = solved_densely(p, b);
    double difference = 0, largest = 0;
    for (int i = 0; i < p->size; i++) {
        difference += fabs(x[i] - y[i]);
        largest = fmax(largest, fabs(y[i]));
    }
    CHECK_CLOSE(difference / largest, 0, 1e4 * tolerance);
    free(b), free(x), free(y);
}

static inline void exchange(problem *p)
{
    lg_matrix host = p->matrix;
    p->matrix = p->guest;
    p->guest = host;
}

/* The solution for a right-hand side with the present factors; the caller frees it. */
static inline double *solution(const problem *p, const double *b)
{
    double *x = malloc((size_t)p->size * sizeof(double));
    memcpy(x, b, (size_t)p->size * sizeof(double));
    CHECK(lg_matrix_solve(&p->matrix, x) == LG_OK);
    return x;
}

/* ---- shapes ---- */

static inline void one_body(problem *p)
{
    add_clique(p, BLOCKS(add_block(p, 6, 0)));
    add_group(p, 3, BLOCKS(0));
}

static inline void free_body(problem *p)
{
    add_clique(p, BLOCKS(add_block(p, 6, 0)));
}

static inline void chain(problem *p)
{
    for (int b = 0; b < 10; b++) {
        add_clique(p, BLOCKS(add_block(p, 6, 0)));
        if (b == 0)
            add_group(p, 3, BLOCKS(b));
        else
            add_group(p, 2, BLOCKS(b - 1, b));
    }
}

static inline void tree(problem *p)
{
    for (int b = 0; b < 15; b++) {
        add_clique(p, BLOCKS(add_block(p, 6, 0)));
        if (b > 0)
            add_group(p, 2, BLOCKS(b, (b - 1) / 2));
    }
}

static inline void loop(problem *p)
{
    for (int b = 0; b < 8; b++)
        add_clique(p, BLOCKS(add_block(p, 6, 0)));
    for (int b = 0; b < 8; b++)
        add_group(p, 3, BLOCKS(b, (b + 1) % 8));
}

/* A body between two larger ones, which couple with a third and are eliminated last: it is sufficient for either of its
   joints, but not for both. */
static inline void body_between(problem *p)
{
    for (int b = 0; b < 3; b++)
        add_block(p, 16, 0);
    add_clique(p, BLOCKS(0, 1, 2));
    add_clique(p, BLOCKS(add_block(p, 6, 0)));
    add_group(p, 5, BLOCKS(0, 3));
    add_group(p, 5, BLOCKS(1, 3));
    for (int e = 0; e < p->group_start[p->ngroups]; e++)
        p->group_sufficient[e] = 1;
}

static inline void star(problem *p)
{
    add_clique(p, BLOCKS(add_block(p, 12, 0)));
    for (int b = 1; b < 9; b++) {
        add_clique(p, BLOCKS(add_block(p, 3, 0)));
        add_group(p, 1, BLOCKS(0, b));
    }
}

static inline void springs(problem *p)
{
    for (int b = 0; b < 9; b++)
        add_clique(p, BLOCKS(add_block(p, b % 3 ? 6 : 3, 0)));
    for (int b = 0; b + 2 < 9; b++)
        add_clique(p, BLOCKS(b + 2, b));
    add_clique(p, BLOCKS(7, 0, 4, 2));
    add_group(p, 2, BLOCKS(0, 8));
    add_group(p, 1, BLOCKS(3));
}

static inline void own_rows(problem *p)
{
    for (int b = 0; b < 6; b++)
        add_clique(p, BLOCKS(add_block(p, b % 2 ? 7 : 4, 1)));
    for (int b = 1; b < 6; b++)
        add_group(p, 1, BLOCKS(b - 1, b));
    add_clique(p, BLOCKS(0, 5));
}

/* Two frames of one block in the same joint and in the same element; entries add up. */
static inline void same_block_twice(problem *p)
{
    add_clique(p, BLOCKS(add_block(p, 8, 0)));
    add_clique(p, BLOCKS(add_block(p, 5, 1)));
    add_clique(p, BLOCKS(0, 0));
    add_clique(p, BLOCKS(1, 0, 1));
    add_group(p, 2, BLOCKS(0, 0));
    add_group(p, 1, BLOCKS(1, 0, 1));
}

/* A block without unknowns and a joint without rows change nothing. */
static inline void nothing_here(problem *p)
{
    add_clique(p, BLOCKS(add_block(p, 0, 0)));
    add_clique(p, BLOCKS(add_block(p, 3, 0)));
    add_group(p, 0, BLOCKS(0, 1));
    add_group(p, 1, BLOCKS(1, 0));
}

static void (*const shapes[])(problem *) = {
    one_body, free_body, chain, tree, loop, body_between, star, springs, own_rows, same_block_twice, nothing_here};

static inline void random_shape(problem *p, uint64_t *state)
{
    int nblocks = random_int(state, 1, MAX_BLOCKS), room[MAX_BLOCKS];
    for (int b = 0; b < nblocks; b++) {
        int nv = random_int(state, 1, 9), nown = nv > 3 && random_int(state, 0, 3) == 0;
        add_clique(p, BLOCKS(add_block(p, nv, nown)));
        room[b] = nv - nown; /* rows for which it suffices, so that B keeps its full rank */
    }
    for (int g = 0; g < nblocks; g++) {
        int a = random_int(state, 0, nblocks - 1), b = random_int(state, 0, nblocks - 1);
        int c = random_int(state, 0, nblocks - 1), rows = random_int(state, 1, 6);
        rows = rows < room[a] ? rows : room[a];
        if (rows < 1)
            continue;
        room[a] -= rows;
        add_group(p, rows, random_int(state, 1, 3), (int[]){a, b, c});
        for (int e = p->group_start[p->ngroups - 1]; e < p->group_start[p->ngroups]; e++) {
            int block = p->group_block[e];
            p->group_sufficient[e] = rows + p->nown[block] <= p->nv[block] && random_int(state, 0, 1);
        }
    }
    for (int c = random_int(state, 0, nblocks / 2); c > 0 && p->ncliques < MAX_GROUPS; c--)
        add_clique(p, random_int(state, 1, 3),
                   (int[]){random_int(state, 0, nblocks - 1), random_int(state, 0, nblocks - 1),
                           random_int(state, 0, nblocks - 1)});
}

#endif
