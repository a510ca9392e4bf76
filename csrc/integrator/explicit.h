/* What explicit Runge-Kutta methods share: their options, the nonzero weights of a tableau, and the slopes of a step's
   stages with their combinations.

   A stage has two slopes of nv values each: K, the rate of the local coordinates theta, and k, the acceleration. */
#ifndef LG_INTEGRATOR_EXPLICIT_H
#define LG_INTEGRATOR_EXPLICIT_H

#include "integrator/options.h"
#include "integrator/stepper.h"

typedef struct lg_explicit_options {
    lg_option_value project;
    lg_control_options control; /* for methods with an embedded solution */
} lg_explicit_options;

/* The levels onto which the end of each step is projected: as given, or by default both if steps adapt and none
   otherwise; none without constraints. */
int lg_explicit_levels(const lg_stepper *self);

/* The nonzero weights of a row of the tableau, the stages they belong to and the number of stages they reach over. */
typedef struct lg_weights {
    int count, reach, stage[LG_STAGES];
    double weight[LG_STAGES];
} lg_weights;

lg_weights lg_weights_of(int stages, const lg_ratio *row);

typedef struct lg_slopes {
    const lg_space *space;
    double *K; /* per stage: K (nv), k (nv) */
    double *zero; /* nv */
    double *flow; /* per stage: q' (nq) of the blocks whose rates are added to q; NULL if there are no such blocks */
} lg_slopes;

/* Room for the slopes of `count` stages. */
void lg_slopes_layout(lg_slopes *slopes, const lg_space *space, int count, lg_arena *arena);

static inline double *lg_slopes_at(const lg_slopes *slopes, int stage)
{
    return slopes->K + 2L * slopes->space->nv * stage;
}

/* The first stage: the state's velocities and its accelerations. */
void lg_slopes_begin(lg_slopes *slopes, const lg_state *state);
/* theta = h sum of weighted K, v = v_n + h sum of weighted k. */
void lg_slopes_advance(const lg_slopes *slopes, const lg_weights *weights, double h, const double *vn, double *theta,
                       double *v);
/* result = start (NULL: zero) + h sum of weighted slopes: `n` of a stage's 2 nv values, from the value `from` on. */
void lg_slopes_combine(const lg_slopes *slopes, const lg_weights *weights, double h, int from, int n,
                       const double *start, double *result);
/* For blocks whose rates are added to q: stores q' at (q, v) as that of stage `stage`; q = q_n + h sum of weighted
   rates. */
void lg_slopes_write_flow(lg_slopes *slopes, int stage, const double *q, const double *v);
void lg_slopes_sum_flows(const lg_slopes *slopes, const double *qn, const lg_weights *weights, double h, double *q);

/* The same, for systems that may have no such block. */
static inline void lg_slopes_set_flow(lg_slopes *slopes, int stage, const double *q, const double *v)
{
    if (slopes->flow)
        lg_slopes_write_flow(slopes, stage, q, v);
}

static inline void lg_slopes_add_flows(const lg_slopes *slopes, const double *qn, const lg_weights *weights, double h,
                                       double *q)
{
    if (slopes->flow)
        lg_slopes_sum_flows(slopes, qn, weights, h, q);
}

/* What the way back keeps of the slopes of `stages` stages: so many numbers, which can be taken back. */
int lg_slopes_count(const lg_slopes *slopes, int stages);
void lg_slopes_keep(const lg_slopes *slopes, int stages, double *kept);
void lg_slopes_take(lg_slopes *slopes, int stages, const double *kept);

#endif
