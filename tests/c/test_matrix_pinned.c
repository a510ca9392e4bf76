/* Bodies that spherical joints pin to the next one: the same solutions as without, wherever the form allows it. */
#include "matrices.h"
#include "sparse/single.h"

/* ---- trees of bodies with spherical joints ---- */

enum { BODIES = 12 };

/* The rows of a spherical joint on a body, [multiple I, arm x], with the arm that the entry of B has at random. */
static void pin_entry(double *B, double multiple)
{
    double x = B[9], y = B[10], z = B[11];
    memcpy(B + 9, (double[9]){0, z, -y, -z, 0, x, y, -x, 0}, 9 * sizeof(double));
    for (int c = 0; c < 3; c++)
        for (int r = 0; r < 3; r++)
            B[r + 3 * c] = r == c ? multiple : 0;
}

/* The columns of the rotation have small and large entries where they need to be exchanged. */
static void open_pins(problem *p, void (*shape)(problem *), uint64_t *state)
{
    shape(p);
    for (int e = 0; e < p->group_start[p->ngroups]; e++)
        p->group_sufficient[e] = 1;
    open_problem(p, state);
    for (int e = 0; e < p->group_start[p->ngroups]; e++)
        pin_entry(p->B[0] + p->group_value[e], e % 2 ? 0.7 : -1.2);
    for (int b = 0; b < p->nblocks; b++)
        p->chain[b].X[0] = NULL;
    for (int c = 0; c < p->ncliques; c += 2)
        p->S[c][3 + WIDE * 3] = -20, p->S[c][5 + WIDE * 3] = p->S[c][3 + WIDE * 5] = 30;
}

static void branches(problem *p)
{
    for (int b = 0; b < BODIES; b++) {
        add_clique(p, BLOCKS(add_block(p, 6, 0)));
        if (b == 0)
            add_group(p, 3, BLOCKS(b));
        else
            add_group(p, 3, BLOCKS(b - 1 - (b % 5 == 4), b));
    }
}

static void free_chain(problem *p)
{
    for (int b = 0; b < BODIES; b++) {
        add_clique(p, BLOCKS(add_block(p, 6, 0)));
        if (b > 0)
            add_group(p, 3, BLOCKS(b, b - 1));
    }
}

/* Joints of three bodies, of which two come before the joint. */
static void triples(problem *p)
{
    for (int b = 0; b < BODIES; b++)
        add_clique(p, BLOCKS(add_block(p, 6, 0)));
    for (int b = 0; b + 2 < BODIES; b += 2)
        add_group(p, 3, BLOCKS(b, b + 1, b + 2));
}

static void closed_loop(problem *p)
{
    branches(p);
    add_group(p, 3, BLOCKS(0, BODIES - 1));
}

static int pins(const problem *p)
{
    int count = 0;
    for (const lg_front *front = p->plan->fronts; front < p->plan->fronts + p->plan->nfronts; front++)
        count += front->single == LG_SINGLE_PINNED && lg_is_pinned(front, p->matrix.pivots);
    return count;
}

/* Whether pivots of some rotation are in another order than its rows. */
static int exchanged(const problem *p)
{
    int found = 0;
    for (const lg_front *front = p->plan->fronts; front < p->plan->fronts + p->plan->nfronts; front++) {
        const int *perm = p->matrix.pivots + front->pivot + 3;
        if (front->single == LG_SINGLE_PINNED && lg_is_pinned(front, p->matrix.pivots))
            found += perm[0] != 0 && perm[0] + perm[1] + perm[2] == 3;
    }
    return found;
}

static void check_pins(void (*shape)(problem *), int in_place, int count)
{
    problem p = {.has_guest = in_place, .coupling = LG_COUPLING_TANGENTS};
    uint64_t state = 5;
    open_pins(&p, shape, &state);
    if (in_place)
        exchange(&p);
    for (int pass = 0; pass < 2; pass++) {
        assemble(&p);
        check_solution(&p, &state, 1e-14);
        CHECK(pins(&p) == count && p.matrix.fallbacks == 0);
        CHECK((exchanged(&p) > 0) == (count > 0));
    }
    close_problem(&p);
}

static void test_pinned_bodies(void)
{
    for (int in_place = 0; in_place < 2; in_place++) {
        check_pins(free_chain, in_place, BODIES - 3);
        check_pins(branches, in_place, BODIES / 2);
        check_pins(closed_loop, in_place, 0);
        check_pins(triples, in_place, 0);
    }
}

/* One number beside the identity of one entry, in the columns or in the rows. */
static void test_entries_that_do_not_pin(void)
{
    for (int entry = 2; entry < 6; entry++)
        for (int place = 0; place < 9; place++)
            for (int rows = 0; rows < 2; rows++) {
                problem p = {.coupling = LG_COUPLING_TANGENTS};
                uint64_t state = 6;
                open_pins(&p, free_chain, &state);
                assemble(&p);
                CHECK(lg_matrix_factor(&p.matrix) == LG_OK);
                int before = pins(&p);

                memcpy(p.B[1], p.B[0], (size_t)p.pattern.nvalues * sizeof(double));
                p.B[1][p.group_value[entry] + place] += 0.01;
                memset(p.dense, 0, (size_t)(p.size * p.size) * sizeof(double));
                lg_matrix_zero(&p.matrix);
                assemble_cliques(&p);
                lg_matrix_put_columns(&p.matrix, p.B[!rows]);
                lg_matrix_put_rows(&p.matrix, p.B[rows]);
                CHECK(lg_matrix_factor(&p.matrix) == LG_OK && pins(&p) == before - 1 && p.matrix.fallbacks == 0);
                close_problem(&p);
            }
}

/* A rotation without inertia about the direction of a joint's arms, which no row holds. */
static void test_singular_rotations(void)
{
    problem p = {.coupling = LG_COUPLING_TANGENTS};
    uint64_t state = 8;
    open_pins(&p, free_chain, &state);
    for (int i = 0; i < 6; i++)
        p.S[4][4 + WIDE * i] = p.S[4][i + WIDE * 4] = 0;
    for (int e = 0; e < p.group_start[p.ngroups]; e++)
        for (int r = 0; r < 3; r++)
            p.B[0][p.group_value[e] + r + 3 * 4] = 0;
    assemble(&p);
    CHECK(lg_matrix_factor(&p.matrix) == LG_SINGULAR);
    CHECK(p.matrix.fallbacks == 1 && p.matrix.deficient_row == -1 - (6 * 4 + 4));
    close_problem(&p);
}

static void test_infinite_values(void)
{
    for (int row = 0; row < 6; row++)
        for (int value = 0; value < 2; value++) {
            problem p = {.coupling = LG_COUPLING_TANGENTS};
            uint64_t state = 8;
            open_pins(&p, free_chain, &state);
            p.S[4][row + WIDE * (5 - row)] = value ? (double)INFINITY : (double)NAN;
            assemble(&p);
            CHECK(lg_matrix_factor(&p.matrix) == LG_NOT_FINITE);
            close_problem(&p);
        }
}

/* With the signs of the eigenvalues of as many pivots as by the kernels for any fronts. */
static void test_negative_eigenvalues(void)
{
    int most = 0;
    for (int i = 0; i < 50; i++) {
        problem p = {.coupling = LG_COUPLING_TANGENTS};
        uint64_t state = 100 + (uint64_t)i;
        int negative[2];
        open_pins(&p, i % 2 ? free_chain : branches, &state);
        for (int c = 0; c < p.ncliques; c += 3)
            for (int k = 0; k < SLOT; k++)
                p.S[c][k] *= -1;
        for (int any = 0; any < 2; any++) {
            assemble(&p);
            lg_matrix_symmetrise(&p.matrix);
            CHECK(lg_matrix_factor(&p.matrix) == LG_OK && (pins(&p) > 5) == !any);
            negative[any] = lg_matrix_negative(&p.matrix);
            for (int k = 0; k < p.plan->nfronts; k++)
                p.plan->fronts[k].single = 0;
        }
        CHECK(negative[0] == negative[1]);
        most = negative[0] - p.pattern.nrows > most ? negative[0] - p.pattern.nrows : most;
        close_problem(&p);
    }
    CHECK(most > 3);
}

/* B = [I, -arm x], S = diag(I, inertia) */
static void set_links(problem *p, double inertia, uint64_t *state)
{
    for (int c = 0; c < p->ncliques; c++)
        for (int i = 0; i < 6; i++)
            for (int j = 0; j < 6; j++)
                p->S[c][i + WIDE * j] = i != j ? 0 : i < 3 ? 1 : inertia * (1 + 0.3 * i);
    for (int e = 0; e < p->group_start[p->ngroups]; e++) {
        double *B = p->B[0] + p->group_value[e] + 9;
        double x = random_number(state), y = random_number(state), z = random_number(state);
        memcpy(B, (double[]){0, z, -y, -z, 0, x, y, -x, 0}, 9 * sizeof(double));
    }
}

/* Where the mass of links is all but at one point, solutions are as accurate as the condition of the matrix allows. */
static void test_links_of_small_inertia(void)
{
    for (double inertia = 1; inertia > 1e-12; inertia /= 10) {
        problem p = {.coupling = LG_COUPLING_TANGENTS};
        uint64_t state = 5;
        open_pins(&p, free_chain, &state);
        set_links(&p, inertia, &state);
        assemble(&p);
        double *b = random_array(&state, p.size), *x = solved(&p, b, 1e-14), largest = 0, error = 0;
        CHECK(pins(&p) == BODIES - 3 && p.matrix.fallbacks == 0);
        assemble(&p);
        CHECK(lg_matrix_fall_back(&p.matrix) == LG_OK && p.matrix.is_doubled);
        double *y = solution(&p, b);
        for (int i = 0; i < p.size; i++) {
            largest = fmax(largest, fabs(y[i]));
            error = fmax(error, fabs(x[i] - y[i]));
        }
        CHECK_CLOSE(error / largest, 0, 1e-14 + 5e-17 / inertia);
        free(b), free(x), free(y);
        close_problem(&p);
    }
}

int main(void)
{
    RUN(test_pinned_bodies);
    RUN(test_entries_that_do_not_pin);
    RUN(test_singular_rotations);
    RUN(test_infinite_values);
    RUN(test_negative_eigenvalues);
    RUN(test_links_of_small_inertia);
    return check_result();
}
