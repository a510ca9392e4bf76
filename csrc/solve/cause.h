/* Names the cause of a failed solve in report->what: a row of its equations, a body or an element. */
#ifndef LG_SOLVE_CAUSE_H
#define LG_SOLVE_CAUSE_H

#include "solve/newton.h"
#include "system/system.h"

/* Reports row `row` of [force rows; sets of constraint rows] after the words `before`: the name of the constraint row,
   or the velocity and its body. */
void lg_report_row(const lg_system *system, const char *before, int row, lg_report *report);

/* Reports LG_NOT_FINITE at a point: the body whose coordinates or velocities are not finite; otherwise the element
   whose force is not; otherwise the row of the equations that is not (-1: unknown). Accelerations are checked unless
   they are NULL. */
void lg_report_not_finite(const lg_system *system, const lg_point *point, int row, lg_report *report);

/* Reports how Newton's method ended at a point: iterations, residual and, if it failed, the row or body responsible. */
void lg_report_newton(const lg_system *system, const lg_point *point, lg_status status, const lg_newton_result *result,
                      lg_report *report);

/* Names a block whose coordinates have come within `distance` of their singularity. */
void lg_report_angles(const lg_system *system, int block, double distance, lg_report *report);

#endif
