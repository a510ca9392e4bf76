/* Where a system is evaluated, and what is wanted there: the argument and the results of lg_system.eval. */
#ifndef LG_SYSTEM_POINT_H
#define LG_SYSTEM_POINT_H

#include "group/space.h"
#include "sparse/matrix.h"

#include <math.h>

/* The memory of a system as it was left at some point, this one or an earlier one. */
typedef struct lg_memory {
    const double *values; /* system->nmem */
    double age; /* the time since that point */
    const double *theta; /* the displacement since that point, in local coordinates (nv); NULL: age v */
} lg_memory;

typedef struct lg_point { /* where to evaluate; begins with lg_point_at */
    double t; /* time */
    double t_in; /* a time inside the step, which picks the piece of piecewise data */
    double wa; /* weight of M a in the residual */
    double load; /* factor of all loads and of gravity; 1 in all dynamics, other values in statics only */
    const double *q, *v, *a, *lam; /* a and lam may be NULL where nothing wanted depends on them */
    lg_memory mem;
    double *work; /* scratch of system->nwork doubles, whose contents do not outlive a call unless same_q is set */
    int same_q; /* t, q and work as in the previous evaluation, which wanted rows; what follows from q is reused */
} lg_point;

/* A point at t, q, v with everything else at its default: every point begins here. */
static inline lg_point lg_point_at(double t, const double *q, const double *v)
{
    return (lg_point){.t = t, .t_in = t, .wa = 1, .load = 1, .q = q, .v = v};
}

/* A point of the dynamics at t that uses the piecewise data just after t. */
static inline lg_point lg_point_after(double t, const double *q, const double *v, const double *mem)
{
    lg_point point = lg_point_at(t, q, v);
    point.t_in = nextafter(t, INFINITY);
    point.mem.values = mem;
    return point;
}

typedef struct lg_tangent { /* S += d(wa Ma + gyro - force + Btlam)/du */
    lg_matrix *S; /* which the caller zeroed */
    const lg_chain *chain; /* one per block; NULL: d(q, v, a)/du = (0, 0, I), so that S = wa M */
} lg_tangent;

typedef struct lg_wanted { /* what to evaluate (NULL: not wanted), in one kinematics pass; outputs are overwritten */
    double *Ma, *gyro, *force, *Btlam; /* nv each */
    double *phi, *phidot, *zeta; /* nrows each */
    double *B, *Z; /* pattern->nvalues each; Z = d(phidot)/dq has the layout of B */
    const lg_tangent *tangent; /* any number of them, each along chains of its own; those without chains come last */
    int ntangents;
} lg_wanted;

/* Whether any tangent needs more than the mass. */
static inline int lg_wants_slopes(const lg_wanted *want)
{
    return want->ntangents > 0 && want->tangent->chain;
}

/* How many tangents need more than the mass. A matrix of the others may lack the blocks that couple bodies. */
static inline int lg_count_slopes(const lg_wanted *want)
{
    int count = 0;
    while (count < want->ntangents && want->tangent[count].chain)
        count++;
    return count;
}

#endif
