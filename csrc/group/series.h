/* Coefficient functions of the exponential map and its tangent operator, each good to about 1e-15 relative on
   [0, pi] and beyond. Arguments: x2 is the squared angle. Sources: holzinger2024 (A4)-(A9), tumiotto2024 Table 2. */
#ifndef LG_GROUP_SERIES_H
#define LG_GROUP_SERIES_H

double lg_sinc(double x2);       /* sin x / x */
double lg_cosc(double x2);       /* (1 - cos x) / x^2 */
double lg_sincc(double x2);      /* (x - sin x) / x^3 */
double lg_cotc(double x2);       /* (1 - (x/2) cot(x/2)) / x^2, poles at multiples of 2 pi */
/* Their derivatives with respect to x, divided by x. */
double lg_cosc_d(double x2);     /* (sinc x - 2 cosc x) / x^2 */
double lg_sincc_d(double x2);    /* (cosc x - 3 sincc x) / x^2 */
double lg_cotc_d(double x2);

#endif
