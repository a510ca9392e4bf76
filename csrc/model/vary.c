/* A model with other parameters: a copy of the records of a model of the same shape, in which elements whose parameters
   differ are checked and prepared again. */
#include "model/private.h"
#include "model/rows.h"

#include <stdlib.h>

/* ---- the copy: pointers from records to records move with them ---- */

typedef struct move {
    char *to;
    const char *from;
} move;

static void *moved(const move *by, const void *address)
{
    return address ? by->to + ((const char *)address - by->from) : NULL;
}

static void move_arrays(const move *by, lg_model *m)
{
    m->bodies = moved(by, m->bodies);
    m->forces = moved(by, m->forces);
    m->joints = moved(by, m->joints);
    m->loads = moved(by, m->loads);
    m->frames = moved(by, m->frames);
    m->body_spans = moved(by, m->body_spans);
    m->force_spans = moved(by, m->force_spans);
    m->joint_spans = moved(by, m->joint_spans);
    m->frame_of = moved(by, m->frame_of);
    m->element_of = moved(by, m->element_of);
}

static void move_spans(const move *by, lg_model *m)
{
    for (int i = 0; i < m->nbody_spans; i++)
        m->body_spans[i] = (lg_span){moved(by, m->body_spans[i].first), moved(by, m->body_spans[i].end)};
    for (int i = 0; i < m->nforce_spans; i++)
        m->force_spans[i] = (lg_forces){moved(by, m->force_spans[i].first), moved(by, m->force_spans[i].end)};
    for (int i = 0; i < m->njoint_spans; i++)
        m->joint_spans[i] = (lg_joints){moved(by, m->joint_spans[i].first), moved(by, m->joint_spans[i].end)};
}

static void move_element(const move *by, lg_element *e)
{
    e->p = moved(by, e->p);
    for (int s = 0; s < 2; s++)
        e->frame[s] = moved(by, e->frame[s]);
}

static void move_frames(const move *by, lg_body *body)
{
    body->frames = moved(by, body->frames);
    for (lg_frame *f = (lg_frame *)body->frames; f < body->frames + body->nframes; f++)
        f->body = body;
}

static void move_records(const move *by, lg_model *m)
{
    move_frames(by, &m->ground);
    for (lg_body *body = m->bodies; body < m->bodies + m->nbodies; body++) {
        move_element(by, &body->e);
        move_frames(by, body);
        body->loads = moved(by, body->loads);
        body->prepared = moved(by, body->prepared);
    }
    for (int i = 0; i < m->nforces; i++)
        move_element(by, &m->forces[i].e);
    for (int i = 0; i < m->njoints; i++)
        move_element(by, &m->joints[i].e);
}

static void move_order(const move *by, lg_model *m)
{
    for (int i = 0; i < m->nframes; i++)
        m->frame_of[i] = moved(by, m->frame_of[i]);
    for (lg_element_ref *at = m->element_of; at < m->element_of + m->nelements; at++)
        *at = (lg_element_ref){moved(by, at->body), moved(by, at->force), moved(by, at->joint)};
}

static lg_status copy(const lg_model *from, lg_model *m)
{
    *m = *from;
    m->shape = (lg_arena){0};
    m->derivatives = NULL;
    LG_TRY(lg_arena_copy(&m->records, &from->records));
    const move by = {m->records.base, from->records.base};
    move_arrays(&by, m);
    move_spans(&by, m);
    move_records(&by, m);
    move_order(&by, m);
    m->sensitivity = lg_model_rows_alone(m);
    m->system.sensitivity = m->sensitivity ? &m->sensitivity[LG_FORM_DYNAMICS] : NULL;
    return LG_OK;
}

/* ---- other parameters ---- */

static const lg_element *element_at(lg_element_ref at)
{
    return at.body ? &at.body->e : at.force ? &at.force->e : &at.joint->e;
}

/* What the pattern, the order of the records and the names of rows follow from. */
static int same_couplings(const lg_force *a, const lg_force *b)
{
    return !a->type->couples || a->type->couples(&a->e) == b->type->couples(&b->e);
}

/* Values of a control, which the element takes from where the first model has them. */
static int same_value(const lg_element *a, const lg_element *b)
{
    return !a->info->uses_control || a->p[a->np - 1] == b->p[b->np - 1];
}

/* Whether a piece of a tendon is the first one or goes on. */
static int same_piece(const lg_force *a, const lg_force *b)
{
    return !a->type->piece || a->e.p[a->e.np - 1] == b->e.p[b->e.np - 1];
}

static int same_force(const lg_force *a, const lg_force *b)
{
    double wrench[6];
    return same_piece(a, b) && same_couplings(a, b) && same_value(&a->e, &b->e) &&
           (!a->type->dead || a->type->dead(&a->e, wrench) == a->type->dead(&b->e, wrench));
}

static int same_joint(const lg_joint *a, const lg_joint *b)
{
    for (int i = 0; a->type->row_label && i < a->nrows; i++)
        if (strcmp(a->type->row_label(&a->e, a->row_in_type[i]), b->type->row_label(&b->e, b->row_in_type[i])) != 0)
            return 0;
    return lg_joint_couples(a) == lg_joint_couples(b) && lg_joint_continues(a) == lg_joint_continues(b);
}

static lg_status check_changed(lg_element_ref before, lg_element_ref after, lg_report *report)
{
    if (after.body)
        LG_TRY(lg_check_body(after.body, report));
    else
        LG_TRY(after.force ? lg_check_force(after.force, report) : lg_check_joint(after.joint, report));
    if (after.body    ? same_value(&before.body->e, &after.body->e)
        : after.force ? same_force(before.force, after.force)
                      : same_joint(before.joint, after.joint))
        return LG_OK;
    return lg_model_refuse(report, element_at(after)->name,
                           "one of these parameters belongs to the shape of the model");
}

static lg_status set_parameters(const lg_model *origin, lg_model *m, const double *given, lg_report *report)
{
    for (int i = 0; i < m->nelements; i++) {
        lg_element_ref at = m->element_of[i];
        const lg_element *e = element_at(at);
        if (memcmp(e->p, given, (size_t)e->np * sizeof *given) != 0) {
            LG_TRY(lg_check_parameters(e->info, e->name, e->np, given, report));
            lg_copy(e->np, given, (double *)e->p);
            LG_TRY(check_changed(origin->element_of[i], at, report));
            if (at.body && at.body->type->prepare)
                at.body->type->prepare(at.body, (double *)at.body->prepared);
        }
        given += e->np;
    }
    return LG_OK;
}

static lg_status vary(const lg_model *origin, const double *parameters, lg_model *m, lg_report *report)
{
    LG_TRY(copy(origin, m));
    LG_TRY(set_parameters(origin, m, parameters, report));
    lg_model_fill_loads(m);
    lg_model_fill_traits(m);
    lg_model_fill_system(m);
    return LG_OK;
}

static size_t count_parameters(const lg_model *m)
{
    size_t n = 0;
    for (int i = 0; i < m->nelements; i++)
        n += (size_t)element_at(m->element_of[i])->np;
    return n;
}

lg_status lg_model_vary(const lg_model *origin, size_t n, const double *parameters, lg_model **model, lg_report *report)
{
    *report = (lg_report){0};
    if (n != count_parameters(origin))
        return lg_model_refuse(report, "parameters", "one for each parameter of all elements expected");
    lg_model *m = calloc(1, sizeof *m);
    lg_status status = m ? vary(origin, parameters, m, report) : LG_NO_MEMORY;
    if (status == LG_OK)
        *model = m;
    else
        lg_model_free(m);
    return status;
}
