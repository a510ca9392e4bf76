/* Index-1 accelerations; see accel.h. */
#include "solve/accel.h"

#include "core/small.h"
#include "solve/cause.h"

lg_mass lg_accel_mass(const lg_system *system)
{
    if (!(system->flags & LG_SYSTEM_CONSTANT_MASS))
        return LG_MASS_VARIES;
    return system->flags & LG_SYSTEM_REGULAR_MASS ? LG_MASS_REGULAR : LG_MASS_CONSTANT;
}

static void layout_solver(lg_accel *accel, lg_arena *arena)
{
    lg_mass mass = lg_accel_mass(accel->system);
    if (lg_plan_is_of_masses(accel->plan) && lg_articulated_suits(accel->system, accel->plan))
        lg_articulated_layout(&accel->articulated, accel->system, arena);
    else
        lg_kkt_layout(&accel->kkt, &accel->matrix, accel->plan, accel->guest, mass, arena);
}

void lg_accel_layout(void *self, lg_arena *arena)
{
    lg_accel *accel = self;
    const lg_pattern *pattern = accel->system->pattern;
    size_t nv = (size_t)accel->system->space->nv, nrows = (size_t)pattern->nrows;

    layout_solver(accel, arena);
    accel->x = lg_arena_doubles(arena, nv + nrows);
    accel->gyro = lg_arena_doubles(arena, nv);
    accel->rows = lg_arena_doubles(arena, 2 * nrows);
    accel->B = lg_arena_doubles(arena, (size_t)pattern->nvalues);
    accel->work = lg_arena_doubles(arena, (size_t)accel->system->nwork);
    accel->given = 0;
    accel->right_side = (lg_wanted){.gyro = accel->gyro, .zeta = nrows && accel->x ? accel->x + nv : NULL};
}

void lg_accel_close(lg_accel *accel)
{
    lg_matrix_close(&accel->matrix);
}

double *lg_accel_between(lg_accel *accel, size_t count, lg_arena *arena)
{
    size_t first = accel->given;
    if (first + count > (size_t)accel->system->nwork)
        return lg_arena_doubles(arena, count);
    accel->given += count;
    return accel->work ? accel->work + first : NULL;
}

lg_status lg_name_deficient(const lg_system *system, const lg_matrix *matrix, lg_status status, lg_report *report)
{
    int row = matrix->deficient_row;
    if (status != LG_SINGULAR)
        return status;
    lg_report_row(system, "", row >= 0 ? system->space->nv + row : -1 - row, report);
    if (matrix->no_dense)
        lg_report_advise(
            report,
            "look for redundant joints or a singular configuration; bodies without mass need dense factors, "
            "for which %d unknowns are too many (8000 at most)",
            matrix->plan->size);
    return status;
}

lg_status lg_factor_named(const lg_system *system, lg_matrix *matrix, lg_report *report)
{
    return lg_name_deficient(system, matrix, lg_matrix_factor(matrix), report);
}

/* Row `row` of the equations at a point is not finite (-1: it is not known which). */
static void report_not_finite(const lg_accel *accel, const lg_point *point, int row, lg_report *report)
{
    lg_point at = *point;
    at.a = NULL;
    at.work = accel->work;
    lg_report_not_finite(accel->system, &at, row, report);
}

lg_status lg_accel_eval(lg_accel *accel, const lg_point *point, const lg_wanted *wanted, lg_report *report)
{
    const lg_system *system = accel->system;
    lg_point with_work;
    accel->evaluations++;
    if (!point->work) {
        with_work = *point;
        with_work.work = accel->work;
    }
    lg_status status = system->eval(system->self, point->work ? point : &with_work, wanted);
    if (status == LG_NOT_FINITE)
        report_not_finite(accel, point, -1, report);
    return status;
}

/* Names what is deficient, or not finite, where a factorisation at a point has failed. */
static lg_status name_failure(const lg_accel *accel, const lg_point *point, lg_status status, lg_report *report)
{
    if (status == LG_NOT_FINITE)
        report_not_finite(accel, point, -1, report);
    return lg_name_deficient(accel->system, &accel->matrix, status, report);
}

static lg_status factor_articulated(lg_accel *accel, const lg_point *point, const lg_wanted *also, lg_report *report)
{
    lg_point at = *point;
    if (!at.work)
        at.work = accel->work;
    LG_TRY(lg_accel_eval(accel, &at, also, report));
    lg_status status = lg_articulated_factor_mass(&accel->articulated, &at, &accel->matrix.deficient_row);
    return name_failure(accel, point, status, report);
}

lg_status lg_accel_assemble(lg_accel *accel, const lg_point *point, const lg_wanted *also, lg_report *report)
{
    if (accel->articulated.system)
        return factor_articulated(accel, point, also, report);
    lg_matrix *masses = lg_kkt_masses(&accel->kkt);
    lg_wanted wanted = *also;
    wanted.tangent = &(lg_tangent){.S = masses};
    wanted.ntangents = masses != NULL;
    return lg_accel_eval(accel, point, &wanted, report);
}

lg_status lg_accel_border(lg_accel *accel, const lg_point *point, const double *columns, const double *rows,
                          lg_report *report)
{
    lg_articulated *articulated = &accel->articulated;
    lg_status status = articulated->system
                           ? lg_articulated_border(articulated, columns, rows, &accel->matrix.deficient_row)
                           : lg_kkt_factor(&accel->kkt, columns, rows);
    accel->matrix.factorisations += articulated->system != NULL;
    return name_failure(accel, point, status, report);
}

lg_status lg_accel_solve_linear(lg_accel *accel, double *x)
{
    if (!accel->articulated.system)
        return lg_kkt_solve(&accel->kkt, x);
    lg_articulated_solve(&accel->articulated, x);
    return LG_OK;
}

/* The values of B, if there are any. */
static double *values_of_B(const lg_accel *accel)
{
    return accel->system->pattern->nrows ? accel->B : NULL;
}

static lg_status assemble_with_B(lg_accel *accel, const lg_point *point, const lg_wanted *also, lg_report *report)
{
    lg_wanted wanted = *also;
    wanted.B = values_of_B(accel);
    return lg_accel_assemble(accel, point, &wanted, report);
}

lg_status lg_accel_factor(lg_accel *accel, const lg_point *point, const lg_wanted *also, lg_report *report)
{
    const double *B = values_of_B(accel);
    LG_TRY(assemble_with_B(accel, point, also, report));
    return lg_accel_border(accel, point, B, B, report);
}

int lg_accel_subtract_gyro(const lg_accel *accel, double *restrict force)
{
    const double *restrict gyro = accel->gyro;
    int nv = accel->system->space->nv, i = 0;
    double zero[4] = {0}; // four sums, so that no addition waits for the one before it
    for (; i + 4 <= nv; i += 4)
        for (int j = 0; j < 4; j++) {
            force[i + j] -= gyro[i + j];
            zero[j] += 0 * force[i + j];
        }
    for (; i < nv; i++) {
        force[i] -= gyro[i];
        zero[0] += 0 * force[i];
    }
    return zero[0] + zero[1] + zero[2] + zero[3] == 0;
}

/* x -= gyro; returns whether the whole right-hand side is finite. */
static int set_right_side(const lg_accel *accel, double *x)
{
    int nv = accel->system->space->nv, nrows = accel->system->pattern->nrows;
    return lg_accel_subtract_gyro(accel, x) && (!nrows || lg_all_finite(nrows, x + nv));
}

lg_status lg_accel_not_finite(const lg_accel *accel, const lg_point *point, const double *x, lg_report *report)
{
    int i = 0;
    while (isfinite(x[i]))
        i++;
    report_not_finite(accel, point, i, report);
    return LG_NOT_FINITE;
}

static inline void take_solution(const lg_accel *accel, const double *x, double *a, double *lam)
{
    int nv = accel->system->space->nv, nrows = accel->system->pattern->nrows;
    if (!nrows)
        return;
    lg_copy(nv, x, a);
    lg_copy(nrows, x + nv, lam);
}

/* Accelerations from the right-hand side in x, gyro apart. */
static inline lg_status solve_evaluated(lg_accel *accel, const lg_point *point, double *x, double *a, double *lam,
                                        lg_report *report)
{
    if (!set_right_side(accel, x))
        return lg_accel_not_finite(accel, point, x, report);
    LG_TRY(lg_accel_solve_linear(accel, x));
    take_solution(accel, x, a, lam);
    return LG_OK;
}

lg_status lg_accel_solve_evaluated(lg_accel *accel, const lg_point *point, double *a, double *lam, lg_report *report)
{
    return solve_evaluated(accel, point, accel->x, a, lam, report);
}

/* The same where the matrix has been assembled as well: it is factored on the way. *solved: 0 if the right-hand side is
   lost, and remains to be evaluated and solved for. */
static lg_status factor_evaluated(lg_accel *accel, const lg_point *point, double *x, int *solved, lg_report *report)
{
    const double *B = values_of_B(accel);
    if (!set_right_side(accel, x)) {
        LG_TRY(lg_accel_border(accel, point, B, B, report));
        return lg_accel_not_finite(accel, point, x, report);
    }
    if (!accel->articulated.system)
        return name_failure(accel, point, lg_kkt_factor_solve(&accel->kkt, B, x, solved), report);
    LG_TRY(lg_accel_border(accel, point, B, B, report));
    *solved = 1;
    return lg_accel_solve_linear(accel, x);
}

/* Accelerations with the factored matrix or, unless it is factored, the one at the point. */
static LG_APART lg_status accel_solve(lg_accel *accel, const lg_point *point, int factored, double *a, double *lam,
                                      lg_report *report)
{
    double *x = accel->system->pattern->nrows ? accel->x : a; /* without constraints the solution is a itself */
    accel->right_side.force = x;
    if (!factored) {
        LG_TRY(assemble_with_B(accel, point, &accel->right_side, report));
        LG_TRY(factor_evaluated(accel, point, x, &factored, report));
        if (factored) {
            take_solution(accel, x, a, lam);
            return LG_OK;
        }
    }
    LG_TRY(lg_accel_eval(accel, point, &accel->right_side, report));
    return solve_evaluated(accel, point, x, a, lam, report);
}

lg_status lg_accel_refuse(const lg_accel *accel, const lg_point *point, const double *a, lg_status status,
                          lg_report *report)
{
    if (status == LG_OK)
        return lg_accel_not_finite(accel, point, a, report);
    if (status == LG_NOT_FINITE)
        report_not_finite(accel, point, -1, report);
    return status;
}

lg_status lg_accel_solve_by_matrix(lg_accel *accel, const lg_point *point, double *a, double *lam, lg_report *report)
{
    return accel_solve(accel, point, accel->matrix.keeps && !accel->system->pattern->nrows, a, lam, report);
}

lg_status lg_accel_solve(lg_accel *accel, const lg_point *point, double *a, double *lam, lg_report *report)
{
    if (accel->system->accelerate) {
        lg_point with_work = *point;
        if (!point->work)
            with_work.work = accel->work;
        lg_status status = lg_accel_ask(accel, &with_work, a, report);
        if (status != LG_SINGULAR)
            return status;
    }
    return lg_accel_solve_by_matrix(accel, point, a, lam, report);
}

lg_status lg_accel_solve_factored(lg_accel *accel, const lg_point *point, double *a, double *lam, lg_report *report)
{
    return accel_solve(accel, point, 1, a, lam, report);
}
