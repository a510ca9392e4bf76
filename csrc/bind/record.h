/* Records of a run as dicts of NumPy arrays. */
#ifndef LG_BIND_RECORD_H
#define LG_BIND_RECORD_H

#include "bind/python.h"
#include "run/record.h"

/* The arrays that have taken over the columns of a record so far. */
typedef struct lg_table {
    PyObject *array[LG_COLUMN_COUNT];
} lg_table;

/* An array for each column by its name: (n,) or (n, width), in the memory of the record itself; no rows may be added
   afterwards. NULL if memory runs out; the same call may then be tried again. */
PyObject *lg_table_dict(lg_table *table, lg_record *record);
void lg_table_close(lg_table *table);

#endif
