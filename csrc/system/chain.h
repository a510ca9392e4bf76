/* Chains: a block's part of the tangent. Elements provide derivatives by q, v and a; the matrix holds derivatives by
   the unknown u, which follow from the block's chain d(q, v, a)/du = (k0 X0, k1 X1, k2 X2). */
#ifndef LG_SYSTEM_CHAIN_H
#define LG_SYSTEM_CHAIN_H

#include "group/space.h"
#include "sparse/matrix.h"

/* S (nv rows, leading dimension ld): rows row.. += s k A X[col.., :], A being nr x nc, column-major with leading
   dimension lda. X NULL: the identity. Every X is diagonal in the block's factors, with the identity for R^n beside
   other factors, and diag(I, X_r) on direct products, which saves work. */
void lg_chain_add(const lg_block *block, const lg_chain *chain, int level, double s, int row, int nr, int col, int nc,
                  const double *A, int lda, double *S, int ld);

/* S += A X with a single value A in row i and column j. */
static inline void lg_chain_put(const lg_block *block, const double *X, double value, int i, int j, double *S, int ld)
{
    if (!X) {
        S[i + (size_t)j * ld] += value;
        return;
    }
    for (int l = 0; l < block->nv; l++)
        S[i + (size_t)l * ld] += value * X[j + (size_t)l * block->nv];
}

/* S += k A X at one level of the chain, likewise. */
static inline void lg_chain_add_entry(const lg_block *block, const lg_chain *chain, int level, double value, int i,
                                      int j, double *S, int ld)
{
    lg_chain_put(block, chain->X[level], value * chain->k[level], i, j, S, ld);
}

/* P (n x nv) = A (n x nv) k X */
void lg_chain_mul(const lg_block *block, const lg_chain *chain, int level, int n, const double *A, double *P);

#endif
