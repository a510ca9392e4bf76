/* Kept pivots of the block-sparse matrix, when only the values of B change. */
#include "matrices.h"

/* Puts in new columns from B at one point and new rows from B at another. */
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

/* Solves with one S and with values of B that change from point to point. */
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

static void test_kept_pivots_of_random_systems(void)
{
    uint64_t state = 20240301;
    for (int i = 0; i < 200; i++) {
        problem p = {0};
        random_shape(&p, &state);
        open_problem(&p, &state);
        assemble(&p);
        check_kept(&p, &state, 1e-10);
        CHECK(p.matrix.fallbacks == 0);
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

/* S is not read again, so that its values may be lost. */
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
        double *S = lg_matrix_at(&p.matrix, 0, &ld);
        for (int j = 0; j < sizes[i] * ld; j++)
            S[j] = NAN;
        CHECK(lg_matrix_refactor(&p.matrix) == LG_OK && lg_matrix_solve(&p.matrix, b) == LG_OK);
        for (int j = 0; j < p.size; j++)
            CHECK_CLOSE(b[j], x[j], 1e-12);
        free(b), free(x);
        close_problem(&p);
    }
}

/* If nothing couples the blocks, multiplying by the inverses gives the solution. */
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

int main(void)
{
    RUN(test_kept_pivots_of_shapes);
    RUN(test_kept_pivots_of_random_systems);
    RUN(test_kept_pivots_of_every_size);
    RUN(test_kept_pivots_are_not_formed_anew);
    RUN(test_kept_blocks_apart);
    return check_result();
}
