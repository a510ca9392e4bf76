/* The solver of a saddle-point system, whose matrix is also called a KKT matrix: M, with constraint rows from one point
   or from two,

       [ M  B^T ] [ a   ]   [ f    ]
       [ C   0  ] [ lam ] = [ zeta ]

   It factors the whole matrix, or the Schur complement of the rows (schur.h) where that takes less work and M is known
   to have an inverse. Which way it goes is decided at its layout; it has memory for that way alone. */
#ifndef LG_SPARSE_KKT_H
#define LG_SPARSE_KKT_H

#include "sparse/schur.h"

/* What is known of M beforehand. */
typedef enum lg_mass {
    LG_MASS_VARIES,
    LG_MASS_CONSTANT, /* it is factored once and kept, until some other code zeroes the matrix to use it itself */
    LG_MASS_REGULAR /* it is constant, and every block of it has an inverse */
} lg_mass;

typedef struct lg_kkt {
    lg_matrix *matrix; /* the whole matrix or the Schur complement */
    lg_schur schur; /* its plan is NULL if the whole matrix is factored */
    lg_mass mass;
} lg_kkt;

/* Lays out `matrix`, which belongs to the caller and counts factorisations, too. guest: see lg_matrix_layout_host. */
void lg_kkt_layout(lg_kkt *kkt, lg_matrix *matrix, const lg_plan *plan, const lg_plan *guest, lg_mass mass,
                   lg_arena *arena);

/* Where M is to be added, set to zero; NULL: M is kept. */
lg_matrix *lg_kkt_masses(lg_kkt *kkt);

/* Factors M with the columns B^T and the rows C of values of B, which are the same pointer if they belong to one point;
   NULL: the last ones stay, or there are none. Both are read again by solutions. On LG_SINGULAR kkt->matrix has the
   deficient row. */
lg_status lg_kkt_factor(lg_kkt *kkt, const double *columns, const double *rows);

/* x: f and zeta in, a and lam out. */
lg_status lg_kkt_solve(const lg_kkt *kkt, double *x);
/* Both, for the rows and columns of one point, as lg_schur_factor_solve has them. */
lg_status lg_kkt_factor_solve(lg_kkt *kkt, const double *B, double *x, int *solved);

#endif
