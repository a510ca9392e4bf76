/* The coefficient functions that lg_trig does not provide; series.h defines them. */
#include "group/series.h"

static const double four_pi2 = 39.478417604357434;

/* x and the sine s and cosine c of x/2. The rounding error r of the square root is taken into account, since s and c
   depend on it near their zeros. */
static void half_angle(double x2, double *x, double *s, double *c)
{
    *x = sqrt(x2);
    double r = fma(-*x, *x, x2) / (4 * *x), s0 = sin(*x / 2), c0 = cos(*x / 2);
    *s = s0 + r * c0;
    *c = c0 - r * s0;
}

double lg_sinc(double x2)
{
    double x, s, c;
    if (x2 < 2) {
        double cosc, sincc;
        lg_trig(x2, &s, &cosc, &sincc);
        return s;
    }
    half_angle(x2, &x, &s, &c);
    return 2 * s * c / x;
}

/* From z cot z = 1 - 2 sum_k z^2 / (k^2 pi^2 - z^2): cotc = sum_k 2 / (4 k^2 pi^2 - x^2). The first term is evaluated
   directly, the others by the power series sum_m 2 (zeta(2m + 2) - 1) / (4 pi^2)^(m + 1) x^2m. All terms are
   positive. */
double lg_cotc(double x2)
{
    /* clang-format off */
    static const double series[] = {0.032672741512164448, 0.00010564110705334699, 5.6373702828768453e-7,
        3.3571419266574514e-9, 2.0742872904166046e-11, 1.3000482138698974e-13, 8.1960520556910086e-16,
        5.1801181961697243e-18, 3.2775391747017918e-20, 2.0747401878593605e-22, 1.3136241807166534e-24,
        8.3180031951892641e-27, 5.2672629968342309e-29, 3.3354842988221443e-31};
    /* clang-format on */
    if (x2 < 10)
        return 2 / (four_pi2 - x2) + lg_series(14, series, x2);

    double x, s, c;
    half_angle(x2, &x, &s, &c);
    return (1 - x * c / (2 * s)) / x2;
}

double lg_sincc_d(double x2)
{
    /* clang-format off */
    static const double series[] = {-1 / 60., 1 / 1260., -1 / 60480., 1 / 4989600., -1 / 622702080., 1 / 108972864000.,
        -1 / 25406244864000., 1 / 7602818775552000., -1 / 2838385676206080000., 1 / 1292600836944248832000.,
        -1 / 705055001969590272000000., 1 / 453702893767431340032000000.};
    /* clang-format on */
    if (x2 < 10)
        return lg_series(12, series, x2);

    double sinc, cosc, sincc;
    lg_trig(x2, &sinc, &cosc, &sincc);
    return (cosc - 3 * sincc) / x2;
}

/* The derivative of the sum for cotc: sum_k 4 / (4 k^2 pi^2 - x^2)^2, the terms k > 1 as the power series
   sum_m 4 (m + 1) (zeta(2m + 4) - 1) / (4 pi^2)^(m + 2) x^2m. */
double lg_cotc_d(double x2)
{
    /* clang-format off */
    static const double series[] = {0.00021128221410669398, 2.2549481131507381e-6, 2.0142851559944708e-8,
        1.6594298323332836e-10, 1.3000482138698974e-12, 9.8352624668292103e-15, 7.252165474637614e-17,
        5.2440626795228669e-19, 3.7345323381468488e-21, 2.6272483614333068e-23, 1.8299607029416381e-25,
        1.2641431192402154e-27, 8.6722591769375753e-30, 5.9141777304914879e-32};
    /* clang-format on */
    if (x2 < 10) {
        double pole = 2 / (four_pi2 - x2);
        return pole * pole + lg_series(14, series, x2);
    }

    double x, s, c;
    half_angle(x2, &x, &s, &c);
    double cot = c / s, sin2 = s * s;
    return (1 / (4 * sin2) + cot / (2 * x) - 2 / x2) / x2;
}
