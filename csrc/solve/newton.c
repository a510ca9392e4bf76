/* Newton's method; see newton.h. */
#include "solve/newton.h"

#include <math.h>

/* ---- norms ---- */

static lg_norms norms_of(const lg_newton_problem *problem, const double *r)
{
    lg_norms norms = {0};
    for (int i = 0; i < problem->nforce; i++)
        norms.force += r[i] * r[i];
    norms.force = sqrt(norms.force / problem->nforce);

    const double *rows = r + problem->nforce;
    for (int set = 0; set < problem->sets; set++, rows += problem->nrows)
        for (int i = 0; i < problem->nrows; i++)
            if (fabs(rows[i]) > norms.rows[set] || isnan(rows[i]))
                norms.rows[set] = fabs(rows[i]);
    return norms;
}

static lg_norms larger_norms(lg_norms a, lg_norms b)
{
    return (lg_norms){fmax(a.force, b.force), {fmax(a.rows[0], b.rows[0]), fmax(a.rows[1], b.rows[1])}};
}

static int finite_norms(lg_norms a)
{
    return isfinite(a.force) && isfinite(a.rows[0]) && isfinite(a.rows[1]);
}

/* How many times too large the residual is: 1 or less is converged. `set`: of which constraint rows, -1: the force rows. */
static double excess(const lg_newton_settings *settings, lg_norms now, lg_norms first, lg_norms noise, int *set)
{
    double worst = now.force > 0 ? now.force / fmax(settings->rtol * first.force + settings->atol, noise.force) : 0;
    *set = -1;
    for (int i = 0; i < LG_ROW_SETS; i++) {
        double error = now.rows[i] > 0 ? now.rows[i] / fmax(settings->rtol * first.rows[i], noise.rows[i]) : 0;
        if (error > worst) {
            worst = error;
            *set = i;
        }
    }
    return worst;
}

/* The first row that is not finite, else the largest of a set. */
static int worst_row(const lg_newton_problem *problem, const double *r, int set)
{
    int begin = set < 0 ? 0 : problem->nforce + set * problem->nrows;
    int end = set < 0 ? problem->nforce : begin + problem->nrows, worst = begin;
    for (int i = 0; i < problem->nforce + problem->sets * problem->nrows; i++)
        if (!isfinite(r[i]))
            return i;
    for (int i = begin; i < end; i++)
        if (fabs(r[i]) > fabs(r[worst]))
            worst = i;
    return worst;
}

/* The constraint rows of a correction that changed nothing. */
static int near_noise(lg_norms now, lg_norms noise)
{
    return now.rows[0] <= 1e3 * noise.rows[0] && now.rows[1] <= 1e3 * noise.rows[1];
}

/* ---- when to renew the matrix ---- */

static const double contractivity = 0.5;
enum { MOST_REUSES = 8 };

typedef struct matrix_use {
    int full; /* a new matrix in each iteration */
    int factored; /* there is one */
    int age; /* iterations of this step with it */
    int renewed; /* in this step */
    double error; /* before the last iteration */
} matrix_use;

static int needs_new(matrix_use *use, double error)
{
    int tired = use->age > 0 && (error > contractivity * use->error || use->age >= MOST_REUSES);
    if (tired && use->renewed)
        use->full = 1;

    int renew = use->full || !use->factored || tired;
    use->renewed |= renew;
    use->factored |= renew;
    use->age = renew ? 1 : use->age + 1;
    use->error = error;
    return renew;
}

/* ---- the method ---- */

lg_status lg_newton(const lg_newton_problem *problem, const lg_newton_settings *settings, double *residual,
                    lg_newton_result *result)
{
    lg_norms first = {0}, noise = {0}, size = {0};
    matrix_use use = {.full = !settings->modified, .factored = result->factored};
    int likely = settings->modified ? 0 : result->iterations, still = 0, set = -1;
    result->worst = -1;

    for (int iteration = 0;; iteration++) {
        int with_matrix = iteration < likely;
        result->iterations = iteration;
        LG_TRY(problem->evaluate(problem->self, with_matrix, residual, &noise, &size));

        // Test.
        lg_norms now = norms_of(problem, residual);
        result->residual = now.force;
        if (!finite_norms(now)) {
            result->worst = worst_row(problem, residual, set);
            return LG_NOT_FINITE;
        }
        if (iteration == 0)
            first = settings->good_guess ? larger_norms(now, size) : now;
        double error = excess(settings, now, first, noise, &set);
        int stuck = still && use.full && error > contractivity * use.error;
        if (error <= 1 || (stuck && near_noise(now, noise)))
            return LG_OK;
        if (iteration >= settings->max_iter) {
            result->worst = worst_row(problem, residual, set);
            return LG_NO_CONVERGENCE;
        }

        // Solve.
        if (needs_new(&use, error)) {
            result->factored = 0;
            LG_TRY(problem->factor(problem->self, with_matrix));
            result->factored = 1;
        }
        LG_TRY(problem->solve(problem->self, residual));
        still = problem->update(problem->self, residual);
    }
}
