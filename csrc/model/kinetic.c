#include "model/kinetic.h"

#include "model/body/momentum.h"
#include "model/private.h"

lg_status lg_model_kinetic(void *self, lg_kinetics kinetics, const lg_pair *pair, const lg_kinetic_wanted *wanted)
{
    const lg_model *m = self;
    for (int i = 0; i < m->nbody_spans; i++)
        if (!m->body_spans[i].first->type->is_support)
            LG_TRY(m->body_spans[i].first->type->step->momentum(m->body_spans[i], kinetics, pair, wanted));
    return LG_OK;
}

int lg_model_without_step(void *self, lg_kinetics kinetics)
{
    const lg_model *m = self;
    (void)kinetics;
    for (const lg_body *b = m->bodies; b < m->bodies + m->nbodies; b++)
        if (!b->type->is_support && !(b->type->step && (!b->type->step->fits || b->type->step->fits(b))))
            return b->index;
    return -1;
}
