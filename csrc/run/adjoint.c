/* The adjoint of a segment of a run; see adjoint.h. Without a tape of its steps they are taken once more. Their
   adjoints go from the last step to the first one. */
#include "run/adjoint.h"

#include "core/small.h"
#include "run/sensitivities.h"

#include <stdlib.h>

typedef struct segment {
    lg_adjoint *given;
    lg_run run;
    lg_tape again; /* the steps of a run without a tape */
    const lg_tape *tape;
    long from; /* number of the first step on the tape */
    lg_sensitivities s; /* the adjoint of the present state */
    double *gradient; /* so far; behind it the adjoint of the memory, nheld numbers, and room for a sample's */
    int nheld;
    double t; /* on the way back */
    lg_poll poll;
} segment;

/* ---- memory ---- */

static lg_status open_gradient(segment *g)
{
    int n = g->given->setup->nparameters, room = g->nheld ? g->nheld + g->run.system->nmem : 0;
    g->gradient = malloc((size_t)(n + g->nheld + room) * sizeof *g->gradient);
    if (!g->gradient)
        return LG_NO_MEMORY;
    lg_copy(n, g->given->gradient, g->gradient);
    lg_copy(g->nheld, g->s.mem, g->gradient + n);
    return LG_OK;
}

static void close_gradient(segment *g)
{
    int n = g->given->setup->nparameters;
    if (g->gradient) {
        lg_copy(n, g->gradient, g->given->gradient);
        lg_copy(g->nheld, g->gradient + n, g->s.mem);
    }
    free(g->gradient);
}

/* The parts of the adjoint of a state, with memory for those that are not given. */
static lg_status open_state(segment *g)
{
    lg_adjoint *given = g->given;
    const lg_run *run = &g->run;
    int nv = run->system->space->nv, nrows = run->system->pattern->nrows;
    int known = given->state ? given->nstate : 0;
    int count = 3 * nv + nrows + g->nheld + lg_sensitivities_own_count(run->stepper);
    if (!given->state || known < count) {
        double *state = realloc(given->state, (size_t)count * sizeof *state);
        if (!state)
            return LG_NO_MEMORY;
        lg_zero(count - known, state + known);
        given->state = state;
    }
    given->nstate = count;
    double *q = given->state;
    double *lam = q + 3 * (long)nv, *mem = lam + nrows;
    g->s = (lg_sensitivities){1, q, q + nv, q + 2 * (long)nv, lam, mem, mem + g->nheld};
    return open_gradient(g);
}

/* ---- forwards ---- */

static lg_status keep_step(void *self, lg_run *run, double *t_stop)
{
    segment *g = self;
    LG_TRY(lg_tape_add(&g->again, run));
    if (g->again.full)
        return LG_NO_MEMORY;
    if (g->again.count == g->given->steps)
        *t_stop = run->state.t;
    return LG_OK;
}

static lg_status save_nothing(void *self, const lg_state *state, double h)
{
    (void)self, (void)state, (void)h;
    return LG_OK;
}

static lg_status poll_caller(void *self, double t)
{
    const segment *g = self;
    return g->given->poll(g->given->self, t);
}

/* The schedule from the start of the segment on. */
static lg_schedule schedule_from(const lg_schedule *whole, double t)
{
    lg_schedule left = *whole;
    for (; left.nstops && left.stops[0] <= t; left.nstops--)
        left.stops++;
    return left;
}

static lg_status take_steps(segment *g, lg_report *report)
{
    const lg_schedule schedule = schedule_from(g->given->schedule, g->run.state.t);
    const lg_observer observer = {.self = g, .save = save_nothing, .poll = poll_caller, .step = keep_step, .ends = 1};
    g->again.most = INFINITY;
    lg_tape_begin(&g->again, &g->run);
    LG_TRY(lg_integrate(&g->run, &schedule, &observer, report));
    lg_tape_end(&g->again, &g->run);
    return LG_OK;
}

/* ---- backwards ---- */

static void add_rows(const segment *g, double t)
{
    lg_adjoint_rows *rows = g->given->rows;
    const lg_sensitivities *s = &g->s;
    int width = (int)(s->own - s->q), own = width - g->nheld;
    for (; rows->count && rows->t[rows->count - 1] == t; rows->count--) {
        const double *row = rows->values + (long)width * (rows->count - 1);
        lg_axpy(own, 1, row, s->q);
        lg_axpy(g->nheld, 1, row + own, g->gradient + g->given->setup->nparameters);
    }
}

static lg_status go_over_restart(segment *g, const lg_state *state, double past)
{
    lg_point point = lg_point_after(state->t, state->q, state->v, state->mem);
    point.t_in = nextafter(past, INFINITY);
    return lg_sensitivities_restart_adjoint(g->run.stepper, &point, state, &g->s, g->gradient);
}

/* From the memory after the sample in a state to that before it. */
static lg_status go_over_sample(segment *g, const lg_state *state, const double *mem)
{
    lg_stepper *stepper = g->run.stepper;
    double *held = g->gradient + g->given->setup->nparameters;
    if (!g->run.system->memory.sample)
        return LG_OK;
    lg_point point = lg_point_after(state->t, state->q, state->v, mem);
    point.work = stepper->accel.work;
    return lg_linearised_sample_adjoint(&stepper->linear, &point, held + g->nheld, held, g->s.q, g->s.v);
}

/* Step i of the segment. What comes after a step that was cut is the caller's. */
static lg_status go_over_step(segment *g, long i)
{
    long number = g->from + i;
    const lg_taken *step = lg_tape_step(g->tape, number);
    const lg_state *end = number + 1 < g->tape->count ? &lg_tape_step(g->tape, number + 1)->before : &g->tape->end;
    int cut = g->given->cut && i == g->given->steps - 1;
    g->t = end->t;
    if (!cut)
        add_rows(g, end->t);
    if (step->restarts && !cut) {
        LG_TRY(go_over_restart(g, end, step->past));
        LG_TRY(go_over_sample(g, end, step->after.mem));
    }
    LG_TRY(lg_sensitivities_step_adjoint(g->run.stepper, &step->before, &step->after, step->h, step->kept, &g->s,
                                         g->gradient));
    return lg_poll_after(&g->poll, 1e3);
}

static void take_guess(segment *g)
{
    int nmem = g->run.system->nmem;
    const double *guess = g->given->setup->start.part[LG_PART_MEM];
    lg_zero(nmem, g->run.stepper->mem);
    if (guess)
        lg_copy(nmem, guess, g->run.stepper->mem);
}

/* From the memory of a start, after its sample, to that of which it was made and to its state; that of a run is kept.
 */
static lg_status go_over_first_memory(segment *g, const lg_state *start)
{
    lg_stepper *stepper = g->run.stepper;
    const lg_memory_rules *memory = &g->run.system->memory;
    const lg_start *given = &g->given->setup->start;
    int begins = !given->carry && !given->kept;
    if (!g->nheld)
        return LG_OK;
    take_guess(g);
    lg_point point = lg_point_after(start->t, start->q, start->v, stepper->mem);
    point.work = stepper->accel.work;
    if (begins && memory->commit)
        LG_TRY(memory->commit(g->run.system->self, NULL, &point, stepper->mem, &stepper->report));
    LG_TRY(go_over_sample(g, start, stepper->mem));
    if (!begins)
        return LG_OK;
    take_guess(g);
    return lg_sensitivities_begin_memory_adjoint(stepper, stepper->mem, start, &g->s, g->gradient);
}

/* A start: its accelerations follow from q and v, and these from the parameters. */
static lg_status go_over_start(segment *g)
{
    const lg_adjoint *given = g->given;
    const lg_state *start = given->steps ? &lg_tape_step(g->tape, g->from)->before : &g->run.state;
    int nv = g->run.system->space->nv;
    add_rows(g, start->t);
    LG_TRY(go_over_restart(g, start, start->t));
    LG_TRY(go_over_first_memory(g, start));
    for (int k = 0; k < given->setup->nparameters; k++)
        g->gradient[k] +=
            lg_dot(nv, given->setup->dq + (long)nv * k, g->s.q) + lg_dot(nv, given->setup->dv + (long)nv * k, g->s.v);
    return LG_OK;
}

static lg_status poll_back(void *self)
{
    const segment *g = self;
    return g->given->poll(g->given->self, g->t);
}

static lg_status go_back(segment *g)
{
    g->poll = lg_poll_start(poll_back, g);
    for (long i = g->given->steps - 1; i >= 0; i--)
        LG_TRY(go_over_step(g, i));
    return g->given->first ? go_over_start(g) : LG_OK;
}

static lg_status run_segment(segment *g, lg_report *report)
{
    g->tape = g->given->tape;
    g->from = g->given->before;
    LG_TRY(open_state(g));
    if (!g->tape) {
        if (g->given->steps)
            LG_TRY(take_steps(g, report));
        g->tape = &g->again;
        g->from = 0;
    }
    lg_status status = go_back(g);
    if (status != LG_OK)
        lg_run_report(&g->run, status, g->run.h, report);
    return status;
}

lg_status lg_adjoint_go_back(lg_adjoint *adjoint, lg_report *report)
{
    segment g = {.given = adjoint};
    lg_status status = lg_run_open(&g.run, adjoint->setup, report);
    if (status == LG_OK) {
        g.nheld = lg_held_back(adjoint->setup);
        status = run_segment(&g, report);
        close_gradient(&g);
        report->status = status;
        lg_run_close(&g.run);
    }
    lg_tape_close(&g.again);
    return status;
}
