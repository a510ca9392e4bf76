/* How a system renews its memory: what it keeps of its way beside t, q and v, such as turns of joints, bristles of
   contacts and values of sampled controls. Within a step mem belongs to the step's start. Each function is optional. */
#ifndef LG_SYSTEM_MEMORY_H
#define LG_SYSTEM_MEMORY_H

#include "core/status.h"
#include "system/point.h"

typedef struct lg_memory_error { /* of a step */
    double size; /* the largest one over its tolerance */
    const char *name; /* of the element to which it belongs */
} lg_memory_error;

typedef struct lg_memory_rules {
    /* Updates mem, which belongs to the point `from`, to that of the end of a step. `from` NULL: `to` is a start, and
       mem only the caller's guess. On failure, as LG_TURNED if an element has turned too far in the step, the report
       names the element, and mem is of no use. */
    lg_status (*commit)(void *self, const lg_point *from, const lg_point *to, double *mem, lg_report *report);
    /* The error of what evaluations in a step assume of the memory between its start, with `from`, and its end, with
       `to`. A value x has the tolerance atol + rtol |x|. */
    lg_status (*error)(void *self, const lg_point *from, const lg_point *to, double rtol, double atol,
                       lg_memory_error *error);
    /* Renews the values that are sampled at point->t, or that a start lacks, between two steps. On failure nothing
       changes. */
    lg_status (*sample)(void *self, const lg_point *point, double *mem);
    int first_sampled; /* samples change no number of mem before this one */
} lg_memory_rules;

/* Sets mem at a start, of which it is a guess. */
static inline lg_status lg_memory_begin(const lg_memory_rules *memory, void *self, const lg_point *point, double *mem,
                                        lg_report *report)
{
    if (memory->commit)
        LG_TRY(memory->commit(self, NULL, point, mem, report));
    return memory->sample ? memory->sample(self, point, mem) : LG_OK;
}

#endif
