/* Curves through points; see curve.h. */
#include "model/curve.h"

/* The slope of the chord that begins at point i, and its length. */
static double chord(const lg_curve *curve, int i, double *h)
{
    *h = curve->x[i + 1] - curve->x[i];
    return (curve->y[i + 1] - curve->y[i]) / *h;
}

/* The slope at an end, from the nearest two chords, such that the curve stays monotone. */
static double end_slope(double h0, double m0, double h1, double m1)
{
    double slope = ((2 * h0 + h1) * m0 - h0 * m1) / (h0 + h1);
    if (slope * m0 <= 0)
        return 0;
    return m0 * m1 <= 0 && fabs(slope) > 3 * fabs(m0) ? 3 * m0 : slope;
}

/* The slope at point i: the weighted harmonic mean of both chords, or 0 where they differ in sign. */
static double slope_at(const lg_curve *curve, int i)
{
    double h0, h1, m0 = chord(curve, i > 0 ? i - 1 : 0, &h0), m1;
    if (curve->n == 2)
        return m0;
    if (i == 0 || i == curve->n - 1) {
        m0 = chord(curve, i ? i - 1 : 0, &h0), m1 = chord(curve, i ? i - 2 : 1, &h1);
        return end_slope(h0, m0, h1, m1);
    }
    m1 = chord(curve, i, &h1);
    if (m0 * m1 <= 0)
        return 0;
    return 3 * (h0 + h1) / ((2 * h1 + h0) / m0 + (h1 + 2 * h0) / m1);
}

double lg_curve_value(const lg_curve *curve, double x, double *slope)
{
    int last = curve->n - 1, end = x <= curve->x[0] ? 0 : last;
    if (x <= curve->x[0] || x >= curve->x[last]) {
        *slope = slope_at(curve, end);
        return curve->y[end] + *slope * (x - curve->x[end]);
    }
    int i = (int)lg_piece_of(curve->n, curve->x, x);
    double h, m = chord(curve, i, &h), d0 = slope_at(curve, i), d1 = slope_at(curve, i + 1), s = x - curve->x[i];
    double c = (3 * m - 2 * d0 - d1) / h, d = (d0 + d1 - 2 * m) / (h * h);
    *slope = d0 + s * (2 * c + 3 * s * d);
    return curve->y[i] + s * (d0 + s * (c + s * d));
}

/* ---- its integral ---- */

/* From point i to x in the piece that begins there. */
static double piece_integral(const lg_curve *curve, int i, double x)
{
    double h, m = chord(curve, i, &h), d0 = slope_at(curve, i), d1 = slope_at(curve, i + 1), s = x - curve->x[i];
    double c = (3 * m - 2 * d0 - d1) / h, d = (d0 + d1 - 2 * m) / (h * h);
    return s * (curve->y[i] + s * (d0 / 2 + s * (c / 3 + s * d / 4)));
}

/* From the first point. */
static double integral_from_first(const lg_curve *curve, double x)
{
    int last = curve->n - 1, end = x <= curve->x[0] ? 0 : last;
    double sum = 0, inner = x < curve->x[0] ? curve->x[0] : x > curve->x[last] ? curve->x[last] : x;
    int piece = (int)lg_piece_of(curve->n, curve->x, inner);
    for (int i = 0; i < piece; i++)
        sum += piece_integral(curve, i, curve->x[i + 1]);
    sum += piece_integral(curve, piece, inner);
    double beyond = x - inner;
    return sum + beyond * (curve->y[end] + slope_at(curve, end) * beyond / 2);
}

double lg_curve_integral(const lg_curve *curve, double x)
{
    return integral_from_first(curve, x) -
           integral_from_first(curve, fmin(fmax(0, curve->x[0]), curve->x[curve->n - 1]));
}

/* ---- as a parameter ---- */

/* What is wrong with the curve at p, of which there are `count` values; *length: how many it takes. */
static const char *check_one(const double *p, long count, long *length)
{
    int n = p[0] >= 2 && p[0] < (double)count ? (int)p[0] : 0;
    *length = 1 + 2L * n;
    if (p[0] == 0)
        return NULL;
    if (!n || p[0] != n || count < *length)
        return "a curve needs a count of at least two, and that many values of both kinds";
    for (int i = 1; i < n; i++)
        if (!(p[1 + i] > p[i]))
            return "the points of a curve must ascend";
    return NULL;
}

const char *lg_curves_check(const double *p, const double *end, int count)
{
    for (int i = 0; i < count && p < end; i++) {
        long length;
        const char *wrong = check_one(p, end - p, &length);
        if (wrong)
            return wrong;
        p += length;
        if (i == count - 1 && p == end)
            return NULL;
    }
    return "the number of curves is not the one that is expected";
}
