/* What bodies, forces and joints have in common: a row of their family's table, a name, parameters and frames. */
#ifndef LG_MODEL_ELEMENT_H
#define LG_MODEL_ELEMENT_H

#include "model/frame.h"
#include "model/model.h"

/* Const data of the model. What most evaluations read is at the end, as the records of bodies, forces and joints begin
   with an element and go on with what these read. */
typedef struct lg_element {
    const lg_element_info *info;
    const char *name;
    lg_time_function function;
    lg_law law;
    size_t value; /* position in the scratch of the values of a control that it takes */
    /* Of a contact whose parameters or frames are a little different from those of a model: position in the scratch of
       the reference (contact.h) on whose branch it stays, to the first order; 0: it has none. */
    size_t reference;
    /* Where its memory begins in mem: info->nmem values of its function `commit`. A version may append values to
       them; in a file of an older one the new values are zero, and `commit` completes them at the saved state as at a
       start. */
    int mem;
    int np;
    const double *p; /* parameters, in the order of the descriptors */
    long matrix_block[2][2]; /* of the blocks under its frames in S; those of two blocks if they couple */
    const lg_frame *frame[2];
    unsigned traits; /* what its row has found out about the parameters, in bits of the row's own */
} lg_element;

/* The last parameter of an element that takes values of a control. */
#define LG_CONTROL_VALUE                                                                                               \
    {"value", "", "number of its first value among those of all controls", LG_SCALAR, .valid = LG_NONNEGATIVE}

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

/* Functions of memory. */
typedef struct lg_element_memory {
    const double *(*triads)(const lg_element *e); /* two triads, as turn.h has them, whose angle it is */
    /* Updates memory of any other kind as the waist's function `commit` does, where its frames are at the end of the
       step. */
    lg_status (*commit)(const lg_element *e, const lg_pose *const f[2], const lg_point *from, const lg_point *to,
                        double *mem, lg_report *report);
} lg_element_memory;

/* The poses of its frames; NULL: it has no such frame. */
static inline void lg_element_poses(const lg_element *e, const lg_point *at, const lg_pose *pose[2])
{
    for (int s = 0; s < 2; s++)
        pose[s] = e->frame[s] ? lg_pose_of(e->frame[s], at) : NULL;
}

/* Whether both ends are on bodies that move. */
int lg_element_between(const lg_element *e);

/* The function `on_point` of elements that act on points whatever their parameters are. */
int lg_element_on_point(const lg_element *e, int end);

/* Largest number of velocities of a block for which elements use arrays on the stack. */
enum { LG_MAX_NV = 7 };

/* The chain of a block; d(q, v, a)/du = (0, 0, I) if the caller gave none. */
static inline const lg_chain *lg_chain_of(const lg_tangent *to, int block)
{
    static const lg_chain mass = {{0, 0, 1}, {NULL, NULL, NULL}};
    return to->chain ? &to->chain[block] : &mass;
}

#endif
