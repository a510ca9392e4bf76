/* The group operations for users, beyond what integrators need of a node kind. Elements are stored as in the group's
   node kind; matrices are column-major. Every operation has the same signature, so that one loop serves all of them;
   operations with one operand ignore the second. */
#ifndef LG_GROUP_GROUP_H
#define LG_GROUP_GROUP_H

#include "group/node.h"

typedef struct lg_group {
    const char *name;
    const lg_node *node;
    int semidirect; /* whether a product rotates the position of its second factor */
    int shape[2]; /* of an element as users see it: 4 x 4 matrices for SE(3); n x 1 is a vector */
    int hat_shape[2];
    void (*exp)(const double *v, double *g); /* NULL: retract from the identity is used */
    void (*multiply)(const double *a, const double *b, double *c); /* of the rotations */
    void (*invert)(const double *a, double *c);
    void (*hat)(const double *v, double *A); /* row-major */
    void (*vee)(const double *A, double *v);
} lg_group;

/* X(with, name, semidirect, rows and columns of an element, and of its hat, exp, multiply, invert, hat, vee): the one
   list of groups. The node kind of `name` is lg_<name>; `with` is passed on to X. */
#define LG_GROUPS(X, with)                                                                                             \
    X(with, so3, 0, 3, 3, 3, 3, lg_so3_exp, lg_mul33, matrix_invert, so3_hat, so3_vee)                                 \
    X(with, s3, 0, 4, 1, 4, 1, NULL, lg_quat_mul, lg_quat_conjugate, s3_hat, s3_vee)                                   \
    X(with, se3, 1, 4, 4, 4, 4, NULL, lg_mul33, matrix_invert, se3_hat, se3_vee)                                       \
    X(with, r3xso3, 0, 12, 1, 7, 7, NULL, lg_mul33, matrix_invert, r3xso3_hat, r3xso3_vee)                             \
    X(with, r3xs3, 0, 7, 1, 7, 1, NULL, lg_quat_mul, lg_quat_conjugate, pose_hat, pose_vee)                            \
    X(with, s3r3, 1, 7, 1, 7, 1, NULL, lg_quat_mul, lg_quat_conjugate, pose_hat, pose_vee)

enum {
#define LG_GROUP_NUMBER(with, name, ...) LG_GROUP_##name,
    LG_GROUPS(LG_GROUP_NUMBER, )
#undef LG_GROUP_NUMBER
        LG_GROUP_COUNT
};
extern const lg_group lg_groups[LG_GROUP_COUNT];

typedef void lg_group_op(const lg_group *group, const double *a, const double *b, double *out);

/* v -> exp(v) */
void lg_group_exp(const lg_group *group, const double *v, const double *unused, double *g);
/* g -> v, with a rotation angle of at most pi */
void lg_group_log(const lg_group *group, const double *g, const double *unused, double *v);
/* g, g -> g */
void lg_group_compose(const lg_group *group, const double *a, const double *b, double *c);
/* g -> g */
void lg_group_inverse(const lg_group *group, const double *g, const double *unused, double *c);
/* g, point -> x + R point */
void lg_group_act(const lg_group *group, const double *g, const double *point, double *y);
/* g -> R, row-major */
void lg_group_rotation(const lg_group *group, const double *g, const double *unused, double *R);
/* v -> v^, row-major */
void lg_group_hat(const lg_group *group, const double *v, const double *unused, double *A);
/* v^ -> v; v^ is row-major */
void lg_group_vee(const lg_group *group, const double *A, const double *unused, double *v);
/* v -> matrix of w -> [v, w] */
void lg_group_ad(const lg_group *group, const double *v, const double *unused, double *A);
/* g -> matrix of w -> (g w^ g^-1)v */
void lg_group_Ad(const lg_group *group, const double *g, const double *unused, double *A);
/* v -> T(v) */
void lg_group_tangent(const lg_group *group, const double *v, const double *unused, double *T);
/* v -> T^-1(v) */
void lg_group_tangent_inv(const lg_group *group, const double *v, const double *unused, double *Tinv);

#endif
