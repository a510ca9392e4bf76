/* Outcomes of the core as dicts of NumPy arrays, which take over the memory of their columns. A function that fails
   leaves its outcome as it was and can be called again. */
#ifndef LG_BIND_OUTCOME_H
#define LG_BIND_OUTCOME_H

#include "bind/errors.h"
#include "run/outcome.h"

/* A dict with the array of each column, (n,) or (n, width), by its name. */
PyObject *lg_record_dict(lg_record *record);
/* The arrays of the states, carry, end, knots (or None) and stats. */
PyObject *lg_outcome_dict(lg_outcome *outcome);
PyObject *lg_stats_dict(const lg_stats *stats);

/* The dict of an outcome, or the exception of its report, which carries that dict. Closes the outcome. */
PyObject *lg_outcome_result(const lg_module *module, lg_outcome *outcome);

#endif
