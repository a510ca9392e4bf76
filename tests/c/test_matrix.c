/* Compares the block-sparse matrix and the products of the pattern with dense algebra, on systems of every shape. */
#include "matrices.h"

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

/* While a guest or anything else occupies the memory of its assembled values, a matrix still solves as before. */
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

/* Solves a problem that `shape` fills. */
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

/* Every size of block and of group that has a specialised kernel, and some that have none. */
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

/* Six velocities whose halves do not couple, of which each needs its rows exchanged, and the same with one coupling. */
static void test_halves(void)
{
    for (int rows = 1; rows <= 6; rows++)
        for (int couples = 0; couples < 2; couples++) {
            problem p = {0};
            uint64_t state = 11;
            add_clique(&p, BLOCKS(add_block(&p, 6, 0)));
            add_clique(&p, BLOCKS(add_block(&p, 6, 0)));
            add_group(&p, rows, BLOCKS(0, 1));
            open_problem(&p, &state);
            double *S = p.S[0];
            for (int column = 0; column < 6; column++)
                for (int row = 0; row < 6; row++)
                    if (row / 3 != column / 3 || row == column)
                        S[row + WIDE * column] = 0;
            S[5] = couples ? 0.3 : -0.0;
            assemble(&p);
            check_solution(&p, &state, 1e-13);
            CHECK(p.matrix.fallbacks == 0);
            close_problem(&p);
        }
}

/* ---- fronts with a single neighbour ---- */

/* A tree of bodies whose joints have `rows` rows; rows of every other block need to be exchanged. */
static void open_tree(problem *p, int rows, uint64_t *state)
{
    for (int b = 0; b < 12; b++) {
        add_clique(p, BLOCKS(add_block(p, 6, 0)));
        if (b == 0)
            add_group(p, rows, BLOCKS(b));
        else
            add_group(p, rows, BLOCKS(b - 1 - (b == 7), b));
    }
    for (int e = 0; e < p->group_start[p->ngroups]; e++)
        p->group_sufficient[e] = 1;
    open_problem(p, state);
    for (int c = 0; c < p->ncliques; c += 2)
        p->S[c][0] = p->S[c][4 + WIDE * 4] = 0;
}

/* Leaves the fronts to the kernels for any neighbours; returns how many there were for single ones. */
static int forget_singles(const lg_plan *plan)
{
    int count = 0;
    for (int k = 0; k < plan->nfronts; k++) {
        count += plan->fronts[k].single > 0;
        plan->fronts[k].single = 0;
    }
    return count;
}

/* Their kernels give the bits of those for any neighbours, in factors beside the assembled values and in place. */
static void test_single_neighbours(void)
{
    for (int rows = 1; rows <= 5; rows++)
        for (int in_place = 0; in_place < 2; in_place++) {
            problem p = {.has_guest = in_place, .coupling = LG_COUPLING_TANGENTS};
            uint64_t state = 5;
            open_tree(&p, rows, &state);
            if (in_place)
                exchange(&p);
            assemble(&p);
            double *b = random_array(&state, p.size), *x = solved(&p, b, 1e-12);
            CHECK((forget_singles(p.plan) > 15) == (rows == 3 || rows == 5));
            assemble(&p);
            double *y = solved(&p, b, 1e-12);
            CHECK(memcmp(y, x, (size_t)p.size * sizeof(double)) == 0 && p.matrix.fallbacks == 0);
            free(b), free(x), free(y);
            close_problem(&p);
        }
}

/* ---- random systems ---- */

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

/* ---- inertia ---- */

static void assemble_symmetric(problem *p)
{
    assemble(p);
    lg_matrix_symmetrise(&p->matrix);
}

/* The number of negative eigenvalues of the symmetric part of the dense matrix, by LAPACK. */
static int negative_of_dense(const problem *p)
{
    int n = p->size, *pivots = malloc(((size_t)n + 1) * sizeof(int));
    double *A = malloc(((size_t)(n * n) + 1) * sizeof(double)), *work = malloc(((size_t)n + 1) * sizeof(double));
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            A[i + n * j] = 0.5 * (p->dense[i + n * j] + p->dense[j + n * i]);
    int negative = lg_dense_negative(n, A, pivots, work);
    free(A), free(work), free(pivots);
    return negative;
}

/* With stiffnesses of both signs, front by front and by the dense fall-back. */
static void test_negative_eigenvalues(void)
{
    uint64_t state = 1968;
    int most = 0;
    for (int i = 0; i < 200; i++) {
        problem p = {0};
        random_shape(&p, &state);
        open_problem(&p, &state);
        for (int c = 0; c < p.ncliques; c += 2)
            for (int k = 0, n = p.clique_start[c + 1] - p.clique_start[c]; k < SLOT * n * n; k++)
                p.S[c][k] *= -1;
        assemble_symmetric(&p);
        CHECK(lg_matrix_factor(&p.matrix) == LG_OK);
        int negative = negative_of_dense(&p), beyond = negative - p.pattern.nrows;
        CHECK(lg_matrix_negative(&p.matrix) == negative);
        most = beyond > most ? beyond : most;
        assemble_symmetric(&p);
        CHECK(lg_matrix_fall_back(&p.matrix) == LG_OK);
        CHECK(lg_matrix_negative(&p.matrix) == negative);
        close_problem(&p);
    }
    CHECK(most > 5);
}

static void test_negative_eigenvalues_of_diagonals(void)
{
    double A[] = {-1, 0, 0, 9, 2, 0, 9, 9, -3} /* 9: not read */, exchange[] = {0, 1, 1, 0}, work[3];
    int pivots[3];
    CHECK(lg_dense_negative(3, A, pivots, work) == 2);
    CHECK(lg_dense_negative(2, exchange, pivots, work) == 1);
    CHECK(lg_dense_negative(0, NULL, pivots, work) == 0);
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
    (void)lg_matrix_layout_rest(&other, NULL, 0, REST, &measure); /* none of its own */
    CHECK(measure.used == p.arena.used && measure.used >= (size_t)lg_plan_values(p.plan) * sizeof(double));
    CHECK(other.values == NULL && other.dense.values == NULL);
    close_problem(&p);
}

/* S of velocities alone, and its largest entry, in an array that holds other numbers behind it. */
static void test_products_with_assembled_values(void)
{
    problem p = {0};
    uint64_t state = 24;
    springs(&p);
    open_problem(&p, &state);
    assemble(&p);
    int nv = p.v_start[p.nblocks];
    p.matrix.values[p.plan->nassembled] = 1e300;
    double *x = random_array(&state, nv), *z = random_array(&state, nv), *y = random_array(&state, nv);
    double *expected = calloc((size_t)nv, sizeof *expected), largest = 0;
    memcpy(expected, y, (size_t)nv * sizeof *y);
    for (int i = 0; i < nv; i++)
        for (int j = 0; j < nv; j++) {
            double A = p.dense[i + p.size * j];
            expected[i] += 0.7 * A * (x[j] + z[j]) - 0.4 * A * x[j];
            expected[j] += 1.3 * A * z[i];
        }
    for (int i = 0; i < p.size * p.size; i++)
        largest = fmax(largest, fabs(p.dense[i]));
    lg_turning_blocks turning = {.is_turning = calloc((size_t)p.plan->nfronts, 1)};
    lg_matrix_add_products(&p.matrix, &p.matrix, &turning, 0.7, x, z, y);
    lg_matrix_add_product(&p.matrix, -0.4, x, y);
    lg_matrix_add_transposed(&p.matrix, 1.3, z, y);
    for (int i = 0; i < nv; i++)
        CHECK_CLOSE(y[i], expected[i], 1e-13 * nv * largest);
    CHECK(lg_matrix_largest(&p.matrix) == largest);
    free(x), free(z), free(y), free(expected), free(turning.is_turning);
    close_problem(&p);
}

/* Makes the blocks of six velocities zero but for the last three; returns how many there are. */
static int leave_rotations(problem *p)
{
    int count = 0;
    for (const lg_front *f = p->plan->fronts; f < p->plan->fronts + p->plan->nfronts; f++) {
        if (f->n != 6 || f->velocities != 6)
            continue;
        for (int i = 0; i < 36; i++)
            if (i % 6 < 3 || i < 18)
                p->matrix.values[f->D + i] = 0;
        count++;
    }
    return count;
}

/* Sums of products are those of one matrix after the other, whatever is found to be zero, and found once. */
static void test_products_of_rotations(void)
{
    problem p = {0};
    uint64_t state = 25;
    springs(&p);
    open_problem(&p, &state);
    assemble(&p);
    int nv = p.v_start[p.nblocks];
    double *x = random_array(&state, nv), *z = random_array(&state, nv);
    double *y = calloc((size_t)nv, sizeof *y), *expected = calloc((size_t)nv, sizeof *expected);
    lg_turning_blocks turning = {.is_turning = calloc((size_t)p.plan->nfronts, 1)};
    for (int only = 0; only < 2; only++) {
        int count = only ? leave_rotations(&p) : 0, found = 0;
        turning.known = 0;
        memset(y, 0, (size_t)nv * sizeof *y), memset(expected, 0, (size_t)nv * sizeof *expected);
        lg_matrix_add_products(&p.matrix, &p.matrix, &turning, 0.7, x, z, y);
        lg_matrix_add_product(&p.matrix, 0.7, x, expected);
        lg_matrix_add_product(&p.matrix, 0.7, z, expected);
        for (int i = 0; i < nv; i++)
            CHECK_CLOSE(y[i], expected[i], 1e-12);
        for (int k = 0; k < p.plan->nfronts; k++)
            found += turning.is_turning[k];
        CHECK(turning.known && found == count && count >= only);
    }
    free(x), free(z), free(y), free(expected), free(turning.is_turning);
    close_problem(&p);
}

int main(void)
{
    RUN(test_shapes);
    RUN(test_hosts_and_guests);
    RUN(test_every_size);
    RUN(test_halves);
    RUN(test_single_neighbours);
    RUN(test_random_systems);
    RUN(test_rows_add_level_by_level);
    RUN(test_negative_eigenvalues);
    RUN(test_negative_eigenvalues_of_diagonals);
    RUN(test_products_of_the_pattern);
    RUN(test_measured_memory_equals_used);
    RUN(test_products_with_assembled_values);
    RUN(test_products_of_rotations);
    return check_result();
}
