/* A model as a system: its functions and flags. */
#include "model/bristle_slopes.h"
#include "model/bristles.h"
#include "model/control.h"
#include "model/pass.h"

static const char *block_name(void *self, int block)
{
    return lg_model_body_on(self, block)->e.name;
}

static const char *row_name(void *self, int row)
{
    const lg_model *m = self;
    return row >= 0 && row < m->space.nrows ? m->row_names[row] : "";
}

/* Whether a body can find its own acceleration: a constant mass matrix then has an inverse. */
static int is_alone(const lg_body *b)
{
    return b->type->alone && b->type->alone->mass->size(b) >= 0;
}

/* Whether there are no supports, which may move, and no joints with data in time. */
static int has_fixed_rows(const lg_model *m)
{
    for (int i = 0; i < m->nbodies; i++)
        if (m->bodies[i].type->next_kink)
            return 0;
    for (int i = 0; i < m->njoints; i++)
        if (m->joints[i].type->next_kink)
            return 0;
    return 1;
}

static unsigned flags_of(const lg_model *m)
{
    const unsigned constant = LG_SYSTEM_CONSTANT_MASS | LG_SYSTEM_REGULAR_MASS;
    unsigned flags = m->given_flags | constant | LG_SYSTEM_CONSERVATIVE | LG_SYSTEM_HAS_POTENTIAL;
    flags |= has_fixed_rows(m) ? LG_SYSTEM_FIXED_ROWS : 0;
    for (int i = 0; i < m->nbodies; i++) {
        if (m->bodies[i].type->is_support)
            continue;
        const lg_node *node = m->bodies[i].block->node;
        if (!m->bodies[i].type->constant_mass || node->attitude)
            flags &= ~constant;
        if (!is_alone(&m->bodies[i]))
            flags &= ~(unsigned)LG_SYSTEM_REGULAR_MASS;
        if (m->bodies[i].type->tree)
            flags |= LG_SYSTEM_TREES;
    }
    for (int i = 0; i < m->nforces; i++) {
        const lg_force *f = &m->forces[i];
        if (f->e.info->uses_law && !f->e.law.has_tangent)
            flags |= LG_SYSTEM_DIFFERENCED;
        if (!f->type->potential && !f->type->dissipates)
            flags &= ~(unsigned)LG_SYSTEM_CONSERVATIVE;
        if (!lg_force_has_potential(f))
            flags &= ~(unsigned)LG_SYSTEM_HAS_POTENTIAL;
    }
    for (const lg_controller *c = m->controls; c < m->controls + m->ncontrols; c++) {
        flags |= c->given.has_tangent || c->given.every > 0 ? 0 : LG_SYSTEM_DIFFERENCED;
        flags &= ~(unsigned)(LG_SYSTEM_CONSERVATIVE | LG_SYSTEM_HAS_POTENTIAL);
    }
    return flags;
}

/* Whether all bodies find their own accelerations. */
static int is_unconstrained(const lg_model *m)
{
    if (m->space.nrows)
        return 0;
    for (const lg_body *b = m->bodies; b < m->bodies + m->nbodies; b++)
        if (!b->type->is_support && !is_alone(b))
            return 0;
    return 1;
}

typedef lg_status accelerate(void *self, const lg_point *point, double *a);

static accelerate *accelerate_of(const lg_model *m, unsigned flags)
{
    int wrenches = m->nforce_spans || m->njoint_spans || m->ncontrols || (flags & LG_SYSTEM_TREES);
    return wrenches ? lg_model_accelerate_under_wrenches : lg_model_accelerate;
}

/* Which numbers of the memory have derivatives: those of bristles and those that are sampled. */
static void fill_held(lg_model *m)
{
    lg_memory_rules *memory = &m->system.memory;
    memory->first_sampled = m->system.nmem;
    for (const lg_controller *c = m->controls; c < m->controls + m->ncontrols; c++)
        if (c->given.every > 0 && !memory->sample)
            memory->sample = lg_model_sample, memory->first_sampled = c->mem;
    memory->first_held = m->nbristled ? 0 : memory->first_sampled;
    memory->slopes = m->nbristled ? &lg_bristle_slopes : NULL;
    memory->error = m->nbristled ? lg_model_memory_error : NULL;
}

void lg_model_fill_system(lg_model *m)
{
    lg_system *s = &m->system;
    s->self = m;
    s->space = &m->space;
    s->pattern = &m->pattern;
    s->flags = flags_of(m);
    s->accelerate = is_unconstrained(m) ? accelerate_of(m, s->flags) : NULL;
    s->inverse_mass = s->flags & LG_SYSTEM_TREES ? &lg_model_inverse_mass : NULL;
    s->energy = lg_model_energy;
    s->form = lg_model_form;
    m->sensitivity = lg_model_rows_alone(m);
    lg_model_form(LG_FORM_DYNAMICS, s);
    s->steps = m->ncontrols ? NULL : &lg_model_steps; // controls have no gradients
    s->next_kink = lg_model_next_kink;
    fill_held(m);
    s->control = m->ncontrols ? m->controls->given.name : NULL;
    m->has_motions = lg_model_has_motions(m);
    m->can_pass = lg_model_can_pass(m);
    s->memory.commit = m->choice.mem > 0 || m->has_motions || m->can_pass ? lg_model_commit : NULL;
    for (const lg_joint *j = m->joints; j < m->joints + m->njoints; j++)
        s->memory.commit = j->type->memory ? lg_model_commit : s->memory.commit;
    s->choice = m->pattern.nmasked > m->pattern.nnonholonomic ? &m->choice : NULL;
    s->row_name = row_name;
    s->block_name = block_name;
    s->not_finite = lg_model_not_finite;
    s->laws = &lg_model_laws;
}
