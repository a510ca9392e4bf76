/* Newton's method; see newton.h. */
#include "solve/newton.h"

#include <math.h>

static lg_norms norms_of(const lg_newton_problem *problem, const double *r)
{
    lg_norms norms = {0, 0};
    for (int i = 0; i < problem->nforce; i++)
        norms.force += r[i] * r[i];
    norms.force = sqrt(norms.force / problem->nforce);

    const double *rows = r + problem->nforce;
    for (int i = 0; i < problem->nrows; i++)
        if (fabs(rows[i]) > norms.rows || isnan(rows[i]))
            norms.rows = fabs(rows[i]);
    return norms;
}

static int converged(const lg_newton_settings *settings, lg_norms now, lg_norms first, lg_norms noise, int still)
{
    double force = fmax(settings->rtol * first.force + settings->atol, noise.force);
    double rows = fmax(settings->rtol * first.rows, noise.rows);
    return (now.force <= force && now.rows <= rows) || (still && now.rows <= 1e3 * noise.rows);
}

lg_status lg_newton(const lg_newton_problem *problem, const lg_newton_settings *settings, double *residual,
                    lg_newton_result *result)
{
    lg_norms first = {0, 0}, noise;
    int likely = result->iterations, still = 0;

    for (int iteration = 0;; iteration++) {
        int with_matrix = iteration < likely;
        result->iterations = iteration;
        LG_TRY(problem->evaluate(problem->self, with_matrix, residual, &noise));

        // Test.
        lg_norms now = norms_of(problem, residual);
        result->residual = now.force;
        if (!isfinite(now.force) || !isfinite(now.rows))
            return LG_NOT_FINITE;
        if (iteration == 0)
            first = now;
        if (converged(settings, now, first, noise, still))
            return LG_OK;
        if (iteration >= settings->max_iter)
            return LG_NO_CONVERGENCE;

        // Solve.
        LG_TRY(problem->factor(problem->self, with_matrix));
        LG_TRY(lg_matrix_solve(problem->matrix, residual));
        still = problem->update(problem->self, residual);
    }
}
