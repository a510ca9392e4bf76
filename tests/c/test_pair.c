/* The functions of a step, for a system made of C functions: a nonlinear spring pendulum in polar coordinates (r, phi)
   with a third coordinate z, and the constraint z = r^2. Nothing depends on phi. */
#include "check.h"
#include "core/small.h"
#include "system/callback.h"
#include "system/step.h"

enum { N = 3 };

static lg_status mass(void *self, const lg_callback_point *at, double *M)
{
    (void)self;
    for (int i = 0; i < N * N; i++)
        M[i] = 0;
    M[0] = 1;
    M[4] = at->q[0] * at->q[0];
    M[8] = 2 + at->q[2] * at->q[2] * at->q[2];
    return LG_OK;
}

static lg_status mass_gradient(void *self, const lg_callback_point *at, double *dM)
{
    (void)self;
    for (int i = 0; i < N * N * N; i++)
        dM[i] = 0;
    dM[4 * N] = 2 * at->q[0];
    dM[8 * N + 2] = 3 * at->q[2] * at->q[2];
    return LG_OK;
}

static lg_status potential(void *self, const lg_callback_point *at, double *V)
{
    (void)self;
    double r = at->q[0];
    V[0] = r * r * r * r + at->q[2];
    return LG_OK;
}

static lg_status potential_gradient(void *self, const lg_callback_point *at, double *dV)
{
    (void)self;
    dV[0] = 4 * at->q[0] * at->q[0] * at->q[0];
    dV[1] = 0;
    dV[2] = 1;
    return LG_OK;
}

static lg_status force(void *self, const lg_callback_point *at, double *f)
{
    potential_gradient(self, at, f);
    for (int i = 0; i < N; i++)
        f[i] = -f[i];
    return LG_OK;
}

static lg_status constraint(void *self, const lg_callback_point *at, double *g)
{
    (void)self;
    g[0] = at->q[2] - at->q[0] * at->q[0] * at->q[0];
    return LG_OK;
}

static lg_status jacobian(void *self, const lg_callback_point *at, double *J)
{
    (void)self;
    J[0] = -3 * at->q[0] * at->q[0];
    J[1] = 0;
    J[2] = 1;
    return LG_OK;
}

static const lg_block_spec space = {1, &(lg_factor_spec){"Rn", N}};

static lg_callbacks_spec spec_of(void)
{
    return (lg_callbacks_spec){.nblocks = 1,
                               .blocks = &space,
                               .nrows = 1,
                               .function = {[LG_CALL_MASS] = {mass, NULL},
                                            [LG_CALL_FORCE] = {force, NULL},
                                            [LG_CALL_CONSTRAINT] = {constraint, NULL},
                                            [LG_CALL_JACOBIAN] = {jacobian, NULL},
                                            [LG_CALL_POTENTIAL] = {potential, NULL},
                                            [LG_CALL_POTENTIAL_GRADIENT] = {potential_gradient, NULL},
                                            [LG_CALL_MASS_GRADIENT] = {mass_gradient, NULL}}};
}

enum { WORK = 2048, GUARD = 64 };

/* A step with random ends, and all results of `kinetic` and `pair` for it. */
typedef struct step {
    double q0[N], q1[N], v0[N], p0[N], lam, h, work[WORK];
    double v1[N], p1[N], slope[N], force[N], Gtlam[N], phi, G[N], B[N], noise;
} step;

static step random_step(uint64_t *seed)
{
    step s = {.h = 0.3, .lam = random_number(seed)};
    for (int i = 0; i < N; i++) {
        s.q0[i] = 1.5 + random_number(seed);
        s.q1[i] = s.q0[i] + 0.5 * random_number(seed);
        s.v0[i] = random_number(seed);
        s.p0[i] = random_number(seed);
    }
    for (int i = 0; i < WORK; i++)
        s.work[i] = i + 0.25;
    return s;
}

static lg_kinetics kinetics_of(lg_gradients form)
{
    static const lg_kinetics livens[] = {LG_LIVENS_CAYLEY, LG_LIVENS_DISCRETE, LG_LIVENS_MIDPOINT, LG_LIVENS_MIDPOINT};
    return livens[form];
}

static void evaluate(const lg_system *system, step *s, lg_gradients form)
{
    lg_pair pair = {.h = s->h, .q0 = s->q0, .q1 = s->q1, .v0 = s->v0, .p0 = s->p0, .lam = &s->lam, .work = s->work};
    CHECK(system->steps->kinetic(system->self, kinetics_of(form), &pair,
                                 &(lg_kinetic_wanted){.v1 = s->v1, .p1 = s->p1, .slope = s->slope}) == LG_OK);
    CHECK(system->steps->pair[form](
              system->self, &pair,
              &(lg_pair_wanted){
                  .force = s->force, .Gtlam = s->Gtlam, .phi = &s->phi, .G = s->G, .B = s->B, .noise = &s->noise}) ==
          LG_OK);
    for (int i = (int)system->steps->nwork(system->self); i < WORK; i++)
        CHECK(s->work[i] == i + 0.25);
}

static double along(const double *gradient, const double *from, const double *to)
{
    double sum = 0;
    for (int i = 0; i < N; i++)
        sum += gradient[i] * (to[i] - from[i]);
    return sum;
}

static double value(lg_status (*f)(void *, const lg_callback_point *, double *), const double *q)
{
    double out = 0;
    f(NULL, &(lg_callback_point){.q = q}, &out);
    return out;
}

static double kinetic_energy(const double *q, const double *v)
{
    double M[N * N], T = 0;
    mass(NULL, &(lg_callback_point){.q = q}, M);
    for (int i = 0; i < N; i++)
        T += 0.5 * M[i * N + i] * v[i] * v[i];
    return T;
}

static lg_callbacks *open_system(void)
{
    lg_callbacks *callbacks = NULL;
    lg_report report;
    lg_callbacks_spec spec = spec_of();
    CHECK(lg_callbacks_create(&spec, &callbacks, &report) == LG_OK);
    return callbacks;
}

/* (69) and (73): the product of a discrete gradient with the step is the change of the function. */
static void test_directionality(void)
{
    lg_callbacks *callbacks = open_system();
    const lg_system *system = lg_callbacks_system(callbacks);
    CHECK(system->nwork + GUARD <= WORK);
    uint64_t seed = 1;
    for (int i = 0; i < 50; i++) {
        step s = random_step(&seed);
        double fibre[N];
        evaluate(system, &s, i % 2 ? LG_GRADIENTS_DISCRETE : LG_GRADIENTS_DISCRETE_PRINTED);
        for (int k = 0; k < N; k++)
            fibre[k] = 0.5 * (s.p0[k] + s.p1[k]);
        CHECK_CLOSE(along(s.force, s.q0, s.q1), value(potential, s.q0) - value(potential, s.q1), 1e-12);
        CHECK_CLOSE(along(s.G, s.q0, s.q1), value(constraint, s.q1) - value(constraint, s.q0), 1e-12);
        CHECK_CLOSE(along(s.slope, s.q0, s.q1) + along(fibre, s.v0, s.v1),
                    kinetic_energy(s.q1, s.v1) - kinetic_energy(s.q0, s.v0), 1e-11);
        CHECK(s.phi == value(constraint, s.q1) && s.B[0] == -3 * s.q1[0] * s.q1[0]);
        for (int k = 0; k < N; k++) {
            CHECK_CLOSE(s.Gtlam[k], s.lam * s.G[k], 1e-15);
            CHECK_CLOSE(0.5 * (s.v0[k] + s.v1[k]) * s.h, s.q1[k] - s.q0[k], 1e-15);
        }
    }
    lg_callbacks_free(callbacks);
}

/* (90), (91): unlike the printed gradient, the equivariant one has no component along the coordinate on which nothing
   depends. */
static void test_orthogonality(void)
{
    lg_callbacks *callbacks = open_system();
    uint64_t seed = 2;
    for (int i = 0; i < 20; i++) {
        step s = random_step(&seed);
        evaluate(lg_callbacks_system(callbacks), &s, LG_GRADIENTS_DISCRETE);
        CHECK(s.force[1] == 0 && s.G[1] == 0 && s.slope[1] == 0);
        evaluate(lg_callbacks_system(callbacks), &s, LG_GRADIENTS_DISCRETE_PRINTED);
        CHECK(s.force[1] != 0 && s.G[1] != 0 && s.slope[1] != 0);
    }
    lg_callbacks_free(callbacks);
}

/* At q1 = q0, and for steps that are too short, the gradients are those at the middle. */
static void test_short_steps(void)
{
    lg_callbacks *callbacks = open_system();
    uint64_t seed = 3;
    for (int i = 0; i < 20; i++) {
        step s = random_step(&seed), middle;
        for (int k = 0; k < N; k++)
            s.q1[k] = s.q0[k] + (i % 2) * 1e-7 * (1 + k);
        middle = s;
        evaluate(lg_callbacks_system(callbacks), &s,
                 i % 3 == 0 ? LG_GRADIENTS_DISCRETE : LG_GRADIENTS_DISCRETE_PRINTED);
        evaluate(lg_callbacks_system(callbacks), &middle, LG_GRADIENTS_MIDPOINT_PRINTED);
        for (int k = 0; k < N; k++) {
            CHECK(s.force[k] == middle.force[k] && s.G[k] == middle.G[k]);
            CHECK_CLOSE(s.p1[k], middle.p1[k], 1e-13);
        }
        CHECK(s.noise == 0);
    }
    lg_callbacks_free(callbacks);
}

/* p1/h - slope - force + G^T lam */
static void residual(const lg_system *system, step *s, lg_gradients form, double *r)
{
    evaluate(system, s, form);
    for (int i = 0; i < N; i++)
        r[i] = s->p1[i] / s->h - s->slope[i] - s->force[i] + s->Gtlam[i];
}

/* Compares the matrix of `kinetic` and `pair` for a chain with k = 0.7, and dp1/dq1, with differences. */
static void check_tangent(const lg_system *system, lg_matrix *S, lg_gradients form, uint64_t *seed)
{
    step s = random_step(seed), side;
    double dp1[N * N], upper[N], lower[N], e = 1e-4;
    const lg_chain chain = {.k = {0.7}};
    lg_pair pair = {.h = s.h, .q0 = s.q0, .q1 = s.q1, .v0 = s.v0, .p0 = s.p0, .lam = &s.lam, .work = s.work};
    lg_matrix_zero(S);
    lg_kinetic_wanted kinetic = {.v1 = s.v1, .p1 = s.p1, .slope = s.slope, .dp1 = dp1, .S = S, .chain = &chain};
    CHECK(system->steps->kinetic(system->self, kinetics_of(form), &pair, &kinetic) == LG_OK);
    CHECK(system->steps->pair[form](system->self, &pair, &(lg_pair_wanted){.S = S, .chain = &chain}) == LG_OK);
    int ld;
    const double *at = lg_matrix_at(S, 0, &ld);
    for (int j = 0; j < N; j++) {
        double p_upper[N];
        side = s, side.q1[j] += e;
        residual(system, &side, form, upper);
        lg_copy(N, side.p1, p_upper);
        side.q1[j] -= 2 * e;
        residual(system, &side, form, lower);
        for (int i = 0; i < N; i++) {
            CHECK_CLOSE(at[j * ld + i], 0.7 * (upper[i] - lower[i]) / (2 * e), 1e-5);
            CHECK_CLOSE(dp1[j * N + i], (p_upper[i] - side.p1[i]) / (2 * e), 1e-6);
        }
    }
}

static void test_tangents(void)
{
    lg_callbacks *callbacks = open_system();
    const lg_system *system = lg_callbacks_system(callbacks);
    lg_plan *plan = NULL;
    CHECK(lg_plan_create(system->pattern, LG_COUPLING_TANGENTS, &plan) == LG_OK);
    lg_matrix S = {0};
    lg_arena measure = {0};
    static char memory[1 << 16];
    lg_matrix_layout(&S, plan, &measure);
    CHECK(measure.used <= sizeof memory);
    lg_matrix_layout(&S, plan, &(lg_arena){.base = memory});
    uint64_t seed = 4;
    for (int form = 0; form < LG_GRADIENTS_COUNT; form++)
        check_tangent(system, &S, (lg_gradients)form, &seed);
    lg_matrix_close(&S);
    lg_plan_free(plan);
    lg_callbacks_free(callbacks);
}

static void test_what_steps_need(void)
{
    lg_callbacks *callbacks = NULL;
    lg_report report;
    lg_callbacks_spec spec = spec_of();
    spec.function[LG_CALL_MASS_GRADIENT].call = NULL;
    CHECK(lg_callbacks_create(&spec, &callbacks, &report) == LG_BAD_ARGUMENT && report.what[0]);
    spec.function[LG_CALL_POTENTIAL].call = spec.function[LG_CALL_POTENTIAL_GRADIENT].call = NULL;
    CHECK(lg_callbacks_create(&spec, &callbacks, &report) == LG_OK);
    CHECK(!lg_callbacks_system(callbacks)->steps);
    lg_callbacks_free(callbacks);
    const lg_block_spec two[] = {{1, &(lg_factor_spec){"Rn", 1}}, {1, &(lg_factor_spec){"Rn", 2}}};
    spec = spec_of();
    spec.nblocks = 2, spec.blocks = two;
    CHECK(lg_callbacks_create(&spec, &callbacks, &report) == LG_BAD_ARGUMENT && report.what[0]);
}

int main(void)
{
    RUN(test_directionality);
    RUN(test_orthogonality);
    RUN(test_short_steps);
    RUN(test_tangents);
    RUN(test_what_steps_need);
    return check_result();
}
