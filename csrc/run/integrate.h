/* The loop: lands on stops and kinks, passes accepted states to an observer and polls for interruption. */
#ifndef LG_RUN_INTEGRATE_H
#define LG_RUN_INTEGRATE_H

#include "run/run.h"

typedef struct lg_schedule {
    double t_end;
    const double *stops; /* times to land on besides t_end: ascending, from the start to t_end */
    int nstops;
    double h; /* each interval is cut into ceil(length / h) equal steps; ignored if the steps are adaptive */
    long save_every;
    const double *t_eval; /* times that are saved instead of steps, ascending like stops; NULL: steps are saved */
    int nt_eval;
} lg_schedule;

typedef struct lg_observer {
    void *self;
    /* Called with each state to be saved; h is the size of the step that it ends, or lies in. */
    lg_status (*save)(void *self, const lg_state *state, double h);
    /* Called about every 50 ms of wall time, inside long steps too; LG_INTERRUPTED stops the run. `t` shows
       progress. */
    lg_status (*poll)(void *self, double t);
    /* Optional: called with each accepted step, from run->before to run->state, before its end gets the accelerations
       of a kink's right side. The run ends at *t_stop if that is set to a time inside the step. */
    lg_status (*step)(void *self, lg_run *run, double *t_stop);
    /* Optional: called with the state at which `step` has stopped the run. It may put another state in its place, with
       `*acts` set; then the run begins anew there, and goes on if `*goes_on` is set. */
    lg_status (*act)(void *self, lg_run *run, int *acts, int *goes_on);
    int ends; /* whether `step` may end the run: otherwise a run that could never reach t_end is refused or ended */
} lg_observer;

/* Counts the fixed steps of the whole schedule and the states that will be saved, the start included. */
lg_status lg_schedule_count(const lg_system *system, const lg_schedule *schedule, double t0, long *steps, long *saves);
/* Runs the schedule from run->state. On failure run->state is the last accepted state and `report` is filled. The state
   at a kink holds the accelerations and multipliers of its right side. A run that the observer ends takes its last
   state from the dense output, moved onto the constraints, with fresh accelerations and multipliers, and no history. */
lg_status lg_integrate(lg_run *run, const lg_schedule *schedule, const lg_observer *observer, lg_report *report);

/* Advances the run by h > 0, in steps that are split at the kinks inside, under held generalized forces (nv; NULL:
   none, as in runs that cannot hold forces). Where they differ from those before, the run begins anew as at a kink. On
   failure the state and these forces are as before the call. */
lg_status lg_run_go(lg_run *run, double h, const double *force, lg_report *report);
/* Continues from a state: all its parts and the carry, the forces that are held there included. */
void lg_run_put(lg_run *run, const lg_state *state, const double *force);

#endif
