/* The derivatives of a number by the parameters of a run, backwards in time: segment by segment, each from a state at
   which the run can be taken up. */
#ifndef LG_RUN_ADJOINT_H
#define LG_RUN_ADJOINT_H

#include "run/integrate.h"
#include "run/tape.h"

/* The derivatives of the number by the saved states, in rows of q, v, vdot, lam and sampled memory. */
typedef struct lg_adjoint_rows {
    int count; /* those that have not been added yet; the last one is the next */
    const double *t, *values;
} lg_adjoint_rows;

typedef struct lg_adjoint {
    const lg_setup *setup; /* its start is the state at which the segment begins */
    const lg_schedule *schedule; /* of the whole run */
    long steps; /* of the segment; 0: there is only its start, and nothing else happens */
    const lg_tape *tape; /* of the whole run; NULL: the steps are taken once more */
    long before; /* steps on the tape before those of the segment */
    int cut; /* an event has cut its last step: `state` belongs to the end of the whole step */
    int first; /* its start is one of the run, or one that an event has given it: a and lam follow from q and v */
    lg_adjoint_rows *rows;
    double *state; /* derivatives by the state at the end of the segment, those of a row and of the stepper's carry; in
                      place by its start. NULL: zero; they are allocated as needed. The caller frees them */
    int nstate; /* their number; those that are missing on the way in are zero */
    double *gradient; /* by the parameters; is added to */
    lg_status (*poll)(void *self, double t);
    void *self;
} lg_adjoint;

/* On failure the report says why. */
lg_status lg_adjoint_go_back(lg_adjoint *adjoint, lg_report *report);

#endif
