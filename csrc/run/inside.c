/* States inside the last step of a run; see run.h. */
#include "run/run.h"

int lg_run_curve_count(const lg_run *run)
{
    return run->stepper ? 2 * run->system->space->nv * run->stepper->curve : 0;
}

static void inside_layout(void *self, lg_arena *arena)
{
    lg_run *run = self;
    lg_state_layout(&run->between, run->system, lg_run_extra_count(run), arena);
    run->curve = lg_arena_doubles(arena, (size_t)lg_run_curve_count(run));
    lg_dense_layout(&run->dense, arena);
}

lg_status lg_run_look_inside(lg_run *run)
{
    const lg_stepper *stepper = run->stepper;
    LG_TRY(lg_run_look_back(run, lg_run_extra_count(run)));
    if (!run->inside.base)
        run->dense = lg_dense_of(run->system, lg_stepper_is_explicit(stepper->type) ? stepper->plan : NULL);
    return run->inside.base ? LG_OK : lg_arena_open(&run->inside, inside_layout, run);
}

/* The curve is not interrupted, since the step has been accepted. */
lg_status lg_run_curve(lg_run *run, const double **curve)
{
    lg_stepper *stepper = run->stepper;
    lg_matrix *matrix = &stepper->accel.matrix;
    lg_poll *poll = matrix->poll;
    lg_status status = LG_OK;
    *curve = lg_run_curve_count(run) ? run->curve : NULL;
    if (!*curve || run->curved)
        return LG_OK;
    matrix->poll = NULL;
    status = stepper->type->embedded->write(stepper, &run->before, &run->state, run->h, run->curve);
    matrix->poll = poll;
    run->curved = status == LG_OK;
    lg_run_count_work(run);
    return status;
}

static lg_states row_of_state(const lg_run *run, lg_state *state)
{
    lg_states row = {.count = 1, .nextra = lg_run_extra_count(run), .t = &state->t, .extra = state->carry};
    for (int part = 0; part < LG_PARTS; part++)
        row.part[part] = lg_part_of(state, (lg_part)part);
    return row;
}

lg_status lg_run_between(lg_run *run, double t)
{
    lg_state *state = &run->between;
    const double *curve;
    state->t = t;
    LG_TRY(lg_run_curve(run, &curve));
    lg_states from = row_of_state(run, &run->before), to = row_of_state(run, &run->state),
              found = row_of_state(run, state);
    to.curve = curve, to.ncurve = lg_run_curve_count(run);
    LG_TRY(lg_dense_between(&run->dense, &from, &to, &found, run->stepper->accel.work, &run->stepper->report));
    return lg_check_finite(run->system, state->q, state->v, state->a, state->lam);
}
