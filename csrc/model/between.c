#include "model/between.h"

#include "model/body/body.h"
#include "model/tangent.h"
#include "system/chain.h"

/* ---- rigid bodies whose blocks are direct ---- */

/* Straight into the matrix: S_ij += s H_i^T dF/du_j. */
static void add_direct(const lg_element *e, const lg_arms *arms, const double M[2][9], const lg_tangent *to, double s,
                       const double A[9], const double B[9])
{
    for (int j = 0; j < 2; j++) {
        lg_force_tangent dF;
        if (!lg_element_moves(e, j))
            continue;
        const lg_body *body = e->frame[j]->body;
        lg_arm_follow_force(&arms->to[j], M[j], lg_chain_of(to, body->index), A, B, &dF);
        for (int i = 0; i < 2; i++)
            if (lg_element_moves(e, i)) {
                int ld;
                double *S = lg_matrix_at(to->S, e->matrix_block[i][j], &ld);
                lg_arm_pull_force(&arms->to[i], M[i], i == j ? s : -s, &dF, body->block, S, ld);
            }
    }
}

/* ---- bodies of any kind ---- */

static void add_quarters(const lg_element *e, const lg_point *at, const lg_wanted *want, double s, const double A[9],
                         const double B[9])
{
    lg_quarters K[2][2], D[2][2];
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            K[i][j].has = D[i][j].has = 0;
            lg_quarters_add(&K[i][j], LG_XX, i == j ? 1 : -1, A);
            lg_quarters_add(&D[i][j], LG_XX, i == j ? 1 : -1, B);
        }
    lg_tangent_add(e, at, want, s, K, D);
}

/* Whether the body under this end is at rest, or rigid on a direct block. */
static int is_direct(const lg_element *e, int end)
{
    const lg_body *body = e->frame[end]->body;
    return !body->block || (body->type->rigid && lg_block_is_direct(body->block));
}

void lg_tangent_add_between(const lg_element *e, const lg_point *at, const lg_wanted *want, double s, const double A[9],
                            const double B[9])
{
    if (!is_direct(e, 0) || !is_direct(e, 1)) {
        add_quarters(e, at, want, s, A, B);
        return;
    }
    lg_arms arms;
    double M[2][9];
    lg_arms_open(e, at, &arms);
    for (int i = 0; i < 2; i++)
        if (lg_element_moves(e, i))
            lg_arm_turned(&arms.to[i], M[i]);
    for (const lg_tangent *to = want->tangent; to < want->tangent + want->ntangents; to++)
        add_direct(e, &arms, M, to, s, A, B);
}
