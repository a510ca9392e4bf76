/* The outcome of a run: what it saved, the state from which another run can go on, and counts. */
#ifndef LG_RUN_OUTCOME_H
#define LG_RUN_OUTCOME_H

#include "run/record.h"

typedef struct lg_outcome {
    lg_record states; /* the states that were to be saved */
    lg_record knots; /* both ends of every step, for dense output; no columns unless that was asked for */
    lg_record end; /* the last state in a single row; no row if there is none */
    double *carry; /* of the last state, which resumes a run together with `end` */
    int ncarry;
    lg_stats stats;
    double wall_time; /* s */
    lg_report report; /* its status is LG_OK, or says why the run failed */
} lg_outcome;

/* Opens an outcome that has no states yet. Each state will have `extra` numbers of the carry, the last one all
   `ncarry`. On failure the outcome is empty. Close it in any case. */
lg_status lg_outcome_open(lg_outcome *outcome, const lg_system *system, int extra, int ncarry);
/* Makes a state the last one. It always succeeds, since lg_outcome_open has taken the memory. */
void lg_outcome_reach(lg_outcome *outcome, const lg_state *state, double h, double error);
void lg_outcome_close(lg_outcome *outcome);

#endif
