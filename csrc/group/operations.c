/* The table of operations, and how their operands are stored; see operations.h. */
#include "group/operations.h"

#include "group/rotation.h"
#include "group/semidirect.h"

/* ---- operands ---- */

static lg_operand array_operand(char letter, const int shape[2])
{
    return (lg_operand){letter, shape[1] > 1 ? 2 : 1, shape[0], shape[1]};
}

lg_operand lg_operand_of(const lg_operation *operation, int k)
{
    const lg_group *group = operation->group;
    const int nv = group->node->nv;
    const char letter = operation->operands[k];
    switch (letter) {
    case 'v':
        return (lg_operand){letter, 1, nv, 1};
    case 'm':
        return (lg_operand){letter, 2, nv, nv};
    case 'p':
        return (lg_operand){letter, 1, 3, 1};
    case 'r':
        return (lg_operand){letter, 2, 3, 3};
    case 'g':
        return array_operand(letter, group->shape);
    case 'h':
        return array_operand(letter, group->hat_shape);
    default:
        return (lg_operand){letter, 0, 1, 1};
    }
}

int lg_operand_index(const lg_operand *operand, int row, int column)
{
    if (operand->letter == 'm')
        return operand->rows * column + row;
    if (operand->letter == 'g' && operand->columns == 4)
        return row == 3 ? 12 + column : column == 3 ? row : 3 + 3 * row + column;
    return operand->columns * row + column;
}

/* ---- operations of single groups ---- */

static void rotvec_compose(const lg_group *group, const double *psi0, const double *dpsi, double *psi)
{
    (void)group;
    lg_rv_retract(psi0, dpsi, psi);
}

static void tangent_solve_d(const lg_group *group, const double *theta, const double *v, double *D)
{
    (void)group;
    lg_cotangent x = lg_cotangent_of(lg_dot3(theta + 3, theta + 3));
    lg_se3_tangent_solve_d(theta, &x, v, D);
}

static void transposed_solve_d(const lg_group *group, const double *theta, const double *s, double *D)
{
    (void)group;
    lg_cotangent x = lg_cotangent_of(lg_dot3(theta + 3, theta + 3));
    lg_se3_transposed_solve_d(theta, &x, s, D);
}

/* X(name): the coefficient functions of series.h, and each of them as an operation. */
#define SERIES(X) X(sinc) X(cosc) X(sincc) X(cotc) X(cosc_d) X(sincc_d) X(cotc_d) X(cotc_dd)

#define SERIES_FUNCTION(name)                                                                                          \
    static void name(const lg_group *group, const double *x2, const double *unused, double *y)                         \
    {                                                                                                                  \
        (void)group, (void)unused;                                                                                     \
        *y = lg_##name(*x2);                                                                                           \
    }
SERIES(SERIES_FUNCTION)

/* ---- the table ---- */

#define ROW(group, name, operands, doc, function)                                                                      \
    &(const lg_operation){name, operands, doc, &lg_groups[LG_GROUP_##group], function},

#define GROUP_ROW(group, operation, operands, doc)                                                                     \
    ROW(group, #group "_" #operation, operands, doc, lg_group_##operation)

#define GROUP_ROWS(with, group, ...)                                                                                   \
    GROUP_ROW(group, exp, "vg", "Exponential map.")                                                                    \
    GROUP_ROW(group, log, "gv", "Logarithm, with a rotation angle of at most pi.")                                     \
    GROUP_ROW(group, compose, "ggg", "Product.")                                                                       \
    GROUP_ROW(group, inverse, "gg", "Inverse element.")                                                                \
    GROUP_ROW(group, act, "gpp", "x + R point.")                                                                       \
    GROUP_ROW(group, rotation, "gr", "Rotation matrix.")                                                               \
    GROUP_ROW(group, hat, "vh", "Derivative of exp(t v) at t = 0.")                                                    \
    GROUP_ROW(group, vee, "hv", "Inverse of hat.")                                                                     \
    GROUP_ROW(group, ad, "vm", "Matrix of w -> [v, w].")                                                               \
    GROUP_ROW(group, Ad, "gm", "Matrix of w -> vee(g hat(w) g^-1).")                                                   \
    GROUP_ROW(group, tangent, "vm", "T with d/dt exp(v) = exp(v) hat(T(v) v').")                                       \
    GROUP_ROW(group, tangent_inv, "vm", "Inverse of the tangent operator.")

#define SOME_GROUP_ROWS(X)                                                                                             \
    X(so3, "rotvec_compose", "vvv", "Rotation vector of exp(psi0) exp(dpsi), of length at most pi.", rotvec_compose)   \
    X(se3, "se3_tangent_solve_d", "vvm", "Derivative of T^-1(theta) v in theta.", tangent_solve_d)                     \
    X(se3, "se3_transposed_solve_d", "vvm", "Derivative of T^-T(theta) s in theta.", transposed_solve_d)

#define SERIES_ROW(name) ROW(so3, "series_" #name, "ss", "Coefficient function of the squared angle.", name)

const lg_operation *const lg_operations[] = {LG_GROUPS(GROUP_ROWS, ) SOME_GROUP_ROWS(ROW) SERIES(SERIES_ROW)};

const int lg_operation_count = sizeof lg_operations / sizeof *lg_operations;
