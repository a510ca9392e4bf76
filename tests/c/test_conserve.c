/* A hundred thousand steps of the energy-momentum scheme: the heavy top of kinon2024 5.4 in quaternions, whose mass
   matrix 4 G^T J G is singular. */
#include "check.h"
#include "core/small.h"
#include "integrator/methods.h"
#include "run/run.h"
#include "runs.h"
#include "system/callback.h"

static const double J[3] = {0.0037, 0.0037, 0.00053}; /* of the same magnitude as in the paper */
static const double WEIGHT = 0.5; /* m g l */

/* G(e) of (35a), row-major */
static void set_G(const double *e, double G[12])
{
    const double values[12] = {-e[1], e[0], e[3], -e[2], -e[2], -e[3], e[0], e[1], -e[3], e[2], -e[1], e[0]};
    lg_copy(12, values, G);
}

static lg_status mass(void *self, const lg_callback_point *at, double *M)
{
    (void)self;
    double G[12];
    set_G(at->q, G);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            M[4 * i + j] = 0;
            for (int k = 0; k < 3; k++)
                M[4 * i + j] += 4 * J[k] * G[4 * k + i] * G[4 * k + j];
        }
    return LG_OK;
}

/* d(M_ij)/de_l, with dG/de_l = G(unit vector l) */
static lg_status mass_gradient(void *self, const lg_callback_point *at, double *dM)
{
    (void)self;
    double G[12], dG[12];
    set_G(at->q, G);
    for (int l = 0; l < 4; l++) {
        double unit[4] = {l == 0, l == 1, l == 2, l == 3};
        set_G(unit, dG);
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++) {
                double sum = 0;
                for (int k = 0; k < 3; k++)
                    sum += 4 * J[k] * (dG[4 * k + i] * G[4 * k + j] + G[4 * k + i] * dG[4 * k + j]);
                dM[(4 * i + j) * 4 + l] = sum;
            }
    }
    return LG_OK;
}

static lg_status potential(void *self, const lg_callback_point *at, double *V)
{
    (void)self;
    const double *e = at->q;
    *V = WEIGHT * (e[0] * e[0] - e[1] * e[1] - e[2] * e[2] + e[3] * e[3]);
    return LG_OK;
}

static lg_status potential_gradient(void *self, const lg_callback_point *at, double *dV)
{
    (void)self;
    const double *e = at->q, k = 2 * WEIGHT;
    dV[0] = k * e[0], dV[1] = -k * e[1], dV[2] = -k * e[2], dV[3] = k * e[3];
    return LG_OK;
}

static double dot4(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
}

static lg_status unit_length(void *self, const lg_callback_point *at, double *g)
{
    (void)self;
    *g = 0.5 * (dot4(at->q, at->q) - 1);
    return LG_OK;
}

static lg_status jacobian(void *self, const lg_callback_point *at, double *B)
{
    (void)self;
    lg_copy(4, at->q, B);
    return LG_OK;
}

static lg_status force(void *self, const lg_callback_point *at, double *f)
{
    potential_gradient(self, at, f);
    for (int i = 0; i < 4; i++)
        f[i] = -f[i];
    return LG_OK;
}

/* The gyroscopic terms M' v - grad(v^T M v / 2), which the accelerations at the start need. */
static lg_status gyro(void *self, const lg_callback_point *at, double *g)
{
    double dM[64];
    mass_gradient(self, at, dM);
    lg_zero(4, g);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            for (int l = 0; l < 4; l++) {
                double term = dM[(4 * i + j) * 4 + l] * at->v[j];
                g[i] += term * at->v[l];
                g[l] -= 0.5 * term * at->v[i];
            }
    return LG_OK;
}

/* p.v - T + V (74) */
static double generalized_energy(const lg_state *state)
{
    double M[16], V, E = dot4(state->carry, state->v);
    const lg_callback_point at = {.q = state->q};
    mass(NULL, &at, M);
    potential(NULL, &at, &V);
    for (int i = 0; i < 4; i++)
        E -= 0.5 * state->v[i] * dot4(M + 4 * i, state->v);
    return E + V;
}

typedef struct extremes {
    double energy, length,
        normality[2]; /* largest values; normality: of q.v in the first and the second half of the run */
} extremes;

static extremes run_steps(lg_run *run, int steps, double h)
{
    extremes e = {0};
    lg_report report;
    double begin = generalized_energy(&run->state);
    for (int i = 0; i < steps; i++) {
        if (lg_run_step(run, h, &(double){0}, &report) != LG_OK) {
            CHECK(0 && "every step succeeds");
            break;
        }
        const lg_state *s = &run->state;
        double *normality = &e.normality[i >= steps / 2];
        e.energy = fmax(e.energy, fabs(generalized_energy(s) / begin - 1));
        e.length = fmax(e.length, fabs(dot4(s->q, s->q) - 1));
        *normality = fmax(*normality, fabs(dot4(s->q, s->v)));
    }
    return e;
}

/* The top as a system of the functions above. */
static lg_callbacks *open_top(void)
{
    static const lg_factor_spec factor = {"Rn", 4};
    static const lg_block_spec space = {1, &factor};
    lg_callbacks_spec spec = {.nblocks = 1,
                              .blocks = &space,
                              .nrows = 1,
                              .function = {[LG_CALL_MASS] = {mass, NULL},
                                           [LG_CALL_FORCE] = {force, NULL},
                                           [LG_CALL_GYRO] = {gyro, NULL},
                                           [LG_CALL_CONSTRAINT] = {unit_length, NULL},
                                           [LG_CALL_JACOBIAN] = {jacobian, NULL},
                                           [LG_CALL_POTENTIAL] = {potential, NULL},
                                           [LG_CALL_POTENTIAL_GRADIENT] = {potential_gradient, NULL},
                                           [LG_CALL_MASS_GRADIENT] = {mass_gradient, NULL}}};
    lg_callbacks *callbacks = NULL;
    lg_report report;
    CHECK(lg_callbacks_create(&spec, &callbacks, &report) == LG_OK);
    return callbacks;
}

/* The energy stays within 1e-12, the length within round-off; q.v, which is zero in the middle of steps only,
   oscillates without growing (kinon2024, Remark 4.8). */
static void check_conservation(const char *name, int steps)
{
    lg_callbacks *callbacks = open_top();
    lg_report report;
    lg_plan *plan = NULL;
    const lg_system *system = lg_callbacks_system(callbacks);
    CHECK(lg_plan_create(system->pattern, LG_COUPLING_TANGENTS, &plan) == LG_OK);

    const double q0[4] = {0.8, 0.6, 0, 0}, omega[3] = {0, 6, 40};
    double v0[4], G[12];
    set_G(q0, G);
    for (int i = 0; i < 4; i++)
        v0[i] = 0.5 * (G[i] * omega[0] + G[4 + i] * omega[1] + G[8 + i] * omega[2]);
    const lg_method *method = lg_method_find(name);
    lg_option_value options[16];
    lg_method_defaults(method, options);
    lg_run run;
    lg_start start = {.part = {q0, v0}};
    CHECK(open_run(&run, system, plan, method, options, &start, &report) == LG_OK);
    extremes e = run_steps(&run, steps, 2e-3);
    CHECK(e.energy < 1e-12);
    CHECK(e.length < 1e-14);
    CHECK(e.normality[0] > 1e-3 && e.normality[1] < 1.2 * e.normality[0]);
    CHECK(run.stepper->stats.dense_fallbacks <= 1);
    lg_run_close(&run);
    lg_plan_free(plan);
    lg_callbacks_free(callbacks);
}

static void test_a_hundred_thousand_steps(void)
{
    check_conservation("eml", 100000);
    check_conservation("reml", 10000);
}

int main(void)
{
    RUN(test_a_hundred_thousand_steps);
    return check_result();
}
