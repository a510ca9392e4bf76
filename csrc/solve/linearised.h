/* The equations linearised at a point: products of the derivatives of their terms with derivatives of a state, and the
   terms' own derivatives by parameters. Derivatives of states are left-trivialised, one column for each parameter. */
#ifndef LG_SOLVE_LINEARISED_H
#define LG_SOLVE_LINEARISED_H

#include "solve/accel.h"
#include "system/sensitivity.h"

typedef struct lg_linearised {
    lg_accel *accel; /* for the same system; set it and the plan before lg_linearised_layout */
    const lg_plan *plan; /* for LG_COUPLING_TANGENTS */
    int wants_Z; /* whether lg_linearise writes Z */
    lg_matrix K, D; /* d(M a + gyro - force + B^T lam)/d(q, v) */
    double *B, *Z; /* at the point, Z = d(phidot)/dq */
    lg_chain *of_q, *of_v; /* those of K and D */
    lg_turning_blocks turning; /* where both are zero but for rotations */
    int has_rows; /* whether these are of the point that was linearised last: */
    double *rows_of_q, *rows_of_v; /* derivatives of B a - zeta, with the layout of B */
    const double *held; /* derivatives of the memory by parameters, system->nmem each; NULL: it has none */
    int nparameters; /* on the way back numbers of the memory follow these, as parameters of the forces */
    double *mem; /* a memory beside that of a point */
    double *step; /* the map of the memory through a step, memory.h; NULL: it changes nothing smoothly */
    double *early; /* room for the adjoint of q and v at the start of the step */
    double *work; /* scratch for derivatives by parameters */
    double *force, *phi, *phidot; /* derivatives by a parameter: minus that of M a + gyro - force + B^T lam, of rows */
    double *value, *now, *rest, *best; /* of derivatives by differences: as many numbers as 2 nv or nrows */
    double *term, *rows; /* room for a term and for the zetas, or other rows, of a point */
    double *x, *y; /* nv + nrows each */
    double *q, *v, *theta; /* of a displaced point */
    int *colour, *group; /* of blocks, -1: none yet; room for a flag of each group */
} lg_linearised;

/* Whether the derivatives of the rows of accelerations have a closed form. */
static inline int lg_linearised_knows_rows(const lg_linearised *l)
{
    const lg_sensitivity *sensitivity = l->accel->system->sensitivity;
    return sensitivity && sensitivity->acceleration_rows;
}

void lg_linearised_layout(lg_linearised *l, lg_arena *arena);

/* K, D, B and Z at a point that has a and lam; adds to the matrix of `also` as well (NULL: none). */
lg_status lg_linearise(lg_linearised *l, const lg_point *point, const lg_tangent *also);
/* The same in one pass with whatever else is wanted there. */
lg_status lg_linearise_with(lg_linearised *l, const lg_point *point, const lg_tangent *also, const lg_wanted *wanted);
/* The same, with M at the point, unless it is kept, in the solver's matrix, as by lg_accel_assemble. */
lg_status lg_linearise_with_masses(lg_linearised *l, const lg_point *point, lg_report *report);
/* The same, with [M B^T; B 0] at the point, factored. */
lg_status lg_linearise_and_factor(lg_linearised *l, const lg_point *point, lg_report *report);
/* out += s (K dq + D dv) */
void lg_linearised_forces(lg_linearised *l, double s, const double *dq, const double *dv, double *out);
/* What is wanted at a point by parameter k: zeros if the system does not depend on parameters. */
lg_status lg_linearised_differentiate(lg_linearised *l, const lg_point *point, int k, const lg_wanted *wanted);
/* gradient += s times the weighted sums of the terms' derivatives by the first `count` parameters at a point. */
lg_status lg_linearised_weigh(lg_linearised *l, const lg_point *point, int count, const lg_term_weights *weights,
                              double s, double *gradient);
/* gradient -= those of the index-1 equations with the weights of their rows (NULL: zeros), at a point with its a and
   lam. */
lg_status lg_linearised_subtract_shares(lg_linearised *l, const lg_point *point, int count, const double *forces,
                                        const double *rows, double *gradient);
/* The derivatives of what is sampled at a point, by parameter k along (dq, dv) and along those of the memory before it,
   by differences; all that is not due keeps its own. `room` has nmem numbers. */
lg_status lg_linearised_sample(lg_linearised *l, const lg_point *point, int k, const double *dq, const double *dv,
                               double *room, double *dmem);
/* The transposed map: from the adjoint of the memory after the sample, from memory.first_held on, to that before it,
   in place, and to that of q and v, which it adds. `room` has twice nmem numbers. */
lg_status lg_linearised_sample_adjoint(lg_linearised *l, const lg_point *point, double *room, double *mem, double *q,
                                       double *v);
/* l->force, phi and phidot by parameter k at a point, with the share of what memory holds. */
lg_status lg_linearised_terms(lg_linearised *l, const lg_point *point, int k);
/* out (nv) = d(B^T lam)/dp for parameter k at a point, of which t, q and lam count. */
static inline lg_status lg_linearised_reaction(lg_linearised *l, const lg_point *point, int k, double *out)
{
    return lg_linearised_differentiate(l, point, k, &(lg_wanted){.Btlam = out});
}

/* rows (nrows) -= the derivative of B a - zeta at a point that has been linearised, with its a, for parameter k along
   (dq, dv). Z is lost. */
lg_status lg_linearised_subtract_rows(lg_linearised *l, const lg_point *point, int k, const double *dq,
                                      const double *dv, double *rows);
/* The derivatives of the accelerations and multipliers of the index-1 equations at a point that has been linearised,
   with its a and lam, and whose matrix lg_accel_factor has factored. Z is lost. */
lg_status lg_linearised_accelerations(lg_linearised *l, const lg_point *point, int k, const double *dq,
                                      const double *dv, double *da, double *dlam);

/* The transposed map for `count` parameters, where that matrix has been factored: from the adjoint of accelerations and
   multipliers (NULL: zero) to that of q and v, which it adds to q and v, with the share of each parameter, added to
   `gradient`. Z is lost, and the solver's x. */
lg_status lg_linearised_accelerations_adjoint(lg_linearised *l, const lg_point *point, int count, const double *a,
                                              const double *lam, double *q, double *v, double *gradient);
/* Subtracts w.d(B a - zeta)/d(q, v) for w (nrows) at such a point from q and v. Z is lost. */
lg_status lg_linearised_subtract_rows_adjoint(lg_linearised *l, const lg_point *point, const double *w, double *q,
                                              double *v);
/* Adds s times the derivatives of w.(Z turn) by q and v to those, for fixed w (nrows) and turn (nv). Z is lost. */
lg_status lg_linearised_turned_adjoint(lg_linearised *l, const lg_point *point, double s, const double *turn,
                                       const double *w, double *q, double *v);
/* out += s K^T w and out += s D^T w for w (nv). */
void lg_linearised_forces_adjoint(lg_linearised *l, double s, const double *w, double *of_q, double *of_v);

#endif
