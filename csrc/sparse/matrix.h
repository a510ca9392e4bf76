/* The block-sparse matrix of every linear system in the library, with a static elimination order.

       [ S    B^T ] [ du  ]   [ r   ]
       [ B X   0  ] [ dlam] = [ phi ]

   A node of the elimination graph is a block with its own rows (one bordered pivot of size nv + nown) or a
   group. The order is of minimum degree with one restriction: a group comes after all its
   blocks, or after one that is sufficient and that no other group needs (order.c), so that every pivot is an effective
   mass or a Schur complement of a full-rank B. Symmetric pattern, unsymmetric values, pivoting inside a node. Unknowns
   are ordered as [velocities | constraint rows].

   Assembling adds to addresses known from the plan. If a pivot is too small against its node's scale, the factorisation
   falls back to one in doubled precision, and if S alone is singular, to dense ones of its connected components. It
   allocates for them when they are first needed in a run. */
#ifndef LG_SPARSE_MATRIX_H
#define LG_SPARSE_MATRIX_H

#include "core/arena.h"
#include "core/poll.h"
#include "core/status.h"
#include "sparse/components.h"
#include "sparse/doubled.h"
#include "sparse/plan.h"

/* How a block's q, v and a follow from the unknown u of a Newton step: d(q, v, a)/du = k[i] X[i], X[i] being the
   column-major nv x nv matrix, NULL for the identity. One per block. */
typedef struct lg_chain {
    double k[3];
    const double *X[3];
} lg_chain;

typedef struct lg_matrix {
    const lg_plan *plan;
    const lg_matrix_block *matrix_blocks; /* where the blocks of S are, from the plan */
    double *values; /* assembled values, kept for the fall-backs; of a guest and in place, the factors as well */
    double *factors; /* free from lg_matrix_zero to the factorisation */
    double *work; /* solve scratch */
    int *pivots;
    lg_doubled doubled; /* closed until the first fall-back, and so is the next one */
    lg_components dense;
    int is_doubled, is_dense; /* which of the two has the present factors, if any */
    int no_dense; /* dense factors would have been too large for the last LG_SINGULAR */
    int no_fallback; /* a pivot that is too small gives LG_SINGULAR at once */
    int keeps; /* S is that of the last lg_matrix_keep: new values of B need only lg_matrix_refactor */
    int summed; /* the assembled diagonal is a sum of terms of one sign, which count for the choice of pivots */
    long factorisations, refactorisations, fallbacks; /* all of them; those with kept pivots; fall-backs */
    double watch; /* pivots below this part of their terms are weak, in fronts whose rows may be inactive */
    double weakest; /* the least part that a weak pivot had, 1 if none was weak; to be set to NaN by whoever reads it */
    lg_poll *poll; /* called during long factorisations and solutions; NULL: none */
    int deficient_row; /* after LG_SINGULAR: a constraint row (0-based), or -1 - (velocity index) */
} lg_matrix;

void lg_matrix_layout(lg_matrix *matrix, const lg_plan *plan, lg_arena *arena);
/* Two matrices of the same unknowns in little more than the memory of one. The assembled values of the host are no
   longer needed once it is factored. From then until the host is assembled again, its guest is assembled and factored
   in their place. The factors of the guest overwrite its assembled values: if its factorisation reports LG_SINGULAR, it
   has to be assembled again for lg_matrix_fall_back. guest NULL: there is none. */
void lg_matrix_layout_host(lg_matrix *host, const lg_plan *plan, const lg_plan *guest, lg_arena *arena);
void lg_matrix_layout_guest(lg_matrix *guest, const lg_plan *plan, const lg_matrix *host, lg_arena *arena);
/* `count` doubles among the assembled values that the guest (plan NULL: no guest) leaves free, behind `taken` others;
   they last from the factorisation of the host until it is assembled again. Where there are fewer, the doubles come
   from the arena. */
double *lg_matrix_layout_rest(const lg_matrix *host, const lg_plan *guest, size_t taken, size_t count, lg_arena *arena);
/* A matrix whose factors overwrite its assembled values: as with a guest, fall-backs need it assembled again. */
void lg_matrix_layout_in_place(lg_matrix *matrix, const lg_plan *plan, lg_arena *arena);
/* The same for velocities alone, as a sum of many terms. */
void lg_matrix_layout_sums(lg_matrix *matrix, const lg_plan *plan, lg_arena *arena);
/* One that is assembled and multiplied, but not factored. */
void lg_matrix_layout_values(lg_matrix *matrix, const lg_plan *plan, lg_arena *arena);
void lg_matrix_close(lg_matrix *matrix); /* frees the fall-backs, if any */

void lg_matrix_zero(lg_matrix *matrix); /* ends what lg_matrix_keep began */
double lg_matrix_largest(const lg_matrix *matrix); /* the largest absolute value that is assembled */

/* The block of S in which two entries of a clique meet, by the number that pattern.h gives it: column-major, leading
   dimension *ld. */
static inline double *lg_matrix_at(const lg_matrix *matrix, long matrix_block, int *ld)
{
    const lg_matrix_block *found = matrix->matrix_blocks + matrix_block;
    *ld = found->ld;
    return matrix->values + found->at;
}

/* Lower left: s B k X, with the link `level` of the chain (0: q, 1: v, 2: a); chain NULL
   means the identity with k = 1. Adds, so that Z k0 X0 + B k1 X1 is two calls. The ones of inactive rows are added as
   they are. */
void lg_matrix_add_rows(lg_matrix *matrix, double s, const double *B, int level, const lg_chain *chain);
/* The same, and to the upper right C^T, in one pass. */
void lg_matrix_add_border(lg_matrix *matrix, const double *C, double s, const double *B, int level,
                          const lg_chain *chain);

/* Upper right = B^T and lower left = B, in place of the previous values. B is the same in both unless the two belong to
   two points, as in a half-explicit stage. */
void lg_matrix_put_columns(lg_matrix *matrix, const double *B);
void lg_matrix_put_rows(lg_matrix *matrix, const double *B);

lg_status lg_matrix_factor(lg_matrix *matrix);
/* The same for a symmetric matrix from lg_matrix_layout_sums that is definite: only its lower triangle, where the later
   front has the row, is assembled. */
lg_status lg_matrix_factor_symmetric(lg_matrix *matrix);
/* The same together with the first half of a solution, for a matrix without own rows: each front is read once for both.
   lg_matrix_solve_backward is the second half. Unless LG_OK is returned, x is lost. */
lg_status lg_matrix_factor_forward(lg_matrix *matrix, double *x);
void lg_matrix_solve_backward(const lg_matrix *matrix, double *x);
/* The fall-backs, from the assembled values. */
lg_status lg_matrix_fall_back(lg_matrix *matrix);

/* For a constant S: keeps the pivots of a factored matrix that depend on S alone, as inverses where blocks are small.
   From then on a matrix with other values of B, put there, needs no lg_matrix_factor but lg_matrix_refactor, until
   lg_matrix_zero. Does nothing after a fall-back: see `keeps`. */
lg_status lg_matrix_keep(lg_matrix *matrix);
lg_status lg_matrix_refactor(lg_matrix *matrix);

/* Adds s times its absolute value to every entry on the diagonal of an assembled matrix. */
void lg_matrix_stiffen(lg_matrix *matrix, double s);
/* Replaces an assembled matrix by its symmetric part. */
void lg_matrix_symmetrise(lg_matrix *matrix);
/* How many eigenvalues of a factored symmetric matrix are negative. The factors are used up. */
int lg_matrix_negative(lg_matrix *matrix);

/* y += s S x for the assembled values of a matrix that has not been factored in their place. */
void lg_matrix_add_product(const lg_matrix *matrix, double s, const double *x, double *y);
/* For two matrices of one plan: a flag for each front whether it has a diagonal block of six velocities that is zero in
   both outside of the last three rows and columns, as of rigid bodies of which only rotations act. The first product
   after `known` was cleared finds them. */
typedef struct lg_turning_blocks {
    int known;
    char *is_turning;
} lg_turning_blocks;
/* y += s (S x + T z) for these two matrices, in one pass. */
void lg_matrix_add_products(const lg_matrix *S, const lg_matrix *T, lg_turning_blocks *turning, double s,
                            const double *x, const double *z, double *y);
/* y += s S^T x */
void lg_matrix_add_transposed(const lg_matrix *matrix, double s, const double *x, double *y);

/* x: right-hand side in, solution out. */
lg_status lg_matrix_solve(const lg_matrix *matrix, double *x);
/* The same for A^T, by factors that are not kept. */
lg_status lg_matrix_solve_transposed(const lg_matrix *matrix, double *x);

#endif
