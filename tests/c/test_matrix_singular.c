/* Singular and badly scaled matrices: the dense fall-back, and the row that is named. */
#include "matrices.h"

/* A massless block that its constraints determine is singular, but the whole matrix is not. */
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
    CHECK(lg_matrix_fall_back(&p.matrix) == LG_OK && p.matrix.fallbacks == 1);
    double *b = random_array(&state, p.size), *x = solution(&p, b);
    CHECK_CLOSE(residual(&p, 0, x, b), 0, 1e-12);
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

/* A mass of rank nv - 1 that the own row makes regular, like that of Euler parameters; the scales are far apart. */
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

/* The first three groups join the blocks 0 and 1 by `rows` rows each; the third is a linear combination of the
   others. Nothing couples the last two blocks with them. */
static void open_redundant(problem *p, int rows, uint64_t *state)
{
    for (int b = 0; b < 6; b++)
        add_clique(p, BLOCKS(add_block(p, 9, 0)));
    for (int g = 0; g < 3; g++)
        add_group(p, rows, BLOCKS(0, 1));
    add_group(p, 2, BLOCKS(1, 2));
    add_group(p, 2, BLOCKS(2, 3));
    add_group(p, 3, BLOCKS(4, 5));
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

/* Rows that differ by 1e-8 from a combination of others, of which S = B M^-1 B^T knows the square. */
static void test_nearly_redundant_constraint_is_solved(void)
{
    problem p = {0};
    uint64_t state = 12;
    open_redundant(&p, 1, &state);
    for (int i = 0; i < 18; i++)
        p.B[0][p.group_value[4] + i] += 1e-8 * random_number(&state);
    assemble(&p);
    double *b = random_array(&state, p.size), *x = solved(&p, b, 1e-8);
    CHECK(p.matrix.is_doubled && !p.matrix.is_dense && p.matrix.fallbacks == 1);
    free(b), free(x);
    close_problem(&p);
}

/* An own row that vanishes is named by its index among the constraint rows. */
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

int main(void)
{
    RUN(test_singular_block_falls_back);
    RUN(test_guest_falls_back_when_assembled_again);
    RUN(test_scaling_does_not_fall_back);
    RUN(test_fallback_copes_with_bad_scaling);
    RUN(test_bordered_singular_mass_does_not_fall_back);
    RUN(test_redundant_constraint_is_named);
    RUN(test_nearly_redundant_constraint_is_solved);
    RUN(test_vanishing_own_row_is_named);
    RUN(test_massless_velocity_is_named);
    RUN(test_not_a_number_is_reported);
    RUN(test_dense_singular_column);
    RUN(test_dense_solution);
    return check_result();
}
