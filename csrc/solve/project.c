/* Projection onto the constraints in the mass metric. */
#include "solve/project.h"

#include "core/small.h"

#include <float.h>
#include <math.h>

enum { MAX_ITERATIONS = 50 };

/* phi and phidot, into accel->rows, and the factored matrix at a point; `position`: without nonholonomic rows. */
static lg_status factor_at(lg_accel *accel, const lg_point *point, int position, lg_report *report)
{
    const lg_pattern *pattern = accel->system->pattern;
    lg_wanted wanted = {.phi = accel->rows, .phidot = accel->rows + pattern->nrows, .B = accel->B};
    LG_TRY(lg_accel_assemble(accel, point, &wanted, report));
    if (position)
        lg_pattern_mask_nonholonomic(pattern, 1, accel->B);
    return lg_accel_border(accel, point, accel->B, accel->B, report);
}

lg_status lg_residual(lg_accel *accel, const lg_point *point, double *residual)
{
    const lg_system *system = accel->system;
    lg_point at = *point;
    at.work = accel->work;
    accel->evaluations++;
    return system->eval(system->self, &at, &(lg_wanted){.phi = residual, .phidot = residual + system->pattern->nrows});
}

lg_status lg_shortest_change(lg_accel *accel, const double *residual)
{
    int nv = accel->system->space->nv, nrows = accel->system->pattern->nrows;
    lg_zero(nv, accel->x);
    for (int i = 0; i < nrows; i++)
        accel->x[nv + i] = -residual[i];
    return lg_accel_solve_linear(accel, accel->x);
}

/* Newton's method on phi down to round-off. The matrix is factored at the first point on entry and at the last one on
   return; a residual that no longer falls is accepted within the bound of a consistent start. */
static lg_status project_position(lg_accel *accel, const lg_point *point, double *q, lg_report *report)
{
    const lg_space *space = accel->system->space;
    int nrows = accel->system->pattern->nrows;
    double last = INFINITY;

    for (int iteration = 0; iteration < MAX_ITERATIONS; iteration++) {
        double residual = lg_max_abs(nrows, accel->rows), size = 1 + lg_max_abs(space->nq, q);
        report->iteration = iteration;
        report->residual = residual;
        if (!isfinite(residual))
            return LG_NOT_FINITE;
        if (residual <= 4 * DBL_EPSILON * size || (residual >= last && residual <= 1e-12 * size))
            return LG_OK;

        last = residual;
        LG_TRY(lg_shortest_change(accel, accel->rows));
        lg_space_retract(space, q, accel->x, q);
        LG_TRY(factor_at(accel, point, 1, report));
    }
    return LG_NO_CONVERGENCE;
}

/* phidot is linear in v: one solve at a point that has been factored. */
static lg_status project_velocity(lg_accel *accel, double *v)
{
    LG_TRY(lg_shortest_change(accel, accel->rows + accel->system->pattern->nrows));
    lg_axpy(accel->system->space->nv, 1.0, accel->x, v);
    return LG_OK;
}

lg_status lg_project_at(lg_accel *accel, int levels, const lg_point *point, double *q, double *v, double *residual,
                        lg_report *report)
{
    const lg_pattern *pattern = accel->system->pattern;
    int position = levels & LG_PROJECT_POSITION;
    if (!pattern->nrows)
        return LG_OK;

    LG_TRY(factor_at(accel, point, position, report));
    if (residual)
        lg_copy(2 * pattern->nrows, accel->rows, residual);
    if (position)
        LG_TRY(project_position(accel, point, q, report));
    if (position && pattern->nnonholonomic)
        LG_TRY(factor_at(accel, point, 0, report));
    return levels & LG_PROJECT_VELOCITY ? project_velocity(accel, v) : LG_OK;
}

lg_status lg_project(lg_accel *accel, int levels, double t, double *q, double *v, const double *mem, lg_report *report)
{
    lg_point point = lg_point_after(t, q, v, mem);
    return lg_project_at(accel, levels, &point, q, v, NULL, report);
}
