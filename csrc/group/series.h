/* Coefficient functions of the exponential map and its tangent operator, each good to about 1e-15 relative on
   (0, pi] and beyond. Arguments: x2 is the squared angle; a suffix _d is the derivative with respect to x, divided
   by x. Sources: holzinger2024 (A4)-(A9), tumiotto2024 Table 2, with switches where the closed form does not cancel.

       sinc  = sin x / x                  cosc_d  = (sinc - 2 cosc) / x^2
       cosc  = (1 - cos x) / x^2          sincc_d = (cosc - 3 sincc) / x^2
       sincc = (x - sin x) / x^3          cotc_d  = (sincc / sinc(x/2)^2 - 2 cotc) / x^2
       cotc  = (1 - (x/2) cot(x/2)) / x^2, with poles at multiples of 2 pi */
#ifndef LG_GROUP_SERIES_H
#define LG_GROUP_SERIES_H

#include <math.h>

/* c[0] + c[1] y + ... of n (even) terms; even and odd powers run side by side, which halves the wait. */
static inline double lg_series(int n, const double *c, double y)
{
    double even = c[n - 2], odd = c[n - 1], y2 = y * y;
    for (int k = n - 4; k >= 0; k -= 2) {
        even = even * y2 + c[k];
        odd = odd * y2 + c[k + 1];
    }
    return even + y * odd;
}

/* Sine s and cosine c of x/2. The rounding of the square root is carried along: near the zeros of s and c their
   last digits depend on it. */
static inline void lg_half_angle(double x2, double *x, double *s, double *c)
{
    *x = sqrt(x2);
    double r = fma(-*x, *x, x2) / (4 * *x), s0 = sin(*x / 2), c0 = cos(*x / 2);
    *s = s0 + r * c0;
    *c = c0 - r * s0;
}

/* sinc, cosc and sincc at once: Taylor series up to x^2 = 2, half-angle forms above. */
static inline void lg_trig(double x2, double *sinc, double *cosc, double *sincc)
{
    static const double sinc_series[] = {1,
                                         -1 / 6.,
                                         1 / 120.,
                                         -1 / 5040.,
                                         1 / 362880.,
                                         -1 / 39916800.,
                                         1 / 6227020800.,
                                         -1 / 1307674368000.,
                                         1 / 355687428096000.,
                                         -1 / 121645100408832000.};
    static const double cosc_series[] = {1 / 2.,
                                         -1 / 24.,
                                         1 / 720.,
                                         -1 / 40320.,
                                         1 / 3628800.,
                                         -1 / 479001600.,
                                         1 / 87178291200.,
                                         -1 / 20922789888000.,
                                         1 / 6402373705728000.,
                                         -1 / 2432902008176640000.};
    static const double sincc_series[] = {1 / 6.,
                                          -1 / 120.,
                                          1 / 5040.,
                                          -1 / 362880.,
                                          1 / 39916800.,
                                          -1 / 6227020800.,
                                          1 / 1307674368000.,
                                          -1 / 355687428096000.,
                                          1 / 121645100408832000.,
                                          -1 / 51090942171709440000.};
    if (x2 < 2) {
        *sinc = lg_series(10, sinc_series, x2);
        *cosc = lg_series(10, cosc_series, x2);
        *sincc = lg_series(10, sincc_series, x2);
    } else {
        double x, s, c;
        lg_half_angle(x2, &x, &s, &c);
        *sinc = 2 * s * c / x;
        *cosc = 2 * s * s / x2;
        *sincc = (1 - *sinc) / x2;
    }
}

static inline double lg_sinc(double x2)
{
    double sinc, cosc, sincc;
    lg_trig(x2, &sinc, &cosc, &sincc);
    return sinc;
}

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

double lg_cotc(double x2);
double lg_cosc_d(double x2);
double lg_sincc_d(double x2);
double lg_cotc_d(double x2);

#endif
