/* Half-explicit stages on compiled chains of bodies reuse data of the previous evaluation: results without reuse have
   the same bits, and the pivots of a constant mass are kept. */
#include "check.h"
#include "integrator/methods.h"
#include "model/model.h"
#include "run/run.h"
#include "runs.h"

#include <stdlib.h>

enum { MOST_BODIES = 24, MOST_VALUES = 64 * MOST_BODIES, STEPS = 12 };

/* ---- a system that forwards its evaluations ---- */

typedef struct observed {
    lg_system system;
    const lg_system *inner;
    int forgets; /* prevents reuse: clears the flag and overwrites the scratch before every evaluation */
    long reuses; /* evaluations with the flag */
} observed;

static lg_status observed_eval(void *self, const lg_point *point, const lg_wanted *wanted)
{
    observed *o = self;
    lg_point at = *point;
    o->reuses += point->same_q;
    if (o->forgets) {
        at.same_q = 0;
        for (int i = 0; i < o->inner->nwork; i++)
            at.work[i] = NAN;
    }
    return o->inner->eval(o->inner->self, &at, wanted);
}

static const char *observed_row_name(void *self, int row)
{
    const observed *o = self;
    return o->inner->row_name(o->inner->self, row);
}

static void observe(observed *o, const lg_system *inner, int forgets)
{
    *o = (observed){.inner = inner, .forgets = forgets};
    o->system = (lg_system){.self = o,
                            .space = inner->space,
                            .pattern = inner->pattern,
                            .flags = inner->flags,
                            .nmem = inner->nmem,
                            .nwork = inner->nwork,
                            .eval = observed_eval,
                            .row_name = observed_row_name};
}

/* ---- chains: every body at the origin and at rest, joined to the one before or to the ground ---- */

typedef struct chain {
    lg_factor_spec factors[MOST_BODIES];
    lg_block_spec blocks[MOST_BODIES];
    lg_frame_spec frames
        [1 + 3 * MOST_BODIES]; /* one of the ground; for each body its node, its joint and the joint of the next body */
    lg_element_spec elements[3 * MOST_BODIES];
    double inertia[7], weight[4], triads[19], edge[68];
    lg_model *model;
    lg_plan *plan;
} chain;

static void set_parameters(chain *c)
{
    static const double inertia[7] = {1.5, 0.2, 0.3, 0.4, 0.01, -0.02, 0.03}, weight[4] = {1.5, 3, -4, -9.81};
    memcpy(c->inertia, inertia, sizeof inertia);
    memcpy(c->weight, weight, sizeof weight);
    c->edge[18] = 0.25; // the length
    for (int i = 0; i < 6; i++)
        c->edge[19 + 7 * i] = 40 + 5 * i, c->edge[55 + i] = 0.2 + 0.1 * i;
    c->edge[61 + 1 + 2] = 1; // without shear, stretch and curvature
    for (int i = 0; i < 18; i++)
        c->edge[i] = c->triads[1 + i] = i % 9 % 4 == 0;
}

static void add_body(chain *c, int i, const char *node, const char *joint)
{
    int first = 1 + 3 * i, is_edge = strcmp(joint, "spherical") != 0;
    double here[3] = {0.3 * cos(i), 0.2 * sin(i), 0.1}, next[3] = {0.3 * cos(i + 1), 0.2 * sin(i + 1), 0.1};
    for (int k = 0; k < 3; k++)
        c->frames[first + k].block = i;
    memcpy(c->frames[first - 1].offset, here, sizeof here);
    memcpy(c->frames[first + 1].offset, here, sizeof here);
    memcpy(c->frames[first + 2].offset, next, sizeof next);
    c->frames[first + 1].offset[2] += is_edge ? c->edge[18] : 0;
    c->factors[i] = (lg_factor_spec){node, 0};
    c->blocks[i] = (lg_block_spec){1, &c->factors[i]};
    c->elements[3 * i] = (lg_element_spec){
        .type = "rigid_body", .name = "body", .frames = {first}, .nparameters = 7, .parameters = c->inertia};
    c->elements[3 * i + 1] =
        (lg_element_spec){.type = "gravity", .name = "g", .frames = {first}, .nparameters = 4, .parameters = c->weight};
    c->elements[3 * i + 2] = (lg_element_spec){.type = joint,
                                               .name = "joint",
                                               .frames = {first - 1, first + 1},
                                               .nparameters = is_edge ? 68 : 19,
                                               .parameters = is_edge ? c->edge : c->triads};
}

static void compile(chain *c, int n)
{
    lg_report report;
    c->frames[0].block = -1;
    lg_model_spec spec = {n, 1 + 3 * n, 3 * n, c->blocks, c->frames, c->elements, NULL, 0, NULL, 0};
    CHECK(lg_model_create(&spec, &c->model, &report) == LG_OK);
    if (c->model)
        CHECK(lg_plan_create(lg_model_system(c->model)->pattern, LG_COUPLING_MASS, &c->plan) == LG_OK);
}

static chain *new_chain(int n, const char *node, const char *joint)
{
    chain *c = calloc(1, sizeof *c);
    set_parameters(c);
    for (int i = 0; i < n; i++)
        add_body(c, i, node, joint);
    compile(c, n);
    return c;
}

/* Bodies of every kind that moves freely, with all these kinds of joints between them. */
static chain *new_mixture(void)
{
    static const char *const joints[] = {"kirchhoff_edge", "edge", "spherical", "inextensible_edge"};
    chain *c = calloc(1, sizeof *c);
    int n = 0;
    set_parameters(c);
    for (int turn = 0; turn < 2; turn++)
        for (int i = 0; i < lg_node_count && n < MOST_BODIES; i++)
            if (lg_nodes[i]->position >= LG_POSITION_INERTIAL) {
                add_body(c, n, lg_nodes[i]->name, joints[(n + turn) % 4]);
                n++;
            }
    CHECK(n < MOST_BODIES);
    compile(c, n);
    return c;
}

static void free_chain(chain *c)
{
    lg_plan_free(c->plan);
    lg_model_free(c->model);
    free(c);
}

/* ---- runs ---- */

typedef struct result {
    double values[MOST_VALUES]; /* q, v, a and lam at the end */
    long reuses, factorisations, refactorisations;
} result;

static void set_start(const lg_space *space, double *q)
{
    for (int i = 0; i < space->nblocks; i++)
        lg_node_identity(space->block[i].node, 0, q + space->block[i].q);
}

static void keep_end(const lg_run *run, result *out)
{
    const lg_space *space = run->system->space;
    const double *parts[] = {run->state.q, run->state.v, run->state.a, run->state.lam};
    int sizes[] = {space->nq, space->nv, space->nv, run->system->pattern->nrows}, n = 0;
    for (int i = 0; i < 4; n += sizes[i++])
        memcpy(out->values + n, parts[i], (size_t)sizes[i] * sizeof *out->values);
    CHECK(n <= MOST_VALUES);
    out->factorisations = run->stepper->accel.matrix.factorisations;
    out->refactorisations = run->stepper->accel.matrix.refactorisations;
}

static result run_chain(const chain *c, const lg_method *method, int project, int forgets)
{
    static result out;
    static double q[MOST_VALUES], v[MOST_VALUES];
    observed o;
    lg_run run;
    lg_report report;
    lg_option_value options[32];
    memset(&out, 0, sizeof out);
    observe(&o, lg_model_system(c->model), forgets);
    set_start(o.system.space, q);
    lg_method_defaults(method, options);
    options[lg_option_find(method->options, "project")->field].choice = project;
    lg_start start = {.part = {q, v}};
    CHECK(open_run(&run, &o.system, c->plan, method, options, &start, &report) == LG_OK);
    for (int i = 0; i < STEPS; i++)
        CHECK(lg_run_step(&run, 0.01, &(double){0}, &report) == LG_OK);
    keep_end(&run, &out);
    out.reuses = o.reuses;
    lg_run_close(&run);
    return out;
}

static const struct half_explicit {
    const char *name;
    int stages; /* number of stages that are solved */
    int factorisations; /* in a step: for its stages, and for the index-1 equations at its end */
} methods[] = {{"herk2", 1, 2}, {"herk3", 2, 3}, {"herk4", 4, 4}, {"herk5", 6, 6}};

enum { METHODS = sizeof methods / sizeof *methods, PROJECTIONS = 4 };

/* ---- the tests ---- */

/* All stages except the first reuse the rotations of bodies and the relative poses of edges from the rows before. */
static void test_reuse_changes_no_bit(void)
{
    chain *c = new_mixture();
    for (int i = 0; i < METHODS; i++)
        for (int project = 0; project < PROJECTIONS; project++) {
            const lg_method *method = lg_method_find(methods[i].name);
            result with = run_chain(c, method, project, 0), without = run_chain(c, method, project, 1);
            CHECK(with.reuses == STEPS * (methods[i].stages - 1));
            CHECK(memcmp(with.values, without.values, sizeof with.values) == 0);
            CHECK(isfinite(with.values[0]) && with.values[0] != 0);
        }
    free_chain(c);
}

/* The constant mass of pendulums and rods is factored in full only at the start. */
static void test_pivots_of_a_constant_mass_are_kept(void)
{
    static const char *const joints[] = {"spherical", "kirchhoff_edge", "inextensible_edge"};
    for (int i = 0; i < lg_node_count; i++)
        for (int j = 0; lg_nodes[i]->position >= LG_POSITION_INERTIAL && j < 3; j++) {
            chain *c = new_chain(5, lg_nodes[i]->name, joints[j]);
            int constant = (lg_model_system(c->model)->flags & LG_SYSTEM_CONSTANT_MASS) != 0;
            for (int k = 0; k < METHODS; k++) {
                result r = run_chain(c, lg_method_find(methods[k].name), 0, 0);
                CHECK(r.factorisations == 1 + STEPS * methods[k].factorisations);
                CHECK(r.refactorisations == (constant ? STEPS * methods[k].factorisations : 0));
            }
            free_chain(c);
        }
}

int main(void)
{
    RUN(test_reuse_changes_no_bit);
    RUN(test_pivots_of_a_constant_mass_are_kept);
    return check_result();
}
