/* Attitudes that are quadratic in Euler parameters: R_q = n R with n = e.e, by which a body stretches what it turns.
   Points are placed by body/rigid_quadratic.c; here are the wrenches of loads, and quadratic_rows.h has the rows of
   joints. */
#ifndef LG_MODEL_QUADRATIC_H
#define LG_MODEL_QUADRATIC_H

#include "model/element.h"

/* A body at a point. */
typedef struct lg_stretched {
    const lg_block *block;
    int turns; /* it has Euler parameters; e, rate and first are those */
    const double *e, *rate;
    int first; /* the place of the parameters in the block's velocities */
    double n;
} lg_stretched;

lg_stretched lg_stretched_at(const lg_body *body, const lg_point *at);
/* n^degree */
double lg_stretch_power(double n, int degree);

/* Multiplies the wrenches of a load and, with `linear`, their derivatives by the powers `degree` of n, of forces and of
   moments; with `linear` adds to S what these factors contribute. */
void lg_quadratic_load(const lg_element *e, const int degree[2], const lg_point *at, const lg_wanted *want, int linear,
                       lg_load *load);

#endif
