/* Ensembles: many runs, one after the other, each of which gives the same result as alone. */
#include "check.h"
#include "integrator/methods.h"
#include "plans.h"
#include "run/ensemble.h"
#include "systems.h"

enum { COUNT = 3, MAX_OPTIONS = 64 };

static const double starts[COUNT][2] = {{1, 0}, {0.5, -0.25}, {-1, 2}};

/* An ensemble of the oscillator from different starts; `options` must hold as many values as the method has. */
static lg_ensemble open_ensemble(const hand_system *s, lg_option_value *options, lg_member *members,
                                 const lg_schedule *schedule)
{
    const lg_method *method = lg_method_find("rk44");
    lg_method_defaults(method, options);
    for (int i = 0; i < COUNT; i++)
        members[i] = (lg_member){.setup = {.system = &s->system,
                                           .plans = one_plan(s->plan),
                                           .method = method,
                                           .options = options,
                                           .start.part = {starts[i], s->v0}}};
    return (lg_ensemble){.schedule = schedule, .count = COUNT, .member = members};
}

static int same_rows(const lg_record *a, const lg_record *b)
{
    int same = a->count == b->count;
    for (int c = 0; same && c < LG_COLUMN_COUNT; c++)
        if (a->width[c] && c != LG_COLUMN_ERROR)
            same = memcmp(a->column[c], b->column[c], a->count * a->width[c] * sizeof(double)) == 0;
    return same;
}

static void test_each_member_is_its_own_run(void)
{
    hand_system s;
    lg_option_value options[MAX_OPTIONS];
    lg_member members[COUNT];
    lg_schedule schedule = {.t_end = 1, .h = 0.01, .save_every = 7};
    lg_observer observer = {0};
    oscillator(&s);
    lg_ensemble ensemble = open_ensemble(&s, options, members, &schedule);
    CHECK(lg_ensemble_run(&ensemble, &observer) == LG_OK && ensemble.done == COUNT);
    for (int i = 0; i < COUNT; i++) {
        lg_session session = {.setup = &members[i].setup, .schedule = &schedule, .observer = &observer};
        lg_outcome alone, *outcome = &members[i].outcome;
        CHECK(lg_session_run(&session, &alone) == LG_OK && alone.report.status == LG_OK);
        CHECK(same_rows(&alone.states, &outcome->states) && same_rows(&alone.end, &outcome->end));
        CHECK(outcome->end.count == 1 && outcome->report.status == LG_OK && outcome->stats.steps == 100);
        CHECK(outcome->ncarry > 0 && outcome->ncarry == alone.ncarry);
        CHECK(memcmp(outcome->carry, alone.carry, (size_t)alone.ncarry * sizeof(double)) == 0);
        lg_outcome_close(&alone);
    }
    lg_ensemble_close(&ensemble);
    hand_free(&s);
}

/* A run that fails leaves the others alone; an exception of the caller ends them. */
static void test_failures(void)
{
    hand_system s;
    lg_option_value options[MAX_OPTIONS];
    lg_member members[COUNT];
    lg_schedule schedule = {.t_end = 1, .h = 0.01, .save_every = 1};
    double bad[2] = {1e300, 1};
    oscillator(&s);
    lg_ensemble ensemble = open_ensemble(&s, options, members, &schedule);
    members[1].setup.start.part[LG_PART_Q] = bad;
    CHECK(lg_ensemble_run(&ensemble, &(lg_observer){0}) == LG_OK && ensemble.done == COUNT);
    lg_status failed = members[1].outcome.report.status;
    CHECK(failed == LG_NOT_FINITE || failed == LG_UNDEFINED);
    CHECK(members[0].outcome.report.status == LG_OK && members[2].outcome.states.count == 101);
    lg_ensemble_close(&ensemble);

    ensemble = open_ensemble(&s, options, members, &schedule);
    s.evaluations = 0, s.fail_at = 500;
    CHECK(lg_ensemble_run(&ensemble, &(lg_observer){0}) == LG_CALLBACK && ensemble.done == 2);
    CHECK(members[0].outcome.report.status == LG_OK && members[1].outcome.report.status == LG_CALLBACK);
    CHECK(members[1].outcome.states.count > 1 && members[1].outcome.states.count < 101);
    lg_ensemble_close(&ensemble);
    hand_free(&s);
}

/* ---- rows that are taken away during a run ---- */

enum { ROOM = 10 };

/* What has been taken: all rows, and the outcome of the second call, from which another run starts. */
typedef struct taking {
    lg_record all;
    int calls;
    lg_start start;
    double q[2], v[2], a[2], carry[MAX_OPTIONS];
} taking;

static void add_rows(taking *taken, const lg_record *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        lg_state state = {.t = rows->column[LG_COLUMN_T][i]};
        double *const *part = rows->column + LG_COLUMN_STATE;
        state.q = part[LG_PART_Q] + 2 * i, state.v = part[LG_PART_V] + 2 * i, state.a = part[LG_PART_A] + 2 * i;
        CHECK(lg_record_add(&taken->all, &state, rows->column[LG_COLUMN_H][i], NAN) == LG_OK);
    }
}

static lg_status take(void *self, lg_outcome *rows)
{
    taking *taken = self;
    double *const *end = rows->end.column;
    CHECK(rows->states.count == ROOM && rows->end.count == 1);
    CHECK(end[LG_COLUMN_T][0] == rows->states.column[LG_COLUMN_T][ROOM - 1]);
    add_rows(taken, &rows->states);
    if (taken->calls++ != 1)
        return LG_OK;
    memcpy(taken->q, end[LG_COLUMN_STATE + LG_PART_Q], sizeof taken->q);
    memcpy(taken->v, end[LG_COLUMN_STATE + LG_PART_V], sizeof taken->v);
    memcpy(taken->a, end[LG_COLUMN_STATE + LG_PART_A], sizeof taken->a);
    memcpy(taken->carry, rows->carry, (size_t)rows->ncarry * sizeof *rows->carry);
    taken->start = (lg_start){.t = end[LG_COLUMN_T][0],
                              .part = {taken->q, taken->v, taken->a, taken->a, taken->a},
                              .carry = taken->carry,
                              .ncarry = rows->ncarry};
    return LG_OK;
}

/* The rows taken and those left are the rows of the run, and a run resumed after any of them takes the same steps. */
static void test_rows_taken_away(void)
{
    hand_system s;
    lg_option_value options[MAX_OPTIONS];
    lg_member members[COUNT];
    lg_schedule schedule = {.t_end = 1, .h = 0.01, .save_every = 1};
    taking taken = {.calls = 0};
    lg_observer observer = {.self = &taken};
    oscillator(&s);
    (void)open_ensemble(&s, options, members, &schedule);
    lg_setup setup = members[0].setup;
    lg_session session = {.setup = &setup, .schedule = &schedule, .observer = &observer};
    lg_outcome whole, left, resumed;
    CHECK(lg_session_run(&session, &whole) == LG_OK);

    taken.all = lg_record_of(&s.system, 0);
    session.take = take, session.room = ROOM;
    CHECK(lg_session_run(&session, &left) == LG_OK && taken.calls == 10 && left.states.count == 1);
    add_rows(&taken, &left.states);
    CHECK(same_rows(&whole.states, &taken.all) && same_rows(&whole.end, &left.end));

    session.take = NULL;
    setup.start = taken.start;
    CHECK(lg_session_run(&session, &resumed) == LG_OK && resumed.states.count == 101 - 19);
    CHECK(same_rows(&whole.end, &resumed.end));
    lg_outcome_close(&whole);
    lg_outcome_close(&left);
    lg_outcome_close(&resumed);
    lg_record_close(&taken.all);
    hand_free(&s);
}

/* If a run refuses its start, the outcome has columns without rows, and no carry. */
static void test_a_start_that_is_refused(void)
{
    hand_system s;
    lg_option_value options[MAX_OPTIONS];
    lg_member members[COUNT];
    lg_schedule schedule = {.t_end = 1, .h = 0.01, .save_every = 1};
    oscillator(&s);
    (void)open_ensemble(&s, options, members, &schedule);
    lg_setup setup = members[0].setup;
    lg_session session = {.setup = &setup, .schedule = &schedule, .observer = &(lg_observer){0}, .dense = 1};
    lg_outcome outcome;
    setup.start.t = NAN;
    CHECK(lg_session_run(&session, &outcome) == LG_BAD_ARGUMENT);
    CHECK(strcmp(outcome.report.what, "t0 must be finite") == 0);
    CHECK(!outcome.states.count && !outcome.end.count && !outcome.knots.count && !outcome.ncarry);
    CHECK(outcome.states.width[LG_COLUMN_STATE] == 2 && outcome.knots.width[LG_COLUMN_STATE] == 2);
    lg_outcome_close(&outcome);
    hand_free(&s);
}

int main(void)
{
    RUN(test_each_member_is_its_own_run);
    RUN(test_failures);
    RUN(test_rows_taken_away);
    RUN(test_a_start_that_is_refused);
    return check_result();
}
