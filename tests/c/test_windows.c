/* Windows of long models: an evaluation has the same bits whatever their size. */
#include "check.h"
#include "model/private.h"
#include "sparse/fronts.h"

#include <stdlib.h>

enum { N = 150, NV = 6 * N, NQ = 12 * N, MOST = 5 * N, FAR = 70 };

typedef struct parts {
    lg_block_spec blocks[N];
    lg_frame_spec frames[3 * N];
    lg_element_spec elements[MOST];
    int nelements;
} parts;

static void add(parts *p, const char *type, int a, int b, int n, const double *parameters)
{
    p->elements[p->nelements++] =
        (lg_element_spec){.type = type, .name = type, .frames = {a, b}, .nparameters = n, .parameters = parameters};
}

/* A chain of bodies with joints in a changed order, springs to the next body but one, and one from the first to a
   far one. Frames 3 i to 3 i + 2: the node and both ends of body i. */
static lg_model *new_model(parts *p)
{
    static const lg_factor_spec factor = {"R3xSO3", 0};
    static const double body[] = {2, 0.3, 0.4, 0.5, 0.01, 0.02, 0.03}, weight[] = {2, 0, 0, -9.81};
    static const double joint[] = {0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1}, spring[] = {30, 0.5, 1.7};
    static const double cartesian[] = {7, 8, 9, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6};
    for (int i = 0; i < N; i++) {
        p->blocks[i] = (lg_block_spec){1, &factor};
        for (int k = 0; k < 3; k++)
            p->frames[3 * i + k] = (lg_frame_spec){.block = i, .offset = {k == 0 ? 0 : k == 1 ? -0.5 : 0.5, 0, 0}};
        add(p, "rigid_body", 3 * i, 0, 7, body);
        add(p, "gravity", 3 * i, 0, 4, weight);
    }
    add(p, "cartesian_spring", 1, 3 * FAR + 1, 9, cartesian);
    for (int i = 2; i < N; i++) {
        add(p, "spring", 3 * (i - 2) + 2, 3 * i + 1, 3, spring);
        add(p, "cartesian_spring", 3 * (i - 2) + 2, 3 * i + 1, 9, cartesian);
    }
    for (int i = 1; i < N; i++) { /* neighbours in pairs, the later one first */
        int at = i % 2 && i + 1 < N ? i + 1 : i % 2 ? i : i - 1;
        add(p, "spherical", 3 * (at - 1) + 2, 3 * at + 1, 19, joint);
    }
    const lg_model_spec spec = {N, 3 * N, p->nelements, p->blocks, p->frames, p->elements, NULL};
    lg_report report;
    lg_model *model = NULL;
    CHECK(lg_model_create(&spec, &model, &report) == LG_OK);
    return model;
}

typedef struct results {
    double Ma[NV], gyro[NV], force[NV], Btlam[NV], phi[3 * N], phidot[3 * N], zeta[3 * N], B[12 * 3 * N], Z[12 * 3 * N];
} results;

typedef struct points {
    double q[NQ], v[NV], a[NV], lam[3 * N];
} points;

static void move(points *at)
{
    for (int i = 0; i < NQ; i++)
        at->q[i] = i % 12 < 3 ? 0.01 * (i % 7) + (i % 12 == 0) * (i / 12) : (i % 12 - 3) % 4 == 0;
    for (int i = 0; i < NV; i++)
        at->v[i] = 0.1 * (i % 11), at->a[i] = 1 - 0.2 * (i % 5);
    for (int i = 0; i < 3 * N; i++)
        at->lam[i] = 1 + i % 4;
}

/* All outputs, and the assembled S in `values`. */
static void evaluate(const lg_system *system, lg_matrix *matrix, results *found)
{
    points *at = calloc(1, sizeof *at);
    lg_chain *chains = calloc(N, sizeof *chains);
    double *work = calloc((size_t)system->nwork, sizeof *work);
    move(at);
    for (int i = 0; i < N; i++)
        chains[i] = (lg_chain){{1, 0.5, 0.25}, {NULL, NULL, NULL}};
    const lg_tangent tangent = {matrix, chains};
    lg_point point = lg_point_at(0, at->q, at->v);
    point.a = at->a, point.lam = at->lam, point.work = work;
    const lg_wanted wanted = {.Ma = found->Ma,
                              .gyro = found->gyro,
                              .force = found->force,
                              .Btlam = found->Btlam,
                              .phi = found->phi,
                              .phidot = found->phidot,
                              .zeta = found->zeta,
                              .B = found->B,
                              .Z = found->Z,
                              .tangent = &tangent,
                              .ntangents = 1};
    CHECK(system->eval(system->self, &point, &wanted) == LG_OK);
    free(work);
    free(chains);
    free(at);
}

static void layout_matrix(void *self, lg_arena *arena)
{
    lg_matrix *matrix = self;
    lg_matrix_layout(matrix, matrix->plan, arena);
}

/* Evaluates in windows of `size` blocks; returns their number. */
static int in_windows(lg_model *model, int size, lg_matrix *matrix, results *found)
{
    const lg_system *system = lg_model_system(model);
    CHECK(lg_model_set_windows(model, size) == LG_OK);
    memset(found, 0, sizeof *found);
    lg_matrix_zero(matrix);
    evaluate(system, matrix, found);
    return model->windows.count;
}

static void test_results_do_not_depend_on_the_size_of_windows(void)
{
    parts *p = calloc(1, sizeof *p);
    results *whole = calloc(1, sizeof *whole), *found = calloc(1, sizeof *found);
    lg_model *model = new_model(p);
    const lg_system *system = lg_model_system(model);
    CHECK(model->windows.count == 3 && system->pattern->nvalues <= 12 * 3 * N);
    lg_plan *plan = NULL;
    CHECK(lg_plan_create(system->pattern, LG_COUPLING_TANGENTS, &plan) == LG_OK);
    lg_matrix matrix = {.plan = plan};
    lg_arena arena;
    CHECK(lg_arena_open(&arena, layout_matrix, &matrix) == LG_OK);
    size_t size = (size_t)plan->nassembled * sizeof(double);
    double *S = malloc(size);
    CHECK(in_windows(model, N, &matrix, whole) == 0);
    memcpy(S, matrix.values, size);
    static const int sizes[][2] = {{1, 150}, {8, 19}, {64, 3}, {149, 2}};
    for (int i = 0; i < 4; i++) {
        CHECK(in_windows(model, sizes[i][0], &matrix, found) == sizes[i][1]);
        CHECK(memcmp(found, whole, sizeof *found) == 0 && memcmp(S, matrix.values, size) == 0);
    }
    free(S);
    lg_arena_close(&arena);
    lg_plan_free(plan);
    lg_model_free(model);
    free(found);
    free(whole);
    free(p);
}

/* The first window does not reach the spring that comes first, for which all others wait; the second one does. */
static void test_elements_wait_for_those_before_them(void)
{
    parts *p = calloc(1, sizeof *p);
    lg_model *model = new_model(p);
    int lists = lg_windows_lists(model);
    const int *first = model->windows.ends, *second = first + lists, *last = second + lists;
    static const int lengths[] = {N, N - 1, N - 2, N - 1, N};
    CHECK(lists == 5 && first[0] == LG_WINDOW && second[0] == 2 * LG_WINDOW);
    for (int i = 0; i < lists; i++) {
        CHECK(i == 0 || first[i] == 0);
        CHECK(second[i] > LG_WINDOW && second[i] < last[i] && last[i] == lengths[i]);
    }
    lg_model_free(model);
    free(p);
}

int main(void)
{
    RUN(test_results_do_not_depend_on_the_size_of_windows);
    RUN(test_elements_wait_for_those_before_them);
    return check_result();
}
