/* What is wrong with a model whose records are written: where its frames sit, what its elements act on, and their
   parameters. */
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

static const char nonsense[] = "a parameter does not make sense";

lg_status lg_check_body(const lg_body *body, lg_report *report)
{
    const char *reason = nonsense;
    if (body->type->check && body->type->check(body, &reason) != LG_OK)
        return lg_model_refuse(report, body->e.name, reason);
    return LG_OK;
}

lg_status lg_check_force(const lg_force *force, lg_report *report)
{
    const lg_force_type *type = force->type;
    const char *reason = nonsense;
    if (!type->piece) // a piece of a tendon may have its length
        LG_TRY(check_ends(&force->e, report));
    if (type->check && type->check(&force->e, &reason) != LG_OK)
        return lg_model_refuse(report, force->e.name, reason);
    return check_turning(&force->e, type->between ? lg_element_on_point : type->on_point, report);
}

lg_status lg_check_joint(const lg_joint *joint, lg_report *report)
{
    const char *reason = nonsense;
    LG_TRY(check_ends(&joint->e, report));
    if (joint->type->check && joint->type->check(&joint->e, &reason) != LG_OK)
        return lg_model_refuse(report, joint->e.name, reason);
    return check_turning(&joint->e, joint->type->on_point, report);
}

lg_status lg_model_check(const lg_model *m, lg_report *report)
{
    LG_TRY(check_frames(m, report));
    for (int i = 0; i < m->nforces; i++)
        LG_TRY(lg_check_force(&m->forces[i], report));
    for (int i = 0; i < m->njoints; i++)
        LG_TRY(lg_check_joint(&m->joints[i], report));
    return LG_OK;
}
