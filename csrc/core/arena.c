/* The arena; see arena.h. */
#ifdef __linux__
#define _DEFAULT_SOURCE /* madvise */
#include <sys/mman.h>
#endif
#include "core/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64, LONG = 1 << 22 };

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

/* Asks for huge pages under a long array before it is written for the first time: it takes fewer translations of
   addresses than the processor remembers. */
static void ask_for_huge_pages(char *memory, size_t size)
{
#ifdef MADV_HUGEPAGE
    const uintptr_t page = 4096;
    uintptr_t start = ((uintptr_t)memory + page - 1) / page * page, end = ((uintptr_t)memory + size) / page * page;
    if (size >= LONG)
        (void)madvise((void *)start, end - start, MADV_HUGEPAGE); // the memory serves without them as well
#else
    (void)memory, (void)size;
#endif
}

/* An arena on memory that was allocated with room for the alignment. */
static lg_arena open_on(char *memory)
{
    return (lg_arena){.memory = memory, .base = memory + ALIGNMENT - (uintptr_t)memory % ALIGNMENT};
}

lg_status lg_arena_open(lg_arena *arena, void (*layout)(void *self, lg_arena *arena), void *self)
{
    *arena = (lg_arena){0};
    layout(self, arena);

    char *memory = calloc(1, arena->used + ALIGNMENT);
    if (!memory)
        return LG_NO_MEMORY;

    ask_for_huge_pages(memory, arena->used + ALIGNMENT);
    *arena = open_on(memory);
    layout(self, arena);
    return LG_OK;
}

lg_status lg_arena_copy(lg_arena *arena, const lg_arena *from)
{
    *arena = (lg_arena){0};
    char *memory = malloc(from->used + ALIGNMENT);
    if (!memory)
        return LG_NO_MEMORY;

    ask_for_huge_pages(memory, from->used + ALIGNMENT);
    *arena = open_on(memory);
    arena->used = from->used;
    memcpy(arena->base, from->base, from->used);
    return LG_OK;
}

void lg_arena_close(lg_arena *arena)
{
    free(arena->memory);
    *arena = (lg_arena){0};
}
