/* A system of equations without the blocks' own rows. With matrices N and X of each block, nv x nu for nu = nv - nown,
   where the own rows of N^T G^T and of B X vanish,

       [ S    G^T ]                [ N^T S X    (G N)^T ]
       [ B     0  ]    becomes     [ B X           0    ]

   with the rows of groups alone: blocks of nu unknowns, and the same groups and cliques. */
#ifndef LG_SPARSE_REDUCE_H
#define LG_SPARSE_REDUCE_H

#include "sparse/matrix.h"

typedef struct lg_reduction { /* const after creation */
    lg_pattern pattern; /* of the reduced system; blocks have nu velocities and no own rows */
    lg_plan *plan;
    int nblocks; /* of S: pairs of blocks that couple */
    const struct lg_reduced_block *blocks;
    const int *nv; /* of the whole system, per block */
    const int *basis; /* per block: where its matrix begins among those of all blocks */
    int nbases; /* how many numbers these matrices have together */
    const int *value; /* per entry of a group: where it begins in the values of B of the whole system */
    int mask_value; /* there */
    lg_arena memory;
} lg_reduction;

/* The reduction of a pattern, given its plan for a coupling. */
lg_status lg_reduction_create(const lg_pattern *pattern, const lg_plan *plan, lg_coupling coupling,
                              lg_reduction *reduction);
void lg_reduction_close(lg_reduction *reduction);

/* Adds N^T S X for the S of a matrix that need not be factored. N and X: one matrix per block, column-major. */
void lg_reduction_add(const lg_reduction *reduction, const lg_matrix *whole, const double *N, const double *X,
                      lg_matrix *reduced);
/* out = B X for the rows of groups; values in the layouts of both patterns. */
void lg_reduction_rows(const lg_reduction *reduction, const double *B, const double *X, double *out);
/* y = N^T x: from velocities to unknowns. */
void lg_reduction_pull(const lg_reduction *reduction, const double *N, const double *x, double *y);

#endif
