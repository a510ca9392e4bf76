/* A small model of the elements that a direction changes, and of the bodies under their frames, at another value of the
   number that the direction belongs to. It shares blocks, pattern and scratch with the whole model, so that what its
   evaluation adds is in the same places; nothing else is written. The poses of its frames are behind that scratch. */
#ifndef LG_MODEL_PART_H
#define LG_MODEL_PART_H

#include "model/influence.h"

/* Takes its arrays from an arena; m NULL: the arena only measures. */
void lg_part_layout(const lg_influence *in, lg_model *m, double **parameters, lg_arena *arena);
/* Fills it for a number that is greater by `step`. */
void lg_part_fill(const lg_influence *in, double step, lg_model *m, double *parameters);
/* Fills it with the elements as they are. */
void lg_part_copy(const lg_influence *in, lg_model *m, double *parameters);
/* Fills it so that its terms are the derivatives themselves: each parameter that changes, and all others with its
   number `linear`, has its rate as value. */
void lg_part_fill_rates(const lg_influence *in, lg_model *m, double *parameters);
/* The value in the small model of the parameter with this number in the whole one. */
double *lg_part_value(const lg_influence *in, const lg_model *m, int parameter);
/* The declaration of the parameter with this number. */
const lg_parameter *lg_part_declared(const lg_influence *in, int parameter);

#endif
