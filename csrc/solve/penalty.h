/* The penalty of the constraints, B^T G B with a positive number G for each group of rows, added to the matrix

       [ S + B^T G B   B^T ] [ c            ]   [ r   ]
       [ B             0   ] [ dlam - G phi ] = [ phi ]

   which does not change c. It makes pivots regular even of bodies that are held by joints alone, so that the
   elimination by blocks succeeds. G B^2 is as large as the entries of S on the group's blocks. A group whose blocks no
   clique couples has no penalty. */
#ifndef LG_SOLVE_PENALTY_H
#define LG_SOLVE_PENALTY_H

#include "core/arena.h"
#include "system/system.h"

typedef struct lg_penalty {
    double *G; /* per group */
    int *clique; /* per group: a clique that holds all its blocks, or -1 */
    long *matrix_block; /* per group: the number of that clique's first block of S */
    int *index; /* per entry of a group: the index of its block in the clique */
} lg_penalty;

void lg_penalty_layout(lg_penalty *penalty, const lg_pattern *pattern, lg_arena *arena);
/* Finds the cliques, once for each pattern. */
void lg_penalty_open(lg_penalty *penalty, const lg_pattern *pattern);
/* Chooses G and adds B^T G B to a matrix that holds S. B is that of the system. */
void lg_penalty_add(lg_penalty *penalty, const lg_pattern *pattern, const double *B, lg_matrix *matrix);
/* dlam += G phi */
void lg_penalty_correct(const lg_penalty *penalty, const lg_pattern *pattern, const double *phi, double *dlam);

#endif
