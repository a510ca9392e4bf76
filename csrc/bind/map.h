/* Functions of one point of a system, taken over arrays of points. */
#ifndef LG_BIND_MAP_H
#define LG_BIND_MAP_H

#include "bind/args.h"
#include "bind/system.h"

enum { LG_MAX_OPERANDS = 7, LG_MAX_RESULTS = 4 };

/* The length of an axis by its letter: q, v, r (constraint rows), m (memory) or a digit. */
npy_intp lg_length(const lg_system *system, char letter);
/* A new array of some leading axes, then one for each letter of `shape`. */
PyArrayObject *lg_new_array(const lg_system *system, int ndim, const npy_intp *dims, const char *shape);

/* The first member of a struct that has what `at` needs beside the operands. */
typedef struct lg_map {
    char *const *names; /* of the operands */
    const char *operands; /* per operand the letter of its last axis; t: a number per point */
    const char *results[LG_MAX_RESULTS + 1]; /* shapes, then NULL; a shape may begin with n: `count` */
    lg_status (*at)(struct lg_map *map, const double *const *x, double *const *y);
    const lg_system *system;
    int count;
    double *mem, *work; /* of the system, zeros at first */
    lg_report report;
} lg_map;

/* The results at all points, an array or a tuple of arrays; operands with leading axes must have the same ones.
   An operand that is NULL counts as zero. */
PyObject *lg_map_call(lg_map *map, PyObject *self, PyObject *const *objects);

#endif
