/* Ensembles: many runs one after the other, each of which gives the same result as if it were run alone. */
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
    lg_ensemble ensemble = {
        .method = lg_method_find("rk44"), .options = options, .schedule = schedule, .count = COUNT, .member = members};
    lg_method_defaults(ensemble.method, options);
    for (int i = 0; i < COUNT; i++)
        members[i] = (lg_member){.system = &s->system, .plans = one_plan(s->plan), .start.part = {starts[i], s->v0}};
    return ensemble;
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
        lg_session alone = {0};
        lg_report report;
        CHECK(lg_run_open(&alone.run, &s.system, (lg_plans[]){one_plan(s.plan)}, ensemble.method, options,
                          &members[i].start, &report) == LG_OK);
        lg_session_begin(&alone);
        CHECK(lg_session_run(&alone, &schedule, &observer, &report) == LG_OK);
        CHECK(same_rows(&alone.states, &members[i].states) && same_rows(&alone.end, &members[i].end));
        CHECK(members[i].report.status == LG_OK && members[i].stats.steps == 100);
        CHECK(members[i].ncarry == lg_run_carry_count(&alone.run));
        CHECK(memcmp(members[i].carry, alone.run.state.carry, (size_t)members[i].ncarry * sizeof(double)) == 0);
        lg_session_close(&alone);
        lg_member_close(&members[i]);
    }
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
    members[1].start.part[LG_PART_Q] = bad;
    CHECK(lg_ensemble_run(&ensemble, &(lg_observer){0}) == LG_OK && ensemble.done == COUNT);
    CHECK(members[1].report.status == LG_NOT_FINITE || members[1].report.status == LG_UNDEFINED);
    CHECK(members[0].report.status == LG_OK && members[2].states.count == 101);
    for (int i = 0; i < COUNT; i++)
        lg_member_close(&members[i]);

    ensemble = open_ensemble(&s, options, members, &schedule);
    s.evaluations = 0, s.fail_at = 500;
    CHECK(lg_ensemble_run(&ensemble, &(lg_observer){0}) == LG_CALLBACK && ensemble.done == 2);
    CHECK(members[0].report.status == LG_OK && members[1].report.status == LG_CALLBACK);
    CHECK(members[1].states.count > 1 && members[1].states.count < 101 && members[2].states.count == 0);
    for (int i = 0; i < COUNT; i++)
        lg_member_close(&members[i]);
    hand_free(&s);
}

int main(void)
{
    RUN(test_each_member_is_its_own_run);
    RUN(test_failures);
    return check_result();
}
