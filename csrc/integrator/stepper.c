/* Functions that all steppers share. */
#include "integrator/stepper.h"

#include "core/small.h"
#include "integrator/options.h"
#include "solve/cause.h"

#include <math.h>

/* Below this distance from a singularity of coordinates a failed solve is attributed to it. */
static const double nearly_singular = 0.1;

void lg_stepper_take_form(lg_stepper *self, lg_form form)
{
    self->sibling = lg_system_in(self->system, form);
    self->system = self->accel.system = &self->sibling;
}

void lg_nearest_note(lg_nearest *nearest, const lg_system *system, double t, const double *q)
{
    int block = 0;
    double cosine = lg_space_regular(system->space, q, &block);
    if (cosine < nearest->cosine)
        *nearest = (lg_nearest){cosine, t, system->block_name ? system->block_name(system->self, block) : NULL};
}

/* The smallest distance of a factor from a singularity of its coordinates along the straight line through the step. */
static double regular_within(const lg_factor *f, const lg_state *state, double h)
{
    enum { PARTS = 8, MOST = 8 };
    double q[MOST], theta[MOST], least = 1;
    for (int part = 0; f->node->regular && part <= PARTS; part++) {
        for (int i = 0; i < f->nv; i++)
            theta[i] = h * part / PARTS * state->v[f->v + i];
        f->node->retract(0, state->q + f->q, theta, q);
        least = fmin(least, f->node->regular(q));
    }
    return least;
}

void lg_list_unit_formulations(char *text, size_t size)
{
    text[0] = '\0';
    for (int i = 0; i < lg_node_count; i++)
        if (lg_nodes[i]->position == LG_POSITION_INERTIAL && lg_nodes[i]->unit)
            lg_text_list(text, size, lg_nodes[i]->name);
}

void lg_report_coordinates(const lg_system *system, const lg_state *state, double h, lg_status status,
                           lg_report *report)
{
    double least = status == LG_COORDINATES ? INFINITY : nearly_singular;
    int solve = status == LG_NO_CONVERGENCE || status == LG_SINGULAR || status == LG_NOT_FINITE || status == LG_TURNED;
    const lg_factor *f = system->space->factor, *end = f + system->space->nfactors;
    for (; (solve || status == LG_COORDINATES) && f < end; f++) {
        double regular = regular_within(f, state, h);
        if (!f->node->regular || regular >= least)
            continue;
        least = regular;
        lg_report_angles(system, f->block, regular, report);
    }
}

int lg_stepper_is_explicit(const lg_stepper_type *type)
{
    return type->coupling == LG_COUPLING_MASS;
}

int lg_stepper_needs(const lg_stepper_type *type, const lg_pattern *pattern, lg_coupling coupling)
{
    int differ = pattern->nrows && pattern->ncliques > pattern->nmass_cliques;
    return coupling == type->coupling ||
           (coupling == LG_COUPLING_MASS && type->coupling == LG_COUPLING_TANGENTS && differ);
}

lg_status lg_stepper_factor(lg_stepper *self, lg_matrix *matrix)
{
    long before = matrix->fallbacks;
    lg_status status = lg_factor_named(self->system, matrix, &self->report);
    self->factorisations++;
    self->fallbacks += matrix->fallbacks - before;
    return status;
}

/* Adds n numbers of each. */
static LG_INLINE void add_both(int n, const double *x, const double *y, double *sum)
{
    double other = 0;
    for (int i = 0; i < n; i++) {
        *sum += x[i];
        other += y[i];
    }
    *sum += other;
}

lg_status lg_check_finite(const lg_system *system, const double *q, const double *v, const double *a, const double *lam)
{
    int nq = system->space->nq, nv = system->space->nv, nrows = system->pattern->nrows;
    double sum = lg_sum(nq, q) + lg_sum(nrows, lam);
    LG_OFTEN_SIX(nv, add_both, v, a, &sum);
    if (isfinite(sum))
        return LG_OK;
    return lg_all_finite(nq, q) && lg_all_finite(nv, v) && lg_all_finite(nv, a) && lg_all_finite(nrows, lam)
               ? LG_OK
               : LG_NOT_FINITE;
}

/* The end of a step from `state`. */
static lg_point end_of(const lg_stepper *self, const lg_state *state, double h, const double *theta, const double *q,
                       const double *v, const double *a, const double *lam)
{
    lg_point end = lg_point_at(state->t + h, q, v);
    end.t_in = state->t + 0.5 * h;
    end.mem = (lg_memory){state->mem, h, theta};
    end.a = a, end.lam = lam, end.work = self->accel.work;
    return end;
}

static LG_APART lg_status refuse_end(lg_stepper *self, lg_point end)
{
    lg_report_not_finite(self->system, &end, -1, &self->report);
    return LG_NOT_FINITE;
}

/* Makes the memory of the system that at the end of a step from `state`. */
static LG_APART lg_status stepper_commit(lg_stepper *self, lg_state *state, lg_point end)
{
    const lg_system *system = self->system;
    lg_copy(system->nmem, state->mem, self->mem);
    lg_point from = lg_point_at(state->t, state->q, state->v);
    from.t_in = end.t_in;
    from.a = state->a, from.lam = state->lam, from.mem.values = state->mem, from.work = end.work;
    LG_TRY(system->memory.commit(system->self, &from, &end, self->mem, &self->report));
    lg_copy(system->nmem, self->mem, state->mem);
    return LG_OK;
}

lg_status lg_stepper_accept(lg_stepper *self, lg_state *state, double h, const double *theta, const double *q,
                            const double *v, const double *a, const double *lam)
{
    const lg_system *system = self->system;
    const lg_space *space = system->space;
    int nrows = system->pattern->nrows, nearest;
    if (lg_check_finite(system, q, v, a, lam) != LG_OK)
        return refuse_end(self, end_of(self, state, h, theta, q, v, a, lam));
    if (space->singular && lg_space_regular(space, q, &nearest) < LG_REGULAR)
        return LG_COORDINATES;
    if (system->memory.commit)
        LG_TRY(stepper_commit(self, state, end_of(self, state, h, theta, q, v, a, lam)));

    lg_copy(space->nq, q, state->q);
    lg_space_polish(space, state->q);
    lg_copy(space->nv, v, state->v);
    lg_copy(space->nv, a, state->a);
    if (nrows)
        lg_copy(nrows, lam, state->lam);
    state->t += h;
    return LG_OK;
}

const lg_control_options *lg_stepper_control(const lg_stepper *self)
{
    const lg_option *first = lg_option_find(self->method->options, "rtol");
    return first ? (const lg_control_options *)(self->options + first->field) : NULL;
}

int lg_stepper_estimates(const lg_stepper *self)
{
    const lg_control_options *options = lg_stepper_control(self);
    return options && (!isnan(options->rtol.number) || !isnan(options->atol.number));
}

int lg_stepper_adapts(const lg_stepper *self)
{
    return lg_stepper_estimates(self) && lg_stepper_control(self)->law.choice != LG_CONTROL_NONE;
}

int lg_stepper_retries(const lg_stepper *self)
{
    static const int by_default = 10; /* with error control */
    const lg_option *retry = lg_option_find(self->method->options, "retry");
    double given = retry ? self->options[retry->field].number : -1;
    return isnan(given) ? (lg_stepper_adapts(self) ? by_default : 0) : (int)given;
}
