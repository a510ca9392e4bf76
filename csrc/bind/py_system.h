/* An lg_system whose verbs call Python functions. All its functions need the GIL. */
#ifndef LG_BIND_PY_SYSTEM_H
#define LG_BIND_PY_SYSTEM_H

#include "bind/python.h"
#include "core/arena.h"
#include "system/system.h"

enum lg_call {
    LG_CALL_MASS,
    LG_CALL_FORCE,
    LG_CALL_GYRO,
    LG_CALL_CONSTRAINT,
    LG_CALL_JACOBIAN,
    LG_CALL_ACCELERATION,
    LG_CALL_TANGENT,
    LG_CALL_ENERGY,
    LG_CALLS
};

typedef struct lg_py_system {
    lg_system system;
    lg_space space;
    lg_pattern pattern;
    int rows; /* of `constraint`; the blocks' own rows follow */
    int nkinks;
    PyObject *function[LG_CALLS]; /* strong references, NULL: not given */
    lg_arena arena; /* everything below */
    lg_block *block;
    int *nv, *nown, *v_start, *own_row, *own_value, *entry_value, *entry_block;
    double *kinks; /* ascending */
    char (*row_name)[48];
    int group_row[2], group_start[2], clique_start[2];
} lg_py_system;

/* blocks (node, n) and sizes are set in `self->block` by the caller between these two. */
lg_status lg_py_system_open(lg_py_system *self, int nblocks, int own_rows, int rows, int nkinks);
void lg_py_system_finish(lg_py_system *self, unsigned flags);
void lg_py_system_close(lg_py_system *self);

/* ---- calls (py_call.c) ---- */

/* The arguments of the functions as Python objects, read-only copies. */
typedef struct lg_py_place {
    double t;
    const double *v;
    PyObject *argument[3]; /* t, q, v */
} lg_py_place;

/* LG_NOT_FINITE if q or v is; LG_CALLBACK if an exception is set. */
lg_status lg_py_place_open(lg_py_place *place, const lg_py_system *self, double t, const double *q, const double *v);
void lg_py_place_close(lg_py_place *place);

/* Calls a function that was given and stores what it returns, row-major. */
lg_status lg_py_call(const lg_py_system *self, enum lg_call call, const lg_py_place *place, double *out);
/* tangent(t, q, v, a, lam) -> K, D, both nv x nv, row-major. */
lg_status lg_py_call_tangent(const lg_py_system *self, const lg_py_place *place, const double *a, const double *lam,
                             double *K, double *D);

/* ---- derivatives by differences (py_difference.c) ---- */

/* Scratch of one evaluation. Matrices are row-major; J is rows x nv. */
typedef struct lg_py_work {
    const lg_py_system *self;
    double *zeros; /* stand-in for a and lam */
    double *M, *J, *K, *D;
    double *q, *v, *theta; /* a place beside the point */
    double *upper, *lower, *rate; /* values there: nv or rows, whichever is more */
    double *values, *own; /* of B; of a block's own K */
} lg_py_work;

/* J v + d(phi)/dt, rows. */
lg_status lg_py_rate(const lg_py_work *work, const lg_py_place *place, double *J, double *rate);
/* zeta = -d(rate)/dt along the motion with v fixed, rows. */
lg_status lg_py_zeta(const lg_py_work *work, const lg_point *point, double *zeta);
/* Z = d(rate)/dq, rows x nv row-major. */
lg_status lg_py_Z(const lg_py_work *work, const lg_point *point, double *Z);
/* K = d(wa M a + gyro - force + J^T lam)/dq and D = d(gyro - force)/dv; NULL: not wanted. */
lg_status lg_py_tangent(const lg_py_work *work, const lg_point *point, double *K, double *D);

#endif
