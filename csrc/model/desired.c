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
