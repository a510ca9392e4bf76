/* What bodies with a momentum in a step share; see momentum.h. */
#include "model/body/momentum.h"
#include "system/chain.h"

enum { MOST = 4 }; /* largest n of lg_momentum_put */

void lg_momentum_put(const lg_body *b, const lg_pair *pair, const lg_kinetic_wanted *wanted, int first, int n,
                     const double *P, const double *slope)
{
    if (!wanted->S)
        return;
    const lg_block *block = b->block;
    double K[MOST * MOST] = {0};
    int ld;
    double *S = lg_matrix_at(wanted->S, b->index, &ld);
    for (int j = 0; j < n && wanted->dp1; j++)
        for (int i = 0; i < n; i++)
            wanted->dp1[block->m + first + i + (first + j) * block->nv] = 2 * P[i + j * n];
    lg_axpy(n * n, 2 / pair->h, P, K);
    if (slope)
        lg_axpy(n * n, -1, slope, K);
    lg_chain_add(block, &wanted->chain[b->index], 0, 1, first, n, first, n, K, n, S, ld);
}

void lg_momentum_translate(const lg_body *b, double mass, lg_kinetics kinetics, const lg_pair *pair,
                           const lg_kinetic_wanted *wanted)
{
    double P[9] = {0};
    for (int i = 0; i < 3; i++) {
        int q = b->block->q + i, v = b->block->v + i;
        double rate = (pair->q1[q] - pair->q0[q]) / pair->h;
        wanted->p1[v] = 2 * mass * rate - pair->p0[v];
        wanted->v1[v] = lg_is_livens(kinetics) ? 2 * rate - pair->v0[v] : wanted->p1[v] / mass;
        wanted->slope[v] = 0;
        P[4 * i] = mass / pair->h;
    }
    lg_momentum_put(b, pair, wanted, 0, 3, P, NULL);
}
