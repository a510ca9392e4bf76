/* A run: the state, the stepper and the control, and what they do in one step. */
#ifndef LG_RUN_RUN_H
#define LG_RUN_RUN_H

#include "integrator/sensitivities.h"
#include "run/control.h"
#include "run/dense.h"
#include "solve/choice.h"
#include "system/held.h"

/* The times of the steps between two landings: origin + index * step. It is part of the carry, so that a resumed run
   takes bit for bit the steps of an uninterrupted one. Fixed steps only. */
typedef struct lg_grid {
    double origin, step;
    double index, last; /* steps from the origin to the present time, and to the landing, a whole number; `index` is one
                           too, except inside a step that is taken in parts */
    double end, h; /* the landing; the step size that the caller gave */
} lg_grid;

/* A run owns its state and its stepper, their arrays in one arena; the system and the plan are shared and const. */
typedef struct lg_run {
    const lg_system *system;
    const lg_method *method;
    lg_stepper *stepper;
    lg_state state;
    lg_state before; /* the start of the last step, if lg_run_keep has stored it */
    int kept; /* how many values of the carry `before` has */
    lg_state
        between; /* a state inside the last step, see lg_run_between, with the part of the carry that results hold */
    double *curve; /* of the last step, if the stepper has one; in `inside` */
    int curved; /* whether it has been written */
    double h, error; /* size and scaled error of the last accepted step; 0 and NaN: no step yet */
    long restarts; /* how often its state got accelerations of the index-1 equations */
    double past; /* with the data just after this time, the last time */
    int retry; /* how often a step that fails may be halved; -1: steps are not halved */
    lg_control control;
    lg_dense dense;
    lg_choice_scratch rows;
    lg_control_memory *memory; /* these two follow the stepper's part of state.carry */
    lg_grid *grid;
    lg_sensitivities sensitivities; /* derivatives of the state by parameters, behind these; count 0: none */
    double *sampled; /* derivatives of the memory while it is sampled, and nmem numbers more */
    lg_arena arena;
    lg_arena back, inside; /* memory of `before`, and of `between` and `dense`, in runs that need them */
    lg_option_value *options; /* a copy */
    lg_held held; /* its system is that of a run whose steps can be under held forces */
    double *force, *force_before; /* room for these forces, and for those before a step that fails; nv each */
} lg_run;

/* Where a run begins. carry NULL: a fresh start from q and v (consistent a and lam are computed) and a guess of the
   memory (NULL: zero); otherwise all parts and carry resume a run. */
typedef struct lg_start {
    double t;
    const double *part[LG_PARTS];
    const double *carry;
    int ncarry; /* length of carry */
    int checked; /* of a fresh start: the caller knows that the state violates the constraints, and by how much */
    int kept; /* the same: its memory is that of a run, and no guess */
    int changed; /* the parameters of the system have changed since that run: its data jump at t, as at a kink */
} lg_start;

/* What a run is opened with. System and plans must outlive the run; it copies all else. */
typedef struct lg_setup {
    const lg_system *system;
    lg_plans plans; /* of the system, for the couplings that lg_stepper_needs names for the method's stepper */
    const lg_method *method;
    const lg_option_value *options; /* method->options->nvalues values */
    lg_start start;
    int nparameters; /* by which the run is differentiated: those of system->sensitivity, or of the start alone */
    const double *dq, *dv; /* derivatives of its start, nv for each parameter */
    int backwards; /* they are found afterwards, by adjoints of its steps; it has none of its own */
    int holds; /* whether steps can be under held forces; the run must then stay where it is */
} lg_setup;

/* Numbers of sampled memory that count as parameters, behind the others, when these are found backwards. */
int lg_held_back(const lg_setup *setup);
/* On failure `report` says why, and the run is closed. */
lg_status lg_run_open(lg_run *run, const lg_setup *setup, lg_report *report);
void lg_run_close(lg_run *run);
int lg_run_carry_count(const lg_run *run);
/* Numbers at the front of the carry that results hold of every state; 0 if the run could not be opened. */
int lg_run_extra_count(const lg_run *run);

/* Numbers of the curve that the stepper writes of every step; 0: dense output follows from both ends. */
int lg_run_curve_count(const lg_run *run);

/* One accepted step of size h; ignores kinks. If it fails and may be halved, only a part of it is taken: h/2, h/4, and
   so on. *done is the part of h that has been taken before, 1 at the end of the step. The next part, or step, is at
   most twice as large. On failure the state is as before the call and `report` is filled. */
lg_status lg_run_step(lg_run *run, double h, double *done, lg_report *report);
/* Sets run->error to the error of what lg_run_step has just taken from `before`. On failure as above. */
lg_status lg_run_estimate(lg_run *run, lg_report *report);
/* Chooses the active rows of closed loops again at the present state. If they change, the report is emptied; if not, it
   stays as it is. */
lg_status lg_run_choose_rows(lg_run *run, int *changed);
/* Continues with other active rows. Their multipliers differ, so predictors begin anew, as at a kink, and the state
   moves onto these rows, from which steps may have drifted while other rows only implied them. Methods that pass kinks
   do not drift, and keep their history, which has no multipliers. */
lg_status lg_run_begin_with_rows(lg_run *run);
/* Chooses the active rows of closed loops again if their pivots have become small in the last accepted step; the state
   then moves onto the new rows and gets new multipliers. lg_run_adapt does so itself. */
lg_status lg_run_renew_rows(lg_run *run);
/* LG_CONTRADICTORY, with a row's name in the stepper's report, if inactive rows of closed loops are violated in a
   state, and active ones are not. */
lg_status lg_run_check_rows(lg_run *run, const lg_state *state);
/* One accepted step with error control towards a landing; state.t becomes the landing's if the step ends there. */
lg_status lg_run_adapt(lg_run *run, double landing, lg_report *report);

/* Moves the state onto the constraints of position and velocity. */
lg_status lg_run_project(lg_run *run);
/* Renews what is sampled at the present time. */
lg_status lg_run_sample(lg_run *run);
/* Gives the state consistent accelerations and multipliers, from the data just after `past`, and clears the history of
   the stepper. */
lg_status lg_run_restart(lg_run *run, double past);
/* Takes the memory for the state before a step and `kept` values of its carry, unless the run has it already. Runs with
   tolerances have it from the start, with the whole carry. */
lg_status lg_run_look_back(lg_run *run, int kept);
/* before := state. After lg_run_look_back. */
void lg_run_keep(lg_run *run);
/* Copies the counts of the solver of accelerations to those of the run. */
void lg_run_count_work(lg_run *run);
/* Takes the memory for the states before and inside steps, unless the run has it already. */
lg_status lg_run_look_inside(lg_run *run);
/* The curve of the last step from `before`, NULL if there is none. After lg_run_look_inside. */
lg_status lg_run_curve(lg_run *run, const double **curve);
/* Writes the state at a time inside the last step from `before`, memory included, to `between`, with the part of the
   carry that results hold. After lg_run_look_inside. */
lg_status lg_run_between(lg_run *run, double t);
/* state := before, which must have the whole carry. */
void lg_run_return(lg_run *run);
/* Completes the stepper's report of a failed step of size h. */ void lg_run_report(lg_run *run, lg_status status,
                                                                                    double h, lg_report *report);

#endif
