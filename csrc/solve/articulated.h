/* Accelerations and multipliers by M^-1 of single blocks (lg_system.inverse_mass), without the matrix M:

       S lam = C M^-1 f - zeta,   a = M^-1 (f - B^T lam)   with   S = C M^-1 B^T

   where the columns B^T and the rows C are those of one point, or of two. S is dense, so that work and memory grow
   linearly with the lengths of trees, but with the cube and the square of the number of constraint rows. There is no
   second way: where M or S is singular, the solution fails. */
#ifndef LG_SOLVE_ARTICULATED_H
#define LG_SOLVE_ARTICULATED_H

#include "system/optional.h"

typedef struct lg_articulated {
    const lg_system *system; /* NULL: not in use */
    size_t *factor_at; /* per block: where it keeps its factor */
    double *factor;
    int *first; /* per block, nblocks + 1: first of its columns: one for each row that acts on it, of all rows */
    int *row; /* per column: the constraint row */
    int *column; /* per entry of B: the column of its first row */
    size_t *at; /* per block, nblocks + 1: where its columns begin in C and W */
    double *C, *W; /* C^T and M^-1 B^T, column by column */
    double *inactive; /* per row: 1 if it is inactive */
    double *S, *scale; /* nrows x nrows, its rows and then its columns scaled, then factored */
    int *pivots;
} lg_articulated;

/* Whether a system allows this, and it takes less work than the matrix with this plan for masses. */
int lg_articulated_suits(const lg_system *system, const lg_plan *plan);
void lg_articulated_layout(lg_articulated *art, const lg_system *system, lg_arena *arena);

/* M at the point of the last evaluation. LG_SINGULAR: *deficient is -1 - (velocity index). */
lg_status lg_articulated_factor_mass(lg_articulated *art, const lg_point *point, int *deficient);
/* The columns and rows from values of B (NULL: the last ones stay), and S. LG_SINGULAR: *deficient is a row. */
lg_status lg_articulated_border(lg_articulated *art, const double *columns, const double *rows, int *deficient);
/* x: f in, M^-1 f out. */
void lg_articulated_solve_mass(lg_articulated *art, double *x);
/* x: f and zeta in, a and lam out. */
void lg_articulated_solve(lg_articulated *art, double *x);

#endif
