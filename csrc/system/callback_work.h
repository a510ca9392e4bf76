/* The data of a system made of functions and of one evaluation of it; private to its files. */
#ifndef LG_SYSTEM_CALLBACK_WORK_H
#define LG_SYSTEM_CALLBACK_WORK_H

#include "core/arena.h"
#include "system/callback_function.h"
#include "system/layout.h"
#include "system/system.h"

typedef struct lg_callbacks {
    lg_system system;
    lg_space space;
    lg_pattern pattern;
    lg_callback function[LG_CALLS];
    int rows; /* of `constraint`; the blocks' own rows follow */
    int nkinks;
    void (*forget)(void); /* as in lg_callbacks_spec */
    lg_arena arena; /* owns the arrays below, and those of the space and the pattern */
    double *kinks;
    char (*row_name)[48];
} lg_callbacks;

/* The scratch of an evaluation. J is rows x nv. */
typedef struct lg_callback_work {
    const lg_callbacks *self;
    double *zeros; /* used where a or lam is not given */
    double *M, *J, *Z, *K, *D; /* D follows K without a gap */
    double *q, *v, *theta; /* a state near the point, for differences */
    double *upper, *lower, *rate; /* values there; their length is the larger of nv and rows */
    double *values, *own; /* the values of B, and the blocks' own K */
} lg_callback_work;

/* Carves the scratch from an arena; on an arena without memory it measures the size needed. */
void lg_callback_layout_work(lg_callback_work *work, lg_arena *arena);

/* Calls a function, which must have been given. */
static inline lg_status lg_callback_call(const lg_callbacks *self, enum lg_call call, const lg_callback_point *at,
                                         double *out)
{
    return self->function[call].call(self->function[call].self, at, out);
}

/* Functions are called with finite states only: LG_NOT_FINITE if q or v is not finite. */
lg_status lg_callback_check(const lg_callbacks *self, const double *q, const double *v);

/* Copies a row-major rows x nv matrix to the group's part of the values of B or Z. */
void lg_callback_put_group(const lg_callbacks *self, const double *J, double *values);
/* The time passed to the functions: at a kink it is moved by one rounding error towards t_in. */
double lg_callback_time(const lg_callbacks *self, double t, double t_in);

#endif
