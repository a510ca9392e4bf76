/* Derivatives of bristles through the steps of runs. */
#ifndef LG_MODEL_BRISTLE_SLOPES_H
#define LG_MODEL_BRISTLE_SLOPES_H

#include "model/force/path.h"
#include "model/private.h"

extern const lg_memory_slopes lg_bristle_slopes;
/* Both frames of each contact with bristles, at both ends of a step and in the scratch of a model. */
typedef struct lg_bristle_step {
    lg_ends from, to;
} lg_bristle_step;

/* Writes how the frames of these contacts lie and move at both ends of a step, or at a start (from->q NULL). */
lg_status lg_bristles_move(const lg_model *m, int n, const lg_force *const *contacts, const lg_point *from,
                           const lg_point *to, lg_bristle_step *steps);
/* Adds weight times the memory of a contact of a part at the end of a step, on the branch of the same contact of the
   whole model, `origin`. */
lg_status lg_bristles_add(const lg_force *contact, const lg_bristle_step *step, const lg_force *origin,
                          const lg_bristle_step *step_0, const lg_point *from, const lg_point *to, double weight,
                          double *mem);

#endif
