/* What bodies, forces and joints have in common: a row of their family's table, a name, parameters and frames. */
#ifndef LG_MODEL_ELEMENT_H
#define LG_MODEL_ELEMENT_H

#include "model/frame.h"
#include "model/model.h"

typedef struct lg_element { /* const data of the model */
    const lg_element_info *info;
    const char *name;
    const lg_frame *frame[2];
    const double *p; /* parameters, in the order of the descriptors */
    int np;
    lg_time_function function;
    lg_law law;
    int mem; /* its place in the memory */
} lg_element;

/* Blocks of a derivative: matrices 3 x 3, row-major. First letter: rows for force (X) or moment (R); second: columns
   for x or phi (or x' and omega). Only the blocks in `has` are written. */
enum { LG_XX, LG_XR, LG_RX, LG_RR };
typedef struct lg_quarters {
    unsigned has; /* bits 1 << LG_XX and so on */
    double A[4][9];
} lg_quarters;

/* A += s B in one quarter; a quarter that is not yet in `has` counts as zero. */
static inline void lg_quarters_add(lg_quarters *q, int which, double s, const double B[9])
{
    double *A = q->A[which];
    if (q->has >> which & 1) {
        lg_axpy(9, s, B, A);
        return;
    }
    for (int i = 0; i < 9; i++)
        A[i] = s * B[i];
    q->has |= 1u << which;
}

/* Wrenches on the element's frames and, if `linear` is asked for, dw_i = K_ij dpose_j + D_ij dtwist_j. */
typedef struct lg_load {
    double w[2][6];
    lg_quarters K[2][2], D[2][2];
} lg_load;

/* Whether this end is on a body that moves; whether both ends are. */
int lg_element_moves(const lg_element *e, int end);
int lg_element_between(const lg_element *e);

/* The verb `on_point` of elements that act on points whatever their parameters are. */
int lg_element_on_point(const lg_element *e, int end);

/* Largest number of velocities of a block for which the tangent of an element uses arrays on the stack. */
enum { LG_MAX_NV = 7 };
/* Values per velocity that a wider block needs at the beginning of the scratch instead: see tangent.c. */
enum { LG_TANGENT_ROOM = 5 * 6 };

/* S += s d(wrenches)/du on the blocks under the frames of an element, without the effect of arms that turn under
   constant wrenches, which bodies add when they gather the wrenches. K[i][j], D[i][j]: derivative of wrench i by pose
   and twist j. D NULL: none. clique: that of the two blocks, -1 if there is only one. */
void lg_tangent_add(const lg_element *e, int clique, const lg_point *at, const lg_wanted *want, double s,
                    const lg_quarters K[2][2], const lg_quarters D[2][2]);

/* The same for a force between the points of two frames, F on the second and -F on the first: dF = A dd + B dd'. */
void lg_tangent_add_between(const lg_element *e, int clique, const lg_point *at, const lg_wanted *want, double s,
                            const double A[9], const double B[9]);

/* The chain of a block; d(q, v, a)/du = (0, 0, I) if the caller gave none. */
static inline const lg_chain *lg_chain_of(const lg_wanted *want, int block)
{
    static const lg_chain mass = {{0, 0, 1}, {NULL, NULL, NULL}};
    return want->chain ? &want->chain[block] : &mass;
}

#endif
