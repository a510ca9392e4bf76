/* Laws of the whole state without a tangent: what they exert depends on blocks that they read, beside the frames on
   which they act. */
#ifndef LG_MODEL_FORCE_READ_H
#define LG_MODEL_FORCE_READ_H

#include "model/force/force.h"
#include "system/layout.h"

typedef struct lg_reads { /* what a law reads */
    const lg_space *space;
    int n;
    const int *block;
    const long *matrix_block; /* in S, per frame: that of the block under the frame with each of these */
    size_t work; /* position in the scratch of lg_reads_work doubles */
} lg_reads;

size_t lg_reads_work(const lg_reads *reads);

/* Adds a clique of the blocks under the frames of a law, which are known, and of those that it reads, and notes their
   blocks of S. */
void lg_reads_join(lg_layout *layout, lg_force *force, long *matrix_block);

/* Adds the derivatives of what laws exert by the blocks that they read to S: central differences, with the frames of
   the laws where they are. */
lg_status lg_reads_add(lg_forces forces, const lg_point *at, const lg_wanted *want);

#endif
