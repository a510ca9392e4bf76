/* Derivatives of moves; see moves.h. */
#include "group/moves.h"

#include "core/small.h"
#include "group/slope.h"
#include "group/turning.h"

void lg_moves_layout(lg_moves *moves, const lg_space *space, lg_arena *arena)
{
    double **matrices[] = {&moves->A, &moves->T, &moves->inverse, &moves->W};
    moves->space = space;
    for (int i = 0; i < 4; i++)
        *matrices[i] = lg_arena_doubles(arena, (size_t)space->nm);
}

static void form_any(lg_moves *moves, long at, lg_turning part, const double *theta, const double *K)
{
    double ad[LG_NODE_NV * LG_NODE_NV], *A = moves->A + at, *T = moves->T + at;
    int n = part.n;
    part.node->tangent(0, theta, T);
    part.node->ad(0, theta, ad);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            A[i + n * j] = i == j;
            for (int l = 0; l < n; l++)
                A[i + n * j] -= ad[i + n * l] * T[l + n * j];
        }
    if (K)
        lg_tangent_slope(part.node, theta, K, moves->W + at);
}

static void form_rotation(lg_moves *moves, long at, const double *theta, const double *K)
{
    lg_angles angles = lg_angles_of(theta);
    lg_hat_matrix(theta, angles.x.sinc, angles.x.cosc, moves->A + at); // row-major, and so the transpose
    lg_hat_matrix(theta, angles.x.cosc, angles.x.sincc, moves->T + at);
    if (K)
        lg_rotation_slope(&angles, theta, K, moves->W + at);
}

void lg_moves_form(lg_moves *moves, const double *theta, const double *K)
{
    const lg_space *space = moves->space;
    long at = 0;
    for (const lg_factor *f = space->factor, *end = f + space->nfactors; f < end; f++) {
        if (f->node->linear)
            continue;
        lg_turning part = lg_turning_part(f);
        if (part.n == 3)
            form_rotation(moves, at, theta + part.v, K ? K + part.v : NULL);
        else
            form_any(moves, at, part, theta + part.v, K ? K + part.v : NULL);
        if (K)
            part.node->tangent_inv(0, theta + part.v, moves->inverse + at);
        at += (long)part.n * part.n;
    }
}

void lg_moves_end(const lg_moves *moves, const double *dq0, const double *dtheta, double *dq)
{
    const lg_space *space = moves->space;
    long at = 0;
    for (int i = 0; i < space->nv; i++)
        dq[i] = dq0[i] + dtheta[i];
    for (const lg_factor *f = space->factor, *end = f + space->nfactors; f < end; f++) {
        if (!f->nq)
            lg_zero(f->nv, dq + f->v); // first-order values have no coordinates
        if (f->node->linear)
            continue;
        lg_turning part = lg_turning_part(f);
        lg_zero(part.n, dq + part.v);
        lg_add_mapped(part.n, 1, moves->A + at, dq0 + part.v, dq + part.v);
        lg_add_mapped(part.n, 1, moves->T + at, dtheta + part.v, dq + part.v);
        at += (long)part.n * part.n;
    }
}

void lg_moves_rate(const lg_moves *moves, const double *dtheta, const double *dv, double *dK)
{
    const lg_space *space = moves->space;
    long at = 0;
    lg_copy(space->nv, dv, dK);
    for (const lg_factor *f = space->factor, *end = f + space->nfactors; f < end; f++) {
        if (f->node->linear)
            continue;
        lg_turning part = lg_turning_part(f);
        double left[LG_NODE_NV];
        lg_copy(part.n, dv + part.v, left);
        if (dtheta)
            lg_add_mapped(part.n, -1, moves->W + at, dtheta + part.v, left);
        lg_zero(part.n, dK + part.v);
        lg_add_mapped(part.n, 1, moves->inverse + at, left, dK + part.v);
        at += (long)part.n * part.n;
    }
}

void lg_moves_velocity(const lg_moves *moves, const double *dtheta, const double *dK, double *dv)
{
    const lg_space *space = moves->space;
    long at = 0;
    lg_copy(space->nv, dK, dv);
    for (const lg_factor *f = space->factor, *end = f + space->nfactors; f < end; f++) {
        if (f->node->linear)
            continue;
        lg_turning part = lg_turning_part(f);
        lg_zero(part.n, dv + part.v);
        lg_add_mapped(part.n, 1, moves->T + at, dK + part.v, dv + part.v);
        if (dtheta)
            lg_add_mapped(part.n, 1, moves->W + at, dtheta + part.v, dv + part.v);
        at += (long)part.n * part.n;
    }
}

/* ---- transposed ---- */

/* y += x for what adds, and the part of a factor that turns. */
static lg_turning add_linear(const lg_factor *f, const double *x, double *y)
{
    lg_turning part = f->node->linear ? (lg_turning){f->node, f->v + f->nv, 0} : lg_turning_part(f);
    for (int i = f->v; i < part.v; i++)
        y[i] += x[i];
    return part;
}

void lg_moves_end_adjoint(const lg_moves *moves, const double *q, double *q0, double *theta)
{
    const lg_space *space = moves->space;
    long at = 0;
    for (const lg_factor *f = space->factor, *end = f + space->nfactors; f < end; f++) {
        if (!f->nq)
            continue;
        lg_turning part = add_linear(f, q, q0);
        (void)add_linear(f, q, theta);
        lg_add_mapped_back(part.n, 1, moves->A + at, q + part.v, q0 + part.v);
        lg_add_mapped_back(part.n, 1, moves->T + at, q + part.v, theta + part.v);
        at += (long)part.n * part.n;
    }
}

void lg_moves_rate_adjoint(const lg_moves *moves, const double *K, double *theta, double *v)
{
    const lg_space *space = moves->space;
    long at = 0;
    for (const lg_factor *f = space->factor, *end = f + space->nfactors; f < end; f++) {
        lg_turning part = add_linear(f, K, v);
        double left[LG_NODE_NV] = {0};
        lg_add_mapped_back(part.n, 1, moves->inverse + at, K + part.v, left);
        lg_axpy(part.n, 1, left, v + part.v);
        lg_add_mapped_back(part.n, -1, moves->W + at, left, theta + part.v);
        at += (long)part.n * part.n;
    }
}

void lg_moves_velocity_adjoint(const lg_moves *moves, const double *v, double *theta, double *K)
{
    const lg_space *space = moves->space;
    long at = 0;
    for (const lg_factor *f = space->factor, *end = f + space->nfactors; f < end; f++) {
        lg_turning part = add_linear(f, v, K);
        lg_add_mapped_back(part.n, 1, moves->T + at, v + part.v, K + part.v);
        lg_add_mapped_back(part.n, 1, moves->W + at, v + part.v, theta + part.v);
        at += (long)part.n * part.n;
    }
}

void lg_add_ad_adjoint(const lg_space *space, double s, const double *theta, const double *x, double *q)
{
    double ad[LG_NODE_NV * LG_NODE_NV];
    for (const lg_factor *f = space->factor, *end = f + space->nfactors; f < end; f++) {
        if (f->node->linear)
            continue;
        lg_turning part = lg_turning_part(f);
        part.node->ad(0, theta + part.v, ad);
        lg_add_mapped_back(part.n, s, ad, x + part.v, q + part.v);
    }
}

/* ---- chains ---- */

/* I + s W T^-1 of a part, in the matrix of its block, which is the identity there. */
static void add_chain(const lg_moves *moves, long at, lg_turning part, const lg_block *b, double s, double *X)
{
    int n = part.n, first = part.v - b->v;
    for (int j = 0; j < n; j++)
        lg_add_mapped(n, s, moves->W + at, moves->inverse + at + (long)n * j, X + first + (long)b->nv * (first + j));
}

void lg_moves_chain(const lg_moves *moves, double s, double *out)
{
    const lg_space *space = moves->space;
    long at = 0;
    for (const lg_block *b = space->block; b < space->block + space->nblocks; b++) {
        for (int i = 0; !b->linear && i < b->nv * b->nv; i++)
            out[b->m + i] = i % (b->nv + 1) == 0;
        for (const lg_factor *f = b->factor; f < b->factor + b->nfactors; f++) {
            if (f->node->linear)
                continue;
            lg_turning part = lg_turning_part(f);
            add_chain(moves, at, part, b, s, out + b->m);
            at += (long)part.n * part.n;
        }
    }
}
