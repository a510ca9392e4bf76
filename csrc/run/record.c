/* The record of a run; see record.h. */
#include "run/record.h"

#include "core/memory.h"
#include "core/small.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

const char *lg_column_name(lg_column column)
{
    static const char *const names[LG_COLUMN_STATE] = {"t", "h", "error", "extra", "curve", "derivatives"};
    return column < LG_COLUMN_STATE ? names[column] : lg_parts[column - LG_COLUMN_STATE].name;
}

lg_record lg_record_of(const lg_system *system, int extra)
{
    lg_record record = {.width = {1, 1, 1, (size_t)extra}};
    for (int part = 0; part < LG_PARTS; part++)
        record.width[LG_COLUMN_STATE + part] = (size_t)lg_part_width(system, (lg_part)part);
    return record;
}

lg_record lg_record_of_knots(const lg_system *system, int extra, int curve)
{
    lg_record record = lg_record_of(system, extra);
    record.width[LG_COLUMN_H] = record.width[LG_COLUMN_ERROR] = 0;
    record.width[LG_COLUMN_CURVE] = (size_t)curve;
    return record;
}

static lg_status resize(double **column, size_t rows, size_t width)
{
    if (rows == 0 || width == 0)
        return LG_OK;
    if (rows > SIZE_MAX / 2 / sizeof **column / width)
        return LG_NO_MEMORY;
    double *resized = realloc(*column, rows * width * sizeof *resized);
    if (!resized)
        return LG_NO_MEMORY;
    *column = resized;
    return LG_OK;
}

size_t lg_record_row_size(const lg_record *record)
{
    size_t width = 0;
    for (int c = 0; c < LG_COLUMN_COUNT; c++)
        width += record->width[c];
    return width * sizeof(double);
}

/* Whether the machine has the memory for this many further rows. */
static int can_be_filled(const lg_record *record, size_t more)
{
    return lg_memory_suffices((double)more * (double)lg_record_row_size(record));
}

lg_status lg_record_reserve(lg_record *record, size_t rows)
{
    if (rows <= record->capacity)
        return LG_OK;
    if (!can_be_filled(record, rows - record->capacity))
        return LG_NO_MEMORY;
    for (int c = 0; c < LG_COLUMN_COUNT; c++)
        LG_TRY(resize(&record->column[c], rows, record->width[c]));
    record->capacity = rows;
    return LG_OK;
}

lg_status lg_record_refuse(double rows, double size, double more, lg_report *report)
{
    lg_report_say(report, "%.6g states%s would take %.3g GB", rows, more > 0 ? " and the dense output" : "",
                  1e-9 * (rows * size + more));
    report->status = LG_NO_MEMORY;
    lg_report_advise(report, "save fewer states with save_every or t_eval, or write them to a folder with path");
    return LG_NO_MEMORY;
}

/* Makes room for another row by growing the columns by a sixteenth, so that little memory remains unused. Where the C
   library can, it moves columns of more than a few hundred kilobytes by remapping their pages instead of copying
   them. */
static lg_status grow_columns(lg_record *record)
{
    if (record->count < record->capacity)
        return LG_OK;
    size_t more = record->capacity / 16;
    return lg_record_reserve(record, record->capacity + (more > 64 ? more : 64));
}

/* Adds a row; a curve that is NULL gives zeros. */
static lg_status add_row(lg_record *record, const lg_state *state, double h, double error, const double *curve)
{
    LG_TRY(grow_columns(record));
    const double *derivatives = state->carry ? state->carry + record->derivatives : NULL;
    const double *values[LG_COLUMN_COUNT] = {&state->t, &h, &error, state->carry, curve, derivatives};
    for (int part = 0; part < LG_PARTS; part++)
        values[LG_COLUMN_STATE + part] = lg_part_of(state, (lg_part)part);
    for (int c = 0; c < LG_COLUMN_COUNT; c++) {
        size_t width = record->width[c];
        double *row = record->column[c] + record->count * width;
        if (width && values[c])
            lg_copy((int)width, values[c], row);
        else if (width)
            lg_zero((int)width, row);
    }
    record->count++;
    return LG_OK;
}

lg_status lg_record_add(lg_record *record, const lg_state *state, double h, double error)
{
    return add_row(record, state, h, error, NULL);
}

/* Whether a part of the last state is not the given one. */
static int differs(const lg_record *record, lg_part part, const double *values)
{
    size_t n = record->width[LG_COLUMN_STATE + part];
    const double *last = record->column[LG_COLUMN_STATE + part] + (record->count - 1) * n;
    return n && memcmp(last, values, n * sizeof *last) != 0;
}

lg_status lg_record_add_step(lg_record *record, const lg_state *before, const lg_state *after, const double *curve)
{
    if (!record->count || differs(record, LG_PART_A, before->a) || differs(record, LG_PART_MEM, before->mem))
        LG_TRY(lg_record_add(record, before, 0, NAN));
    return add_row(record, after, after->t - before->t, NAN, curve);
}

lg_status lg_record_add_end(lg_record *record, const lg_state *end)
{
    int there = record->count && record->column[LG_COLUMN_T][record->count - 1] == end->t;
    return there && (differs(record, LG_PART_A, end->a) || differs(record, LG_PART_MEM, end->mem))
               ? lg_record_add(record, end, 0, NAN)
               : LG_OK;
}

void lg_record_trim(lg_record *record)
{
    for (int c = 0; c < LG_COLUMN_COUNT && record->count < record->capacity; c++)
        (void)resize(&record->column[c], record->count, record->width[c]);
    record->capacity = record->count ? record->count : record->capacity;
}

double *lg_record_take(lg_record *record, lg_column column)
{
    double *taken = record->column[column];
    record->column[column] = NULL;
    return taken;
}

void lg_record_close(lg_record *record)
{
    for (int c = 0; c < LG_COLUMN_COUNT; c++)
        free(lg_record_take(record, (lg_column)c));
    record->count = record->capacity = 0;
}
