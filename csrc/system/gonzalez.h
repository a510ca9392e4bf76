/* Gonzalez' discrete gradient of a function f in a step by y: with a weight W and the gradient g in the middle,

       g + c W y,   c = (f1 - f0 - g . y)/N,   N = y . W y   (kinon2024 (71)),

   whose product with y is the change of f. */
#ifndef LG_SYSTEM_GONZALEZ_H
#define LG_SYSTEM_GONZALEZ_H

#include <float.h>
#include <math.h>

/* The change f''' |y|^3/24 that a correction makes good is round-off where y is shorter than this, relative to the
   lengths in f, while the correction itself is the round-off of f over |y|. */
#define LG_GONZALEZ_SHORT 6e-6

/* c for f1 - f0 = change and g . y = along; 0 where y is not longer than `shortest`. */
static inline double lg_gonzalez(double change, double along, double N, double shortest)
{
    return N > shortest * shortest ? (change - along) / N : 0;
}

/* The round-off of the correction, for the sum of sizes that callers count: of f at both ends, of g times positions. */
static inline double lg_gonzalez_noise(double sizes, double N, double shortest)
{
    return N > shortest * shortest ? DBL_EPSILON * sizes / sqrt(N) : 0;
}

/* dc for the derivatives of change - along and of N. */
static inline double lg_gonzalez_slope(double c, double N, double excess, double dN)
{
    return (excess - c * dN) / N;
}

#endif
