/* Consistent starts: the accelerations and multipliers that a run needs in addition to q0 and v0, and a check that
   these satisfy the constraints. */
#ifndef LG_SOLVE_INITIAL_H
#define LG_SOLVE_INITIAL_H

#include "solve/accel.h"

/* |phi| or |phidot| of a constraint row above this times (1 + max |q|), respectively (1 + max |v|), is an error. */
#define LG_CONSISTENT 1e-8

/* Checks phi(q) and phidot(q, v) at point->t: LG_INCONSISTENT with the worst row in report->what and its residual. */
lg_status lg_consistent(lg_accel *accel, const lg_point *point, lg_report *report);

/* Accelerations and multipliers at a point where a run starts or continues. No step has led to that point, so
   LG_NOT_FINITE becomes LG_UNDEFINED. */
lg_status lg_start_accelerations(lg_accel *accel, const lg_point *point, double *a, double *lam, lg_report *report);

#endif
