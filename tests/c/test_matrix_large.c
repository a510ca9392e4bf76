/* Large matrices: fill and solutions of chains, trees and stars. */
#include "matrices.h"

typedef struct large {
    int n;
    int *ints;
    lg_pattern pattern;
} large;

/* n bodies of 6 velocities. Body b is attached to parent[b] (-1: the ground) by a joint of 3 rows, for which each body
   alone is sufficient. */
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
    CHECK(plan->size == 9 * pattern->nblocks);
    long values = lg_plan_values(plan);
    lg_plan_free(plan);
    return values;
}

/* The parent of body b: the previous body (the ground for the first one); the body of half its number; the first body;
   the previous body in strands of 10, which begin on the first body. */
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

/* A body takes 36 + 2 36 values, a joint 9 + 2 (9 + 3), and there is padding for alignment; 2 36 more if joints couple
   their bodies. It is never more than if joints were eliminated after all of their bodies. */
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
        double *S = lg_matrix_at(&matrix, c, &ld);
        add_to_diagonal(S, 6, ld, 2);
    }
    lg_matrix_add_border(&matrix, B, 1, B, 0, NULL);
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

int main(void)
{
    RUN(test_fill_grows_linearly);
    RUN(test_masses_have_no_fill_of_stiffness);
    RUN(test_long_chain_solves);
    return check_result();
}
