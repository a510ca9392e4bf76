/* Jets: numbers, vectors and wrenches with their first two derivatives by time, along a motion. */
#ifndef LG_MODEL_JET_H
#define LG_MODEL_JET_H

#include "core/small.h"

enum { LG_JET = 3 }; /* the value and two derivatives */

typedef struct lg_scalar_jet {
    double at[LG_JET];
} lg_scalar_jet;

typedef struct lg_jet { /* a vector in inertial axes */
    double at[LG_JET][3];
} lg_jet;

/* About the frame's point. Only what is in `has` is written: a force, its derivatives unless they are zero, and a
   moment. */
enum { LG_JET_FORCE = 1, LG_JET_TURNS = 2, LG_JET_MOMENT = 4 };
typedef struct lg_wrench_jet {
    unsigned has; /* bits */
    lg_jet force, moment;
} lg_wrench_jet;

typedef struct lg_frame_jet { /* R, omega and its rate, both in body axes */
    lg_jet x;
    const double *R, *omega;
    double omegadot[3];
} lg_frame_jet;

static inline lg_jet lg_jet_scaled(double s, const lg_jet *x)
{
    lg_jet out;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < LG_JET; k++)
            out.at[k][i] = s * x->at[k][i];
    return out;
}

/* The vector from one point to another. */
static inline lg_jet lg_jet_between(const lg_jet *from, const lg_jet *to)
{
    lg_jet out;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < LG_JET; k++)
            out.at[k][i] = to->at[k][i] - from->at[k][i];
    return out;
}

static inline lg_jet lg_jet_cross(const lg_jet *a, const lg_jet *b)
{
    lg_jet out;
    double swept[3];
    for (int k = 0; k < LG_JET; k++) {
        lg_cross(a->at[0], b->at[k], out.at[k]);
        if (k)
            lg_add_cross(a->at[k], b->at[0], out.at[k]);
    }
    lg_cross(a->at[1], b->at[1], swept);
    lg_axpy(3, 2, swept, out.at[2]);
    return out;
}

/* x y + s z w for numbers: (x y)'' = x'' y + 2 x' y' + x y''. */
static inline lg_scalar_jet lg_jet_products(const lg_scalar_jet *x, const lg_scalar_jet *y, double s,
                                            const lg_scalar_jet *z, const lg_scalar_jet *w)
{
    lg_scalar_jet out;
    const double *a = x->at, *b = y->at, *c = z->at, *d = w->at;
    out.at[0] = a[0] * b[0] + s * c[0] * d[0];
    out.at[1] = a[1] * b[0] + a[0] * b[1] + s * (c[1] * d[0] + c[0] * d[1]);
    out.at[2] = a[2] * b[0] + 2 * a[1] * b[1] + a[0] * b[2] + s * (c[2] * d[0] + 2 * c[1] * d[1] + c[0] * d[2]);
    return out;
}

static inline lg_scalar_jet lg_jet_dot(const lg_jet *a, const lg_jet *b)
{
    lg_scalar_jet out;
    out.at[0] = lg_dot3(a->at[0], b->at[0]);
    out.at[1] = lg_dot3(a->at[1], b->at[0]) + lg_dot3(a->at[0], b->at[1]);
    out.at[2] = lg_dot3(a->at[2], b->at[0]) + 2 * lg_dot3(a->at[1], b->at[1]) + lg_dot3(a->at[0], b->at[2]);
    return out;
}

/* f x for a number f */
static inline lg_jet lg_jet_times(const lg_scalar_jet *f, const lg_jet *x)
{
    lg_jet out;
    for (int i = 0; i < 3; i++) {
        out.at[0][i] = f->at[0] * x->at[0][i];
        out.at[1][i] = f->at[1] * x->at[0][i] + f->at[0] * x->at[1][i];
        out.at[2][i] = f->at[2] * x->at[0][i] + 2 * f->at[1] * x->at[1][i] + f->at[0] * x->at[2][i];
    }
    return out;
}

/* The quotient f/g, from f = (f/g) g. */
static inline lg_scalar_jet lg_jet_quotient(const lg_scalar_jet *f, const lg_scalar_jet *g)
{
    lg_scalar_jet out;
    out.at[0] = f->at[0] / g->at[0];
    out.at[1] = (f->at[1] - out.at[0] * g->at[1]) / g->at[0];
    out.at[2] = (f->at[2] - 2 * out.at[1] * g->at[1] - out.at[0] * g->at[2]) / g->at[0];
    return out;
}

/* R u for a vector u that is fixed in a body: R (omega x u), R (omega' x u + omega x (omega x u)). */
static inline lg_jet lg_jet_fixed(const lg_frame_jet *f, const double u[3])
{
    double rate[3], second[3];
    lg_jet out;
    lg_cross(f->omega, u, rate);
    lg_cross(f->omega, rate, second);
    lg_add_cross(f->omegadot, u, second);
    lg_mul3(f->R, u, out.at[0]);
    lg_mul3(f->R, rate, out.at[1]);
    lg_mul3(f->R, second, out.at[2]);
    return out;
}

/* Writes a force x on the second of two frames and its opposite on the first. */
static inline void lg_jet_push(const lg_jet *x, lg_wrench_jet on[2])
{
    on[0].has |= LG_JET_FORCE | LG_JET_TURNS;
    on[1].has |= LG_JET_FORCE | LG_JET_TURNS;
    on[0].force = lg_jet_scaled(-1, x);
    on[1].force = *x;
}

static inline void lg_jet_turn(const lg_jet *moment, lg_wrench_jet *on)
{
    on->has |= LG_JET_MOMENT;
    on->moment = *moment;
}

#endif
