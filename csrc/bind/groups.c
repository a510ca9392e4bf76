/* The operations of the core's table as NumPy's generalised ufuncs of the same names, which take float64 and support
   batches, broadcasting and out=. Matrices are in C order here. */
#include "bind/args.h"
#include "group/operations.h"

#include <numpy/ufuncobject.h>

#include <fenv.h>
#include <stdio.h>

enum { MAX_SIGNATURE = 64 };

/* ---- the loop ---- */

/* An operand during a loop: the distance of each of its numbers, in bytes, from the first one of the same element, and
   whether the function can use an element without copying it. */
typedef struct group_operand {
    int size;
    npy_intp at[LG_OPERAND_SIZE];
    int in_place;
} group_operand;

/* `strides` are those of the operand's axes; returns those of the next operand. */
static const npy_intp *open_operand(group_operand *o, const lg_operation *operation, int k, const npy_intp *strides)
{
    const lg_operand seen = lg_operand_of(operation, k);
    const npy_intp row = seen.axes > 0 ? strides[0] : 0, column = seen.axes > 1 ? strides[1] : 0;
    o->size = seen.rows * seen.columns;
    o->in_place = 1;
    for (int i = 0; i < seen.rows; i++)
        for (int j = 0; j < seen.columns; j++) {
            int index = lg_operand_index(&seen, i, j);
            o->at[index] = i * row + j * column;
            o->in_place &= o->at[index] == index * (npy_intp)sizeof(double);
        }
    return strides + seen.axes;
}

/* The numbers of an element, either in place or copied to `room`. */
static const double *load_element(const group_operand *o, const char *element, double *room)
{
    if (o->in_place)
        return (const double *)element;
    for (int i = 0; i < o->size; i++)
        room[i] = *(const double *)(element + o->at[i]);
    return room;
}

static void store_element(const group_operand *o, const double *x, char *element)
{
    for (int i = 0; i < o->size; i++)
        *(double *)(element + o->at[i]) = x[i];
}

/* The loop of all ufuncs, whose data is a row of the table. */
static void ufunc_loop(char **args, const npy_intp *dimensions, const npy_intp *steps, void *data)
{
    static const double last_row[] = {0, 0, 0, 1}; /* of a result [R, x; 0, 1]; functions write only what is above it */
    const lg_operation *row = data;
    const int nin = (int)strlen(row->operands) - 1;
    const npy_intp *strides = steps + nin + 1;
    group_operand in[2], out;
    double rooms[2][LG_OPERAND_SIZE], room[LG_OPERAND_SIZE];
    const double *x[2] = {NULL, NULL};

    for (int k = 0; k < nin; k++)
        strides = open_operand(&in[k], row, k, strides);
    open_operand(&out, row, nin, strides);
    for (int k = 0; k < nin; k++)
        out.in_place &= args[k] != args[nin]; /* out= may be an argument */
    memcpy(room + 12, last_row, sizeof last_row);

    for (npy_intp i = 0; i < dimensions[0]; i++) {
        for (int k = 0; k < nin; k++)
            x[k] = load_element(&in[k], args[k] + i * steps[k], rooms[k]);
        char *element = args[nin] + i * steps[nin];
        row->function(row->group, x[0], x[1], out.in_place ? (double *)element : room);
        if (!out.in_place)
            store_element(&out, room, element);
    }
    feclearexcept(FE_INVALID); /* set by comparisons of NaN, which passes from input to output without a warning */
}

/* ---- the ufuncs ---- */

/* Static, since NumPy keeps pointers to them for the life of the process. */
static const PyUFuncGenericFunction loops[] = {ufunc_loop};
static const char types[LG_OPERANDS] = {NPY_DOUBLE, NPY_DOUBLE, NPY_DOUBLE};

/* "(3),(3,3)->(3)" */
static void write_signature(const lg_operation *operation, char *text)
{
    static const char *const formats[] = {"%s()", "%s(%d)", "%s(%d,%d)"};
    for (int k = 0; operation->operands[k]; k++) {
        const lg_operand seen = lg_operand_of(operation, k);
        const char *before = k == 0 ? "" : operation->operands[k + 1] ? "," : "->";
        text += sprintf(text, formats[seen.axes], before, seen.rows, seen.columns);
    }
}

static int add_ufunc(PyObject *module, const lg_operation *const *row)
{
    const lg_operation *operation = *row;
    const int nin = (int)strlen(operation->operands) - 1;
    char signature[MAX_SIGNATURE];
    write_signature(operation, signature);
    PyObject *ufunc =
        PyUFunc_FromFuncAndDataAndSignature((PyUFuncGenericFunction *)loops, (void *const *)row, types, 1, nin, 1,
                                            PyUFunc_None, operation->name, operation->doc, 0, signature);
    return lg_set_item(PyModule_GetDict(module), operation->name, ufunc);
}

int lg_add_groups(PyObject *module)
{
    if (PyUFunc_ImportUFuncAPI() < 0)
        return -1;
    for (int i = 0; i < lg_operation_count; i++)
        if (add_ufunc(module, &lg_operations[i]) < 0)
            return -1;
    return 0;
}
