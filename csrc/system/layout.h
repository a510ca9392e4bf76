/* The space and the pattern of a system, which are made from its blocks, groups of constraint rows and cliques in the
   order in which these are added, for compiled models and for systems made of functions. */
#ifndef LG_SYSTEM_LAYOUT_H
#define LG_SYSTEM_LAYOUT_H

#include "core/arena.h"
#include "group/space.h"
#include "sparse/pattern.h"

typedef struct lg_factor_spec {
    const char *kind; /* a row of groups.def */
    int n; /* dimension of "Rn"; 0 for all other kinds */
} lg_factor_spec;

/* A block: the product of its factors, in this order. */
typedef struct lg_block_spec {
    int nfactors;
    const lg_factor_spec *factor;
} lg_block_spec;

/* Upper bounds for the lengths of the arrays. */
typedef struct lg_layout_sizes {
    int nblocks, nfactors, ngroups, nentries; /* factors of all blocks; entries: blocks of all groups */
    int ncliques, nmembers; /* members: blocks of all cliques */
    int nmasked; /* rows that may be inactive */
} lg_layout_sizes;

typedef struct lg_layout {
    lg_space *space; /* the output; must live as long as the system */
    lg_pattern *pattern;
    lg_block *block;
    lg_factor *factor;
    int *nv, *nown, *v_start, *own_row, *own_value;
    int *group_row, *group_start, *group_block, *group_value, *group_sufficient;
    int *clique_start, *clique_block, *masked_row, *masked_group;
    int nentries, nmembers; /* added so far, those of an unfinished group or clique included */
    long nmatrix_blocks; /* of the cliques added so far */
} lg_layout;

/* LG_BAD_ARGUMENT, with the kind and the reason in the report, unless every block has factors of existing kinds with
   velocities, own rows stand in its first factor alone and only R^n follows it then, and the sizes of the system, nrows
   constraint rows included, fit an int. */
lg_status lg_layout_check(int nblocks, const lg_block_spec *blocks, int nrows, lg_report *report);
/* The numbers of factors and of own constraint rows of all blocks together. */
int lg_layout_factors(int nblocks, const lg_block_spec *blocks);
int lg_layout_own_rows(int nblocks, const lg_block_spec *blocks);

/* Takes the arrays from an arena; the space and the pattern start empty. */
void lg_layout_take(lg_layout *layout, lg_arena *arena, lg_layout_sizes sizes);
/* Adds the blocks; to be called before everything else. */
void lg_layout_blocks(lg_layout *layout, int nblocks, const lg_block_spec *blocks);
/* Adds a block to the next group, which has nrows rows, and returns the position of the block's part of B. sufficient:
   the rows are independent on this block alone. */
int lg_layout_entry(lg_layout *layout, int block, int nrows, int sufficient);
/* Makes a group of the entries added since the previous group and returns its first constraint row. */
int lg_layout_group(lg_layout *layout, int nrows);
/* Adds a block to the next clique. */
void lg_layout_member(lg_layout *layout, int block);
/* Row `row` of a finished group may be inactive. */
void lg_layout_mask(lg_layout *layout, int group, int row);
/* The same for a nonholonomic row, after all others. */
void lg_layout_nonholonomic(lg_layout *layout, int group, int row);
/* Makes a clique of the members added since the previous clique and returns the number of its first block of S in the
   matrix. Cliques that the mass matrix needs are made first. */
long lg_layout_mass_clique(lg_layout *layout);
long lg_layout_clique(lg_layout *layout);
/* Adds the blocks' own rows; to be called last. The space and the pattern are then complete. */
void lg_layout_finish(lg_layout *layout);

#endif
