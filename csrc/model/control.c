/* Values of controls and their derivatives; see control.h. */
#include "model/control.h"

#include "model/near_state.h"
#include "model/rows.h"
#include "system/chain.h"

/* ---- the description ---- */

void lg_model_layout_controls(lg_model *m, const lg_model_spec *spec, int nforces, lg_arena *arena)
{
    int n = m->ncontrols = spec->ncontrols;
    lg_controller *controls = m->controls = lg_arena_take(arena, (size_t)n * sizeof *m->controls);
    int *forces = lg_arena_ints(arena, (size_t)(n ? nforces : 0));
    for (int i = 0; i < n; i++) {
        const lg_control_spec *from = &spec->controls[i];
        size_t length = strlen(from->name) + 1;
        char *name = lg_arena_take(arena, length);
        int *reads = lg_arena_ints(arena, (size_t)from->nreads);
        int *block = lg_arena_ints(arena, (size_t)spec->nblocks);
        if (!name || !controls) // the arena is being measured
            continue;
        controls[i] = (lg_controller){.given = *from, .force = forces, .block = block, .states = -1};
        controls[i].given.name = memcpy(name, from->name, length);
        controls[i].given.reads = memcpy(reads, from->reads, (size_t)from->nreads * sizeof *reads);
    }
}

static int block_of_velocity(const lg_model *m, int velocity)
{
    int block = 0;
    while (m->blocks[block].v + m->blocks[block].nv <= velocity)
        block++;
    return block;
}

static lg_status check_spec(const lg_model *m, const lg_control_spec *given, lg_report *report)
{
    for (int i = 0; i < given->nreads; i++)
        if (given->reads[i] < (i ? given->reads[i - 1] + 1 : 0) || given->reads[i] >= m->space.nv)
            return lg_model_refuse(report, given->name, "reads must be ascending numbers of velocities");
    if (given->nvalues < 1)
        return lg_model_refuse(report, given->name, "a control needs at least one value");
    return given->every >= 0 && isfinite(given->every)
               ? LG_OK
               : lg_model_refuse(report, given->name, "the period of samples must be positive");
}

/* Whether an element takes values of the control, of which those of all controls before it are `first`; if so, notes
   where they are. */
static int takes(lg_element *e, int width, const lg_controller *control, int first)
{
    double at = e->info->uses_control ? e->p[e->np - 1] - first : -1;
    if (at < 0 || at != floor(at) || at + width > control->given.nvalues)
        return 0;
    e->value = control->value + (size_t)at;
    return 1;
}

static void control_add_block(lg_controller *control, int block)
{
    int i = control->nblocks;
    while (i > 0 && control->block[i - 1] > block)
        i--;
    if (block < 0 || (i > 0 && control->block[i - 1] == block))
        return;
    memmove(control->block + i + 1, control->block + i, (size_t)(control->nblocks - i) * sizeof *control->block);
    control->block[i] = block;
    control->nblocks++;
}

/* Finds the elements that take values of the control, and the blocks on which it acts or that it reads. */
static void connect(lg_model *m, lg_controller *control, int first)
{
    for (int i = 0; i < m->nforces; i++) {
        lg_element *e = &m->forces[i].e;
        if (!takes(e, e->info->uses_control, control, first))
            continue;
        control->force[control->nforces++] = i;
        control->nefforts += e->info->uses_control;
        for (int s = 0; s < e->info->nframes; s++)
            control_add_block(control, e->frame[s]->body->index);
    }
    for (int i = 0; i < m->nbodies; i++)
        if (m->bodies[i].block && takes(&m->bodies[i].e, m->bodies[i].block->nv, control, first)) {
            control->states = i;
            control_add_block(control, m->bodies[i].index);
        }
    for (int i = 0; i < control->given.nreads; i++)
        control_add_block(control, block_of_velocity(m, control->given.reads[i]));
}

/* Doubles of scratch for the tangent: a state near that of the point, and matrices of the values by velocities. */
static size_t control_work_of(const lg_model *m, const lg_controller *control)
{
    size_t nv = (size_t)m->space.nv, n = (size_t)control->given.nvalues, given = control->given.has_tangent ? nv : 2;
    return lg_near_state_work(&m->space) + n * (2 * nv + nv + 2 * nv + 2 * given);
}

static lg_status fill_control(lg_model *m, lg_controller *control, int first, lg_layout *layout, lg_report *report)
{
    LG_TRY(check_spec(m, &control->given, report));
    control->value = (size_t)m->system.nwork;
    m->system.nwork += control->given.nvalues;
    connect(m, control, first);
    if (control->given.every > 0) {
        control->mem = m->system.nmem;
        m->system.nmem += 1 + control->given.nvalues;
        return LG_OK;
    }
    control->work = (size_t)m->system.nwork;
    m->system.nwork += (int)control_work_of(m, control);
    for (int i = 0; i < control->nblocks; i++)
        lg_layout_member(layout, control->block[i]);
    control->matrix_block = lg_layout_clique(layout);
    return LG_OK;
}

lg_status lg_model_fill_controls(lg_model *m, const lg_model_spec *spec, lg_layout *layout, lg_report *report)
{
    int first = 0;
    for (int i = 0; i < m->ncontrols; i++) {
        if (i)
            m->controls[i].force = m->controls[i - 1].force + m->controls[i - 1].nforces;
        LG_TRY(fill_control(m, &m->controls[i], first, layout, report));
        first += spec->controls[i].nvalues;
    }
    for (int i = 0; i < m->nbodies; i++)
        if (m->bodies[i].e.info->uses_control && !m->bodies[i].e.value)
            return lg_model_refuse(report, m->bodies[i].e.name, "there are no such values of a control");
    return LG_OK;
}

/* ---- values ---- */

/* Those of a sampled control are the last of its values, which are held. */
static const double *states_at(const lg_model *m, const lg_controller *c, const lg_point *at)
{
    if (c->given.every > 0)
        return at->mem.values + c->mem + 1 + c->nefforts;
    return c->states < 0 ? NULL : at->v + m->bodies[c->states].block->v;
}

lg_status lg_control_call(const lg_model *m, const lg_controller *control, const lg_point *at, double *value)
{
    const lg_control_spec *given = &control->given;
    return given->value(given->self, m->reader, at, states_at(m, control, at), given->nvalues, value);
}

lg_status lg_model_control(const lg_model *m, const lg_point *at)
{
    for (const lg_controller *c = m->controls; c < m->controls + m->ncontrols; c++)
        if (c->given.every > 0)
            lg_copy(c->given.nvalues, at->mem.values + c->mem + 1, at->work + c->value);
        else
            LG_TRY(lg_control_call(m, c, at, at->work + c->value));
    return LG_OK;
}

const lg_controller *lg_model_control_not_finite(const lg_model *m, const lg_point *at)
{
    for (const lg_controller *c = m->controls; c < m->controls + m->ncontrols; c++) {
        double *value = at->work + c->value;
        lg_zero(c->given.nvalues, value);
        lg_status status = c->given.every > 0 ? LG_OK : lg_control_call(m, c, at, value);
        if (status == LG_NOT_FINITE)
            return c;
        if (status != LG_OK && m->forget)
            m->forget();
    }
    return NULL;
}

/* ---- samples ---- */

/* The number of the last multiple of the period that is not after t; *here: it is t but for round-off. */
static double sample_number(double period, double t, int *here)
{
    double number = round(t / period);
    *here = fabs(t - number * period) <= 1e-9 * period;
    return *here ? number : floor(t / period);
}

/* Whether the control has to be called at t; then writes what its memory begins with afterwards. */
static int is_due(const lg_controller *c, const lg_point *at, double *mark)
{
    int here = 0;
    if (!(c->given.every > 0))
        return 0;
    *mark = sample_number(c->given.every, at->t, &here) + 0.5;
    return at->mem.values[c->mem] == 0 || (here && at->mem.values[c->mem] != *mark);
}

/* All that are due see the memory before this sample. */
lg_status lg_model_sample(void *self, const lg_point *at, double *mem)
{
    const lg_model *m = self;
    double mark = 0;
    for (const lg_controller *c = m->controls; c < m->controls + m->ncontrols; c++)
        if (is_due(c, at, &mark))
            LG_TRY(lg_control_call(m, c, at, at->work + c->value));
    for (const lg_controller *c = m->controls; c < m->controls + m->ncontrols; c++)
        if (is_due(c, at, &mark)) {
            lg_copy(c->given.nvalues, at->work + c->value, mem + c->mem + 1);
            mem[c->mem] = mark;
        }
    return LG_OK;
}

double lg_controls_next_sample(const lg_model *m, double t)
{
    double next = INFINITY;
    for (const lg_controller *c = m->controls; c < m->controls + m->ncontrols; c++) {
        if (!(c->given.every > 0))
            continue;
        double number = floor(t / c->given.every) + 1;
        while (number * c->given.every <= t)
            number++;
        next = fmin(next, number * c->given.every);
    }
    return next;
}

/* ---- derivatives ---- */

typedef struct slopes {
    const lg_model *m;
    const lg_controller *c;
    const lg_point *at;
    int n; /* values */
    lg_near_state state;
    double *by[2]; /* of the values, by all displacements and all velocities: n x nv each, column by column */
    double *exerted; /* generalized forces by the values: nv x n, column by column */
    double *along, *by_unknown; /* a block's part of `by`, and the same along a chain */
    double *given; /* what the user's tangent gives, or values on both sides */
} slopes;

static slopes open_slopes(const lg_model *m, const lg_controller *c, const lg_point *at)
{
    int nv = m->space.nv, n = c->given.nvalues;
    slopes s = {.m = m, .c = c, .at = at, .n = n, .state = lg_near_state_open(&m->space, at, at->work + c->work)};
    s.by[0] = s.state.theta + nv, s.by[1] = s.by[0] + n * nv;
    s.exerted = s.by[1] + n * nv;
    s.along = s.exerted + n * nv, s.by_unknown = s.along + n * nv;
    s.given = s.by_unknown + n * nv;
    lg_zero(2 * n * nv, s.by[0]);
    lg_zero(n * nv, s.exerted);
    return s;
}

static lg_status control_differentiate(const slopes *s, int level, int k)
{
    double *low = s->given, *high = s->given + s->n;
    lg_point point = lg_near_state_point(&s->state);
    double down = lg_near_state_move(&s->state, level, k, -LG_LAW_STEP);
    LG_TRY(lg_control_call(s->m, s->c, &point, low));
    double up = lg_near_state_move(&s->state, level, k, LG_LAW_STEP);
    LG_TRY(lg_control_call(s->m, s->c, &point, high));
    for (int i = 0; i < s->n; i++)
        s->by[level][s->n * k + i] = (high[i] - low[i]) / (up - down);
    lg_near_state_return(&s->state, level, k);
    return LG_OK;
}

/* Whether a tangent needs this level of a block; states of controls have no displacement. */
static int wants_level(const lg_wanted *want, const lg_block *block, int index, int level)
{
    if (level == 0 && block->nq == 0)
        return 0;
    for (const lg_tangent *to = want->tangent; to < want->tangent + want->ntangents; to++)
        if (lg_chain_of(to, index)->k[level] != 0)
            return 1;
    return 0;
}

static lg_status differences(const slopes *s, const lg_wanted *want)
{
    for (int i = 0; i < s->c->given.nreads; i++) {
        int k = s->c->given.reads[i], block = block_of_velocity(s->m, k);
        for (int level = 0; level < 2; level++)
            if (wants_level(want, &s->m->blocks[block], block, level))
                LG_TRY(control_differentiate(s, level, k));
    }
    return LG_OK;
}

static lg_status take_tangent(const slopes *s)
{
    const lg_control_spec *given = &s->c->given;
    int nv = s->m->space.nv;
    const double *states = states_at(s->m, s->c, s->at);
    double *value = s->at->work + s->c->value;
    LG_TRY(given->tangent(given->self, s->m->reader, s->at, states, s->n, value, s->given));
    for (int level = 0; level < 2; level++)
        for (int i = 0; i < s->n; i++)
            for (int k = 0; k < nv; k++)
                s->by[level][s->n * k + i] = s->given[(level * s->n + i) * nv + k];
    return LG_OK;
}

/* The generalized forces that a force exerts per unit of one of its values. */
static lg_status exert_unit(const slopes *s, const lg_force *force, int value)
{
    const lg_element *e = &force->e;
    double *column = s->exerted + (size_t)s->m->space.nv * (e->value - s->c->value + (size_t)value);
    if (force->type->coordinate) {
        column[e->frame[0]->body->block->v + e->frame[0]->part] = 1;
        return LG_OK;
    }
    const lg_pose *pose[2];
    lg_load load;
    double *values = s->at->work + e->value;
    lg_zero(e->info->uses_control, values);
    values[value] = 1;
    lg_element_poses(e, s->at, pose);
    lg_status status = force->type->wrenches(e, pose, s->at, 0, &load);
    for (int side = 0; side < e->info->nframes; side++) {
        const lg_body *body = e->frame[side]->body;
        if (body->block)
            body->type->frames->pull(e->frame[side], s->at, 1, load.w[side], column + body->block->v);
    }
    return status;
}

static lg_status exert_units(const slopes *s)
{
    const lg_model *m = s->m;
    for (int i = 0; i < s->c->nforces; i++) {
        const lg_force *force = &m->forces[s->c->force[i]];
        for (int value = 0; value < force->e.info->uses_control; value++)
            LG_TRY(exert_unit(s, force, value));
    }
    if (s->c->states < 0)
        return LG_OK;
    const lg_body *states = &m->bodies[s->c->states];
    for (int i = 0; i < states->block->nv; i++) {
        size_t column = states->e.value - s->c->value + (size_t)i;
        s->exerted[(size_t)m->space.nv * column + (size_t)(states->block->v + i)] = 1;
    }
    return LG_OK;
}

/* S_ij -= (generalized forces on block i) d(values)/du of block j */
static void control_add_product(const slopes *s, const lg_tangent *to, int i, int j)
{
    const lg_controller *c = s->c;
    const lg_block *row = &s->m->blocks[c->block[i]], *column = &s->m->blocks[c->block[j]];
    int ld, nv = s->m->space.nv;
    double *S = lg_matrix_at(to->S, c->matrix_block + (long)c->nblocks * i + j, &ld);
    for (int k = 0; k < s->n; k++) {
        const double *force = s->exerted + (size_t)nv * (size_t)k + row->v;
        if (lg_max_abs(row->nv, force) == 0)
            continue;
        for (int l = 0; l < column->nv; l++)
            lg_axpy(row->nv, -s->by_unknown[s->n * l + k], force, S + (size_t)l * (size_t)ld);
    }
}

static void add_along(const slopes *s, const lg_tangent *to)
{
    const lg_controller *c = s->c;
    for (int j = 0; j < c->nblocks; j++) {
        const lg_block *block = &s->m->blocks[c->block[j]];
        const lg_chain *chain = lg_chain_of(to, c->block[j]);
        lg_chain_mul(block, chain, 0, s->n, s->by[0] + s->n * block->v, s->by_unknown);
        lg_chain_mul(block, chain, 1, s->n, s->by[1] + s->n * block->v, s->along);
        lg_axpy(s->n * block->nv, 1, s->along, s->by_unknown);
        for (int i = 0; i < c->nblocks; i++)
            control_add_product(s, to, i, j);
    }
}

lg_status lg_model_add_controls(const lg_model *m, const lg_point *at, const lg_wanted *want)
{
    for (const lg_controller *c = m->controls; c < m->controls + m->ncontrols; c++) {
        if (c->given.every > 0)
            continue;
        slopes s = open_slopes(m, c, at);
        LG_TRY(c->given.has_tangent ? take_tangent(&s) : differences(&s, want));
        LG_TRY(exert_units(&s));
        for (const lg_tangent *to = want->tangent; to < want->tangent + want->ntangents; to++)
            if (to->chain)
                add_along(&s, to);
    }
    return LG_OK;
}
