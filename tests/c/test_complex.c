/* Compares solutions with complex matrices with their definition, on systems of every shape. */
#include "matrices.h"
#include "sparse/complex.h"

/* The largest |A x - b| divided by the largest |A| |x| */
static double complex_residual(const problem *re, const problem *im, const double *x, const double *y, const double *b,
                               const double *c)
{
    double worst = 0, scale = 0;
    for (int i = 0; i < re->size; i++) {
        double r = -b[i], s = -c[i], size = 0;
        for (int j = 0; j < re->size; j++) {
            double A = re->dense[i + re->size * j], B = im->dense[i + re->size * j];
            r += A * x[j] - B * y[j];
            s += A * y[j] + B * x[j];
            size += (fabs(A) + fabs(B)) * (fabs(x[j]) + fabs(y[j]));
        }
        worst = fmax(worst, isfinite(r + s) ? fabs(r) + fabs(s) : INFINITY);
        scale = fmax(scale, size);
    }
    return worst / scale;
}

/* Twice, so that nothing is left behind by the first solution. */
static void solve_pair(problem *re, problem *im, uint64_t *state, double tolerance)
{
    open_problem(re, state);
    open_problem(im, state);
    for (int pass = 0; pass < 2; pass++) {
        size_t bytes = (size_t)re->size * sizeof(double);
        double *b = random_array(state, re->size), *c = random_array(state, re->size);
        double *x = malloc(bytes + 1), *y = malloc(bytes + 1);
        memcpy(x, b, bytes), memcpy(y, c, bytes);
        assemble(re);
        assemble(im);
        CHECK(lg_complex_factor(&re->matrix, &im->matrix) == LG_OK);
        CHECK(lg_complex_solve(&re->matrix, &im->matrix, x, y) == LG_OK);
        CHECK_CLOSE(complex_residual(re, im, x, y, b, c), 0, tolerance);
        free(b), free(c), free(x), free(y);
    }
    close_problem(re);
    close_problem(im);
}

static void test_shapes(void)
{
    uint64_t state = 1;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        problem re = {0}, im = {0};
        shapes[i](&re);
        shapes[i](&im);
        solve_pair(&re, &im, &state, 1e-13);
    }
}

static void test_every_size(void)
{
    uint64_t state = 77;
    for (int nv = 1; nv <= 14; nv++)
        for (int rows = 1; rows <= nv && rows <= 10; rows++) {
            problem pair[2] = {{0}};
            for (int part = 0; part < 2; part++) {
                add_clique(&pair[part], BLOCKS(add_block(&pair[part], nv, 0), add_block(&pair[part], 3, 0)));
                add_group(&pair[part], rows, BLOCKS(0, 1));
            }
            solve_pair(&pair[0], &pair[1], &state, 1e-13);
        }
}

static void test_random_systems(void)
{
    uint64_t state = 20240229;
    for (int i = 0; i < 100; i++) {
        problem re = {0}, im = {0};
        uint64_t same = state;
        random_shape(&re, &state);
        random_shape(&im, &same);
        solve_pair(&re, &im, &state, 1e-11);
    }
}

/* A matrix of which neither part has an inverse may have one; without either there is none. */
static void test_singular_parts(void)
{
    problem re = {0}, im = {0};
    uint64_t state = 5;
    add_clique(&re, BLOCKS(add_block(&re, 2, 0)));
    add_clique(&im, BLOCKS(add_block(&im, 2, 0)));
    open_problem(&re, &state);
    open_problem(&im, &state);
    memset(re.S[0], 0, SLOT * sizeof(double));
    memset(im.S[0], 0, SLOT * sizeof(double));
    assemble(&re);
    assemble(&im);
    CHECK(lg_complex_factor(&re.matrix, &im.matrix) == LG_SINGULAR);

    re.S[0][0] = 2, im.S[0][1 + WIDE] = 4;
    assemble(&re);
    assemble(&im);
    double x[] = {6, 0}, y[] = {0, 8};
    CHECK(lg_complex_factor(&re.matrix, &im.matrix) == LG_OK);
    CHECK(lg_complex_solve(&re.matrix, &im.matrix, x, y) == LG_OK);
    CHECK(x[0] == 3 && y[0] == 0 && x[1] == 2 && y[1] == 0);
    close_problem(&re);
    close_problem(&im);
}

int main(void)
{
    RUN(test_shapes);
    RUN(test_every_size);
    RUN(test_random_systems);
    RUN(test_singular_parts);
    return check_result();
}
