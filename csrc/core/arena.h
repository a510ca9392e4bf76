/* One block of memory per run. The function that carves it also measures it: it runs once on an arena without memory,
   to learn the size, and again on the memory. Pieces are aligned to 64 bytes and start as zeros. */
#ifndef LG_CORE_ARENA_H
#define LG_CORE_ARENA_H

#include "core/status.h"

#include <stddef.h>

typedef struct lg_arena {
    char *memory; /* as it was allocated */
    char *base; /* its first aligned byte; NULL while measuring */
    size_t used; /* bytes handed out so far */
} lg_arena;

/* Next `bytes` of the arena, or NULL while measuring. */
void *lg_arena_take(lg_arena *arena, size_t bytes);
double *lg_arena_doubles(lg_arena *arena, size_t count);
int *lg_arena_ints(lg_arena *arena, size_t count);

/* Measures with `layout`, allocates, and carves with the same function. Free with lg_arena_close. */
lg_status lg_arena_open(lg_arena *arena, void (*layout)(void *self, lg_arena *arena), void *self);
/* Allocates a copy of another arena. */
lg_status lg_arena_copy(lg_arena *arena, const lg_arena *from);
void lg_arena_close(lg_arena *arena);

#endif
