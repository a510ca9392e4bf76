/* The space and the pattern of a system, written from its blocks, groups of constraint rows and cliques in the order in
   which they are added. Every system is laid out here, compiled or made of functions. */
#ifndef LG_SYSTEM_LAYOUT_H
#define LG_SYSTEM_LAYOUT_H

#include "core/arena.h"
#include "group/space.h"
#include "sparse/pattern.h"

typedef struct lg_block_spec {
    const char *kind; /* a row of groups.def */
    int n; /* linear coordinates behind those of the kind; of "Rn" all of them */
} lg_block_spec;

/* Upper bounds: how much room the arrays need. */
typedef struct lg_layout_sizes {
    int nblocks, ngroups, nentries; /* entries: blocks of all groups */
    int ncliques, nmembers; /* members: blocks of all cliques */
} lg_layout_sizes;

typedef struct lg_layout {
    lg_space *space; /* what is being written; must live as long as the system */
    lg_pattern *pattern;
    lg_block *block;
    int *nv, *nown, *v_start, *own_row, *own_value;
    int *group_row, *group_start, *group_block, *group_value, *group_sufficient;
    int *clique_start, *clique_block;
    int nentries, nmembers; /* so far, of groups and cliques that are not complete too */
} lg_layout;

/* LG_BAD_ARGUMENT, and in the report which block and why, unless all blocks exist, have velocities, and are together, with
   nrows constraint rows, of a size that an int can count. */
lg_status lg_layout_check(int nblocks, const lg_block_spec *blocks, int nrows, lg_report *report);
/* Constraint rows of their own that the blocks have. */
int lg_layout_own_rows(int nblocks, const lg_block_spec *blocks);

/* Takes the arrays from an arena; the space and the pattern begin empty. */
void lg_layout_take(lg_layout *layout, lg_arena *arena, lg_layout_sizes sizes);
/* The blocks, first of all. */
void lg_layout_blocks(lg_layout *layout, int nblocks, const lg_block_spec *blocks);
/* Another block under the group that comes next, which has nrows rows; where its part of B stands. sufficient: the rows
   are independent on this block alone. */
int lg_layout_entry(lg_layout *layout, int block, int nrows, int sufficient);
/* A group of the entries added since the last one; its first constraint row. */
int lg_layout_group(lg_layout *layout, int nrows);
/* Another block of the clique that comes next. */
void lg_layout_member(lg_layout *layout, int block);
/* A clique of the members added since the last one; its number. */
int lg_layout_clique(lg_layout *layout);
/* The blocks' own rows, last of all: from now on the space and the pattern are complete. */
void lg_layout_finish(lg_layout *layout);

#endif
