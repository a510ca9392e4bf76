/* What the plan of a matrix holds: order, addresses and update lists; private to sparse/.

   Each node of the elimination graph is a front. With n pivot unknowns and m later unknowns that they couple with,
   its panels are stored one after the other, column-major:

       D (n x n)    U (n x m)    L (m x n, leading dimension m rounded up to whole chunks)

   Addresses and numbers are ints, since plans are read as often as the values: a matrix of 16 GB is refused.

   The fronts that elements add to come first: those of blocks, and of groups that are eliminated before one of their
   blocks or have rows that may be inactive. The other fronts, which consist of fill alone, follow the assembled
   values. */
#ifndef LG_SPARSE_FRONTS_H
#define LG_SPARSE_FRONTS_H

#include "core/arena.h"
#include "sparse/pattern.h"

enum { LG_CHUNK = 2 }; /* rows of L that the kernels treat together */
enum { LG_MOST_INVERTED = 8 }; /* unknowns of a pivot block that is inverted when it is kept */

typedef struct lg_front {
    int n, m, ld;
    int velocities; /* pivot unknowns that are velocities; of a block, its own rows follow */
    char bordered; /* it has velocities and own rows */
    char changed; /* an earlier front changes it; the first of these starts it */
    char shared; /* several earlier fronts change it */
    char fresh; /* no earlier front changes it: factored straight from the assembled values */
    char whole; /* its panels are assembled, and no earlier front changes them */
    unsigned char
        single; /* row of the kernels for its single neighbour (single.h), whose pivot block it is the first to change
                    and whose panels are whole or empty; 0: none */
    char coupled; /* some unknowns of its neighbours are velocities */
    char constant; /* its pivot block depends on S alone */
    char watched; /* some of its rows may be inactive, so that other ones can be chosen if its pivots become small */
    int joint; /* of a body that may be pinned (pinned.h): its neighbour */
    int pivot; /* its first unknown in the order of elimination */
    int first_unknown; /* in the vector of a solution, where its unknowns are contiguous */
    int neighbour, neighbours; /* first and number of its plan->neighbours */
    int D, U, L, end; /* where the panels begin among the factors */
    int updates; /* where its addresses begin in plan->updates: neighbours^2 of them, column by column */
} lg_front;

typedef struct lg_neighbour { /* the unknowns of a later front among the m of an earlier one */
    int start, size;
    int pivot, first_unknown; /* those of the later front */
    int starts; /* its number, if no front before this one changes it; else -1 */
} lg_neighbour;

typedef struct lg_update { /* where the product of a slice of L and a slice of U is subtracted */
    int at, ld;
} lg_update;

typedef struct lg_entry_address { /* where one entry of B goes: a group on a block, or a block's own rows */
    int block, nv, rows;
    int value; /* where it begins in the values of B */
    int ld_U, ld_L;
    int again; /* an earlier entry of the group is on the same block: the two add up */
    int U, L;
} lg_entry_address;

typedef struct lg_mask_address { /* where the one of an inactive row goes */
    int value; /* where it begins in the values of B */
    int at; /* on the diagonal of its front */
} lg_mask_address;

typedef struct lg_plan {
    int nfronts, nentries, nmasks, ncliques;
    int size, nvelocities;
    int of_masses; /* its coupling is LG_COUPLING_MASS */
    int apart; /* whether every front is constant, small and without neighbours */
    int largest, widest; /* largest n, largest m */
    long nassembled, nvalues; /* doubles that elements add to; all doubles */
    lg_front *fronts; /* in the order of elimination */
    lg_neighbour *neighbours;
    lg_update *updates;
    int in_place; /* whether the unknowns of every front are contiguous, so that solutions need no reordering */
    int *unknowns; /* in the order of elimination: the number of each unknown */
    lg_entry_address *entries;
    lg_mask_address *masks;
    lg_matrix_block *matrix_blocks; /* of all cliques, numbered as pattern.h says */
    long nneighbours, nupdates, nmatrix_blocks; /* lengths */
    struct lg_schur_plan *schur; /* NULL: none */
    lg_arena memory;
} lg_plan;

typedef struct lg_schur_block { /* a block of M with the entries of B on it, in the order in which groups go */
    int nv, velocity; /* its velocities, and the first of them */
    int first, count; /* its entries */
    int rows; /* of each entry; 0: they differ */
    int inverse; /* where it begins among the factors of the matrix of masses */
    int products; /* where entry k, to the left, and entry l meet in S: count^2 of them, numbered l count + k */
} lg_schur_block;

typedef struct lg_schur_entry { /* an entry of B: a group on a block */
    int rows, row; /* the rows of the group and the first of them */
    int value; /* where it begins in the values of B */
    int lower; /* the first entry on the block that meets it in the lower triangle of S */
} lg_schur_entry;

/* The reduction of a plan for masses to the Schur complement S = B M^-1 B^T; see schur.h. */
typedef struct lg_schur_plan {
    lg_plan *masses, *groups; /* of M, which couples no blocks, and of S */
    int nblocks, nentries, nmasks;
    int largest; /* doubles of the largest entry */
    long nproducts;
    lg_schur_block *blocks;
    lg_schur_entry *entries;
    lg_matrix_block *products;
    lg_mask_address *masks;
    lg_arena memory;
} lg_schur_plan;

#endif
