/* Functions that all linear kinds share, for a fixed size or for `n`: q = q0 + theta, T = I, ad = 0. */
#ifndef LG_GROUP_LINEAR_H
#define LG_GROUP_LINEAR_H

#include "core/small.h"
#include "group/node.h"

/* Defines the static functions kind_retract to kind_ad. */
#define LG_LINEAR_FUNCTIONS(kind, size)                                                                                \
    static void kind##_retract(int n, const double *q0, const double *theta, double *q)                                \
    {                                                                                                                  \
        (void)n;                                                                                                       \
        for (int i = 0; i < (size); i++)                                                                               \
            q[i] = q0[i] + theta[i];                                                                                   \
    }                                                                                                                  \
    static void kind##_difference(int n, const double *q0, const double *q1, double *theta)                            \
    {                                                                                                                  \
        (void)n;                                                                                                       \
        for (int i = 0; i < (size); i++)                                                                               \
            theta[i] = q1[i] - q0[i];                                                                                  \
    }                                                                                                                  \
    static void kind##_rate(int n, const double *q0, const double *theta, const double *v, double *thetadot)           \
    {                                                                                                                  \
        (void)n, (void)q0, (void)theta;                                                                                \
        lg_copy(size, v, thetadot);                                                                                    \
    }                                                                                                                  \
    static void kind##_tangent(int n, const double *theta, double *T)                                                  \
    {                                                                                                                  \
        (void)n, (void)theta;                                                                                          \
        lg_zero((size) * (size), T);                                                                                   \
        for (int i = 0; i < (size); i++)                                                                               \
            T[i * (size) + i] = 1;                                                                                     \
    }                                                                                                                  \
    static void kind##_tangent_mul(int n, const double *theta, const double *v, double *w)                             \
    {                                                                                                                  \
        (void)n, (void)theta;                                                                                          \
        lg_copy(size, v, w);                                                                                           \
    }                                                                                                                  \
    static void kind##_ad(int n, const double *v, double *A)                                                           \
    {                                                                                                                  \
        (void)n, (void)v;                                                                                              \
        lg_zero((size) * (size), A);                                                                                   \
    }

/* Their initialisers in a kind's row. */
#define LG_LINEAR_ROW(kind)                                                                                            \
    .linear = 1, .retract = kind##_retract, .difference = kind##_difference, .rate = kind##_rate,                      \
    .tangent = kind##_tangent, .tangent_inv = kind##_tangent, .tangent_mul = kind##_tangent_mul, .ad = kind##_ad

#endif
