/* Projection onto the constraints in the mass metric. */
#include "solve/initial.h"

#include "core/small.h"

#include <float.h>
#include <math.h>

enum { MAX_ITERATIONS = 50 };

/* Evaluates phi or phidot (whichever pointer is given, into accel->rows) with the factored matrix at (q, v). */
static lg_status factor_at(lg_accel *accel, const lg_point *point, int position, lg_report *report)
{
    double *rows = accel->rows;
    lg_wanted wanted = position ? (lg_wanted){.phi = rows} : (lg_wanted){.phidot = rows};
    return lg_accel_factor(accel, point, &wanted, report);
}

/* The shortest change of the velocities, in the mass metric, that takes the residual in accel->rows away: first nv
   values of accel->x. */
static lg_status shortest_change(lg_accel *accel)
{
    int nv = accel->system->space->nv, nrows = accel->system->pattern->nrows;
    lg_zero(nv, accel->x);
    for (int i = 0; i < nrows; i++)
        accel->x[nv + i] = -accel->rows[i];
    return lg_matrix_solve(&accel->matrix, accel->x);
}

/* Newton on phi down to round-off; a residual that no longer falls is accepted within the bound of a consistent start. */
static lg_status project_position(lg_accel *accel, const lg_point *point, double *q, lg_report *report)
{
    const lg_space *space = accel->system->space;
    int nrows = accel->system->pattern->nrows;
    double last = INFINITY;

    for (int iteration = 0; iteration < MAX_ITERATIONS; iteration++) {
        LG_TRY(factor_at(accel, point, 1, report));
        double residual = lg_max_abs(nrows, accel->rows), size = 1 + lg_max_abs(space->nq, q);
        report->iteration = iteration;
        report->residual = residual;
        if (!isfinite(residual))
            return LG_NOT_FINITE;
        if (residual <= 4 * DBL_EPSILON * size || (residual >= last && residual <= 1e-12 * size))
            return LG_OK;

        last = residual;
        LG_TRY(shortest_change(accel));
        lg_space_retract(space, q, accel->x, q);
    }
    return LG_NO_CONVERGENCE;
}

/* phidot is linear in v: one solve. */
static lg_status project_velocity(lg_accel *accel, const lg_point *point, double *v, lg_report *report)
{
    LG_TRY(factor_at(accel, point, 0, report));
    LG_TRY(shortest_change(accel));
    lg_axpy(accel->system->space->nv, 1.0, accel->x, v);
    return LG_OK;
}

lg_status lg_project_at(lg_accel *accel, int levels, const lg_point *point, double *q, double *v, lg_report *report)
{
    if (!accel->system->pattern->nrows)
        return LG_OK;

    if (levels & LG_PROJECT_POSITION)
        LG_TRY(project_position(accel, point, q, report));
    if (levels & LG_PROJECT_VELOCITY)
        LG_TRY(project_velocity(accel, point, v, report));
    return LG_OK;
}

lg_status lg_project(lg_accel *accel, int levels, double t, double *q, double *v, const double *mem, lg_report *report)
{
    lg_point point = lg_point_after(t, q, v, mem);
    return lg_project_at(accel, levels, &point, q, v, report);
}
