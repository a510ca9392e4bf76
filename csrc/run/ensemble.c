/* Many runs, one after the other; see ensemble.h. */
#include "run/ensemble.h"

#include "core/memory.h"
#include "core/small.h"

#include <stdlib.h>

/* Takes over the records of a run, and copies what else its memory holds. */
static lg_status keep(lg_member *member, lg_session *session)
{
    member->states = session->states;
    member->end = session->end;
    session->states = session->end = (lg_record){0};
    if (!session->run.stepper)
        return LG_OK;
    member->stats = session->run.stepper->stats;
    member->ncarry = lg_run_carry_count(&session->run);
    member->carry = malloc((size_t)member->ncarry * sizeof *member->carry);
    if (!member->carry)
        return LG_NO_MEMORY;
    lg_copy(member->ncarry, session->run.state.carry, member->carry);
    return LG_OK;
}

static lg_status run_member(const lg_ensemble *ensemble, lg_member *member, const lg_observer *observer)
{
    lg_session session = {0};
    lg_report *report = &member->report;
    lg_status status = lg_run_open(&session.run, member->system, &member->plans, ensemble->method, ensemble->options,
                                   &member->start, report);
    lg_session_begin(&session);
    if (status == LG_OK)
        status = lg_session_run(&session, ensemble->schedule, observer, report);
    lg_status kept = keep(member, &session);
    lg_session_close(&session);
    report->status = status == LG_OK ? kept : status;
    return report->status;
}

/* Whether a failure is one of the caller or of the machine, and no property of the run. */
static int ends_all(lg_status status)
{
    return status == LG_INTERRUPTED || status == LG_CALLBACK || status == LG_NO_MEMORY;
}

/* Runs the next member, and polls. */
static lg_status advance(lg_ensemble *ensemble, const lg_observer *observer, lg_poll *poll)
{
    lg_member *member = &ensemble->member[ensemble->done];
    double begin = lg_wall_time();
    lg_status status = run_member(ensemble, member, observer);
    member->wall_time = fmax(0, lg_wall_time() - begin);
    ensemble->done++;
    return ends_all(status) ? status : lg_poll_look(poll);
}

static lg_status ask_observer(void *self)
{
    const lg_observer *observer = self;
    return observer->poll(observer->self, 0);
}

/* Whether there is memory for the states of all runs, if their number is known: as many for each as for the first. */
static lg_status check_memory(lg_ensemble *ensemble)
{
    long steps, saves;
    const lg_schedule *schedule = ensemble->schedule;
    const lg_member *first = ensemble->member;
    if (!ensemble->count || lg_schedule_count(first->system, schedule, first->start.t, &steps, &saves) != LG_OK)
        return LG_OK;
    lg_record states = lg_record_of(first->system, 0);
    double rows = (double)ensemble->count * (double)(schedule->t_eval ? schedule->nt_eval : saves);
    return lg_memory_suffices(rows * (double)lg_record_row_size(&states))
               ? LG_OK
               : lg_record_refuse(&states, rows, 0, &ensemble->report);
}

lg_status lg_ensemble_run(lg_ensemble *ensemble, const lg_observer *observer)
{
    LG_TRY(check_memory(ensemble));
    lg_observer asked = *observer;
    lg_poll poll = lg_poll_start(observer->poll ? ask_observer : NULL, &asked);
    while (ensemble->done < ensemble->count)
        LG_TRY(advance(ensemble, observer, &poll));
    return LG_OK;
}

void lg_member_close(lg_member *member)
{
    lg_record_close(&member->states);
    lg_record_close(&member->end);
    free(member->carry);
    member->carry = NULL;
}
