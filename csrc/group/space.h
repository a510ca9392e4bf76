/* The configuration space of a system: the product over its blocks, each of which is a product of factors. Retractions
   and everything else that is known of a node kind goes factor by factor; the pattern and the matrix see blocks. */
#ifndef LG_GROUP_SPACE_H
#define LG_GROUP_SPACE_H

#include "core/small.h"
#include "group/node.h"

/* A node of some kind, or R^n. */
typedef struct lg_factor {
    const lg_node *node;
    int n; /* dimension of R^n; 0 on all other kinds */
    int nq, nv;
    int q, v; /* first coordinate and velocity in the space */
    int block;
    /* The velocities of the block, from `first` to before `end`, for which a chain's matrix is not the identity:
       `first` is behind positions that add, and `end` is behind the factor. They are equal for R^n beside others. */
    int first, end;
} lg_factor;

typedef struct lg_block {
    const lg_node *node; /* of the first factor; only this one can have own rows, if R^n alone follows */
    const lg_factor *factor;
    int nfactors;
    int linear; /* every factor is */
    int nq, nv, nown;
    int q, v; /* first coordinate and velocity */
    int own; /* first own row among all constraint rows */
    int m; /* position of its nv x nv matrix among those of all blocks */
} lg_block;

typedef struct lg_space {
    int nblocks, nfactors, nq, nv, nrows; /* nrows: constraint rows, own rows last */
    int nm; /* sum of nv^2: the size of one matrix per block */
    int linear; /* every block is linear */
    int singular; /* the coordinates of some block have singularities */
    const lg_block *block;
    const lg_factor *factor; /* those of all blocks, one after the other */
} lg_space;

/* Adds a block to the counts of a space with `nrows` constraint rows. Returns 0, with nothing added, if the sizes, or
   those of a dense matrix of the block or of the rows, do not fit an int. */
int lg_space_count(lg_space *space, long long nq, long long nv);

void lg_space_retract(const lg_space *space, const double *q0, const double *theta, double *q);
/* The distance from a singularity of the block that is nearest to one, and its number; 1 if there are no
   singularities. */
double lg_space_regular(const lg_space *space, const double *q, int *block);
/* Coordinates below this distance count as singular. */
#define LG_REGULAR 1e-6
/* q = q exp(theta), in place and not polished either. */
void lg_space_advance(const lg_space *space, const double *theta, double *q);
/* At the end of a step: removes the round-off that moves accumulate. */
void lg_space_polish(const lg_space *space, double *q);
/* q1 = q moved by round-off, along each velocity by 64 units in the last place of the size of a position, of 1 for
   attitudes, or of what is larger for other coordinates; the signs follow no pattern. theta: room for nv numbers. */
void lg_space_shake(const lg_space *space, const double *q, double *theta, double *q1);
void lg_space_difference(const lg_space *space, const double *q0, const double *q1, double *theta);
void lg_space_rate(const lg_space *space, const double *q0, const double *theta, const double *v, double *thetadot);
void lg_space_tangent_mul(const lg_space *space, const double *theta, const double *v, double *w);

/* ---- within a step: rotations are not polished; q may not be q0 ---- */

/* The two functions below on factors whose node composes them of others. */
void lg_factor_move(const lg_factor *f, const double *q0, const double *theta, const double *y, double *q, double *w);
void lg_factor_stage(const lg_factor *f, const double *q0, const double *theta, const double *v, double *q,
                     double *thetadot);

/* q = q0 exp(theta), and w = T(theta) y (y NULL: not wanted) with the same evaluation of the angle's functions. */
static inline void lg_space_move(const lg_space *space, const double *q0, const double *theta, const double *y,
                                 double *q, double *w)
{
    for (const lg_factor *f = space->factor, *end = f + space->nfactors; f < end; f++) {
        const double *y_here = y ? y + f->v : NULL;
        double *w_here = y ? w + f->v : NULL;
        if (f->node->move)
            f->node->move(f->n, q0 + f->q, theta + f->v, y_here, q + f->q, w_here);
        else
            lg_factor_move(f, q0 + f->q, theta + f->v, y_here, q + f->q, w_here);
    }
}

/* q = q0 exp(theta), and thetadot as in lg_space_rate likewise. */
static inline void lg_space_stage(const lg_space *space, const double *q0, const double *theta, const double *v,
                                  double *q, double *thetadot)
{
    for (const lg_factor *f = space->factor, *end = f + space->nfactors; f < end; f++) {
        if (f->node->stage)
            f->node->stage(f->n, q0 + f->q, theta + f->v, v + f->v, q + f->q, thetadot + f->v);
        else
            lg_factor_stage(f, q0 + f->q, theta + f->v, v + f->v, q + f->q, thetadot + f->v);
    }
}

/* ---- matrices of a block, which are diagonal in its factors ---- */

/* Where the nv x nv matrix of a factor is formed: in that of its block if this has no other factor, otherwise in
   `room`, from which lg_factor_put copies it. */
static inline double *lg_factor_matrix(const lg_factor *f, const lg_block *b, double *room, double *A)
{
    return f->nv == b->nv ? A : room;
}

/* Fills the factor's columns of the block's matrix A: with M, where lg_factor_matrix has placed it, and zeros. M NULL:
   the identity. */
static inline void lg_factor_put(const lg_factor *f, const lg_block *b, const double *M, double *A)
{
    if (M == A)
        return;
    double *columns = A + (size_t)b->nv * (f->v - b->v);
    lg_zero(b->nv * f->nv, columns);
    for (int j = 0; j < f->nv; j++)
        for (int i = 0; i < f->nv; i++)
            columns[f->v - b->v + i + (size_t)b->nv * j] = M ? M[i + f->nv * j] : i == j;
}

#endif
