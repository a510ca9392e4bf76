/* The loop: lands on stops and kinks, hands accepted states to a sink, polls for interruption. */
#ifndef LG_INTEGRATOR_INTEGRATE_H
#define LG_INTEGRATOR_INTEGRATE_H

#include "integrator/stepper.h"

/* Where the steps of an interval between two landings stand: at origin + index step. Carried, so that a resumed run
   steps on the same bits as one that was not interrupted. */
typedef struct lg_grid {
    double origin, step;
    double index, last; /* steps done and to do since the origin: whole numbers */
    double end, h; /* the landing; the step size that was asked for */
} lg_grid;

/* A run owns its state and its stepper, their arrays in one arena; the system and the plan are shared and const. */
typedef struct lg_run {
    const lg_system *system;
    const lg_method *method;
    lg_stepper *stepper;
    lg_state state;
    lg_grid *grid; /* the end of state.carry */
    lg_arena arena;
    lg_option_value *options; /* copied in */
} lg_run;

/* Opens a run on initial values. Options: method->noptions values. On failure `report` says why.
   mem and carry NULL: a fresh start (consistent a and lam are computed); otherwise a, lam, mem and carry resume a run. */
typedef struct lg_start {
    double t;
    const double *q, *v, *a, *lam, *mem, *carry;
    int ncarry; /* length of carry: lg_run_carry_count of the run that is resumed */
} lg_start;

lg_status lg_run_open(lg_run *run, const lg_system *system, const lg_plan *plan, const lg_method *method,
                      const lg_option_value *options, const lg_start *start, lg_report *report);
void lg_run_close(lg_run *run);
int lg_run_carry_count(const lg_run *run);

/* One accepted step of size h, kinks not looked for. On failure the state is as it was and `report` is filled. */
lg_status lg_run_step(lg_run *run, double h, lg_report *report);

typedef struct lg_schedule {
    const double *stops; /* ascending, all > start; the last is t_end */
    int nstops;
    double h; /* each interval is cut into ceil(length / h) equal steps */
    long save_every;
} lg_schedule;

typedef struct lg_observer {
    void *self;
    /* An accepted state that is to be kept. */
    lg_status (*save)(void *self, const lg_state *state, double h);
    /* About every 50 ms of wall time: LG_INTERRUPTED stops the run. `t` is for progress. */
    lg_status (*poll)(void *self, double t);
} lg_observer;

/* Steps of the whole schedule and how many states will be saved, the start included. */
lg_status lg_schedule_count(const lg_system *system, const lg_schedule *schedule, double t0, long *steps, long *saves);
/* Runs the schedule from run->state. On failure run->state is the last accepted one and `report` is filled. The state
   at a kink holds the accelerations and multipliers of its right side. */
lg_status lg_integrate(lg_run *run, const lg_schedule *schedule, const lg_observer *observer, lg_report *report);

#endif
