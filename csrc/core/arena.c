#include "core/arena.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64 };

void *lg_arena_take(lg_arena *arena, size_t bytes)
{
    size_t start = arena->used;
    arena->used = start + (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return arena->base ? arena->base + start : NULL;
}

double *lg_arena_doubles(lg_arena *arena, size_t count)
{
    return lg_arena_take(arena, count * sizeof(double));
}

int *lg_arena_ints(lg_arena *arena, size_t count)
{
    return lg_arena_take(arena, count * sizeof(int));
}

lg_status lg_arena_open(lg_arena *arena, void (*layout)(void *self, lg_arena *arena), void *self)
{
    *arena = (lg_arena){0};
    layout(self, arena);

    size_t size = arena->used ? arena->used : ALIGNMENT;
    char *memory = aligned_alloc(ALIGNMENT, size);
    if (!memory)
        return LG_NO_MEMORY;
    memset(memory, 0, size);

    *arena = (lg_arena){memory, 0};
    layout(self, arena);
    return LG_OK;
}

void lg_arena_close(lg_arena *arena)
{
    free(arena->base);
    *arena = (lg_arena){0};
}
