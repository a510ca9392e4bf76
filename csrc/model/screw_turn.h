/* The rotation between two triads, the sections of an edge or the sides of a bushing, which may be more than half a
   turn; see screw_turn.c. */
#ifndef LG_MODEL_SCREW_TURN_H
#define LG_MODEL_SCREW_TURN_H

#include "core/status.h"

enum { LG_SCREW_MEMORY = 7 }; /* the unit quaternion of the rotation, and its rate */

/* An element at the end of a step, or at a start. */
typedef struct lg_screw_turn {
    const char *name, *parts, *rest; /* for messages; what turns, and what has no stress: "reference strain" */
    const double *const *d; /* both triads, inertial */
    double reference[3]; /* the rotation vector without stress */
    double rate[3]; /* angular velocity of the second triad against the first, in the axes of the second */
} lg_screw_turn;

/* A positive multiple p of the unit quaternion of R_a^T R_b whose sign continues the one in memory. 0: the memory (NULL
   or zeros) does not decide that. */
int lg_screw_turn_continues(const double *const d[2], const double *mem, double p[4]);
/* Chooses the sign whose rotation vector is nearest to the reference, and makes p a unit quaternion. */
void lg_screw_turn_choose(const double reference[3], double p[4]);

/* Updates the memory at the end of a step of size h. LG_TURNED if the step has turned it so far that the sign is
   not certain, LG_OVERTURNED if it is too near to a full turn. */
lg_status lg_screw_turn_step(const lg_screw_turn *turn, double h, double *mem, lg_report *report);
/* The memory of a start. LG_BAD_ARGUMENT if both signs are equally near to the reference. */
lg_status lg_screw_turn_start(const lg_screw_turn *turn, double *mem, lg_report *report);

#endif
