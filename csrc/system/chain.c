#include "system/chain.h"

#include "core/small.h"

/* S += k A for an nr x nc block */
static inline void add_block(double k, int nr, int nc, const double *A, int lda, double *S, int ld)
{
    for (int j = 0; j < nc; j++)
        for (int i = 0; i < nr; i++)
            S[i + j * ld] += k * A[i + j * lda];
}

/* S += k A X for an nr x nl A and the nl x nc matrix X with leading dimension ldx */
static inline void add_product(double k, int nr, int nl, int nc, const double *A, int lda, const double *X, int ldx,
                               double *S, int ld)
{
    for (int j = 0; j < nc; j++)
        for (int l = 0; l < nl; l++) {
            double x = k * X[l + j * ldx];
            for (int i = 0; i < nr; i++)
                S[i + j * ld] += x * A[i + l * lda];
        }
}

/* Whether a 3 x 3 block is zero: rotations of a semidirect product do not depend on its positions. */
static int is_zero3(const double *X, int ldx)
{
    for (int j = 0; j < 3; j++)
        if (X[j * ldx] != 0 || X[1 + j * ldx] != 0 || X[2 + j * ldx] != 0)
            return 0;
    return 1;
}

void lg_chain_add(const lg_block *block, const lg_chain *chain, int level, double s, int row, int nr, int col, int nc,
                  const double *A, int lda, double *S, int ld)
{
    const double *X = chain->X[level];
    double k = s * chain->k[level];
    int nv = block->nv;
    if (k == 0)
        return;

    // X = diag(I, X_r, I) on direct products, else diag(X, I): the coordinates that follow the node's are linear
    const lg_node *node = block->node;
    int first = node->place == LG_PLACE_INERTIAL ? node->attitude_v : 0, end = nv - lg_block_tail(block);
    if (!X || col + nc <= first || col >= end) {
        add_block(k, nr, nc, A, lda, S + row + col * ld, ld);
        return;
    }
    X += first + first * nv;
    if (nr == 3 && nc == 3 && lda == 3 && col >= first && col + 3 <= end && (end - first) % 3 == 0) {
        for (int j = 0; j < end - first; j += 3)
            if (!is_zero3(X + (col - first) + j * nv, nv))
                lg_add_product3(k, A, X + (col - first) + j * nv, nv, S + row + (first + j) * ld, ld);
        return;
    }
    int before = col < first ? first - col : 0, behind = col + nc > end ? col + nc - end : 0;
    const double *middle = A + before * lda, *last = A + (nc - behind) * lda;
    add_block(k, nr, before, A, lda, S + row + col * ld, ld);
    add_product(k, nr, nc - before - behind, end - first, middle, lda, X + (col + before - first), nv,
                S + row + first * ld, ld);
    add_block(k, nr, behind, last, lda, S + row + end * ld, ld);
}

void lg_chain_mul(const lg_block *block, const lg_chain *chain, int level, int n, const double *A, double *P)
{
    const double *X = chain->X[level];
    double k = chain->k[level];
    int nv = block->nv;
    for (int j = 0; j < nv; j++) {
        double *column = P + n * j;
        if (!X) {
            for (int i = 0; i < n; i++)
                column[i] = k * A[n * j + i];
            continue;
        }
        lg_zero(n, column);
        for (int l = 0; l < nv; l++)
            if (X[l + j * nv] != 0) // positions and rotations of a direct product do not mix
                lg_axpy(n, k * X[l + j * nv], A + n * l, column);
    }
}
