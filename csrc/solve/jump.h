/* Looks for a law of the user that jumps where Newton's method has failed. */
#ifndef LG_SOLVE_JUMP_H
#define LG_SOLVE_JUMP_H

#include "system/system.h"

/* Adds advice about the first law that jumps near the end of a failed step of size h: on the line through the state
   `start`, which has also mem and work, with velocity v and acceleration a, two steps to either side. Adds none if no
   law jumps there or if one of them fails. It calls each law at most 72 times, and may allocate, since no step is under
   way. */
void lg_report_jump(const lg_system *system, const lg_point *start, double h, lg_report *report);

#endif
