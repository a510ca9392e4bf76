/* The matrix of a state at rest; see rest.h. */
#include "solve/rest.h"

void lg_rest_layout(lg_rest *k, lg_accel *accel, lg_arena *arena)
{
    k->accel = accel;
    k->chain = lg_arena_take(arena, (size_t)accel->system->space->nblocks * sizeof *k->chain);
    lg_penalty_layout(&k->penalty, accel->system->pattern, arena);
}

void lg_rest_open(lg_rest *k)
{
    lg_penalty_open(&k->penalty, k->accel->system->pattern);
}

static lg_status assemble_rest(lg_rest *k, const lg_point *point, lg_shift shift)
{
    lg_accel *accel = k->accel;
    const lg_system *system = accel->system;
    int constrained = system->pattern->nrows > 0;
    for (int i = 0; i < system->space->nblocks; i++)
        k->chain[i] = (lg_chain){.k = {1, system->space->block[i].nq == 0, shift.mu}};

    lg_matrix_zero(&accel->matrix);
    accel->evaluations++;
    LG_TRY(system->eval(system->self, point,
                        &(lg_wanted){.tangent = &(lg_tangent){&accel->matrix, k->chain},
                                     .ntangents = 1,
                                     .B = constrained ? accel->B : NULL}));
    if (shift.nu != 0)
        lg_matrix_stiffen(&accel->matrix, shift.nu);
    if (constrained) {
        lg_penalty_add(&k->penalty, system->pattern, accel->B, &accel->matrix);
        lg_matrix_add_border(&accel->matrix, accel->B, 1, accel->B, 0, k->chain);
    }
    return LG_OK;
}

lg_status lg_rest_factor(lg_rest *k, const lg_point *point, lg_shift shift, lg_report *report)
{
    LG_TRY(assemble_rest(k, point, shift));
    return lg_factor_named(k->accel->system, &k->accel->matrix, report);
}

lg_status lg_rest_factor_symmetric(lg_rest *k, const lg_point *point, lg_shift shift, lg_report *report)
{
    LG_TRY(assemble_rest(k, point, shift));
    lg_matrix_symmetrise(&k->accel->matrix);
    return lg_factor_named(k->accel->system, &k->accel->matrix, report);
}

lg_status lg_rest_solve(const lg_rest *k, const double *phi, double *x)
{
    const lg_system *system = k->accel->system;
    LG_TRY(lg_matrix_solve(&k->accel->matrix, x));
    lg_penalty_correct(&k->penalty, system->pattern, phi, x + system->space->nv);
    return LG_OK;
}

/* If B has full rank, every row adds one negative and one positive eigenvalue to those of K + mu M + nu D on ker B. */
lg_status lg_rest_negative(lg_rest *k, const lg_point *point, lg_shift shift, int *negative, lg_report *report)
{
    LG_TRY(lg_rest_factor_symmetric(k, point, shift, report));
    *negative = lg_matrix_negative(&k->accel->matrix) - k->accel->system->pattern->nrows;
    return LG_OK;
}

lg_status lg_rest_mass_times(lg_rest *k, const lg_point *point, const double *x, double *y)
{
    const lg_system *system = k->accel->system;
    lg_point at = *point;
    at.a = x;
    k->accel->evaluations++;
    return system->eval(system->self, &at, &(lg_wanted){.Ma = y});
}
