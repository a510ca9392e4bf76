/* What implicit methods share; see implicit.h. */
#include "integrator/implicit.h"

#include "core/small.h"
#include "solve/cause.h"

#include <float.h>
#include <math.h>

/* Cost of a new matrix in iterations, from numbers that are known before the run. An iteration solves, evaluates and
   follows its unknowns; a matrix is factored, and its tangents and chains are formed. In multiplications of the matrix,
   counts of instructions (docs/architecture.md) give 50 and 100 per velocity for what is outside of the matrix, and
   250 for what every iteration and every matrix cost. The stabilised form, which has a second matrix, makes 1.5 times
   as many evaluations in an iteration. By central differences of functions along all coordinates and velocities, or of
   a law along those of two bodies, a matrix costs as many evaluations. */
static const double overhead = 250, per_iteration = 50, per_matrix = 100;

double lg_implicit_matrix_cost(const lg_system *system, const lg_plan *plan, const lg_plan *second)
{
    const double law = 48;
    double nv = system->space->nv, factor, solve, more_factor = 0, more_solve = 0;
    lg_plan_operations(plan, &factor, &solve);
    if (second) {
        lg_plan_operations(second, &more_factor, &more_solve);
        more_solve = solve + 2 * more_solve;
    }
    double evaluations = second ? 1.5 : 1;
    double cost = (overhead + per_matrix * nv + 1.5 * (factor + more_factor)) /
                  (evaluations * (overhead + per_iteration * nv) + solve + more_solve);
    return system->flags & LG_SYSTEM_DIFFERENCED ? fmax(cost, fmin(law, 4 * nv)) : cost;
}

double lg_implicit_iteration_work(const lg_system *system, const lg_plan *plan)
{
    double factor, solve;
    lg_plan_operations(plan, &factor, &solve);
    return overhead + per_iteration * system->space->nv + solve;
}

double lg_implicit_tangent_work(const lg_system *system)
{
    return overhead + per_matrix * system->space->nv;
}

lg_newton_settings lg_implicit_settings(const lg_newton_options *stop)
{
    return (lg_newton_settings){.rtol = stop->rtol.number,
                                .atol = stop->atol.number,
                                .max_iter = (int)stop->max_iter.number,
                                .renewal = {.rule = LG_RENEW_ALWAYS}};
}

void lg_implicit_layout(lg_implicit *implicit, const lg_accel *accel, int sets, size_t taken, lg_arena *arena)
{
    const lg_system *system = accel->system;
    size_t nv = (size_t)system->space->nv, nrows = (size_t)system->pattern->nrows;
    double **terms[] = {&implicit->gyro, &implicit->force, &implicit->Btlam};
    for (size_t i = 0; i < sizeof terms / sizeof *terms; i++)
        *terms[i] = lg_arena_doubles(arena, nv);
    implicit->constrained = nrows > 0;
    implicit->residual = lg_arena_doubles(arena, nv + (size_t)sets * nrows);
    implicit->correction = sets == 1 ? lg_arena_doubles(arena, nv + nrows) : NULL;
    implicit->row_size = lg_arena_doubles(arena, nrows);
    size_t shaken = (size_t)system->space->nq + 4 * nv, row_noise = nrows ? nv + nrows : 0;
    implicit->shaken = lg_matrix_layout_rest(&accel->matrix, accel->guest, taken, shaken + row_noise, arena);
    implicit->row_noise = implicit->shaken ? implicit->shaken + shaken : NULL;
}

static double sum_of_squares(int n, const double *x)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sum;
}

void lg_implicit_forces(lg_implicit *implicit, int nv, double wa, double w_old, const double *old,
                        lg_residual_norms *norms)
{
    const double *restrict gyro = implicit->gyro, *restrict force = implicit->force, *restrict Btlam = implicit->Btlam;
    double *restrict r = implicit->residual; /* M a, until it becomes the sum */
    double size = old ? w_old * w_old * sum_of_squares(nv, old) : 0, sum = 0;
    for (int i = 0; i < nv; i++) {
        double inertia = wa * r[i], row = inertia + gyro[i] - force[i] + Btlam[i];
        size += inertia * inertia + gyro[i] * gyro[i] + force[i] * force[i] + Btlam[i] * Btlam[i];
        sum += row * row;
        r[i] = row;
    }
    if (old) {
        lg_axpy(nv, -w_old, old, r);
        sum = sum_of_squares(nv, r);
    }
    double n = norms->together ? 1 : nv;
    norms->now.force = sqrt(sum / n);
    norms->size.force = sqrt(size / n);
    norms->noise.force = 16 * DBL_EPSILON * norms->size.force;
}

lg_status lg_implicit_noise(lg_implicit *implicit, lg_accel *accel, const lg_system *system, lg_point point, double wa,
                            double w_old, const double *old, const double *more, double *noise)
{
    const lg_space *space = system->space;
    int nv = space->nv;
    double *q = implicit->shaken, *Ma = q + space->nq, *gyro = Ma + nv, *force = gyro + nv, *Btlam = force + nv;
    lg_wanted wanted = {.Ma = Ma, .gyro = gyro, .force = force, .Btlam = implicit->constrained ? Btlam : NULL};
    lg_space_shake(space, point.q, Ma, q);
    if (more)
        lg_space_retract(space, q, more, q);
    lg_zero(nv, Btlam);
    point.q = q;
    accel->evaluations++;
    LG_TRY(system->eval(system->self, &point, &wanted));
    for (int i = 0; i < nv; i++)
        Ma[i] = wa * Ma[i] + gyro[i] - force[i] + Btlam[i] - (old ? w_old * old[i] : 0) - implicit->residual[i];
    *noise = sqrt(sum_of_squares(nv, Ma) / (implicit->newton.together ? 1 : nv));
    return LG_OK;
}

const double *lg_implicit_row_sizes(const lg_accel *accel, double *size)
{
    const double large = 1e3;
    const lg_pattern *pattern = accel->system->pattern;
    lg_pattern_row_sizes(pattern, accel->B, size);
    for (int i = 0; i < pattern->nrows; i++)
        size[i] = size[i] > large ? size[i] : 1;
    return size;
}

/* The multipliers of a first solution tell with which signs the rows move the coordinates the most. */
lg_status lg_implicit_move_by_rows(lg_implicit *implicit, const lg_accel *accel, const lg_matrix *matrix, double scale,
                                   double noise)
{
    int nv = accel->system->space->nv, nrows = accel->system->pattern->nrows;
    double *x = implicit->row_noise;
    const double *size = lg_implicit_row_sizes(accel, implicit->row_size);
    for (int i = 0; i < nrows; i++)
        x[nv + i] = i % 3 ? 1 : -1;
    for (int pass = 0; pass < 2; pass++) {
        lg_zero(nv, x);
        for (int i = nv; i < nv + nrows; i++)
            x[i] = copysign(scale * noise * size[i - nv], x[i]);
        LG_TRY(lg_matrix_solve(matrix, x));
    }
    for (int i = 0; i < nv; i++)
        x[i] /= scale;
    return LG_OK;
}

/* The 2-norm of numbers of which the first have the given norm. */
static double with_more(double norm, double squares)
{
    return sqrt(norm * norm + squares);
}

void lg_implicit_rows(int set, int nrows, double scale, double noise, double size, double *rows,
                      lg_residual_norms *norms)
{
    double largest = 0;
    if (norms->together) {
        norms->now.force = with_more(norms->now.force, sum_of_squares(nrows, rows));
        norms->size.force = with_more(norms->size.force, nrows * size * size);
        norms->noise.force = with_more(norms->noise.force, nrows * noise * noise);
    }
    for (int i = 0; i < nrows; i++) {
        double row = fabs(rows[i] *= scale);
        if (row > largest || isnan(row))
            largest = row;
    }
    norms->now.rows[set] = largest;
    norms->noise.rows[set] = scale * noise;
    norms->size.rows[set] = scale * size;
}

void lg_implicit_put_nonholonomic(const lg_pattern *pattern, double gamma_prime, const double *phidot, double *phi)
{
    for (int i = 0; i < pattern->nnonholonomic; i++) {
        int row = lg_pattern_nonholonomic(pattern, i);
        phi[row] = phidot[row] / gamma_prime;
    }
}

void lg_implicit_add_rows(lg_accel *accel, double scale, double gamma_prime, double *Z, double *part,
                          const lg_chain *chain)
{
    const lg_pattern *pattern = accel->system->pattern;
    lg_matrix *matrix = &accel->matrix;
    if (!pattern->nnonholonomic) {
        lg_matrix_add_border(matrix, accel->B, scale, accel->B, 0, chain);
        return;
    }
    lg_matrix_put_columns(matrix, accel->B);
    lg_pattern_part(pattern, accel->B, part);
    lg_matrix_add_rows(matrix, scale, accel->B, 0, chain);
    lg_matrix_add_rows(matrix, scale / gamma_prime, part, 1, chain);
    lg_pattern_part(pattern, Z, part);
    lg_matrix_add_rows(matrix, scale / gamma_prime, part, 0, chain);
}

lg_status lg_implicit_solve(lg_implicit *implicit, lg_stepper *self, const lg_newton_problem *problem,
                            const lg_point *end, lg_newton_memory *memory, lg_newton_result *result)
{
    lg_status status = lg_newton(problem, &implicit->newton, implicit->residual, memory, result);
    self->stats.newton_iterations += result->iterations;
    lg_report_newton(self->system, end, status, result, &self->report);
    if (status == LG_NO_CONVERGENCE)
        lg_report_advise(&self->report, "try a smaller h or a larger max_iter");
    return status;
}
