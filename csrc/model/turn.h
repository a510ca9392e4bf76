/* The angle about e3 from a triad on the first body of an element to one on its second body, through full turns.
   Joints, drives and laws in joints keep it in memory, from accepted step to accepted step.

   Poses tell an angle but for full turns. It is the one nearest to the angle in memory plus the turn since then,

       turn = s phi' + g . (theta - s v),      g = d phi'/dv,

   where s is the age of the memory and theta the displacement of the bodies since then, which the method knows: the
   mean velocity theta/s takes the place of v in the rate phi'. An accepted step that turns the angle by more than half
   a turn has to agree with the rates at both of its ends as well: memory.c. */
#ifndef LG_MODEL_TURN_H
#define LG_MODEL_TURN_H

#include "model/body/body.h"

typedef struct lg_turn {
    double Rab[9];
    double e[3], r[3]; /* the axis, e3 of the first triad, in both bodies */
    double e1[3], v[3]; /* e1 of the second triad, in b and in a */
    double omega[3]; /* omega_b in a */
    double phi, rate; /* the angle and phi' = r . omega_b - e . omega_a */
} lg_turn;

/* `triads`: both of them, each 3 x 3, row-major in body axes, columns e1 e2 e3. Poses must have
   twists. */
void lg_turn_open(const lg_element *e, const double *triads, const lg_pose *const f[2], const lg_point *at,
                  lg_turn *out);
/* phi' and phi'', from poses with biases. */
void lg_turn_rates(const lg_element *e, const double *triads, const lg_pose *const f[2], const lg_point *at,
                   double rates[2]);

#endif
