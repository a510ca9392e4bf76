/* Projection onto the constraints. */
#ifndef LG_SOLVE_PROJECT_H
#define LG_SOLVE_PROJECT_H

#include "solve/accel.h"

enum { LG_PROJECT_POSITION = 1, LG_PROJECT_VELOCITY = 2 };

/* phi and phidot (nrows each) at a point. */
lg_status lg_residual(lg_accel *accel, const lg_point *point, double *residual);

/* The shortest change of the velocities, in the mass metric, that removes a residual (nrows) at the point that was
   factored last. It is left in the first nv values of accel->x. */
lg_status lg_shortest_change(lg_accel *accel, const double *residual);

/* Moves q and v onto the constraints, by the shortest way in the mass metric: Newton steps [M B^T; B 0] on phi, without
   nonholonomic rows, then one linear solve on phidot. On failure q and v are those of the last iteration. */
lg_status lg_project(lg_accel *accel, int levels, double t, double *q, double *v, const double *mem, lg_report *report);

/* The same at a point whose t_in picks the piece of piecewise data; point->q and v must be the arrays q and v.
   residual: NULL, or an array for phi and phidot before the projection. The matrix is factored at the point where this
   ends, so that lg_accel_solve_factored gives its accelerations; not so without constraints, where nothing moves. */
lg_status lg_project_at(lg_accel *accel, int levels, const lg_point *point, double *q, double *v, double *residual,
                        lg_report *report);

/* The derivatives of such a projection of q and v that moves nothing, by a number by which phi and phidot have the
   derivatives in `slopes` (2 nrows): the shortest dq (nv) with B dq = -slopes, and the same for velocities, in which
   phidot also changes with q. It needs accel->Z. */
lg_status lg_project_slopes(lg_accel *accel, const lg_point *point, const double *slopes, double *dq, double *dv,
                            lg_report *report);

/* Memory of the steppers that call the next function. */
void lg_project_layout(lg_accel *accel, int levels, lg_arena *arena);

/* The same, and the accelerations and multipliers there: the end of a step with constraints and levels to project. With
   both levels, accel->Z and small corrections this takes two evaluations. accel->rows is left as phi and phidot at the
   end; what a projection of velocities leaves of phidot counts as zero. */
lg_status lg_project_end(lg_accel *accel, int levels, const lg_point *point, double *q, double *v, double *residual,
                         double *a, double *lam, lg_report *report);

#endif
