/* The coupling pattern of a system: the sizes and neighbourhoods that it publishes once, from which the block-sparse
   matrix makes its static plan. It consists of plain integers and does not refer to bodies, joints or formulations.

   Unknowns: every block has `nv` velocities and `nown` constraint rows of its own (such as a unit-length condition);
   every group is a set of constraint rows on the blocks it lists; every clique is a set of blocks whose velocities some
   element couples. The cliques that the mass matrix needs come first; the others are needed by tangents alone. Entries
   i and j of a clique of n meet in the block of S whose number is i n + j, counted from the end of the clique before;
   the entries of groups meet behind those of all cliques. Rows of all groups come first in the multipliers, then the
   blocks' own rows.

   Constraint matrix B: an array of values. Entry e of group g (e from group_start[g] to group_start[g + 1]) is the
   column-major (rows of g) x nv matrix at B + group_value[e] for block group_block[e]; the own rows of block b are
   the column-major nown x nv matrix at B + own_value[b].

   Some rows may be inactive, where others imply them: all of their entries are then zero, and a one in the values of B
   replaces their pivot, so that their multipliers are zero. Nonholonomic rows, which are of velocity alone, are
   inactive where positions are solved for. */
#ifndef LG_SPARSE_PATTERN_H
#define LG_SPARSE_PATTERN_H

typedef struct lg_pattern {
    int nblocks;
    const int *nv, *nown; /* per block */
    const int *v_start; /* per block, nblocks + 1: first velocity */
    const int *own_row; /* per block: first of its own rows among all constraint rows */
    const int *own_value; /* per block: its own rows in the values of B */
    int ngroups;
    const int *group_row; /* per group, ngroups + 1: first constraint row */
    const int *group_start; /* per group, ngroups + 1: first entry */
    const int *group_block; /* per entry: block */
    const int *group_value; /* per entry: where it begins in the values of B */
    const int *group_sufficient; /* per entry: the group's rows are independent on this block alone; NULL: on none */
    int ncliques, nmass_cliques; /* all; those that M needs */
    const int *clique_start; /* per clique, ncliques + 1: first entry */
    const int *clique_block; /* per entry: block; a block alone is in a clique only if an element acts on it */
    int nmasked; /* rows of groups that may be inactive */
    int nnonholonomic; /* the last of these, whose phi is zero */
    const int *masked_row, *masked_group; /* their numbers and their groups */
    int mask_value; /* B + mask_value + i is 1 if row masked_row[i] is inactive, else 0 */
    int nrows; /* constraint rows, own rows included */
    int nvalues; /* length of the values of B */
} lg_pattern;

typedef struct lg_matrix_block { /* where the entries of two blocks begin among the values; leading dimension */
    int at, ld;
} lg_matrix_block;

/* y += s B x  (y: nrows, x: velocities) and  y += s B^T x  (y: velocities, x: nrows). */
void lg_pattern_add_B(const lg_pattern *pattern, const double *B, double s, const double *x, double *y);
void lg_pattern_add_BT(const lg_pattern *pattern, const double *B, double s, const double *x, double *y);
/* The sum of |entries| of each row of B (nrows). */
void lg_pattern_row_sizes(const lg_pattern *pattern, const double *B, double *size);
/* The largest of the residuals x (nrows), each relative to 1 + the sum of |entries| of its row of B. */
double lg_pattern_relative(const lg_pattern *pattern, const double *B, const double *x);

/* Makes masked row i inactive in values with the layout of B, with `one` in place of its pivot. */
void lg_pattern_mask(const lg_pattern *pattern, int i, double one, double *values);
/* The same for all nonholonomic rows: what remains is for positions. */
void lg_pattern_mask_nonholonomic(const lg_pattern *pattern, double one, double *values);
/* Moves them, without ones, from values with the layout of B to `part`, where all else becomes zero. */
void lg_pattern_part(const lg_pattern *pattern, double *values, double *part);
/* The number of the i-th nonholonomic row. */
static inline int lg_pattern_nonholonomic(const lg_pattern *pattern, int i)
{
    return pattern->masked_row[pattern->nmasked - pattern->nnonholonomic + i];
}

/* Zeroes the nonholonomic ones of a vector of rows. */
static inline void lg_pattern_zero_nonholonomic(const lg_pattern *pattern, double *rows)
{
    for (int i = 0; i < pattern->nnonholonomic; i++)
        rows[lg_pattern_nonholonomic(pattern, i)] = 0;
}

#endif
