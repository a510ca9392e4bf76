/* Curves through points: piecewise cubic with a continuous slope, monotone wherever the points are (Fritsch and Butland
   1984), straight beyond both ends, with the slope there. Two points make a straight line. */
#ifndef LG_MODEL_CURVE_H
#define LG_MODEL_CURVE_H

#include "model/element.h"

typedef struct lg_curve {
    int n;
    const double *x, *y; /* n values each; x ascends */
} lg_curve;

/* Curves as a parameter holds them, one after the other: 0 for none, or a count n, n values of x and n of y. The next
   one, which has no points if there is none; *p moves on behind it. */
static inline lg_curve lg_curve_next(const double **p)
{
    lg_curve curve = {(int)**p, *p + 1, *p + 1 + (int)**p};
    *p += 1 + 2 * curve.n;
    return curve;
}

/* NULL, or what is wrong with `count` curves that fill a parameter from p to `end`. */
const char *lg_curves_check(const double *p, const double *end, int count);

/* The value at x, and the slope there. */
double lg_curve_value(const lg_curve *curve, double x, double *slope);
/* The integral to x, from 0 or, where the points do not span it, from the one nearest to 0. */
double lg_curve_integral(const lg_curve *curve, double x);

#endif
