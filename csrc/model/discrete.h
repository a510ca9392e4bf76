/* Discrete gradients of potentials and of constraint rows: what they add to the gradients at the middle of a step. */
#ifndef LG_MODEL_DISCRETE_H
#define LG_MODEL_DISCRETE_H

#include "model/private.h"

/* What is kept of a step while it lasts. Elements are counted as joints, then forces. */
typedef struct lg_kept {
    double *phi, *V; /* at the start: rows, and the potential of each element */
    /* Of potentials, then of rows of joints: weight of angles in relative motion; 0: a midpoint gradient stands in;
       negative: undecided, which counts as 0 for the time being. */
    double *l2;
} lg_kept;

/* A step: what was asked for, and what has been evaluated on the way. */
typedef struct lg_step {
    const lg_model *m;
    const lg_pair *pair;
    const lg_pair_wanted *wanted;
    lg_kept kept;
    double *phi, *B; /* at the end: rows, and B if a tangent is wanted */
    double *V, *gradient; /* at the end: potential of each element, and its gradient on two blocks, LG_MAX_NV each */
    lg_point middle; /* where poses and twists are at present */
    lg_wanted at_middle; /* what was evaluated there: phidot; B and Z for tangents and decisions */
    double largest, violation, noise; /* the largest |q| and row at the end; round-off, as lg_pair_wanted.noise */
    int midpoints, undecided; /* as in lg_pair_wanted */
} lg_step;

/* At the start of a step no element has decided. */
void lg_correct_open(const lg_model *m, lg_kept *kept);

/* The potentials of all elements where poses are at present, and their gradients (NULL: not wanted). */
lg_status lg_potentials(const lg_model *m, const lg_point *at, double *V, double *gradient);

/* Adds the corrections of all rows and potentials to the wrenches on the frames, to B at the middle and to S. */
lg_status lg_correct(lg_step *step);

#endif
