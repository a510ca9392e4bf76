/* One block of memory, measured by the function that carves it. */
#include "check.h"
#include "core/arena.h"

typedef struct pieces {
    double *a, *b;
    int *c;
    char *d;
    size_t count;
    int calls;
} pieces;

static void layout(void *self, lg_arena *arena)
{
    pieces *p = self;
    p->a = lg_arena_doubles(arena, p->count);
    p->c = lg_arena_ints(arena, p->count + 1);
    p->d = lg_arena_take(arena, 1);
    p->b = lg_arena_doubles(arena, 3);
    p->calls++;
}

static void test_measured_equals_used(void)
{
    for (size_t count = 0; count < 40; count++) {
        pieces p = {.count = count};
        lg_arena measure = {0}, arena;
        layout(&p, &measure);
        CHECK(p.a == NULL && p.b == NULL && p.c == NULL && p.d == NULL);
        CHECK(lg_arena_open(&arena, layout, &p) == LG_OK);
        CHECK(arena.used == measure.used);
        CHECK(p.calls == 3);
        lg_arena_close(&arena);
        CHECK(arena.base == NULL && arena.used == 0);
    }
}

static void test_pieces_are_aligned_zero_and_apart(void)
{
    pieces p = {.count = 11};
    lg_arena arena;
    CHECK(lg_arena_open(&arena, layout, &p) == LG_OK);
    CHECK((uintptr_t)p.a % 64 == 0 && (uintptr_t)p.b % 64 == 0 && (uintptr_t)p.c % 64 == 0 && (uintptr_t)p.d % 64 == 0);
    for (int i = 0; i < 11; i++)
        CHECK(p.a[i] == 0 && p.c[i] == 0);

    memset(p.a, 1, 11 * sizeof(double));
    memset(p.c, 2, 12 * sizeof(int));
    *p.d = 3;
    CHECK(p.b[0] == 0 && p.b[2] == 0 && *p.d == 3 && p.c[0] == 0x02020202 && ((char *)p.a)[87] == 1);
    lg_arena_close(&arena);
}

static void empty_layout(void *self, lg_arena *arena)
{
    (void)self;
    (void)arena;
}

static void test_an_empty_arena_opens(void)
{
    lg_arena arena;
    CHECK(lg_arena_open(&arena, empty_layout, NULL) == LG_OK);
    CHECK(arena.base != NULL && arena.used == 0);
    lg_arena_close(&arena);
}

int main(void)
{
    RUN(test_measured_equals_used);
    RUN(test_pieces_are_aligned_zero_and_apart);
    RUN(test_an_empty_arena_opens);
    return check_result();
}
