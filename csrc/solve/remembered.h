/* The derivatives of a system's memory through a step (system/memory.h). */
#ifndef LG_SOLVE_REMEMBERED_H
#define LG_SOLVE_REMEMBERED_H

#include "solve/linearised.h"

/* The map of the memory through a step or at a start (system/memory.h), and the change by it and by parameter k. */
lg_status lg_linearised_open_memory(lg_linearised *l, const lg_point *from, const lg_point *to);
lg_status lg_linearised_follow_memory(lg_linearised *l, const lg_point *from, const lg_point *to, int k,
                                      const lg_memory_change *change);
/* The transposed map: adds the shares of the first `count` parameters, those of the system, to `gradient`. */
lg_status lg_linearised_follow_memory_back(lg_linearised *l, const lg_point *from, const lg_point *to, int count,
                                           const lg_memory_change *adjoint, double *gradient);

#endif
