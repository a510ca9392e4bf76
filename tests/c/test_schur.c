/* Saddle-point systems, by the Schur complement of the constraint rows and by the whole matrix. */
#include "matrices.h"
#include "sparse/kkt.h"

typedef struct saddle {
    problem p;
    lg_kkt kkt;
    lg_matrix matrix;
    lg_mass mass;
    lg_arena memory;
} saddle;

static void layout_kkt(void *self, lg_arena *arena)
{
    saddle *r = self;
    lg_kkt_layout(&r->kkt, &r->matrix, r->p.plan, NULL, r->mass, arena);
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

static void open_saddle(saddle *r, void (*shape)(problem *), int zeros, uint64_t *state)
{
    problem *p = &r->p;
    p->coupling = LG_COUPLING_MASS;
    shape(p);
    open_problem(p, state);
    symmetrise(p, zeros);
    CHECK(lg_arena_open(&r->memory, layout_kkt, r) == LG_OK);
}

static void close_saddle(saddle *r)
{
    lg_matrix_close(&r->matrix);
    lg_arena_close(&r->memory);
    close_problem(&r->p);
}

/* Puts M into the system and into the dense matrix. */
static void put_masses(saddle *r)
{
    problem *p = &r->p;
    lg_matrix whole = p->matrix, *masses = lg_kkt_masses(&r->kkt);
    memset(p->dense, 0, (size_t)(p->size * p->size) * sizeof(double));
    CHECK(masses != NULL);
    p->matrix = *masses;
    assemble_cliques(p);
    p->matrix = whole;
}

/* Factors with the columns of B[0] and the rows of B[lower]. */
static lg_status factor(saddle *r, int lower)
{
    problem *p = &r->p;
    for (int b = 0; b < p->nblocks; b++)
        p->chain[b] = (lg_chain){{1, 1, 1}, {NULL, NULL, NULL}};
    p->lower = lower;
    dense_constraints(p, 1);
    return lg_kkt_factor(&r->kkt, p->B[0], p->B[lower]);
}

static double *check_solved(saddle *r, uint64_t *state, double tolerance)
{
    problem *p = &r->p;
    double *b = random_array(state, p->size), *x = malloc((size_t)p->size * sizeof(double));
    memcpy(x, b, (size_t)p->size * sizeof(double));
    CHECK(lg_kkt_solve(&r->kkt, x) == LG_OK);
    CHECK_CLOSE(residual(p, 0, x, b), 0, tolerance);
    free(b);
    return x;
}

/* Factors with B[0] and solves at once: bit for bit what the two calls give. */
static void check_at_once(saddle *r, uint64_t *state)
{
    int size = r->p.size, solved = 0;
    size_t bytes = (size_t)size * sizeof(double);
    double *x = random_array(state, size), *at_once = malloc(bytes);
    memcpy(at_once, x, bytes);
    CHECK(lg_kkt_solve(&r->kkt, x) == LG_OK);
    if (r->mass == LG_MASS_VARIES)
        put_masses(r);
    CHECK(lg_kkt_factor_solve(&r->kkt, r->p.B[0], at_once, &solved) == LG_OK && solved);
    CHECK(memcmp(x, at_once, bytes) == 0);
    free(x), free(at_once);
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
            for (int lower = 0; lower < 2; lower++)
                for (lg_mass mass = LG_MASS_VARIES; mass <= LG_MASS_REGULAR; mass++) {
                    saddle r = {.mass = mass};
                    uint64_t state = 17;
                    open_saddle(&r, reducible[i], zeros, &state);
                    CHECK((r.kkt.schur.plan != NULL) == (mass == LG_MASS_REGULAR));
                    put_masses(&r);
                    for (int j = 0; lower && j < r.p.pattern.nvalues; j++)
                        r.p.B[1][j] = r.p.B[0][j] + 0.01 * random_number(&state);
                    CHECK(factor(&r, lower) == LG_OK);
                    free(check_solved(&r, &state, 1e-12));
                    if (!lower)
                        check_at_once(&r, &state);
                    CHECK((lg_kkt_masses(&r.kkt) == NULL) == (mass != LG_MASS_VARIES));
                    close_saddle(&r);
                }
}

/* A constant M is put once; later factorisations may leave the columns as they are. */
static void test_kept_masses_and_columns(void)
{
    for (lg_mass mass = LG_MASS_CONSTANT; mass <= LG_MASS_REGULAR; mass++) {
        saddle r = {.mass = mass};
        uint64_t state = 18;
        open_saddle(&r, tree, 0, &state);
        put_masses(&r);
        CHECK(factor(&r, 0) == LG_OK);
        for (int j = 0; j < r.p.pattern.nvalues; j++)
            r.p.B[1][j] = r.p.B[0][j] + 0.01 * random_number(&state);
        memset(r.p.dense, 0, (size_t)(r.p.size * r.p.size) * sizeof(double));
        assemble_cliques(&r.p); /* for the dense matrix alone */
        r.p.lower = 1;
        dense_constraints(&r.p, 1);
        CHECK(lg_kkt_factor(&r.kkt, NULL, r.p.B[1]) == LG_OK);
        free(check_solved(&r, &state, 1e-12));
        CHECK(r.matrix.factorisations == 2 && r.matrix.refactorisations == 1);
        close_saddle(&r);
    }
}

static void joints_of_points(problem *p)
{
    for (int b = 0; b < 6; b++) {
        add_clique(p, BLOCKS(add_block(p, 6, 0)));
        add_group(p, b < 3 ? 3 : 5, BLOCKS(b, b > 0 ? b - 1 : b));
    }
}

/* Entries whose first three columns are multiples of the identity over zeros, for masses that are numbers there. */
static void make_multiples(problem *p, double *B)
{
    for (int b = 0; b < p->nblocks; b++)
        p->S[b][1 + WIDE] = p->S[b][2 + 2 * WIDE] = p->S[b][0];
    for (int g = 0; g < p->ngroups; g++)
        for (int e = p->group_start[g], rows = p->group_rows[g]; e < p->group_start[g + 1]; e++)
            for (int c = 0; c < 3; c++)
                for (int r = 0; r < rows; r++)
                    B[p->group_value[e] + r + rows * c] = r == c ? (e % 2 ? 1 : -1) : -0.0;
}

/* The translations of points are left out of the products if the columns and the rows allow it. */
static void test_translations(void)
{
    for (int lower = 0; lower < 2; lower++)
        for (int turned = 0; turned <= lower; turned++) {
            saddle r = {.mass = LG_MASS_REGULAR};
            uint64_t state = 27;
            open_saddle(&r, joints_of_points, 1, &state);
            make_multiples(&r.p, r.p.B[0]);
            memcpy(r.p.B[1], r.p.B[0], (size_t)r.p.pattern.nvalues * sizeof(double));
            for (int j = 0; lower && j < r.p.pattern.nvalues; j++)
                r.p.B[1][j] += 0.1 * random_number(&state);
            if (!turned)
                make_multiples(&r.p, r.p.B[1]);
            put_masses(&r);
            CHECK(factor(&r, lower) == LG_OK);
            for (int b = 0; b < r.p.nblocks; b++)
                CHECK(r.kkt.schur.shapes[b].from == (b == 2 || turned ? 0 : 3));
            free(check_solved(&r, &state, 1e-12));
            close_saddle(&r);
        }
}

/* The upper triangle is not read where one is enough. */
static void test_one_triangle_is_enough(void)
{
    double *x[2];
    for (int lower = 0; lower < 2; lower++) {
        saddle r = {.mass = LG_MASS_REGULAR};
        uint64_t state = 19;
        open_saddle(&r, tree, 0, &state);
        memcpy(r.p.B[1], r.p.B[0], (size_t)r.p.pattern.nvalues * sizeof(double));
        put_masses(&r);
        CHECK(factor(&r, lower) == LG_OK);
        x[lower] = check_solved(&r, &state, 1e-13);
        if (lower)
            for (int j = 0; j < r.p.size; j++)
                CHECK_CLOSE(x[0][j], x[1][j], 1e-12);
        close_saddle(&r);
    }
    free(x[0]), free(x[1]);
}

/* A row that repeats another one: the pivot is as small a part of its terms as in the whole matrix. */
static void test_dependent_rows(void)
{
    for (int lower = 0; lower < 2; lower++) {
        saddle r = {.mass = LG_MASS_REGULAR};
        uint64_t state = 23;
        open_saddle(&r, chain, 0, &state);
        for (int b = 0; b < 2; b++)
            for (int j = 0; j < r.p.pattern.nvalues; j += 2)
                if (j >= 18)
                    r.p.B[b][j] = r.p.B[b][j + 1];
        memcpy(r.p.B[1], r.p.B[0], (size_t)r.p.pattern.nvalues * sizeof(double));
        put_masses(&r);
        CHECK(factor(&r, lower) == LG_SINGULAR);
        CHECK(r.matrix.deficient_row >= 3);
        close_saddle(&r);
    }
}

/* A block of M without an inverse: the whole matrix is factored, and the reduction to the rows refuses it. */
static void test_singular_masses(void)
{
    for (lg_mass mass = LG_MASS_CONSTANT; mass <= LG_MASS_REGULAR; mass++) {
        saddle r = {.mass = mass};
        uint64_t state = 29;
        open_saddle(&r, chain, 1, &state);
        r.p.S[4][5 + WIDE * 5] = 0;
        put_masses(&r);
        lg_status status = factor(&r, 0);
        CHECK(status == (mass == LG_MASS_REGULAR ? LG_SINGULAR : LG_OK));
        if (status == LG_OK)
            free(check_solved(&r, &state, 1e-12));
        else
            CHECK(r.matrix.deficient_row == -1 - (r.p.v_start[4] + 5));
        close_saddle(&r);
    }
}

static const int masked_row[] = {3, 6}, masked_group[] = {1, 2};

/* A chain in which two rows may be inactive, and the second of them is. */
static void open_masked_chain(saddle *r, uint64_t *state)
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
    CHECK(lg_arena_open(&r->memory, layout_kkt, r) == LG_OK);
    p->size = p->v_start[p->nblocks] + p->pattern.nrows;
    p->dense = malloc((size_t)(p->size * p->size) * sizeof(double));
}

/* The ones of inactive rows; and the weakest pivot, which is that of the whole matrix. */
static void test_inactive_rows(void)
{
    saddle r = {.mass = LG_MASS_REGULAR};
    uint64_t state = 31;
    problem *p = &r.p;
    open_masked_chain(&r, &state);
    put_masses(&r);
    r.matrix.watch = 1, r.matrix.weakest = NAN;
    CHECK(factor(&r, 0) == LG_OK);
    int inactive = p->v_start[p->nblocks] + masked_row[1];
    p->dense[inactive + p->size * inactive] = 1;
    free(check_solved(&r, &state, 1e-12));

    lg_matrix_zero(&p->matrix);
    assemble_cliques(p);
    lg_matrix_put_columns(&p->matrix, p->B[0]);
    lg_matrix_put_rows(&p->matrix, p->B[0]);
    p->matrix.watch = 1, p->matrix.weakest = NAN;
    CHECK(lg_matrix_factor(&p->matrix) == LG_OK && p->matrix.weakest < 1);
    CHECK_CLOSE(r.matrix.weakest, p->matrix.weakest, 1e-12);
    close_saddle(&r);
}

/* Patterns that the reduction does not fit: own rows, elements that couple masses, many groups on one block. */
static void test_patterns_without_reduction(void)
{
    void (*others[])(problem *) = {free_body, body_between, star, springs, own_rows, same_block_twice};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        saddle r = {.mass = LG_MASS_REGULAR};
        uint64_t state = 37;
        open_saddle(&r, others[i], 0, &state);
        CHECK(r.kkt.schur.plan == NULL);
        close_saddle(&r);
    }
}

int main(void)
{
    RUN(test_solutions);
    RUN(test_kept_masses_and_columns);
    RUN(test_translations);
    RUN(test_one_triangle_is_enough);
    RUN(test_dependent_rows);
    RUN(test_singular_masses);
    RUN(test_inactive_rows);
    RUN(test_patterns_without_reduction);
    return check_result();
}
