/* Records of a run as dicts of NumPy arrays. */
#ifndef LG_BIND_RECORD_H
#define LG_BIND_RECORD_H

#include "bind/python.h"
#include "run/record.h"

/* A record, and the arrays that have taken over its columns so far. */
typedef struct lg_table {
    lg_record record;
    PyObject *array[LG_COLUMN_COUNT];
} lg_table;

/* Per column an array by its name: (n,) or (n, width), the memory of the record itself; no rows may be added after that.
   NULL if memory fails: then the same call may be tried again. */
PyObject *lg_table_dict(lg_table *table);
void lg_table_close(lg_table *table);

#endif
