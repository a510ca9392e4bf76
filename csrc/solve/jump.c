/* Looks for a law that jumps; see jump.h.

   The interval of a grid in which the law changes most is halved as often as doubles allow, always towards the half
   that changes more. The change of a continuous law vanishes on the way, whereas that of a law that jumps remains. A
   change by round-off remains as well, but the values on either side of that point change as much. */
#include "solve/jump.h"

#include "core/small.h"
#include "system/optional.h"

#include <stdlib.h>

enum { PARTS = 16, HALVINGS = 47, BESIDE = 4 };

static const double small = 1e-6; /* a jump exceeds this fraction of the law's largest value */
static const double apart = 0x1p-24; /* the distance between values beside the jump; the line has the length 2 */
static const double lone = 10; /* a jump exceeds this multiple of the changes among those values */

typedef struct jump_search {
    const lg_system *system;
    const lg_point *start;
    double time, way; /* half the duration of the line, for velocities and for displacements */
    int number; /* number of the law */
    int length; /* of its value */
    double *a; /* accelerations on the line */
    double *q, *v, *theta; /* a state on the line, and its displacement */
    double *grid; /* PARTS + 1 values of the law, one after the other */
    double begin, width; /* the interval on the line */
    double *low, *high, *spare; /* the values at the ends of the interval, and room for another one */
} jump_search;

/* The value of the law at s on the line, which goes from -1 to 1. */
static lg_status value_at(const jump_search *l, double s, double *value)
{
    double span = s * l->way;
    const lg_space *space = l->system->space;
    lg_point at = *l->start;
    for (int i = 0; i < space->nv; i++) {
        l->theta[i] = span * (at.v[i] + 0.5 * span * l->a[i]);
        l->v[i] = at.v[i] + s * l->time * l->a[i];
    }
    lg_space_retract(space, at.q, l->theta, l->q);
    at.q = l->q, at.v = l->v, at.mem.age = span, at.mem.theta = l->theta;
    return l->system->laws->value(l->system->self, &at, l->number, value);
}

static double change(const jump_search *l, const double *a, const double *b)
{
    double most = 0;
    for (int i = 0; i < l->length; i++)
        most = fmax(most, fabs(b[i] - a[i]));
    return most;
}

/* Begins with the interval of the grid in which the law changes most. */
static lg_status begin_at_grid(jump_search *l)
{
    int n = l->length;
    for (int i = 0; i <= PARTS; i++)
        LG_TRY(value_at(l, 2. * i / PARTS - 1, l->grid + i * n));
    int most = 0;
    for (int i = 1; i < PARTS; i++)
        if (change(l, l->grid + i * n, l->grid + (i + 1) * n) > change(l, l->grid + most * n, l->grid + (most + 1) * n))
            most = i;
    l->width = 2. / PARTS;
    l->begin = most * l->width - 1;
    l->low = l->grid + most * n;
    l->high = l->low + n;
    return LG_OK;
}

static lg_status halve(jump_search *l)
{
    double *middle = l->spare, **moves;
    l->width /= 2;
    LG_TRY(value_at(l, l->begin + l->width, middle));
    int upper = change(l, middle, l->high) > change(l, l->low, middle);
    l->begin += upper ? l->width : 0;
    moves = upper ? &l->low : &l->high;
    l->spare = *moves;
    *moves = middle;
    return LG_OK;
}

/* Evaluates the law beside the interval: the first value on a side is kept, and the others show how much the law
   changes there. */
static lg_status look_beside(const jump_search *l, int i, double s, double *kept, double *changes)
{
    LG_TRY(value_at(l, s, i == 1 ? kept : l->spare));
    if (i > 1)
        *changes = fmax(*changes, change(l, kept, l->spare));
    return LG_OK;
}

/* The change across the interval if the law changes much less on either side of it; otherwise 0. */
static lg_status change_across(const jump_search *l, double *across)
{
    double beside = 0;
    for (int i = 1; i <= BESIDE; i++) {
        LG_TRY(look_beside(l, i, l->begin - i * apart, l->low, &beside));
        LG_TRY(look_beside(l, i, l->begin + l->width + i * apart, l->high, &beside));
    }
    *across = change(l, l->low, l->high);
    *across = *across > lone * beside ? *across : 0;
    return LG_OK;
}

static lg_status jumps(jump_search *l, int *does)
{
    double across = 0;
    LG_TRY(begin_at_grid(l));
    double least = small * lg_max_abs((PARTS + 1) * l->length, l->grid);
    for (int i = 0; i < HALVINGS && change(l, l->low, l->high) > least; i++)
        LG_TRY(halve(l));
    if (change(l, l->low, l->high) > least)
        LG_TRY(change_across(l, &across));
    *does = across > least;
    return LG_OK;
}

/* The name of the first law that jumps, or NULL. */
static const char *first_that_jumps(jump_search *l)
{
    const lg_system *system = l->system;
    for (const char *name; (name = system->laws->name(system->self, l->number)); l->number++) {
        int found;
        if (jumps(l, &found) != LG_OK)
            return NULL;
        if (found)
            return name;
    }
    return NULL;
}

/* Roughly the largest angle by which any body turns in a time. */
static double turn_in(const lg_space *space, const double *v, const double *a, double time)
{
    double most = 0;
    for (const lg_factor *f = space->factor; f < space->factor + space->nfactors; f++)
        for (int i = f->v + f->node->attitude_v, end = i + f->node->attitude_n; i < end; i++)
            most = fmax(most, time * (fabs(v[i]) + 0.5 * time * fabs(a[i])));
    return most;
}

/* The line extends by two steps to either side, but no body turns by more than half a radian on it, so that angles of
   joints keep their number of turns. */
static void open_line(jump_search *l, double h)
{
    const lg_space *space = l->system->space;
    for (int i = 0; i < space->nv; i++)
        l->a[i] = isfinite(l->start->a[i]) ? l->start->a[i] : 0;
    l->time = 2 * h;
    l->way = l->time / fmax(1, 2 * turn_in(space, l->start->v, l->a, l->time));
}

void lg_report_jump(const lg_system *system, const lg_point *start, double h, lg_report *report)
{
    if (!system->laws || !system->laws->name(system->self, 0))
        return;
    int nq = system->space->nq, nv = system->space->nv, n = system->laws->length(system->self);
    double *room = malloc((size_t)(nq + 3 * nv + (PARTS + 2) * n) * sizeof *room);
    if (!room)
        return;
    jump_search l = {.system = system, .start = start, .length = n, .q = room, .v = room + nq};
    l.theta = l.v + nv;
    l.a = l.theta + nv;
    l.grid = l.a + nv;
    l.spare = l.grid + (PARTS + 1) * n;
    open_line(&l, h);
    const char *name = first_that_jumps(&l);
    if (name)
        lg_report_advise(report,
                         "the law %.*s jumps near this state: make it smooth, like tanh(w/eps), or use an explicit "
                         "method",
                         LG_SHORT(name));
    free(room);
}
