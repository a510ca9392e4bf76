/* Discrete gradients of potentials and of constraint rows as kinon2024 prints them, along q1 - q0. */
#ifndef LG_MODEL_PRINTED_H
#define LG_MODEL_PRINTED_H

#include "model/private.h"
#include "system/step.h"

/* A step: what was asked for, and what has been evaluated on the way. */
typedef struct lg_printed_step {
    const lg_model *m;
    const lg_pair *pair;
    const lg_pair_wanted *wanted;
    lg_form form; /* of evaluations */
    int discrete, quadratic; /* whether gradients are discrete; whether attitudes at the middle are not normalised */
    double *phi0, *V0; /* at the start: rows, and potentials of joints, then of forces */
    double *phi, *B; /* at the end: rows, and B if a tangent is wanted */
    double *V, *gradient; /* at the end: potentials, and their gradients on two blocks, LG_MAX_NV each */
    lg_point middle; /* where poses and twists are at present */
    lg_wanted at_middle; /* what was evaluated there: phidot; B and Z for tangents */
    double largest; /* |q| at the end */
    double noise; /* as lg_pair_wanted.noise */
} lg_printed_step;

/* The potentials of all elements where poses are at present, and their gradients (NULL: not wanted). */
lg_status lg_printed_potentials(const lg_model *m, const lg_point *at, double *V, double *gradient);

/* Adds the corrections of all rows and potentials to force, Gtlam, G and S. */
lg_status lg_printed_correct(lg_printed_step *step);

#endif
