/* What follows from the parameters of forces and joints for the evaluation: traits, and the level of kinematics. */
#include "model/private.h"

/* The kinematics that a force needs. */
static lg_level needed_by(const lg_force *force)
{
    const lg_force_type *type = force->type;
    if (force->added_by_body)
        return LG_ROTATIONS;
    return type->needs_twists ? LG_TWISTS : type->ignores_positions ? LG_ROTATIONS : LG_POSES;
}

static void raise_level(lg_model *m, lg_level level)
{
    if (level > m->force_level)
        m->force_level = level;
}

void lg_model_fill_traits(lg_model *m)
{
    m->force_level = LG_ROTATIONS;
    for (int i = 0; i < m->nforces; i++)
        raise_level(m, needed_by(&m->forces[i]));
    for (int i = 0; i < m->njoints; i++) {
        lg_element *e = &m->joints[i].e;
        if (!m->joints[i].type->compliance)
            continue;
        e->traits = m->joints[i].type->compliance->traits(e);
        raise_level(m, e->traits & LG_DAMPED ? LG_TWISTS : LG_POSES);
    }
}
