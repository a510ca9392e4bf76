/* The record of a run: the saved states, each part of the state in an array of its own. */
#ifndef LG_RUN_RECORD_H
#define LG_RUN_RECORD_H

#include "integrator/stepper.h"

#include <stddef.h>

typedef enum lg_column {
    LG_COLUMN_T, /* time */
    LG_COLUMN_H, /* size of the step that ended there */
    LG_COLUMN_ERROR, /* scaled error of that step; NaN: not known */
    LG_COLUMN_EXTRA, /* what the stepper adds to the state */
    LG_COLUMN_CURVE, /* of knots: the curve through the step that ended there, as the stepper writes it */
    LG_COLUMN_DERIVATIVES, /* of the state by parameters: those of q, v, vdot and lam, each parameter by parameter */
    LG_COLUMN_STATE, /* the parts of the state, from LG_PART_Q on */
    LG_COLUMN_COUNT = LG_COLUMN_STATE + LG_PARTS
} lg_column;

const char *lg_column_name(lg_column column);

/* Each column is a block of memory from malloc (or NULL) that holds its rows without gaps. It grows with realloc, so
   that a caller can take ownership of it as it is. */
typedef struct lg_record {
    size_t width[LG_COLUMN_COUNT]; /* numbers in a row of each column */
    double *column[LG_COLUMN_COUNT];
    size_t derivatives; /* where those by parameters begin in the carry of a state */
    size_t count, capacity; /* rows */
} lg_record;

/* Empty records, of whole states and of the parts that dense output reads, with `extra` numbers of the carry each, and
   `curve` numbers of the curve. */
lg_record lg_record_of(const lg_system *system, int extra);
lg_record lg_record_of_knots(const lg_system *system, int extra, int curve);
/* Makes room for at least this many rows. It fails if the machine does not have the memory to fill them; the rows added
   so far then stay as they are. */
lg_status lg_record_reserve(lg_record *record, size_t rows);
size_t lg_record_row_size(const lg_record *record); /* bytes */
/* LG_NO_MEMORY, with a report that says how much memory `rows` of `size` bytes each and `more` bytes would take. */
lg_status lg_record_refuse(double rows, double size, double more, lg_report *report);
lg_status lg_record_add(lg_record *record, const lg_state *state, double h, double error);
/* Adds both ends of a step, for dense output, with the curve of the step (NULL: it has none). Where the accelerations
   jump between steps, two rows have the same time. */
lg_status lg_record_add_step(lg_record *record, const lg_state *before, const lg_state *after, const double *curve);
/* Adds the end of a run if a kink there has changed the state that the last step left. */
lg_status lg_record_add_end(lg_record *record, const lg_state *end);
/* Frees the memory beyond the last row. */
void lg_record_trim(lg_record *record);
/* Passes the ownership of a column to the caller, who frees it; NULL if it has no numbers. */
double *lg_record_take(lg_record *record, lg_column column);
void lg_record_close(lg_record *record);

#endif
