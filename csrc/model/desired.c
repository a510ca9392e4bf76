/* Desired motions of coordinates; see desired.h. */
#include "model/desired.h"

#include "model/source.h"

lg_status lg_desired_check(const lg_element *e, const double *first, const char **reason)
{
    const double *end = e->p + e->np;
    *reason = NULL;
    if ((end - first) % LG_PIECE)
        *reason = "each piece of the motion needs four values";
    for (const double *p = first; end - p >= 2 * LG_PIECE; p += LG_PIECE)
        if (!(p[LG_PIECE + LG_PIECE_BEGIN] > p[LG_PIECE_BEGIN]))
            *reason = "the pieces of the motion must ascend";
    return *reason ? LG_BAD_ARGUMENT : LG_OK;
}

lg_status lg_desired_function(const lg_element *e, const double *first, const lg_point *at, double motion[3])
{
    double t = at->t;
    for (const double *piece = first; piece < e->p + e->np; piece += LG_PIECE)
        t = lg_beside_kink(t, piece[LG_PIECE_BEGIN], at->t_in);
    return e->function.call(e->function.self, t, 3, motion);
}

double lg_desired_next_kink(const lg_element *e, const double *first, double t)
{
    for (const double *p = first; p < e->p + e->np; p += LG_PIECE)
        if (p[LG_PIECE_BEGIN] > t)
            return p[LG_PIECE_BEGIN];
    return INFINITY;
}

typedef struct sample {
    double t, motion[3];
} sample;

static lg_status take_sample(const lg_element *e, double t, sample *at)
{
    at->t = t;
    return e->function.call(e->function.self, t, 3, at->motion);
}

/* By how much the coordinate (`level` 0) or the rate (1) changes beyond the trapezoidal sum of its derivative. */
static double beyond(const sample *a, const sample *b, int level)
{
    const double *x = a->motion + level, *y = b->motion + level;
    return fabs(y[0] - x[0] - (b->t - a->t) / 2 * (x[1] + y[1]));
}

/* What the accuracy of a function leaves, in m or rad, and per second of rates. */
static double tolerance(const sample *a, const sample *b, int level)
{
    const double *x = a->motion + level, *y = b->motion + level;
    return 1e-9 + 1e-6 * (fabs(x[0]) + fabs(y[0]) + (b->t - a->t) * (fabs(x[1]) + fabs(y[1])));
}

static lg_status search_jump(const lg_element *e, int level, sample a, sample b, lg_report *report)
{
    static const char *const names[] = {"coordinate", "rate"};
    double most = tolerance(&a, &b, level);
    while (beyond(&a, &b, level) > most) {
        sample middle;
        double t = a.t + (b.t - a.t) / 2;
        if (t <= a.t || t >= b.t) {
            lg_report_say(report, "the %s of %.*s jumps from %.6g to %.6g at t = %.6g", names[level], LG_SHORT(e->name),
                          a.motion[level], b.motion[level], b.t);
            return LG_JUMPED;
        }
        LG_TRY(take_sample(e, t, &middle));
        if (beyond(&a, &middle, level) > beyond(&middle, &b, level))
            b = middle;
        else
            a = middle;
    }
    return LG_OK;
}

lg_status lg_desired_continuous(const lg_element *e, double begin, double end, lg_report *report)
{
    sample a, b;
    if (!e->function.call || !(end > begin))
        return LG_OK;
    LG_TRY(take_sample(e, begin, &a));
    LG_TRY(take_sample(e, end, &b));
    for (int level = 0; level < 2; level++)
        LG_TRY(search_jump(e, level, a, b, report));
    return LG_OK;
}
