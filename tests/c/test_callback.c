/* A system made of C functions: a particle on a moving circle, x.x = r(t)^2, in the plane. */
#include "check.h"
#include "system/callback.h"

#include <float.h>

typedef struct particle {
    double mass;
    long calls;
} particle;

static lg_status mass(void *self, const lg_callback_point *at, double *M)
{
    particle *p = self;
    (void)at;
    p->calls++;
    M[0] = M[3] = p->mass;
    M[1] = M[2] = 0;
    return LG_OK;
}

static lg_status force(void *self, const lg_callback_point *at, double *f)
{
    const particle *p = self;
    f[0] = -0.5 * at->v[0];
    f[1] = -9.81 * p->mass;
    return LG_OK;
}

static double radius(double t)
{
    return 1 + 0.1 * t * t;
}

static lg_status circle(void *self, const lg_callback_point *at, double *phi)
{
    (void)self;
    phi[0] = 0.5 * (at->q[0] * at->q[0] + at->q[1] * at->q[1] - radius(at->t) * radius(at->t));
    return LG_OK;
}

static lg_status circle_jacobian(void *self, const lg_callback_point *at, double *J)
{
    (void)self;
    J[0] = at->q[0];
    J[1] = at->q[1];
    return LG_OK;
}

static lg_status failing(void *self, const lg_callback_point *at, double *out)
{
    (void)self, (void)at, (void)out;
    return LG_CALLBACK;
}

static const lg_block_spec plane = {1, &(lg_factor_spec){"Rn", 2}};
static const double kinks[] = {1, 2};

static lg_callbacks_spec spec_of(particle *p)
{
    return (lg_callbacks_spec){.nblocks = 1,
                               .blocks = &plane,
                               .nrows = 1,
                               .nkinks = 2,
                               .kinks = kinks,
                               .flags = LG_SYSTEM_CONSTANT_MASS,
                               .function = {[LG_CALL_MASS] = {mass, p},
                                            [LG_CALL_FORCE] = {force, p},
                                            [LG_CALL_CONSTRAINT] = {circle, NULL},
                                            [LG_CALL_JACOBIAN] = {circle_jacobian, NULL}}};
}

enum { WORK = 1024, GUARD = 64 };

/* All terms except the matrix, compared with formulas; nothing is written beyond the scratch that the system asks
   for. */
static void test_evaluation(void)
{
    particle p = {.mass = 2};
    lg_callbacks *callbacks;
    lg_report report;
    lg_callbacks_spec spec = spec_of(&p);
    CHECK(lg_callbacks_create(&spec, &callbacks, &report) == LG_OK);
    const lg_system *s = lg_callbacks_system(callbacks);
    CHECK(s->space->nv == 2 && s->pattern->nrows == 1 && s->pattern->nvalues == 2);
    CHECK(s->nwork > 0 && s->nwork + GUARD <= WORK);
    CHECK(s->flags & LG_SYSTEM_CONSTANT_MASS && !(s->flags & LG_SYSTEM_NEEDS_GIL));
    CHECK_TEXT(s->row_name(s->self, 0), "constraint[0]");

    double work[WORK], q[2] = {0.6, -0.7}, v[2] = {1.2, 0.3}, a[2] = {0.5, -2}, lam = 3, t = 0.5;
    double Ma[2], gyro[2], f[2], Btlam[2], phi, phidot, zeta, B[2], Z[2];
    for (int i = 0; i < WORK; i++)
        work[i] = i + 0.25;
    lg_point point = lg_point_at(t, q, v);
    point.a = a, point.lam = &lam, point.work = work;
    lg_wanted want = {Ma, gyro, f, Btlam, &phi, &phidot, &zeta, B, Z, NULL, 0};
    CHECK(s->eval(s->self, &point, &want) == LG_OK);
    for (int i = 0; i < 2; i++) {
        CHECK_CLOSE(Ma[i], 2 * a[i], 1e-15);
        CHECK(gyro[i] == 0);
        CHECK(B[i] == q[i]);
        CHECK_CLOSE(Btlam[i], 3 * q[i], 1e-15);
        CHECK_CLOSE(Z[i], v[i], 2e-7); // central differences of values that are accurate to 1e-12
    }
    double r = radius(t), rdot = 0.2 * t, rddot = 0.2;
    CHECK_CLOSE(phi, 0.5 * (0.36 + 0.49 - r * r), 1e-15);
    CHECK_CLOSE(phidot, q[0] * v[0] + q[1] * v[1] - r * rdot, 1e-11);
    CHECK_CLOSE(zeta, -(v[0] * v[0] + v[1] * v[1]) + rdot * rdot + r * rddot, 1e-7);
    for (int i = s->nwork; i < WORK; i++)
        CHECK(work[i] == i + 0.25);
    lg_callbacks_free(callbacks);
}

/* At a kink the functions see a time on the side given by t_in. */
static lg_status clock(void *self, const lg_callback_point *at, double *f)
{
    (void)self;
    f[0] = at->t;
    f[1] = 0;
    return LG_OK;
}

static void test_kinks_are_seen_from_their_side(void)
{
    particle p = {.mass = 1};
    lg_callbacks *callbacks;
    lg_report report;
    lg_callbacks_spec spec = spec_of(&p);
    spec.function[LG_CALL_FORCE].call = clock;
    CHECK(lg_callbacks_create(&spec, &callbacks, &report) == LG_OK);
    const lg_system *s = lg_callbacks_system(callbacks);
    CHECK(s->next_kink(s->self, 0) == 1 && s->next_kink(s->self, 1) == 2 && isinf(s->next_kink(s->self, 2)));

    double work[WORK], q[2] = {1, 0}, v[2] = {0, 0}, f[2];
    for (int side = -1; side <= 1; side += 2) {
        lg_point point = lg_point_at(2, q, v);
        point.t_in = 2 + 0.1 * side, point.work = work;
        CHECK(s->eval(s->self, &point, &(lg_wanted){.force = f}) == LG_OK);
        CHECK(f[0] != 2 && (f[0] > 2) == (side > 0) && fabs(f[0] - 2) <= 4 * DBL_EPSILON);
    }
    lg_callbacks_free(callbacks);
}

/* Functions are called at finite states only, and their status is returned. */
static void test_failures(void)
{
    particle p = {.mass = 1};
    lg_callbacks *callbacks;
    lg_report report;
    lg_callbacks_spec spec = spec_of(&p);
    spec.function[LG_CALL_FORCE].call = failing;
    CHECK(lg_callbacks_create(&spec, &callbacks, &report) == LG_OK);
    const lg_system *s = lg_callbacks_system(callbacks);

    double work[WORK], q[2] = {1, 0}, v[2] = {0, INFINITY}, out[2];
    lg_point point = lg_point_at(0, q, v);
    point.work = work;
    CHECK(s->eval(s->self, &point, &(lg_wanted){.Ma = out}) == LG_NOT_FINITE && p.calls == 0);
    v[1] = 0;
    CHECK(s->eval(s->self, &point, &(lg_wanted){.Ma = out}) == LG_OK && p.calls == 1);
    CHECK(s->eval(s->self, &point, &(lg_wanted){.force = out}) == LG_CALLBACK);
    lg_callbacks_free(callbacks);
}

static void test_what_does_not_fit_is_refused(void)
{
    particle p = {.mass = 1};
    lg_report report;
    lg_callbacks *callbacks = NULL;
    const lg_factor_spec behind[] = {{"Rn", 2}, {"euler_parameters", 0}},
                         before[] = {{"euler_parameters", 0}, {"SO3", 0}};
    const lg_block_spec blocks[] = {{1, &(lg_factor_spec){"Rn", 0}},
                                    {1, &(lg_factor_spec){"nix", 0}},
                                    {1, &(lg_factor_spec){"SO3", 2}},
                                    {2, behind},
                                    {2, before},
                                    {0, behind}};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        lg_callbacks_spec spec = spec_of(&p);
        spec.blocks = &blocks[i];
        CHECK(lg_callbacks_create(&spec, &callbacks, &report) == LG_BAD_ARGUMENT && report.what[0]);
    }
    lg_callbacks_spec spec = spec_of(&p);
    spec.function[LG_CALL_JACOBIAN].call = NULL;
    CHECK(lg_callbacks_create(&spec, &callbacks, &report) == LG_BAD_ARGUMENT && report.what[0]);
    spec = spec_of(&p);
    spec.function[LG_CALL_MASS].call = NULL;
    CHECK(lg_callbacks_create(&spec, &callbacks, &report) == LG_BAD_ARGUMENT && report.what[0]);
    spec = spec_of(&p);
    spec.nblocks = 0;
    CHECK(lg_callbacks_create(&spec, &callbacks, &report) == LG_BAD_ARGUMENT && report.what[0]);
    CHECK(callbacks == NULL);
}

int main(void)
{
    RUN(test_evaluation);
    RUN(test_kinks_are_seen_from_their_side);
    RUN(test_failures);
    RUN(test_what_does_not_fit_is_refused);
    return check_result();
}
