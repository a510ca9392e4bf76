/* Curves through points: piecewise cubic with a continuous slope, monotone wherever the points are (Fritsch and Butland
   1984), straight beyond both ends, with the slope there. Two points make a straight line. */
#ifndef LG_MODEL_CURVE_H
#define LG_MODEL_CURVE_H

#include "model/element.h"

typedef struct lg_curve {
    int n;
    const double *x, *y; /* n values each; x ascends */
} lg_curve;

/* A curve as a parameter holds it: a count n, then n values of x and n of y. */
static inline lg_curve lg_curve_at(const double *p)
{
    return (lg_curve){(int)p[0], p + 1, p + 1 + (int)p[0]};
}

/* NULL, or what is wrong with a curve whose values, `count` of them, begin at p; *length: how many it takes. */
const char *lg_curve_check(const double *p, int count, int *length);

/* The value at x, and the slope there. */
double lg_curve_value(const lg_curve *curve, double x, double *slope);
/* The integral from 0 to x. */
double lg_curve_integral(const lg_curve *curve, double x);

#endif
