/* A whole run and its outcome; see session.h. */
#include "run/session.h"

#include "core/memory.h"

/* A session under way. */
typedef struct recording {
    const lg_session *session;
    lg_outcome *outcome;
    lg_run run;
    const lg_state *reached; /* the state from which a resumed run goes on after the last row */
    double saved; /* time of the last row */
    double gone; /* rows that have been taken away */
    long steps, marks; /* steps since the start or the last action, and how often `mark` has been called since then */
    long before; /* steps until then */
    double begin, taken; /* wall times of the beginning and of the last call of `take` */
} recording;

/* ---- outcomes of the whole run and of rows that are taken away ---- */

/* Adds derivatives by parameters to the columns of a record, if the run has them. */
static void add_derivatives(const lg_run *run, lg_record *record)
{
    if (!run->stepper || !run->sensitivities.count)
        return;
    record->derivatives = (size_t)(run->sensitivities.q - run->state.carry);
    record->width[LG_COLUMN_DERIVATIVES] = (size_t)(run->sensitivities.own - run->sensitivities.q);
}

/* A run that could not be opened has no carry. At times of t_eval derivatives follow from the knots. */
static lg_status open_outcome(const recording *r, lg_outcome *outcome)
{
    const lg_run *run = &r->run;
    LG_TRY(lg_outcome_open(outcome, run->system, lg_run_extra_count(run), run->stepper ? lg_run_carry_count(run) : 0));
    if (!r->session->schedule->t_eval)
        add_derivatives(run, &outcome->states);
    return LG_OK;
}

static void finish_outcome(const recording *r, const lg_state *last, lg_outcome *outcome)
{
    const lg_run *run = &r->run;
    lg_record_trim(&outcome->states);
    lg_record_trim(&outcome->knots);
    lg_outcome_reach(outcome, last, run->h, run->error);
    outcome->stats = run->stepper->stats;
    outcome->wall_time = lg_wall_time_since(r->begin);
}

/* Moves the rows saved so far to an outcome of their own. */
static lg_status move_rows(recording *r, lg_outcome *rows)
{
    LG_TRY(open_outcome(r, rows));
    lg_record none = rows->states;
    rows->states = r->outcome->states;
    r->outcome->states = none;
    finish_outcome(r, r->reached, rows);
    return LG_OK;
}

static lg_status take_rows(recording *r)
{
    const lg_session *session = r->session;
    lg_outcome rows;
    lg_status status = move_rows(r, &rows);
    if (status == LG_OK)
        status = session->take(session->observer->self, &rows);
    r->gone += (double)rows.states.count;
    if (status == LG_OK && !lg_memory_suffices(session->kept * r->gone)) /* joining them as arrays takes as much */
        status = LG_NO_MEMORY;
    lg_outcome_close(&rows);
    (void)lg_record_reserve(&r->outcome->states, session->room);
    r->taken = lg_wall_time();
    return status;
}

/* ---- what is recorded on the way ---- */

/* Whether the rows are to be taken away. */
static int is_full(const recording *r)
{
    return r->session->take &&
           (r->outcome->states.count >= r->session->room || fabs(lg_wall_time() - r->taken) >= LG_TAKE_INTERVAL);
}

/* A state inside a step cannot be resumed; a run resumed from the start of that step reaches it again. */
static lg_status session_save(void *self, const lg_state *state, double h)
{
    recording *r = self;
    LG_TRY(lg_record_add(&r->outcome->states, state, h, r->run.error));
    r->saved = state->t;
    r->reached = state == &r->run.state ? state : &r->run.before;
    if (r->run.system->choice)
        LG_TRY(lg_run_check_rows(&r->run, state));
    return is_full(r) ? take_rows(r) : LG_OK;
}

/* The start of the last step is marked if it is the next one to be marked; an action begins anew. */
static lg_status mark(recording *r)
{
    const lg_session *session = r->session;
    long next = r->marks * (r->marks + 1) / 2;
    if (!session->mark || r->steps++ != next)
        return LG_OK;
    r->marks++;
    return session->mark(session->observer->self, r->before + next, &r->run.before, lg_run_carry_count(&r->run));
}

static lg_status session_step(void *self, lg_run *run, double *t_stop)
{
    recording *r = self;
    const lg_observer *observer = r->session->observer;
    const double *curve = NULL;
    LG_TRY(mark(r));
    if (r->session->tape)
        LG_TRY(lg_tape_add(r->session->tape, run));
    if (r->session->dense) {
        LG_TRY(lg_run_curve(run, &curve));
        LG_TRY(lg_record_add_step(&r->outcome->knots, &run->before, &run->state, curve));
    }
    return observer->step ? observer->step(observer->self, run, t_stop) : LG_OK;
}

/* The state before the action is a row of its own; rows are only taken away with the one after it, from which a run
   can go on. */
static lg_status session_act(void *self, lg_run *run, int *acts, int *goes_on)
{
    recording *r = self;
    const lg_observer *observer = r->session->observer;
    lg_record *rows = &r->outcome->states;
    size_t before = rows->count;
    if (!r->session->schedule->t_eval && r->saved != run->state.t) // unless it acts on the start
        LG_TRY(lg_record_add(rows, &run->state, run->h, run->error));
    lg_status status = observer->act(observer->self, run, acts, goes_on);
    if (status != LG_OK || !*acts)
        rows->count = before;
    else
        r->before += r->steps, r->steps = r->marks = 0;
    return status;
}

static lg_status session_poll(void *self, double t)
{
    const lg_observer *observer = ((const recording *)self)->session->observer;
    return observer->poll(observer->self, t);
}

/* ---- the run ---- */

static lg_status open_run(recording *r, lg_report *report)
{
    lg_status status = lg_run_open(&r->run, r->session->setup, report);
    lg_status opened = open_outcome(r, r->outcome);
    if (r->session->dense) {
        r->outcome->knots = lg_record_of_knots(r->run.system, lg_run_extra_count(&r->run), lg_run_curve_count(&r->run));
        add_derivatives(&r->run, &r->outcome->knots);
    }
    return status == LG_OK ? opened : status;
}

/* Reserves all rows if their number is known, with memory left for those of the other runs. If that fails, the run is
   refused, unless it may end earlier: then the records grow as needed, as with adaptive steps. */
static lg_status reserve_rows(const recording *r, lg_report *report)
{
    long steps = 0, saves = 0;
    const lg_session *session = r->session;
    const lg_schedule *schedule = session->schedule;
    lg_outcome *outcome = r->outcome;
    int fixed = lg_schedule_count(r->run.system, schedule, r->run.state.t, &steps, &saves) == LG_OK;
    size_t rows = (size_t)(schedule->t_eval ? schedule->nt_eval : saves);
    size_t knots = session->dense && fixed ? (size_t)steps + 1 : 0;
    double row = session->take ? session->kept : (double)lg_record_row_size(&outcome->states);
    double runs = 1 + (double)session->others, all = runs * (double)rows;
    double more = runs * (double)knots * (double)lg_record_row_size(&outcome->knots);
    int fits = lg_memory_suffices(all * row + more) &&
               lg_record_reserve(&outcome->states, session->take ? session->room : rows) == LG_OK &&
               lg_record_reserve(&outcome->knots, knots) == LG_OK;
    return fits || session->observer->ends ? LG_OK : lg_record_refuse(all, row, more, report);
}

static lg_status run_session(recording *r, lg_report *report)
{
    const lg_session *session = r->session;
    int watches = session->dense || session->mark || session->tape || session->observer->step;
    lg_observer recorder = {.self = r,
                            .save = session_save,
                            .poll = session->observer->poll ? session_poll : NULL,
                            .step = watches ? session_step : NULL,
                            .act = session->observer->act ? session_act : NULL,
                            .ends = session->observer->ends};
    r->taken = lg_wall_time();
    LG_TRY(reserve_rows(r, report));
    if (session->take) /* a run may be resumed from the state before a step, which needs the whole carry */
        LG_TRY(lg_run_look_back(&r->run, lg_run_carry_count(&r->run)));
    if (session->tape)
        lg_tape_begin(session->tape, &r->run);
    LG_TRY(lg_integrate(&r->run, session->schedule, &recorder, report));
    if (session->dense)
        LG_TRY(lg_record_add_end(&r->outcome->knots, &r->run.state));
    if (session->tape)
        lg_tape_end(session->tape, &r->run);
    return LG_OK;
}

/* After a failure the last accepted state is part of the outcome even if save_every would have left it out. */
static void save_last(recording *r)
{
    const lg_state *state = &r->run.state;
    if (!r->session->schedule->t_eval && r->saved < state->t)
        (void)lg_record_add(&r->outcome->states, state, r->run.h, r->run.error);
}

lg_status lg_session_run(const lg_session *session, lg_outcome *outcome)
{
    recording r = {.session = session, .outcome = outcome, .saved = INFINITY, .begin = lg_wall_time()};
    lg_report report;
    lg_status status = open_run(&r, &report);
    if (status == LG_OK) {
        status = run_session(&r, &report);
        if (status != LG_OK)
            save_last(&r);
        finish_outcome(&r, &r.run.state, outcome);
    }
    lg_run_close(&r.run);
    outcome->report = report;
    outcome->report.status = status;
    return status;
}
