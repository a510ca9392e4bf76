#include "model/body/lever.h"

#include "model/body/body.h"
#include "system/chain.h"

/* M = -R a^; here and below M and the derivatives are column-major */
static void lever(const double R[9], const double a[3], double M[9])
{
    for (int i = 0; i < 3; i++) {
        const double *row = R + 3 * i;
        M[i] = a[1] * row[2] - a[2] * row[1];
        M[3 + i] = a[2] * row[0] - a[0] * row[2];
        M[6 + i] = a[0] * row[1] - a[1] * row[0];
    }
}

void lg_lever(const lg_frame *f, const lg_pose *pose, double M[9])
{
    lever(pose->R, f->offset, M);
}

static int is_diagonal(const double A[9])
{
    return A[1] == 0 && A[2] == 0 && A[3] == 0 && A[5] == 0 && A[6] == 0 && A[7] == 0;
}

/* C = A M for a row-major A and column-major M and C; `diagonal`: A is, as for springs along the inertial axes. */
static inline void stretch(int diagonal, const double A[9], const double M[9], double C[9])
{
    for (int j = 0; j < 9; j += 3)
        if (diagonal)
            C[j] = A[0] * M[j], C[j + 1] = A[4] * M[j + 1], C[j + 2] = A[8] * M[j + 2];
        else
            lg_mul3(A, M + j, C + j);
}

/* C = A M + B W, likewise. */
static inline void stretch_both(int diagonal, const double A[9], const double M[9], const double B[9],
                                const double W[9], double C[9])
{
    double BW[9];
    stretch(diagonal, A, M, C);
    stretch(diagonal, B, W, BW);
    for (int i = 0; i < 9; i++)
        C[i] += BW[i];
}

/* dF += k A X of the chain's rotational part */
static void follow(const lg_chain *chain, int level, const lg_block *b, const double A[9], double dF[9])
{
    const double *X = lg_chain_turning(chain, level, b);
    if (X)
        lg_add_product3(chain->k[level], A, X, b->nv, dF, 3);
    else
        lg_axpy(9, chain->k[level], A, dF);
}

/* dx = dx_node + M dphi, dx' = dx_node' + M domega + W dphi with W = -R (omega x X)^; the pose's y is omega x X. */
void lg_lever_force_tangent(const lg_frame *f, const lg_pose *pose, const double M[9], const lg_chain *chain,
                            const double A[9], const double B[9], lg_force_tangent *out)
{
    const lg_block *b = f->body->block;
    double k0 = chain->k[0], k1 = chain->k[1], W[9], AM[9], BM[9];
    int diagonal = out->diagonal = is_diagonal(A) && is_diagonal(B);
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++)
            if (!diagonal || i == j)
                out->x[i + 3 * j] = k0 * A[3 * i + j] + k1 * B[3 * i + j];
    lg_zero(9, out->phi);
    if (f->at_node)
        return;
    lever(pose->R, pose->y, W);
    stretch_both(diagonal, A, M, B, W, AM);
    stretch(diagonal, B, M, BM);
    follow(chain, 0, b, AM, out->phi);
    follow(chain, 1, b, BM, out->phi);
}

/* S += s A and S += s M^T A; of a diagonal A only the diagonal is read. */
static inline void add_block(int diagonal, double s, const double *restrict A, double *restrict S, int ld)
{
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++)
            if (!diagonal || i == j)
                S[i + j * ld] += s * A[i + 3 * j];
}

static inline void add_moments(int diagonal, double s, const double *restrict M, const double *restrict A,
                               double *restrict S, int ld)
{
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++)
            S[i + j * ld] += s * (diagonal ? M[j + 3 * i] * A[4 * j] : lg_dot3(M + 3 * i, A + 3 * j));
}

void lg_lever_pull_tangent(const lg_frame *f, const double M[9], double s, const lg_force_tangent *dF,
                           const lg_block *by, double *S, int ld)
{
    int row = f->body->block->node->attitude_v, column = by->node->attitude_v; // a fixed point has no places
    double *Sphi = S + (long)column * ld;
    if (row > 0 && column > 0)
        add_block(dF->diagonal, s, dF->x, S, ld);
    if (row > 0)
        add_block(0, s, dF->phi, Sphi, ld);
    if (f->at_node)
        return;
    if (column > 0)
        add_moments(dF->diagonal, s, M, dF->x, S + row, ld);
    add_moments(0, s, M, dF->phi, Sphi + row, ld);
}
