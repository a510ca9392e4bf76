/* The block-sparse matrix and the products of the pattern against dense algebra, on systems of every shape. */
#include "check.h"
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
    double *B[2],
        *X[3]; /* values of B, and others for what is added to its rows; per level the X of all blocks, 16 x 16 each */
    lg_chain chain[MAX_BLOCKS];
    double *S[MAX_GROUPS]; /* per clique, entry by entry (i, j), each 16 x 16 */
    lg_plan *plan;
    lg_arena arena;
    lg_matrix matrix, guest;
    int has_guest;
    double *rest; /* what the guest leaves free of the memory of the matrix, or all of it: REST doubles */
    int size;
    double *dense; /* the same matrix, built from the definition */
    lg_coupling coupling;
    int lower; /* the B that stands in the rows; B[0] stands in the columns */
} problem;

enum { WIDE = 16, SLOT = WIDE * WIDE, REST = 4 };

static int add_block(problem *p, int nv, int nown)
{
    p->nv[p->nblocks] = nv;
    p->nown[p->nblocks] = nown;
    return p->nblocks++;
}

static void add_group(problem *p, int rows, int count, const int *blocks)
{
    int start = p->group_start[p->ngroups];
    p->group_rows[p->ngroups] = rows;
    for (int i = 0; i < count; i++)
        p->group_block[start + i] = blocks[i];
    p->group_start[++p->ngroups] = start + count;
}

static void add_clique(problem *p, int count, const int *blocks)
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

static void number(problem *p)
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

static double *random_array(uint64_t *state, int count)
{
    double *a = malloc(((size_t)count + 1) * sizeof(double));
    for (int i = 0; i < count; i++)
        a[i] = random_number(state);
    return a;
}

static void add_to_diagonal(double *A, int n, int ld, double s)
{
    for (int i = 0; i < n; i++)
        A[i + ld * i] += s;
}

/* Random values; the diagonal blocks of S are well conditioned, as masses are. */
static void draw(problem *p, uint64_t *state)
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

static void layout(void *self, lg_arena *arena)
{
    problem *p = self;
    lg_matrix_layout_host(&p->matrix, p->plan, p->has_guest ? p->plan : NULL, arena);
    if (p->has_guest)
        lg_matrix_layout_guest(&p->guest, p->plan, &p->matrix, arena);
    p->rest = lg_matrix_layout_rest(&p->matrix, p->has_guest ? p->plan : NULL, REST, arena);
}

static void open_problem(problem *p, uint64_t *state)
{
    number(p);
    draw(p, state);
    CHECK(lg_plan_create(&p->pattern, p->coupling, &p->plan) == LG_OK);
    CHECK(lg_arena_open(&p->arena, layout, p) == LG_OK);
    p->size = p->v_start[p->nblocks] + p->pattern.nrows;
    p->dense = malloc(((size_t)(p->size * p->size) + 1) * sizeof(double));
}

static void close_problem(problem *p)
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

/* ---- assembly, in the library and from the definition ---- */

static void assemble_cliques(problem *p)
{
    for (int c = 0; c < p->ncliques; c++) {
        int start = p->clique_start[c], count = p->clique_start[c + 1] - start;
        for (int i = 0; i < count; i++)
            for (int j = 0; j < count; j++) {
                int bi = p->clique_block[start + i], bj = p->clique_block[start + j], ld;
                const double *S = p->S[c] + SLOT * (i * count + j);
                double *at = lg_matrix_at(&p->matrix, c, i, j, &ld);
                for (int k = 0; k < p->nv[bj]; k++)
                    for (int r = 0; r < p->nv[bi]; r++) {
                        at[r + ld * k] += S[r + WIDE * k];
                        p->dense[p->v_start[bi] + r + p->size * (p->v_start[bj] + k)] += S[r + WIDE * k];
                    }
            }
    }
}

/* One entry of B, rows x nv at `value`, into the columns and (times k X of level 0) the rows of the dense matrix */
static void dense_entry(problem *p, int block, int row, int rows, int value, double s)
{
    int nv = p->nv[block], v = p->v_start[block], first = p->v_start[p->nblocks] + row;
    const double *B = p->B[0] + value, *lower = p->B[p->lower] + value, *X = p->chain[block].X[0];
    for (int r = 0; r < rows; r++)
        for (int k = 0; k < nv; k++) {
            double BX = 0;
            for (int i = 0; i < nv; i++)
                BX += lower[r + rows * i] * (X ? X[i + nv * k] : i == k);
            p->dense[v + k + p->size * (first + r)] += s * B[r + rows * k];
            p->dense[first + r + p->size * (v + k)] += s * p->chain[block].k[0] * BX;
        }
}

static void dense_constraints(problem *p, double s)
{
    for (int g = 0; g < p->ngroups; g++)
        for (int e = p->group_start[g]; e < p->group_start[g + 1]; e++)
            dense_entry(p, p->group_block[e], p->group_row[g], p->group_rows[g], p->group_value[e], s);
    for (int b = 0; b < p->nblocks; b++)
        dense_entry(p, b, p->own_row[b], p->nown[b], p->own_value[b], s);
}

static void assemble(problem *p)
{
    memset(p->dense, 0, (size_t)(p->size * p->size) * sizeof(double));
    lg_matrix_zero(&p->matrix);
    assemble_cliques(p);
    lg_matrix_add_columns(&p->matrix, 1.5, p->B[0]);
    lg_matrix_add_rows(&p->matrix, 1.5, p->B[0], 0, p->chain);
    dense_constraints(p, 1.5);
}

/* Largest |A x - b| against the largest |A| |x| */
static double residual(const problem *p, const double *x, const double *b)
{
    double worst = 0, scale = 0;
    for (int i = 0; i < p->size; i++) {
        double r = -b[i], s = 0;
        for (int j = 0; j < p->size; j++) {
            r += p->dense[i + p->size * j] * x[j];
            s += fabs(p->dense[i + p->size * j] * x[j]);
        }
        worst = fmax(worst, isnan(r) ? INFINITY : fabs(r));
        scale = fmax(scale, s);
    }
    return worst / scale;
}

/* Factors and solves; the caller frees the solution. */
static double *solved(problem *p, const double *b, double tolerance)
{
    double *x = malloc((size_t)p->size * sizeof(double));
    memcpy(x, b, (size_t)p->size * sizeof(double));
    CHECK(lg_plan_size(p->plan) == p->size);
    CHECK((p->matrix.keeps ? lg_matrix_refactor : lg_matrix_factor)(&p->matrix) == LG_OK);
    CHECK(lg_matrix_solve(&p->matrix, x) == LG_OK);
    CHECK_CLOSE(residual(p, x, b), 0, tolerance);
    return x;
}

/* LAPACK's solution of the same matrix */
static double *solved_densely(const problem *p, const double *b)
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

static void check_solution(problem *p, uint64_t *state, double tolerance)
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

static void exchange(problem *p)
{
    lg_matrix host = p->matrix;
    p->matrix = p->guest;
    p->guest = host;
}

/* The solution for a right-hand side with the present factors; the caller frees it. */
static double *solution(const problem *p, const double *b)
{
    double *x = malloc((size_t)p->size * sizeof(double));
    memcpy(x, b, (size_t)p->size * sizeof(double));
    CHECK(lg_matrix_solve(&p->matrix, x) == LG_OK);
    return x;
}

static void solve_guest(problem *p, uint64_t *state)
{
    exchange(p);
    for (int c = 0; c < p->ncliques; c++)
        p->S[c][0] += 0.5;
    assemble(p);
    check_solution(p, state, 1e-13);
    CHECK(p->matrix.fallbacks == 0);
    exchange(p);
}

/* While a guest, or something else, is in the place of its assembled values, a matrix still solves as it did. */
static void check_host(void (*shape)(problem *), int has_guest)
{
    problem p = {.has_guest = has_guest};
    uint64_t state = 3;
    shape(&p);
    open_problem(&p, &state);
    assemble(&p);
    double *b = random_array(&state, p.size), *x = solved(&p, b, 1e-13);
    for (int i = 0; i < REST; i++)
        p.rest[i] = 1e300;
    if (has_guest)
        solve_guest(&p, &state);
    double *y = solution(&p, b);
    CHECK(memcmp(y, x, (size_t)p.size * sizeof(double)) == 0);
    free(b), free(x), free(y);
    close_problem(&p);
}

/* A problem that `shape` fills, solved and closed again */
static void solve_shape(void (*shape)(problem *))
{
    problem p = {0};
    uint64_t state = 1;
    shape(&p);
    open_problem(&p, &state);
    assemble(&p);
    check_solution(&p, &state, 1e-13);
    CHECK(p.matrix.fallbacks == 0 && p.matrix.factorisations == 1);

    /* once more: the first solution has left nothing behind */
    assemble(&p);
    check_solution(&p, &state, 1e-13);
    CHECK(p.matrix.fallbacks == 0 && p.matrix.factorisations == 2);
    close_problem(&p);
}

/* ---- kept pivots ---- */

/* B of two points: the columns of one, the rows of the other. */
static void put_points(problem *p, uint64_t *state, const double *masses)
{
    for (int i = 0; i < p->pattern.nvalues; i++) {
        p->B[0][i] += 0.1 * random_number(state);
        p->B[1][i] = p->B[0][i] + 0.01 * random_number(state);
    }
    lg_matrix_put_columns(&p->matrix, p->B[0]);
    lg_matrix_put_rows(&p->matrix, p->B[1]);
    memcpy(p->dense, masses, (size_t)(p->size * p->size) * sizeof(double));
    dense_constraints(p, 1);
}

/* Solves with one S and, from point to point, other values of B. */
static void check_kept(problem *p, uint64_t *state, double tolerance)
{
    size_t bytes = (size_t)(p->size * p->size) * sizeof(double);
    double *masses = malloc(bytes);
    for (int b = 0; b < p->nblocks; b++)
        p->chain[b] = (lg_chain){{1, 1, 1}, {NULL, NULL, NULL}};
    p->lower = 1;
    memset(p->dense, 0, bytes);
    lg_matrix_zero(&p->matrix);
    assemble_cliques(p);
    memcpy(masses, p->dense, bytes);

    long before = p->matrix.factorisations;
    put_points(p, state, masses);
    check_solution(p, state, tolerance);
    CHECK(!p->matrix.keeps && lg_matrix_keep(&p->matrix) == LG_OK && p->matrix.keeps == !p->matrix.is_dense);
    for (int i = 0; i < 3; i++) {
        put_points(p, state, masses);
        check_solution(p, state, tolerance);
    }
    CHECK(p->matrix.factorisations == before + 4);
    CHECK(p->matrix.refactorisations == (p->matrix.keeps ? 3 : 0));

    p->lower = 0;
    assemble(p); /* another S is factored as usual */
    CHECK(!p->matrix.keeps);
    check_solution(p, state, tolerance);
    free(masses);
}

/* ---- shapes ---- */

static void one_body(problem *p)
{
    add_clique(p, BLOCKS(add_block(p, 6, 0)));
    add_group(p, 3, BLOCKS(0));
}

static void free_body(problem *p)
{
    add_clique(p, BLOCKS(add_block(p, 6, 0)));
}

static void chain(problem *p)
{
    for (int b = 0; b < 10; b++) {
        add_clique(p, BLOCKS(add_block(p, 6, 0)));
        if (b == 0)
            add_group(p, 3, BLOCKS(b));
        else
            add_group(p, 2, BLOCKS(b - 1, b));
    }
}

static void tree(problem *p)
{
    for (int b = 0; b < 15; b++) {
        add_clique(p, BLOCKS(add_block(p, 6, 0)));
        if (b > 0)
            add_group(p, 2, BLOCKS(b, (b - 1) / 2));
    }
}

static void loop(problem *p)
{
    for (int b = 0; b < 8; b++)
        add_clique(p, BLOCKS(add_block(p, 6, 0)));
    for (int b = 0; b < 8; b++)
        add_group(p, 3, BLOCKS(b, (b + 1) % 8));
}

/* A body between two larger ones, which couple with a third and are eliminated last: it is sufficient for either of its
   joints, but not for both. */
static void body_between(problem *p)
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

static void star(problem *p)
{
    add_clique(p, BLOCKS(add_block(p, 12, 0)));
    for (int b = 1; b < 9; b++) {
        add_clique(p, BLOCKS(add_block(p, 3, 0)));
        add_group(p, 1, BLOCKS(0, b));
    }
}

static void springs(problem *p)
{
    for (int b = 0; b < 9; b++)
        add_clique(p, BLOCKS(add_block(p, b % 3 ? 6 : 3, 0)));
    for (int b = 0; b + 2 < 9; b++)
        add_clique(p, BLOCKS(b + 2, b));
    add_clique(p, BLOCKS(7, 0, 4, 2));
    add_group(p, 2, BLOCKS(0, 8));
    add_group(p, 1, BLOCKS(3));
}

static void own_rows(problem *p)
{
    for (int b = 0; b < 6; b++)
        add_clique(p, BLOCKS(add_block(p, b % 2 ? 7 : 4, 1)));
    for (int b = 1; b < 6; b++)
        add_group(p, 1, BLOCKS(b - 1, b));
    add_clique(p, BLOCKS(0, 5));
}

/* Two frames of one block in the same joint and in the same element; entries add up. */
static void same_block_twice(problem *p)
{
    add_clique(p, BLOCKS(add_block(p, 8, 0)));
    add_clique(p, BLOCKS(add_block(p, 5, 1)));
    add_clique(p, BLOCKS(0, 0));
    add_clique(p, BLOCKS(1, 0, 1));
    add_group(p, 2, BLOCKS(0, 0));
    add_group(p, 1, BLOCKS(1, 0, 1));
}

/* A block without unknowns and a joint without rows change nothing. */
static void nothing_here(problem *p)
{
    add_clique(p, BLOCKS(add_block(p, 0, 0)));
    add_clique(p, BLOCKS(add_block(p, 3, 0)));
    add_group(p, 0, BLOCKS(0, 1));
    add_group(p, 1, BLOCKS(1, 0));
}

static void (*const shapes[])(problem *) = {
    one_body, free_body, chain, tree, loop, body_between, star, springs, own_rows, same_block_twice, nothing_here};

static void test_shapes(void)
{
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        solve_shape(shapes[i]);
}

static void test_hosts_and_guests(void)
{
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        check_host(shapes[i], 0);
        check_host(shapes[i], 1);
    }
}

/* Every size of block and of group that has a specialised kernel, and some that have none */
static void test_every_size(void)
{
    for (int nv = 1; nv <= 14; nv++)
        for (int rows = 1; rows <= nv && rows <= 10; rows++) {
            problem p = {0};
            uint64_t state = 77;
            add_clique(&p, BLOCKS(add_block(&p, nv, 0), add_block(&p, 3, 0)));
            add_group(&p, rows, BLOCKS(0, 1));
            open_problem(&p, &state);
            assemble(&p);
            check_solution(&p, &state, 1e-13);
            close_problem(&p);
        }
}

/* ---- random systems ---- */

static void random_shape(problem *p, uint64_t *state)
{
    int nblocks = random_int(state, 1, MAX_BLOCKS), room[MAX_BLOCKS];
    for (int b = 0; b < nblocks; b++) {
        int nv = random_int(state, 1, 9), nown = nv > 3 && random_int(state, 0, 3) == 0;
        add_clique(p, BLOCKS(add_block(p, nv, nown)));
        room[b] = nv - nown; /* rows that it can carry alone, so that B keeps its full rank */
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

static void test_random_systems(void)
{
    uint64_t state = 20240229;
    int fallbacks = 0;
    for (int i = 0; i < 200; i++) {
        problem p = {0};
        random_shape(&p, &state);
        open_problem(&p, &state);
        assemble(&p);
        check_solution(&p, &state, 1e-10);
        check_kept(&p, &state, 1e-10);
        fallbacks += (int)p.matrix.fallbacks;
        close_problem(&p);
    }
    CHECK(fallbacks == 0);
}

/* ---- chain and level of add_rows ---- */

static void test_rows_add_level_by_level(void)
{
    problem p = {0};
    uint64_t state = 5;
    own_rows(&p);
    open_problem(&p, &state);
    p.chain[2].k[1] = 0; /* skipped */
    p.chain[3].X[1] = NULL;
    p.chain[3].k[1] = 0.7;
    assemble(&p);

    /* Z k1 X1 added to B k0 X0, and the identity without a chain */
    lg_matrix_add_rows(&p.matrix, 0.3, p.B[1], 1, p.chain);
    lg_matrix_add_rows(&p.matrix, -0.2, p.B[1], 0, NULL);
    for (int pass = 0; pass < 2; pass++) {
        double *columns = calloc((size_t)p.size * (size_t)p.size, sizeof(double)), *dense = p.dense;
        lg_chain saved[MAX_BLOCKS], identity = {{1, 1, 1}, {NULL, NULL, NULL}};
        memcpy(saved, p.chain, sizeof saved);
        for (int b = 0; b < p.nblocks; b++)
            if (pass == 1)
                p.chain[b] = identity;
            else
                p.chain[b].k[0] = p.chain[b].k[1], p.chain[b].X[0] = p.chain[b].X[1];
        double *B0 = p.B[0];
        p.B[0] = p.B[1];
        p.dense = columns;
        dense_constraints(&p, pass ? -0.2 : 0.3);
        for (int j = 0; j < p.v_start[p.nblocks]; j++) /* only the rows */
            for (int i = 0; i < p.size; i++)
                dense[i + p.size * j] += columns[i + p.size * j];
        p.dense = dense;
        p.B[0] = B0;
        memcpy(p.chain, saved, sizeof saved);
        free(columns);
    }
    check_solution(&p, &state, 1e-12);
    close_problem(&p);
}

static void test_kept_pivots_of_shapes(void)
{
    void (*shapes[])(problem *) = {one_body, free_body,        chain,       tree, loop, body_between, star, springs,
                                   own_rows, same_block_twice, nothing_here};
    for (lg_coupling coupling = 0; coupling < LG_COUPLINGS; coupling++)
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
            problem p = {.coupling = coupling};
            uint64_t state = 41;
            shapes[i](&p);
            open_problem(&p, &state);
            check_kept(&p, &state, 1e-12);
            CHECK(p.matrix.fallbacks == 0 && p.matrix.keeps == 0 && p.matrix.refactorisations == 3);
            close_problem(&p);
        }
}

static void test_kept_pivots_of_every_size(void)
{
    for (int nv = 1; nv <= 14; nv++)
        for (int rows = 1; rows <= nv && rows <= 10; rows++) {
            problem p = {0};
            uint64_t state = 77;
            add_clique(&p, BLOCKS(add_block(&p, nv, 0)));
            add_clique(&p, BLOCKS(add_block(&p, 9, 0)));
            add_group(&p, rows, BLOCKS(0, 1));
            open_problem(&p, &state);
            check_kept(&p, &state, 1e-12);
            close_problem(&p);
        }
}

/* S is not read again: its values may be lost. */
static void test_kept_pivots_are_not_formed_anew(void)
{
    int sizes[] = {6, 9};
    for (int i = 0; i < 2; i++) {
        problem p = {0};
        uint64_t state = 43;
        add_clique(&p, BLOCKS(add_block(&p, sizes[i], 0)));
        add_group(&p, 3, BLOCKS(0));
        open_problem(&p, &state);
        assemble(&p);
        double *b = random_array(&state, p.size), *x = solved(&p, b, 1e-13);
        CHECK(lg_matrix_keep(&p.matrix) == LG_OK);
        int ld;
        double *S = lg_matrix_at(&p.matrix, 0, 0, 0, &ld);
        for (int j = 0; j < sizes[i] * ld; j++)
            S[j] = NAN;
        CHECK(lg_matrix_refactor(&p.matrix) == LG_OK && lg_matrix_solve(&p.matrix, b) == LG_OK);
        for (int j = 0; j < p.size; j++)
            CHECK_CLOSE(b[j], x[j], 1e-12);
        free(b), free(x);
        close_problem(&p);
    }
}

/* Blocks that nothing couples: multiplying by the inverses gives the solution. */
static void test_kept_blocks_apart(void)
{
    int sizes[] = {3, 6, 1, 8, 6, 4};
    problem p = {0};
    uint64_t state = 31;
    for (int b = 0; b < 6; b++)
        add_clique(&p, BLOCKS(add_block(&p, sizes[b], 0)));
    open_problem(&p, &state);
    check_kept(&p, &state, 1e-13);
    close_problem(&p);
}

/* ---- fall-back ---- */

/* A massless block that its constraints determine: the block is singular, the whole is not. */
static void test_singular_block_falls_back(void)
{
    problem p = {0};
    uint64_t state = 9;
    chain(&p);
    add_group(&p, 2, BLOCKS(4));
    add_group(&p, 4, BLOCKS(4, 5));
    open_problem(&p, &state);
    for (int i = 0; i < WIDE; i++) /* rank 5 of 6, up to round-off */
        p.S[4][i + WIDE * 5] = 0.3 * p.S[4][i] - 0.7 * p.S[4][i + WIDE];
    assemble(&p);
    check_solution(&p, &state, 1e-12);
    CHECK(p.matrix.fallbacks == 1 && p.matrix.is_dense == 1);

    /* a regular matrix afterwards is factored by the sparse method again */
    add_to_diagonal(p.S[4], 6, WIDE, 3);
    assemble(&p);
    check_solution(&p, &state, 1e-12);
    CHECK(p.matrix.fallbacks == 1 && p.matrix.is_dense == 0 && p.matrix.factorisations == 2);
    close_problem(&p);
}

/* A guest has lost its assembled values when its factorisation fails. */
static void test_guest_falls_back_when_assembled_again(void)
{
    problem p = {.has_guest = 1};
    uint64_t state = 9;
    chain(&p);
    open_problem(&p, &state);
    assemble(&p);
    check_solution(&p, &state, 1e-13);
    for (int i = 0; i < WIDE; i++)
        p.S[4][i + WIDE * 5] = 0.3 * p.S[4][i] - 0.7 * p.S[4][i + WIDE];

    exchange(&p);
    assemble(&p);
    CHECK(lg_matrix_factor(&p.matrix) == LG_SINGULAR && p.matrix.fallbacks == 0);
    assemble(&p);
    CHECK(lg_matrix_factor_dense(&p.matrix) == LG_OK && p.matrix.fallbacks == 1);
    double *b = random_array(&state, p.size), *x = solution(&p, b);
    CHECK_CLOSE(residual(&p, x, b), 0, 1e-12);
    free(b), free(x);
    close_problem(&p);
}

/* Scaling rows and columns (units, powers of h) is no reason to fall back. */
static void test_scaling_does_not_fall_back(void)
{
    problem p = {0};
    uint64_t state = 10;
    own_rows(&p);
    open_problem(&p, &state);
    for (int b = 0; b < 6; b++) {
        for (int i = 0; i < SLOT; i++)
            p.S[b][i] *= 1e14;
        for (int i = 0; i < WIDE; i++) { /* inertia far below mass */
            p.S[b][i] *= 1e-8;
            p.S[b][WIDE * i] *= 1e-8;
        }
    }
    assemble(&p);
    CHECK(lg_matrix_factor(&p.matrix) == LG_OK);
    CHECK(p.matrix.fallbacks == 0);
    close_problem(&p);
}

/* The dense matrix is scaled before it is factored, so that the fall-back copes with units that are far apart. */
static void test_fallback_copes_with_bad_scaling(void)
{
    problem p = {0};
    uint64_t state = 16;
    chain(&p);
    add_group(&p, 1, BLOCKS(4));
    open_problem(&p, &state);
    for (int i = 0; i < WIDE; i++)
        p.S[4][i + WIDE * 5] = 0;
    for (int c = 0; c < p.ncliques; c++)
        for (int i = 0; i < SLOT; i++)
            p.S[c][i] *= 1e20;
    assemble(&p);
    double *b = random_array(&state, p.size);
    free(solved(&p, b, 1e-12));
    CHECK(p.matrix.fallbacks == 1 && p.matrix.is_dense);
    free(b);
    close_problem(&p);
}

/* Mass of rank nv - 1, made regular by the own row, as Euler parameters have it; the scales are far apart. */
static void test_bordered_singular_mass_does_not_fall_back(void)
{
    problem p = {0};
    uint64_t state = 11;
    add_clique(&p, BLOCKS(add_block(&p, 4, 1)));
    add_group(&p, 2, BLOCKS(0));
    open_problem(&p, &state);
    double q[] = {0.1, -0.5, 0.7, sqrt(1 - 0.01 - 0.25 - 0.49)}; /* the null space of the mass, up to round-off */
    for (int j = 0; j < 4; j++)
        for (int i = 0; i < 4; i++)
            p.S[0][i + WIDE * j] = 1e9 * ((i == j) - q[i] * q[j]);
    for (int i = 0; i < 4; i++)
        p.B[0][p.own_value[0] + i] = 2e-10 * q[i];
    assemble(&p);
    double b[] = {1e9, -2e9, 3e9, 0, 1, 1, 2e-10};
    free(solved(&p, b, 1e-12));
    CHECK(p.matrix.fallbacks == 0);
    close_problem(&p);
}

/* The first three groups join the blocks 0 and 1 by `rows` rows each; the third is a combination of the others. */
static void open_redundant(problem *p, int rows, uint64_t *state)
{
    for (int b = 0; b < 4; b++)
        add_clique(p, BLOCKS(add_block(p, 9, 0)));
    for (int g = 0; g < 3; g++)
        add_group(p, rows, BLOCKS(0, 1));
    add_group(p, 2, BLOCKS(1, 2));
    add_group(p, 2, BLOCKS(2, 3));
    open_problem(p, state);
    int length = 2 * 9 * rows;
    for (int i = 0; i < length; i++)
        p->B[0][p->group_value[4] + i] = 0.3 * p->B[0][i] - 0.6 * p->B[0][p->group_value[2] + i];
    p->chain[0] = p->chain[1] = (lg_chain){{1, 1, 1}, {NULL, NULL, NULL}};
}

static void test_redundant_constraint_is_named(void)
{
    for (int rows = 1; rows <= 6; rows++) {
        problem p = {0};
        uint64_t state = 12;
        open_redundant(&p, rows, &state);
        assemble(&p);
        CHECK(lg_matrix_factor(&p.matrix) == LG_SINGULAR);
        CHECK(p.matrix.deficient_row >= 0 && p.matrix.deficient_row < 3 * rows);
        CHECK(p.matrix.fallbacks == 1 && !p.matrix.is_dense);
        close_problem(&p);
    }
}

/* An own row that vanishes is named by its place among the constraint rows. */
static void test_vanishing_own_row_is_named(void)
{
    problem p = {0};
    uint64_t state = 13;
    own_rows(&p);
    open_problem(&p, &state);
    memset(p.B[0] + p.own_value[3], 0, 7 * sizeof(double));
    assemble(&p);
    CHECK(lg_matrix_factor(&p.matrix) == LG_SINGULAR);
    CHECK(p.matrix.deficient_row == p.own_row[3]);
    close_problem(&p);
}

static void test_massless_velocity_is_named(void)
{
    problem p = {0};
    uint64_t state = 14;
    springs(&p);
    open_problem(&p, &state);
    assemble(&p);
    for (int c = 0; c < p.ncliques; c++)
        memset(p.S[c], 0, (size_t)SLOT * sizeof(double));
    /* nothing at all acts on the second velocity of block 1 */
    for (int c = 0; c < p.ncliques; c++) {
        int start = p.clique_start[c], count = p.clique_start[c + 1] - start;
        for (int i = 0; i < count; i++)
            for (int j = 0; j < count; j++)
                for (int k = 0; k < WIDE; k++) {
                    double *S = p.S[c] + SLOT * (i * count + j);
                    if (i == j && count == 1)
                        S[k + WIDE * k] += 6;
                    if (p.clique_block[start + i] == 1)
                        S[1 + WIDE * k] = 0;
                    if (p.clique_block[start + j] == 1)
                        S[k + WIDE * 1] = 0;
                }
    }
    assemble(&p);
    CHECK(lg_matrix_factor(&p.matrix) == LG_SINGULAR);
    CHECK(p.matrix.deficient_row == -1 - (p.v_start[1] + 1));
    close_problem(&p);
}

static void test_not_a_number_is_reported(void)
{
    double bad[] = {NAN, INFINITY, -INFINITY};
    for (int where = 0; where < 3; where++)
        for (int i = 0; i < 3; i++) {
            problem p = {0};
            uint64_t state = 15;
            chain(&p);
            open_problem(&p, &state);
            double *place[] = {&p.S[3][0], &p.S[6][2 + WIDE * 4], &p.B[0][p.group_value[5] + 3]};
            *place[where] = bad[i];
            assemble(&p);
            CHECK(lg_matrix_factor(&p.matrix) == LG_NOT_FINITE);
            close_problem(&p);
        }
}

/* ---- dense factorisation ---- */

static void test_dense_singular_column(void)
{
    double A[] = {2, 4, 6, 1, 0, 1, 3, 4, 7}; /* the third column is the sum of the others */
    double zero[] = {0, 0, 0, 0}, nan[] = {1, 0, NAN, 1};
    int pivots[3], deficient = -1;
    CHECK(lg_dense_factor(3, A, pivots, &deficient) == LG_SINGULAR && deficient == 2);
    CHECK(lg_dense_factor(2, zero, pivots, &deficient) == LG_SINGULAR);
    CHECK(lg_dense_factor(2, nan, pivots, &deficient) == LG_NOT_FINITE);
    CHECK(lg_dense_factor(0, NULL, NULL, &deficient) == LG_OK);
}

static void test_dense_solution(void)
{
    double A[] = {0, 2, 1, 1, 0, 1, 3, 1, 0}, x[] = {1 * 0 + 2 * 1 + 3 * 3, 1 * 2 + 2 * 0 + 3 * 1, 1 * 1 + 2 * 1 + 0};
    int pivots[3], deficient;
    lg_dense_single_thread();
    CHECK(lg_dense_factor(3, A, pivots, &deficient) == LG_OK);
    lg_dense_solve(3, A, pivots, x);
    for (int i = 0; i < 3; i++)
        CHECK_CLOSE(x[i], i + 1, 1e-15);
}

/* ---- large systems ---- */

typedef struct large {
    int n;
    int *ints;
    lg_pattern pattern;
} large;

/* n bodies of 6 velocities. Body b is attached to parent[b] (-1: the ground) by a joint of 3 rows, for which each body
   alone is sufficient */
static void open_large(large *system, int n, const int *parent)
{
    int *next = system->ints = calloc(18 * (size_t)n + 16, sizeof(int));
    int *nv = next, *nown = nv + n, *v_start = nown + n, *own_row = v_start + n + 1, *own_value = own_row + n;
    int *row = own_value + n, *start = row + n + 1, *block = start + n + 1, *value = block + 2 * n;
    int *clique_start = value + 2 * n, *clique_block = clique_start + n + 1, *sufficient = clique_block + n;
    int entries = 0;
    for (int b = 0; b < n; b++) {
        nv[b] = 6, v_start[b + 1] = 6 * (b + 1), row[b + 1] = 3 * (b + 1);
        for (int side = parent[b] < 0; side < 2; side++, entries++) {
            block[entries] = side ? b : parent[b], value[entries] = 18 * entries;
            sufficient[entries] = 1;
        }
        start[b + 1] = entries;
        clique_block[b] = b, clique_start[b + 1] = b + 1;
    }
    system->n = n;
    system->pattern = (lg_pattern){.nblocks = n,
                                   .nv = nv,
                                   .nown = nown,
                                   .v_start = v_start,
                                   .own_row = own_row,
                                   .own_value = own_value,
                                   .ngroups = n,
                                   .group_row = row,
                                   .group_start = start,
                                   .group_block = block,
                                   .group_value = value,
                                   .group_sufficient = sufficient,
                                   .ncliques = n,
                                   .nmass_cliques = n,
                                   .clique_start = clique_start,
                                   .clique_block = clique_block,
                                   .nrows = 3 * n,
                                   .nvalues = 18 * entries};
}

static long fill_of(const lg_pattern *pattern, lg_coupling coupling)
{
    lg_plan *plan;
    CHECK(lg_plan_create(pattern, coupling, &plan) == LG_OK);
    CHECK(lg_plan_size(plan) == 9 * pattern->nblocks);
    long values = lg_plan_values(plan);
    lg_plan_free(plan);
    return values;
}

/* The parent of body b: the previous body (the ground for the first); the body of half its number; the first body; the
   previous body, in strands of 10 that begin on the first body */
static int on_the_last(int b)
{
    return b - 1;
}

static int on_the_half(int b)
{
    return b ? (b - 1) / 2 : -1;
}

static int on_the_first(int b)
{
    return b ? 0 : -1;
}

static int on_strands(int b)
{
    return b % 10 == 1 ? 0 : b - 1;
}

/* 36 + 2 36 for a body, 9 + 2 (9 + 3) for a joint, and the padding of alignment; 2 36 more where joints couple their
   bodies; never more than if joints were eliminated after all of their bodies. */
static void check_fill(const lg_pattern *pattern, lg_coupling coupling, int shape, long *values)
{
    lg_pattern without = *pattern;
    without.group_sufficient = NULL;
    int n = pattern->nblocks;
    *values = fill_of(pattern, coupling);
    CHECK(*values <= (coupling == LG_COUPLING_GROUPS ? 220L : 150L) * n);
    if (n <= 100 || shape < 2)
        CHECK(*values <= fill_of(&without, coupling));
}

static void test_fill_grows_linearly(void)
{
    int (*const shapes[])(int) = {on_the_last, on_the_half, on_the_first, on_strands};
    for (int shape = 0; shape < 4; shape++) {
        long values[LG_COUPLINGS][5] = {{0}};
        for (int i = 0, n = 1; n <= 10000; i++, n *= 10) {
            int *parent = malloc((size_t)n * sizeof(int));
            for (int b = 0; b < n; b++)
                parent[b] = shapes[shape](b);
            large system;
            open_large(&system, n, parent);
            for (lg_coupling coupling = 0; coupling < LG_COUPLINGS; coupling++)
                check_fill(&system.pattern, coupling, shape, &values[coupling][i]);
            free(system.ints), free(parent);
        }
        for (int c = 0; c < LG_COUPLINGS; c++)
            CHECK(labs((values[c][4] - values[c][3]) / 9000 - (values[c][3] - values[c][2]) / 900) <= 1);
    }
}

/* Elements that couple neighbours two bodies apart, behind the cliques of the masses, do not change a matrix of masses;
   they fill one of tangents. */
static void test_masses_have_no_fill_of_stiffness(void)
{
    enum { N = 100 };
    large chain;
    int before[N], start[2 * N - 1], block[3 * N - 4];
    for (int b = 0; b < N; b++)
        before[b] = b - 1;
    open_large(&chain, N, before);
    long plain = fill_of(&chain.pattern, LG_COUPLING_TANGENTS), masses = fill_of(&chain.pattern, LG_COUPLING_MASS);
    CHECK((double)masses <= 1.1 * (double)plain);

    for (int b = 0; b < N; b++)
        start[b] = block[b] = b;
    for (int s = 0; s < N - 2; s++)
        start[N + s] = N + 2 * s, block[N + 2 * s] = s, block[N + 2 * s + 1] = s + 2;
    start[2 * N - 2] = 3 * N - 4;
    chain.pattern.ncliques = 2 * N - 2, chain.pattern.clique_start = start, chain.pattern.clique_block = block;
    CHECK(fill_of(&chain.pattern, LG_COUPLING_MASS) == masses);
    CHECK(fill_of(&chain.pattern, LG_COUPLING_TANGENTS) > 2 * plain);
    free(chain.ints);
}

static void long_chain_layout(void *self, lg_arena *arena)
{
    lg_matrix *matrix = self;
    lg_matrix_layout(matrix, matrix->plan, arena);
}

/* S = 2 I and joints that hold neighbours together; the residual is formed by the products of the pattern. */
static void test_long_chain_solves(void)
{
    large chain;
    lg_plan *plan;
    lg_arena arena;
    uint64_t state = 3;
    int n = 3000, *before = malloc((size_t)n * sizeof(int));
    for (int b = 0; b < n; b++)
        before[b] = b - 1;
    open_large(&chain, n, before);
    CHECK(lg_plan_create(&chain.pattern, LG_COUPLING_MASS, &plan) == LG_OK);
    lg_matrix matrix = {.plan = plan};
    CHECK(lg_arena_open(&arena, long_chain_layout, &matrix) == LG_OK);

    double *B = random_array(&state, chain.pattern.nvalues), *b = random_array(&state, 9 * n);
    double *x = malloc(9 * (size_t)n * sizeof(double)), *r = malloc(9 * (size_t)n * sizeof(double));
    for (int c = 0; c < n; c++) {
        int ld;
        double *S = lg_matrix_at(&matrix, c, 0, 0, &ld);
        add_to_diagonal(S, 6, ld, 2);
    }
    lg_matrix_add_columns(&matrix, 1, B);
    lg_matrix_add_rows(&matrix, 1, B, 0, NULL);
    memcpy(x, b, 9 * (size_t)n * sizeof(double));
    CHECK(lg_matrix_factor(&matrix) == LG_OK && matrix.fallbacks == 0);
    CHECK(lg_matrix_solve(&matrix, x) == LG_OK);

    double worst = 0;
    for (int i = 0; i < 9 * n; i++)
        r[i] = (i < 6 * n ? 2 * x[i] : 0) - b[i];
    lg_pattern_add_BT(&chain.pattern, B, 1, x + 6 * n, r);
    lg_pattern_add_B(&chain.pattern, B, 1, x, r + 6 * n);
    for (int i = 0; i < 9 * n; i++)
        worst = fmax(worst, fabs(r[i]));
    CHECK_CLOSE(worst, 0, 1e-9);

    free(B), free(b), free(x), free(r), free(chain.ints), free(before);
    lg_plan_free(plan);
    lg_arena_close(&arena);
}

/* ---- pattern, memory, arguments ---- */

static void test_products_of_the_pattern(void)
{
    problem p = {0};
    uint64_t state = 21;
    random_shape(&p, &state);
    own_rows(&p);
    open_problem(&p, &state);
    for (int b = 0; b < p.nblocks; b++) /* rows of the dense matrix: B itself */
        p.chain[b] = (lg_chain){{1, 1, 1}, {NULL, NULL, NULL}};
    memset(p.dense, 0, (size_t)(p.size * p.size) * sizeof(double));
    dense_constraints(&p, 1);

    int nv = p.v_start[p.nblocks], nr = p.pattern.nrows;
    double *x = random_array(&state, nv), *l = random_array(&state, nr);
    double *y = random_array(&state, nr), *z = random_array(&state, nv), *y0 = malloc((size_t)nr * sizeof(double)),
           *z0 = malloc((size_t)nv * sizeof(double));
    memcpy(y0, y, (size_t)nr * sizeof(double));
    memcpy(z0, z, (size_t)nv * sizeof(double));
    lg_pattern_add_B(&p.pattern, p.B[0], -0.6, x, y);
    lg_pattern_add_BT(&p.pattern, p.B[0], 1.7, l, z);
    for (int i = 0; i < nr; i++)
        for (int j = 0; j < nv; j++) {
            y0[i] += -0.6 * p.dense[nv + i + p.size * j] * x[j];
            z0[j] += 1.7 * p.dense[nv + i + p.size * j] * l[i];
        }
    for (int i = 0; i < nr; i++)
        CHECK_CLOSE(y[i], y0[i], 1e-13);
    for (int j = 0; j < nv; j++)
        CHECK_CLOSE(z[j], z0[j], 1e-13);
    free(x), free(l), free(y), free(z), free(y0), free(z0);
    close_problem(&p);
}

static void test_measured_memory_equals_used(void)
{
    problem p = {0};
    uint64_t state = 22;
    springs(&p);
    open_problem(&p, &state);
    lg_arena measure = {0};
    lg_matrix other;
    lg_matrix_layout(&other, p.plan, &measure);
    (void)lg_matrix_layout_rest(&other, NULL, REST, &measure); /* none of its own */
    CHECK(measure.used == p.arena.used && measure.used >= (size_t)lg_plan_values(p.plan) * sizeof(double));
    CHECK(other.values == NULL && other.dense == NULL);
    close_problem(&p);
}

int main(void)
{
    RUN(test_shapes);
    RUN(test_every_size);
    RUN(test_random_systems);
    RUN(test_rows_add_level_by_level);
    RUN(test_kept_pivots_of_shapes);
    RUN(test_kept_pivots_of_every_size);
    RUN(test_kept_pivots_are_not_formed_anew);
    RUN(test_kept_blocks_apart);
    RUN(test_singular_block_falls_back);
    RUN(test_hosts_and_guests);
    RUN(test_guest_falls_back_when_assembled_again);
    RUN(test_scaling_does_not_fall_back);
    RUN(test_fallback_copes_with_bad_scaling);
    RUN(test_bordered_singular_mass_does_not_fall_back);
    RUN(test_redundant_constraint_is_named);
    RUN(test_vanishing_own_row_is_named);
    RUN(test_massless_velocity_is_named);
    RUN(test_not_a_number_is_reported);
    RUN(test_dense_singular_column);
    RUN(test_dense_solution);
    RUN(test_fill_grows_linearly);
    RUN(test_masses_have_no_fill_of_stiffness);
    RUN(test_long_chain_solves);
    RUN(test_products_of_the_pattern);
    RUN(test_measured_memory_equals_used);
    return check_result();
}
