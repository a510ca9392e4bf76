/* The strain of a rod's edge and what follows from it; formulas in rod_strain.c. */
#ifndef LG_MODEL_ROD_STRAIN_H
#define LG_MODEL_ROD_STRAIN_H

#include "group/semidirect.h"
#include "model/joint/joint.h"
#include "model/joint/rod_turn.h"
#include "model/source.h"

enum { AXES, LENGTH = 18, STIFFNESS, DAMPING = STIFFNESS + 36, SOURCE = DAMPING + 6, DATA }; /* places of parameters */

/* What follows from the relative pose; it is kept in the scratch for evaluations at the same q. */
typedef struct lg_relation {
    double xi[6]; /* (U, Omega) */
    lg_cotangent x; /* of |Omega| */
} lg_relation; /* numbers only */

typedef struct lg_strained {
    const double *axes[2]; /* directors in body axes; NULL: the body's own axes */
    const double *d[2]; /* directors, inertial */
    double room[2][9]; /* for d */
    const lg_relation *r;
    double A[9], C[9]; /* of T_+ and T_- */
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

/* Whether the reference of constrained strains may change. */
static inline int lg_edge_drives_rows(const lg_element *e)
{
    return e->info->nrows && e->p[SOURCE] == LG_SOURCE_FUNCTION;
}

/* s = C (w - w0), all six of them */
static inline void lg_edge_stress(const lg_element *e, const double difference[6], double *restrict s)
{
    const double *C = e->p + STIFFNESS;
    for (int i = 0; i < 6; i++)
        s[i] = C[i] * difference[0] + C[6 + i] * difference[1] + C[12 + i] * difference[2] + C[18 + i] * difference[3] +
               C[24 + i] * difference[4] + C[30 + i] * difference[5];
}

/* Sections and reference strain at the poses of both frames, without the strain itself. */
lg_status lg_edge_open_sections(const lg_element *e, const lg_pose *const f[2], const lg_point *at, lg_strained *k);
/* The same with the strain. r: the relation, which is computed here unless it is `known`. */
lg_status lg_edge_open(const lg_element *e, const lg_pose *const f[2], const lg_point *at, lg_relation *r, int known,
                       lg_strained *k);
/* The rotation vector of the reference strain, and the rate of the rotation after lg_edge_open_motion. */
void lg_edge_reference_turn(const lg_element *e, const lg_strained *k, double omega[3]);
void lg_edge_turn_rate(const lg_strained *k, double rate[3]);
/* y, then xi' = Y y; the linear part of Y y alone. */
void lg_edge_open_motion(const lg_pose *const f[2], lg_strained *k);
void lg_edge_open_rate(lg_strained *k);
void lg_edge_linear_rate(const lg_strained *k, const double y[9], double rate[3]);
/* The nine relative velocities, or accelerations. */
void lg_edge_relative(const lg_strained *k, const double *const x[2], const double *const omega[2], double y[9]);

/* w - w0, zero where constrained; the stress, likewise, with that of damping if it is `damped`. */
void lg_edge_strain_difference(const lg_element *e, const lg_strained *k, double difference[6]);
void lg_edge_set_stress(const lg_element *e, const lg_strained *k, int damped, double s[6]);
/* Y^T s: forces on the nine motions; these as wrenches on both frames. */
void lg_edge_forces(const lg_strained *k, const double s[6], double out[9]);
void lg_edge_on_frames(const lg_strained *k, const double nine[9], double w[2][6]);
/* The columns of Y, and those of d(Y y) by the nine motions of the poses at constant twists. */
void lg_edge_columns(const lg_strained *k, double Y[9][6]);
void lg_edge_rate_columns(const lg_strained *k, const double Y[9][6], double Q[9][6]);

#endif
