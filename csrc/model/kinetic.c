/* The kinetic energy in a step between two states, body by body: verbs of the waist. */
#include "model/private.h"

lg_status lg_model_kinetic(void *self, const lg_pair *pair, const lg_kinetic_wanted *wanted)
{
    const lg_model *m = self;
    for (int i = 0; i < m->nbody_spans; i++)
        if (!m->body_spans[i].first->type->is_support)
            LG_TRY(m->body_spans[i].first->type->momentum(m->body_spans[i], pair, wanted));
    return LG_OK;
}

int lg_model_without_step(void *self, const lg_pair *pair)
{
    const lg_model *m = self;
    (void)pair;
    for (const lg_body *b = m->bodies; b < m->bodies + m->nbodies; b++)
        if (!b->type->is_support && !(b->type->has_momentum && b->type->has_momentum(b)))
            return b->index;
    return -1;
}
