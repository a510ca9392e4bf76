/* Desired motions of coordinates; see desired.h. */
#include "model/desired.h"

enum { BEGIN, COORDINATE, RATE, SECOND_RATE, PIECE };

lg_status lg_desired_check(const lg_element *e, const double *first, const char **reason)
{
    const double *end = e->p + e->np;
    *reason = NULL;
    if ((end - first) % PIECE)
        *reason = "each piece of the motion needs four values";
    for (const double *p = first; end - p >= 2 * PIECE; p += PIECE)
        if (!(p[PIECE + BEGIN] > p[BEGIN]))
            *reason = "the pieces of the motion must ascend";
    return *reason ? LG_BAD_ARGUMENT : LG_OK;
}

/* t_in selects the piece. */
lg_status lg_desired(const lg_element *e, const double *first, const lg_point *at, double motion[3])
{
    const double *piece = first, *end = e->p + e->np;
    lg_zero(3, motion);
    if (e->function.call)
        return e->function.call(e->function.self, at->t, 3, motion);
    if (piece == end)
        return LG_OK;
    while (piece + PIECE < end && piece[PIECE + BEGIN] <= at->t_in)
        piece += PIECE;
    double since = at->t - piece[BEGIN];
    motion[0] = piece[COORDINATE] + since * (piece[RATE] + since * piece[SECOND_RATE] / 2);
    motion[1] = piece[RATE] + since * piece[SECOND_RATE];
    motion[2] = piece[SECOND_RATE];
    return LG_OK;
}

double lg_desired_next_kink(const lg_element *e, const double *first, double t)
{
    for (const double *p = first; p < e->p + e->np; p += PIECE)
        if (p[BEGIN] > t)
            return p[BEGIN];
    return INFINITY;
}
