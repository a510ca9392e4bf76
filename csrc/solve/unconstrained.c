/* Accelerations under given multipliers of joints; see unconstrained.h. */
#include "solve/unconstrained.h"

#include "core/small.h"

#include <stdlib.h>

lg_status lg_unconstrained_open(lg_unconstrained *unconstrained, const lg_system *system)
{
    lg_pattern pattern = *system->pattern;
    int *own_row = malloc(((size_t)pattern.nblocks + 1) * sizeof *own_row);
    if (!own_row)
        return LG_NO_MEMORY;
    unconstrained->nown = 0;
    for (int i = 0; i < pattern.nblocks; i++) {
        own_row[i] = unconstrained->nown;
        unconstrained->nown += pattern.nown[i];
    }
    pattern.own_row = own_row;
    pattern.ngroups = pattern.nmasked = pattern.nnonholonomic = 0;
    pattern.nrows = unconstrained->nown;
    lg_status status = lg_plan_create(&pattern, LG_COUPLING_MASS, &unconstrained->plan);
    free(own_row);
    return status;
}

void lg_unconstrained_layout(lg_unconstrained *unconstrained, const lg_accel *accel, lg_arena *arena)
{
    const lg_system *system = accel->system;
    size_t nv = (size_t)system->space->nv;
    if (!accel->articulated.system)
        lg_kkt_layout(&unconstrained->kkt, &unconstrained->matrix, unconstrained->plan, NULL, lg_accel_mass(system),
                      arena);
    unconstrained->matrix.no_fallback = 1;
    unconstrained->x = lg_arena_doubles(arena, nv + (size_t)unconstrained->nown);
    unconstrained->Btlam = lg_arena_doubles(arena, nv);
}

void lg_unconstrained_close(lg_unconstrained *unconstrained)
{
    lg_plan_free(unconstrained->plan);
    unconstrained->plan = NULL;
}

/* Assembles the right-hand side, the own rows and, unless it is kept, the mass. */
static lg_status assemble_unconstrained(lg_unconstrained *unconstrained, lg_accel *accel, const lg_point *point,
                                        lg_report *report)
{
    int nv = accel->system->space->nv, nown = unconstrained->nown, first = accel->system->pattern->nrows - nown;
    double *x = unconstrained->x;
    lg_wanted wanted = {.force = x, .gyro = accel->gyro, .Btlam = unconstrained->Btlam};
    int articulated = accel->articulated.system != NULL;
    lg_matrix *masses = articulated ? NULL : lg_kkt_masses(&unconstrained->kkt);
    wanted.tangent = &(lg_tangent){.S = masses};
    wanted.ntangents = masses != NULL;
    wanted.zeta = nown ? accel->rows : NULL;
    wanted.B = nown ? accel->B : NULL;
    LG_TRY((articulated ? lg_accel_assemble : lg_accel_eval)(accel, point, &wanted, report));

    for (int i = 0; i < nv; i++)
        x[i] -= accel->gyro[i] + unconstrained->Btlam[i];
    lg_copy(nown, accel->rows + first, x + nv);
    return lg_all_finite(nv + nown, x) ? LG_OK : lg_accel_not_finite(accel, point, x, report);
}

lg_status lg_unconstrained_solve(lg_unconstrained *unconstrained, lg_accel *accel, const lg_point *point, double *a,
                                 double *lam, lg_report *report)
{
    int nv = accel->system->space->nv, nown = unconstrained->nown, first = accel->system->pattern->nrows - nown;
    lg_point at = *point;
    at.lam = lam;
    lg_zero(nown, lam + first);
    LG_TRY(assemble_unconstrained(unconstrained, accel, &at, report));

    if (accel->articulated.system) {
        lg_copy(nv, unconstrained->x, a);
        lg_articulated_solve_mass(&accel->articulated, a);
        return LG_OK;
    }
    const double *B = nown ? accel->B : NULL;
    unconstrained->matrix.poll = accel->matrix.poll;
    lg_status status = lg_kkt_factor(&unconstrained->kkt, B, B);
    unconstrained->singular = status == LG_SINGULAR;
    if (unconstrained->singular) {
        LG_TRY(lg_accel_solve(accel, point, a, accel->rows, report));
        lg_copy(nown, accel->rows + first, lam + first);
        return LG_OK;
    }
    LG_TRY(status);
    LG_TRY(lg_kkt_solve(&unconstrained->kkt, unconstrained->x));
    lg_copy(nv, unconstrained->x, a);
    lg_copy(nown, unconstrained->x + nv, lam + first);
    return LG_OK;
}

/* Solves for a right-hand side with the matrix of the last solution. */
static lg_status solve_again(lg_unconstrained *unconstrained, lg_accel *accel)
{
    if (!accel->articulated.system)
        return lg_kkt_solve(&unconstrained->kkt, unconstrained->x);
    lg_articulated_solve_mass(&accel->articulated, unconstrained->x);
    return LG_OK;
}

lg_status lg_unconstrained_slopes(lg_unconstrained *unconstrained, lg_linearised *l, const lg_point *point, int k,
                                  const double *dq, const double *dv, double *da, double *dlam)
{
    const lg_pattern *pattern = l->accel->system->pattern;
    int nv = l->accel->system->space->nv, nown = unconstrained->nown, first = pattern->nrows - nown;
    double *x = unconstrained->x, *rows = l->accel->rows;
    if (unconstrained->singular) {
        LG_TRY(lg_linearised_accelerations(l, point, k, dq, dv, da, rows));
        lg_copy(nown, rows + first, dlam + first);
        return LG_OK;
    }
    LG_TRY(lg_linearised_terms(l, point, k));
    lg_zero(nown, dlam + first);
    lg_zero(nv, x);
    lg_axpy(nv, 1, l->force, x);
    lg_linearised_forces(l, -1, dq, dv, x);
    lg_pattern_add_BT(pattern, l->B, -1, dlam, x);
    lg_zero(pattern->nrows, rows);
    if (nown)
        LG_TRY(lg_linearised_subtract_rows(l, point, k, dq, dv, rows));
    lg_copy(nown, rows + first, x + nv);
    LG_TRY(solve_again(unconstrained, l->accel));
    lg_copy(nv, x, da);
    lg_copy(nown, x + nv, dlam + first);
    return LG_OK;
}

lg_status lg_unconstrained_adjoint(lg_unconstrained *unconstrained, lg_linearised *l, const lg_point *point, int count,
                                   const double *a, double *lam, double *q, double *v, double *gradient)
{
    const lg_pattern *pattern = l->accel->system->pattern;
    int nv = l->accel->system->space->nv, nown = unconstrained->nown, first = pattern->nrows - nown;
    double *w = unconstrained->x, *rows = l->accel->rows;
    if (unconstrained->singular) {
        lg_zero(first, rows);
        lg_copy(nown, lam + first, rows + first);
        lg_zero(nown, lam + first);
        return lg_linearised_accelerations_adjoint(l, point, count, a, rows, q, v, gradient);
    }
    lg_copy(nv, a, w);
    lg_copy(nown, lam + first, w + nv);
    LG_TRY(solve_again(unconstrained, l->accel));
    lg_pattern_add_B(pattern, l->B, -1, w, lam);
    lg_zero(nown, lam + first);
    lg_zero(first, rows);
    lg_copy(nown, w + nv, rows + first);
    LG_TRY(lg_linearised_subtract_shares(l, point, count, w, nown ? rows : NULL, gradient));
    lg_linearised_forces_adjoint(l, -1, w, q, v);
    return nown ? lg_linearised_subtract_rows_adjoint(l, point, rows, q, v) : LG_OK;
}
