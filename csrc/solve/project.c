/* Projection onto the constraints in the mass metric. */
#include "solve/project.h"

#include "core/small.h"
#include "solve/follow.h"

#include <float.h>
#include <math.h>

enum { MAX_ITERATIONS = 50 };

/* phi and phidot, into accel->rows, and the factored matrix at a point, with what else is wanted there; `position`:
   without nonholonomic rows. */
static lg_status factor_at(lg_accel *accel, const lg_point *point, int position, lg_wanted wanted, lg_report *report)
{
    const lg_pattern *pattern = accel->system->pattern;
    wanted.phi = accel->rows, wanted.phidot = accel->rows + pattern->nrows, wanted.B = accel->B;
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

/* phidot is linear in v: one solve with the matrix at the point, or where q was before it has been `turned`. What is
   left of it is round-off. */
static lg_status project_velocity(lg_accel *accel, const lg_point *point, int turned, double *v)
{
    int nrows = accel->system->pattern->nrows;
    LG_TRY(lg_shortest_change(accel, accel->rows + nrows));
    if (accel->follower)
        LG_TRY(lg_follow_velocity(accel->follower, point, turned));
    lg_axpy(accel->system->space->nv, 1.0, accel->x, v);
    lg_zero(nrows, accel->rows + nrows);
    return LG_OK;
}

/* One step of Newton's method: q moves, and v, unless it is NULL, follows onto the constraints of velocity. */
static lg_status project_correct(lg_accel *accel, const lg_point *point, double *q, double *v)
{
    const lg_system *system = accel->system;
    double *phidot = accel->rows + system->pattern->nrows;
    LG_TRY(lg_shortest_change(accel, accel->rows));
    if (accel->follower)
        LG_TRY(lg_follow_position(accel->follower, point, v != NULL));
    if (v)
        lg_pattern_add_B(system->pattern, accel->Z, 1, accel->x, phidot);
    lg_space_retract(system->space, q, accel->x, q);
    return v ? project_velocity(accel, point, 1, v) : LG_OK;
}

/* Whether phi no longer falls because it is within the bound of a consistent start, or the round-off of its terms,
   which are large where factors of couplings are. */
static int is_stuck(const lg_accel *accel, double residual, double size)
{
    return residual <= 1e-12 * size ||
           lg_pattern_relative(accel->system->pattern, accel->B, accel->rows) <= 64 * DBL_EPSILON * size;
}

/* Newton's method on phi down to round-off. The matrix is factored at the first point on entry and at the last one on
   return, where `wanted` is evaluated; a residual that no longer falls is accepted: see is_stuck. */
static lg_status project_position(lg_accel *accel, const lg_point *point, lg_wanted wanted, double *q, double *v,
                                  lg_report *report)
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
        if (residual <= 4 * DBL_EPSILON * size || (residual >= last && is_stuck(accel, residual, size)))
            return LG_OK;

        last = residual;
        LG_TRY(project_correct(accel, point, q, v));
        LG_TRY(factor_at(accel, point, 1, wanted, report));
    }
    return LG_NO_CONVERGENCE;
}

lg_status lg_project_at(lg_accel *accel, int levels, const lg_point *point, double *q, double *v, double *residual,
                        lg_report *report)
{
    const lg_pattern *pattern = accel->system->pattern;
    int position = levels & LG_PROJECT_POSITION;
    if (!pattern->nrows)
        return LG_OK;

    LG_TRY(factor_at(accel, point, position, (lg_wanted){0}, report));
    if (residual)
        lg_copy(2 * pattern->nrows, accel->rows, residual);
    if (position)
        LG_TRY(project_position(accel, point, (lg_wanted){0}, q, NULL, report));
    if (position && pattern->nnonholonomic)
        LG_TRY(factor_at(accel, point, 0, (lg_wanted){0}, report));
    return levels & LG_PROJECT_VELOCITY ? project_velocity(accel, point, 0, v) : LG_OK;
}

lg_status lg_project_slopes(lg_accel *accel, const lg_point *point, const double *slopes, double *dq, double *dv,
                            lg_report *report)
{
    const lg_pattern *pattern = accel->system->pattern;
    int nv = accel->system->space->nv;
    double *phidot = accel->rows + pattern->nrows;
    lg_zero(nv, dq);
    lg_zero(nv, dv);
    if (!pattern->nrows)
        return LG_OK;

    LG_TRY(factor_at(accel, point, 1, (lg_wanted){.Z = accel->Z}, report));
    LG_TRY(lg_shortest_change(accel, slopes));
    lg_copy(nv, accel->x, dq);
    if (pattern->nnonholonomic)
        LG_TRY(factor_at(accel, point, 0, (lg_wanted){.Z = accel->Z}, report));
    lg_copy(pattern->nrows, slopes + pattern->nrows, phidot);
    lg_pattern_add_B(pattern, accel->Z, 1, dq, phidot);
    return project_velocity(accel, point, 0, dv);
}

enum { BOTH = LG_PROJECT_POSITION | LG_PROJECT_VELOCITY };

/* Whether one matrix serves both levels, and d(phidot)/dq takes no differences. */
static int can_move_both(const lg_system *system)
{
    return !system->pattern->nnonholonomic && !(system->flags & LG_SYSTEM_DIFFERENCED);
}

void lg_project_layout(lg_accel *accel, int levels, lg_arena *arena)
{
    if (levels == BOTH && can_move_both(accel->system))
        accel->Z = lg_arena_doubles(arena, (size_t)accel->system->pattern->nvalues);
}

/* q and v together, with what accelerations need at the q of the last correction. */
static lg_status project_both(lg_accel *accel, const lg_point *point, double *q, double *v, double *residual, double *a,
                              double *lam, lg_report *report)
{
    int nv = accel->system->space->nv, nrows = accel->system->pattern->nrows;
    lg_wanted forces = accel->right_side;
    forces.force = accel->x;
    LG_TRY(factor_at(accel, point, 0, (lg_wanted){.Z = accel->Z}, report));
    if (residual)
        lg_copy(2 * nrows, accel->rows, residual);
    LG_TRY(project_position(accel, point, forces, q, v, report));
    if (report->iteration > 0 && lg_max_abs(nrows, accel->rows + nrows) <= 16 * DBL_EPSILON * (1 + lg_max_abs(nv, v)))
        return lg_accel_solve_evaluated(accel, point, a, lam, report);
    LG_TRY(project_velocity(accel, point, 0, v));
    return lg_accel_solve_factored(accel, point, a, lam, report);
}

lg_status lg_project_end(lg_accel *accel, int levels, const lg_point *point, double *q, double *v, double *residual,
                         double *a, double *lam, lg_report *report)
{
    if (levels == BOTH && accel->Z && can_move_both(accel->system))
        return project_both(accel, point, q, v, residual, a, lam, report);
    LG_TRY(lg_project_at(accel, levels, point, q, v, residual, report));
    return lg_accel_solve_factored(accel, point, a, lam, report);
}

lg_status lg_project(lg_accel *accel, int levels, double t, double *q, double *v, const double *mem, lg_report *report)
{
    lg_point point = lg_point_after(t, q, v, mem);
    return lg_project_at(accel, levels, &point, q, v, NULL, report);
}
