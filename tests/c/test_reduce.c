/* Null spaces of Euler parameters, and matrices without the blocks' own rows compared with dense products. */
#include "check.h"
#include "core/small.h"
#include "sparse/reduce.h"
#include "system/layout.h"

/* ---- the functions of node kinds ---- */

static void random_numbers(uint64_t *seed, int n, double *x)
{
    for (int i = 0; i < n; i++)
        x[i] = random_number(seed);
}

static double dot(int n, const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static void check_node(const lg_node *node, uint64_t *seed)
{
    enum { NV = 7 };
    int nv = node->nv, nu = nv - node->nown, first = node->attitude_q;
    double q[NV], u[NV], N[NV * NV], gradient[NV], phi, moved[2][NV], e = 1e-6;
    random_numbers(seed, nv, q);
    random_numbers(seed, nu, u);
    double size = sqrt(dot(4, q + first, q + first));
    for (int i = 0; i < 4; i++)
        q[first + i] /= size;

    node->unit->null_space(q, N);
    node->unit->own(q, q, NULL, &(lg_own_rows){.B = gradient});
    for (int j = 0; j < nu; j++)
        CHECK_CLOSE(dot(nv, gradient, N + j * nv), 0, 1e-15);
    for (int side = 0; side < 2; side++) {
        double scaled[NV];
        for (int j = 0; j < nu; j++)
            scaled[j] = (side ? e : -e) * u[j];
        node->unit->null_move(q, scaled, moved[side]);
    }
    for (int i = 0; i < nv; i++) {
        double rate = 0;
        for (int j = 0; j < nu; j++)
            rate += N[j * nv + i] * u[j];
        CHECK_CLOSE((moved[1][i] - moved[0][i]) / (2 * e), rate, 1e-9);
    }
    node->unit->null_move(q, u, q);
    node->unit->own(q, q, NULL, &(lg_own_rows){.phi = &phi, .B = gradient});
    CHECK_CLOSE(phi, 0, 2e-16);
}

/* N is normal to the gradient of the unit length, even at other lengths, and is the derivative of a motion that keeps
   the length: a turn by 2 |u| about u. */
static void test_null_spaces(void)
{
    uint64_t seed = 1;
    for (int i = 0; i < 20; i++) {
        check_node(&lg_euler_parameters, &seed);
        check_node(&lg_euler_parameters_fixed, &seed);
    }
    double q[4] = {1, 0, 0, 0}, u[3] = {0, 0.25 * LG_PI, 0};
    lg_euler_parameters_fixed.unit->null_move(q, u, q);
    CHECK_CLOSE(q[0], sqrt(0.5), 1e-15);
    CHECK_CLOSE(q[2], sqrt(0.5), 1e-15);
}

/* ---- the reduced matrix ---- */

enum { BLOCKS = 3, ROWS = 5, MOST = 64 };

static const lg_block_spec blocks[BLOCKS] = {{1, &(lg_factor_spec){"euler_parameters", 0}},
                                             {1, &(lg_factor_spec){"Rn", 3}},
                                             {1, &(lg_factor_spec){"euler_parameters_fixed", 0}}};

typedef struct chain_of_blocks { /* joined by a group of two rows and one of three; two cliques hold the first two */
    lg_space space;
    lg_pattern pattern;
    lg_layout layout;
    char memory[4096];
} chain_of_blocks;

static void open_chain(chain_of_blocks *c)
{
    lg_arena arena = {.base = c->memory};
    c->layout = (lg_layout){.space = &c->space, .pattern = &c->pattern};
    lg_layout_take(
        &c->layout, &arena,
        (lg_layout_sizes){
            .nblocks = BLOCKS, .nfactors = BLOCKS, .ngroups = 2, .nentries = 4, .ncliques = 5, .nmembers = 7});
    lg_layout_blocks(&c->layout, BLOCKS, blocks);
    for (int i = 0; i < BLOCKS; i++) {
        lg_layout_member(&c->layout, i);
        lg_layout_mass_clique(&c->layout);
    }
    for (int twice = 0; twice < 2; twice++) {
        lg_layout_member(&c->layout, twice);
        lg_layout_member(&c->layout, !twice);
        lg_layout_clique(&c->layout);
    }
    for (int g = 0; g < 2; g++) {
        lg_layout_entry(&c->layout, g, 2 + g, 0);
        lg_layout_entry(&c->layout, g + 1, 2 + g, 0);
        lg_layout_group(&c->layout, 2 + g);
    }
    lg_layout_finish(&c->layout);
}

/* A dense matrix, row by row. */
typedef struct dense {
    double at[MOST][MOST];
} dense;

/* Fills the block of S of two coupled blocks with random numbers, and the dense matrix with the same. */
static void fill_block(const chain_of_blocks *c, lg_matrix *S, long matrix_block, int row, int column, dense *out,
                       uint64_t *seed)
{
    const lg_block *b = c->space.block;
    int ld;
    double *at = lg_matrix_at(S, matrix_block, &ld);
    for (int k = 0; k < b[column].nv; k++)
        for (int l = 0; l < b[row].nv; l++) {
            double value = random_number(seed);
            at[l + k * ld] += value;
            out->at[b[row].v + l][b[column].v + k] += value;
        }
}

static void fill_S(const chain_of_blocks *c, lg_matrix *S, dense *out, uint64_t *seed)
{
    for (int i = 0; i < BLOCKS; i++)
        fill_block(c, S, i, i, i, out, seed);
    for (int twice = 0; twice < 2; twice++)
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 2; j++)
                fill_block(c, S, BLOCKS + 4 * twice + 2 * i + j, twice ? !i : i, twice ? !j : j, out, seed);
}

/* The rows of groups as a dense matrix, from values in the layout of B. */
static void dense_rows(const chain_of_blocks *c, const double *B, dense *out)
{
    const lg_pattern *p = &c->pattern;
    for (int g = 0; g < p->ngroups; g++)
        for (int e = p->group_start[g]; e < p->group_start[g + 1]; e++) {
            int b = p->group_block[e], rows = p->group_row[g + 1] - p->group_row[g];
            for (int k = 0; k < p->nv[b]; k++)
                for (int r = 0; r < rows; r++)
                    out->at[p->group_row[g] + r][p->v_start[b] + k] += B[p->group_value[e] + r + k * rows];
        }
}

/* The bases of all blocks as one dense matrix, from unknowns to velocities. */
static void dense_bases(const chain_of_blocks *c, const lg_reduction *r, const double *bases, dense *out)
{
    for (int b = 0; b < BLOCKS; b++) {
        int nv = c->space.block[b].nv, nu = r->pattern.nv[b];
        for (int k = 0; k < nu; k++)
            for (int l = 0; l < nv; l++)
                out->at[c->space.block[b].v + l][r->pattern.v_start[b] + k] =
                    nu == nv ? l == k : bases[r->basis[b] + l + k * nv];
    }
}

/* y += A x or A^T x */
static void mul(int transposed, int rows, int columns, const dense *A, const double *x, double *y)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
            if (transposed)
                y[j] += A->at[i][j] * x[i];
            else
                y[i] += A->at[i][j] * x[j];
}

/* A chain of blocks with random matrices and bases, in sparse and in dense form. */
typedef struct reduced_case {
    chain_of_blocks c;
    lg_plan *plan;
    lg_reduction r;
    lg_matrix whole, reduced;
    int nv, nu;
    double bases[2][MOST * 2], values[2][MOST * 2], right[MOST];
    dense S, G, B, N, X;
    char memory[2][1 << 16];
} reduced_case;

static void open_case(reduced_case *k)
{
    uint64_t seed = 2;
    *k = (reduced_case){.plan = NULL};
    open_chain(&k->c);
    CHECK(lg_plan_create(&k->c.pattern, LG_COUPLING_TANGENTS, &k->plan) == LG_OK);
    CHECK(lg_reduction_create(&k->c.pattern, k->plan, LG_COUPLING_TANGENTS, &k->r) == LG_OK);
    lg_matrix_layout(&k->whole, k->plan, &(lg_arena){.base = k->memory[0]});
    lg_matrix_layout(&k->reduced, k->r.plan, &(lg_arena){.base = k->memory[1]});
    k->nv = k->c.space.nv, k->nu = k->r.pattern.v_start[BLOCKS];
    for (int i = 0; i < 2; i++) {
        random_numbers(&seed, k->r.nbases, k->bases[i]);
        random_numbers(&seed, k->c.pattern.nvalues, k->values[i]);
    }
    random_numbers(&seed, k->nu + ROWS, k->right);
    fill_S(&k->c, &k->whole, &k->S, &seed);
    dense_rows(&k->c, k->values[0], &k->G);
    dense_rows(&k->c, k->values[1], &k->B);
    dense_bases(&k->c, &k->r, k->bases[0], &k->N);
    dense_bases(&k->c, &k->r, k->bases[1], &k->X);
}

static void close_case(reduced_case *k)
{
    lg_matrix_close(&k->whole);
    lg_matrix_close(&k->reduced);
    lg_reduction_close(&k->r);
    lg_plan_free(k->plan);
}

static void solve_reduced(reduced_case *k, double *x)
{
    double G[MOST * 2], B[MOST * 2];
    lg_matrix_zero(&k->reduced);
    lg_reduction_add(&k->r, &k->whole, k->bases[0], k->bases[1], &k->reduced);
    lg_reduction_rows(&k->r, k->values[0], k->bases[0], G);
    lg_reduction_rows(&k->r, k->values[1], k->bases[1], B);
    lg_matrix_add_border(&k->reduced, G, 1, B, 0, NULL);
    CHECK(lg_matrix_factor(&k->reduced) == LG_OK);
    lg_copy(k->nu + ROWS, k->right, x);
    CHECK(lg_matrix_solve(&k->reduced, x) == LG_OK);
}

/* A solution of the reduced system satisfies the dense one: S X u + G^T lam, then N^T of it; and B X u. */
static void test_reduced_systems(void)
{
    static reduced_case k;
    double x[MOST], v[MOST] = {0}, r[MOST] = {0}, pulled[MOST], forces[MOST] = {0}, rows[MOST] = {0};
    open_case(&k);
    CHECK(k.nu == 6 + 3 + 3 && k.r.pattern.nrows == ROWS && k.c.pattern.nrows == ROWS + 2);
    solve_reduced(&k, x);

    mul(0, k.nv, k.nu, &k.X, x, v);
    mul(0, k.nv, k.nv, &k.S, v, r);
    mul(1, ROWS, k.nv, &k.G, x + k.nu, r);
    mul(1, k.nv, k.nu, &k.N, r, forces);
    lg_reduction_pull(&k.r, k.bases[0], r, pulled);
    mul(0, ROWS, k.nv, &k.B, v, rows);
    for (int i = 0; i < k.nu; i++) {
        CHECK_CLOSE(forces[i], k.right[i], 1e-10);
        CHECK_CLOSE(pulled[i], forces[i], 1e-10);
    }
    for (int i = 0; i < ROWS; i++)
        CHECK_CLOSE(rows[i], k.right[k.nu + i], 1e-10);
    close_case(&k);
}

int main(void)
{
    RUN(test_null_spaces);
    RUN(test_reduced_systems);
    return check_result();
}
