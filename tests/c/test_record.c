/* The record of a run: columns grow without losing rows, and their ownership can be passed on. */
#include "check.h"
#include "core/memory.h"
#include "run/record.h"
#include "systems.h"

#include <stdlib.h>

/* The i-th state of a system with two coordinates and no rows. */
typedef struct numbered {
    double q[2], v[2], a[2];
    lg_state state;
} numbered;

static const lg_state *state_of(numbered *s, int i)
{
    for (int k = 0; k < 2; k++) {
        s->q[k] = i + 0.1 * k;
        s->v[k] = i + 0.2 * k;
        s->a[k] = i + 0.3 * k;
    }
    s->state = (lg_state){.t = i, .q = s->q, .v = s->v, .a = s->a};
    return &s->state;
}

static int holds_states(const lg_record *record, int count)
{
    int good = record->count == (size_t)count;
    for (int i = 0; good && i < count; i++) {
        good = record->column[LG_COLUMN_T][i] == i && record->column[LG_COLUMN_H][i] == 0.5 * i;
        good = good && record->column[LG_COLUMN_STATE + LG_PART_Q][2 * i + 1] == i + 0.1 &&
               record->column[LG_COLUMN_STATE + LG_PART_V][2 * i] == i;
    }
    return good;
}

static void test_rows_survive_growth(void)
{
    hand_system s;
    numbered at;
    oscillator(&s);
    lg_record record = lg_record_of(&s.system, 0);
    CHECK(record.width[LG_COLUMN_STATE + LG_PART_LAM] == 0 && record.width[LG_COLUMN_STATE + LG_PART_MEM] == 0);
    for (int i = 0; i < 5000; i++) {
        CHECK(lg_record_add(&record, state_of(&at, i), 0.5 * i, 1) == LG_OK);
        CHECK(record.capacity - record.count <= 64 + record.count / 16);
    }
    CHECK(holds_states(&record, 5000));
    lg_record_trim(&record);
    CHECK(record.capacity == 5000 && holds_states(&record, 5000));
    CHECK(record.column[LG_COLUMN_STATE + LG_PART_LAM] == NULL);
    lg_record_close(&record);
    hand_free(&s);
}

static void test_reserved_rows_stay_where_they_are(void)
{
    hand_system s;
    numbered at;
    oscillator(&s);
    lg_record record = lg_record_of(&s.system, 0);
    CHECK(lg_record_reserve(&record, 1000) == LG_OK);
    const double *q = record.column[LG_COLUMN_STATE + LG_PART_Q];
    for (int i = 0; i < 1000; i++)
        CHECK(lg_record_add(&record, state_of(&at, i), 0.5 * i, 1) == LG_OK);
    CHECK(record.column[LG_COLUMN_STATE + LG_PART_Q] == q && record.capacity == 1000);
    double *taken = lg_record_take(&record, LG_COLUMN_STATE + LG_PART_Q);
    CHECK(taken == q && taken[2 * 999 + 1] == 999.1 && record.column[LG_COLUMN_STATE + LG_PART_Q] == NULL);
    free(taken);
    lg_record_close(&record);
    hand_free(&s);
}

static void test_room_that_does_not_exist(void)
{
    hand_system s;
    numbered at;
    oscillator(&s);
    lg_record record = lg_record_of(&s.system, 0);
    for (int i = 0; i < 100; i++)
        CHECK(lg_record_add(&record, state_of(&at, i), 0.5 * i, 1) == LG_OK);
    CHECK(lg_record_reserve(&record, SIZE_MAX / 4) == LG_NO_MEMORY);
    CHECK(holds_states(&record, 100));
    CHECK(lg_record_add(&record, state_of(&at, 100), 50, 1) == LG_OK);
    CHECK(holds_states(&record, 101));
    lg_record_close(&record);
    hand_free(&s);
}

/* Each column fits into the memory that the machine has left, but all of them together do not. */
static void test_room_that_would_only_be_promised(void)
{
    hand_system s;
    oscillator(&s);
    lg_record record = lg_record_of(&s.system, 0);
    double size = 0x1p26;
    while (lg_memory_suffices(2 * size) && size < 0x1p60)
        size *= 2;
    CHECK(lg_record_row_size(&record) == 9 * sizeof(double));
    CHECK(lg_record_reserve(&record, (size_t)(2 * size) / lg_record_row_size(&record) + 1) == LG_NO_MEMORY);
    CHECK(record.capacity == 0 && record.column[LG_COLUMN_T] == NULL);
    lg_record_close(&record);
    hand_free(&s);
}

/* Consecutive steps share a knot, except where the accelerations jump, where two knots have the same time. */
static void test_knots(void)
{
    hand_system s;
    numbered from, to;
    oscillator(&s);
    lg_record record = lg_record_of_knots(&s.system, 0, 0);
    for (int i = 0; i < 3; i++)
        CHECK(lg_record_add_step(&record, state_of(&from, i), state_of(&to, i + 1), NULL) == LG_OK);
    CHECK(record.count == 4);
    state_of(&from, 3);
    from.a[0] = 7;
    CHECK(lg_record_add_step(&record, &from.state, state_of(&to, 4), NULL) == LG_OK);
    CHECK(record.count == 6 && record.column[LG_COLUMN_T][3] == 3 && record.column[LG_COLUMN_T][4] == 3);
    CHECK(record.column[LG_COLUMN_STATE + LG_PART_A][2 * 4] == 7 && record.column[LG_COLUMN_H] == NULL);
    lg_record_close(&record);
    hand_free(&s);
}

int main(void)
{
    RUN(test_rows_survive_growth);
    RUN(test_reserved_rows_stay_where_they_are);
    RUN(test_room_that_does_not_exist);
    RUN(test_room_that_would_only_be_promised);
    RUN(test_knots);
    return check_result();
}
