/* The state of a run and the table of its parts, which copies, records, starts and the Python side enumerate. */
#ifndef LG_INTEGRATOR_STATE_H
#define LG_INTEGRATOR_STATE_H

#include "core/arena.h"
#include "system/system.h"

#include <stddef.h>

/* The state at t. All arrays belong to the run's arena. */
typedef struct lg_state {
    double t;
    double *q, *v, *a, *lam, *mem; /* a: the true accelerations vdot */
    double *carry; /* all else that later steps depend on: the stepper's, then the loop's grid */
} lg_state;

/* X(part, field, name, width, doc): the arrays of a state except its carry; `name` is that in results. */
#define LG_STATE(X)                                                                                                    \
    X(Q, q, "q", space->nq, "coordinates (nq,)")                                                                       \
    X(V, v, "v", space->nv, "velocities (nv,)")                                                                        \
    X(A, a, "vdot", space->nv, "accelerations (nv,)")                                                                  \
    X(LAM, lam, "lam", pattern->nrows, "multipliers (nrows,)")                                                         \
    X(MEM, mem, "mem", nmem, "memory of the system (nmem,)")

typedef enum lg_part {
#define LG_PART(part, field, name, width, doc) LG_PART_##part,
    LG_STATE(LG_PART)
#undef LG_PART
        LG_PARTS
} lg_part;

typedef struct lg_part_info {
    const char *name;
    size_t field; /* offset of its array in lg_state */
} lg_part_info;

extern const lg_part_info lg_parts[LG_PARTS];

/* The number of values of a part. */
int lg_part_width(const lg_system *system, lg_part part);

static inline double *lg_part_of(const lg_state *state, lg_part part)
{
    return *(double *const *)((const char *)state + lg_parts[part].field);
}

/* Takes the arrays of a state from an arena. */
void lg_state_layout(lg_state *state, const lg_system *system, int ncarry, lg_arena *arena);
/* Copies t and all parts, and ncarry values of the carry. */
void lg_state_copy(const lg_system *system, int ncarry, const lg_state *from, lg_state *to);

#endif
