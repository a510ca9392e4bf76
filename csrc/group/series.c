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

/* From z cot z = 1 - 2 sum_k z^2 / (k^2 pi^2 - z^2): cotc = sum_k 2 / (4 k^2 pi^2 - x^2), and by differentiation
   cotc_d = sum_k 4 / (4 k^2 pi^2 - x^2)^2, cotc_dd = sum_k 16 / (4 k^2 pi^2 - x^2)^3. The first terms are p, p^2 and
   2 p^3; the others are power series in x^2, with e = 1 / (4 pi^2) and zeta(n) - 1 = sum_(k > 1) k^-n:
   sum_m 2 e^(m + 1) (zeta(2m + 2) - 1) x^2m, sum_m 4 (m + 1) e^(m + 2) (zeta(2m + 4) - 1) x^2m and
   sum_m 8 (m + 1) (m + 2) e^(m + 3) (zeta(2m + 6) - 1) x^2m. All terms are positive. */
/* clang-format off */
static const double cotc_rest[] = {
    0.032672741512164448, 0.00010564110705334699, 5.6373702828768453e-7, 3.3571419266574514e-9,
    2.0742872904166046e-11, 1.3000482138698974e-13, 8.1960520556910086e-16, 5.1801181961697243e-18,
    3.2775391747017918e-20, 2.0747401878593605e-22, 1.3136241807166534e-24, 8.3180031951892641e-27,
    5.2672629968342309e-29, 3.3354842988221443e-31};
static const double cotc_d_rest[] = {
    0.00021128221410669398, 2.2549481131507381e-6, 2.0142851559944708e-8, 1.6594298323332836e-10,
    1.3000482138698974e-12, 9.8352624668292103e-15, 7.252165474637614e-17, 5.2440626795228669e-19,
    3.7345323381468488e-21, 2.6272483614333068e-23, 1.8299607029416381e-25, 1.2641431192402154e-27,
    8.6722591769375753e-30, 5.9141777304914879e-32};
static const double cotc_dd_rest[] = {
    4.5098962263014762e-6, 8.0571406239778833e-8, 9.9565789939997019e-10, 1.0400385710959179e-11,
    9.8352624668292103e-14, 8.7025985695651368e-16, 7.3416877513320137e-18, 5.9752517410349581e-20,
    4.7290470505799522e-22, 3.6599214058832762e-24, 2.7811148623284739e-26, 2.0813422024650181e-28,
    1.5376862099277869e-30, 1.1235557838300805e-32, 8.1314182355042368e-35, 5.8358481787614001e-37,
    4.1575422278193316e-39, 2.9425345540186952e-41};
/* clang-format on */

static const double series_end =
    13; /* of x^2: up to here 14 terms suffice, and beyond it the closed forms cancel little */

static double first_pole(double x2)
{
    return 2 / (four_pi2 - x2);
}

/* n terms of a series above. Up to a tenth of a radian four of them suffice, and up to one radian eight: what they
   leave out is less than 5e-18 of the whole. */
static inline double rest(int n, const double *series, double x2)
{
    return x2 < 0.01 ? lg_series(4, series, x2) : x2 < 1 ? lg_series(8, series, x2) : lg_series(n, series, x2);
}

double lg_cotc(double x2)
{
    if (x2 < series_end)
        return first_pole(x2) + rest(14, cotc_rest, x2);

    double x, s, c;
    half_angle(x2, &x, &s, &c);
    return (1 - x * c / (2 * s)) / x2;
}

double lg_cotc_d(double x2)
{
    if (x2 < series_end) {
        double p = first_pole(x2);
        return p * p + rest(14, cotc_d_rest, x2);
    }

    double x, s, c;
    half_angle(x2, &x, &s, &c);
    double cot = c / s, sin2 = s * s;
    return (1 / (4 * sin2) + cot / (2 * x) - 2 / x2) / x2;
}

/* The closed form cancels near pi, so the series is used somewhat beyond it. */
double lg_cotc_dd(double x2)
{
    if (x2 < 20) {
        double p = first_pole(x2);
        return 2 * p * p * p + rest(18, cotc_dd_rest, x2);
    }

    double x, s, c;
    half_angle(x2, &x, &s, &c);
    double cot = c / s, sin2 = s * s;
    return (8 / x2 - 3 * cot / (2 * x) - (3 + x * cot) / (4 * sin2)) / (x2 * x2);
}

lg_cotangent lg_cotangent_of(double x2)
{
    if (x2 < series_end) {
        double p = first_pole(x2);
        return (lg_cotangent){.c = p + rest(14, cotc_rest, x2), .d = p * p + rest(14, cotc_d_rest, x2)};
    }
    return (lg_cotangent){.c = lg_cotc(x2), .d = lg_cotc_d(x2)};
}

double lg_sincc_d(double x2)
{
    /* clang-format off */
    static const double series[] = {-1 / 60., 1 / 1260., -1 / 60480., 1 / 4989600., -1 / 622702080., 1 / 108972864000.,
        -1 / 25406244864000., 1 / 7602818775552000., -1 / 2838385676206080000., 1 / 1292600836944248832000.,
        -1 / 705055001969590272000000., 1 / 453702893767431340032000000.,
        -1 / 340067768989988536713216000000., 1 / 293672809077782957775912960000000.};
    /* clang-format on */
    if (x2 < series_end)
        return lg_series(14, series, x2);

    double sinc, cosc, sincc;
    lg_trig(x2, &sinc, &cosc, &sincc);
    return (cosc - 3 * sincc) / x2;
}
