/* What the two files of the edge of a rod share, formulas in rod.c; private to them. */
#ifndef LG_MODEL_JOINT_ROD_H
#define LG_MODEL_JOINT_ROD_H

#include "group/semidirect.h"
#include "model/joint/joint.h"

enum { AXES, LENGTH = 18, STIFFNESS, DAMPING = STIFFNESS + 36, SOURCE = DAMPING + 6, DATA }; /* places of parameters */

/* What follows from the relative pose; it is kept in the scratch for evaluations at the same q. */
typedef struct lg_relation {
    double xi[6]; /* (U, Omega) */
    lg_cotangent x; /* of |Omega| */
    double A[9], C[9];
} lg_relation; /* numbers only */

typedef struct lg_strained {
    const double *axes[2]; /* directors in body axes; NULL: the body's own axes */
    const double *d[2]; /* directors, inertial */
    double room[2][9]; /* for d */
    const lg_relation *r;
    double xidot[6], y[9]; /* the rate of xi, and the relative motion */
    const double *w0; /* the reference strain */
    double changing[18]; /* room for it and, where it may change constrained strains, for its first two derivatives */
} lg_strained;

/* c = A b, or b where A is NULL */
static inline void lg_out_of_section(const double *A, const double b[3], double c[3])
{
    if (A)
        lg_mul3(A, b, c);
    else
        lg_copy(3, b, c);
}

static inline int lg_edge_damped(const lg_element *e)
{
    const double *c = e->p + DAMPING;
    return c[0] != 0 || c[1] != 0 || c[2] != 0 || c[3] != 0 || c[4] != 0 || c[5] != 0;
}

/* s = C (w - w0), all six of them */
static inline void lg_edge_stress(const lg_element *e, const double difference[6], double s[6])
{
    lg_zero(6, s);
    for (int j = e->info->nrows; j < 6; j++) // the others are zero
        lg_axpy(6, difference[j], e->p + STIFFNESS + 6 * j, s);
}

/* Y^T s */
void lg_edge_forces(const lg_strained *k, const double s[6], double out[9]);
/* The columns of Y, and those of d(Y y) by the nine motions of the poses at constant twists. */
void lg_edge_columns(const lg_strained *k, double Y[9][6]);
void lg_edge_rate_columns(const lg_strained *k, const double Y[9][6], double Q[9][6]);

/* The derivatives by poses of the wrenches of Y^T sum, where sum holds the elastic stress s(w), but no damping. */
void lg_edge_stiffness(const lg_element *e, const lg_strained *k, const double sum[6], lg_quarters K[2][2]);
/* Adds the derivative of the wrenches of Y^T sum, sum = s + lam: rod_tangent.c. */
void lg_edge_tangent(const lg_joint *joint, const lg_strained *k, const double sum[6], const lg_point *at,
                     const lg_wanted *want);

#endif
