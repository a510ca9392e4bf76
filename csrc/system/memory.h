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

/* Changes of q and v at the start of a step and at its end, and of the memory: at the start, in place at the end. */
typedef struct lg_memory_change {
    double *q[2], *v[2], *mem;
} lg_memory_change;

/* Derivatives of memory that changes smoothly in `commit`, for runs with sensitivities. They are those of the branch on
   which the step is. */
typedef struct lg_memory_slopes {
    int (*room)(void *self); /* doubles in which a step is kept */
    /* The map of a step, or of a start (from->q NULL), at fixed parameters. Each point has the memory there, that of a
       start the guess. */
    lg_status (*open)(void *self, const lg_point *from, const lg_point *to, double *room);
    void (*follow)(void *self, double *room, const lg_memory_change *change);
    /* The transposed map, from the memory at the end to that at the start, in place; adds to the rest. */
    void (*follow_back)(void *self, double *room, const lg_memory_change *adjoint);
    /* out += s times the change of `force` at a point along one of its memory, and the transposed map. */
    lg_status (*force)(void *self, const lg_point *point, const double *dmem, double s, double *out);
    lg_status (*force_back)(void *self, const lg_point *point, const double *w, double s, double *mem);
    /* Sets those of the factors (nmem), which are 1, by which the memory at a point can be multiplied so that no force
       changes and the kink of forces at it is far. */
    lg_status (*stretch)(void *self, const lg_point *point, double *factor);
} lg_memory_slopes;

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
    int first_sampled; /* samples change no number of mem before this one; nmem if there are none */
    const lg_memory_slopes *slopes; /* NULL: `commit` changes no number smoothly on which forces depend */
    int first_held; /* no number before this one has derivatives: 0 with slopes, else first_sampled */
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
