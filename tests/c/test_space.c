/* A block that is a product of factors: every function of the space is that of its node kinds, factor by factor, and
   chains multiply by matrices that are diagonal in the factors. */
#include "check.h"

#include "core/small.h"
#include "system/chain.h"
#include "system/layout.h"

enum { MOST = 64, TRIALS = 20 };

typedef struct product {
    lg_space space;
    lg_pattern pattern;
    lg_layout layout;
    char memory[4096];
} product;

/* Two blocks: R^2 x kind x SE(3) x R^3, a kind with own rows in front of R^3 only, and SO(3). */
static int open_product(product *p, const char *kind)
{
    const lg_node *node = lg_node_find(kind);
    const lg_factor_spec with[] = {{"Rn", 2}, {kind, node->nv ? 0 : 4}, {"SE3", 0}, {"Rn", 3}}, so3 = {"SO3", 0};
    const lg_factor_spec own[] = {{kind, 0}, {"Rn", 3}};
    const lg_block_spec blocks[] = {node->nown ? (lg_block_spec){2, own} : (lg_block_spec){4, with}, {1, &so3}};
    lg_report report;
    lg_arena arena = {.base = p->memory};
    CHECK(lg_layout_check(2, blocks, 0, &report) == LG_OK);
    p->layout = (lg_layout){.space = &p->space, .pattern = &p->pattern};
    lg_layout_take(&p->layout, &arena, (lg_layout_sizes){.nblocks = 2, .nfactors = lg_layout_factors(2, blocks)});
    lg_layout_blocks(&p->layout, 2, blocks);
    lg_layout_finish(&p->layout);
    return node->nown;
}

static void test_blocks_are_made_of_their_factors(void)
{
    for (int k = 0; k < lg_node_count; k++) {
        product p;
        int own = open_product(&p, lg_nodes[k]->name), q = 0, v = 0, m = 0, i = 0;
        CHECK(p.space.nblocks == 2 && p.space.nfactors == (own ? 3 : 5) && p.space.nrows == own);
        for (const lg_block *b = p.space.block; b < p.space.block + 2; b++) {
            int linear = 1;
            CHECK(b->q == q && b->v == v && b->m == m && b->factor == &p.space.factor[i] && b->node == b->factor->node);
            for (const lg_factor *f = b->factor; f < b->factor + b->nfactors; f++, i++) {
                CHECK(f->q == q && f->v == v && f->block == b - p.space.block);
                q += f->nq, v += f->nv, linear &= f->node->linear;
            }
            CHECK(q == b->q + b->nq && v == b->v + b->nv && linear == b->linear);
            CHECK(p.layout.nv[b - p.space.block] == b->nv && p.layout.v_start[b - p.space.block] == b->v);
            m += b->nv * b->nv;
        }
        CHECK(i == p.space.nfactors && q == p.space.nq && v == p.space.nv && m == p.space.nm && !p.space.linear);
    }
}

/* One factor by the functions of its kind. */
static void check_factor(const lg_factor *f, const double *q0, const double *theta, const double *v, const double *q,
                         const double *moved, const double *w, const double *rate, const double *difference)
{
    double own[LG_NODE_NQ], x[LG_NODE_NQ];
    f->node->retract(f->n, q0 + f->q, theta + f->v, own);
    CHECK(distance(f->nq, own, q + f->q) == 0);
    if (f->node->polish) {
        lg_copy(f->nq, moved + f->q, x);
        f->node->polish(x);
        CHECK(distance(f->nq, own, x) == 0);
    } else {
        CHECK(distance(f->nq, own, moved + f->q) < 1e-14);
    }
    f->node->tangent_mul(f->n, theta + f->v, v + f->v, x);
    CHECK(distance(f->nv, x, w + f->v) < 1e-14);
    f->node->rate(f->n, q0 + f->q, theta + f->v, v + f->v, x);
    CHECK(distance(f->nv, x, rate + f->v) == 0);
    f->node->difference(f->n, q0 + f->q, q + f->q, x);
    CHECK(distance(f->nv, x, difference + f->v) == 0);
}

static double least_regular(const lg_space *space, const double *q)
{
    double least = 1;
    for (const lg_factor *f = space->factor; f < space->factor + space->nfactors; f++)
        if (f->node->regular)
            least = fmin(least, f->node->regular(q + f->q));
    return least;
}

static void check_space(const lg_space *space, uint64_t *seed)
{
    double q0[MOST], q[MOST], moved[MOST], staged[MOST], theta[MOST], v[MOST], w[MOST], rate[MOST], same[MOST];
    double back[MOST];
    int block = -1;
    for (const lg_factor *f = space->factor; f < space->factor + space->nfactors; f++)
        lg_node_identity(f->node, f->n, q0 + f->q);
    draws(seed, space->nv, space->block->nown ? 0.4 : 1.2, theta);
    lg_space_retract(space, q0, theta, q0);
    draws(seed, space->nv, 0.8, theta);
    draws(seed, space->nv, 1, v);
    for (const lg_factor *f = space->factor; f < space->factor + space->nfactors; f++)
        if (f->nq == 0) /* nothing moves */
            lg_zero(f->nv, theta + f->v);

    lg_space_retract(space, q0, theta, q);
    lg_space_move(space, q0, theta, v, moved, w);
    lg_space_rate(space, q0, theta, v, rate);
    lg_space_difference(space, q0, q, back);
    CHECK(distance(space->nv, back, theta) < 1e-13);
    for (const lg_factor *f = space->factor; f < space->factor + space->nfactors; f++)
        check_factor(f, q0, theta, v, q, moved, w, rate, back);

    lg_space_tangent_mul(space, theta, v, same);
    CHECK(distance(space->nv, same, w) < 1e-14);
    lg_space_stage(space, q0, theta, v, staged, same);
    CHECK(distance(space->nq, staged, moved) < 1e-14 && distance(space->nv, same, rate) < 1e-14);
    lg_copy(space->nq, q0, same);
    lg_space_advance(space, theta, same);
    CHECK(distance(space->nq, same, moved) == 0);
    lg_space_polish(space, moved);
    CHECK(distance(space->nq, moved, q) < 1e-14);
    CHECK(lg_space_regular(space, q, &block) == least_regular(space, q) &&
          (block >= 0) == (least_regular(space, q) < 1));
}

static void test_functions_go_factor_by_factor(void)
{
    uint64_t seed = 5;
    for (int k = 0; k < lg_node_count; k++) {
        product p;
        open_product(&p, lg_nodes[k]->name);
        for (int i = 0; i < TRIALS; i++)
            check_space(&p.space, &seed);
    }
}

/* X of a block, as chains have it: diagonal in its factors, with the identity for R^n and for positions that add. */
static void fill_chain(const lg_block *b, uint64_t *seed, double *X)
{
    for (const lg_factor *f = b->factor; f < b->factor + b->nfactors; f++) {
        double room[MOST], *M = f->n && b->nfactors > 1 ? NULL : lg_factor_matrix(f, b, room, X);
        int first = f->node->position == LG_POSITION_INERTIAL ? f->node->attitude_v : 0;
        for (int j = 0; M && j < f->nv; j++)
            for (int i = 0; i < f->nv; i++)
                M[i + f->nv * j] = i < first || j < first ? i == j : random_number(seed);
        lg_factor_put(f, b, M, X);
    }
}

static void check_chain(const lg_block *b, uint64_t *seed, int row, int nr, int col, int nc)
{
    static double X[MOST * MOST], A[MOST * MOST], S[MOST * MOST], P[MOST * MOST];
    const lg_chain chain = {{0, 0.7, 0}, {NULL, X, NULL}};
    int n = b->nv, wrong = 0;
    fill_chain(b, seed, X);
    draws(seed, nr * nc, 1, A);
    draws(seed, n * n, 1, S);
    lg_copy(n * n, S, P);
    lg_chain_add(b, &chain, 1, -1.5, row, nr, col, nc, A, nr, S, n);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < nr; i++) {
            double sum = P[row + i + n * j];
            for (int l = 0; l < nc; l++)
                sum += -1.5 * 0.7 * A[i + nr * l] * X[col + l + n * j];
            wrong += !(fabs(S[row + i + n * j] - sum) < 1e-13);
            P[row + i + n * j] = S[row + i + n * j];
        }
    CHECK(!wrong && distance(n * n, S, P) == 0);
}

static void test_chains_are_diagonal_in_factors(void)
{
    uint64_t seed = 3;
    for (int k = 0; k < lg_node_count; k++) {
        product p;
        open_product(&p, lg_nodes[k]->name);
        const lg_block *b = p.space.block;
        for (int col = 0; col < b->nv; col++)
            for (int nc = 1; col + nc <= b->nv; nc++)
                check_chain(b, &seed, 1, 3, col, nc);
        check_chain(b + 1, &seed, 0, 3, 0, 3);
    }
}

int main(void)
{
    RUN(test_blocks_are_made_of_their_factors);
    RUN(test_functions_go_factor_by_factor);
    RUN(test_chains_are_diagonal_in_factors);
    return check_result();
}
