/* What implicit methods share: the terms of the equations of motion at the end of a step, their sum as the residual of
   Newton's method, the scaling of its constraint rows, and the solution with its statistics. */
#ifndef LG_INTEGRATOR_IMPLICIT_H
#define LG_INTEGRATOR_IMPLICIT_H

#include "integrator/options.h"
#include "integrator/stepper.h"
#include "solve/newton.h"

typedef struct lg_implicit {
    lg_newton_settings newton;
    double *gyro, *force, *Btlam; /* nv each */
    double *residual; /* force rows, instead of M a, then the sets of constraint rows */
    double *correction; /* the last one of Newton's method, nv + nrows; NULL if it makes whole ones alone */
    double *shaken; /* coordinates moved by their round-off, then the four terms there */
    double *row_noise; /* round-off of constraint rows as a right-hand side, then what it moves; nv + nrows */
    double *row_size; /* see lg_implicit_row_sizes; nrows */
    int constrained; /* without constraints Btlam is zero and never written */
} lg_implicit;

/* The settings given by LG_NEWTON_OPTIONS, with a new matrix in every iteration. */
lg_newton_settings lg_implicit_settings(const lg_newton_options *stop);
/* Cost of a new matrix in iterations, which solve twice with the matrices of both plans if there is a second one. */
double lg_implicit_matrix_cost(const lg_system *system, const lg_plan *plan, const lg_plan *second);
/* The work of an iteration, and that of the tangents of a matrix, in multiplications of the matrix. */
double lg_implicit_iteration_work(const lg_system *system, const lg_plan *plan);
double lg_implicit_tangent_work(const lg_system *system);
/* Takes its arrays from the arena, but for those of noise: these stand among the assembled values of the matrix, which
   are free once it is factored, behind `taken` others. */
void lg_implicit_layout(lg_implicit *implicit, const lg_accel *accel, int sets, size_t taken, lg_arena *arena);
/* The four terms as wanted outputs of an evaluation. */
static inline lg_wanted lg_implicit_terms(const lg_implicit *implicit)
{
    return (lg_wanted){.Ma = implicit->residual,
                       .gyro = implicit->gyro,
                       .force = implicit->force,
                       .Btlam = implicit->constrained ? implicit->Btlam : NULL};
}
/* Force rows wa M a + gyro - force + B^T lam - w_old old from the four terms, and their norms; `old` NULL: none. */
void lg_implicit_forces(lg_implicit *implicit, int nv, double wa, double w_old, const double *old,
                        lg_residual_norms *norms);
/* The norm of the change of these rows, which stand in `residual`, where the coordinates of a point move by their
   round-off, and by `more` (nv; NULL: nothing). */
lg_status lg_implicit_noise(lg_implicit *implicit, lg_accel *accel, const lg_system *system, lg_point point, double wa,
                            double w_old, const double *old, const double *more, double *noise);
/* The sizes of constraint rows by which their round-off exceeds that of ordinary ones, whose entries are cosines and
   lengths: the sum of |entries| where that is large, as with factors of couplings, and otherwise one. */
const double *lg_implicit_row_sizes(const lg_accel *accel, double *size);
/* The coordinates that move the most, or nearly so, where constraint rows change by `noise`, into row_noise: by a
   factored matrix with these rows, and as its unknowns those coordinates, times a scale. */
lg_status lg_implicit_move_by_rows(lg_implicit *implicit, const lg_accel *accel, const lg_matrix *matrix, double scale,
                                   double noise);
/* One set of constraint rows times a scale, and their norms, from the noise and the size of the rows before. */
void lg_implicit_rows(int set, int nrows, double scale, double noise, double size, double *rows,
                      lg_residual_norms *norms);
/* Nonholonomic rows of index 3: phidot over gamma' = dv/dq in place of phi. */
void lg_implicit_put_nonholonomic(const lg_pattern *pattern, double gamma_prime, const double *phidot, double *phi);
/* Borders a matrix with the rows of index 3: positions, and velocities where rows are nonholonomic, which take Z and
   `part`, as long as B, and change accel->B. */
void lg_implicit_add_rows(lg_accel *accel, double scale, double gamma_prime, double *Z, double *part,
                          const lg_chain *chain);
/* Newton's method for the state at `end`; iterations are counted, failures reported. `result` on entry: whether there
   is a valid matrix. */
lg_status lg_implicit_solve(lg_implicit *implicit, lg_stepper *self, const lg_newton_problem *problem,
                            const lg_point *end, lg_newton_memory *memory, lg_newton_result *result);

#endif
