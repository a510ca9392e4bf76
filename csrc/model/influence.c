/* What a direction changes in a model; see influence.h. */
#include "model/influence.h"

#include "model/rows.h"
#include "model/tendon.h"

static void layout(void *self, lg_arena *arena)
{
    lg_influence *in = self;
    size_t nbodies = (size_t)in->m->nbodies, nforces = (size_t)in->m->nforces, njoints = (size_t)in->m->njoints;
    in->start = lg_arena_take(arena, ((size_t)in->m->nelements + 1) * sizeof *in->start);
    in->body = lg_arena_ints(arena, nbodies);
    in->force = lg_arena_ints(arena, nforces);
    in->joint = lg_arena_ints(arena, njoints);
    in->new_body = lg_arena_ints(arena, nbodies);
    in->new_force = lg_arena_ints(arena, nforces);
    in->new_joint = lg_arena_ints(arena, njoints);
}

lg_status lg_influence_open(lg_influence *in, const lg_model *m)
{
    *in = (lg_influence){.m = m};
    LG_TRY(lg_arena_open(&in->memory, layout, in));
    for (int i = 0; i < m->nelements; i++)
        in->start[i + 1] = in->start[i] + (size_t)lg_element_at(m->element_of[i])->np;
    return LG_OK;
}

void lg_influence_close(lg_influence *in)
{
    lg_arena_close(&in->memory);
}

int lg_influence_owner(const lg_influence *in, int parameter)
{
    int low = 0, high = in->m->nelements;
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (in->start[middle] <= (size_t)parameter)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* ---- effects ---- */

static void mark(lg_influence *in, lg_element_ref at)
{
    if (at.body)
        in->body[at.body - in->m->bodies] = LG_CHANGES;
    else if (at.force)
        in->force[at.force - in->m->forces] = LG_CHANGES;
    else
        in->joint[at.joint - in->m->joints] = LG_CHANGES;
}

/* All pieces of a tendon have one tension, so that they change together. */
static void mark_tendons(lg_influence *in)
{
    for (const lg_tendon *tendon = in->m->tendons; tendon < in->m->tendons + in->m->ntendons; tendon++) {
        int changes = LG_NO_EFFECT;
        for (int k = 0; k < tendon->npieces; k++)
            changes |= in->force[tendon->piece[k]];
        for (int k = 0; k < tendon->npieces; k++)
            in->force[tendon->piece[k]] = changes;
    }
}

static void mark_elements(lg_influence *in)
{
    const lg_model *m = in->m;
    for (int i = 0; i < in->direction->nvalues; i++)
        mark(in, m->element_of[lg_influence_owner(in, in->direction->parameter[i])]);
    for (int i = 0; i < in->direction->nends; i++)
        mark(in, m->element_of[in->direction->end[i] / 2]);
    mark_tendons(in);
}

/* Marks the bodies under the frames of a force or joint that changes. */
static void mark_carriers(lg_influence *in, const lg_element *e)
{
    const lg_model *m = in->m;
    in->nframes += e->info->nframes;
    for (int end = 0; end < e->info->nframes; end++) {
        const lg_frame *f = e->frame[end];
        if (f->body != &m->ground && in->body[f->body - m->bodies] == LG_NO_EFFECT)
            in->body[f->body - m->bodies] = LG_CARRIES;
    }
}

/* ---- numbers in the small model ---- */

/* Numbers the records with an effect from `next` on, and returns the number behind them. */
static int number(int n, const int *effect, lg_effect wanted, int *numbers, int next)
{
    for (int i = 0; i < n; i++)
        if (effect[i] == (int)wanted)
            numbers[i] = next++;
    return next;
}

static size_t parameters_of(const lg_body *body)
{
    int prepared = body->type->prepare ? body->type->prepare(body, NULL) : 0;
    return (size_t)(body->e.np + prepared);
}

static void count(lg_influence *in)
{
    const lg_model *m = in->m;
    in->nchanged = number(m->nbodies, in->body, LG_CHANGES, in->new_body, 0);
    in->nbodies = number(m->nbodies, in->body, LG_CARRIES, in->new_body, in->nchanged);
    in->nforces = number(m->nforces, in->force, LG_CHANGES, in->new_force, 0);
    in->njoints = number(m->njoints, in->joint, LG_CHANGES, in->new_joint, 0);
    in->nparameters = 0;
    for (int i = 0; i < m->nbodies; i++)
        in->nparameters += in->body[i] == LG_CHANGES ? parameters_of(&m->bodies[i]) : 0;
    for (int i = 0; i < m->nforces; i++)
        in->nparameters += in->force[i] ? (size_t)m->forces[i].e.np : 0;
    for (int i = 0; i < m->njoints; i++)
        in->nparameters += in->joint[i] ? (size_t)m->joints[i].e.np : 0;
}

/* ---- a direction ---- */

static lg_status check(const lg_influence *in, const lg_direction *direction, lg_report *report)
{
    const lg_model *m = in->m;
    for (int i = 0; i < direction->nvalues; i++)
        if (direction->parameter[i] < 0 || (size_t)direction->parameter[i] >= in->start[m->nelements])
            return lg_model_refuse(report, "directions", "no such parameter");
    for (int i = 0; i < direction->nends; i++) {
        int element = direction->end[i] / 2, end = direction->end[i] % 2;
        if (direction->end[i] < 0 || element >= m->nelements || m->element_of[element].body ||
            end >= lg_element_at(m->element_of[element])->info->nframes)
            return lg_model_refuse(report, "directions", "no such frame of a force or joint");
    }
    return direction->size > 0 ? LG_OK : lg_model_refuse(report, "directions", "sizes must be positive");
}

lg_status lg_influence_of(lg_influence *in, const lg_direction *direction, lg_report *report)
{
    const lg_model *m = in->m;
    LG_TRY(check(in, direction, report));
    in->direction = direction;
    memset(in->body, 0, (size_t)m->nbodies * sizeof *in->body);
    memset(in->force, 0, (size_t)m->nforces * sizeof *in->force);
    memset(in->joint, 0, (size_t)m->njoints * sizeof *in->joint);
    in->nframes = 0;
    mark_elements(in);
    for (int i = 0; i < m->nforces; i++)
        if (in->force[i])
            mark_carriers(in, &m->forces[i].e);
    for (int i = 0; i < m->njoints; i++)
        if (in->joint[i])
            mark_carriers(in, &m->joints[i].e);
    count(in);
    return LG_OK;
}
