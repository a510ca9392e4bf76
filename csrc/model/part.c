/* Parts of models; see part.h. */
#include "model/part.h"

#include "model/tendon.h"

static void *part_take(lg_arena *arena, int count, size_t size)
{
    return lg_arena_take(arena, (size_t)count * size);
}

void lg_part_layout(const lg_influence *in, lg_model *m, double **parameters, lg_arena *arena)
{
    lg_model measured;
    lg_model *to = m ? m : &measured;
    *to = *in->m;
    to->bodies = part_take(arena, in->nbodies, sizeof *to->bodies);
    to->forces = part_take(arena, in->nforces, sizeof *to->forces);
    to->joints = part_take(arena, in->njoints, sizeof *to->joints);
    to->frames = part_take(arena, in->nframes, sizeof *to->frames);
    to->body_spans = part_take(arena, in->nbodies, sizeof *to->body_spans);
    to->force_spans = part_take(arena, in->nforces, sizeof *to->force_spans);
    to->joint_spans = part_take(arena, in->njoints, sizeof *to->joint_spans);
    to->tendons = part_take(arena, in->nforces, sizeof *to->tendons);
    to->tendon_pieces = lg_arena_ints(arena, (size_t)in->nforces);
    *parameters = lg_arena_doubles(arena, in->nparameters);
}

/* ---- records ---- */

typedef struct writer {
    const lg_influence *in;
    lg_model *to;
    double *next; /* of the parameters */
} writer;

static void copy_parameters(writer *w, lg_element *e)
{
    lg_copy(e->np, e->p, w->next);
    e->p = w->next;
    w->next += e->np;
}

static void copy_body(writer *w, int i)
{
    const lg_model *from = w->in->m;
    lg_body *body = &w->to->bodies[w->in->new_body[i]];
    *body = from->bodies[i];
    body->nframes = body->nactive = body->nloads = 0;
    if (w->in->body[i] != LG_CHANGES)
        return;
    copy_parameters(w, &body->e);
    body->prepared = w->next;
    w->next += body->type->prepare ? body->type->prepare(body, NULL) : 0;
}

/* No force is a dead load here, since bodies of a part add none themselves. */
static void copy_force(writer *w, int i)
{
    lg_force *force = &w->to->forces[w->in->new_force[i]];
    *force = w->in->m->forces[i];
    force->added_by_body = 0;
    copy_parameters(w, &force->e);
}

static void copy_joint(writer *w, int i)
{
    lg_joint *joint = &w->to->joints[w->in->new_joint[i]];
    *joint = w->in->m->joints[i];
    copy_parameters(w, &joint->e);
}

static void copy_records(writer *w)
{
    const lg_influence *in = w->in;
    for (int i = 0; i < in->m->nbodies; i++)
        if (in->body[i])
            copy_body(w, i);
    for (int i = 0; i < in->m->nforces; i++)
        if (in->force[i])
            copy_force(w, i);
    for (int i = 0; i < in->m->njoints; i++)
        if (in->joint[i])
            copy_joint(w, i);
}

/* Tendons change as a whole. */
static void copy_tendons(writer *w)
{
    const lg_model *from = w->in->m;
    int *next = w->to->tendon_pieces;
    w->to->ntendons = 0;
    for (int i = 0; i < from->ntendons; i++) {
        if (!w->in->force[from->tendons[i].piece[0]])
            continue;
        lg_tendon *tendon = &w->to->tendons[w->to->ntendons++];
        *tendon = from->tendons[i];
        tendon->piece = next;
        next += tendon->npieces;
        for (int k = 0; k < tendon->npieces; k++)
            tendon->piece[k] = w->in->new_force[from->tendons[i].piece[k]];
    }
}

/* ---- frames, sorted by the bodies that carry them ---- */

typedef void each_end(writer *w, lg_element *e, int end, unsigned loaded);

static lg_body *carrier(const writer *w, const lg_frame *f)
{
    const lg_model *from = w->in->m;
    return f->body == &from->ground ? &w->to->ground : &w->to->bodies[w->in->new_body[f->body - from->bodies]];
}

static void count_frame(writer *w, lg_element *e, int end, unsigned loaded)
{
    (void)loaded;
    carrier(w, e->frame[end])->nframes++;
}

static void copy_frame(writer *w, lg_element *e, int end, unsigned loaded)
{
    lg_body *body = carrier(w, e->frame[end]);
    lg_frame *f = (lg_frame *)&body->frames[body->nactive++];
    *f = *e->frame[end];
    f->body = body;
    f->loaded = loaded;
    f->pose = (size_t)w->in->m->system.nwork + LG_POSE_SIZE * (size_t)(f - w->to->frames);
    e->frame[end] = f;
}

static void go_through_ends(writer *w, each_end *each)
{
    for (lg_force *f = w->to->forces; f < w->to->forces + w->in->nforces; f++)
        for (int end = 0; end < f->e.info->nframes; end++)
            each(w, &f->e, end, f->type->coordinate ? 0 : 1u << LG_FORCES);
    for (lg_joint *j = w->to->joints; j < w->to->joints + w->in->njoints; j++)
        for (int end = 0; end < j->e.info->nframes; end++)
            each(w, &j->e, end, lg_joint_loads(j->type));
}

static void copy_frames(writer *w)
{
    const lg_frame *next = w->to->frames;
    w->to->ground.nframes = w->to->ground.nactive = 0;
    go_through_ends(w, count_frame);
    for (int i = -1; i < w->in->nbodies; i++) {
        lg_body *body = i < 0 ? &w->to->ground : &w->to->bodies[i];
        body->frames = next;
        next += body->nframes;
    }
    go_through_ends(w, copy_frame);
}

/* Spans of records of one row, which follow each other; bodies that change and those that do not are apart. */
static void fill_spans(const lg_influence *in, lg_model *m)
{
    m->nbody_spans = m->ninertia_spans = m->nforce_spans = m->njoint_spans = 0;
    for (int i = 0; i < in->nbodies; i++) {
        if (i == 0 || i == in->nchanged || m->bodies[i].type != m->bodies[i - 1].type)
            m->body_spans[m->nbody_spans++].first = &m->bodies[i];
        m->body_spans[m->nbody_spans - 1].end = &m->bodies[i + 1];
        m->ninertia_spans = i < in->nchanged ? m->nbody_spans : m->ninertia_spans;
    }
    for (int i = 0; i < in->nforces; i++) {
        if (i == 0 || m->forces[i].type != m->forces[i - 1].type)
            m->force_spans[m->nforce_spans++].first = &m->forces[i];
        m->force_spans[m->nforce_spans - 1].end = &m->forces[i + 1];
    }
    for (int i = 0; i < in->njoints; i++) {
        if (i == 0 || m->joints[i].type != m->joints[i - 1].type)
            m->joint_spans[m->njoint_spans++].first = &m->joints[i];
        m->joint_spans[m->njoint_spans - 1].end = &m->joints[i + 1];
    }
}

/* ---- the step along the direction ---- */

static const lg_element *new_element(const lg_influence *in, const lg_model *m, lg_element_ref at)
{
    if (at.body)
        return &m->bodies[in->new_body[at.body - in->m->bodies]].e;
    if (at.force)
        return &m->forces[in->new_force[at.force - in->m->forces]].e;
    return &m->joints[in->new_joint[at.joint - in->m->joints]].e;
}

double *lg_part_value(const lg_influence *in, const lg_model *m, int parameter)
{
    int owner = lg_influence_owner(in, parameter);
    const lg_element *e = new_element(in, m, in->m->element_of[owner]);
    return (double *)e->p + (size_t)parameter - in->start[owner];
}

static void move_parameters(const lg_influence *in, double step, const lg_model *m)
{
    const lg_direction *direction = in->direction;
    for (int i = 0; i < direction->nvalues; i++)
        *lg_part_value(in, m, direction->parameter[i]) += step * direction->rate[i];
}

static void clear_linear(const lg_parameter *p, int linear, int np, double *values)
{
    for (int at = 0, count; at < np; at += count, p++) {
        count = lg_parameter_count(p) < 0 ? np - at : lg_parameter_count(p);
        if (p->linear == linear)
            lg_zero(count, values + at);
    }
}

static void clear_parameters(const lg_influence *in, const lg_model *m)
{
    const lg_direction *direction = in->direction;
    for (int i = 0; i < direction->nvalues; i++) {
        int owner = lg_influence_owner(in, direction->parameter[i]);
        const lg_element *e = new_element(in, m, in->m->element_of[owner]);
        clear_linear(e->info->parameters, lg_part_declared(in, direction->parameter[i])->linear, e->np, (double *)e->p);
    }
}

static void prepare_bodies(const lg_influence *in, const lg_model *m)
{
    for (const lg_body *body = m->bodies; body < m->bodies + in->nchanged; body++)
        if (body->type->prepare)
            body->type->prepare(body, (double *)body->prepared);
}

const lg_parameter *lg_part_declared(const lg_influence *in, int parameter)
{
    int owner = lg_influence_owner(in, parameter), at = parameter - (int)in->start[owner];
    const lg_parameter *p = lg_element_at(in->m->element_of[owner])->info->parameters;
    for (int count; (count = lg_parameter_count(p)) >= 0 && at >= count; p++)
        at -= count;
    return p;
}

static void move_frames(const lg_influence *in, double step, const lg_model *m)
{
    for (int i = 0; i < in->direction->nends; i++) {
        int end = in->direction->end[i];
        lg_frame *f = (lg_frame *)new_element(in, m, in->m->element_of[end / 2])->frame[end % 2];
        lg_axpy(3, step, in->direction->motion + 6 * i, f->base);
        lg_axpy(3, step, in->direction->motion + 6 * i + 3, f->offset);
        f->at_node = lg_dot3(f->offset, f->offset) == 0;
    }
}

static void copy_all(const lg_influence *in, lg_model *m, double *parameters)
{
    writer w = {in, m, parameters};
    m->nown_blocks = 0; // the blocks' own rows depend on no parameter
    m->ncontrols = 0; // their values are those of the whole model
    m->nbodies = in->nbodies, m->nforces = in->nforces, m->njoints = in->njoints, m->nframes = in->nframes;
    copy_records(&w);
    copy_tendons(&w);
    copy_frames(&w);
    fill_spans(in, m);
}

void lg_part_copy(const lg_influence *in, lg_model *m, double *parameters)
{
    copy_all(in, m, parameters);
    prepare_bodies(in, m);
    lg_model_fill_traits(m);
}

void lg_part_fill(const lg_influence *in, double step, lg_model *m, double *parameters)
{
    copy_all(in, m, parameters);
    move_parameters(in, step, m);
    prepare_bodies(in, m);
    move_frames(in, step, m);
    lg_model_fill_traits(m);
}

void lg_part_fill_rates(const lg_influence *in, lg_model *m, double *parameters)
{
    copy_all(in, m, parameters);
    clear_parameters(in, m);
    move_parameters(in, 1, m);
    prepare_bodies(in, m);
    lg_model_fill_traits(m);
}
