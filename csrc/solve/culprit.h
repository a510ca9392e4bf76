/* Whom to name when a solve fails: a row of its equations, a body, or an element. All of it goes to report->what. */
#ifndef LG_SOLVE_CULPRIT_H
#define LG_SOLVE_CULPRIT_H

#include "solve/newton.h"
#include "system/system.h"

/* Row `row` of [force rows; sets of constraint rows] after the words `before`: the name of the constraint row, or which
   velocity of which body. */
void lg_report_row(const lg_system *system, const char *before, int row, lg_report *report);

/* LG_NOT_FINITE at a point: the body whose coordinates or velocities are not finite; else the element whose force is not,
   else the row of the equations that is not (-1: none is known). Accelerations that are NULL are not looked at. */
void lg_report_not_finite(const lg_system *system, const lg_point *point, int row, lg_report *report);

/* How Newton's method ended at a point: iterations and residual, and what is to be named where it failed. */
void lg_report_newton(const lg_system *system, const lg_point *point, lg_status status, const lg_newton_result *result,
                      lg_report *report);

#endif
