/* What a system computes at one point outside of runs, for checks, tools, trajectories and tests: a probe says where,
   and for each function what else it needs, and the function writes its results to probe->out. */
#ifndef LG_SYSTEM_PROBE_H
#define LG_SYSTEM_PROBE_H

#include "system/step.h"

/* X(term, shape): the terms of the waist by their names in lg_wanted, each an array with axes of nv (v) or the number
   of rows (r). */
#define LG_TERMS(X)                                                                                                    \
    X(Ma, "v")                                                                                                         \
    X(gyro, "v")                                                                                                       \
    X(force, "v")                                                                                                      \
    X(Btlam, "v")                                                                                                      \
    X(phi, "r")                                                                                                        \
    X(phidot, "r")                                                                                                     \
    X(zeta, "r")                                                                                                       \
    X(B, "rv")                                                                                                         \
    X(Z, "rv")                                                                                                         \
    X(S, "vv")

typedef enum lg_term {
#define LG_TERM(term, shape) LG_TERM_##term,
    LG_TERMS(LG_TERM)
#undef LG_TERM
        LG_TERM_COUNT
} lg_term;

/* The same for a step between two states: the terms of lg_pair_wanted, S by q1. */
#define LG_PAIR_TERMS(X)                                                                                               \
    X(force, "v")                                                                                                      \
    X(Gtlam, "v")                                                                                                      \
    X(phi, "r")                                                                                                        \
    X(G, "rv")                                                                                                         \
    X(B, "rv")                                                                                                         \
    X(S, "vv")

typedef enum lg_pair_term {
#define LG_TERM(term, shape) LG_PAIR_TERM_##term,
    LG_PAIR_TERMS(LG_TERM)
#undef LG_TERM
        LG_PAIR_TERM_COUNT
} lg_pair_term;

/* Matrices are in row-major order here. */
typedef struct lg_probe {
    const lg_system *system; /* in the form */
    lg_form form;
    lg_point point;
    const double *k,
        *X; /* d(q, v, a)/du = k[i] X[i] for S; X: three nv x nv, block diagonal. NULL: 0, 0, 1; identities */
    int derivative, parameter; /* whether the derivatives of terms by a parameter are asked for; its number */
    lg_pair pair; /* of a step from `point`: h and q1 are read */
    int midpoint, equivariant; /* its gradients: at the middle, else discrete; in equivariant form, else as printed */
    const double *theta; /* nv */
    const double *slopes; /* of phi and phidot by a number, 2 nrows */
    int check; /* whether a start must satisfy the constraints */
    int position, velocity; /* whether a projection changes them */
    lg_point from; /* the start of a step that ends at `point`, with its memory; q NULL: the point is a start */
    const double *change, *dmem; /* of q and v at the start, then at the end, 4 nv; and of the memory at the start */
    double *mem; /* that of a start, of which point.mem is a guess */
    const lg_plan *plan; /* for the couplings that a function names */
    struct lg_probe_solver *solver; /* solve/query.h */
    double *out[LG_TERM_COUNT]; /* NULL: not wanted */
    lg_report report;
} lg_probe;

/* out: LG_TERMS. For S, a plan for LG_COUPLING_TANGENTS, and for rows in the axes of bodies for LG_COUPLING_GROUPS. */
lg_status lg_probe_terms(lg_probe *probe);
/* The same for their derivatives by a parameter. */
lg_status lg_probe_derivatives(lg_probe *probe);
/* out: the derivatives of B a - zeta by q and v at fixed a. */
lg_status lg_probe_acceleration_rows(lg_probe *probe);
/* out: K, D and M, the derivatives of the residual M a + gyro - force + B^T lam by q, v and a. Plan as before. */
lg_status lg_probe_linear(lg_probe *probe);
/* The same and B, without zeros; what is NULL is not wanted. K, D and M: clique by clique, pair by pair of its blocks,
   in which a pair that has come before has zeros. B: group by group, then the blocks' own rows. */
lg_status lg_probe_sparse(lg_probe *probe);
/* The number of entries of K, D and M, or of B, there, and the row and the column of each. */
long lg_probe_count(const lg_pattern *pattern, int of_rows);
void lg_probe_sparsity(const lg_pattern *pattern, int of_rows, int *row, int *column);
lg_status lg_probe_pair(lg_probe *probe); /* out: LG_PAIR_TERMS. A plan for LG_COUPLING_GROUPS. */
lg_status lg_probe_energy(lg_probe *probe); /* out: T and V */
lg_status lg_probe_residual(lg_probe *probe); /* out: phi and phidot */
lg_status lg_probe_remember(lg_probe *probe); /* out: mem at a start, of which the given one is a guess */
lg_status lg_probe_sample(lg_probe *probe); /* out: mem after the samples that are due */
lg_status lg_probe_stretch(lg_probe *probe); /* out: factors of mem, memory.h */
/* out: the change of mem at the end of the step, also by a parameter unless its number is negative */
lg_status lg_probe_follow(lg_probe *probe);
lg_status lg_probe_retract(lg_probe *probe); /* out: q exp(theta) */
lg_status lg_probe_difference(lg_probe *probe); /* out: log(q^-1 q1) with the q1 of the pair */

#endif
