/* What a direction changes in a model: the records of its elements, and which others belong to a small model in which
   these can be evaluated, with their numbers there. */
#ifndef LG_MODEL_INFLUENCE_H
#define LG_MODEL_INFLUENCE_H

#include "model/private.h"

typedef enum lg_effect { LG_NO_EFFECT, LG_CARRIES, LG_CHANGES } lg_effect;

/* Arrays have one value for each record of a kind. The numbers of bodies that change come before those of bodies that
   only carry frames. In the small model every element has frames of its own. */
typedef struct lg_influence {
    const lg_model *m;
    const lg_direction *direction;
    lg_arena memory;
    size_t *start; /* per element of the description, and one more: its first parameter */
    int *body, *force, *joint; /* effects */
    int *new_body, *new_force, *new_joint;
    int nbodies, nchanged, nforces, njoints, nframes; /* of the small model; nchanged: bodies that change */
    size_t nparameters; /* of the elements that change, with what bodies prepare */
} lg_influence;

lg_status lg_influence_open(lg_influence *in, const lg_model *m);
/* Reads a direction; refuses one that leaves the model. */
lg_status lg_influence_of(lg_influence *in, const lg_direction *direction, lg_report *report);
/* The element of the description to which a parameter belongs. */
int lg_influence_owner(const lg_influence *in, int parameter);
void lg_influence_close(lg_influence *in);

static inline const lg_element *lg_element_at(lg_element_ref at)
{
    return at.body ? &at.body->e : at.force ? &at.force->e : &at.joint->e;
}

#endif
