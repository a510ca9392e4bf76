/* What an element exerts in a step of the conserving form (step.h), by its motion between its two ends (relative.h). */
#ifndef LG_MODEL_STEP_ELEMENT_H
#define LG_MODEL_STEP_ELEMENT_H

#include "model/step/relative.h"
#include "model/tendon.h"

typedef struct lg_pair_step {
    lg_motion motion;
    lg_point at; /* the time in the middle, and the scratch with the poses of elements */
    double *V; /* potentials of joints, then of forces, at the start */
    double *phi; /* rows there, and then of each joint that adds to a row its own part */
    double largest; /* |q| */
} lg_pair_step;

typedef struct lg_exerted { /* f and m on b in the middle, and their derivatives G; see relative.h */
    double fm[6], G[36];
} lg_exerted;

typedef struct lg_step_between { /* an element between its two ends */
    const lg_element *e;
    lg_relative r;
    double l2, N, shortest; /* weight of angles, y . W y, and the least |y| that is corrected */
    double Wy[6];
} lg_step_between;

static inline int lg_step_is_linear(const lg_pair_step *s)
{
    return s->motion.wanted->S != NULL;
}

/* The end in whose axes the other one is seen: the one that rests or is moved from outside, if there is one, since its
   wrench need not be in balance. Otherwise both bodies turn, because only distances and joints with axes of their own
   see points. */
int lg_step_base_of(const lg_element *e);
/* Opens an element, seen in the axes of its end `base`; `by_distance`: it sees the distance of its points alone. */
void lg_step_open(const lg_pair_step *s, const lg_element *e, int base, int by_distance, lg_step_between *out);
/* A += sign B */
void lg_step_add_part(const lg_pair_step *s, double sign, const lg_exerted *B, lg_exerted *A);
/* G: the derivative of what the element exerts on b in the middle, from those by the pose (K) and the twist (D; NULL:
   none) of b. */
void lg_step_set_slopes(const lg_pair_step *s, const lg_relative *r, const lg_quarters *K, const lg_quarters *D,
                        double G[36]);
/* Notes the round-off of a correction, for the sizes of its terms. */
void lg_step_add_noise(const lg_pair_step *s, const lg_step_between *b, double sizes);
/* Adds c W y to f and m, so that the product of the gradient g with y becomes the change of the function. `at_end`: the
   gradient at the end, for tangents. g may be `out`. */
void lg_step_add_correction(const lg_pair_step *s, const lg_step_between *b, double c, const lg_exerted *g,
                            const double at_end[6], lg_exerted *out);
/* Adds the wrenches of f and m to both bodies. */
void lg_step_add_wrenches(const lg_pair_step *s, const lg_step_between *b, int sum, const lg_exerted *p);
/* Adds the tangent of these wrenches, if it is wanted, times `sign`. */
void lg_step_add_tangent(const lg_pair_step *s, const lg_step_between *b, double sign, const lg_exerted *p);
/* The potential of an element at the start, in the middle or at the end. */
lg_status lg_step_potential_at(const lg_pair_step *s, const lg_step_between *b, const lg_element_ref *of, int where,
                               double *V);
/* Evaluates what the element exerts; `linear`: with its derivatives. */
lg_status lg_step_exert_at(const lg_pair_step *s, const lg_step_between *b, const lg_element_ref *of, int where,
                           int moving, int linear, lg_exerted *out);
/* Evaluates all that an element exerts in the step; `moves`: it depends on rates. */
lg_status lg_step_exert_in_step(const lg_pair_step *s, const lg_step_between *b, const lg_element_ref *of,
                                int has_potential, int moves, double *V0, lg_exerted *out);
/* Adds a force that sees its two frames relative to each other. */
lg_status lg_step_add_force(const lg_pair_step *s, const lg_force *force, double *V0);

/* tendon.c: adds a tendon. One tension does its work in the step, and its pieces share that by the changes of their
   lengths. */
lg_status lg_step_add_tendon(const lg_pair_step *s, const lg_tendon *tendon);

#endif
