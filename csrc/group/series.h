/* Coefficient functions of the exponential map and its tangent operator, each accurate to 1e-15 relative up to 330
   degrees and, beyond, as accurate as the rounded angle allows. Arguments: x2 is the squared angle; a suffix _d is the
   derivative with respect to x, divided by x. Sources: holzinger2024 (A4)-(A9), tumiotto2024 Table 2; series give way
   to closed forms where the latter do not cancel.

       sinc  = sin x / x                  cosc_d  = (sinc - 2 cosc) / x^2
       cosc  = (1 - cos x) / x^2          sincc_d = (cosc - 3 sincc) / x^2
       sincc = (x - sin x) / x^3          cotc_d  = (sincc / sinc(x/2)^2 - 2 cotc) / x^2
       cotc  = (1 - (x/2) cot(x/2)) / x^2, with poles at multiples of 2 pi
       cotc_dd = d/dx cotc_d / x */
#ifndef LG_GROUP_SERIES_H
#define LG_GROUP_SERIES_H

#include "core/two.h"

/* c[0] + c[1] y + ... with an even number n of terms; even and odd powers are summed in parallel. */
static LG_INLINE double lg_series(int n, const double *c, double y)
{
    lg_two sum = lg_load_two(c + n - 2), y2 = {y * y, y * y};
    for (int k = n - 4; k >= 0; k -= 2)
        sum = sum * y2 + lg_load_two(c + k);
    return sum[0] + y * sum[1];
}

/* The same for two series at once. */
static LG_INLINE lg_two lg_both_series(int n, const lg_two *c, double y)
{
    lg_two even = c[n - 2], odd = c[n - 1], y1 = {y, y}, y2 = y1 * y1;
    for (int k = n - 4; k >= 0; k -= 2) {
        even = even * y2 + c[k];
        odd = odd * y2 + c[k + 1];
    }
    return even + y1 * odd;
}

/* sinc, cosc and sincc of half the angle: Taylor series up to a whole angle of sqrt(10), closed forms above it, where
   nothing cancels. In most steps a few terms suffice: four up to a whole angle of 0.06, where the fifth is below 3e-18,
   and six up to 1/2, where the seventh is below 1e-17. */
static inline void lg_half_trig(double x2, double *sinc, double *cosc, double *sincc)
{
    /* clang-format off */
    static const double sinc_series[] = {1, -1 / 6., 1 / 120., -1 / 5040., 1 / 362880., -1 / 39916800.,
        1 / 6227020800., -1 / 1307674368000., 1 / 355687428096000., -1 / 121645100408832000.,
        1 / 51090942171709440000., -1 / 25852016738884976640000.};
    /* cosc and sincc */
    static const lg_two other_series[] = {{1 / 2., 1 / 6.}, {-1 / 24., -1 / 120.}, {1 / 720., 1 / 5040.},
        {-1 / 40320., -1 / 362880.}, {1 / 3628800., 1 / 39916800.}, {-1 / 479001600., -1 / 6227020800.},
        {1 / 87178291200., 1 / 1307674368000.}, {-1 / 20922789888000., -1 / 355687428096000.},
        {1 / 6402373705728000., 1 / 121645100408832000.}, {-1 / 2432902008176640000., -1 / 51090942171709440000.}};
    /* clang-format on */
    double z2 = 0.25 * x2;
    lg_two others;
    if (x2 < 0.0036) {
        *sinc = lg_series(4, sinc_series, z2);
        others = lg_both_series(4, other_series, z2);
    } else if (x2 < 0.25) {
        *sinc = lg_series(6, sinc_series, z2);
        others = lg_both_series(6, other_series, z2);
    } else if (x2 < 10) {
        *sinc = lg_series(12, sinc_series, z2);
        others = lg_both_series(10, other_series, z2);
    } else {
        double z = sqrt(z2), r = fma(-z, z, z2) / (2 * z); /* the rounding error of the root */
        *sinc = (sin(z) + r * cos(z)) / z;
        others = (lg_two){(1 - cos(z)) / z2, (1 - *sinc) / z2};
    }
    *cosc = others[0];
    *sincc = others[1];
}

/* sinc, cosc and sincc of the whole angle, by doubling. Up to pi these are sums of positive terms, except for sinc,
   whose absolute error near its zeros is the round-off of 1. */
static inline void lg_trig(double x2, double *sinc, double *cosc, double *sincc)
{
    double s, c, ss;
    lg_half_trig(x2, &s, &c, &ss);
    *sinc = s * (1 - 0.25 * x2 * c);
    *cosc = 0.5 * s * s;
    *sincc = 0.25 * (ss + s * c);
}

/* All functions that a rotation by an angle x needs, from one evaluation at half the angle: for the exponential map and
   T, for quaternions, and for T^-1 by cotc = (cosc - sincc) / (4 sinc), whose right-hand side is taken at x/2. */
typedef struct lg_angle {
    double sinc, cosc, sincc, cotc;
    double cosc_d;
    double half_cos, half_sin; /* cos(x/2), sin(x/2)/x */
} lg_angle;

static inline lg_angle lg_angle_of(double x2)
{
    double s, c, ss;
    lg_half_trig(x2, &s, &c, &ss);
    double half_cos = 1 - 0.25 * x2 * c;
    return (lg_angle){.sinc = s * half_cos,
                      .cosc = 0.5 * s * s,
                      .sincc = 0.25 * (ss + s * c),
                      .cotc = 0.25 * (c - ss) / s,
                      .cosc_d = -0.25 * s * (c - ss),
                      .half_cos = half_cos,
                      .half_sin = 0.5 * s};
}

double lg_sinc(double x2); /* to full relative precision, even near its zeros */

static inline double lg_cosc(double x2)
{
    double sinc, cosc, sincc;
    lg_trig(x2, &sinc, &cosc, &sincc);
    return cosc;
}

static inline double lg_sincc(double x2)
{
    double sinc, cosc, sincc;
    lg_trig(x2, &sinc, &cosc, &sincc);
    return sincc;
}

/* By doubling: -sinc (cosc - sincc) / 4 at half the angle. */
static inline double lg_cosc_d(double x2)
{
    double s, c, ss;
    lg_half_trig(x2, &s, &c, &ss);
    return -0.25 * s * (c - ss);
}

double lg_cotc(double x2);
double lg_sincc_d(double x2);
double lg_cotc_d(double x2);
double lg_cotc_dd(double x2);

/* The functions of the angle in T^-1 on SE(3): cotc and cotc_d from one evaluation, which needs no trigonometric
   function up to x^2 = 13. */
typedef struct lg_cotangent {
    double c, d;
} lg_cotangent;

lg_cotangent lg_cotangent_of(double x2);

#endif
