/* The steps of a run in memory; see tape.h. */
#include "run/tape.h"

#include "core/memory.h"

#include <stdlib.h>

struct lg_tape_part {
    lg_arena arena;
    lg_taken *steps;
};

static const double part_size = 1 << 20; /* bytes */

/* ---- memory ---- */

/* Of a part for a number of steps, with the state after the last one. */
typedef struct room {
    const lg_run *run;
    long steps;
    lg_taken *taken;
    lg_state *end; /* NULL: without it */
} room;

static void layout_part(void *self, lg_arena *arena)
{
    room *r = self;
    const lg_run *run = r->run;
    int ncarry = lg_run_carry_count(run);
    size_t nkept = (size_t)run->stepper->type->sensitivities->adjoint->count(run->stepper);
    lg_taken measured, *all = lg_arena_take(arena, (size_t)r->steps * sizeof *all);
    r->taken = all;
    for (long i = 0; i < r->steps; i++) {
        lg_taken *step = all ? &all[i] : &measured;
        lg_state_layout(&step->before, run->system, ncarry, arena);
        lg_state_layout(&step->after, run->system, 0, arena);
        step->kept = lg_arena_doubles(arena, nkept);
    }
    if (r->end)
        lg_state_layout(r->end, run->system, 0, arena);
}

static double size_of(room *r)
{
    lg_arena measured = {0};
    layout_part(r, &measured);
    return (double)measured.used;
}

/* The steps of a part, and its size in bytes. */
static double measure(const lg_tape *tape, const lg_run *run, long *steps)
{
    lg_state end;
    room r = {.run = run, .steps = 1, .end = tape->nparts ? NULL : &end};
    double one = size_of(&r);
    *steps = tape->nparts ? tape->in_part : one < part_size ? (long)(part_size / one) : 1;
    r.steps = *steps;
    return size_of(&r);
}

static lg_status add_part(lg_tape *tape, const lg_run *run)
{
    long steps;
    double size = measure(tape, run, &steps);
    if (tape->used + size > tape->most || !lg_memory_suffices(size)) {
        lg_tape_close(tape);
        tape->full = 1;
        return LG_OK;
    }
    lg_tape_part *parts = realloc(tape->parts, ((size_t)tape->nparts + 1) * sizeof *parts);
    if (!parts)
        return LG_NO_MEMORY;
    tape->parts = parts;
    lg_tape_part *part = &parts[tape->nparts];
    room r = {.run = run, .steps = steps, .end = tape->nparts ? NULL : &tape->end};
    *part = (lg_tape_part){.steps = NULL};
    LG_TRY(lg_arena_open(&part->arena, layout_part, &r));
    part->steps = r.taken;
    tape->in_part = steps;
    tape->nparts++;
    tape->used += size;
    return LG_OK;
}

void lg_tape_close(lg_tape *tape)
{
    for (int i = 0; i < tape->nparts; i++)
        lg_arena_close(&tape->parts[i].arena);
    free(tape->parts);
    *tape = (lg_tape){.most = tape->most};
}

/* ---- steps ---- */

lg_taken *lg_tape_step(const lg_tape *tape, long i)
{
    return &tape->parts[i / tape->in_part].steps[i % tape->in_part];
}

void lg_tape_begin(lg_tape *tape, const lg_run *run)
{
    tape->restarts = run->restarts;
}

/* Notes whether the state after the last step got other accelerations since. */
static void note_restart(lg_tape *tape, const lg_run *run)
{
    if (tape->count) {
        lg_taken *last = lg_tape_step(tape, tape->count - 1);
        last->restarts = run->restarts > tape->restarts;
        last->past = run->past;
    }
    tape->restarts = run->restarts;
}

lg_status lg_tape_add(lg_tape *tape, const lg_run *run)
{
    if (!tape->full && (!tape->nparts || tape->count == tape->nparts * tape->in_part))
        LG_TRY(add_part(tape, run));
    if (tape->full)
        return LG_OK;
    note_restart(tape, run);
    lg_taken *step = lg_tape_step(tape, tape->count++);
    lg_state_copy(run->system, lg_run_carry_count(run), &run->before, &step->before);
    lg_state_copy(run->system, 0, &run->state, &step->after);
    step->h = run->h;
    run->stepper->type->sensitivities->adjoint->keep(run->stepper, step->kept);
    return LG_OK;
}

void lg_tape_end(lg_tape *tape, const lg_run *run)
{
    if (!tape->count)
        return;
    note_restart(tape, run);
    lg_state_copy(run->system, 0, &run->state, &tape->end);
}
