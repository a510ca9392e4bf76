/* Suspects a law of the user that jumps where Newton's method has failed. */
#ifndef LG_SOLVE_JUMP_H
#define LG_SOLVE_JUMP_H

#include "system/system.h"

/* Advises about the first law that jumps on the line with velocity v and acceleration a through the state `start` of a
   step of size h that has failed, two steps to either side; `start` also brings mem and work. Says nothing if no law
   jumps there or if one of them fails. It calls each law 72 times at most. It allocates, since the step has ended. */
void lg_report_jump(const lg_system *system, const lg_point *start, double h, lg_report *report);

#endif
