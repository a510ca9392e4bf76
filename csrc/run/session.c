/* A whole run and its results; see session.h. */
#include "run/session.h"

void lg_session_begin(lg_session *session)
{
    const lg_system *system = session->run.system;
    int extra = lg_run_extra_count(&session->run);
    session->states = session->end = lg_record_of(system, extra);
    session->knots = lg_record_of_knots(system, extra);
}

void lg_session_close(lg_session *session)
{
    lg_record_close(&session->states);
    lg_record_close(&session->knots);
    lg_record_close(&session->end);
    lg_run_close(&session->run);
}

/* ---- what is recorded on the way ---- */

static lg_status add(const lg_session *session, lg_record *record, const lg_state *state, double h)
{
    return lg_record_add(record, state, h, h > 0 ? session->run.error : NAN);
}

/* Whether the rows are to be taken away. */
static int is_full(const lg_session *session)
{
    return session->take &&
           (session->states.count >= session->room || fabs(lg_wall_time() - session->taken) >= LG_TAKE_INTERVAL);
}

static lg_status take_rows(lg_session *session)
{
    lg_status status = session->take(session->observer->self);
    lg_record_close(&session->states);
    (void)lg_record_reserve(&session->states, session->room);
    session->taken = lg_wall_time();
    return status;
}

/* A state inside a step is reached again by a run that is resumed from the start of the step. */
static lg_status save(void *self, const lg_state *state, double h)
{
    lg_session *session = self;
    LG_TRY(add(session, &session->states, state, h));
    session->saved = state->t;
    session->reached = state == &session->run.state ? state : &session->run.before;
    return is_full(session) ? take_rows(session) : LG_OK;
}

static lg_status step(void *self, const lg_state *before, const lg_state *after, double *t_stop)
{
    lg_session *session = self;
    const lg_observer *observer = session->observer;
    if (session->dense)
        LG_TRY(lg_record_add_step(&session->knots, before, after));
    return observer->step ? observer->step(observer->self, before, after, t_stop) : LG_OK;
}

static lg_status poll(void *self, double t)
{
    const lg_observer *observer = ((lg_session *)self)->observer;
    return observer->poll(observer->self, t);
}

/* ---- the run ---- */

/* Reserves all rows if their number is known. If that fails, the run is refused, unless it may end earlier: then the
   records grow as needed, as with adaptive steps. */
static lg_status reserve(lg_session *session, const lg_schedule *schedule, int ends, lg_report *report)
{
    long steps = 0, saves = 0;
    const lg_run *run = &session->run;
    int fixed = lg_schedule_count(run->system, schedule, run->state.t, &steps, &saves) == LG_OK;
    size_t rows = session->take ? session->room : (size_t)(schedule->t_eval ? schedule->nt_eval : saves);
    size_t knots = session->dense && fixed ? (size_t)steps + 1 : 0;
    lg_status status = lg_record_reserve(&session->states, rows);
    if (status == LG_OK)
        status = lg_record_reserve(&session->knots, knots);
    if (status == LG_OK || ends)
        return LG_OK;
    double size = (double)knots * (double)lg_record_row_size(&session->knots);
    return lg_record_refuse(&session->states, (double)rows, size, report);
}

/* After a failure the last accepted state is part of the result even if save_every would have left it out. */
static void save_last(lg_session *session, const lg_schedule *schedule)
{
    const lg_state *state = &session->run.state;
    if (!schedule->t_eval && session->saved < state->t)
        (void)add(session, &session->states, state, session->run.h);
}

lg_status lg_session_run(lg_session *session, const lg_schedule *schedule, const lg_observer *observer,
                         lg_report *report)
{
    lg_observer recorder = {.self = session,
                            .save = save,
                            .poll = observer->poll ? poll : NULL,
                            .step = session->dense || observer->step ? step : NULL,
                            .ends = observer->ends};
    session->observer = observer;
    session->saved = INFINITY;
    session->taken = lg_wall_time();
    LG_TRY(reserve(session, schedule, observer->ends, report));
    if (session->take) /* a run may be resumed from the state before a step, which needs the whole carry */
        LG_TRY(lg_run_look_back(&session->run, lg_run_carry_count(&session->run)));
    lg_status status = lg_integrate(&session->run, schedule, &recorder, report);
    if (status != LG_OK)
        save_last(session, schedule);
    lg_status added = add(session, &session->end, &session->run.state, session->run.h);
    return status == LG_OK ? added : status;
}
