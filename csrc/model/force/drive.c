/* The laws of drives, see drive.h. */
#include "model/force/drive.h"

static int pieces(const lg_element *e, int first)
{
    return (e->np - first - LG_DRIVE_MOTION) / LG_DRIVE_PIECE;
}

static const double *piece(const lg_element *e, int first, int i)
{
    return e->p + first + LG_DRIVE_MOTION + LG_DRIVE_PIECE * i;
}

lg_status lg_drive_check(const lg_element *e, int first, const char **reason)
{
    *reason = NULL;
    if ((e->np - first - LG_DRIVE_MOTION) % LG_DRIVE_PIECE)
        *reason = "each piece of the motion needs four values";
    for (int i = 1; i < pieces(e, first); i++)
        if (!(piece(e, first, i)[0] > piece(e, first, i - 1)[0]))
            *reason = "the pieces of the motion must ascend";
    return *reason ? LG_BAD_ARGUMENT : LG_OK;
}

/* phi_d and its rate at t. t_in picks the piece; the first piece also holds before its beginning. */
static void desired(const lg_element *e, int first, const lg_point *at, double *angle, double *rate)
{
    *angle = *rate = 0;
    int i = 0, n = pieces(e, first);
    if (!n)
        return;
    while (i + 1 < n && piece(e, first, i + 1)[0] <= at->t_in)
        i++;
    const double *p = piece(e, first, i);
    double s = at->t - p[0];
    *angle = p[1] + s * (p[2] + s * p[3] / 2);
    *rate = p[2] + s * p[3];
}

static void control(const lg_element *e, int first, const lg_point *at, double wish, double wish_rate, double angle,
                    double rate, double law[3])
{
    const double *p = e->p + first;
    law[0] = at->load * p[LG_DRIVE_TORQUE] + p[LG_DRIVE_STIFFNESS] * (wish - angle) +
             p[LG_DRIVE_DAMPING] * (wish_rate - rate);
    law[1] = -p[LG_DRIVE_STIFFNESS];
    law[2] = -p[LG_DRIVE_DAMPING];
}

void lg_drive_law(const lg_element *e, int first, const lg_point *at, double angle, double rate, double law[3])
{
    double wish, wish_rate;
    desired(e, first, at, &wish, &wish_rate);
    control(e, first, at, wish, wish_rate, angle, rate, law);
}

void lg_drive_law_at_rest(const lg_element *e, int first, const lg_point *at, double angle, double rate, double law[3])
{
    double wish, wish_rate;
    desired(e, first, at, &wish, &wish_rate);
    control(e, first, at, wish, 0, angle, rate, law);
}

double lg_drive_next_kink(const lg_element *e, int first, double t)
{
    for (int i = 0; i < pieces(e, first); i++)
        if (piece(e, first, i)[0] > t)
            return piece(e, first, i)[0];
    return INFINITY;
}

/* ---- from outside ---- */

lg_status lg_outside_check(const lg_element *e, const char **reason)
{
    *reason = "a function of time, coordinate and rate is missing";
    return e->law.torque ? LG_OK : LG_BAD_ARGUMENT;
}

static lg_status slope(const lg_element *e, const lg_point *at, const double x[2], int i, double *out)
{
    double step = LG_LAW_STEP * (1 + fabs(x[i])), low[2] = {x[0], x[1]}, high[2] = {x[0], x[1]}, below, above;
    low[i] -= step, high[i] += step;
    LG_TRY(e->law.torque(e->law.self, at->t, low[0], low[1], &below));
    LG_TRY(e->law.torque(e->law.self, at->t, high[0], high[1], &above));
    *out = (above - below) / (high[i] - low[i]);
    return LG_OK;
}

lg_status lg_outside_law(const lg_element *e, const lg_point *at, double angle, double rate, int linear, double law[3])
{
    double x[2] = {angle, rate};
    LG_TRY(e->law.torque(e->law.self, at->t, angle, rate, law));
    if (!linear)
        return LG_OK;
    if (e->law.has_tangent)
        return e->law.torque_tangent(e->law.self, at->t, angle, rate, law + 1);
    LG_TRY(slope(e, at, x, 0, law + 1));
    return slope(e, at, x, 1, law + 2);
}
