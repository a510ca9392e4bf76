/* The scratch of a system made of functions; see callback_work.h. */
#include "system/callback_work.h"

#include <float.h>
#include <math.h>

void lg_callback_layout_work(lg_callback_work *w, lg_arena *arena)
{
    size_t nv = (size_t)w->self->space.nv, rows = (size_t)w->self->rows, most = nv > rows ? nv : rows;
    w->zeros = lg_arena_doubles(arena, nv + (size_t)w->self->space.nrows);
    w->M = lg_arena_doubles(arena, nv * nv);
    w->K = lg_arena_doubles(arena, 2 * nv * nv);
    w->D = w->K ? w->K + nv * nv : NULL;
    w->J = lg_arena_doubles(arena, rows * nv);
    w->Z = lg_arena_doubles(arena, rows * nv);
    w->q = lg_arena_doubles(arena, (size_t)w->self->space.nq);
    w->v = lg_arena_doubles(arena, nv);
    w->theta = lg_arena_doubles(arena, nv);
    w->upper = lg_arena_doubles(arena, most);
    w->lower = lg_arena_doubles(arena, most);
    w->rate = lg_arena_doubles(arena, most);
    w->values = lg_arena_doubles(arena, (size_t)w->self->pattern.nvalues);
    w->own = lg_arena_doubles(arena, (size_t)w->self->space.nm);
}

lg_status lg_callback_check(const lg_callbacks *self, const double *q, const double *v)
{
    double sum = 0; /* NaN if any of them is infinite or NaN, since 0 times such a value is NaN */
    for (int i = 0; i < self->space.nq; i++)
        sum += 0 * q[i];
    for (int i = 0; i < self->space.nv; i++)
        sum += 0 * v[i];
    return isfinite(sum) ? LG_OK : LG_NOT_FINITE;
}

double lg_callback_time(const lg_callbacks *self, double t, double t_in)
{
    for (int i = 0; i < self->nkinks; i++) {
        double kink = self->kinks[i];
        if (fabs(t - kink) <= 8 * DBL_EPSILON * fabs(kink) && t_in != kink)
            return nextafter(kink, t_in > kink ? INFINITY : -INFINITY);
    }
    return t;
}

void lg_callback_put_group(const lg_callbacks *self, const double *J, double *values)
{
    const lg_pattern *p = &self->pattern;
    int nv = self->space.nv;
    for (int b = 0; self->rows && b < p->nblocks; b++)
        for (int j = 0; j < p->nv[b]; j++)
            for (int i = 0; i < self->rows; i++)
                values[p->group_value[b] + j * self->rows + i] = J[i * nv + p->v_start[b] + j];
}
