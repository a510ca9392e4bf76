/* A force exerts wrenches on frames or drives a coordinate of a tree. It is a row of forces.def with the functions that
   it has (NULL: it has none of this kind). Kernels see poses only and know no formulation. */
#ifndef LG_MODEL_FORCE_H
#define LG_MODEL_FORCE_H

#include "model/between.h"
#include "model/element.h"

typedef struct lg_force_type lg_force_type;

/* What a force sees of its frames: where they are in space, their distance, or the pose of one relative to the
   other. */
typedef enum lg_sees { LG_SEES_SPACE, LG_SEES_DISTANCE, LG_SEES_POSE } lg_sees;

typedef struct lg_force { /* const data of the model */
    lg_element e;
    const lg_force_type *type;
    int added_by_body; /* it is a dead load, which the body under its frame adds itself; such a force is in no span */
    const struct lg_reads *reads; /* read.h; NULL: it depends on its frames alone */
} lg_force;

typedef struct lg_forces { /* the forces of one row, without those that bodies add themselves */
    const lg_force *first, *end;
} lg_forces;

/* The force F on the second point, -F on the first, for their separation d and its rate, and with `linear` dF = A dd +
   B dd', row-major. */
typedef lg_status lg_between(const lg_element *e, const double d[3], const double ddot[3], int linear, double F[3],
                             double A[9], double B[9]);

struct lg_force_type {
    lg_element_info info;
    /* The functions `wrenches`, `between`, `all` and `coordinate` in other forms; NULL: they are the same there. */
    const lg_force_type *in[LG_FORM_COUNT];
    lg_sees sees;
    int needs_twists;
    int ignores_positions; /* its wrenches are the same wherever its frames are */
    /* At rest it follows from a potential that `potential` does not give; with the function `on_point`, where this is
       so. Forces along one coordinate, or of given size between two points, are derivatives of their own integrals. */
    int conserves;
    int dissipates; /* it vanishes at rest, so that it needs no potential */
    lg_status (*check)(const lg_element *e, const char **reason);
    /* Whether K or D couples the two blocks. NULL: no. */
    int (*couples)(const lg_element *e);

    /* Whether it depends only on the position of the frame's point at this end and exerts only a force there. NULL:
       only if it acts `between` points. */
    int (*on_point)(const lg_element *e, int end);

    /* The degree of its forces or of its moments in the attitude of the body on which they act, in the printed form,
       where attitudes are quadratic in Euler parameters (printed/load.h). NULL: 0. */
    int (*degree)(const lg_element *e, int moments);

    /* Whether it is a dead load, a force on the frame's point and a torque that are constant in inertial axes up to the
       load factor; if so, writes both. NULL: it is not. */
    int (*dead)(const lg_element *e, double wrench[6]);

    /* Writes w and, with `linear`, K and D, whose `has` are zero at first. */
    lg_status (*wrenches)(const lg_element *e, const lg_pose *const f[2], const lg_point *at, int linear, lg_load *out);
    lg_between *between; /* used instead of `wrenches` by forces between two points */
    /* Adds w of all forces of a row to the wrenches of their frames, and the tangent to S. NULL: a loop over
       `wrenches`. */
    lg_status (*all)(lg_forces forces, const lg_point *at, const lg_wanted *want);
    /* For forces on the coordinate of the tree's joint under the frame. law: tau, d tau/dq, d tau/dq'. */
    lg_status (*coordinate)(const lg_element *e, const lg_point *at, double q, double v, int linear, double law[3]);

    const struct lg_force_shares *shares; /* share.h; NULL: none */
    double (*potential)(const lg_element *e, const lg_pose *const f[2], const lg_point *at);
    double (*next_kink)(const lg_element *e, double t);
    const lg_element_memory *memory; /* NULL: it has none */
    const struct lg_shapes *shapes; /* of a contact: touch.h */
    const struct lg_coordinate_type *piece; /* of a piece of a tendon: its length, coordinate.h */
    /* Of forces on one coordinate: it, coordinate.h (NULL: that of a tree's joint), and the law on it, drive.h. */
    const struct lg_coordinate_type *along;
    const struct lg_law_type *law;
};

/* Whether its work at rest depends only on the ends of a path. */
int lg_force_has_potential(const lg_force *force);

#define LG_FORCE(symbol) extern const lg_force_type symbol;
#include "model/force/forces.def"
#undef LG_FORCE

/* Adds forces of a row without the function `all`, one by one. */
lg_status lg_force_all(const lg_force_type *type, lg_forces forces, const lg_point *at, const lg_wanted *want);

/* Adds forces of one row to the wrenches of their frames or to their coordinates, by the functions of `type`, which
   belong to some form. */
static inline lg_status lg_force_span(const lg_force_type *type, lg_forces forces, const lg_point *at,
                                      const lg_wanted *want)
{
    return type->all ? type->all(forces, at, want) : lg_force_all(type, forces, at, want);
}

/* Evaluates the law of a force on a coordinate at a point. */
lg_status lg_force_on_coordinate(const lg_force *force, const lg_point *at, int linear, double law[3]);

/* The wrenches of a force at the present poses of its frames and, with `linear`, their derivatives. `at_rest`: without
   damping. */
lg_status lg_force_load(const lg_force *force, const lg_point *at, int at_rest, int linear, lg_load *out);

/* Adds one force by a kernel `between`; inline, so that a row's loop over its own kernel needs no calls. */
static inline lg_status lg_force_add_between(const lg_force *force, const lg_point *at, const lg_wanted *want,
                                             int linear, lg_between *between)
{
    const lg_element *e = &force->e;
    lg_pose *a = lg_pose_of(e->frame[0], at), *b = lg_pose_of(e->frame[1], at);
    double d[3], ddot[3], F[3], A[9], B[9];
    lg_pose_between(a, b, d);
    for (int i = 0; i < 3; i++)
        ddot[i] = b->xdot[i] - a->xdot[i];
    LG_TRY(between(e, d, ddot, linear, F, A, B));
    lg_axpy(3, -1, F, a->wrench[LG_FORCES]);
    lg_axpy(3, 1, F, b->wrench[LG_FORCES]);
    if (linear)
        lg_tangent_add_between(e, at, want, -1, A, B);
    return LG_OK;
}

#endif
