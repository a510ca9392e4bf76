/* Solves at one point outside of runs; see query.h. */
#include "solve/query.h"

#include "core/small.h"
#include "solve/choice.h"
#include "solve/initial.h"
#include "solve/project.h"

#include <math.h>
#include <stdlib.h>

struct lg_probe_solver {
    lg_accel accel;
    lg_choice_scratch rows;
    lg_arena arena;
};

static void probe_solver_layout(void *self, lg_arena *arena)
{
    struct lg_probe_solver *solver = self;
    lg_accel_layout(&solver->accel, arena);
    solver->accel.Z = lg_arena_doubles(arena, (size_t)solver->accel.system->pattern->nvalues);
    lg_choice_layout(&solver->rows, solver->accel.system, arena);
}

lg_status lg_probe_open(lg_probe *probe)
{
    struct lg_probe_solver *solver = calloc(1, sizeof *solver);
    if (!solver)
        return LG_NO_MEMORY;
    solver->accel.system = probe->system;
    solver->accel.plan = probe->plan;
    probe->solver = solver;
    lg_status status = lg_arena_open(&solver->arena, probe_solver_layout, solver);
    if (status != LG_OK)
        free(solver);
    return status;
}

long lg_probe_close(lg_probe *probe)
{
    struct lg_probe_solver *solver = probe->solver;
    long fallbacks = solver->accel.matrix.fallbacks;
    lg_accel_close(&solver->accel);
    lg_arena_close(&solver->arena);
    free(solver);
    return fallbacks;
}

/* The point of a probe as the first point of a run, whose memory is its own. */
static lg_point first_point(const lg_probe *probe)
{
    lg_point point = probe->point;
    point.t_in = nextafter(point.t, INFINITY);
    point.mem.values = probe->mem;
    return point;
}

/* Sets the memory of that point, from the given one as a guess. */
static lg_status begin_probe_memory(lg_probe *probe)
{
    const lg_system *system = probe->system;
    lg_copy(system->nmem, probe->point.mem.values, probe->mem);
    lg_point point = first_point(probe);
    return lg_memory_begin(&system->memory, system->self, &point, probe->mem, &probe->report);
}

/* Solves with the rows that are active at first; if that fails, solves once more with others. */
static lg_status solve_with_rows(lg_probe *probe, lg_status (*solve)(lg_probe *))
{
    struct lg_probe_solver *solver = probe->solver;
    int changed = 0;
    LG_TRY(begin_probe_memory(probe));
    lg_status status = solve(probe);
    if (status != LG_SINGULAR && status != LG_NO_CONVERGENCE)
        return status;
    lg_report cause = probe->report;
    lg_point point = first_point(probe);
    lg_status chosen = lg_choice_renew(&solver->rows, &solver->accel, &point, probe->mem, &changed, &probe->report);
    probe->report = cause;
    return chosen == LG_OK && changed ? solve(probe) : status;
}

static lg_status probe_initial(lg_probe *probe)
{
    lg_point point = first_point(probe);
    lg_accel *accel = &probe->solver->accel;
    if (probe->check)
        LG_TRY(lg_consistent(accel, &point, &probe->report));
    return lg_start_accelerations(accel, &point, probe->out[0], probe->out[1], &probe->report);
}

static lg_status probe_project(lg_probe *probe)
{
    const lg_space *space = probe->system->space;
    int levels = (probe->position ? LG_PROJECT_POSITION : 0) | (probe->velocity ? LG_PROJECT_VELOCITY : 0);
    lg_copy(space->nq, probe->point.q, probe->out[0]);
    lg_copy(space->nv, probe->point.v, probe->out[1]);
    return lg_project(&probe->solver->accel, levels, probe->point.t, probe->out[0], probe->out[1], probe->mem,
                      &probe->report);
}

lg_status lg_probe_initial(lg_probe *probe)
{
    return solve_with_rows(probe, probe_initial);
}

static lg_status probe_slopes(lg_probe *probe)
{
    const lg_point point = first_point(probe);
    return lg_project_slopes(&probe->solver->accel, &point, probe->slopes, probe->out[0], probe->out[1],
                             &probe->report);
}

lg_status lg_probe_slopes(lg_probe *probe)
{
    return solve_with_rows(probe, probe_slopes);
}

lg_status lg_probe_project(lg_probe *probe)
{
    return solve_with_rows(probe, probe_project);
}
