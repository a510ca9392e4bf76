/* The configuration space of a system: the product over its blocks. */
#ifndef LG_GROUP_SPACE_H
#define LG_GROUP_SPACE_H

#include "group/node.h"

typedef struct lg_block {
    const lg_node *node;
    int n; /* linear coordinates that follow those of the node; for R^n, all coordinates */
    int nq, nv, nown;
    int q, v; /* first coordinate and velocity */
    int own; /* first own row among all constraint rows */
    int m; /* position of its nv x nv matrix among those of all blocks */
} lg_block;

/* The number of linear coordinates that follow those of the node; the node's verbs do not handle them. */
static inline int lg_block_tail(const lg_block *b)
{
    return b->node->nv ? b->n : 0;
}

typedef struct lg_space {
    int nblocks, nq, nv, nrows; /* nrows: constraint rows, own rows last */
    int nm; /* sum of nv^2: the size of one matrix per block */
    int linear; /* every block is linear */
    const lg_block *block;
} lg_space;

/* Adds a block with `n` linear coordinates to the counts of a space with `nrows` constraint rows. Returns 0, with
   nothing added, if the sizes, or those of a dense matrix of the block or of the rows, do not fit an int. */
int lg_space_count(lg_space *space, const lg_node *node, int n);

void lg_space_retract(const lg_space *space, const double *q0, const double *theta, double *q);
/* The distance from a singularity of the block that is nearest to one, and its number; 1 if there are no
   singularities. */
double lg_space_regular(const lg_space *space, const double *q, int *block);
/* Coordinates below this distance count as singular. */
#define LG_REGULAR 1e-6
/* Within a step: rotations are not polished, and w = T(theta) y (y NULL: not wanted) or thetadot come with the same
   evaluation of the angle's functions. q may not be q0. */
void lg_space_move(const lg_space *space, const double *q0, const double *theta, const double *y, double *q, double *w);
/* q = q exp(theta), in place and not polished either. */
void lg_space_advance(const lg_space *space, const double *theta, double *q);
void lg_space_stage(const lg_space *space, const double *q0, const double *theta, const double *v, double *q,
                    double *thetadot);
/* At the end of a step: removes the round-off that moves accumulate. */
void lg_space_polish(const lg_space *space, double *q);
void lg_space_difference(const lg_space *space, const double *q0, const double *q1, double *theta);
void lg_space_rate(const lg_space *space, const double *q0, const double *theta, const double *v, double *thetadot);
void lg_space_tangent_mul(const lg_space *space, const double *theta, const double *v, double *w);
/* Operations on one block; theta, v and other vectors are those of the whole space. */
void lg_block_rate(const lg_block *b, const double *q0, const double *theta, const double *v, double *thetadot);
/* The node's nv x nv matrix at A becomes the block's: diag(A, diagonal I), in place. */
void lg_block_widen(const lg_block *b, double diagonal, double *A);

#endif
