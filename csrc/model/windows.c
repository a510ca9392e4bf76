/* The windows of a long model. An evaluation reads what bodies, joints and forces have written just before while it is
   still in the cache: it moves some bodies, goes through the elements all of whose bodies have moved, and lets those
   bodies gather that have no element left. Every list of records is passed through from its beginning to its end, and
   an element waits until none of an earlier list is left on its bodies, so that each sum has its terms in the same
   order, whatever the size of the windows. */
#include "model/private.h"

#include <limits.h>
#include <stdlib.h>

typedef struct sorter {
    lg_model *m;
    int *end; /* per list: how far the windows so far go */
    int *moved; /* per body */
    int *last; /* per list of elements and body: 1 + its last element there, 0 if there is none */
} sorter;

int lg_windows_lists(const lg_model *m)
{
    return 2 * m->nbody_spans + m->nforce_spans + m->njoint_spans;
}

static int element_lists(const lg_model *m)
{
    return m->nforce_spans + m->njoint_spans;
}

/* The number of elements of a list; forces on coordinates come after all windows. */
static int length_of(const lg_model *m, int list)
{
    if (list >= m->nforce_spans) {
        const lg_joints *joints = &m->joint_spans[list - m->nforce_spans];
        return (int)(joints->end - joints->first);
    }
    const lg_forces *forces = &m->force_spans[list];
    return forces->first->type->coordinate ? 0 : (int)(forces->end - forces->first);
}

static const lg_element *element_of(const lg_model *m, int list, int i)
{
    return list < m->nforce_spans ? &m->force_spans[list].first[i].e
                                  : &m->joint_spans[list - m->nforce_spans].first[i].e;
}

/* The number of the body under a frame; -1: the ground. */
static int body_under(const lg_model *m, const lg_frame *f)
{
    return f->body == &m->ground ? -1 : (int)(f->body - m->bodies);
}

static void find_last(sorter *s)
{
    const lg_model *m = s->m;
    for (int list = 0; list < element_lists(m); list++)
        for (int i = 0; i < length_of(m, list); i++)
            for (int k = 0; k < element_of(m, list, i)->info->nframes; k++) {
                int body = body_under(m, element_of(m, list, i)->frame[k]);
                if (body >= 0)
                    s->last[(size_t)list * (size_t)m->nbodies + (size_t)body] = i + 1;
            }
}

/* Whether a body has moved and has no element left in the first lists. */
static int is_free(const sorter *s, int body, int lists)
{
    const lg_model *m = s->m;
    if (!s->moved[body])
        return 0;
    for (int list = 0; list < lists; list++)
        if (s->last[(size_t)list * (size_t)m->nbodies + (size_t)body] > s->end[m->nbody_spans + list])
            return 0;
    return 1;
}

static int is_ready(const sorter *s, int list, int i)
{
    const lg_element *e = element_of(s->m, list, i);
    for (int k = 0; k < e->info->nframes; k++) {
        int body = body_under(s->m, e->frame[k]);
        if (body >= 0 && !is_free(s, body, list))
            return 0;
    }
    return 1;
}

/* Moves the bodies on blocks before `limit`, and goes as far as this allows. */
static void go_on(sorter *s, int limit)
{
    lg_model *m = s->m;
    int *gathered = s->end + m->nbody_spans + element_lists(m);
    for (int i = 0; i < m->nbody_spans; i++)
        for (const lg_body *b = m->body_spans[i].first + s->end[i]; b < m->body_spans[i].end && b->index < limit; b++) {
            s->moved[b - m->bodies] = 1;
            s->end[i]++;
        }
    for (int list = 0; list < element_lists(m); list++)
        for (int *end = &s->end[m->nbody_spans + list]; *end < length_of(m, list) && is_ready(s, list, *end);)
            ++*end;
    for (int i = 0; i < m->nbody_spans; i++)
        for (const lg_body *b = m->body_spans[i].first + gathered[i];
             b < m->body_spans[i].end && is_free(s, (int)(b - m->bodies), element_lists(m)); b++)
            gathered[i]++;
}

static void fill_windows(sorter *s, int size)
{
    lg_windows *windows = &s->m->windows;
    size_t lists = (size_t)lg_windows_lists(s->m);
    find_last(s);
    for (int w = 0; w < windows->count; w++) {
        go_on(s, w + 1 < windows->count ? size * (w + 1) : INT_MAX);
        memcpy(windows->ends + lists * (size_t)w, s->end, lists * sizeof *s->end);
    }
}

lg_status lg_model_set_windows(lg_model *m, int size)
{
    size_t lists = (size_t)lg_windows_lists(m), bodies = (size_t)m->nbodies;
    lg_model_drop_windows(m);
    if (m->space.nblocks <= size)
        return LG_OK;
    int count = m->space.nblocks / size + (m->space.nblocks % size > 0);
    sorter s = {.m = m,
                .end = calloc(lists, sizeof(int)),
                .moved = calloc(bodies, sizeof(int)),
                .last = calloc((size_t)element_lists(m) * bodies + 1, sizeof(int))};
    m->windows.ends = calloc(lists * (size_t)count, sizeof(int));
    lg_status status = s.end && s.moved && s.last && m->windows.ends ? LG_OK : LG_NO_MEMORY;
    if (status == LG_OK) {
        m->windows.count = count;
        fill_windows(&s, size);
    }
    free(s.end);
    free(s.moved);
    free(s.last);
    return status;
}

void lg_model_drop_windows(lg_model *m)
{
    free(m->windows.ends);
    m->windows = (lg_windows){0};
}
