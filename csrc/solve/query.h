/* The start of a run as a query; see system/probe.h. */
#ifndef LG_SOLVE_QUERY_H
#define LG_SOLVE_QUERY_H

#include "system/probe.h"

/* Before the first point, with a plan for LG_COUPLING_MASS; and after the last, which returns how often a matrix has
   been factored as a dense one. */
lg_status lg_probe_open(lg_probe *probe);
long lg_probe_close(lg_probe *probe);

lg_status lg_probe_initial(lg_probe *probe); /* out: a and lam of a consistent start */
lg_status lg_probe_project(lg_probe *probe); /* out: q and v, projected onto the constraints */

#endif
