/* The operations on groups as functions of arrays, each with a name and a description of what it takes and returns. */
#ifndef LG_GROUP_OPERATIONS_H
#define LG_GROUP_OPERATIONS_H

#include "group/group.h"

typedef struct lg_operation {
    const char *name; /* "so3_exp" */
    const char *operands; /* a letter for each, the last one being the result; see lg_operand_of */
    const char *doc;
    const lg_group *group; /* the group whose vectors and elements it takes */
    lg_group_op *function;
} lg_operation;

extern const lg_operation *const lg_operations[];
extern const int lg_operation_count;

enum { LG_OPERANDS = 3, LG_OPERAND_SIZE = 49 }; /* the most operands of an operation, the most numbers of one */

/* What users see of an operand: a number (no axis), a vector (one axis, one column) or a matrix. */
typedef struct lg_operand {
    char letter;
    int axes, rows, columns;
} lg_operand;

/* Letters: s number, v algebra vector, g group element, h hat of a vector, m matrix on the algebra, p point, r rotation
   matrix. */
lg_operand lg_operand_of(const lg_operation *operation, int k);

/* The index of an entry among the numbers that the function takes: a matrix on the algebra is column-major, and an
   element that users see as [R, x; 0, 1] is stored as x, R and its last row. */
int lg_operand_index(const lg_operand *operand, int row, int column);

#endif
