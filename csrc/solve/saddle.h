/* Down from an unstable equilibrium of forces that have a potential. */
#ifndef LG_SOLVE_SADDLE_H
#define LG_SOLVE_SADDLE_H

#include "solve/rest.h"

typedef struct lg_saddle {
    lg_rest *rest;
    double *direction; /* nv, then nrows */
    double *product; /* nv: M times it, and scratch */
    double *force, *next_force; /* nv each, at `trial` and `next` */
    double *trial, *next, *lowest; /* nq each */
} lg_saddle;

void lg_saddle_layout(lg_saddle *saddle, lg_rest *rest, lg_arena *arena);

/* From a point in equilibrium at which K has a negative direction, goes to a state q of lower potential on the
   constraints. A direction c in which c^T K c is close to its least value over c^T M c is followed to both sides, at
   most a radian or metre, as long as the forces do work; the state is taken at which they have done most. *left = 0:
   they do none. */
lg_status lg_saddle_leave(lg_saddle *saddle, const lg_point *point, double *q, int *left, lg_report *report);

#endif
