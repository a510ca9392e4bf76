/* Consistent starts: the accelerations and multipliers that a run needs in addition to q0 and v0, a check that these
   satisfy the constraints, and the projection that makes them do so. */
#ifndef LG_SOLVE_INITIAL_H
#define LG_SOLVE_INITIAL_H

#include "solve/accel.h"

/* |phi| or |phidot| of a constraint row above this times (1 + max |q|), respectively (1 + max |v|), is an error. */
#define LG_CONSISTENT 1e-8

/* Checks phi(q) and phidot(q, v) at point->t: LG_INCONSISTENT with the worst row in report->what and its residual. */
lg_status lg_consistent(lg_accel *accel, const lg_point *point, lg_report *report);

/* Accelerations and multipliers at the start of a run or where one continues. No step has led to that point, so
   LG_NOT_FINITE becomes LG_UNDEFINED. */
lg_status lg_start_accelerations(lg_accel *accel, const lg_point *point, double *a, double *lam, lg_report *report);

/* lg_consistent, then lg_start_accelerations. */
lg_status lg_initial(lg_accel *accel, const lg_point *point, double *a, double *lam, lg_report *report);

enum { LG_PROJECT_POSITION = 1, LG_PROJECT_VELOCITY = 2 };

/* phi and phidot (nrows each) at a point. */
lg_status lg_residual(lg_accel *accel, const lg_point *point, double *residual);

/* The shortest change of the velocities, in the mass metric, that removes a residual (nrows) at the point that was
   factored last. It is left in the first nv values of accel->x. */
lg_status lg_shortest_change(lg_accel *accel, const double *residual);

/* Moves q and v onto the constraints, by the shortest way in the mass metric: Newton steps [M B^T; B 0] on phi, then
   one linear solve on phidot. On failure q and v are those of the last iteration. */
lg_status lg_project(lg_accel *accel, int levels, double t, double *q, double *v, const double *mem, lg_report *report);

/* The same at a point whose t_in picks the piece of piecewise data; point->q and v must be the arrays q and v.
   residual: NULL, or an array for phi and phidot before the projection. The matrix is factored at the point where
   this ends, so that lg_accel_solve_factored gives its accelerations; not so without constraints, where nothing moves. */
lg_status lg_project_at(lg_accel *accel, int levels, const lg_point *point, double *q, double *v, double *residual,
                        lg_report *report);

#endif
