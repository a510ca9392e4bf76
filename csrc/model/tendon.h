/* Elastic tendons. The pieces of a tendon (force/piece.c) follow one another in the description, and the first one has
   its parameters. With L the sum of their lengths and L0 that without tension,

       T = k (L - L0) + c L',   or 0 where L <= L0 or this is negative,   V = k (L - L0)^2/2 where L > L0.

   An evaluation writes T to the scratch right after the kinematics, where the pieces take it; the derivative of T,
   which couples all blocks under its pieces, is added here. */
#ifndef LG_MODEL_TENDON_H
#define LG_MODEL_TENDON_H

#include "model/private.h"

typedef struct lg_tendon { /* const data of the shape of a model */
    int npieces, *piece; /* forces, in order */
    int *member; /* per end of its pieces: the position of the block under it in `block`; -1: it is at rest */
    int nblocks, *block; /* the clique of all blocks under its pieces */
    int *first; /* per block: its first velocity among those of the clique */
    int nv; /* of the clique */
    long matrix_block; /* the first block of S of the clique */
    size_t tension, work; /* positions in the scratch: of T, and of lg_tendon_work doubles */
} lg_tendon;

/* Scratch of a tendon: generalized forces per unit of tension, and the derivatives of T. */
typedef struct lg_tendon_slopes {
    double *pull, *by_q, *by_v, *by_unknown, *along; /* in the velocities of the clique */
    double *H, *Z; /* of a frame */
} lg_tendon_slopes;
lg_tendon_slopes lg_tendon_open(const lg_model *m, const lg_tendon *tendon, double *work);

static inline const lg_force *lg_tendon_piece(const lg_model *m, const lg_tendon *tendon, int i)
{
    return &m->forces[tendon->piece[i]];
}

/* The tendon to which a force belongs as a piece; NULL: there is none. */
const lg_tendon *lg_tendon_of(const lg_model *m, const lg_force *force);
/* Its tension, length and rate. */
void lg_tendon_measure(const lg_model *m, const lg_tendon *tendon, const lg_point *at, double *tension, double *length,
                       double *rate);

/* Whether a force whose value is not finite is a piece of a tendon that has a place inside a pulley; the report says
   so. */
int lg_tendon_has_met(const lg_model *m, const lg_force *force, const lg_point *at, lg_report *report);

/* Takes the arrays from the arena of the shape, for `npieces` forces; fills them once the frames of elements are known,
   with the clique of each tendon. LG_BAD_ARGUMENT: a piece goes on where there is no tendon. */
void lg_tendons_layout(lg_model *m, int npieces, lg_arena *arena);
lg_status lg_tendons_fill(lg_model *m, lg_layout *layout, lg_report *report);

/* Writes the tension of all tendons, to be called where twists are known. */
void lg_tendons_pull(const lg_model *m, const lg_point *at);
/* Adds the derivatives of the forces by the tensions, with the motion of frames that `add_end` knows: it adds to the
   parts of a block what one end has of the forces, H^T u, and of the derivatives of T, dT for poses and c u for
   twists. */
typedef void lg_tendon_end(const lg_frame *f, const lg_point *at, const lg_wanted *want, const double u[6],
                           const double dT[6], double c, const lg_tendon_slopes *part);
void lg_tendons_add(const lg_model *m, const lg_point *at, const lg_wanted *want, lg_tendon_end *add_end);
lg_tendon_end lg_tendon_add_end; /* in forms where poses follow by H, and twists by H and Z */
double lg_tendons_energy(const lg_model *m, const lg_point *at);
/* The tension whose work from one length to the other is the change of the potential, with damping at the mean rate,
   and its derivative by L1. */
double lg_tendon_between(const lg_model *m, const lg_tendon *tendon, double L0, double L1, double h, double *slope);
/* S += s pull_i by_unknown_j for all blocks of the clique. */
void lg_tendon_add_product(const lg_model *m, const lg_tendon *tendon, const lg_tendon_slopes *slopes, double s,
                           const lg_tangent *to);
/* Refuses the end of a step where a tendon has left a pulley, by the angles in memory: on each circle it runs from
   where the piece before arrives to where the next one leaves, on a drum from or to e1, where it is fixed. */
lg_status lg_tendons_commit(const lg_model *m, const double *mem, lg_report *report);

#endif
