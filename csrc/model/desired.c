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

/* ---- continuity ---- */

typedef struct sample {
    double t, motion[LG_COURSE_LEVELS * LG_COURSE_WIDTH];
} sample;

/* The values at t of a step that the search looks into, before or after a kink at which the motion may jump. */
static lg_status take_sample(const lg_course *m, double t, double inside, sample *at)
{
    at->t = t;
    for (const double *kink = m->kinks; kink < m->end; kink += m->stride)
        t = lg_beside_kink(t, *kink, inside);
    return m->e->function.call(m->e->function.self, t, LG_COURSE_LEVELS * m->n, at->motion);
}

/* By how much component i of the value (`level` 0) or of the rate (1) changes beyond the trapezoidal sum of its
   derivative. */
static double beyond(const lg_course *m, const sample *a, const sample *b, int level, int i)
{
    const double *x = a->motion + level * m->n + i, *y = b->motion + level * m->n + i;
    return fabs(y[0] - x[0] - (b->t - a->t) / 2 * (x[m->n] + y[m->n]));
}

/* What the accuracy of a function leaves, in m or rad, and per second of rates. */
static double tolerance(const lg_course *m, const sample *a, const sample *b, int level, int i)
{
    const double *x = a->motion + level * m->n + i, *y = b->motion + level * m->n + i;
    return 1e-9 + 1e-6 * (fabs(x[0]) + fabs(y[0]) + (b->t - a->t) * (fabs(x[m->n]) + fabs(y[m->n])));
}

static lg_status search_jump(const lg_course *m, int level, int i, sample a, sample b, lg_report *report)
{
    static const char *const names[] = {"coordinate", "rate"};
    double most = tolerance(m, &a, &b, level, i), inside = a.t + (b.t - a.t) / 2;
    while (beyond(m, &a, &b, level, i) > most) {
        sample middle;
        double t = a.t + (b.t - a.t) / 2;
        if (t <= a.t || t >= b.t) {
            lg_report_say(report, "the %s of %.*s jumps from %.6g to %.6g at t = %.6g", names[level],
                          LG_SHORT(m->e->name), a.motion[level * m->n + i], b.motion[level * m->n + i], b.t);
            return LG_JUMPED;
        }
        LG_TRY(take_sample(m, t, inside, &middle));
        if (beyond(m, &a, &middle, level, i) > beyond(m, &middle, &b, level, i))
            b = middle;
        else
            a = middle;
    }
    return LG_OK;
}

lg_status lg_course_continuous(const lg_course *m, double begin, double end, lg_report *report)
{
    sample a, b;
    double inside = begin + (end - begin) / 2;
    if (!(end > begin))
        return LG_OK;
    LG_TRY(take_sample(m, begin, inside, &a));
    LG_TRY(take_sample(m, end, inside, &b));
    for (int level = 0; level < 2; level++)
        for (int i = 0; i < m->n; i++)
            LG_TRY(search_jump(m, level, i, a, b, report));
    return LG_OK;
}
