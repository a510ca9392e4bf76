/* Consistent starts; see initial.h. */
#include "solve/initial.h"

#include "core/small.h"
#include "solve/project.h"

#include <math.h>

/* Checks the row with the largest residual against a bound. */
static lg_status check_rows(const lg_system *system, const double *rows, double bound, const char *level,
                            lg_report *report)
{
    int worst = 0;
    for (int i = 1; i < system->pattern->nrows; i++)
        if (fabs(rows[i]) > fabs(rows[worst]) || isnan(rows[i]))
            worst = i;
    if (fabs(rows[worst]) <= bound)
        return LG_OK;

    report->residual = fabs(rows[worst]);
    const char *name = system->row_name(system->self, worst);
    lg_report_say(report, "%.*s (%s level)", (int)lg_text_cut(name, LG_WHAT_SIZE / 2), name, level);
    return LG_INCONSISTENT;
}

lg_status lg_consistent(lg_accel *accel, const lg_point *point, lg_report *report)
{
    const lg_system *system = accel->system;
    int nrows = system->pattern->nrows;
    if (!nrows)
        return LG_OK;

    double *phi = accel->rows, *phidot = accel->rows + nrows;
    LG_TRY(lg_residual(accel, point, accel->rows));
    double q = lg_max_abs(system->space->nq, point->q), v = lg_max_abs(system->space->nv, point->v);
    LG_TRY(check_rows(system, phi, LG_CONSISTENT * (1 + q), "position", report));
    return check_rows(system, phidot, LG_CONSISTENT * (1 + v), "velocity", report);
}

lg_status lg_start_accelerations(lg_accel *accel, const lg_point *point, double *a, double *lam, lg_report *report)
{
    lg_status status = lg_accel_solve(accel, point, a, lam, report);
    return status == LG_NOT_FINITE ? LG_UNDEFINED : status;
}
