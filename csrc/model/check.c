/* What is wrong with a model whose records are written: where its frames sit, and what its elements act on. */
#include "model/private.h"
#include "model/rows.h"

/* Checks that frames sit on parts that exist, and the inertia of a body on its node. */
static lg_status check_frames(const lg_model *m, lg_report *report)
{
    for (int i = 0; i < m->nframes; i++) {
        const lg_body *body = m->frames[i].body;
        int parts = body->type->parts ? body->type->parts(body) : 1;
        if (body->block && (m->frames[i].part < 0 || m->frames[i].part >= parts))
            return lg_model_refuse(report, "frame", "no such part of the body");
        if (body->type->is_point && !m->frames[i].at_node)
            return lg_model_refuse(report, body->e.name, "a frame cannot be offset from a point mass");
    }
    for (int i = 0; i < m->nbodies; i++)
        if (!m->bodies[i].e.frame[0]->at_node)
            return lg_model_refuse(report, m->bodies[i].e.name, "inertia must sit at the node");
    return LG_OK;
}

static lg_status check_ends(const lg_element *e, lg_report *report)
{
    const lg_frame *a = e->frame[0], *b = e->frame[1];
    if (b && a->body == b->body && a->part == b->part)
        return lg_model_refuse(report, e->name, "both ends are on the same body");
    if (b && !a->body->block && !b->body->block)
        return lg_model_refuse(report, e->name, "neither end can move");
    return LG_OK;
}

/* Elements that need a rotation or exert moments need a body that can turn. */
static lg_status check_turning(const lg_element *e, int (*on_point)(const lg_element *, int), lg_report *report)
{
    for (int s = 0; s < e->info->nframes; s++)
        if (e->frame[s]->body->type->is_point && !(on_point && on_point(e, s)))
            return lg_model_refuse(report, e->name, "this element needs a body that can turn, and a point mass cannot");
    return LG_OK;
}

static lg_status check_elements(const lg_model *m, lg_report *report)
{
    for (int i = 0; i < m->nforces; i++) {
        const lg_force *f = &m->forces[i];
        const char *reason = "a parameter does not make sense";
        LG_TRY(check_ends(&f->e, report));
        if (f->type->check && f->type->check(&f->e, &reason) != LG_OK)
            return lg_model_refuse(report, f->e.name, reason);
        LG_TRY(check_turning(&f->e, f->type->between ? lg_element_on_point : f->type->on_point, report));
    }
    for (int i = 0; i < m->njoints; i++) {
        const lg_joint *j = &m->joints[i];
        const char *reason = "a parameter does not make sense";
        LG_TRY(check_ends(&j->e, report));
        if (j->type->check && j->type->check(&j->e, &reason) != LG_OK)
            return lg_model_refuse(report, j->e.name, reason);
        LG_TRY(check_turning(&j->e, j->type->on_point, report));
    }
    return LG_OK;
}

lg_status lg_model_check(const lg_model *m, lg_report *report)
{
    LG_TRY(check_frames(m, report));
    return check_elements(m, report);
}
