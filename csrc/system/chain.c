#include "system/chain.h"

#include "core/two.h"

/* S += k A for an nr x nc block */
static inline void chain_add_block(double k, int nr, int nc, const double *A, int lda, double *S, int ld)
{
    for (int j = 0; j < nc; j++)
        for (int i = 0; i < nr; i++)
            S[i + j * ld] += k * A[i + j * lda];
}

/* The same, so that the compiler knows the most frequent size. */
static void add_alone(double k, int nr, int nc, const double *A, int lda, double *S, int ld)
{
    if (nr == 3 && nc == 3 && lda == 3)
        chain_add_block(k, 3, 3, A, 3, S, ld);
    else
        chain_add_block(k, nr, nc, A, lda, S, ld);
}

/* S += k A X for an nr x nl A and the nl x nc matrix X with leading dimension ldx */
static inline void chain_add_product(double k, int nr, int nl, int nc, const double *A, int lda, const double *X,
                                     int ldx, double *S, int ld)
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

/* S += k A X for columns that belong to one factor */
static LG_INLINE void add_to_factor(const lg_factor *f, int nv, double k, int nr, int col, int nc, const double *A,
                                    int lda, const double *X, double *S, int ld)
{
    int first = f->first, end = f->end;
    if (col + nc <= first) {
        chain_add_block(k, nr, nc, A, lda, S + col * ld, ld);
        return;
    }
    X += first + first * nv;
    if (nr == 3 && nc == 3 && lda == 3 && col >= first && (end - first) % 3 == 0) {
        for (int j = 0; j < end - first; j += 3)
            if (!is_zero3(X + (col - first) + j * nv, nv))
                lg_add_product3(k, A, X + (col - first) + j * nv, nv, S + (first + j) * ld, ld);
        return;
    }
    int before = col < first ? first - col : 0;
    chain_add_block(k, nr, before, A, lda, S + col * ld, ld);
    chain_add_product(k, nr, nc - before, end - first, A + before * lda, lda, X + (col + before - first), nv,
                      S + first * ld, ld);
}

void lg_chain_add(const lg_block *block, const lg_chain *chain, int level, double s, int row, int nr, int col, int nc,
                  const double *A, int lda, double *S, int ld)
{
    const double *X = chain->X[level];
    double k = s * chain->k[level];
    const lg_factor *f = block->factor;
    if (k == 0)
        return;
    if (!X) {
        add_alone(k, nr, nc, A, lda, S + row + col * ld, ld);
        return;
    }
    for (; col + nc > f->end; f++) { // columns of several factors
        int n = f->end - col;
        if (n <= 0)
            continue;
        add_to_factor(f, block->nv, k, nr, col, n, A, lda, X, S + row, ld);
        A += n * lda, col += n, nc -= n;
    }
    add_to_factor(f, block->nv, k, nr, col, nc, A, lda, X, S + row, ld);
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
            if (X[l + j * nv] != 0) // factors do not mix, nor do positions and rotations of a direct product
                lg_axpy(n, k * X[l + j * nv], A + n * l, column);
    }
}
