/* Newton's method on a problem whose residual does not fall: what it asks of the problem, in which order. */
#include "check.h"
#include "solve/newton.h"

enum { MOST = 4 };

typedef struct stuck {
    int assembled, measured; /* the matrix is; how often the noise has been measured */
    int taken[MOST], factors; /* per matrix, whether it was taken as it was assembled */
} stuck;

static lg_status evaluate(void *self, int with_matrix, double *residual, lg_residual_norms *norms)
{
    ((stuck *)self)->assembled = with_matrix;
    residual[0] = norms->now.force = norms->size.force = 1;
    norms->noise.force = 1e-15;
    return LG_OK;
}

static lg_status factor(void *self, int with_matrix, int keeps)
{
    (void)keeps;
    stuck *s = self;
    CHECK(!with_matrix || s->assembled);
    s->taken[s->factors++] = with_matrix;
    return LG_OK;
}

static lg_status solve(void *self, double *x)
{
    (void)self, (void)x;
    return LG_OK;
}

static void update(void *self, const double *correction)
{
    (void)self, (void)correction;
}

static int is_negligible(void *self, const double *correction)
{
    (void)self, (void)correction;
    return 1;
}

/* Takes the memory of the assembled matrix, as steppers do. */
static lg_status measure_noise(void *self, int of_rows, double *noise)
{
    stuck *s = self;
    (void)of_rows;
    s->assembled = 0, s->measured++;
    *noise = 1e-15;
    return LG_OK;
}

static void test_matrices_are_formed_again_after_the_noise_is_measured(void)
{
    stuck s = {0};
    double residual[1];
    lg_newton_memory memory = {.renewal.last_formed = MOST}; /* as in a step before, so that matrices are expected */
    lg_newton_result result = {0};
    const lg_newton_settings settings = {.rtol = 1e-10, .atol = 1e-10, .max_iter = MOST, .plain = 1};
    const lg_newton_problem problem = {.self = &s,
                                       .nforce = 1,
                                       .evaluate = evaluate,
                                       .factor = factor,
                                       .solve = solve,
                                       .update = update,
                                       .is_negligible = is_negligible,
                                       .measure_noise = measure_noise};
    CHECK(lg_newton(&problem, &settings, residual, &memory, &result) == LG_NO_CONVERGENCE);
    CHECK(s.factors == MOST && s.measured == MOST);
    for (int i = 0; i < MOST; i++)
        CHECK(s.taken[i] == (i == 0)); /* before the first correction there is no noise to compare with */
}

int main(void)
{
    RUN(test_matrices_are_formed_again_after_the_noise_is_measured);
    return check_result();
}
