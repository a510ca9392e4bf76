/* Declarations that the derivatives of a step of Radau IIA methods and their adjoint share; private to them. */
#ifndef LG_INTEGRATOR_RADAU_SLOPES_H
#define LG_INTEGRATOR_RADAU_SLOPES_H

#include "group/moves.h"
#include "integrator/radau/step.h"
#include "integrator/sensitivities.h"
#include "solve/follow.h"

/* A stage, and its derivatives by the present parameter, or their adjoint: see adjoint.c. */
typedef struct lg_radau_stage_slopes {
    lg_moves moves;
    lg_matrix K, D, M; /* of its force rows by q, v and a */
    lg_matrix matrix;
    double *X; /* of its chains */
    double *B, *Z;
    double *known; /* nv + nrows: the right-hand side without what changes from sweep to sweep */
    double *dK, *da, *old_K, *old_a; /* this sweep's, the last one's */
    double *dv, *dlam;
} lg_radau_stage_slopes;

struct lg_radau_slopes {
    lg_radau_stage_slopes stage[LG_RADAU_STAGES];
    lg_chain *chain, *of_q, *of_v, *of_a;
    lg_follower follower;
    double *x, *y; /* nv + nrows each */
    double *theta, *v; /* what is known of these in a sweep */
    double *dv0, *turn; /* nv each */
};

enum { LG_RADAU_MOST_SWEEPS = 100 };

/* How the changes by the sweeps of a step fall. It begins as zeros. */
typedef struct lg_radau_progress {
    double least; /* the least change so far */
    int sweeps, stuck; /* all of them, and the last ones in a row that have not halved it */
} lg_radau_progress;

/* Whether a sweep has changed its unknowns by round-off alone: by little beside the largest one, or by more that no
   longer falls, as it is where the condition of the matrices is bad. A sweep leaves 0.37 of the error at most. */
static inline int lg_radau_converged(lg_radau_progress *s, double change, double size)
{
    const double round_off = 1e-14, stagnant = 1e-11, most = 1e-6;
    enum { STUCK = 4 };
    s->stuck = s->sweeps++ && change >= 0.5 * s->least ? s->stuck + 1 : 0;
    s->least = s->sweeps == 1 ? change : fmin(s->least, change);
    return change <= round_off * size || (s->stuck && change <= stagnant * size) ||
           (s->stuck >= STUCK && change <= most * size);
}

/* The equations of all stages, linearised where they are, and their matrices, factored. */
lg_status lg_radau_form_slopes(lg_radau_stepper *r);

/* Functions of lg_radau_sensitivities. */
void lg_radau_layout_slopes(lg_stepper *self, lg_arena *arena);
void lg_radau_close_slopes(lg_stepper *self);
lg_status lg_radau_step_slopes(lg_stepper *self, const lg_state *before, const lg_state *after, double h,
                               const lg_sensitivities *s);

#endif
