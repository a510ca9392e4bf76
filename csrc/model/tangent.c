#include "model/tangent.h"

#include "system/chain.h"

void lg_tangent_add_block(const lg_element *e, const lg_matrix *S, const lg_chain *chain, int i, int j, const double *A)
{
    const lg_block *a = e->frame[i]->body->block, *b = e->frame[j]->body->block;
    int ld;
    double *at = lg_matrix_at(S, e->matrix_block[i][j], &ld);
    lg_chain_add(b, &chain[e->frame[j]->body->index], 0, 1, 0, a->nv, 0, b->nv, A, a->nv, at, ld);
}

/* ---- any bodies: by columns ---- */

void lg_quarters_mul_add(const lg_quarters *A, int n, const double *B, double *Y)
{
    for (int which = 0; which < 4; which++) {
        if (!(A->has >> which & 1))
            continue;
        const double *block = A->A[which];
        int row = 3 * (which / 2), column = 3 * (which % 2);
        for (int j = 0; j < n; j++)
            for (int i = 0; i < 3; i++)
                Y[6 * j + row + i] += lg_dot3(block + 3 * i, B + 6 * j + column);
    }
}

/* The derivatives P and W of a frame's pose and twist by the unknown. */
static void tangent_follow(const lg_frame *f, const lg_point *at, const lg_chain *chain, int rates, double *P,
                           double *W, double *A, double *B)
{
    const lg_block *block = f->body->block;
    f->body->type->frames->H(f, at, A);
    lg_chain_mul(block, chain, 0, 6, A, P);
    if (!rates)
        return;
    lg_chain_mul(block, chain, 1, 6, A, W);
    f->body->type->frames->Z(f, at, A);
    lg_chain_mul(block, chain, 0, 6, A, B);
    lg_axpy(6 * block->nv, 1, B, W);
}

/* The columns of the block under frame j. */
static void add_columns(const lg_element *e, const lg_point *at, const lg_tangent *to, double s, int j,
                        const lg_quarters K[2][2], const lg_quarters D[2][2])
{
    const lg_frame *f = e->frame[j];
    int nv = f->body->block->nv, ld;
    double small[LG_TANGENT_ROOM * LG_MAX_NV];
    double *P = nv <= LG_MAX_NV ? small : at->work, *W = P + 6 * nv, *Y = W + 6 * nv;
    tangent_follow(f, at, lg_chain_of(to, f->body->index), D != NULL, P, W, Y + 6 * nv, Y + 12 * nv);
    for (int i = 0; i < e->info->nframes; i++) {
        const lg_body *body = e->frame[i]->body;
        if (!body->block || !(K[i][j].has || (D && D[i][j].has)))
            continue;
        lg_zero(6 * nv, Y);
        lg_quarters_mul_add(&K[i][j], nv, P, Y);
        if (D)
            lg_quarters_mul_add(&D[i][j], nv, W, Y);
        double *S = lg_matrix_at(to->S, e->matrix_block[i][j], &ld);
        for (int k = 0; k < nv; k++)
            body->type->frames->pull(e->frame[i], at, s, Y + 6 * k, S + (size_t)k * ld);
    }
}

/* ---- rigid bodies: by quarters ---- */

/* Adds the derivatives that couple two bodies. */
static void add_matrix_block(const lg_element *e, const lg_wanted *want, const lg_arm arm[2], int i, int j,
                             const lg_stiffness *sum)
{
    for (const lg_tangent *to = want->tangent; to < want->tangent + want->ntangents; to++) {
        int ld;
        double *S = lg_matrix_at(to->S, e->matrix_block[i][j], &ld);
        lg_stiffness_add(sum, &arm[i], &arm[j], lg_chain_of(to, e->frame[j]->body->index), S, ld);
    }
}

/* Derivatives of wrench i by pose and twist j: within one body they are collected in its stiffness; between two bodies
   they are added to the matrix. */
static LG_INLINE void add_quarters(const lg_element *e, const lg_point *at, const lg_wanted *want, double s,
                                   const lg_arm arm[2], int i, int j, const lg_quarters *K, const lg_quarters *D)
{
    const lg_body *a = e->frame[i]->body;
    if (a == e->frame[j]->body) {
        lg_arm_shift(&arm[i], &arm[j], s, K, D, lg_body_stiffness(a, at));
        return;
    }
    lg_stiffness sum;
    sum.K.has = sum.D.has = 0;
    lg_arm_shift(&arm[i], &arm[j], s, K, D, &sum);
    add_matrix_block(e, want, arm, i, j, &sum);
}

/* Adds a moment's derivative by the turns of its own body, which are the same at every point of a rigid body; returns 0
   if there is more to add. */
static int add_turning(const lg_element *e, const lg_point *at, double s, const lg_quarters *K, const lg_quarters *D)
{
    const lg_body *body = e->frame[0]->body;
    if (e->info->nframes > 1 || !body->type->rigid || K->has != 1u << LG_RR || (D && D->has))
        return 0;
    lg_quarters_add(&lg_body_stiffness(body, at)->K, LG_RR, s, K->A[LG_RR]);
    return 1;
}

/* Whether wrench i, on a body that moves, depends on the pose or the twist of frame j, on another or the same. */
static int depends(const lg_element *e, int i, int j, const lg_quarters K[2][2], const lg_quarters D[2][2])
{
    return e->frame[i]->body->block && e->frame[j]->body->block && (K[i][j].has || (D && D[i][j].has));
}

void lg_tangent_add_opened(const lg_element *e, const lg_arms *arms, const lg_point *at, const lg_wanted *want,
                           double s, const lg_quarters K[2][2], const lg_quarters D[2][2])
{
    int n = e->info->nframes;
    for (int j = 0; j < n; j++) {
        int columns = 0;
        for (int i = 0; i < n; i++) {
            if (!depends(e, i, j, K, D))
                continue;
            if (arms->all)
                add_quarters(e, at, want, s, arms->to, i, j, &K[i][j], D ? &D[i][j] : NULL);
            else
                columns = 1;
        }
        for (int k = 0; columns && k < want->ntangents; k++)
            add_columns(e, at, &want->tangent[k], s, j, K, D);
    }
}

void lg_tangent_add(const lg_element *e, const lg_point *at, const lg_wanted *want, double s, const lg_quarters K[2][2],
                    const lg_quarters D[2][2])
{
    if (add_turning(e, at, s, &K[0][0], D ? &D[0][0] : NULL))
        return;
    lg_arms arms;
    lg_arms_open(e, at, &arms);
    lg_tangent_add_opened(e, &arms, at, want, s, K, D);
}
