/* The Schur complement of the constraint rows, against the whole matrix. */
#include "matrices.h"
#include "sparse/schur.h"

typedef struct reduction {
    problem p;
    lg_schur schur;
    lg_arena memory;
} reduction;

static void layout_schur(void *self, lg_arena *arena)
{
    reduction *r = self;
    lg_schur_layout(&r->schur, r->p.plan, arena);
}

/* Makes M symmetric, with the zeros of two 3 x 3 blocks (3) or of a diagonal (1). */
static void symmetrise(problem *p, int zeros)
{
    for (int c = 0; c < p->ncliques; c++)
        for (int i = 0; i < WIDE; i++)
            for (int j = 0; j <= i; j++) {
                double *upper = p->S[c] + j + WIDE * i, *lower = p->S[c] + i + WIDE * j;
                *upper = *lower = zeros && i / zeros != j / zeros ? 0 : *upper;
            }
}

static void open_reduction(reduction *r, void (*shape)(problem *), int zeros, uint64_t *state)
{
    problem *p = &r->p;
    p->coupling = LG_COUPLING_MASS;
    shape(p);
    open_problem(p, state);
    symmetrise(p, zeros);
    CHECK(lg_arena_open(&r->memory, layout_schur, r) == LG_OK);
}

static void close_reduction(reduction *r)
{
    lg_arena_close(&r->memory);
    close_problem(&r->p);
}

/* Puts M into the reduction and into the dense matrix. */
static void put_masses(reduction *r)
{
    problem *p = &r->p;
    lg_matrix whole = p->matrix;
    memset(p->dense, 0, (size_t)(p->size * p->size) * sizeof(double));
    lg_matrix_zero(&r->schur.masses);
    p->matrix = r->schur.masses;
    assemble_cliques(p);
    p->matrix = whole;
}

/* Puts the columns of B[0] and the rows of B[lower]. */
static void put_B(reduction *r, int lower)
{
    problem *p = &r->p;
    for (int b = 0; b < p->nblocks; b++)
        p->chain[b] = (lg_chain){{1, 1, 1}, {NULL, NULL, NULL}};
    p->lower = lower;
    lg_schur_put_columns(&r->schur, p->B[0]);
    lg_schur_put_rows(&r->schur, p->B[lower]);
    dense_constraints(p, 1);
}

static double *check_schur(reduction *r, uint64_t *state, double tolerance)
{
    problem *p = &r->p;
    double *b = random_array(state, p->size), *x = malloc((size_t)p->size * sizeof(double));
    memcpy(x, b, (size_t)p->size * sizeof(double));
    CHECK(lg_schur_solve(&r->schur, x) == LG_OK);
    CHECK_CLOSE(residual(p, x, b), 0, tolerance);
    free(b);
    return x;
}

static void joints_of_every_size(problem *p)
{
    for (int b = 0; b < 9; b++) {
        add_clique(p, BLOCKS(add_block(p, b % 4 ? 6 : 3, 0)));
        if (b > 0)
            add_group(p, 1 + b % 4, BLOCKS(b, b - 1));
    }
    add_group(p, 1, BLOCKS(2, 2, 7));
}

static void large_groups(problem *p)
{
    for (int b = 0; b < 12; b++)
        add_clique(p, BLOCKS(add_block(p, 8, 0)));
    add_group(p, 11, BLOCKS(0, 1, 2, 3));
    add_group(p, 10, BLOCKS(4, 5, 6, 3));
    add_group(p, 9, BLOCKS(7, 8, 9, 10, 6));
}

static void (*const reducible[])(problem *) = {one_body, chain, tree, loop, joints_of_every_size, large_groups};

static void test_solutions(void)
{
    for (size_t i = 0; i < sizeof reducible / sizeof *reducible; i++)
        for (int zeros = 0; zeros < 4; zeros += zeros ? 2 : 1)
            for (int lower = 0; lower < 2; lower++) {
                reduction r = {0};
                uint64_t state = 17;
                open_reduction(&r, reducible[i], zeros, &state);
                CHECK(r.schur.plan != NULL);
                put_masses(&r);
                CHECK(lg_schur_keep(&r.schur) == LG_OK && r.schur.masses.keeps);
                for (int j = 0; lower && j < r.p.pattern.nvalues; j++)
                    r.p.B[1][j] = r.p.B[0][j] + 0.01 * random_number(&state);
                put_B(&r, lower);
                CHECK(lg_schur_factor(&r.schur, !lower) == LG_OK);
                free(check_schur(&r, &state, 1e-12));
                double *B = random_array(&state, r.p.pattern.nvalues);
                lg_schur_columns(&r.schur, B);
                for (int j = 0; j < r.p.pattern.nvalues; j++)
                    CHECK_CLOSE(B[j], r.p.B[0][j], 1e-13);
                free(B);
                close_reduction(&r);
            }
}

/* The upper triangle is not read where one is enough. */
static void test_one_triangle_is_enough(void)
{
    double *x[2];
    for (int symmetric = 0; symmetric < 2; symmetric++) {
        reduction r = {0};
        uint64_t state = 19;
        open_reduction(&r, tree, 0, &state);
        put_masses(&r);
        CHECK(lg_schur_keep(&r.schur) == LG_OK);
        put_B(&r, 0);
        CHECK(lg_schur_factor(&r.schur, symmetric) == LG_OK);
        x[symmetric] = check_schur(&r, &state, 1e-13);
        if (symmetric)
            for (int j = 0; j < r.p.size; j++)
                CHECK_CLOSE(x[0][j], x[1][j], 1e-12);
        close_reduction(&r);
    }
    free(x[0]), free(x[1]);
}

/* A row that repeats another one: the pivot is as small a part of its terms as in the whole matrix. */
static void test_dependent_rows(void)
{
    for (int lower = 0; lower < 2; lower++) {
        reduction r = {0};
        uint64_t state = 23;
        open_reduction(&r, chain, 0, &state);
        for (int b = 0; b < 2; b++)
            for (int j = 0; j < r.p.pattern.nvalues; j += 2)
                if (j >= 18)
                    r.p.B[b][j] = r.p.B[b][j + 1];
        memcpy(r.p.B[1], r.p.B[0], (size_t)r.p.pattern.nvalues * sizeof(double));
        put_masses(&r);
        CHECK(lg_schur_keep(&r.schur) == LG_OK);
        put_B(&r, lower);
        CHECK(lg_schur_factor(&r.schur, !lower) == LG_SINGULAR);
        CHECK(r.schur.groups.deficient_row <= -1 - 3);
        close_reduction(&r);
    }
}

static void test_singular_masses(void)
{
    reduction r = {0};
    uint64_t state = 29;
    open_reduction(&r, chain, 1, &state);
    r.p.S[4][5 + WIDE * 5] = 0;
    put_masses(&r);
    CHECK(lg_schur_keep(&r.schur) == LG_SINGULAR && !r.schur.masses.keeps);
    put_B(&r, 0);
    double *B = random_array(&state, r.p.pattern.nvalues);
    lg_schur_columns(&r.schur, B);
    for (int j = 0; j < r.p.pattern.nvalues; j++)
        CHECK(B[j] == r.p.B[0][j]);
    free(B);

    lg_matrix_zero(&r.p.matrix);
    lg_schur_put_masses(&r.schur, &r.p.matrix);
    double *values = r.p.matrix.values;
    for (int b = 0; b < r.p.nblocks; b++) {
        int ld;
        const double *M = lg_matrix_at(&r.p.matrix, b, &ld);
        for (int i = 0; i < 6; i++)
            CHECK(M >= values && M[i + ld * i] == r.p.S[b][i + WIDE * i]);
    }
    close_reduction(&r);
}

static const int masked_row[] = {3, 6}, masked_group[] = {1, 2};

/* A chain in which two rows may be inactive, and the second of them is. */
static void open_masked_chain(reduction *r, uint64_t *state)
{
    problem *p = &r->p;
    chain(p);
    number(p);
    draw(p, state);
    symmetrise(p, 0);
    p->pattern.nmasked = 2, p->pattern.masked_row = masked_row, p->pattern.masked_group = masked_group;
    p->pattern.mask_value = p->pattern.nvalues;
    p->pattern.nvalues += 2;
    free(p->B[0]);
    p->B[0] = random_array(state, p->pattern.nvalues);
    double *one = p->B[0] + p->pattern.mask_value;
    one[0] = 0, one[1] = 1;
    for (int e = p->group_start[2]; e < p->group_start[3]; e++)
        for (int i = 0; i < 6; i++)
            p->B[0][p->group_value[e] + 1 + 2 * i] = 0;
    CHECK(lg_plan_create(&p->pattern, LG_COUPLING_MASS, &p->plan) == LG_OK);
    CHECK(lg_arena_open(&p->arena, layout, p) == LG_OK);
    CHECK(lg_arena_open(&r->memory, layout_schur, r) == LG_OK);
    p->size = p->v_start[p->nblocks] + p->pattern.nrows;
    p->dense = malloc((size_t)(p->size * p->size) * sizeof(double));
}

/* The ones of inactive rows; and the weakest pivot, which is that of the whole matrix. */
static void test_inactive_rows(void)
{
    reduction r = {0};
    uint64_t state = 31;
    problem *p = &r.p;
    open_masked_chain(&r, &state);
    put_masses(&r);
    CHECK(lg_schur_keep(&r.schur) == LG_OK);
    put_B(&r, 0);
    int inactive = p->v_start[p->nblocks] + masked_row[1];
    p->dense[inactive + p->size * inactive] = 1;
    r.schur.groups.watch = 1, r.schur.groups.weakest = NAN;
    CHECK(lg_schur_factor(&r.schur, 1) == LG_OK);
    free(check_schur(&r, &state, 1e-12));

    lg_matrix_zero(&p->matrix);
    lg_schur_put_masses(&r.schur, &p->matrix);
    lg_matrix_put_columns(&p->matrix, p->B[0]);
    lg_matrix_put_rows(&p->matrix, p->B[0]);
    p->matrix.watch = 1, p->matrix.weakest = NAN;
    CHECK(lg_matrix_factor(&p->matrix) == LG_OK && p->matrix.weakest < 1);
    CHECK_CLOSE(r.schur.groups.weakest, p->matrix.weakest, 1e-12);
    close_reduction(&r);
}

/* Patterns that the reduction does not fit: own rows, elements that couple masses, many groups on one block. */
static void test_patterns_without_reduction(void)
{
    void (*others[])(problem *) = {free_body, body_between, star, springs, own_rows, same_block_twice};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        reduction r = {0};
        uint64_t state = 37;
        open_reduction(&r, others[i], 0, &state);
        CHECK(r.schur.plan == NULL);
        close_reduction(&r);
    }
}

int main(void)
{
    RUN(test_solutions);
    RUN(test_one_triangle_is_enough);
    RUN(test_dependent_rows);
    RUN(test_singular_masses);
    RUN(test_inactive_rows);
    RUN(test_patterns_without_reduction);
    return check_result();
}
