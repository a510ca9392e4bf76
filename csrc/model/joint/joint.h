/* A joint is a set of constraint rows between two frames: a row of joints.def with its functions. A joint with
   compliance, as the edge of a rod, also exerts forces: it has a potential. Kernels see only poses and know no
   formulation. */
#ifndef LG_MODEL_JOINT_H
#define LG_MODEL_JOINT_H

#include "model/body/body.h"
#include "model/jet.h"

enum { LG_MAX_ROWS = 6 };

typedef struct lg_joint_type lg_joint_type;

typedef struct lg_joint { /* const data of the model */
    lg_element e;
    const lg_joint_type *type;
    int row, value[2]; /* its first constraint row; per frame its part of the values of B */
    int nrows, row_in_type[LG_MAX_ROWS]; /* the constraint rows that are not dropped, by their numbers in the type */
    int group; /* of the pattern */
    size_t work; /* position of its part of the scratch */
    long group_matrix_block; /* the first block of S for pairs of its group's blocks, in matrices that have them */
    int adds_row, adds[2]; /* whether other terms of its row, and of its parts of B, are evaluated before it */
} lg_joint;

typedef struct lg_joints { /* those of one row */
    const lg_joint *first, *end;
} lg_joints;

/* Constraint rows in frame space. Row-major: row i of J[s] is J[s] + 6 i. The first `points` rows act on positions, the
   others only on rotations; the first three values of the latter rows of J and Z are not written. */
typedef struct lg_rows {
    int points;
    double phi[LG_MAX_ROWS];
    int reduced; /* J was not wanted, and w stands in its place */
    double w[2][6]; /* J^T lam */
    double J[2][6 * LG_MAX_ROWS]; /* d phi/d pose = d phidot/d twist */
    double Jdot[LG_MAX_ROWS]; /* (dJ/dt) twist + explicit time terms */
    double Z[2][6 * LG_MAX_ROWS]; /* d(J twist)/d pose */
    lg_quarters K[2][2]; /* d(J_i^T lam)/d pose_j */
} lg_rows;

/* What is wanted beyond phi: w and J, of which a function may write J alone, and beyond J: Jdot, Z, K. */
enum { LG_ROWS_W = 1, LG_ROWS_J = 2, LG_ROWS_RATE = 4, LG_ROWS_Z = 8, LG_ROWS_K = 16 };

enum { LG_DAMPED = 1 }; /* of the traits of a joint with compliance, which then needs twists */

/* Functions of a joint with compliance. */
typedef struct lg_compliance {
    /* The potential and, unless `out` is NULL, the wrenches that come from it, with those of damping if it is
       `moving`, and with `linear` their derivatives. */
    lg_status (*exert)(const lg_joint *joint, const lg_point *at, int moving, int linear, double *V, lg_load *out);
    unsigned (*traits)(const lg_element *e); /* LG_DAMPED, and bits of the row's own */
    /* Strain and stress of an edge, stresses of constrained strains from at->lam. */
    lg_status (*strain)(const lg_joint *joint, const lg_point *at, double strain[6], double stress[6]);
} lg_compliance;

struct lg_joint_type {
    lg_element_info info;
    /* The functions `axes`, `rows`, `jets` and `all` in another form; NULL: they are the same there. */
    const lg_joint_type *in[LG_FORM_COUNT];
    size_t nwork; /* doubles of scratch */
    int sees_distance; /* it sees the distance of its points alone */
    /* In whose axes its rows are: those of the body under frame 0 or 1; -1: inertial ones. NULL: the rows only depend
       on the pose of one frame against the other. */
    int (*axes)(const lg_element *e);
    lg_status (*check)(const lg_element *e, const char **reason);
    /* Whether it depends only on the position of the point at this end and exerts only a force there. NULL: no. */
    int (*on_point)(const lg_element *e, int end);
    /* lam, for w and K, has one value per row of the type; `reduced` and the `has` of K begin as zero. With the
       function `all` it serves steps between two states, which do not want Jdot. */
    lg_status (*rows)(const lg_element *e, const lg_pose *const f[2], const lg_point *at, const double *lam,
                      unsigned want, lg_rows *out);
    /* For each row of the type, the wrenches on the frames by a multiplier of one, along a motion; `has` is zero at
       first. Each row is the rate of some phi. NULL: they are not known in closed form. */
    void (*jets)(const lg_element *e, const lg_frame_jet f[2], lg_wrench_jet (*out)[2]);
    /* A batch: writes its rows of phi, phidot, zeta, B, Z, adds B^T lam and forces to the wrenches of the frames and
       the tangent to S. NULL: a loop over `rows`. */
    lg_status (*all)(lg_joints joints, const lg_point *at, const lg_wanted *want);
    const lg_compliance *compliance; /* NULL: it is rigid */
    const struct lg_joint_shares *shares; /* share.h; NULL: none */
    double (*next_kink)(const lg_element *e, double t);
    /* A name for row `row` of the type. NULL: its number is used. */
    const char *(*row_label)(const lg_element *e, int row);
    const lg_element_memory *memory; /* NULL: it has none */
};

#define LG_JOINT(symbol, name, translations, pairs, angle, doc) extern const lg_joint_type symbol;
#define LG_CONSTRAINT(symbol) extern const lg_joint_type symbol;
#include "model/joint/joints.def"
#undef LG_JOINT
#undef LG_CONSTRAINT

/* Whether K couples its two blocks. Translations in inertial axes have a constant J, so that they do not. */
int lg_joint_couples(const lg_joint *joint);

/* The functions of a row in a form. */
static inline const lg_joint_type *lg_joint_in(lg_form form, const lg_joint *joint)
{
    const lg_joint_type *type = joint->type;
    return form != LG_FORM_DYNAMICS && type->in[form] ? type->in[form] : type;
}

/* The sums of wrenches to which it adds, as bits of lg_frame.loaded. */
static inline unsigned lg_joint_loads(const lg_joint_type *type)
{
    return (type->info.nrows ? 1u << LG_REACTIONS : 0) | (type->compliance ? 1u << LG_FORCES : 0);
}

/* Whether its row is that of the joint before it in the description, to which it adds. */
static inline int lg_joint_continues(const lg_joint *joint)
{
    return joint->e.info->continues && joint->e.p[joint->e.np - 1] != 0;
}

/* Whether its i-th row is of velocity alone. */
static inline int lg_joint_is_nonholonomic(const lg_joint *joint, int i)
{
    return joint->row_in_type[i] >= joint->e.info->nrows - joint->e.info->nnonholonomic;
}

/* Multipliers of all rows of the type, with zeros for dropped rows: lam itself, or `all`, which is filled. */
const double *lg_joint_multipliers(const lg_joint *joint, const double *lam, double all[LG_MAX_ROWS]);
/* B and Z of rows from which dropped ones are taken out. */
void lg_joint_write_jacobians(const lg_joint *joint, const lg_arms *arms, const lg_point *at, lg_rows *rows,
                              const lg_wanted *want);
/* Its rows at the given poses, without dropped rows, by the functions of `type`, which belong to some form. */
lg_status lg_joint_rows(const lg_joint_type *type, const lg_joint *joint, const lg_pose *const f[2], const lg_point *at,
                        unsigned want, lg_rows *out);
/* phi alone, likewise. */
lg_status lg_joint_values(const lg_joint_type *type, const lg_joint *joint, const lg_pose *const f[2],
                          const lg_point *at, double *phi);
/* One joint of a row with the function `rows`. */
lg_status lg_joint_add(const lg_joint_type *type, const lg_joint *joint, const lg_point *at, const lg_wanted *want);
/* Joints of one row by its functions in some form: the function `all`, or one by one. */
lg_status lg_joint_span(const lg_joint_type *type, lg_joints joints, const lg_point *at, const lg_wanted *want);

#endif
