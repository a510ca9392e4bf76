#include "group/space.h"

#include "core/small.h"

#include <limits.h>

int lg_space_count(lg_space *space, const lg_node *node, int n)
{
    long long nq = (long long)node->nq + n, nv = (long long)node->nv + n, all = space->nv + nv;
    long long square = nv <= INT_MAX / nv ? nv * nv : INT_MAX, rows = space->nrows > 0 ? space->nrows : 1;
    if (square > INT_MAX - 1 - space->nm || nq > INT_MAX - space->nq || all > INT_MAX / rows)
        return 0;
    space->nq += (int)nq, space->nv += (int)nv, space->nm += (int)square;
    return 1;
}

/* Copies the values of the linear coordinates that follow the node's. */
static inline void copy_tail(const lg_block *b, const double *from, double *to)
{
    int first = b->v + b->node->nv;
    for (int i = 0; i < lg_block_tail(b); i++)
        to[first + i] = from[first + i];
}

static inline void move_tail(const lg_block *b, const double *q0, const double *theta, double *q)
{
    int first = b->q + b->node->nq, along = b->v + b->node->nv;
    for (int i = 0; i < lg_block_tail(b); i++)
        q[first + i] = q0[first + i] + theta[along + i];
}

double lg_space_regular(const lg_space *space, const double *q, int *block)
{
    double least = 1;
    for (int i = 0; i < space->nblocks; i++) {
        const lg_block *b = &space->block[i];
        double regular = b->node->regular ? b->node->regular(q + b->q) : 1;
        if (regular < least)
            least = regular, *block = i;
    }
    return least;
}

void lg_space_retract(const lg_space *space, const double *q0, const double *theta, double *q)
{
    for (const lg_block *b = space->block, *end = b + space->nblocks; b < end; b++) {
        b->node->retract(b->n, q0 + b->q, theta + b->v, q + b->q);
        move_tail(b, q0, theta, q);
    }
}

void lg_space_move(const lg_space *space, const double *q0, const double *theta, const double *y, double *q, double *w)
{
    for (const lg_block *b = space->block, *end = b + space->nblocks; b < end; b++) {
        if (b->node->move)
            b->node->move(b->n, q0 + b->q, theta + b->v, y ? y + b->v : NULL, q + b->q, y ? w + b->v : NULL);
        else {
            b->node->retract(b->n, q0 + b->q, theta + b->v, q + b->q);
            if (y)
                b->node->tangent_mul(b->n, theta + b->v, y + b->v, w + b->v);
        }
        if (lg_block_tail(b) == 0)
            continue;
        move_tail(b, q0, theta, q);
        if (y)
            copy_tail(b, y, w);
    }
}

void lg_space_advance(const lg_space *space, const double *theta, double *q)
{
    for (const lg_block *b = space->block, *end = b + space->nblocks; b < end; b++) {
        double q0[LG_NODE_NQ];
        if (b->node->move) {
            lg_copy(b->node->nq, q + b->q, q0);
            b->node->move(b->n, q0, theta + b->v, NULL, q + b->q, NULL);
        } else {
            b->node->retract(b->n, q + b->q, theta + b->v, q + b->q);
        }
        move_tail(b, q, theta, q);
    }
}

void lg_space_stage(const lg_space *space, const double *q0, const double *theta, const double *v, double *q,
                    double *thetadot)
{
    for (const lg_block *b = space->block, *end = b + space->nblocks; b < end; b++) {
        if (b->node->stage)
            b->node->stage(b->n, q0 + b->q, theta + b->v, v + b->v, q + b->q, thetadot + b->v);
        else {
            b->node->retract(b->n, q0 + b->q, theta + b->v, q + b->q);
            b->node->rate(b->n, q0 + b->q, theta + b->v, v + b->v, thetadot + b->v);
        }
        if (lg_block_tail(b) == 0)
            continue;
        move_tail(b, q0, theta, q);
        copy_tail(b, v, thetadot);
    }
}

void lg_space_polish(const lg_space *space, double *q)
{
    for (const lg_block *b = space->block, *end = b + space->nblocks; b < end; b++)
        if (b->node->polish)
            b->node->polish(q + b->q);
}

void lg_space_difference(const lg_space *space, const double *q0, const double *q1, double *theta)
{
    for (const lg_block *b = space->block, *end = b + space->nblocks; b < end; b++) {
        int first = b->q + b->node->nq, along = b->v + b->node->nv;
        b->node->difference(b->n, q0 + b->q, q1 + b->q, theta + b->v);
        for (int i = 0; i < lg_block_tail(b); i++)
            theta[along + i] = q1[first + i] - q0[first + i];
    }
}

void lg_space_rate(const lg_space *space, const double *q0, const double *theta, const double *v, double *thetadot)
{
    for (const lg_block *b = space->block, *end = b + space->nblocks; b < end; b++)
        lg_block_rate(b, q0, theta, v, thetadot);
}

void lg_block_rate(const lg_block *b, const double *q0, const double *theta, const double *v, double *thetadot)
{
    b->node->rate(b->n, q0 + b->q, theta + b->v, v + b->v, thetadot + b->v);
    copy_tail(b, v, thetadot);
}

void lg_space_tangent_mul(const lg_space *space, const double *theta, const double *v, double *w)
{
    for (const lg_block *b = space->block, *end = b + space->nblocks; b < end; b++) {
        if (b->node->linear) {
            lg_copy(b->nv, v + b->v, w + b->v);
            continue;
        }
        b->node->tangent_mul(b->n, theta + b->v, v + b->v, w + b->v);
        copy_tail(b, v, w);
    }
}

void lg_block_widen(const lg_block *b, double diagonal, double *A)
{
    if (lg_block_tail(b) == 0)
        return;
    int small = b->node->nv, n = b->nv;
    for (int j = n - 1; j >= 0; j--)
        for (int i = n - 1; i >= 0; i--)
            A[i + n * j] = i < small && j < small ? A[i + small * j] : i == j ? diagonal : 0;
}
