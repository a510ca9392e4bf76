/* Dense output: the solution between two accepted states, exact at both. */
#ifndef LG_RUN_DENSE_H
#define LG_RUN_DENSE_H

#include "core/arena.h"
#include "group/space.h"

/* One end of a step. */
typedef struct lg_knot {
    double t;
    const double *q, *v, *a, *lam;
} lg_knot;

typedef struct lg_dense {
    const lg_space *space; /* set these two before lg_dense_layout */
    int nrows;
    lg_knot from, to;
    double *power[5]; /* theta = power[0] s + ... + power[4] s^5, s from 0 to 1 */
    double *theta, *thetadot, *side, *place; /* scratch, nv each */
} lg_dense;

/* `dense` is an lg_dense; the type suits lg_arena_open. */
void lg_dense_layout(void *dense, lg_arena *arena);
/* The arrays of the knots must stay unchanged while the dense output is in use. */
void lg_dense_open(lg_dense *dense, lg_knot from, lg_knot to);
/* The solution at a time between the knots; each array may be NULL. */
void lg_dense_at(lg_dense *dense, double t, double *q, double *v, double *a, double *lam);

/* Many knots in the order of their times, each part of them in an array of its own. */
typedef struct lg_knots {
    long count; /* at least two */
    const double *t, *q, *v, *a, *lam;
} lg_knots;

/* The solution at n times: n rows of each part. Where two knots have the same time, the later one counts. */
void lg_dense_through(lg_dense *dense, const lg_knots *knots, long n, const double *times, double *q, double *v,
                      double *a, double *lam);

#endif
