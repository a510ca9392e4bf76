/* Group operations, written once over position, rotation and whether they couple:
   (x0, R0) (x1, R1) = (x0 + R0 x1, R0 R1) semidirect, (x0 + x1, R0 R1) direct (holzinger2024 (17)).

   v^ is the derivative of exp(t v) at t = 0: a matrix for the matrix groups, for quaternion storages the derivative
   of the stored numbers, (0, v/2). r3xso3 is stored as 12 numbers; its v^ is the 7 x 7 matrix of
   holzinger2024 (20), with the middle block zero. */
#include "group/group.h"

#include "group/rotation.h"

static int has_position(const lg_group *group)
{
    return group->node->attitude_q == 3;
}

/* y = R(g) x */
static void rotate_point(const lg_group *group, const double *g, const double *x, double *y)
{
    double R[9];
    group->node->rotation(g, R);
    lg_mul3(R, x, y);
}

void lg_group_exp(const lg_group *group, const double *v, const double *unused, double *g)
{
    (void)unused;
    if (group->exp) {
        group->exp(v, g);
        return;
    }
    lg_node_identity(group->node, 0, g);
    group->node->retract(0, g, v, g);
}

void lg_group_log(const lg_group *group, const double *g, const double *unused, double *v)
{
    (void)unused;
    double identity[LG_NODE_NQ];
    lg_node_identity(group->node, 0, identity);
    group->node->difference(0, identity, g, v);
}

void lg_group_compose(const lg_group *group, const double *a, const double *b, double *c)
{
    int r = group->node->attitude_q;
    group->multiply(a + r, b + r, c + r);
    if (!has_position(group))
        return;

    double moved[3] = {b[0], b[1], b[2]};
    if (group->semidirect)
        rotate_point(group, a, b, moved);
    for (int i = 0; i < 3; i++)
        c[i] = a[i] + moved[i];
}

void lg_group_inverse(const lg_group *group, const double *g, const double *unused, double *c)
{
    (void)unused;
    int r = group->node->attitude_q;
    group->invert(g + r, c + r);
    if (!has_position(group))
        return;

    double moved[3] = {g[0], g[1], g[2]};
    if (group->semidirect)
        rotate_point(group, c, g, moved);
    for (int i = 0; i < 3; i++)
        c[i] = -moved[i];
}

void lg_group_act(const lg_group *group, const double *g, const double *point, double *y)
{
    rotate_point(group, g, point, y);
    if (has_position(group))
        lg_axpy(3, 1, g, y);
}

void lg_group_rotation(const lg_group *group, const double *g, const double *unused, double *R)
{
    (void)unused;
    group->node->rotation(g, R);
}

void lg_group_hat(const lg_group *group, const double *v, const double *unused, double *A)
{
    (void)unused;
    lg_zero(group->hat_shape[0] * group->hat_shape[1], A);
    group->hat(v, A);
}

void lg_group_vee(const lg_group *group, const double *A, const double *unused, double *v)
{
    (void)unused;
    group->vee(A, v);
}

void lg_group_ad(const lg_group *group, const double *v, const double *unused, double *A)
{
    (void)unused;
    group->node->ad(0, v, A);
}

/* R for pure rotations, diag(I, R) for direct products, [R, x^ R; 0, R] for semidirect ones */
void lg_group_Ad(const lg_group *group, const double *g, const double *unused, double *A)
{
    (void)unused;
    int nv = group->node->nv;
    double R[9];
    group->node->rotation(g, R);
    lg_zero(nv * nv, A);
    for (int j = 0; j < 3; j++) {
        const double column[3] = {R[j], R[3 + j], R[6 + j]};
        lg_copy(3, column, A + nv * (nv - 3 + j) + nv - 3);
        if (group->semidirect) {
            lg_copy(3, column, A + nv * j);
            lg_cross(g, column, A + nv * (3 + j));
        } else if (has_position(group))
            A[nv * j + j] = 1;
    }
}

void lg_group_tangent(const lg_group *group, const double *v, const double *unused, double *T)
{
    (void)unused;
    group->node->tangent(0, v, T);
}

void lg_group_tangent_inv(const lg_group *group, const double *v, const double *unused, double *Tinv)
{
    (void)unused;
    group->node->tangent_inv(0, v, Tinv);
}

static void matrix_invert(const double *R, double *S)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            S[3 * i + j] = R[3 * j + i];
}

/* Writes omega^ as the upper left block of a matrix with n columns; its inverse, vee_block, takes the skew part. */
static void hat_block(const double omega[3], int n, double *A)
{
    A[1] = -omega[2], A[2] = omega[1];
    A[n] = omega[2], A[n + 2] = -omega[0];
    A[2 * n] = -omega[1], A[2 * n + 1] = omega[0];
}

static void vee_block(const double *A, int n, double omega[3])
{
    omega[0] = 0.5 * (A[2 * n + 1] - A[n + 2]);
    omega[1] = 0.5 * (A[2] - A[2 * n]);
    omega[2] = 0.5 * (A[n] - A[1]);
}

static void so3_hat(const double *v, double *A)
{
    hat_block(v, 3, A);
}

static void so3_vee(const double *A, double *v)
{
    vee_block(A, 3, v);
}

static void s3_hat(const double *v, double *a)
{
    for (int i = 0; i < 3; i++)
        a[1 + i] = 0.5 * v[i];
}

static void s3_vee(const double *a, double *v)
{
    for (int i = 0; i < 3; i++)
        v[i] = 2 * a[1 + i];
}

static void se3_hat(const double *v, double *A)
{
    hat_block(v + 3, 4, A);
    for (int i = 0; i < 3; i++)
        A[4 * i + 3] = v[i];
}

static void se3_vee(const double *A, double *v)
{
    vee_block(A, 4, v + 3);
    for (int i = 0; i < 3; i++)
        v[i] = A[4 * i + 3];
}

static void r3xso3_hat(const double *v, double *A)
{
    hat_block(v + 3, 7, A);
    for (int i = 0; i < 3; i++)
        A[7 * (3 + i) + 6] = v[i];
}

static void r3xso3_vee(const double *A, double *v)
{
    vee_block(A, 7, v + 3);
    for (int i = 0; i < 3; i++)
        v[i] = A[7 * (3 + i) + 6];
}

static void pose_hat(const double *v, double *a)
{
    lg_copy(3, v, a);
    s3_hat(v + 3, a + 3);
}

static void pose_vee(const double *a, double *v)
{
    lg_copy(3, a, v);
    s3_vee(a + 3, v + 3);
}

#define NODE(with, name, ...) extern const lg_node lg_##name;
LG_GROUPS(NODE, )

#define ROW(with, name, semidirect, rows, columns, hat_rows, hat_columns, exp, multiply, invert, hat, vee)             \
    {#name, &lg_##name, semidirect, {rows, columns}, {hat_rows, hat_columns}, exp, multiply, invert, hat, vee},

const lg_group lg_groups[LG_GROUP_COUNT] = {LG_GROUPS(ROW, )};
