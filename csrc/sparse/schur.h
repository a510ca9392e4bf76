/* Accelerations and multipliers by the Schur complement of the constraint rows, where M is constant, regular, and
   couples no two blocks, and blocks have no rows of their own:

       [ M  B^T ] [ a   ]   [ f    ]      S lam = C M^-1 f - zeta     with  S = C M^-1 B^T
       [ C   0  ] [ lam ] = [ zeta ]      a     = M^-1 f - M^-1 B^T lam

   The columns B^T and the rows C are those of one point, so that S is symmetric, or of two. S has a block wherever two
   groups of rows act on one block of velocities; it is factored with the plan of a matrix whose blocks are these
   groups. The inverse of M is formed once. -S is stored, so that pivots have the signs that the whole matrix gives
   them, and the ones of inactive rows are added to the diagonal as they are. */
#ifndef LG_SPARSE_SCHUR_H
#define LG_SPARSE_SCHUR_H

#include "sparse/matrix.h"

/* Adds the reduction to a plan for masses, given the pattern with the cliques of M. There is none if the pattern does
   not allow it, or if the plan itself takes less work, as for a hub that many groups act on. */
lg_status lg_schur_plan_create(const lg_pattern *pattern, lg_plan *plan);

typedef struct lg_schur_shape { /* of the inverse mass of a block and of the entries of B on it */
    int zeros; /* which entries of the inverse mass are zero */
    int isotropic; /* the inverse mass of its first three velocities is a number, and they couple with no others */
    int from; /* 3 if, in addition, the entries of B are multiples of the identity there, else 0 */
} lg_schur_shape;

typedef struct lg_schur {
    const struct lg_schur_plan *plan;
    lg_matrix masses; /* M is assembled here */
    lg_matrix *groups; /* -S; factorisations are counted and watched here */
    lg_schur_shape *shapes; /* per block */
    double *diagonals; /* of the inverse masses, one after the other: all that is read where they have nothing else */
    const double *B, *C; /* the caller's values of B: the columns and the rows */
    double *W; /* scratch for one entry of B M^-1 */
} lg_schur;

/* Lays out `groups` as well. */
void lg_schur_layout(lg_schur *schur, const struct lg_schur_plan *plan, lg_matrix *groups, lg_arena *arena);

/* With the columns and the rows from values of B (NULL: the last ones stay), which are the same pointer if they are
   those of one point, and which are read again by solutions. The masses are inverted unless they are kept. LG_SINGULAR:
   schur->groups has the deficient row, numbered as in the whole matrix. */
lg_status lg_schur_factor(lg_schur *schur, const double *columns, const double *rows);
/* x: f and zeta in, a and lam out. */
lg_status lg_schur_solve(const lg_schur *schur, double *x);
/* Both, for the rows and columns of one point, with the same results: B and the factors are read less often. *solved:
   0 if the factors had to be formed in doubled precision; then x is lost, and remains to be solved for. */
lg_status lg_schur_factor_solve(lg_schur *schur, const double *B, double *x, int *solved);

#endif
