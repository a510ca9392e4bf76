/* The derivatives of a system made of functions that are formed by differences. */
#ifndef LG_SYSTEM_CALLBACK_DIFFERENCE_H
#define LG_SYSTEM_CALLBACK_DIFFERENCE_H

#include "system/callback_work.h"

/* The step of differences in coordinate j. It grows with the coordinates of linear blocks, which may be large. */
double lg_callback_step(const lg_callbacks *self, const double *q, int j);

/* rate = J v + d(phi)/dt; leaves J in work->J. */
lg_status lg_callback_rate(const lg_callback_work *work, const lg_callback_point *at, double *rate);
/* zeta = -d(rate)/dt along the motion with v fixed. */
lg_status lg_callback_zeta(const lg_callback_work *work, const lg_callback_point *at, double *zeta);
/* work->Z = d(rate)/dq. */
lg_status lg_callback_Z(const lg_callback_work *work, const lg_callback_point *at);
/* work->K = d(wa M a + gyro - force + J^T lam)/dq and work->D = d(gyro - force)/dv, whichever are wanted. */
lg_status lg_callback_tangent(const lg_callback_work *work, const lg_callback_point *at, double wa, int wants_K,
                              int wants_D);

#endif
