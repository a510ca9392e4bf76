/* Derivatives of moves q = q0 exp(theta), and of the rates K = T^-1(theta) v that belong to them. */
#ifndef LG_GROUP_MOVES_H
#define LG_GROUP_MOVES_H

#include "core/arena.h"
#include "group/turning.h"

/* A factor, of which only what turns has matrices of its own. */
typedef struct lg_move_part {
    const lg_factor *factor;
    lg_turning turns; /* n = 0 at its end: nothing */
    long at; /* where its matrices begin among those of all */
} lg_move_part;

typedef struct lg_moves {
    const lg_space *space;
    const lg_move_part *part; /* one for each factor */
    double *A, *T, *inverse; /* Ad(exp(-theta)), T and T^-1 */
    double *W; /* d(T(theta) K)/dtheta at fixed K */
} lg_moves;

void lg_moves_layout(lg_moves *moves, const lg_space *space, lg_arena *arena);
/* Forms the matrices of a move; those for rates unless K is NULL. */
void lg_moves_form(lg_moves *moves, const double *theta, const double *K);
/* dq = A dq0 + T dtheta: all of them left-trivialised, nv numbers each. dq may not be one of the others. */
void lg_moves_end(const lg_moves *moves, const double *dq0, const double *dtheta, double *dq);
/* dv = T dK + W dtheta: of the velocities v = T(theta) K. dtheta NULL: zero. */
void lg_moves_velocity(const lg_moves *moves, const double *dtheta, const double *dK, double *dv);
/* I + s W T^-1, one matrix for each block, at out + block->m; those of linear blocks are not written. */
void lg_moves_chain(const lg_moves *moves, double s, double *out);
/* dK = T^-1 (dv - W dtheta): of the rates K. dtheta NULL: zero. */
void lg_moves_rate(const lg_moves *moves, const double *dtheta, const double *dv, double *dK);

/* The transposed maps, which add to their results: from the adjoint of q to those of q0 and theta, from that of K to
   those of theta and v, and from that of v to those of theta and K. */
void lg_moves_end_adjoint(const lg_moves *moves, const double *q, double *q0, double *theta);
void lg_moves_rate_adjoint(const lg_moves *moves, const double *K, double *theta, double *v);
void lg_moves_velocity_adjoint(const lg_moves *moves, const double *v, double *theta, double *K);
/* q += s ad(theta)^T x */
void lg_add_ad_adjoint(const lg_space *space, double s, const double *theta, const double *x, double *q);

#endif
