/* Accelerations under given multipliers of joints; see unjoined.h. */
#include "solve/unjoined.h"

#include "core/small.h"

#include <stdlib.h>

lg_status lg_unjoined_open(lg_unjoined *unjoined, const lg_system *system)
{
    lg_pattern pattern = *system->pattern;
    int *own_row = malloc(((size_t)pattern.nblocks + 1) * sizeof *own_row);
    if (!own_row)
        return LG_NO_MEMORY;
    unjoined->nown = 0;
    for (int i = 0; i < pattern.nblocks; i++) {
        own_row[i] = unjoined->nown;
        unjoined->nown += pattern.nown[i];
    }
    pattern.own_row = own_row;
    pattern.ngroups = pattern.nmasked = 0;
    pattern.nrows = unjoined->nown;
    lg_status status = lg_plan_create(&pattern, LG_COUPLING_MASS, &unjoined->plan);
    free(own_row);
    return status;
}

void lg_unjoined_layout(lg_unjoined *unjoined, const lg_system *system, lg_arena *arena)
{
    size_t nv = (size_t)system->space->nv;
    lg_matrix_layout(&unjoined->matrix, unjoined->plan, arena);
    unjoined->matrix.no_dense = 1;
    unjoined->x = lg_arena_doubles(arena, nv + (size_t)unjoined->nown);
    unjoined->Btlam = lg_arena_doubles(arena, nv);
}

void lg_unjoined_close(lg_unjoined *unjoined)
{
    lg_plan_free(unjoined->plan);
    unjoined->plan = NULL;
}

/* Assembles the right-hand side, the own rows and, unless it is kept, the mass. */
static lg_status assemble_unjoined(lg_unjoined *unjoined, lg_accel *accel, const lg_point *point, lg_report *report)
{
    int nv = accel->system->space->nv, nown = unjoined->nown, first = accel->system->pattern->nrows - nown;
    double *x = unjoined->x;
    lg_wanted wanted = {.force = x, .gyro = accel->gyro, .Btlam = unjoined->Btlam};
    wanted.tangent = &(lg_tangent){.S = &unjoined->matrix};
    wanted.ntangents = !unjoined->matrix.keeps;
    wanted.zeta = nown ? accel->rows : NULL;
    wanted.B = nown ? accel->B : NULL;
    if (wanted.ntangents)
        lg_matrix_zero(&unjoined->matrix);
    LG_TRY(lg_accel_eval(accel, point, &wanted, report));

    for (int i = 0; i < nv; i++)
        x[i] -= accel->gyro[i] + unjoined->Btlam[i];
    if (nown) {
        lg_copy(nown, accel->rows + first, x + nv);
        lg_matrix_put_columns(&unjoined->matrix, accel->B);
        lg_matrix_put_rows(&unjoined->matrix, accel->B);
    }
    return lg_all_finite(nv + nown, x) ? LG_OK : lg_accel_not_finite(accel, point, x, report);
}

static lg_status factor_unjoined(lg_unjoined *unjoined, const lg_accel *accel)
{
    unjoined->matrix.poll = accel->matrix.poll;
    return unjoined->matrix.keeps && !unjoined->nown ? LG_OK : lg_factor_mass(accel->system, &unjoined->matrix);
}

lg_status lg_unjoined_solve(lg_unjoined *unjoined, lg_accel *accel, const lg_point *point, double *a, double *lam,
                            lg_report *report)
{
    int nv = accel->system->space->nv, nown = unjoined->nown, first = accel->system->pattern->nrows - nown;
    lg_point at = *point;
    at.lam = lam;
    lg_zero(nown, lam + first);
    LG_TRY(assemble_unjoined(unjoined, accel, &at, report));

    lg_status status = factor_unjoined(unjoined, accel);
    if (status == LG_SINGULAR) {
        LG_TRY(lg_accel_solve(accel, point, a, accel->rows, report));
        lg_copy(nown, accel->rows + first, lam + first);
        return LG_OK;
    }
    LG_TRY(status);
    LG_TRY(lg_matrix_solve(&unjoined->matrix, unjoined->x));
    lg_copy(nv, unjoined->x, a);
    lg_copy(nown, unjoined->x + nv, lam + first);
    return LG_OK;
}
