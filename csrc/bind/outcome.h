/* The results of a run, as a dict of NumPy arrays. */
#ifndef LG_BIND_OUTCOME_H
#define LG_BIND_OUTCOME_H

#include "bind/python.h"
#include "run/record.h"

/* The arrays that have taken over the columns of a record so far. */
typedef struct lg_table {
    PyObject *array[LG_COLUMN_COUNT];
} lg_table;

enum { LG_STATES, LG_END, LG_KNOTS, LG_RECORDS };

typedef struct lg_outcome {
    lg_record *record[LG_RECORDS]; /* LG_KNOTS may be NULL: none were asked for */
    lg_table table[LG_RECORDS];
    const double *carry; /* of the last state */
    int ncarry;
    lg_stats stats;
    double wall_time;
} lg_outcome;

/* An array for each column by its name: (n,) or (n, width), in the memory of the record itself; no rows may be added
   afterwards. NULL if memory runs out; the same call may then be tried again. */
PyObject *lg_table_dict(lg_table *table, lg_record *record);
void lg_table_close(lg_table *table);

/* The arrays of the states, carry, end, knots (or None) and stats. NULL and another attempt as above. */
PyObject *lg_outcome_dict(lg_outcome *outcome);
void lg_outcome_close(lg_outcome *outcome);
/* Counts of a run, and wall_time if it is not negative. */
PyObject *lg_stats_dict(const lg_stats *stats, double wall_time);

#endif
