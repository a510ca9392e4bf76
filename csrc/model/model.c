/* Building a model: from a plain description to blocks, frames, elements, a space and a pattern, all in one arena. */
#include "model/model.h"
#include "model/private.h"

#include <stdio.h>
#include <stdlib.h>

const lg_element_type *const lg_element_types[] = {
#define LG_ELEMENT(symbol) &symbol,
#define LG_JOINT(symbol, name, translations, pairs, npairs, angle, doc) &symbol,
#include "model/elements.def"
#include "model/joints.def"
#undef LG_ELEMENT
#undef LG_JOINT
    NULL,
};

const lg_element_type *lg_element_find(const char *name)
{
    for (const lg_element_type *const *type = lg_element_types; *type; type++)
        if (strcmp((*type)->name, name) == 0)
            return *type;
    return NULL;
}

int lg_element_count(void)
{
    int count = 0;
    while (lg_element_types[count])
        count++;
    return count;
}

lg_element_info lg_element_describe(int index)
{
    const lg_element_type *t = lg_element_types[index];
    return (lg_element_info){t->name,  t->doc,  t->reference,  t->locked,     t->nframes,
                             t->nrows, t->nmem, t->parameters, t->nparameters};
}

/* ---- what is wrong with a description ---- */

static lg_status refuse(lg_report *report, const char *name, const char *reason)
{
    snprintf(report->what, sizeof report->what, "%.40s: %.50s", name ? name : "model", reason);
    report->status = LG_BAD_ARGUMENT;
    return LG_BAD_ARGUMENT;
}

static int parameter_count(const lg_element_type *type)
{
    int count = 0;
    for (int i = 0; i < type->nparameters; i++)
        count += type->parameters[i].count > 0 ? type->parameters[i].count : 0;
    return count;
}

static int takes_the_rest(const lg_element_type *type)
{
    return type->nparameters > 0 && type->parameters[type->nparameters - 1].count < 0;
}

static lg_status check_spec(const lg_model_spec *spec, lg_report *report)
{
    if (spec->nblocks < 1)
        return refuse(report, NULL, "there is no body");
    for (int i = 0; i < spec->nblocks; i++) {
        const lg_node *node = lg_node_find(spec->blocks[i].kind);
        if (!node)
            return refuse(report, spec->blocks[i].kind, "no such kind of block");
        if (spec->blocks[i].n < 0 || lg_node_nv(node, spec->blocks[i].n) < 1)
            return refuse(report, spec->blocks[i].kind, "the dimension must be positive");
    }
    for (int i = 0; i < spec->nframes; i++) {
        int block = spec->frames[i].block;
        if (block < -1 || block >= spec->nblocks)
            return refuse(report, "frame", "no such block");
    }
    return LG_OK;
}

static lg_status check_element(const lg_model_spec *spec, const lg_element_spec *e, lg_report *report)
{
    const lg_element_type *type = lg_element_find(e->type);
    if (!type)
        return refuse(report, e->type, "no such element");
    int expected = parameter_count(type);
    if (takes_the_rest(type) ? e->nparameters < expected : e->nparameters != expected)
        return refuse(report, e->name, "wrong number of parameters");
    for (int i = 0; i < e->nparameters; i++)
        if (!isfinite(e->parameters[i]))
            return refuse(report, e->name, "a parameter is not finite");
    if (e->dropped >> type->nrows)
        return refuse(report, e->name, "no such constraint row to drop");
    for (int i = 0; i < type->nframes; i++)
        if (e->frames[i] < 0 || e->frames[i] >= spec->nframes)
            return refuse(report, e->name, "no such frame");
    if (type->inertia && spec->frames[e->frames[0]].block < 0)
        return refuse(report, e->name, "the ground has no inertia");
    return LG_OK;
}

/* ---- memory ---- */

enum { LABEL = 32 }; /* what a row's name has beyond its element's, at most */

typedef struct sizes {
    int nblocks, nframes, nelements;
    int nrows, ngroups, entries, ncliques, clique_entries;
    size_t nparameters, name_bytes;
} sizes;

static sizes count_sizes(const lg_model_spec *spec)
{
    sizes n = {.nblocks = spec->nblocks, .nframes = spec->nframes, .nelements = spec->nelements};
    n.ncliques = n.clique_entries = spec->nblocks;
    size_t longest = 0;
    for (int i = 0; i < spec->nelements; i++) {
        const lg_element_spec *e = &spec->elements[i];
        const lg_element_type *type = lg_element_find(e->type);
        size_t length = strlen(e->name) + 1;
        longest = length > longest ? length : longest;
        n.nparameters += (size_t)e->nparameters;
        n.name_bytes += length;
        n.nrows += type->nrows;
        n.ngroups += type->rows != NULL;
        n.entries += type->rows ? 2 : 0;
        n.ncliques += type->couples != NULL;
        n.clique_entries += type->couples ? 2 : 0;
    }
    for (int i = 0; i < spec->nblocks; i++)
        n.nrows += lg_node_find(spec->blocks[i].kind)->nown;
    n.name_bytes += (size_t)n.nrows * (longest + LABEL);
    return n;
}

/* The arrays of a model while they are being written. */
typedef struct builder {
    lg_model *model;
    sizes n;
    int *nv, *nown, *v_start, *own_row, *own_value;
    int *group_row, *group_start, *group_block, *group_value, *group_sufficient, *clique_start, *clique_block;
    double *parameters;
    const lg_element **carrier; /* per block: what carries its frames, or NULL */
    char *names;
} builder;

static void layout(void *self, lg_arena *arena)
{
    builder *b = self;
    lg_model *m = b->model;
    sizes n = b->n;
    m->blocks = lg_arena_take(arena, (size_t)n.nblocks * sizeof *m->blocks);
    m->frames = lg_arena_take(arena, (size_t)n.nframes * sizeof *m->frames);
    m->elements = lg_arena_take(arena, (size_t)n.nelements * sizeof *m->elements);
    m->row_names = lg_arena_take(arena, (size_t)n.nrows * sizeof *m->row_names);
    lg_list *lists[] = {&m->inertia, &m->force, &m->rows, &m->commit, &m->carriers};
    for (int i = 0; i < 5; i++)
        lists[i]->element = lg_arena_ints(arena, (size_t)n.nelements);

    b->nv = lg_arena_ints(arena, (size_t)n.nblocks);
    b->nown = lg_arena_ints(arena, (size_t)n.nblocks);
    b->v_start = lg_arena_ints(arena, (size_t)n.nblocks + 1);
    b->own_row = lg_arena_ints(arena, (size_t)n.nblocks);
    b->own_value = lg_arena_ints(arena, (size_t)n.nblocks);
    b->group_row = lg_arena_ints(arena, (size_t)n.ngroups + 1);
    b->group_start = lg_arena_ints(arena, (size_t)n.ngroups + 1);
    b->group_block = lg_arena_ints(arena, (size_t)n.entries);
    b->group_value = lg_arena_ints(arena, (size_t)n.entries);
    b->group_sufficient = lg_arena_ints(arena, (size_t)n.entries);
    b->clique_start = lg_arena_ints(arena, (size_t)n.ncliques + 1);
    b->clique_block = lg_arena_ints(arena, (size_t)n.clique_entries);
    b->parameters = lg_arena_doubles(arena, n.nparameters);
    m->bodies = lg_arena_take(arena, (size_t)n.nblocks * sizeof *m->bodies);
    b->carrier = lg_arena_take(arena, (size_t)n.nblocks * sizeof *b->carrier);
    b->names = lg_arena_take(arena, n.name_bytes);
}

/* ---- filling ---- */

static void fill_blocks(builder *b, const lg_model_spec *spec)
{
    lg_model *m = b->model;
    lg_space *space = &m->space;
    *space = (lg_space){.nblocks = spec->nblocks, .linear = 1, .block = m->blocks};
    for (int i = 0; i < spec->nblocks; i++) {
        const lg_node *node = lg_node_find(spec->blocks[i].kind);
        int n = spec->blocks[i].n;
        int nq = lg_node_nq(node, n), nv = lg_node_nv(node, n);
        m->blocks[i] = (lg_block){node, n, nq, nv, node->nown, space->nq, space->nv, 0, space->nm};
        b->nv[i] = nv, b->nown[i] = node->nown, b->v_start[i] = space->nv;
        space->nq += nq, space->nv += nv, space->nm += nv * nv;
        if (nv > LG_MAX_NV && LG_FRAME_SCRATCH * nv > m->system.nwork)
            m->system.nwork = LG_FRAME_SCRATCH * nv;
        space->linear &= node->linear;
        b->clique_start[i] = b->clique_block[i] = i;
    }
    b->v_start[spec->nblocks] = space->nv;
    b->clique_start[spec->nblocks] = spec->nblocks;
}

static void fill_frames(builder *b, const lg_model_spec *spec)
{
    for (int i = 0; i < spec->nframes; i++) {
        const lg_frame_spec *from = &spec->frames[i];
        lg_frame_place *to = &b->model->frames[i];
        to->kind = &lg_rigid_frame;
        to->block = from->block;
        to->part = from->part;
        lg_copy(3, from->base, to->base);
        lg_copy(3, from->offset, to->offset);
        to->at_node = lg_dot3(to->offset, to->offset) == 0;
    }
}

static char *keep_name(builder *b, const char *name)
{
    size_t size = strlen(name) + 1;
    char *kept = memcpy(b->names, name, size);
    b->names += size;
    return kept;
}

/* The rows that are not dropped. */
static void keep_rows(lg_element *e, unsigned dropped)
{
    for (int i = 0; i < e->type->nrows; i++)
        if (!(dropped >> i & 1))
            e->kept[e->nrows++] = i;
}

static void name_row(builder *b, const lg_element *e, int row)
{
    size_t room = strlen(e->name) + LABEL;
    if (e->type->row_label)
        b->names += snprintf(b->names, room, "%s: %s", e->name, e->type->row_label(e, row)) + 1;
    else
        b->names += snprintf(b->names, room, "%s[%d]", e->name, row) + 1;
}

/* A body that can move and turn freely can give its side of a joint any twist: the rows of the joint are independent on it
   alone, as they are on the twist of one side against the other. */
static int moves_freely(const lg_block *block)
{
    return block->node->place == LG_PLACE_INERTIAL || block->node->place == LG_PLACE_BODY;
}

/* An element's group: its rows and, per block under its frames, its part of B. */
static void add_group(builder *b, lg_element *e)
{
    lg_pattern *p = &b->model->pattern;
    int group = p->ngroups++, nrows = e->nrows, entry = b->group_start[group];
    for (int s = 0; s < 2; s++) {
        int block = e->frame[s]->block;
        if (block < 0)
            continue;
        if (s == 1 && block == e->frame[0]->block) {
            e->value[1] = e->value[0];
            b->group_sufficient[entry - 1] = 0; /* moved together, the two sides keep their distance */
            continue;
        }
        b->group_block[entry] = block;
        b->group_sufficient[entry] = moves_freely(&b->model->blocks[block]);
        b->group_value[entry++] = e->value[s] = p->nvalues;
        p->nvalues += nrows * b->nv[block];
    }
    e->row = p->nrows;
    p->nrows += nrows;
    b->group_row[group + 1] = p->nrows;
    b->group_start[group + 1] = entry;
    for (int i = 0; i < nrows; i++) {
        b->model->row_names[e->row + i] = b->names;
        name_row(b, e, e->kept[i]);
    }
}

static void add_clique(builder *b, lg_element *e)
{
    lg_pattern *p = &b->model->pattern;
    int entry = b->clique_start[p->ncliques];
    e->clique = p->ncliques++;
    for (int s = 0; s < 2; s++)
        b->clique_block[entry++] = e->frame[s]->block;
    b->clique_start[p->ncliques] = entry;
}

static void list_add(lg_list *list, int element, int has)
{
    if (has)
        list->element[list->count++] = element;
}

/* A carrier has its own part of the scratch, behind what all frames on carriers share. */
static void add_carrier(builder *b, lg_element *e)
{
    lg_model *m = b->model;
    if (!e->block)
        return;
    list_add(&m->carriers, (int)(e - m->elements), 1);
    b->carrier[e->frame[0]->block] = e;
    e->work = m->system.nwork;
    m->system.nwork += e->type->nwork(e);
}

static void fill_elements(builder *b, const lg_model_spec *spec)
{
    lg_model *m = b->model;
    m->pattern.ncliques = spec->nblocks;
    for (int i = 0; i < spec->nelements; i++) {
        const lg_element_spec *from = &spec->elements[i];
        lg_element *e = &m->elements[i];
        e->type = lg_element_find(from->type);
        e->name = keep_name(b, from->name);
        for (int s = 0; s < e->type->nframes; s++)
            e->frame[s] = &m->frames[from->frames[s]];
        e->block = e->frame[0]->block < 0 ? NULL : &m->blocks[e->frame[0]->block];
        e->np = from->nparameters;
        e->p = b->parameters;
        lg_copy(e->np, from->parameters, b->parameters);
        b->parameters += e->np;
        e->function = from->function;
        e->law = from->law;
        e->clique = -1;
        keep_rows(e, from->dropped);
        e->mem = m->system.nmem;
        m->system.nmem += e->type->nmem;

        if (e->type->inertia)
            m->bodies[e->frame[0]->block] = e->name;
        if (e->nrows)
            add_group(b, e);
        if (e->type->couples && e->frame[0]->block != e->frame[1]->block && e->type->couples(e))
            add_clique(b, e);
        list_add(&m->inertia, i, e->type->inertia != NULL);
        list_add(&m->force, i, e->type->force || e->type->coordinate);
        list_add(&m->rows, i, e->nrows > 0);
        list_add(&m->commit, i, e->type->commit != NULL);
        if (e->type->carry)
            add_carrier(b, e);
    }
}

/* Frames on a carrier are of its kind. */
static void link_frames(builder *b)
{
    lg_model *m = b->model;
    for (int i = 0; i < m->nframes; i++) {
        lg_frame_place *frame = &m->frames[i];
        frame->carrier = frame->block < 0 ? NULL : b->carrier[frame->block];
        if (frame->carrier)
            frame->kind = frame->carrier->type->frame;
    }
}

/* The blocks' own rows come after those of all joints. They carry the name of the body on the block. */
static void fill_own_rows(builder *b)
{
    lg_model *m = b->model;
    lg_pattern *p = &m->pattern;
    for (int i = 0; i < m->space.nblocks; i++) {
        lg_block *block = &m->blocks[i];
        block->own = b->own_row[i] = p->nrows;
        b->own_value[i] = p->nvalues;
        p->nvalues += block->nown * block->nv;
        for (int k = 0; k < block->nown; k++, p->nrows++) {
            m->row_names[p->nrows] = b->names;
            b->names += sprintf(b->names, "%s unit length", m->bodies[i] ? m->bodies[i] : "block") + 1;
        }
    }
    m->space.nrows = p->nrows;
}

static const char *block_name(void *self, int block)
{
    const lg_model *m = self;
    return m->bodies[block] ? m->bodies[block] : "";
}

static const char *row_name(void *self, int row)
{
    const lg_model *m = self;
    return row >= 0 && row < m->space.nrows ? m->row_names[row] : "";
}

static void fill_pattern(builder *b)
{
    lg_model *m = b->model;
    lg_pattern *p = &m->pattern;
    p->nblocks = m->space.nblocks;
    p->nv = b->nv, p->nown = b->nown, p->v_start = b->v_start;
    p->own_row = b->own_row, p->own_value = b->own_value;
    p->group_row = b->group_row, p->group_start = b->group_start;
    p->group_block = b->group_block, p->group_value = b->group_value;
    p->group_sufficient = b->group_sufficient;
    p->clique_start = b->clique_start, p->clique_block = b->clique_block;
}

static void fill_system(lg_model *m)
{
    unsigned flags = LG_SYSTEM_CONSTANT_MASS;
    for (int i = 0; i < m->space.nblocks; i++)
        if (m->blocks[i].node->attitude)
            flags = 0;
    if (m->carriers.count)
        flags = LG_SYSTEM_TREES;
    for (int i = 0; i < m->nelements; i++)
        if (m->elements[i].function.call)
            flags |= LG_SYSTEM_NEEDS_GIL;
    m->system.self = m;
    m->system.space = &m->space;
    m->system.pattern = &m->pattern;
    m->system.flags = flags;
    m->system.eval = lg_model_eval;
    m->system.energy = lg_model_energy;
    m->system.next_kink = lg_model_next_kink;
    m->system.commit = m->commit.count ? lg_model_commit : NULL;
    m->system.row_name = row_name;
    m->system.block_name = block_name;
}

/* ---- checks that need the finished elements ---- */

/* Frames sit on blocks and on parts that exist. */
static lg_status check_frames(const lg_model *m, lg_report *report)
{
    for (int i = 0; i < m->nframes; i++) {
        const lg_frame_place *f = &m->frames[i];
        if (f->block < 0)
            continue;
        const lg_block *block = &m->blocks[f->block];
        if (!f->carrier && block->node->place == LG_PLACE_NO_BODY)
            return refuse(report, block->node->name, "this kind of block carries no frames");
        if (!f->carrier && lg_block_tail(block))
            return refuse(report, block->node->name, "more coordinates need a modal body");
        if (f->part < 0 || f->part >= (f->carrier ? f->carrier->type->parts(f->carrier) : 1))
            return refuse(report, "frame", "no such part of the block");
    }
    return LG_OK;
}

static int same_body(const lg_frame_place *a, const lg_frame_place *b)
{
    return a->block == b->block && a->part == b->part;
}

static lg_status check_elements(const lg_model *m, lg_report *report)
{
    for (int i = 0; i < m->nelements; i++) {
        const lg_element *e = &m->elements[i];
        const char *reason = "a parameter does not make sense";
        if (e->type->nframes == 2 && same_body(e->frame[0], e->frame[1]))
            return refuse(report, e->name, "both ends are on the same body");
        if (e->type->check && e->type->check(e, &reason) != LG_OK)
            return refuse(report, e->name, reason);
        if (e->type->inertia && e->frame[0]->carrier && e->frame[0]->carrier != e)
            return refuse(report, e->name, "a tree's block has the inertia of its links only");
        if (e->type->inertia && !e->frame[0]->at_node)
            return refuse(report, e->name, "inertia must sit at the node");
    }
    return LG_OK;
}

static lg_status check_inertia(const lg_model *m, int *has, lg_report *report)
{
    for (int i = 0; i < m->inertia.count; i++)
        has[m->elements[m->inertia.element[i]].frame[0]->block] = 1;
    for (int i = 0; i < m->space.nblocks; i++)
        if (!has[i])
            return refuse(report, m->blocks[i].node->name, "a block has no inertia");
    return LG_OK;
}

static lg_status check_model(const lg_model *m, lg_report *report)
{
    LG_TRY(check_elements(m, report));
    LG_TRY(check_frames(m, report));
    int *has = calloc((size_t)m->space.nblocks, sizeof *has);
    if (!has)
        return LG_NO_MEMORY;
    lg_status status = check_inertia(m, has, report);
    free(has);
    return status;
}

/* ---- the public calls ---- */

static lg_status build(lg_model *m, const lg_model_spec *spec, lg_report *report)
{
    builder b = {.model = m, .n = count_sizes(spec)};
    m->nframes = spec->nframes;
    m->nelements = spec->nelements;
    LG_TRY(lg_arena_open(&m->arena, layout, &b));
    fill_blocks(&b, spec);
    fill_frames(&b, spec);
    fill_elements(&b, spec);
    link_frames(&b);
    fill_own_rows(&b);
    fill_pattern(&b);
    fill_system(m);
    return check_model(m, report);
}

lg_status lg_model_create(const lg_model_spec *spec, lg_model **model, lg_report *report)
{
    *report = (lg_report){0};
    LG_TRY(check_spec(spec, report));
    for (int i = 0; i < spec->nelements; i++)
        LG_TRY(check_element(spec, &spec->elements[i], report));

    lg_model *m = calloc(1, sizeof *m);
    lg_status status = m ? build(m, spec, report) : LG_NO_MEMORY;
    if (status != LG_OK) {
        lg_model_free(m);
        return status;
    }
    *model = m;
    return LG_OK;
}

void lg_model_free(lg_model *model)
{
    if (!model)
        return;
    lg_arena_close(&model->arena);
    free(model);
}

const lg_system *lg_model_system(const lg_model *model)
{
    return &model->system;
}

void lg_model_kinematics(const lg_model *model, int frame, const double *q, const double *v, double *work,
                         lg_kinematics *out)
{
    lg_point at = {.q = q, .v = v, .work = work};
    lg_frame f;
    lg_model_carry(model, &at);
    lg_frame_open(&f, &model->frames[frame], &model->space, &at);
    lg_frame_pose(&f);
    lg_frame_twist(&f);
    lg_copy(3, f.x, out->x);
    lg_copy(9, f.R, out->R);
    lg_copy(3, f.xdot, out->xdot);
    lg_copy(3, f.omega, out->omega);
}

lg_status lg_model_reaction(const lg_model *model, int element, int slot, double t, const double *q, const double *v,
                            const double *lam, double *work, double wrench[6])
{
    const lg_element *e = &model->elements[element];
    lg_zero(6, wrench);
    if (!e->nrows)
        return LG_OK;
    lg_point at = {.t = t, .q = q, .v = v, .work = work};
    lg_frame f[2];
    lg_rows rows;
    lg_model_carry(model, &at);
    for (int s = 0; s < 2; s++) {
        lg_frame_open(&f[s], e->frame[s], &model->space, &at);
        lg_frame_pose(&f[s]);
    }
    lg_element_rows(e, f, lam + e->row, 0, &rows);
    for (int i = 0; i < e->nrows; i++)
        lg_axpy(6, -lam[e->row + i], rows.J[slot] + 6 * i, wrench);
    return LG_OK;
}

lg_status lg_model_transmitted(const lg_model *model, int element, int link, const lg_point *at, double *forces,
                               double wrench[6])
{
    const lg_element *e = &model->elements[element];
    if (!e->type->transmit || link < 0 || link >= e->type->parts(e))
        return LG_BAD_ARGUMENT;
    lg_wanted wanted = {.force = forces, .Btlam = forces + model->space.nv};
    LG_TRY(lg_model_eval(model->system.self, at, &wanted));
    e->type->transmit(e, at, link, wrench);
    return LG_OK;
}

void lg_model_rows(const lg_model *model, int element, int *row, int *nrows, int *mem, int *nmem)
{
    const lg_element *e = &model->elements[element];
    *row = e->row, *nrows = e->nrows;
    *mem = e->mem, *nmem = e->type->nmem;
}
