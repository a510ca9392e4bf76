/* The data of a system made of functions, which callback.c sets up and evaluates and callback_difference.c
   differentiates. */
#ifndef LG_SYSTEM_CALLBACK_WORK_H
#define LG_SYSTEM_CALLBACK_WORK_H

#include "core/arena.h"
#include "system/callback.h"

struct lg_callbacks {
    lg_system system;
    lg_space space;
    lg_pattern pattern;
    lg_callback function[LG_CALLS];
    int rows; /* of `constraint`; the blocks' own rows follow */
    int nkinks;
    lg_arena arena; /* owns the arrays below, and those of the space and the pattern */
    double *kinks;
    char (*row_name)[48];
};

/* The scratch of an evaluation. J is rows x nv. */
typedef struct lg_callback_work {
    const lg_callbacks *self;
    double *zeros; /* used in place of a and lam that are not given */
    double *M, *J, *Z, *K, *D; /* D follows K without a gap */
    double *q, *v, *theta; /* a state near the point, for differences */
    double *upper, *lower, *rate; /* values there; their length is the larger of nv and rows */
    double *values, *own; /* of B; of a block's own K */
} lg_callback_work;

/* Calls a function, which must have been given. */
static inline lg_status lg_callback_call(const lg_callbacks *self, enum lg_call call, const lg_callback_point *at,
                                         double *out)
{
    return self->function[call].call(self->function[call].self, at, out);
}

/* The functions of a step; see callback_pair.c. */
lg_status lg_callback_pair(void *self, const lg_pair *pair, const lg_pair_wanted *wanted);
lg_status lg_callback_kinetic(void *self, const lg_pair *pair, const lg_kinetic_wanted *wanted);
int lg_callback_without_step(void *self, const lg_pair *pair);
/* How many doubles of scratch they need. */
size_t lg_callback_pair_work(const lg_callbacks *self);

/* Functions are only called with finite states: LG_NOT_FINITE if q or v is not finite. */
lg_status lg_callback_check(const lg_callbacks *self, const double *q, const double *v);

/* The step of differences by coordinate j. It grows with the size of the coordinates of linear blocks, which may be
   large. */
double lg_callback_step(const lg_callbacks *self, const double *q, int j);

/* rate = J v + d(phi)/dt; J is work->J afterwards. */
lg_status lg_callback_rate(const lg_callback_work *work, const lg_callback_point *at, double *rate);
/* Row-major rows x nv into the group's part of the values of B or Z. */
void lg_callback_put_group(const lg_callbacks *self, const double *J, double *values);
/* The time passed to the functions: at a kink it is moved by one rounding error towards t_in. */
double lg_callback_time(const lg_callbacks *self, double t, double t_in);

/* zeta = -d(rate)/dt along the motion with v fixed. */
lg_status lg_callback_zeta(const lg_callback_work *work, const lg_callback_point *at, double *zeta);
/* work->Z = d(rate)/dq. */
lg_status lg_callback_Z(const lg_callback_work *work, const lg_callback_point *at);
/* work->K = d(wa M a + gyro - force + J^T lam)/dq and work->D = d(gyro - force)/dv, whichever are wanted. */
lg_status lg_callback_tangent(const lg_callback_work *work, const lg_callback_point *at, double wa, int wants_K,
                              int wants_D);

#endif
