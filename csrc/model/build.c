/* Building a model: from a plain description to blocks, a space and a pattern, and to frames, bodies, forces and joints
   with their parameters, in two arenas. Records are sorted by row; constraint rows, memory and the pattern follow the
   order of the description. */
#include "model/body/bodies.h"
#include "model/bristles.h"
#include "model/control.h"
#include "model/force/forces.h"
#include "model/force/path.h"
#include "model/force/read.h"
#include "model/joint/joints.h"
#include "model/private.h"
#include "model/rows.h"
#include "model/tangent.h"
#include "model/tendon.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- memory ---- */

typedef struct sizes {
    int nblocks, nfactors, nframes, nelements, nbodies, nforces, njoints, nsupports;
    int nrows, nmasked, nloops;
    int npieces; /* of tendons */
    int nreaders, nreads; /* laws that read blocks, and how many they read together */
    size_t nparameters, name_bytes;
} sizes;

static int prepare(const lg_body_type *type, const lg_body *body, double *prepared)
{
    return type->prepare ? type->prepare(body, prepared) : 0;
}

static sizes count_sizes(const lg_model_spec *spec, const int *row_of)
{
    sizes n = {.nblocks = spec->nblocks, .nframes = spec->nframes, .nelements = spec->nelements};
    size_t longest = 0;
    n.nfactors = lg_layout_factors(spec->nblocks, spec->blocks);
    n.nrows = lg_layout_own_rows(spec->nblocks, spec->blocks);
    for (int i = 0; i < spec->nelements; i++) {
        const lg_element_spec *e = &spec->elements[i];
        const lg_element_info *info = lg_row_info(row_of[i]);
        size_t length = strlen(e->name) + 1;
        longest = length > longest ? length : longest;
        n.nparameters += (size_t)e->nparameters;
        if (lg_row_is_body(row_of[i]))
            n.nparameters += (size_t)prepare(lg_body_types[row_of[i]], &(lg_body){.e.np = e->nparameters}, NULL);
        n.name_bytes += length;
        n.nrows += info->nrows;
        n.nmasked += (e->loop ? info->nrows : 0) + info->nnonholonomic;
        n.nloops = e->loop > n.nloops ? e->loop : n.nloops;
        n.nbodies += lg_row_is_body(row_of[i]);
        n.nsupports += lg_row_is_support(row_of[i]);
        n.nforces += lg_row_is_force(row_of[i]);
        n.njoints += lg_row_is_joint(row_of[i]);
        n.npieces += lg_row_is_force(row_of[i]) && info->continues;
        n.nreaders += e->nreads > 0;
        n.nreads += e->nreads;
    }
    n.name_bytes += (size_t)n.nrows * (longest + LG_ROW_LABEL);
    return n;
}

/* The arrays of a model while they are being written. */
typedef struct model_builder {
    lg_model *model;
    const lg_model_spec *spec;
    const int *row_of; /* per element of the description */
    sizes n;
    lg_layout layout;
    double *parameters;
    char *names;
    const lg_body **body_of; /* per block, then the supports */
    lg_reads *reads; /* of the next law that reads blocks, and the arrays of all of them */
    int *read;
    long *read_block;
    int *used; /* per frame of the description, by forces and by joints: lg_frame.loaded */
} model_builder;

static void *build_take(lg_arena *arena, int count, size_t size)
{
    return lg_arena_take(arena, (size_t)count * size);
}

static void layout_records(void *self, lg_arena *arena)
{
    model_builder *b = self;
    lg_model *m = b->model;
    sizes n = b->n;
    m->bodies = build_take(arena, n.nbodies, sizeof *m->bodies);
    m->forces = build_take(arena, n.nforces, sizeof *m->forces);
    m->joints = build_take(arena, n.njoints, sizeof *m->joints);
    m->loads = build_take(arena, n.nforces, sizeof *m->loads);
    m->frames = build_take(arena, n.nframes, sizeof *m->frames);
    m->body_spans = build_take(arena, lg_body_type_count, sizeof *m->body_spans);
    m->force_spans = build_take(arena, lg_force_type_count, sizeof *m->force_spans);
    m->joint_spans = build_take(arena, lg_joint_type_count, sizeof *m->joint_spans);
    m->frame_of = build_take(arena, n.nframes, sizeof *m->frame_of);
    m->element_of = build_take(arena, n.nelements, sizeof *m->element_of);
    b->parameters = lg_arena_doubles(arena, n.nparameters);
}

/* Also the arrays that are needed until the records are written. */
static void layout_shape(void *self, lg_arena *arena)
{
    model_builder *b = self;
    sizes n = b->n;
    int ncouplings = n.nforces + n.njoints;
    lg_layout_take(&b->layout, arena,
                   (lg_layout_sizes){.nblocks = n.nblocks,
                                     .nfactors = n.nfactors,
                                     .ngroups = n.njoints,
                                     .nentries = 2 * n.njoints,
                                     .ncliques = n.nblocks + ncouplings + b->spec->ncontrols,
                                     .nmembers = n.nblocks + 2 * ncouplings + n.nreads + b->spec->ncontrols * n.nblocks,
                                     .nmasked = n.nmasked});
    lg_model_layout_choice(b->model, n.nloops, n.nmasked, arena);
    lg_model_layout_controls(b->model, b->spec, n.nforces, arena);
    lg_tendons_layout(b->model, n.npieces, arena);
    b->model->row_names = build_take(arena, n.nrows, sizeof *b->model->row_names);
    b->model->body_on = lg_arena_ints(arena, (size_t)n.nblocks);
    b->body_of = build_take(arena, n.nblocks + n.nsupports, sizeof *b->body_of);
    b->used = lg_arena_ints(arena, (size_t)n.nframes);
    b->reads = build_take(arena, n.nreaders, sizeof *b->reads);
    b->read = lg_arena_ints(arena, (size_t)n.nreads);
    b->read_block = build_take(arena, 2 * n.nreads, sizeof *b->read_block);
    b->names = lg_arena_take(arena, n.name_bytes);
}

/* Reserves doubles in the scratch of an evaluation and returns their position. */
static size_t reserve(lg_model *m, size_t doubles)
{
    size_t start = (size_t)m->system.nwork;
    m->system.nwork += (int)doubles;
    return start;
}

/* ---- blocks ---- */

/* The blocks, each of them a clique of the mass matrix. The scratch begins with room for the tangents of large blocks:
   see tangent.c. */
static void fill_blocks(model_builder *b, const lg_model_spec *spec)
{
    lg_model *m = b->model;
    lg_layout_blocks(&b->layout, spec->nblocks, spec->blocks);
    m->blocks = b->layout.block;
    m->nown_blocks = spec->nblocks;
    for (int i = 0; i < spec->nblocks; i++) {
        int nv = m->blocks[i].nv;
        if (nv > LG_MAX_NV && LG_TANGENT_ROOM * nv > m->system.nwork)
            m->system.nwork = LG_TANGENT_ROOM * nv;
        lg_layout_member(&b->layout, i);
        lg_layout_mass_clique(&b->layout);
    }
}

/* ---- records ---- */

static char *keep_name(model_builder *b, const char *name)
{
    size_t size = strlen(name) + 1;
    char *copy = memcpy(b->names, name, size);
    b->names += size;
    return copy;
}

static lg_element common(model_builder *b, const lg_element_spec *from, int row)
{
    const lg_element_info *info = lg_row_info(row);
    lg_element e = {.info = info,
                    .name = keep_name(b, from->name),
                    .p = b->parameters,
                    .np = from->nparameters,
                    .function = from->function,
                    .law = from->law,
                    .mem = b->model->system.nmem};
    lg_copy(e.np, from->parameters, b->parameters);
    b->parameters += e.np;
    b->model->system.nmem += info->nmem;
    return e;
}

/* The index in `body_of` of what carries the frames of a block (-2 and less: of a support); -1: there is none. */
static int carrier_index(const model_builder *b, int block)
{
    int index = block >= 0 ? block : b->n.nblocks - 2 - block;
    return index < b->n.nblocks + b->n.nsupports ? index : -1;
}

static void add_body(model_builder *b, const lg_model_spec *spec, int i)
{
    lg_model *m = b->model;
    lg_body *body = (lg_body *)m->element_of[i].body;
    int block = spec->frames[spec->elements[i].frames[0]].block, carrier = carrier_index(b, block);
    *body = (lg_body){.e = common(b, &spec->elements[i], b->row_of[i]),
                      .type = lg_body_types[b->row_of[i]],
                      .block = block < 0 ? NULL : &m->blocks[block],
                      .index = block < 0 ? -1 : block,
                      .prepared = b->parameters};
    b->parameters += prepare(body->type, body, NULL);
    if (carrier >= 0)
        b->body_of[carrier] = body;
    if (block >= 0)
        m->body_on[block] = (int)(body - m->bodies);
}

/* Whether the body under a force adds it itself, as a dead load; to be called once the bodies are filled. */
static int is_added_by_body(const model_builder *b, const lg_model_spec *spec, int i)
{
    const lg_element_spec *from = &spec->elements[i];
    const lg_force_type *type = lg_force_types[b->row_of[i] - lg_body_type_count];
    const lg_element e = {.p = from->parameters, .np = from->nparameters};
    int block = spec->frames[from->frames[0]].block, carrier = block == -1 ? -1 : carrier_index(b, block);
    const lg_body *body = carrier < 0 ? NULL : b->body_of[carrier];
    double wrench[6];
    return body && body->block && body->type->adds_dead_loads && lg_block_is_direct(body->block) && type->dead &&
           type->dead(&e, wrench);
}

static void add_force(model_builder *b, const lg_model_spec *spec, int i)
{
    lg_force *force = (lg_force *)b->model->element_of[i].force;
    *force = (lg_force){.e = common(b, &spec->elements[i], b->row_of[i]),
                        .type = lg_force_types[b->row_of[i] - lg_body_type_count],
                        .added_by_body = is_added_by_body(b, spec, i)};
}

static void add_joint(model_builder *b, const lg_model_spec *spec, int i)
{
    lg_joint *joint = (lg_joint *)b->model->element_of[i].joint;
    *joint = (lg_joint){.e = common(b, &spec->elements[i], b->row_of[i]),
                        .type = lg_joint_types[b->row_of[i] - lg_body_type_count - lg_force_type_count],
                        .value = {-1, -1}};
    for (int k = 0; k < joint->e.info->nrows; k++) // those that are not omitted
        if (spec->elements[i].loop || !(spec->elements[i].implied >> k & 1))
            joint->row_in_type[joint->nrows++] = k;
}

/* Records are sorted by family and row, in the order of the description. */
static void sort_bodies(model_builder *b)
{
    lg_model *m = b->model;
    for (int row = 0; row < lg_body_type_count; row++) {
        lg_body *first = m->bodies + m->nbodies;
        for (int i = 0; i < b->n.nelements; i++)
            if (b->row_of[i] == row)
                m->element_of[i].body = &m->bodies[m->nbodies++];
        if (m->bodies + m->nbodies > first)
            m->body_spans[m->nbody_spans++] = (lg_span){first, m->bodies + m->nbodies};
    }
    m->ninertia_spans = m->nbody_spans;
}

/* Sorts in the forces of a row: those that bodies add, or the others. */
static void sort_forces_of(model_builder *b, const lg_model_spec *spec, int row, int added_by_body)
{
    lg_model *m = b->model;
    for (int i = 0; i < b->n.nelements; i++)
        if (b->row_of[i] == row && is_added_by_body(b, spec, i) == added_by_body)
            m->element_of[i].force = &m->forces[m->nforces++];
}

static void sort_forces(model_builder *b, const lg_model_spec *spec)
{
    lg_model *m = b->model;
    for (int type = 0; type < lg_force_type_count; type++) {
        lg_force *first = m->forces + m->nforces;
        sort_forces_of(b, spec, lg_body_type_count + type, 0);
        if (m->forces + m->nforces > first)
            m->force_spans[m->nforce_spans++] = (lg_forces){first, m->forces + m->nforces};
        sort_forces_of(b, spec, lg_body_type_count + type, 1);
    }
}

static void sort_joints(model_builder *b)
{
    lg_model *m = b->model;
    for (int row = lg_body_type_count + lg_force_type_count; row < lg_element_count(); row++) {
        lg_joint *first = m->joints + m->njoints;
        for (int i = 0; i < b->n.nelements; i++)
            if (b->row_of[i] == row)
                m->element_of[i].joint = &m->joints[m->njoints++];
        if (m->joints + m->njoints > first)
            m->joint_spans[m->njoint_spans++] = (lg_joints){first, m->joints + m->njoints};
    }
}

static void fill_records(model_builder *b, const lg_model_spec *spec)
{
    sort_bodies(b);
    for (int i = 0; i < spec->nelements; i++)
        if (lg_row_is_body(b->row_of[i]))
            add_body(b, spec, i);
    sort_forces(b, spec);
    sort_joints(b);
    for (int i = 0; i < spec->nelements; i++)
        if (lg_row_is_force(b->row_of[i]))
            add_force(b, spec, i);
        else if (lg_row_is_joint(b->row_of[i]))
            add_joint(b, spec, i);
}

/* ---- frames ---- */

static lg_body *carrier(const model_builder *b, int block)
{
    return block == -1 ? &b->model->ground : (lg_body *)b->body_of[carrier_index(b, block)];
}

/* Counts the frames of each body and gives each body its part of the table; active frames come first. */
static void sort_frames(model_builder *b, const lg_model_spec *spec)
{
    lg_model *m = b->model;
    for (int i = 0; i < spec->nframes; i++) {
        lg_body *body = carrier(b, spec->frames[i].block);
        body->nframes++;
        body->nactive += b->used[i] != 0;
    }
    const lg_frame *next = m->frames;
    for (int i = -1; i < m->nbodies; i++) {
        lg_body *body = i < 0 ? &m->ground : &m->bodies[i];
        body->frames = next;
        next += body->nframes;
        body->work = reserve(m, body->type->nwork ? body->type->nwork(body) : 0);
        prepare(body->type, body, (double *)body->prepared);
    }
}

static void fill_frames(model_builder *b, const lg_model_spec *spec)
{
    lg_model *m = b->model;
    for (int active = 1; active >= 0; active--)
        for (int i = 0; i < spec->nframes; i++) {
            const lg_frame_spec *from = &spec->frames[i];
            lg_body *body = carrier(b, from->block);
            if ((b->used[i] != 0) != active)
                continue;
            lg_frame *to = (lg_frame *)body->frames++;
            *to = (lg_frame){
                .body = body, .part = from->part, .loaded = (unsigned)b->used[i], .pose = reserve(m, LG_POSE_SIZE)};
            lg_copy(3, from->base, to->base);
            lg_copy(3, from->offset, to->offset);
            to->at_node = lg_dot3(to->offset, to->offset) == 0;
            m->frame_of[i] = to;
            body->has_rows |= to->loaded >> LG_REACTIONS & 1;
        }
    for (int i = -1; i < m->nbodies; i++) {
        lg_body *body = i < 0 ? &m->ground : &m->bodies[i];
        body->frames -= body->nframes;
    }
}

/* Forces on coordinates, and dead loads that bodies add themselves, exert no wrenches on frames. */
static int loads_of(lg_element_ref element)
{
    if (element.body)
        return 0;
    if (element.force)
        return element.force->type->coordinate || element.force->added_by_body ? 0 : 1 << LG_FORCES;
    return (int)lg_joint_loads(element.joint->type);
}

static void mark_frames(model_builder *b, const lg_model_spec *spec)
{
    for (int i = 0; i < spec->nelements; i++)
        for (int s = 0; s < lg_row_info(b->row_of[i])->nframes; s++)
            b->used[spec->elements[i].frames[s]] |= loads_of(b->model->element_of[i]);
}

/* ---- the pattern, in the order of the description ---- */

/* Notes the matrix blocks of an element: those of each block under its frames with itself, and those of both blocks in
   their own clique, which begin at `first`; -1: the two do not couple. */
static void set_matrix_blocks(lg_element *e, long first)
{
    for (int i = 0; i < e->info->nframes; i++)
        for (int j = 0; j < e->info->nframes; j++) {
            const lg_body *a = e->frame[i]->body, *b = e->frame[j]->body;
            e->matrix_block[i][j] = a == b ? a->index : first < 0 ? -1 : first + 2 * i + j;
        }
}

/* Whether an element couples the blocks under its frames beyond what M and constraint rows do. */
static int couples(lg_element_ref ref)
{
    if (ref.joint)
        return lg_joint_couples(ref.joint);
    return ref.force && ref.force->type->couples && ref.force->type->couples(&ref.force->e);
}

/* Finds the frames of an element and the matrix blocks of their blocks, in a new clique if they couple. */
static void join_frames(model_builder *b, const lg_element_spec *from, lg_element_ref ref, lg_element *e)
{
    long first = -1;
    for (int s = 0; s < e->info->nframes; s++)
        e->frame[s] = b->model->frame_of[from->frames[s]];
    if (couples(ref) && e->frame[0]->body != e->frame[1]->body) {
        for (int s = 0; s < 2; s++)
            lg_layout_member(&b->layout, e->frame[s]->body->index);
        first = lg_layout_clique(&b->layout);
    }
    set_matrix_blocks(e, first);
}

/* The law's reads, in arrays that follow those of the law before it. */
static void join_reads(model_builder *b, const lg_element_spec *from, lg_force *force)
{
    int n = from->nreads;
    for (int s = 0; s < force->e.info->nframes; s++)
        force->e.frame[s] = b->model->frame_of[from->frames[s]];
    memcpy(b->read, from->reads, (size_t)n * sizeof *b->read);
    *b->reads = (lg_reads){&b->model->space, n, b->read, b->read_block, 0};
    b->reads->work = reserve(b->model, lg_reads_work(b->reads));
    force->reads = b->reads++;
    b->model->laws_read = 1;
    lg_reads_join(&b->layout, force, b->read_block);
    b->read += n, b->read_block += 2 * n;
}

/* Whether an element of the description adds to the row of the joint before it. */
static int continues(const lg_model *m, int element)
{
    const lg_joint *joint = m->element_of[element].joint;
    return joint && lg_joint_continues(joint);
}

static void join_elements(model_builder *b, const lg_model_spec *spec)
{
    lg_model *m = b->model;
    const lg_element_ref *first = NULL; // of the group
    for (int i = 0; i < spec->nelements; i++) {
        lg_body *body = (lg_body *)m->element_of[i].body;
        lg_force *force = (lg_force *)m->element_of[i].force;
        lg_joint *joint = (lg_joint *)m->element_of[i].joint;
        if (spec->elements[i].nreads)
            join_reads(b, &spec->elements[i], force);
        else
            join_frames(b, &spec->elements[i], m->element_of[i], joint ? &joint->e : force ? &force->e : &body->e);
        if (joint)
            joint->work = reserve(m, joint->type->nwork);
        if (joint && joint->nrows) {
            first = lg_joint_continues(joint) ? first : &m->element_of[i];
            if (i + 1 == b->n.nelements || !continues(m, i + 1))
                b->names = lg_model_add_group(m, &b->layout, first, &m->element_of[i + 1], b->names);
        }
        m->coordinate_forces |= force && force->type->coordinate;
    }
}

/* Joints that do not couple the blocks under their frames use the matrix blocks of their groups, which follow those of
   all cliques in matrices that have them, as rows in the axes of bodies require. */
static void couple_groups(model_builder *b)
{
    lg_model *m = b->model;
    const int *start = m->pattern.group_start;
    long first = b->layout.nmatrix_blocks;
    for (int i = 0; i < b->n.nelements; i++) {
        lg_joint *joint = (lg_joint *)m->element_of[i].joint;
        if (!joint || !joint->nrows || continues(m, i))
            continue;
        if (joint->e.matrix_block[0][1] < 0)
            set_matrix_blocks(&joint->e, first);
        joint->group_matrix_block = first;
        first += (long)(start[1] - start[0]) * (start[1] - start[0]);
        start++;
    }
}

/* Gives the bodies room for the dead loads that they add. */
static void sort_loads(lg_model *m)
{
    lg_dead_load *next = m->loads;
    for (const lg_force *f = m->forces; f < m->forces + m->nforces; f++)
        ((lg_body *)f->e.frame[0]->body)->nloads += f->added_by_body;
    for (lg_body *body = m->bodies; body < m->bodies + m->nbodies; body++) {
        body->loads = next;
        next += body->nloads;
    }
}

static void write_loads(lg_model *m)
{
    for (lg_body *body = m->bodies; body < m->bodies + m->nbodies; body++)
        body->nloads = 0;
    for (const lg_force *f = m->forces; f < m->forces + m->nforces; f++) {
        const lg_frame *frame = f->e.frame[0];
        lg_body *body = (lg_body *)frame->body;
        double wrench[6];
        if (!f->added_by_body || !f->type->dead(&f->e, wrench))
            continue;
        lg_dead_load *load = (lg_dead_load *)&body->loads[body->nloads++];
        lg_copy(3, wrench, load->force);
        lg_copy(3, wrench + 3, load->torque);
        load->has_torque = lg_max_abs(3, load->torque) != 0;
        load->arm = frame->at_node || lg_max_abs(3, load->force) == 0 ? NULL : frame->offset;
    }
}

static void find_vertical(lg_model *m)
{
    lg_zero(3, m->vertical);
    for (int i = 0; i < m->nforces; i++) {
        double length = m->forces[i].type == &lg_weight ? lg_norm3(m->forces[i].e.p + 1) : 0;
        if (length > 0) {
            for (int k = 0; k < 3; k++)
                m->vertical[k] = m->forces[i].e.p[1 + k] / length;
            return;
        }
    }
}

void lg_model_fill_loads(lg_model *m)
{
    write_loads(m);
    find_vertical(m);
}

/* Names the blocks' own rows after the body on the block. */
static void name_own_rows(model_builder *b)
{
    lg_model *m = b->model;
    for (const lg_block *block = m->blocks; block < m->blocks + m->space.nblocks; block++)
        for (int k = 0; k < block->nown; k++) {
            const char *body = lg_model_body_on(m, (int)(block - m->blocks))->e.name;
            m->row_names[block->own + k] = b->names;
            b->names += snprintf(b->names, strlen(body) + LG_ROW_LABEL, "%s unit length", body) + 1;
        }
}

/* ---- checks ---- */

/* Checks that every block has one body; to be called before frames are sorted. */
static lg_status check_bodies(const model_builder *b, const lg_model_spec *spec, lg_report *report)
{
    const lg_model *m = b->model;
    for (int i = 0; i < spec->nelements; i++) {
        const lg_body *body = m->element_of[i].body;
        int carrier = body ? carrier_index(b, spec->frames[spec->elements[i].frames[0]].block) : 0;
        if (body && (carrier < 0 || b->body_of[carrier] != body))
            return lg_model_refuse(report, body->e.name, "there is another body on its block");
    }
    for (int i = 0; i < spec->nblocks; i++)
        if (!b->body_of[i])
            return lg_model_refuse(report, m->blocks[i].node->name, "a block has no inertia");
    for (int i = 0; i < spec->nframes; i++)
        if (carrier_index(b, spec->frames[i].block) < 0)
            return lg_model_refuse(report, "frame", "no such support");
    for (int i = 0; i < m->nbodies; i++)
        LG_TRY(lg_check_body(&m->bodies[i], report));
    return LG_OK;
}

/* ---- the public calls ---- */

static lg_status build_model(lg_model *m, const lg_model_spec *spec, const int *row_of, lg_report *report)
{
    model_builder b = {.model = m,
                       .spec = spec,
                       .row_of = row_of,
                       .n = count_sizes(spec, row_of),
                       .layout = {.space = &m->space, .pattern = &m->pattern}};
    m->ground = (lg_body){.e = {.info = &lg_ground.info, .name = "ground"}, .type = &lg_ground, .index = -1};
    m->nframes = spec->nframes;
    m->nelements = spec->nelements;
    m->given_flags = spec->flags;
    m->forget = spec->forget;
    LG_TRY(lg_arena_open(&m->shape, layout_shape, &b));
    LG_TRY(lg_arena_open(&m->records, layout_records, &b));
    fill_blocks(&b, spec);
    fill_records(&b, spec);
    LG_TRY(check_bodies(&b, spec, report));
    LG_TRY(lg_model_check_groups(m, report));
    mark_frames(&b, spec);
    sort_frames(&b, spec);
    fill_frames(&b, spec);
    join_elements(&b, spec);
    LG_TRY(lg_tendons_fill(m, &b.layout, report));
    LG_TRY(lg_model_fill_controls(m, spec, &b.layout, report));
    sort_loads(m);
    lg_model_fill_loads(m);
    couple_groups(&b);
    lg_model_fill_traits(m);
    lg_model_fill_choice(m, spec, b.n.nloops, &b.layout);
    m->turned = reserve(m, (size_t)m->system.nmem);
    m->nbristled = lg_model_count_bristles(m);
    m->motions = reserve(m, (size_t)m->nbristled * sizeof(lg_ends) / sizeof(double));
    lg_layout_finish(&b.layout);
    name_own_rows(&b);
    lg_model_fill_system(m);
    return lg_model_check(m, report);
}

static lg_status create(const lg_model_spec *spec, int *row_of, lg_model **model, lg_report *report)
{
    for (int i = 0; i < spec->nelements; i++) {
        int row = lg_row_find(spec->elements[i].type);
        if (row < 0)
            return lg_model_refuse(report, spec->elements[i].type, "no such element");
        LG_TRY(lg_check_element(spec, &spec->elements[i], row, report));
        row_of[i] = row;
    }
    lg_model *m = calloc(1, sizeof *m);
    lg_status status = m ? build_model(m, spec, row_of, report) : LG_NO_MEMORY;
    if (status == LG_OK)
        *model = m;
    else
        lg_model_free(m);
    return status;
}

lg_status lg_model_create(const lg_model_spec *spec, lg_model **model, lg_report *report)
{
    *report = (lg_report){0};
    LG_TRY(lg_check_spec(spec, report));
    int *row_of = calloc((size_t)spec->nelements + 1, sizeof *row_of);
    lg_status status = row_of ? create(spec, row_of, model, report) : LG_NO_MEMORY;
    free(row_of);
    return status;
}

void lg_model_set_reader(lg_model *model, void *reader)
{
    model->reader = reader;
    for (int i = 0; i < model->nforces; i++)
        model->forces[i].e.law.reader = reader;
}

void lg_model_free(lg_model *model)
{
    if (!model)
        return;
    lg_model_free_derivatives(model->derivatives);
    lg_arena_close(&model->records);
    lg_arena_close(&model->shape);
    free(model);
}
