/* Runs: opening, single steps, restarts and states inside a step; see run.h. */
#include "run/run.h"

#include "core/small.h"
#include "integrator/methods.h"
#include "run/sensitivities.h"
#include "solve/initial.h"
#include "solve/jump.h"
#include "solve/project.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- opening and closing ---- */

static int stepper_carry(const lg_stepper *stepper)
{
    return stepper->type->carry ? stepper->type->carry->count(stepper) : 0;
}

int lg_run_carry_count(const lg_run *run)
{
    return stepper_carry(run->stepper) + (int)((sizeof(lg_control_memory) + sizeof(lg_grid)) / sizeof(double)) +
           lg_sensitivities_count(run->stepper);
}

int lg_run_extra_count(const lg_run *run)
{
    return run->stepper && run->stepper->type->momenta ? run->system->space->nv : 0;
}

static void run_layout(void *self, lg_arena *arena)
{
    lg_run *run = self;
    lg_stepper *stepper = run->stepper;

    int ncarry = lg_run_carry_count(run);
    lg_state_layout(&run->state, run->system, ncarry, arena);
    if (arena->base) {
        run->memory = run->control.memory = (lg_control_memory *)(run->state.carry + stepper_carry(stepper));
        run->grid = (lg_grid *)(run->memory + 1);
        run->sensitivities = lg_sensitivities_in(stepper, (double *)(run->grid + 1));
    }
    run->options = lg_arena_take(arena, (size_t)run->method->options->nvalues * sizeof(lg_option_value));

    size_t nforce = run->system == &run->held.system ? (size_t)run->system->space->nv : 0;
    run->force = lg_arena_doubles(arena, nforce);
    run->force_before = lg_arena_doubles(arena, nforce);
    lg_control_layout(&run->control, stepper, arena);
    lg_accel_layout(&stepper->accel, arena);
    lg_choice_layout(&run->rows, run->system, arena);
    stepper->mem = lg_arena_doubles(arena, (size_t)run->system->nmem);
    stepper->type->layout(stepper, arena);
    lg_sensitivities_layout(stepper, arena);
    if (stepper->nparameters && run->system->memory.first_held < run->system->nmem) {
        stepper->linear.held = run->sensitivities.count ? run->sensitivities.mem : NULL;
        run->sampled = lg_arena_doubles(arena, (size_t)run->system->nmem * (size_t)(stepper->nparameters + 1));
    }
}

static void back_layout(void *self, lg_arena *arena)
{
    lg_run *run = self;
    lg_state_layout(&run->before, run->system, run->kept, arena);
}

lg_status lg_run_look_back(lg_run *run, int kept)
{
    if (run->back.base)
        return LG_OK;
    run->kept = kept;
    return lg_arena_open(&run->back, back_layout, run);
}

int lg_held_back(const lg_setup *setup)
{
    const lg_memory_rules *memory = &setup->system->memory;
    return setup->nparameters && setup->backwards ? setup->system->nmem - memory->first_held : 0;
}

/* "euler, midpoint": the methods that support node kinds with a function qdot. */
static void list_methods_that_add_rates(char *text, size_t size)
{
    text[0] = '\0';
    for (int i = 0; i < lg_method_count; i++)
        if (lg_stepper_is_explicit(lg_methods[i]->stepper))
            lg_text_list(text, size, lg_methods[i]->name);
}

/* Blocks of a kind with qdot need a method that adds the rates of coordinates. */
static lg_status check_node_kinds(lg_run *run)
{
    const lg_space *space = run->system->space;
    const lg_factor *end = space->factor + space->nfactors;
    for (const lg_factor *f = space->factor; f < end && !lg_stepper_is_explicit(run->stepper->type); f++) {
        if (!f->node->flow)
            continue;
        const char *name = run->system->block_name ? run->system->block_name(run->system->self, f->block) : "a block";
        char others[LG_WHAT_SIZE];
        list_methods_that_add_rates(others, sizeof others);
        lg_report_say(&run->stepper->report, "%.*s: %s cannot integrate coordinates whose rates are A(q) v; %s can",
                      LG_SHORT(name), run->method->name, others);
        return LG_BAD_ARGUMENT;
    }
    return LG_OK;
}

/* "genalpha, newmark": the methods for stiff systems that run every model. */
static void list_implicit_methods_without_needs(char *text, size_t size)
{
    text[0] = '\0';
    for (int i = 0; i < lg_method_count; i++)
        if (!lg_methods[i]->stepper->momenta && lg_methods[i]->stepper->coupling == LG_COUPLING_TANGENTS)
            lg_text_list(text, size, lg_methods[i]->name);
}

static lg_status refuse_control(const lg_run *run)
{
    char others[LG_NAME_SIZE];
    list_implicit_methods_without_needs(others, sizeof others);
    lg_report_say(&run->stepper->report, "%s does not support controls, such as %.*s", run->method->name,
                  LG_SHORT(run->system->control));
    lg_report_advise(&run->stepper->report, "%s accept any model", others);
    return LG_BAD_ARGUMENT;
}

/* The system must be what the method needs with its options; otherwise the report names the first body that is not. */
static lg_status check_needs(lg_run *run)
{
    const lg_system *system = run->system;
    lg_stepper *stepper = run->stepper;
    const lg_stepper_momenta *momenta = stepper->type->momenta;
    int block = momenta ? momenta->first_unfit(stepper) : -1;
    if (block < 0)
        return LG_OK;
    if (system->control)
        return refuse_control(run);
    if (stepper->report.what[0])
        return LG_BAD_ARGUMENT;
    char formulations[LG_NAME_SIZE], others[LG_NAME_SIZE], unfit[2 * LG_NAME_SIZE] = "";
    lg_list_unit_formulations(formulations, sizeof formulations);
    list_implicit_methods_without_needs(others, sizeof others);
    if (system->block_name)
        snprintf(unfit, sizeof unfit, ", but %.*s is not one", LG_SHORT(system->block_name(system->self, block)));
    lg_report_say(&stepper->report, "%s needs %s with formulation=\"%s\"%s", run->method->name, momenta->needs,
                  formulations, unfit);
    lg_report_advise(&stepper->report, "%s accept any model", others);
    return LG_BAD_ARGUMENT;
}

/* After a failed step of a model with bodies, advises a method with a steadier rule if there is one. Where the first
   matrices of a step were regular, a singular one shows that Newton's method has gone astray. */
static void advise_steadier_rule(const lg_run *run, lg_status status, lg_report *report)
{
    const lg_method *steadier = lg_method_steadier(run->method);
    int is_astray = status == LG_SINGULAR && report->iteration > 1;
    if (!steadier || !run->system->block_name)
        return;
    if (status == LG_NO_CONVERGENCE || status == LG_NOT_FINITE || status == LG_TURNED || is_astray)
        lg_report_advise(
            report,
            "try a smaller h; for tumbling or fast bodies %s conserves the same quantities, and its rates do not grow",
            steadier->name);
}

/* After a failed step that was not halved although the method could do that, advises it. Steps with error control
   become smaller by themselves. */
static void advise_retry(const lg_run *run, lg_status status, double h, lg_report *report)
{
    char advice[LG_WHAT_SIZE];
    if (run->retry > 0 && status == LG_NOT_FINITE && !report->advice[0]) /* not another implicit method */
        lg_report_advise(report,
                         run->control.adapts ? "the solution blew up" : "the solution blew up; try a smaller h");
    if (run->retry != 0 || run->control.adapts || h == 0 ||
        (status != LG_NO_CONVERGENCE && status != LG_NOT_FINITE && status != LG_TURNED))
        return;
    snprintf(advice, sizeof advice, "%s", report->advice[0] ? report->advice : "try a smaller h");
    lg_report_advise(report, "%s; retry=10 repeats a failed step in smaller parts", advice);
}

/* Allocates the stepper with its coefficients, then the memory of the whole run. */
static lg_status allocate(lg_run *run, const lg_setup *setup, lg_report *report)
{
    const lg_method *method = setup->method;
    const lg_option_value *options = setup->options;
    const lg_stepper_type *type = method->stepper;
    if (type->choose)
        LG_TRY(type->choose(method, run->system, options, &type, report));
    lg_stepper *stepper = run->stepper = calloc(1, type->size);
    if (!stepper)
        return LG_NO_MEMORY;

    stepper->type = type;
    stepper->method = method;
    stepper->system = stepper->accel.system = run->system;
    stepper->plans = setup->plans;
    stepper->plan = stepper->accel.plan = setup->plans.of[type->coupling];
    stepper->options = options;
    stepper->stats.nearest.cosine = 1;
    LG_TRY(check_node_kinds(run));
    stepper->nparameters = setup->nparameters + lg_held_back(setup);
    stepper->linear.nparameters = setup->nparameters;
    stepper->backwards = setup->backwards;
    LG_TRY(type->prepare(stepper));
    LG_TRY(lg_sensitivities_check(stepper));
    LG_TRY(check_needs(run));
    lg_control_prepare(&run->control, stepper);
    run->retry = lg_stepper_retries(stepper);
    LG_TRY(lg_arena_open(&run->arena, run_layout, run));

    LG_TRY(lg_control_fill(&run->control, stepper));
    if (run->control.estimates || stepper->nparameters)
        LG_TRY(lg_run_look_back(run, lg_run_carry_count(run)));
    for (int i = 0; i < method->options->nvalues; i++) {
        run->options[i] = options[i];
        run->options[i].array = NULL;
    }
    stepper->options = run->options;
    return LG_OK;
}

lg_status lg_run_sample(lg_run *run)
{
    const lg_system *system = run->system;
    const lg_sensitivities *s = &run->sensitivities;
    lg_state *state = &run->state;
    lg_point point = lg_point_after(state->t, state->q, state->v, state->mem);
    point.work = run->stepper->accel.work;
    if (!system->memory.sample)
        return LG_OK;
    if (s->count)
        LG_TRY(lg_sensitivities_sample(run->stepper, &point, s, run->sampled));
    LG_TRY(system->memory.sample(system->self, &point, state->mem));
    if (s->count)
        lg_copy(s->count * system->nmem, run->sampled, s->mem);
    return LG_OK;
}

/* The memory of a fresh start. */
static lg_status begin_memory(lg_run *run, int kept)
{
    const lg_system *system = run->system;
    lg_state *state = &run->state;
    lg_point point = lg_point_at(state->t, state->q, state->v);
    double *guess = run->stepper->mem;
    point.mem.values = state->mem;
    point.work = run->stepper->accel.work;
    lg_copy(system->nmem, state->mem, guess);
    if (system->memory.commit && !kept)
        LG_TRY(system->memory.commit(system->self, NULL, &point, state->mem, &run->stepper->report));
    if (run->sensitivities.count)
        LG_TRY(lg_sensitivities_begin_memory(run->stepper, guess, state, &run->sensitivities));
    return lg_run_sample(run);
}

lg_status lg_run_project(lg_run *run)
{
    lg_state *state = &run->state;
    return lg_project(&run->stepper->accel, LG_PROJECT_POSITION | LG_PROJECT_VELOCITY, state->t, state->q, state->v,
                      state->mem, &run->stepper->report);
}

/* Accelerations and multipliers at the start of a run or at a kink; NaN if they are not determined there and the
   stepper can do without them. */
static lg_status start_accelerations(lg_run *run, const lg_point *point)
{
    lg_state *state = &run->state;
    lg_stepper *stepper = run->stepper;
    lg_status status = lg_start_accelerations(&stepper->accel, point, state->a, state->lam, &stepper->report);
    if (status != LG_SINGULAR || !stepper->type->momenta)
        return status;
    stepper->report = (lg_report){0};
    for (int i = 0; i < run->system->space->nv; i++)
        state->a[i] = NAN;
    for (int i = 0; i < run->system->pattern->nrows; i++)
        state->lam[i] = NAN;
    return LG_OK;
}

static lg_status restart(lg_run *run, double past)
{
    lg_state *state = &run->state;
    lg_stepper *stepper = run->stepper;
    lg_point point = lg_point_after(state->t, state->q, state->v, state->mem);
    point.t_in = nextafter(past, INFINITY);

    LG_TRY(start_accelerations(run, &point));
    run->memory->error = 0;
    run->restarts++;
    run->past = past;
    if (stepper->type->carry)
        LG_TRY(stepper->type->carry->reset(stepper, state));
    return run->sensitivities.count ? lg_sensitivities_restart(stepper, &point, state, &run->sensitivities) : LG_OK;
}

/* Restarts are not interrupted, since the state would be left between the old one and the new one. */
static lg_status uninterrupted(lg_run *run, lg_status (*change)(lg_run *run, double past), double past)
{
    lg_matrix *matrix = &run->stepper->accel.matrix;
    lg_poll *poll = matrix->poll;
    matrix->poll = NULL;
    lg_status status = change(run, past);
    matrix->poll = poll;
    return status;
}

lg_status lg_run_restart(lg_run *run, double past)
{
    return uninterrupted(run, restart, past);
}

/* ---- the choice of rows ---- */

lg_status lg_run_choose_rows(lg_run *run, int *changed)
{
    lg_stepper *stepper = run->stepper;
    const lg_state *state = &run->state;
    lg_point point = lg_point_after(state->t, state->q, state->v, state->mem);
    lg_report before = stepper->report;
    LG_TRY(lg_choice_renew(&run->rows, &stepper->accel, &point, state->mem, changed, &stepper->report));
    stepper->report = *changed ? (lg_report){0} : before;
    return LG_OK;
}

lg_status lg_run_check_rows(lg_run *run, const lg_state *state)
{
    lg_point point = lg_point_after(state->t, state->q, state->v, state->mem);
    run->stepper->report = (lg_report){0};
    return lg_choice_check(&run->rows, &run->stepper->accel, &point, &run->stepper->report);
}

static lg_status project_and_restart(lg_run *run, double past)
{
    LG_TRY(lg_run_project(run));
    return restart(run, past);
}

lg_status lg_run_begin_with_rows(lg_run *run)
{
    lg_state *state = &run->state;
    lg_point point = lg_point_after(state->t, state->q, state->v, state->mem);
    if (run->stepper->nparameters) {
        lg_report_say(&run->stepper->report,
                      "sensitivity: other rows of a closed loop become active, where derivatives cannot be continued");
        return LG_SINGULAR;
    }
    return run->stepper->type->momenta ? start_accelerations(run, &point)
                                       : uninterrupted(run, project_and_restart, state->t);
}

lg_status lg_run_renew_rows(lg_run *run)
{
    int changed = 0;
    if (run->system->choice && lg_choice_is_due(&run->stepper->accel, run->state.mem))
        LG_TRY(lg_run_choose_rows(run, &changed));
    return changed ? lg_run_begin_with_rows(run) : LG_OK;
}

/* Makes the first restart, and repeats it with other active rows if its matrix is singular or has weak pivots. */
static lg_status restart_first(lg_run *run)
{
    int changed = 0;
    lg_accel *accel = &run->stepper->accel;
    lg_choice_watch(accel);
    lg_status status = lg_run_restart(run, run->state.t);
    if (!lg_choice_may_help(status) && !(status == LG_OK && lg_choice_is_due(accel, run->state.mem)))
        return status;
    LG_TRY(lg_run_choose_rows(run, &changed));
    return changed ? lg_run_restart(run, run->state.t) : status;
}

static lg_status check_consistent(lg_run *run)
{
    const lg_state *state = &run->state;
    lg_point point = lg_point_after(state->t, state->q, state->v, state->mem);
    return lg_consistent(&run->stepper->accel, &point, &run->stepper->report);
}

static void set_part(lg_run *run, lg_part part, const lg_start *start)
{
    lg_copy(lg_part_width(run->system, part), start->part[part], lg_part_of(&run->state, part));
}

static lg_status refuse_start(lg_run *run, const char *why)
{
    lg_report_name(&run->stepper->report, why);
    return LG_BAD_ARGUMENT;
}

/* Takes the stepper's part of the carry, then that of the loop. */
static lg_status take_carry(lg_run *run, const lg_start *start)
{
    const lg_stepper *stepper = run->stepper;
    const lg_stepper_carry *own_carry = stepper->type->carry;
    double *carry = run->state.carry;
    int own = stepper_carry(stepper), loop = lg_run_carry_count(run) - own, given = start->ncarry - loop;
    int adopts = own_carry && own_carry->adopt && given >= 0;
    int fits = adopts ? own_carry->adopt(stepper, given, start->carry, carry) : given == own;
    if (!fits)
        return refuse_start(run,
                            "start: the resumed run had other options, on which its data depend; leave out options "
                            "to inherit them");
    if (!adopts)
        lg_copy(own, start->carry, carry);
    lg_copy(loop, start->carry + given, carry + own);
    return LG_OK;
}

/* Takes the sample at the start of a resumed run if the run before it failed there. */
static lg_status sample_again(lg_run *run)
{
    const double *mem = run->state.mem;
    size_t size = (size_t)run->system->nmem * sizeof *mem;
    if (!run->system->memory.sample)
        return LG_OK;
    memcpy(run->stepper->mem, mem, size);
    LG_TRY(lg_run_sample(run));
    return memcmp(run->stepper->mem, mem, size) == 0 || run->stepper->type->momenta ? LG_OK
                                                                                    : lg_run_restart(run, run->state.t);
}

static lg_status begin_run(lg_run *run, const lg_setup *setup)
{
    const lg_start *start = &setup->start;
    lg_state *state = &run->state;
    if (!isfinite(start->t))
        return refuse_start(run, "t0 must be finite");
    state->t = start->t;
    set_part(run, LG_PART_Q, start);
    set_part(run, LG_PART_V, start);
    lg_nearest_note(&run->stepper->stats.nearest, run->system, state->t, state->q);

    if (!start->carry) {
        if (start->part[LG_PART_MEM])
            set_part(run, LG_PART_MEM, start);
        if (run->sensitivities.count) {
            lg_copy(run->sensitivities.count * run->system->space->nv, setup->dq, run->sensitivities.q);
            lg_copy(run->sensitivities.count * run->system->space->nv, setup->dv, run->sensitivities.v);
        }
        LG_TRY(begin_memory(run, start->kept));
        if (!start->checked)
            LG_TRY(check_consistent(run));
        return restart_first(run);
    }
    LG_TRY(take_carry(run, start));
    for (int part = LG_PART_A; part < LG_PARTS; part++)
        set_part(run, (lg_part)part, start);
    LG_TRY(sample_again(run));
    if (!start->changed)
        return LG_OK;
    lg_zero(stepper_carry(run->stepper), state->carry);
    return lg_run_restart(run, start->t);
}

/* If Newton's method did not converge in a step of an implicit method, names a law that jumps at the end of that
   step. */
static void suspect_laws(const lg_run *run, lg_status status, double h, lg_report *report)
{
    const lg_state *state = &run->state;
    const lg_stepper *stepper = run->stepper;
    if (status != LG_NO_CONVERGENCE || lg_stepper_is_explicit(stepper->type))
        return;
    lg_point start = lg_point_after(state->t, state->q, state->v, state->mem);
    start.t += h, start.a = state->a, start.work = stepper->accel.work;
    lg_report_jump(run->system, &start, h, report);
}

void lg_run_report(lg_run *run, lg_status status, double h, lg_report *report)
{
    if (run->stepper) {
        *report = run->stepper->report;
        run->stepper->report = (lg_report){0};
    }
    lg_report_coordinates(run->system, &run->state, h, status, report);
    int is_known = status == LG_NOT_FINITE && report->advice[0]; /* the model says what is not finite, and why */
    if (!is_known) {
        advise_steadier_rule(run, status, report);
        advise_retry(run, status, h, report);
    }
    suspect_laws(run, status, h, report);
    report->status = status;
    report->step = run->stepper ? run->stepper->stats.steps : 0;
    report->t = run->state.t;
    report->h = h;
}

lg_status lg_run_open(lg_run *run, const lg_setup *setup, lg_report *report)
{
    const lg_start *start = &setup->start;
    *run = (lg_run){.system = setup->system, .method = setup->method, .state.t = start->t, .error = NAN};
    *report = (lg_report){0};
    if (setup->holds) {
        lg_held_open(&run->held, setup->system);
        run->system = &run->held.system;
    }

    lg_status status = allocate(run, setup, report);
    if (status == LG_OK)
        status = begin_run(run, setup);
    if (status != LG_OK) {
        lg_run_report(run, status, 0, report);
        report->at_start = status == LG_SINGULAR || status == LG_NO_CONVERGENCE || status == LG_NOT_FINITE;
        lg_run_close(run);
    }
    return status;
}

void lg_run_close(lg_run *run)
{
    if (run->stepper) {
        lg_accel_close(&run->stepper->accel);
        if (run->stepper->type->close)
            run->stepper->type->close(run->stepper);
        lg_sensitivities_close(run->stepper);
    }
    lg_arena_close(&run->arena);
    lg_arena_close(&run->back);
    if (run->inside.base)
        lg_dense_close(&run->dense);
    lg_arena_close(&run->inside);
    free(run->stepper);
    run->stepper = NULL;
}

/* ---- copies of the state ---- */

void lg_run_keep(lg_run *run)
{
    lg_state_copy(run->system, run->kept, &run->state, &run->before);
}

void lg_run_return(lg_run *run)
{
    lg_state_copy(run->system, run->kept, &run->before, &run->state);
}
