/* Saddle-point systems; see kkt.h. */
#include "sparse/kkt.h"

#include "sparse/fronts.h"

void lg_kkt_layout(lg_kkt *kkt, lg_matrix *matrix, const lg_plan *plan, const lg_plan *guest, lg_mass mass,
                   lg_arena *arena)
{
    *kkt = (lg_kkt){.matrix = matrix, .mass = mass};
    if (plan->schur && mass == LG_MASS_REGULAR && !guest)
        lg_schur_layout(&kkt->schur, plan->schur, matrix, arena);
    else
        lg_matrix_layout_host(matrix, plan, guest, arena);
}

lg_matrix *lg_kkt_masses(lg_kkt *kkt)
{
    lg_matrix *masses = kkt->schur.plan ? &kkt->schur.masses : kkt->matrix;
    if (masses->keeps)
        return NULL;
    lg_matrix_zero(masses);
    return masses;
}

static lg_status factor_whole(const lg_kkt *kkt, const double *columns, const double *rows)
{
    lg_matrix *matrix = kkt->matrix;
    if (columns)
        lg_matrix_put_columns(matrix, columns);
    if (rows)
        lg_matrix_put_rows(matrix, rows);
    if (matrix->keeps)
        return columns || rows ? lg_matrix_refactor(matrix) : LG_OK;
    LG_TRY(lg_matrix_factor(matrix));
    return kkt->mass == LG_MASS_VARIES ? LG_OK : lg_matrix_keep(matrix);
}

lg_status lg_kkt_factor(lg_kkt *kkt, const double *columns, const double *rows)
{
    return kkt->schur.plan ? lg_schur_factor(&kkt->schur, columns, rows) : factor_whole(kkt, columns, rows);
}

lg_status lg_kkt_solve(const lg_kkt *kkt, double *x)
{
    return kkt->schur.plan ? lg_schur_solve(&kkt->schur, x) : lg_matrix_solve(kkt->matrix, x);
}

lg_status lg_kkt_factor_solve(lg_kkt *kkt, const double *B, double *x, int *solved)
{
    if (kkt->schur.plan && !kkt->matrix->is_doubled)
        return lg_schur_factor_solve(&kkt->schur, B, x, solved);
    LG_TRY(lg_kkt_factor(kkt, B, B));
    *solved = 1;
    return lg_kkt_solve(kkt, x);
}
