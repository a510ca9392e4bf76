/* The cost of a tree in vector operations: the files of the tree are compiled here with counters in front of their
   kernels. */
#include "check.h"
#include "core/small.h"
#include "model/body/tree_state.h"
#include "model/model.h"
#include "system/optional.h"

#include <stdlib.h>

static long operations;

#define lg_cross(a, b, c) (operations++, lg_cross(a, b, c))
#define lg_add_cross(a, b, c) (operations++, lg_add_cross(a, b, c))
#define lg_mul3(A, b, c) (operations++, lg_mul3(A, b, c))
#define lg_mulT3(A, b, c) (operations++, lg_mulT3(A, b, c))
#define lg_mul33(A, B, C) (operations++, lg_mul33(A, B, C))
#define lg_axpy(n, s, a, c) (operations++, lg_axpy(n, s, a, c))
#define lg_dot6(a, b) (operations++, lg_dot6(a, b))
#define lg_twist_cross(A, B, C) (operations++, lg_twist_cross(A, B, C))
#define lg_twist_at(A, y, u) (operations++, lg_twist_at(A, y, u))
#define lg_chain_put(b, X, value, i, j, S, ld) (operations++, lg_chain_put(b, X, value, i, j, S, ld))

#include "model/body/tree.c"
#include "model/body/tree_articulated.c"
#include "model/body/tree_frame.c"
#include "model/body/tree_inertia.c"
#include "model/body/tree_motion.c"
#include "model/body/tree_state.c"
#include "model/body/tree_tangent.c"

enum { MOST = 300 };

/* A chain of links, or a star of links on the first one, with a weight on every link. */
typedef struct heap {
    lg_tree_link links[MOST];
    lg_frame_spec frames[MOST + 1];
    lg_element_spec elements[MOST + 1];
    double weight[4];
} heap;

static lg_model *new_model(heap *h, int n, int chain)
{
    h->weight[0] = 2, h->weight[3] = -9.81;
    for (int i = 0; i < n; i++) {
        h->links[i] = (lg_tree_link){
            .parent = chain ? i - 1 : -(i == 0), .R = {1, 0, 0, 0, 1, 0, 0, 0, 1}, .point = {0.3, 0.1, 0}};
        h->links[i].axis[i % 3] = h->links[i].mass = 1;
        h->links[i].inertia[0] = h->links[i].inertia[1] = h->links[i].inertia[2] = 0.1;
        h->frames[i + 1] = (lg_frame_spec){.part = i, .offset = {0.1, 0, 0}};
        h->elements[i + 1] = (lg_element_spec){
            .type = "gravity", .name = "g", .frames = {i + 1}, .nparameters = 4, .parameters = h->weight};
    }
    h->elements[0] = (lg_element_spec){
        .type = "tree", .name = "tree", .nparameters = n * LG_TREE_LINK_SIZE, .parameters = (const double *)h->links};
    const lg_block_spec block = {1, &(lg_factor_spec){"Rn", n}};
    lg_model_spec spec = {1, n + 1, n + 1, &block, h->frames, h->elements, NULL, 0, NULL, 0};
    lg_report report;
    lg_model *model = NULL;
    CHECK(lg_model_create(&spec, &model, &report) == LG_OK);
    return model;
}

enum { RESIDUAL, TANGENT, ACCELERATION };

/* Counts the operations of one evaluation: of M a, gyro and forces, of these with the tangent, or of accelerations. */
static long count(int n, int chain, int which)
{
    heap *h = calloc(1, sizeof *h);
    lg_model *model = new_model(h, n, chain);
    const lg_system *system = lg_model_system(model);
    double *values = calloc((size_t)(6 * n + system->nwork), sizeof *values);
    lg_plan *plan = NULL;
    lg_matrix matrix = {0};
    lg_arena arena = {0};
    for (int i = 0; i < 3 * n; i++)
        values[i] = 0.01 * i;
    lg_point point = lg_point_at(0, values, values + n);
    point.a = values + 2 * n, point.work = values + 6 * n;
    lg_wanted wanted = {.Ma = values + 3 * n, .gyro = values + 4 * n, .force = values + 5 * n};
    lg_chain both = {{1, 1, 1}, {NULL, NULL, NULL}};
    const lg_tangent tangents = {&matrix, &both};
    if (which == TANGENT) {
        CHECK(lg_plan_create(system->pattern, LG_COUPLING_TANGENTS, &plan) == LG_OK);
        lg_matrix_layout(&matrix, plan, &arena);
        arena = (lg_arena){.base = calloc(1, arena.used + 64)};
        lg_matrix_layout(&matrix, plan, &arena);
        wanted.tangent = &tangents, wanted.ntangents = 1;
    }
    operations = 0;
    if (which == ACCELERATION)
        CHECK(system->accelerate(system->self, &point, values + 3 * n) == LG_OK);
    else
        CHECK(system->eval(system->self, &point, &wanted) == LG_OK);
    long result = operations;
    lg_plan_free(plan);
    free(arena.base);
    free(values);
    lg_model_free(model);
    free(h);
    return result;
}

static void test_residuals_and_accelerations_grow_linearly(void)
{
    const int which[] = {RESIDUAL, ACCELERATION};
    for (int k = 0; k < 2; k++)
        for (int chain = 0; chain < 2; chain++) {
            long a = count(100, chain, which[k]), b = count(200, chain, which[k]), c = count(300, chain, which[k]);
            CHECK(a > 1000 && b - a == c - b);
        }
}

/* The cost of the tangent is linear in a star of depth two as well, and quadratic in a chain. */
static void test_tangents_grow_as_links_times_depth(void)
{
    long star[] = {count(100, 0, TANGENT), count(200, 0, TANGENT), count(300, 0, TANGENT)};
    long chain[] = {count(100, 1, TANGENT), count(200, 1, TANGENT), count(300, 1, TANGENT)};
    CHECK(star[1] - star[0] == star[2] - star[1]);
    CHECK(chain[2] - chain[1] > chain[1] - chain[0]);
    CHECK(chain[2] < 9 * chain[0]);
}

/* M^-1 of every column of M is that of the identity; the work is the same for each right-hand side, and linear. */
static long solve_columns(int n, int chain)
{
    heap *h = calloc(1, sizeof *h);
    lg_model *model = new_model(h, n, chain);
    const lg_system *system = lg_model_system(model);
    const lg_inverse_mass *inverse = system->inverse_mass;
    int ld = n + 3, deficient;
    double *values = calloc((size_t)(3 * n + system->nwork), sizeof *values);
    double *columns = calloc((size_t)(n * ld), sizeof *columns);
    double *factor = calloc((size_t)inverse->size(system->self, 0), sizeof *factor), error = 0;
    for (int i = 0; i < n; i++)
        values[i] = 0.3 * i;
    lg_point point = lg_point_at(0, values, values + n);
    point.a = values + 2 * n, point.work = values + 3 * n;
    for (int i = 0; i < n; i++) {
        values[2 * n + i] = 1;
        CHECK(system->eval(system->self, &point, &(lg_wanted){.Ma = columns + i * ld}) == LG_OK);
        values[2 * n + i] = 0;
    }
    lg_zero(system->nwork, point.work);
    CHECK(inverse->factor(system->self, &point, 0, factor, &deficient) == LG_OK);
    lg_zero(system->nwork, point.work); // the factor does not need it any more
    operations = 0;
    inverse->solve(system->self, 0, factor, n, ld, columns);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            error = fmax(error, fabs(columns[i * ld + j] - (i == j)));
    CHECK(error < 1e-9);
    CHECK(operations % n == 0);
    long result = operations / n;
    free(factor);
    free(columns);
    free(values);
    lg_model_free(model);
    free(h);
    return result;
}

static void test_inverse_of_the_mass(void)
{
    for (int chain = 0; chain < 2; chain++) {
        long a = solve_columns(20, chain), b = solve_columns(40, chain), c = solve_columns(60, chain);
        CHECK(a > 20 && b - a == c - b);
    }
}

int main(void)
{
    RUN(test_residuals_and_accelerations_grow_linearly);
    RUN(test_inverse_of_the_mass);
    RUN(test_tangents_grow_as_links_times_depth);
    return check_result();
}
