/* Everything that a system computes at one point, as whole arrays: for checks, tools and tests, which take no steps. */
#ifndef LG_SYSTEM_PROBE_H
#define LG_SYSTEM_PROBE_H

#include "system/system.h"

/* X(verb, shape): the terms of the waist by their names in lg_wanted, each an array with axes of nv (v) or the number
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

typedef struct lg_term_info {
    const char *name, *shape;
} lg_term_info;

extern const lg_term_info lg_terms[LG_TERM_COUNT];

/* Matrices are in row-major order here. */
typedef struct lg_probe {
    const lg_system *system;
    const lg_plan *plan; /* for tangents; needed if S is wanted */
    lg_point point; /* a, lam and mem are taken as zero where they are NULL; `work` is not read */
    double k[3]; /* d(q, v, a)/du = k[i] X[i] for S */
    const double *X[3]; /* nv x nv, block diagonal; NULL: the identity */
    double *out[LG_TERM_COUNT]; /* NULL: not wanted */
} lg_probe;

lg_status lg_probe_evaluate(const lg_probe *probe);

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

extern const lg_term_info lg_pair_terms[LG_PAIR_TERM_COUNT];

typedef struct lg_pair_probe {
    const lg_system *system;
    const lg_plan *plan;
    lg_pair
        pair; /* lam, mem, p0 and p1 are taken as zero where they are NULL; `stage`, `work` and `kept` are not read */
    const double *decided; /* the q1 at which the step decides on its gradients */
    double *out[LG_PAIR_TERM_COUNT]; /* NULL: not wanted */
} lg_pair_probe;

lg_status lg_probe_pair(const lg_pair_probe *probe);

#endif
