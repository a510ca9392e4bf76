#include "model/turn.h"

#include "model/triad.h"

/* m . omega of the body under a frame at the velocities x - s y of its block. */
static double along(const lg_element *e, int end, const double m[3], const lg_point *at, const double *x, double s,
                    const double *y)
{
    const lg_frame *f = e->frame[end];
    const lg_block *b = f->body->block;
    double wrench[6] = {0, 0, 0, m[0], m[1], m[2]}, small[LG_MAX_NV], sum = 0;
    if (!b || b->node->flow) /* whose local coordinates are not in the axes of its velocities */
        return 0;
    double *gradient = b->nv <= LG_MAX_NV ? small : at->work;
    lg_zero(b->nv, gradient);
    f->body->type->frames->pull(f, at, 1, wrench, gradient);
    for (int i = 0; i < b->nv; i++)
        sum += gradient[i] * (x[b->v + i] - s * y[b->v + i]);
    return sum;
}

/* g . (x - s y) */
static double along_both(const lg_element *e, const lg_turn *turn, const lg_point *at, const double *x, double s,
                         const double *y)
{
    return along(e, 1, turn->r, at, x, s, y) - along(e, 0, turn->e, at, x, s, y);
}

static void open_axes(const double *triads, const lg_pose *const f[2], lg_turn *out)
{
    lg_mulT33(f[0]->R, f[1]->R, out->Rab);
    lg_triad_axis(triads, 2, out->e);
    lg_triad_axis(triads + 9, 0, out->e1);
    lg_mulT3(out->Rab, out->e, out->r);
    lg_mul3(out->Rab, out->e1, out->v);
}

static void open_rate(const lg_pose *const f[2], lg_turn *out)
{
    lg_mul3(out->Rab, f[1]->omega, out->omega);
    out->rate = lg_dot3(out->e, out->omega) - lg_dot3(out->e, f[0]->omega);
}

void lg_turn_open(const lg_element *e, const double *triads, const lg_pose *const f[2], const lg_point *at,
                  lg_turn *out)
{
    open_axes(triads, f, out);
    open_rate(f, out);
    const lg_memory *mem = &at->mem;
    double turn = mem->age * out->rate;
    if (mem->theta)
        turn += along_both(e, out, at, mem->theta, mem->age, at->v);
    out->phi = lg_triad_angle(triads, out->v, (mem->values ? mem->values[e->mem] : 0) + turn);
}

/* The axis is e3 of both bodies, so that e . (omega_a x omega_b), the turn of one body's axes in the other, is zero. */
void lg_turn_rates(const lg_element *e, const double *triads, const lg_pose *const f[2], const lg_point *at,
                   double rates[2])
{
    lg_turn turn;
    open_axes(triads, f, &turn);
    open_rate(f, &turn);
    rates[0] = turn.rate;
    rates[1] =
        lg_dot3(turn.r, f[1]->omegadot) - lg_dot3(turn.e, f[0]->omegadot) + along_both(e, &turn, at, at->a, 0, at->v);
}
