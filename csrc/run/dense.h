/* Dense output: the solution between two accepted states, exact at both. */
#ifndef LG_RUN_DENSE_H
#define LG_RUN_DENSE_H

#include "run/record.h"
#include "solve/accel.h"

/* One end of a step. */
typedef struct lg_knot {
    double t;
    const double *q, *v, *a, *lam;
} lg_knot;

typedef struct lg_dense {
    const lg_system *system;
    /* For matrices of masses, which give index-1 accelerations and multipliers; NULL: these are interpolated. */
    const lg_plan *plan;
    lg_accel accel; /* if there is a plan */
    lg_knot from, to;
    const double *curve; /* of the step, as its stepper has written it; NULL: it follows from both ends */
    int degree; /* of that curve */
    double *power[5]; /* theta = power[0] s + ... + power[4] s^5, s from 0 to 1 */
    double *spin; /* nv; see dense.c */
    int spins; /* whether any of it is nonzero */
    double *moved; /* the displacement from the start of the step to the last time that was asked for */
    double *base; /* scratch, nq */
    double *theta, *thetadot, *side, *theta_beside; /* scratch, nv each */
} lg_dense;

lg_dense lg_dense_of(const lg_system *system, const lg_plan *plan);
/* `dense` points to an lg_dense; it is void * so that lg_arena_open can call this. */
void lg_dense_layout(void *dense, lg_arena *arena);
void lg_dense_close(lg_dense *dense);

/* States at some times, each part of them in an array of its own. Knots are at least two states, in the order of their
   times. */
typedef struct lg_states {
    long count;
    int nextra;
    const double *t;
    double *part[LG_PARTS]; /* that of the memory may be NULL: unknown, or not wanted */
    double *extra; /* the numbers that the stepper adds to a state, nextra each */
    int ncurve;
    const double *curve; /* of the steps that end at these states, ncurve numbers each; NULL: there are none */
} lg_states;

/* Fills in the state at the time of `found`, a single row, in the step between two others. `work` is the scratch of the
   system. With a plan, the memory must be wanted if the system has any. */
lg_status lg_dense_between(lg_dense *dense, const lg_states *from, const lg_states *to, const lg_states *found,
                           double *work, lg_report *report);
/* The states at some times, between knots, as a record that the caller closes, on failure too. Where two knots have the
   same time, the later one counts. */
lg_status lg_interpolate(const lg_system *system, const lg_plan *plan, const lg_states *knots, long count,
                         const double *times, lg_record *found, lg_report *report);

#endif
