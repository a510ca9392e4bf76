/* A system under additional generalized forces that are held constant: another system with the same functions, of which
   those that give forces add them. Runs take their steps with it, so that neither models nor methods know of these
   forces. */
#ifndef LG_SYSTEM_HELD_H
#define LG_SYSTEM_HELD_H

#include "system/step.h"

typedef struct lg_held {
    lg_system system; /* the one under the forces, which points to this struct */
    lg_system inner[LG_FORM_COUNT]; /* the other one, in all forms */
    const double *force; /* nv; NULL: there is none, and both systems are the same bit for bit */
} lg_held;

/* The struct must stay where it is. */
void lg_held_open(lg_held *held, const lg_system *system);

#endif
