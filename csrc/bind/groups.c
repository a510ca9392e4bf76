/* Group operations as NumPy generalised ufuncs <group>_<operation>, float64, which support batches, broadcasting and
   out=. Matrices are in C order here. Also rotvec_compose, derivatives of T^-1 on SE(3) and, as plain ufuncs, the
   coefficient functions series_<name> of the squared angle. */
#include "bind/module.h"
#include "group/group.h"
#include "group/rotation.h"
#include "group/semidirect.h"
#include "group/series.h"

#include <numpy/ufuncobject.h>

#include <fenv.h>
#include <stdio.h>

enum { MAX_OPERANDS = 3, MAX_SIZE = 49, MAX_SIGNATURE = 64 };

/* X(operation, operands, doc), an operand being a letter: v algebra vector, g group element, h hat of a vector,
   m matrix on the algebra, p point, r rotation matrix; the last one is the result. */
#define OPERATIONS(X)                                                                                                  \
    X(exp, "vg", "Exponential map.")                                                                                   \
    X(log, "gv", "Logarithm, with a rotation angle of at most pi.")                                                    \
    X(compose, "ggg", "Product.")                                                                                      \
    X(inverse, "gg", "Inverse element.")                                                                               \
    X(act, "gpp", "x + R point.")                                                                                      \
    X(rotation, "gr", "Rotation matrix.")                                                                              \
    X(hat, "vh", "Derivative of exp(t v) at t = 0.")                                                                   \
    X(vee, "hv", "Inverse of hat.")                                                                                    \
    X(ad, "vm", "Matrix of w -> [v, w].")                                                                              \
    X(Ad, "gm", "Matrix of w -> vee(g hat(w) g^-1).")                                                                  \
    X(tangent, "vm", "T with d/dt exp(v) = exp(v) hat(T(v) v').")                                                      \
    X(tangent_inv, "vm", "Inverse of the tangent operator.")

/* Rows and columns of an operand; one column is a vector. */
static void operand_shape(const lg_group *group, char kind, int shape[2])
{
    const int nv = group->node->nv, vector[2] = {nv, 1}, matrix[2] = {nv, nv}, point[2] = {3, 1}, rotation[2] = {3, 3};
    const int *found = kind == 'v'   ? vector
                       : kind == 'm' ? matrix
                       : kind == 'p' ? point
                       : kind == 'r' ? rotation
                       : kind == 'g' ? group->shape
                                     : group->hat_shape;
    shape[0] = found[0], shape[1] = found[1];
}

/* One operand during a loop: the strides of rows and columns, and whether an element can be used in place. */
typedef struct operand {
    int shape[2];
    npy_intp row, column;
    int homogeneous, in_place;
} operand;

static void load(const operand *o, const char *p, double *x)
{
    for (int i = 0; i < o->shape[0]; i++)
        for (int j = 0; j < o->shape[1]; j++)
            *x++ = *(const double *)(p + i * o->row + j * o->column);
}

static void store(const operand *o, const double *x, char *p)
{
    for (int i = 0; i < o->shape[0]; i++)
        for (int j = 0; j < o->shape[1]; j++)
            *(double *)(p + i * o->row + j * o->column) = *x++;
}

/* Homogeneous matrix [R, x; 0, 1] to position and rotation, in place, and back */
static void split_homogeneous(double *x)
{
    const double q[12] = {x[3], x[7], x[11], x[0], x[1], x[2], x[4], x[5], x[6], x[8], x[9], x[10]};
    memcpy(x, q, sizeof q);
}

static void join_homogeneous(double *x)
{
    const double A[16] = {x[3], x[4], x[5], x[0], x[6], x[7], x[8], x[1], x[9], x[10], x[11], x[2], 0, 0, 0, 1};
    memcpy(x, A, sizeof A);
}

static void start_operands(const lg_group *group, const char *kinds, int count, const npy_intp *steps, operand *o)
{
    const npy_intp *core = steps + count, size = sizeof(double);
    for (int k = 0; k < count; k++) {
        operand_shape(group, kinds[k], o[k].shape);
        o[k].row = *core++;
        o[k].column = o[k].shape[1] > 1 ? *core++ : size;
        o[k].homogeneous = kinds[k] == 'g' && group->shape[1] == 4;
        if (kinds[k] == 'm') { /* column-major in the core */
            npy_intp row = o[k].row;
            o[k].row = o[k].column;
            o[k].column = row;
        }
        o[k].in_place = o[k].row == size * o[k].shape[1] && o[k].column == size && !o[k].homogeneous;
    }
}

static const double *input(const operand *o, const char *p, double *room)
{
    if (o->in_place)
        return (const double *)p;
    load(o, p, room);
    if (o->homogeneous)
        split_homogeneous(room);
    return room;
}

static void output(const operand *o, double *room, char *p)
{
    if (o->homogeneous)
        join_homogeneous(room);
    if (!o->in_place)
        store(o, room, p);
}

static void run(const lg_group *group, lg_group_op *op, const char *kinds, char **args, const npy_intp *dimensions,
                const npy_intp *steps)
{
    operand o[MAX_OPERANDS];
    int count = (int)strlen(kinds), result = count - 1;
    start_operands(group, kinds, count, steps, o);
    for (int k = 0; k < result; k++)
        o[result].in_place &= args[k] != args[result]; /* out= may be an argument */

    for (npy_intp i = 0; i < dimensions[0]; i++) {
        double room[MAX_OPERANDS][MAX_SIZE];
        const double *x[2] = {NULL, NULL};
        for (int k = 0; k < result; k++)
            x[k] = input(&o[k], args[k] + i * steps[k], room[k]);
        char *place = args[result] + i * steps[result];
        double *y = o[result].in_place ? (double *)place : room[result];
        op(group, x[0], x[1], y);
        output(&o[result], y, place);
    }
    feclearexcept(FE_INVALID); /* set by comparisons of NaN, which passes from input to output without a warning */
}

#define LOOP(operation, kinds, doc)                                                                                    \
    static void operation##_loop(char **args, const npy_intp *dimensions, const npy_intp *steps, void *group)          \
    {                                                                                                                  \
        run(group, lg_group_##operation, kinds, args, dimensions, steps);                                              \
    }
OPERATIONS(LOOP)

/* Static, since NumPy keeps pointers to these for the life of the process. */
static const char doubles[MAX_OPERANDS] = {NPY_DOUBLE, NPY_DOUBLE, NPY_DOUBLE};

typedef struct operation {
    PyUFuncGenericFunction loop[1];
    const char *kinds, *doc;
    const char *name[LG_GROUP_COUNT];
} operation;

#define OPERATION_NAME(operation, group, ...) #group "_" #operation,
#define OPERATION_ROW(operation, kinds, doc) {{operation##_loop}, kinds, doc, {LG_GROUPS(OPERATION_NAME, operation)}},
static const operation operations[] = {OPERATIONS(OPERATION_ROW)};

#define GROUP_DATA(with, group, ...) {(void *)&lg_groups[LG_GROUP_##group]},
static void *const group_data[LG_GROUP_COUNT][1] = {LG_GROUPS(GROUP_DATA, )};

/* "(3),(3,3)->(3)" */
static void write_signature(const lg_group *group, const char *kinds, char *text)
{
    int count = (int)strlen(kinds);
    for (int k = 0; k < count; k++) {
        int shape[2];
        operand_shape(group, kinds[k], shape);
        text += sprintf(text, "%s(%d", k == 0 ? "" : k == count - 1 ? "->" : ",", shape[0]);
        text += sprintf(text, shape[1] > 1 ? ",%d)" : ")", shape[1]);
    }
}

static int add_object(PyObject *module, const char *name, PyObject *object)
{
    int failed = !object || PyModule_AddObjectRef(module, name, object) < 0;
    Py_XDECREF(object);
    return failed ? -1 : 0;
}

static int add_operation(PyObject *module, const operation *row, int group)
{
    char signature[MAX_SIGNATURE];
    write_signature(&lg_groups[group], row->kinds, signature);
    int nin = (int)strlen(row->kinds) - 1;
    PyObject *ufunc =
        PyUFunc_FromFuncAndDataAndSignature((PyUFuncGenericFunction *)row->loop, group_data[group], doubles, 1, nin, 1,
                                            PyUFunc_None, row->name[group], row->doc, 0, signature);
    return add_object(module, row->name[group], ufunc);
}

static void rotvec_compose_loop(char **args, const npy_intp *dimensions, const npy_intp *steps, void *unused)
{
    (void)unused;
    operand o[3];
    start_operands(&lg_groups[LG_GROUP_so3], "vvv", 3, steps, o);
    for (npy_intp i = 0; i < dimensions[0]; i++) {
        double psi0[3], dpsi[3], psi[3];
        load(&o[0], args[0] + i * steps[0], psi0);
        load(&o[1], args[1] + i * steps[1], dpsi);
        lg_rv_retract(psi0, dpsi, psi);
        store(&o[2], psi, args[2] + i * steps[2]);
    }
    feclearexcept(FE_INVALID);
}

/* Derivatives of T^-1 v and T^-T s on SE(3); matrices in C order. */
#define SOLVE_D(name)                                                                                                  \
    static void name##_loop(char **args, const npy_intp *dimensions, const npy_intp *steps, void *unused)              \
    {                                                                                                                  \
        (void)unused;                                                                                                  \
        operand o[3];                                                                                                  \
        start_operands(&lg_groups[LG_GROUP_se3], "vvm", 3, steps, o);                                                  \
        for (npy_intp i = 0; i < dimensions[0]; i++) {                                                                 \
            double theta[6] = {0}, v[6] = {0}, D[36];                                                                  \
            load(&o[0], args[0] + i * steps[0], theta);                                                                \
            load(&o[1], args[1] + i * steps[1], v);                                                                    \
            lg_cotangent x = lg_cotangent_of(lg_dot3(theta + 3, theta + 3));                                           \
            lg_se3_##name(theta, &x, v, D);                                                                            \
            store(&o[2], D, args[2] + i * steps[2]);                                                                   \
        }                                                                                                              \
    }
SOLVE_D(tangent_solve_d)
SOLVE_D(transposed_solve_d)

/* Functions of two vectors that are no operation of every group. */
typedef struct pair_row {
    PyUFuncGenericFunction loop[1];
    const char *name, *doc, *signature;
} pair_row;

static const pair_row pair_rows[] = {
    {{rotvec_compose_loop},
     "rotvec_compose",
     "Rotation vector of exp(psi0) exp(dpsi), of length at most pi.",
     "(3),(3)->(3)"},
    {{tangent_solve_d_loop}, "se3_tangent_solve_d", "Derivative of T^-1(theta) v in theta.", "(6),(6)->(6,6)"},
    {{transposed_solve_d_loop}, "se3_transposed_solve_d", "Derivative of T^-T(theta) s in theta.", "(6),(6)->(6,6)"},
};

static void *const no_data[1] = {NULL};

static int add_pair(PyObject *module, const pair_row *row)
{
    PyObject *ufunc = PyUFunc_FromFuncAndDataAndSignature((PyUFuncGenericFunction *)row->loop, no_data, doubles, 1, 2,
                                                          1, PyUFunc_None, row->name, row->doc, 0, row->signature);
    return add_object(module, row->name, ufunc);
}

#define SERIES(X) X(sinc) X(cosc) X(sincc) X(cotc) X(cosc_d) X(sincc_d) X(cotc_d) X(cotc_dd)

#define SERIES_LOOP(name)                                                                                              \
    static void name##_loop(char **args, const npy_intp *dimensions, const npy_intp *steps, void *unused)              \
    {                                                                                                                  \
        (void)unused;                                                                                                  \
        for (npy_intp i = 0; i < dimensions[0]; i++)                                                                   \
            *(double *)(args[1] + i * steps[1]) = lg_##name(*(const double *)(args[0] + i * steps[0]));                \
    }
SERIES(SERIES_LOOP)

typedef struct series_row {
    PyUFuncGenericFunction loop[1];
    const char *name;
} series_row;

#define SERIES_ROW(name) {{name##_loop}, "series_" #name},
static const series_row series_rows[] = {SERIES(SERIES_ROW)};

static int add_series(PyObject *module, const series_row *row)
{
    PyObject *ufunc =
        PyUFunc_FromFuncAndData((PyUFuncGenericFunction *)row->loop, no_data, doubles, 1, 1, 1, PyUFunc_None, row->name,
                                "Coefficient function of the squared angle, see csrc/group/series.h.", 0);
    return add_object(module, row->name, ufunc);
}

static int import_ufuncs(void)
{
    import_umath1(-1);
    return 0;
}

int lg_add_groups(PyObject *module)
{
    if (import_ufuncs() < 0)
        return -1;
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        for (int group = 0; group < LG_GROUP_COUNT; group++)
            if (add_operation(module, &operations[i], group) < 0)
                return -1;
    for (size_t i = 0; i < sizeof series_rows / sizeof *series_rows; i++)
        if (add_series(module, &series_rows[i]) < 0)
            return -1;
    for (size_t i = 0; i < sizeof pair_rows / sizeof *pair_rows; i++)
        if (add_pair(module, &pair_rows[i]) < 0)
            return -1;
    return 0;
}
