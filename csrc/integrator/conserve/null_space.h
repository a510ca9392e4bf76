/* The discrete null space of kinon2024, Remark 4.11: Newton's method on coordinates of which each keeps the blocks' own
   rows, such as the rotation vectors of Euler parameters. With matrices N(q_m) and N(q1), whose columns are normal to
   the gradients of the own rows at the middle and at the end of a step, the force rows are N(q_m)^T r, and q1 moves
   along N(q1). The multipliers of the own rows are those with which r has no part along the gradients, (86b). */
#ifndef LG_INTEGRATOR_CONSERVE_NULL_SPACE_H
#define LG_INTEGRATOR_CONSERVE_NULL_SPACE_H

#include "solve/accel.h"
#include "sparse/reduce.h"

typedef struct lg_null_space {
    const lg_system *system;
    lg_reduction reduction;
    lg_matrix matrix;
    int nu; /* unknowns of all blocks */
    double *N, *X; /* at the middle and at the end */
    double *G, *B; /* rows of groups times these */
    double *middle, *u;
} lg_null_space;

lg_status lg_null_open(lg_null_space *null, const lg_system *system, const lg_plan *plan, lg_coupling coupling);
void lg_null_layout(lg_null_space *null, lg_arena *arena);
void lg_null_close(lg_null_space *null);

/* Sets N and X for a step from q0 to q1. */
void lg_null_step(lg_null_space *null, const double *q0, const double *q1);
/* Sets the multipliers of own rows, and the force rows r to those with these multipliers. */
void lg_null_own_multipliers(const lg_null_space *null, double *r, double *lam);
/* The force rows of the unknowns. */
void lg_null_pull(const lg_null_space *null, const double *r, double *rows);
/* Factors the matrix of the unknowns and of the rows of groups, given the S, G and B of the whole system; `accel`
   counts. */
lg_status lg_null_factor(lg_null_space *null, lg_accel *accel, const double *G, lg_report *report);
/* q1 = q moved by s N(q) u, where N(q) is that of the end of the last step; and by the part of a velocity along N. */
void lg_null_move(const lg_null_space *null, const double *q, double s, const double *u, double *q1);
void lg_null_predict(lg_null_space *null, const double *q, const double *v, double *q1);

#endif
