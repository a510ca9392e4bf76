/* Derivatives of moves; see moves.h. */
#include "group/moves.h"

#include "core/small.h"
#include "group/slope.h"

void lg_moves_layout(lg_moves *moves, const lg_space *space, lg_arena *arena)
{
    double **matrices[] = {&moves->A, &moves->T, &moves->inverse, &moves->W};
    moves->space = space;
    for (int i = 0; i < 4; i++)
        *matrices[i] = lg_arena_doubles(arena, (size_t)space->nm);
    lg_move_part *part = lg_arena_take(arena, (size_t)space->nfactors * sizeof *part);
    moves->part = part;
    long at = 0;
    for (int i = 0; part && i < space->nfactors; i++) {
        const lg_factor *f = &space->factor[i];
        lg_turning turns = f->node->linear ? (lg_turning){f->node, f->v + f->nv, 0} : lg_turning_part(f);
        part[i] = (lg_move_part){f, turns, at};
        at += (long)turns.n * turns.n;
    }
}

/* The end of the array of parts. */
static const lg_move_part *end_of(const lg_moves *moves)
{
    return moves->part + moves->space->nfactors;
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
    for (const lg_move_part *p = moves->part; p < end_of(moves); p++) {
        lg_turning part = p->turns;
        if (part.n == 0)
            continue;
        if (part.n == 3)
            form_rotation(moves, p->at, theta + part.v, K ? K + part.v : NULL);
        else
            form_any(moves, p->at, part, theta + part.v, K ? K + part.v : NULL);
        if (K)
            part.node->tangent_inv(0, theta + part.v, moves->inverse + p->at);
    }
}

void lg_moves_end(const lg_moves *moves, const double *dq0, const double *dtheta, double *dq)
{
    for (int i = 0; i < moves->space->nv; i++)
        dq[i] = dq0[i] + dtheta[i];
    for (const lg_move_part *p = moves->part; p < end_of(moves); p++) {
        int n = p->turns.n, v = p->turns.v;
        if (!p->factor->nq)
            lg_zero(p->factor->nv, dq + p->factor->v); // first-order values have no coordinates
        lg_zero(n, dq + v);
        lg_add_mapped(n, 1, moves->A + p->at, dq0 + v, dq + v);
        lg_add_mapped(n, 1, moves->T + p->at, dtheta + v, dq + v);
    }
}

void lg_moves_rate(const lg_moves *moves, const double *dtheta, const double *dv, double *dK)
{
    lg_copy(moves->space->nv, dv, dK);
    for (const lg_move_part *p = moves->part; p < end_of(moves); p++) {
        int n = p->turns.n, v = p->turns.v;
        double left[LG_NODE_NV];
        lg_copy(n, dv + v, left);
        if (dtheta)
            lg_add_mapped(n, -1, moves->W + p->at, dtheta + v, left);
        lg_zero(n, dK + v);
        lg_add_mapped(n, 1, moves->inverse + p->at, left, dK + v);
    }
}

void lg_moves_velocity(const lg_moves *moves, const double *dtheta, const double *dK, double *dv)
{
    lg_copy(moves->space->nv, dK, dv);
    for (const lg_move_part *p = moves->part; p < end_of(moves); p++) {
        int n = p->turns.n, v = p->turns.v;
        lg_zero(n, dv + v);
        lg_add_mapped(n, 1, moves->T + p->at, dK + v, dv + v);
        if (dtheta)
            lg_add_mapped(n, 1, moves->W + p->at, dtheta + v, dv + v);
    }
}

/* ---- transposed ---- */

/* y += x for the velocities before those that turn, which add. */
static void add_linear(const lg_move_part *p, const double *x, double *y)
{
    for (int i = p->factor->v; i < p->turns.v; i++)
        y[i] += x[i];
}

void lg_moves_end_adjoint(const lg_moves *moves, const double *q, double *q0, double *theta)
{
    for (const lg_move_part *p = moves->part; p < end_of(moves); p++) {
        int n = p->turns.n, v = p->turns.v;
        if (!p->factor->nq)
            continue;
        add_linear(p, q, q0);
        add_linear(p, q, theta);
        lg_add_mapped_back(n, 1, moves->A + p->at, q + v, q0 + v);
        lg_add_mapped_back(n, 1, moves->T + p->at, q + v, theta + v);
    }
}

void lg_moves_rate_adjoint(const lg_moves *moves, const double *K, double *theta, double *v)
{
    for (const lg_move_part *p = moves->part; p < end_of(moves); p++) {
        int n = p->turns.n, first = p->turns.v;
        double left[LG_NODE_NV] = {0};
        add_linear(p, K, v);
        lg_add_mapped_back(n, 1, moves->inverse + p->at, K + first, left);
        lg_axpy(n, 1, left, v + first);
        lg_add_mapped_back(n, -1, moves->W + p->at, left, theta + first);
    }
}

void lg_moves_velocity_adjoint(const lg_moves *moves, const double *v, double *theta, double *K)
{
    for (const lg_move_part *p = moves->part; p < end_of(moves); p++) {
        int n = p->turns.n, first = p->turns.v;
        add_linear(p, v, K);
        lg_add_mapped_back(n, 1, moves->T + p->at, v + first, K + first);
        lg_add_mapped_back(n, 1, moves->W + p->at, v + first, theta + first);
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

/* s W T^-1 of a part, added to the matrix of its block. */
static void add_chain(const lg_moves *moves, const lg_move_part *p, double s, double *out)
{
    const lg_block *b = &moves->space->block[p->factor->block];
    int n = p->turns.n, first = p->turns.v - b->v;
    const double *W = moves->W + p->at, *inverse = moves->inverse + p->at;
    for (int j = 0; j < n; j++)
        lg_add_mapped(n, s, W, inverse + (long)n * j, out + b->m + first + (long)b->nv * (first + j));
}

void lg_moves_chain(const lg_moves *moves, double s, double *out)
{
    const lg_space *space = moves->space;
    for (const lg_block *b = space->block; b < space->block + space->nblocks; b++)
        for (int i = 0; !b->linear && i < b->nv * b->nv; i++)
            out[b->m + i] = i % (b->nv + 1) == 0;
    for (const lg_move_part *p = moves->part; p < end_of(moves); p++)
        add_chain(moves, p, s, out);
}
