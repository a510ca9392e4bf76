/* Consistent starts and projections as queries; see system/probe.h. */
#ifndef LG_SOLVE_QUERY_H
#define LG_SOLVE_QUERY_H

#include "system/probe.h"

/* Call the first before the first point, with a plan for LG_COUPLING_MASS, and the second after the last point; it
   returns how often the dense factorisation was needed. */
lg_status lg_probe_open(lg_probe *probe);
long lg_probe_close(lg_probe *probe);

lg_status lg_probe_initial(lg_probe *probe); /* out: a and lam of a consistent start */
lg_status lg_probe_project(lg_probe *probe); /* out: q and v, projected onto the constraints */
lg_status lg_probe_slopes(lg_probe *probe); /* out: dq and dv of a projection that moves nothing, for probe->slopes */

#endif
