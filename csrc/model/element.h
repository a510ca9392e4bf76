/* An element is what acts on frames: a row of elements.def (or joints.def) with the verbs it has. NULL: it has none of
   that verb. Kernels speak frame space only (poses, twists, wrenches); assemble.c maps them to blocks. The one exception
   is inertia, which acts on the velocities of one block. */
#ifndef LG_MODEL_ELEMENT_H
#define LG_MODEL_ELEMENT_H

#include "model/frame.h"
#include "model/model.h"

enum { LG_MAX_ROWS = 6 };

typedef struct lg_element_type lg_element_type;

typedef struct lg_element {
    const lg_element_type *type;
    const char *name;
    const lg_frame_place *frame[2];
    const lg_block *block; /* under its first frame; NULL: the ground */
    const double *p; /* parameters, in the order of the descriptors */
    int np;
    lg_time_function function;
    lg_law law;
    int clique; /* of its two blocks, or -1 where they do not couple */
    int row, value[2], mem; /* first constraint row; per frame its part of the values of B; its place in mem */
    int work; /* its place in the scratch */
    int nrows, kept[LG_MAX_ROWS]; /* constraint rows that the model has, by their numbers in the type */
} lg_element;

/* Wrenches on the element's frames and, if `linear` is asked for, their derivatives: dw_i = K_ij dpose_j + D_ij dtwist_j.
   6 x 6, column-major. has_K, has_D: something was written (all four blocks then are). */
typedef struct lg_load {
    double w[2][6];
    int has_K, has_D;
    double K[2][2][36], D[2][2][36];
} lg_load;

/* Constraint rows in frame space. Row-major: row i of J[s] is J[s] + 6 i. */
typedef struct lg_rows {
    double phi[LG_MAX_ROWS];
    double J[2][6 * LG_MAX_ROWS]; /* d phi/d pose = d phidot/d twist */
    double Jdot[LG_MAX_ROWS]; /* (dJ/dt) twist + explicit time terms */
    double Z[2][6 * LG_MAX_ROWS]; /* d(J twist)/d pose */
    int has_K;
    double K[2][2][36]; /* d(J_i^T lam)/d pose_j, column-major */
} lg_rows;

enum { LG_ROWS_RATE = 1, LG_ROWS_Z = 2, LG_ROWS_K = 4 }; /* beyond phi and J: Jdot, Z, K */

struct lg_element_type {
    const char *name, *doc, *reference;
    int nframes, nrows, nmem;
    const lg_parameter *parameters;
    int nparameters;
    const char *locked; /* joints: digits of the axes along which the points may not part; NULL: no joint */
    const void *data; /* what a family of rows shares a kernel over: a joint's mask */

    /* Parameters make sense? On failure a short reason. */
    lg_status (*check)(const lg_element *e, const char **reason);
    /* Does K or D link the two frames' blocks? NULL: no. */
    int (*couples)(const lg_element *e);
    lg_status (*force)(const lg_element *e, const lg_frame f[2], const lg_point *at, int linear, lg_load *out);
    /* Acts on a coordinate and not on frames: the one of the tree's joint under the frame. law: tau, d tau/dq, d tau/dq'. */
    lg_status (*coordinate)(const lg_element *e, const lg_point *at, double q, double v, int linear, double law[3]);
    double (*potential)(const lg_element *e, const lg_frame f[2]);
    void (*rows)(const lg_element *e, const lg_frame f[2], const double *lam, unsigned want, lg_rows *out);
    /* What row `row` of the type holds. NULL: its number must do. */
    const char *(*row_label)(const lg_element *e, int row);
    /* Adds M a, gyro and their tangent for the block under frame 0; S NULL: no tangent. */
    void (*inertia)(const lg_element *e, const lg_block *block, const lg_point *at, const lg_wanted *wanted,
                    const lg_chain *chain, double *S, int ld);
    double (*kinetic)(const lg_element *e, const lg_block *block, const lg_point *at);
    double (*next_kink)(const lg_element *e, double t);
    void (*commit)(const lg_element *e, const lg_frame f[2], double *mem);

    /* Carriers of many frames on one block: the kind of these, how many parts they may sit on, the scratch needed. `carry` is
       the kinematics pass that comes before anything else; `gather` adds to the block's `force` what has been pressed on the
       frames (sum 0: forces, 1: reactions), once per pass. */
    const lg_frame_kind *frame;
    int (*parts)(const lg_element *e);
    int (*nwork)(const lg_element *e);
    void (*carry)(const lg_element *e, const lg_point *at);
    void (*gather)(const lg_element *e, const lg_point *at, int sum, double *force);
    /* The same for lg_frame_add_geo, into the block's part of S. */
    void (*gather_geo)(const lg_element *e, const lg_point *at, const lg_chain *chain, double *S, int ld);
    /* After a pass with forces and reactions, gathered: force and moment (inertial) that hold a part in its joint. */
    void (*transmit)(const lg_element *e, const lg_point *at, int part, double wrench[6]);
};

#define LG_ELEMENT(symbol) extern const lg_element_type symbol;
#define LG_JOINT(symbol, name, translations, pairs, npairs, angle, doc) extern const lg_element_type symbol;
#include "model/elements.def"
#include "model/joints.def"
#undef LG_ELEMENT
#undef LG_JOINT

extern const lg_element_type *const lg_element_types[]; /* ends with NULL */
const lg_element_type *lg_element_find(const char *name);

/* out: row-major 3 x 3 s A into the 3 x 3 block (row, col) of a column-major 6 x 6. Adds. */
static inline void lg_add_block3(double s, const double A[9], int row, int col, double *out)
{
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++)
            out[(col + j) * 6 + row + i] += s * A[3 * i + j];
}

#endif
