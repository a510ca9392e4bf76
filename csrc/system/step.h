/* A step between two states, for methods that solve for its end: optional functions of a system. The methods in
   integrator/conserve use them; held.c passes them on, and probe.c evaluates them outside of runs. */
#ifndef LG_SYSTEM_STEP_H
#define LG_SYSTEM_STEP_H

#include "system/system.h"

/* How gradients of potentials and rows are taken in a step. */
typedef enum lg_gradients {
    /* Discrete: their product with the step is the change of the function. */
    LG_GRADIENTS_DISCRETE, /* along the motion of bodies against each other, so that momenta are kept too */
    LG_GRADIENTS_DISCRETE_PRINTED, /* along q1 - q0, as in kinon2024 (71) */
    /* Those at the middle. */
    LG_GRADIENTS_MIDPOINT, /* rows are in the axes of bodies */
    LG_GRADIENTS_MIDPOINT_PRINTED, /* attitudes at the middle are not normalised */
    LG_GRADIENTS_COUNT
} lg_gradients;

/* All of them, with the ends of the names of their functions. */
#define LG_EACH_GRADIENTS(X)                                                                                           \
    X(discrete, LG_GRADIENTS_DISCRETE)                                                                                 \
    X(discrete_printed, LG_GRADIENTS_DISCRETE_PRINTED)                                                                 \
    X(midpoint, LG_GRADIENTS_MIDPOINT) X(midpoint_printed, LG_GRADIENTS_MIDPOINT_PRINTED)

/* How v1 and p1 follow from q1 in a step: from T(q, v) with v1 = 2 (q1 - q0)/h - v0, or from the co-energy T*(q, p)
   with v1 = M^-1 p1. In the steps with LG_GRADIENTS_DISCRETE bodies turn by Cayley vectors. Quaternions have further
   forms of T* off the unit sphere; all other systems have one. */
typedef enum lg_kinetics {
    LG_LIVENS_CAYLEY,
    LG_LIVENS_DISCRETE,
    LG_LIVENS_MIDPOINT,
    LG_HAMILTON_CAYLEY,
    LG_HAMILTON_DISCRETE,
    LG_HAMILTON_MIDPOINT,
    LG_HAMILTON_POLYNOMIAL,
    LG_HAMILTON_PUBLISHED,
    LG_KINETICS_COUNT
} lg_kinetics;

typedef struct lg_pair {
    double t, h; /* start and size of the step */
    const double *q0, *q1; /* both ends */
    const double *v0, *p0; /* velocities and momenta at the start */
    const double *lam, *mem;
    double *work; /* scratch, whose contents do not outlive a call unless same_start is set */
    /* t, h, q0, mem, gradients and work as in the previous call; what follows from the start is reused. */
    int same_start;
} lg_pair;

typedef struct lg_pair_wanted { /* NULL: not wanted; outputs are overwritten */
    double *force,
        *Gtlam; /* nv each: minus the gradient of the potential plus all other forces, at the middle; G^T lam */
    double *phi; /* nrows, at q1 */
    double *G, *B; /* pattern->nvalues each: gradients of the rows in the step; B at q1 */
    double *noise; /* the round-off of force and Gtlam beyond that of their terms, a single number */
    const char **turned; /* what turns by half a turn or more, where the step is not defined; NULL: nothing does */
    lg_matrix *S; /* d(-force + G^T lam)/du is ADDED to a matrix the caller zeroed */
    const lg_chain *chain; /* dq1/du, one per block; for S */
} lg_pair_wanted;

typedef struct lg_kinetic_wanted {
    double *v1, *p1; /* nv each: velocities and momenta at the end */
    double *slope; /* nv: the derivative of the kinetic energy by q in the step */
    double *dp1; /* d(p1)/dq1, one matrix per block at dp1 + block->m; wanted with S only */
    lg_matrix *S; /* d(p1/h - slope)/du is ADDED */
    const lg_chain *chain;
} lg_kinetic_wanted;

struct lg_steps {
    size_t (*nwork)(void *self); /* doubles of scratch that every pair must bring */
    /* What is not kinetic energy, by the gradients that are asked for. */
    lg_status (*pair[LG_GRADIENTS_COUNT])(void *self, const lg_pair *pair, const lg_pair_wanted *wanted);
    lg_status (*kinetic)(void *self, lg_kinetics kinetics, const lg_pair *pair, const lg_kinetic_wanted *wanted);
    /* The first block that has no step by these rules; -1: there is none, and the others may be called. */
    int (*without_step)(void *self, lg_gradients gradients, lg_kinetics kinetics);
};

static inline int lg_is_livens(lg_kinetics kinetics)
{
    return kinetics <= LG_LIVENS_MIDPOINT;
}

#endif
