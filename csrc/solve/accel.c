/* Index-1 accelerations; see accel.h. */
#include "solve/accel.h"

#include "core/small.h"
#include "solve/culprit.h"

/* Whether a Schur complement can take the place of the matrix, which nothing else may use then. */
static int reduces(const lg_accel *accel)
{
    return accel->system->flags & LG_SYSTEM_CONSTANT_MASS && !accel->guest;
}

static void layout_matrix(lg_accel *accel, lg_arena *arena)
{
    if (reduces(accel))
        lg_schur_layout(&accel->schur, accel->plan, arena);
    if (accel->schur.plan)
        accel->matrix = (lg_matrix){.plan = accel->plan};
    else
        lg_matrix_layout_host(&accel->matrix, accel->plan, accel->guest, arena);
}

void lg_accel_layout(void *self, lg_arena *arena)
{
    lg_accel *accel = self;
    const lg_pattern *pattern = accel->system->pattern;
    size_t nv = (size_t)accel->system->space->nv, nrows = (size_t)pattern->nrows;

    layout_matrix(accel, arena);
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
    lg_arena_close(&accel->whole);
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
    if (status == LG_SINGULAR)
        lg_report_row(system, "", row >= 0 ? system->space->nv + row : -1 - row, report);
    return status;
}

lg_status lg_factor_named(const lg_system *system, lg_matrix *matrix, lg_report *report)
{
    return lg_name_deficient(system, matrix, lg_matrix_factor(matrix), report);
}

lg_status lg_factor_mass(const lg_system *system, lg_matrix *matrix)
{
    if (matrix->keeps)
        return lg_matrix_refactor(matrix);
    LG_TRY(lg_matrix_factor(matrix));
    return system->flags & LG_SYSTEM_CONSTANT_MASS ? lg_matrix_keep(matrix) : LG_OK;
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

lg_status lg_accel_assemble(lg_accel *accel, const lg_point *point, const lg_wanted *also, lg_report *report)
{
    lg_matrix *masses = accel->schur.plan ? &accel->schur.masses : &accel->matrix;
    lg_wanted wanted = *also;
    wanted.tangent = &(lg_tangent){.S = masses};
    wanted.ntangents = !masses->keeps;
    if (wanted.ntangents)
        lg_matrix_zero(masses);
    return lg_accel_eval(accel, point, &wanted, report);
}

static lg_status border_matrix(lg_accel *accel, const double *columns, const double *rows)
{
    if (columns)
        lg_matrix_put_columns(&accel->matrix, columns);
    if (rows)
        lg_matrix_put_rows(&accel->matrix, rows);
    return lg_factor_mass(accel->system, &accel->matrix);
}

static void layout_whole(void *self, lg_arena *arena)
{
    lg_accel *accel = self;
    lg_matrix before = accel->matrix, *matrix = &accel->matrix;
    lg_matrix_layout(matrix, accel->plan, arena);
    matrix->factorisations = before.factorisations, matrix->refactorisations = before.refactorisations;
    matrix->watch = before.watch, matrix->weakest = before.weakest, matrix->poll = before.poll;
}

/* Factors the whole matrix where the Schur complement has failed. */
static LG_APART lg_status factor_whole(lg_accel *accel, const double *columns)
{
    lg_matrix *matrix = &accel->matrix;
    if (!accel->whole.memory)
        LG_TRY(lg_arena_open(&accel->whole, layout_whole, accel));
    if (!columns)
        lg_schur_columns(&accel->schur, accel->B);
    lg_matrix_zero(matrix);
    lg_schur_put_masses(&accel->schur, matrix);
    lg_matrix_put_columns(matrix, columns ? columns : accel->B);
    lg_matrix_put_rows(matrix, accel->schur.C);
    accel->is_whole = 1;
    return lg_matrix_factor(matrix);
}

static lg_status factor_schur(lg_accel *accel, const double *columns, const double *rows)
{
    lg_schur *schur = &accel->schur;
    lg_matrix *matrix = &accel->matrix, *groups = &schur->groups;
    int kept = schur->masses.keeps;
    lg_status status = kept ? LG_OK : lg_schur_keep(schur);
    if (columns)
        lg_schur_put_columns(schur, columns);
    if (rows)
        lg_schur_put_rows(schur, rows);
    groups->watch = matrix->watch, groups->weakest = matrix->weakest;
    groups->poll = schur->masses.poll = matrix->poll;
    accel->is_whole = 0;
    if (status == LG_OK)
        status = lg_schur_factor(schur, columns == rows);
    if (status == LG_SINGULAR)
        return factor_whole(accel, columns);
    matrix->weakest = groups->weakest;
    matrix->factorisations++;
    matrix->refactorisations += kept;
    return status;
}

lg_status lg_accel_border(lg_accel *accel, const lg_point *point, const double *columns, const double *rows,
                          lg_report *report)
{
    lg_status status = (accel->schur.plan ? factor_schur : border_matrix)(accel, columns, rows);
    if (status == LG_NOT_FINITE)
        report_not_finite(accel, point, -1, report);
    return lg_name_deficient(accel->system, &accel->matrix, status, report);
}

lg_status lg_accel_solve_linear(lg_accel *accel, double *x)
{
    accel->schur.groups.poll = accel->matrix.poll;
    if (accel->schur.plan && !accel->is_whole)
        return lg_schur_solve(&accel->schur, x);
    return lg_matrix_solve(&accel->matrix, x);
}

lg_status lg_accel_factor(lg_accel *accel, const lg_point *point, const lg_wanted *also, lg_report *report)
{
    lg_wanted wanted = *also;
    wanted.B = accel->system->pattern->nrows ? accel->B : NULL;
    LG_TRY(lg_accel_assemble(accel, point, &wanted, report));
    return lg_accel_border(accel, point, wanted.B, wanted.B, report);
}

/* x -= gyro; returns whether the whole right-hand side is finite. */
static int set_right_side(const lg_accel *accel, double *restrict x)
{
    int nv = accel->system->space->nv, nrows = accel->system->pattern->nrows;
    const double *restrict gyro = accel->gyro;
    double zero = 0;
    for (int i = 0; i < nv; i++) {
        x[i] -= gyro[i];
        zero += 0 * x[i];
    }
    return zero == 0 && (!nrows || lg_all_finite(nrows, x + nv));
}

lg_status lg_accel_not_finite(const lg_accel *accel, const lg_point *point, const double *x, lg_report *report)
{
    int i = 0;
    while (isfinite(x[i]))
        i++;
    report_not_finite(accel, point, i, report);
    return LG_NOT_FINITE;
}

/* Accelerations with the factored matrix or, unless it is factored, the one at the point. */
static LG_APART lg_status solve(lg_accel *accel, const lg_point *point, int factored, double *a, double *lam,
                                lg_report *report)
{
    int nv = accel->system->space->nv, nrows = accel->system->pattern->nrows;
    double *x = nrows ? accel->x : a; /* without constraints the solution is a itself */
    accel->right_side.force = x;
    LG_TRY((factored ? lg_accel_eval : lg_accel_factor)(accel, point, &accel->right_side, report));
    if (!set_right_side(accel, x))
        return lg_accel_not_finite(accel, point, x, report);
    LG_TRY(lg_accel_solve_linear(accel, x));
    if (nrows) {
        lg_copy(nv, x, a);
        lg_copy(nrows, x + nv, lam);
    }
    return LG_OK;
}

static LG_APART lg_status refuse(lg_accel *accel, const lg_point *point, const double *a, lg_status status,
                                 lg_report *report)
{
    if (status == LG_OK)
        return lg_accel_not_finite(accel, point, a, report);
    if (status == LG_NOT_FINITE)
        report_not_finite(accel, point, -1, report);
    return status;
}

/* Accelerations from a system that knows them itself. */
static inline lg_status ask(lg_accel *accel, const lg_point *point, double *a, lg_report *report)
{
    const lg_system *system = accel->system;
    accel->evaluations++;
    lg_status status = system->accelerate(system->self, point, a);
    if (status != LG_OK || !lg_all_finite(system->space->nv, a))
        return refuse(accel, point, a, status, report);
    return LG_OK;
}

static LG_APART lg_status ask_with_work(lg_accel *accel, const lg_point *point, double *a, lg_report *report)
{
    lg_point with_work = *point;
    with_work.work = accel->work;
    return ask(accel, &with_work, a, report);
}

lg_status lg_accel_solve(lg_accel *accel, const lg_point *point, double *a, double *lam, lg_report *report)
{
    if (accel->system->accelerate) {
        lg_status status = point->work ? ask(accel, point, a, report) : ask_with_work(accel, point, a, report);
        if (status != LG_SINGULAR)
            return status;
    }
    return solve(accel, point, accel->matrix.keeps && !accel->system->pattern->nrows, a, lam, report);
}

lg_status lg_accel_solve_factored(lg_accel *accel, const lg_point *point, double *a, double *lam, lg_report *report)
{
    return solve(accel, point, 1, a, lam, report);
}
