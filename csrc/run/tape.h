/* The steps of a run in memory, with what their adjoints need of them. */
#ifndef LG_RUN_TAPE_H
#define LG_RUN_TAPE_H

#include "run/run.h"

typedef struct lg_taken {
    lg_state before, after; /* the latter without carry, and before a kink gives it other accelerations */
    int restarts; /* whether it got such, */
    double past; /* with the data just after this time */
    double h; /* its size, from which the times of both ends may differ by round-off */
    double *kept; /* by the stepper */
} lg_taken;

typedef struct lg_tape_part lg_tape_part; /* as many steps as take about a megabyte */

/* Begins as zeros, apart from `most`. */
typedef struct lg_tape {
    double most; /* bytes; a tape that would take more is emptied for good */
    int full; /* that has happened */
    long count; /* steps */
    lg_state end; /* the state after all of them */
    lg_tape_part *parts; /* allocated as they are needed */
    int nparts;
    long in_part; /* steps in each of them */
    double used; /* bytes */
    long restarts; /* of the run before the present step */
} lg_tape;

/* Before the first step of a run. */
void lg_tape_begin(lg_tape *tape, const lg_run *run);
/* Adds the step that the run has just taken. */
lg_status lg_tape_add(lg_tape *tape, const lg_run *run);
/* After the last one. */
void lg_tape_end(lg_tape *tape, const lg_run *run);
lg_taken *lg_tape_step(const lg_tape *tape, long i);
void lg_tape_close(lg_tape *tape);

#endif
