/* The kinetic energy in a step: a rigid body in Euler parameters, one about a fixed point, and a point mass, for each
   rule, at ends that are not of unit length; and a tree of hinges and slides. */
#include "check.h"
#include "core/small.h"
#include "core/two.h"
#include "model/body/tree_state.h"
#include "model/model.h"
#include "system/step.h"

enum { NV = 7 + 4 + 3, WORK = 4096 };

static const double inertia[] = {6, 8, 3, 0.5, -0.2, 0.1}, J[9] = {6, 0.5, -0.2, 0.5, 8, 0.1, -0.2, 0.1, 3}, J0 = 8.5;
static const double masses[] = {2, 3};
static const lg_block_spec blocks[] = {{1, &(lg_factor_spec){"euler_parameters", 0}},
                                       {1, &(lg_factor_spec){"euler_parameters_fixed", 0}},
                                       {1, &(lg_factor_spec){"Rn", 3}}};

static const lg_kinetics all_rules[] = {LG_LIVENS_DISCRETE,   LG_LIVENS_MIDPOINT,     LG_HAMILTON_DISCRETE,
                                        LG_HAMILTON_MIDPOINT, LG_HAMILTON_POLYNOMIAL, LG_HAMILTON_PUBLISHED};
enum { NRULES = sizeof all_rules / sizeof *all_rules };

static lg_model *new_model(const lg_block_spec *spec_of_blocks, int third)
{
    double body[2][7];
    for (int i = 0; i < 2; i++) {
        body[i][0] = masses[i];
        lg_copy(6, inertia, body[i] + 1);
    }
    const lg_frame_spec frames[] = {{.block = 0}, {.block = 1}, {.block = 2}};
    const lg_element_spec elements[] = {
        {.type = "rigid_body", .name = "free", .frames = {0}, .nparameters = 7, .parameters = body[0]},
        {.type = "rigid_body", .name = "held", .frames = {1}, .nparameters = 7, .parameters = body[1]},
        {.type = "point", .name = "ball", .frames = {2}, .nparameters = 1, .parameters = &masses[1]},
    };
    const lg_model_spec spec = {
        third ? 3 : 2, third ? 3 : 2, third ? 3 : 2, spec_of_blocks, frames, elements, NULL, 0, NULL, 0};
    lg_model *model = NULL;
    lg_report report;
    CHECK(lg_model_create(&spec, &model, &report) == LG_OK);
    return model;
}

typedef struct step {
    double q0[NV], q1[NV], v0[NV], p0[NV], v1[NV], p1[NV], slope[NV], dp1[49 + 16 + 9], h, work[WORK];
} step;

static step random_step(uint64_t *seed)
{
    step s = {.h = 0.3};
    for (int i = 0; i < NV; i++) {
        s.q0[i] = random_number(seed);
        s.q1[i] = s.q0[i] + 0.3 * random_number(seed);
        s.v0[i] = random_number(seed);
        s.p0[i] = 10 * random_number(seed);
    }
    return s;
}

static lg_pair pair_of(step *s)
{
    return (lg_pair){.h = s->h, .q0 = s->q0, .q1 = s->q1, .v0 = s->v0, .p0 = s->p0, .work = s->work};
}

static void evaluate(const lg_system *system, step *s, lg_kinetics rule)
{
    lg_pair pair = pair_of(s);
    CHECK(system->steps->without_step(system->self, LG_GRADIENTS_MIDPOINT, rule) == -1);
    CHECK(system->steps->kinetic(system->self, rule, &pair,
                                 &(lg_kinetic_wanted){.v1 = s->v1, .p1 = s->p1, .slope = s->slope}) == LG_OK);
}

/* ---- kinetic energy and co-energy of an attitude ---- */

static double dot(int n, const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* 2 t.J4 t with t = e* v */
static double energy(double extended, const double e[4], const double v[4])
{
    const double other[4] = {e[0], -e[1], -e[2], -e[3]};
    double t[4], Jt[3];
    lg_quat_mul(other, v, t);
    lg_mul3(J, t + 1, Jt);
    return 2 * (extended * t[0] * t[0] + lg_dot3(t + 1, Jt));
}

/* t.J4^-1 t/8 with t = e* p, times |e|^(2 k) */
static double coenergy(int k, const double e[4], const double p[4])
{
    const double other[4] = {e[0], -e[1], -e[2], -e[3]};
    double t[4], C[9], x[3];
    lg_quat_mul(other, p, t);
    lg_cross(J + 3, J + 6, C);
    lg_cross(J + 6, J, C + 3);
    lg_cross(J, J + 3, C + 6);
    lg_mul3(C, t + 1, x);
    return (t[0] * t[0] / J0 + lg_dot3(t + 1, x) / lg_dot3(J, C)) / 8 * pow(dot(4, e, e), k);
}

/* The gradient of a function of two quaternions by the first, by fourth-order differences; `swap`: by the second. */
static void gradient(double (*f)(double, const double *, const double *), double parameter, const double *a,
                     const double *b, int swap, double *out)
{
    static const double weights[4] = {1.0 / 12, -8.0 / 12, 8.0 / 12, -1.0 / 12}, at[4] = {-2, -1, 1, 2}, e = 2e-3;
    for (int i = 0; i < 4; i++) {
        out[i] = 0;
        for (int k = 0; k < 4; k++) {
            double x[2][4];
            lg_copy(4, a, x[0]);
            lg_copy(4, b, x[1]);
            x[swap][i] += at[k] * e;
            out[i] += weights[k] / e * f(parameter, x[0], x[1]);
        }
    }
}

static double coenergy_of(double k, const double *e, const double *p)
{
    return coenergy((int)k, e, p);
}

/* The part of a step that belongs to one attitude, whose numbers begin at `first`. */
typedef struct part {
    double e_m[4], v_m[4], p_m[4], v1[4];
    const double *e0, *e1, *v0, *p0, *p1, *slope;
} part;

static part part_of(const step *s, int first)
{
    part t = {.e0 = s->q0 + first,
              .e1 = s->q1 + first,
              .v0 = s->v0 + first,
              .p0 = s->p0 + first,
              .p1 = s->p1 + first,
              .slope = s->slope + first};
    for (int i = 0; i < 4; i++) {
        t.e_m[i] = 0.5 * (t.e0[i] + t.e1[i]);
        t.v_m[i] = (t.e1[i] - t.e0[i]) / s->h;
        t.p_m[i] = 0.5 * (t.p0[i] + t.p1[i]);
        t.v1[i] = 2 * t.v_m[i] - t.v0[i];
    }
    return t;
}

static void check_gradient(const double *expected, double factor, const double *found)
{
    for (int i = 0; i < 4; i++)
        CHECK_CLOSE(found[i], factor * expected[i], 1e-6);
}

/* (89) for the discrete rule of Livens, and its analogue for (146): the products of both derivatives with the step are
   the change of energy or of co-energy. */
static void check_directionality(const step *s, int first, lg_kinetics rule)
{
    part t = part_of(s, first);
    double change = 0;
    for (int i = 0; i < 4; i++) {
        double dq = t.e1[i] - t.e0[i];
        change += lg_is_livens(rule) ? t.slope[i] * dq + t.p_m[i] * (t.v1[i] - t.v0[i])
                                     : -t.slope[i] * dq + t.v_m[i] * (t.p1[i] - t.p0[i]);
    }
    double expected = lg_is_livens(rule) ? energy(0, t.e1, t.v1) - energy(0, t.e0, t.v0)
                                         : coenergy(0, t.e1, t.p1) - coenergy(0, t.e0, t.p0);
    CHECK_CLOSE(change, expected, 1e-10);
}

/* The slope and momentum of each rule at the middle, compared with derivatives of its energy. */
static void check_middle(const step *s, int first, lg_kinetics rule)
{
    part t = part_of(s, first);
    double expected[4];
    if (rule == LG_HAMILTON_POLYNOMIAL) {
        gradient(coenergy_of, 0, t.e_m, t.p_m, 1, expected);
        check_gradient(expected, 1, t.v_m);
    } else {
        gradient(energy, lg_is_livens(rule) ? 0 : J0, t.e_m, t.v_m, 1, expected);
        check_gradient(expected, 1, t.p_m);
    }
    if (rule == LG_HAMILTON_MIDPOINT) {
        gradient(coenergy_of, -2, t.e_m, t.p_m, 1, expected);
        check_gradient(expected, 1, t.v_m);
        gradient(coenergy_of, -2, t.e_m, t.p_m, 0, expected);
        check_gradient(expected, -1, t.slope);
    } else if (lg_is_livens(rule)) {
        gradient(energy, 0, t.e_m, t.v_m, 0, expected);
        check_gradient(expected, 1, t.slope);
    } else {
        gradient(coenergy_of, 0, t.e_m, t.p_m, 0, expected);
        check_gradient(expected, -1, t.slope);
    }
}

/* (90): slope and p_m together have no moment about any axis, except for (133) as published. */
static void check_orthogonality(const step *s, int first)
{
    part t = part_of(s, first);
    for (int axis = 1; axis < 4; axis++) {
        double unit[4] = {0}, turned_e[4], turned_v[4];
        unit[axis] = 1;
        lg_quat_mul(unit, t.e_m, turned_e);
        lg_quat_mul(unit, t.v_m, turned_v);
        CHECK_CLOSE(dot(4, t.slope, turned_e) + dot(4, t.p_m, turned_v), 0, 1e-11);
    }
}

static void test_attitudes(void)
{
    lg_model *model = new_model(blocks, 1);
    const lg_system *system = lg_model_system(model);
    CHECK(system->nwork <= WORK);
    uint64_t seed = 1;
    for (int i = 0; i < 20 * NRULES; i++) {
        lg_kinetics rule = all_rules[i % NRULES];
        step s = random_step(&seed);
        evaluate(system, &s, rule);
        for (int first = 3; first < 8; first += 4) {
            if (rule == LG_LIVENS_DISCRETE || rule == LG_HAMILTON_DISCRETE)
                check_directionality(&s, first, rule);
            else
                check_middle(&s, first, rule);
            if (rule != LG_HAMILTON_PUBLISHED)
                check_orthogonality(&s, first);
        }
    }
    lg_model_free(model);
}

/* v1 is 2 v_m - v0, or the derivative of the co-energy at the end. */
static void test_velocities(void)
{
    lg_model *model = new_model(blocks, 1);
    uint64_t seed = 2;
    for (int i = 0; i < 4 * NRULES; i++) {
        lg_kinetics rule = all_rules[i % NRULES];
        step s = random_step(&seed);
        evaluate(lg_model_system(model), &s, rule);
        for (int first = 3; first < 8; first += 4) {
            part t = part_of(&s, first);
            if (!lg_is_livens(rule))
                gradient(coenergy_of, 0, t.e1, t.p1, 1, t.v1);
            check_gradient(t.v1, 1, s.v1 + first);
        }
    }
    lg_model_free(model);
}

static void test_positions(void)
{
    static const int place[] = {0, 1, 2, 11, 12, 13};
    lg_model *model = new_model(blocks, 1);
    uint64_t seed = 3;
    for (int i = 0; i < NRULES; i++) {
        step s = random_step(&seed);
        evaluate(lg_model_system(model), &s, all_rules[i]);
        for (int k = 0; k < 6; k++) {
            int j = place[k];
            double mass = masses[k > 2], rate = (s.q1[j] - s.q0[j]) / s.h;
            CHECK_CLOSE((s.p0[j] + s.p1[j]) / 2, mass * rate, 1e-13);
            CHECK_CLOSE(s.v1[j], lg_is_livens(all_rules[i]) ? 2 * rate - s.v0[j] : s.p1[j] / mass, 1e-13);
            CHECK(s.slope[j] == 0);
        }
    }
    lg_model_free(model);
}

/* ---- derivatives ---- */

/* p1, and p1/h - slope, at q1 + side e_j */
static void beside(const lg_system *system, step s, lg_kinetics rule, int j, double side, double *p, double *r)
{
    s.q1[j] += side;
    evaluate(system, &s, rule);
    for (int i = 0; i < NV; i++) {
        p[i] = s.p1[i];
        r[i] = s.p1[i] / s.h - s.slope[i];
    }
}

/* Checks the column of coordinate j in dp1, and in S for a chain with k = 0.7. */
static void check_column(const lg_system *system, const step *s, lg_kinetics rule, int block, int j, const double *S,
                         int ld)
{
    const lg_block *b = &system->space->block[block];
    double p[2][NV], r[2][NV], e = 1e-5;
    beside(system, *s, rule, j, e, p[0], r[0]);
    beside(system, *s, rule, j, -e, p[1], r[1]);
    for (int i = 0; i < NV; i++) {
        int inside = i >= b->v && i < b->v + b->nv;
        double dp = (p[0][i] - p[1][i]) / (2 * e), dr = (r[0][i] - r[1][i]) / (2 * e), scale = 1 + fabs(dr);
        if (!inside) {
            CHECK(dp == 0 && dr == 0);
            continue;
        }
        CHECK_CLOSE(s->dp1[b->m + i - b->v + (j - b->v) * b->nv], dp, 1e-6 * scale);
        CHECK_CLOSE(S[i - b->v + (j - b->v) * ld], 0.7 * dr, 1e-6 * scale);
    }
}

/* A matrix for tangents, one at a time. */
static void open_tangent(const lg_system *system, lg_plan **plan, lg_matrix *S)
{
    static char memory[1 << 16];
    CHECK(lg_plan_create(system->pattern, LG_COUPLING_TANGENTS, plan) == LG_OK);
    lg_matrix_layout(S, *plan, &(lg_arena){.base = memory});
}

static void test_tangents(void)
{
    lg_model *model = new_model(blocks, 1);
    const lg_system *system = lg_model_system(model);
    lg_plan *plan = NULL;
    lg_matrix S = {0};
    open_tangent(system, &plan, &S);
    const lg_chain chain[] = {{.k = {0.7}}, {.k = {0.7}}, {.k = {0.7}}};
    uint64_t seed = 4;
    for (int i = 0; i < NRULES; i++) {
        step s = random_step(&seed);
        lg_pair pair = pair_of(&s);
        lg_kinetic_wanted wanted = {.v1 = s.v1, .p1 = s.p1, .slope = s.slope, .dp1 = s.dp1, .S = &S, .chain = chain};
        lg_matrix_zero(&S);
        CHECK(system->steps->kinetic(system->self, all_rules[i], &pair, &wanted) == LG_OK);
        for (int block = 0; block < 3; block++) {
            const lg_block *b = &system->space->block[block];
            int ld;
            const double *at = lg_matrix_at(&S, block, &ld);
            for (int j = b->v; j < b->v + b->nv; j++)
                check_column(system, &s, all_rules[i], block, j, at, ld);
        }
    }
    lg_matrix_close(&S);
    lg_plan_free(plan);
    lg_model_free(model);
}

/* ---- trees ---- */

enum { LINKS = 5 };

/* Hinges and slides in turn, with a branch on the second link and a weight on the last one. */
static lg_model *new_tree(void)
{
    static const double parents[LINKS] = {-1, 0, 1, 1, 3}, weight[4] = {2, 1, 3, -9.81};
    lg_tree_link links[LINKS];
    for (int i = 0; i < LINKS; i++) {
        links[i] = (lg_tree_link){.parent = parents[i],
                                  .joint = i % 2 ? LG_TREE_PRISMATIC : LG_TREE_REVOLUTE,
                                  .R = {0.6, -0.8, 0, 0.8, 0.6, 0, 0, 0, 1},
                                  .point = {0.3, -0.2, 0.1 * i},
                                  .mass = 1 + 0.3 * i,
                                  .com = {0.2, 0.1 * i, -0.1}};
        links[i].axis[i % 3] = 1;
        lg_copy(6, inertia, links[i].inertia);
    }
    const lg_frame_spec frames[] = {{.block = 0}, {.block = 0, .part = LINKS - 1, .offset = {0.1, 0.2, 0.3}}};
    const lg_element_spec elements[] = {
        {.type = "tree", .name = "tree", .nparameters = LINKS * LG_TREE_LINK_SIZE, .parameters = &links[0].parent},
        {.type = "gravity", .name = "weight", .frames = {1}, .nparameters = 4, .parameters = weight},
    };
    const lg_block_spec block = {1, &(lg_factor_spec){"Rn", LINKS}};
    const lg_model_spec spec = {1, 2, 2, &block, frames, elements, NULL, 0, NULL, 0};
    lg_model *model = NULL;
    lg_report report;
    CHECK(lg_model_create(&spec, &model, &report) == LG_OK);
    CHECK(lg_model_system(model)->nwork <= WORK / 2);
    return model;
}

/* Whatever is in the scratch, such as the momenta of `kinetic`, it has no part in the derivatives of `pair`. */
static void check_forces(const lg_system *system, step s, const double *S, int ld)
{
    double force[2][LINKS], e = 1e-5;
    for (int j = 0; j < LINKS; j++) {
        for (int k = 0; k < 2; k++) {
            step side = s;
            side.q1[j] += k ? e : -e;
            lg_pair pair = pair_of(&side);
            CHECK(system->steps->pair[LG_GRADIENTS_MIDPOINT](system->self, &pair,
                                                             &(lg_pair_wanted){.force = force[k]}) == LG_OK);
        }
        for (int i = 0; i < LINKS; i++)
            CHECK_CLOSE(S[i + j * ld], 0.7 * (force[0][i] - force[1][i]) / (2 * e), 1e-7);
    }
}

static void test_trees(void)
{
    lg_model *model = new_tree();
    const lg_system *system = lg_model_system(model);
    lg_plan *plan = NULL;
    lg_matrix S = {0};
    open_tangent(system, &plan, &S);
    const lg_chain chain = {.k = {0.7}};
    uint64_t seed = 6;
    int ld;
    for (int i = 0; i < 8; i++) {
        lg_kinetics rule = i % 2 ? LG_HAMILTON_POLYNOMIAL : LG_LIVENS_MIDPOINT;
        step s = random_step(&seed);
        lg_pair pair = pair_of(&s);
        lg_kinetic_wanted wanted = {.v1 = s.v1, .p1 = s.p1, .slope = s.slope, .dp1 = s.dp1, .S = &S, .chain = &chain};
        lg_matrix_zero(&S);
        CHECK(system->steps->kinetic(system->self, rule, &pair, &wanted) == LG_OK);
        const double *at = lg_matrix_at(&S, 0, &ld);
        for (int j = 0; j < LINKS; j++)
            check_column(system, &s, rule, 0, j, at, ld);
        lg_matrix_zero(&S);
        CHECK(system->steps->pair[LG_GRADIENTS_MIDPOINT](system->self, &pair,
                                                         &(lg_pair_wanted){.S = &S, .chain = &chain}) == LG_OK);
        check_forces(system, s, at, ld);
    }
    lg_matrix_close(&S);
    lg_plan_free(plan);
    lg_model_free(model);
}

/* ---- what is refused ---- */

/* A body whose kind of block has no rules for steps. */
static void test_what_has_no_step(void)
{
    const lg_block_spec other[] = {{1, &(lg_factor_spec){"euler_parameters", 0}}, {1, &(lg_factor_spec){"R3xSO3", 0}}};
    lg_model *model = new_model(other, 0);
    const lg_system *system = lg_model_system(model);
    CHECK(system->steps->without_step(system->self, LG_GRADIENTS_MIDPOINT, LG_LIVENS_MIDPOINT) == 1);
    lg_model_free(model);
}

/* A body without inertia about an axis has a singular mass matrix, which Hamilton's rules cannot invert. */
static void test_thin_bodies(void)
{
    const double thin[7] = {1, 2, 2, 0, 0, 0, 0};
    const lg_frame_spec frame = {.block = 0};
    const lg_element_spec body = {.type = "rigid_body", .name = "rod", .nparameters = 7, .parameters = thin};
    const lg_model_spec spec = {1, 1, 1, blocks, &frame, &body, NULL, 0, NULL, 0};
    lg_model *model = NULL;
    lg_report report;
    CHECK(lg_model_create(&spec, &model, &report) == LG_OK);
    const lg_system *system = lg_model_system(model);
    uint64_t seed = 5;
    for (int i = 0; i < NRULES; i++) {
        step s = random_step(&seed);
        lg_pair pair = pair_of(&s);
        lg_kinetic_wanted wanted = {.v1 = s.v1, .p1 = s.p1, .slope = s.slope};
        CHECK(system->steps->kinetic(system->self, all_rules[i], &pair, &wanted) ==
              (lg_is_livens(all_rules[i]) ? LG_OK : LG_SINGULAR));
    }
    lg_model_free(model);
}

int main(void)
{
    RUN(test_attitudes);
    RUN(test_velocities);
    RUN(test_positions);
    RUN(test_tangents);
    RUN(test_trees);
    RUN(test_what_has_no_step);
    RUN(test_thin_bodies);
    return check_result();
}
