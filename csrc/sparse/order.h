/* The elimination order of a pattern. Nodes are the blocks, then the groups; private to sparse/. */
#ifndef LG_SPARSE_ORDER_H
#define LG_SPARSE_ORDER_H

#include "core/status.h"
#include "sparse/pattern.h"

typedef struct lg_order {
    int nnodes;
    int *node; /* per position: the node eliminated there */
    int *position; /* per node */
    long *start; /* per position, nnodes + 1: first of its later neighbours */
    int *later; /* positions of the nodes that it couples with when it is eliminated, ascending */
} lg_order;

/* Minimum degree, measured in unknowns (`size` per node). Ties go to blocks, if blocks_first, and to the node of least
   size: a block that no group precedes has a pivot that depends on S alone, which is worth keeping if S is constant. A
   group is eliminated after all of its blocks, or after one block that is sufficient and that no other group needs. */
lg_status lg_order_create(const lg_pattern *pattern, const int *size, int blocks_first, lg_order *order);
void lg_order_free(lg_order *order);

#endif
