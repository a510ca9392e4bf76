/* A point mass on R^3: q is its position, v its velocity. It has no rotation. Forces and joints that need one are
   refused when a model is built (see their function `on_point`), so that no moments act on its frames:

       twist = (v, 0),   H = [1; 0],   Z = 0. */
#include "model/body/momentum.h"

static const lg_parameter parameters[] = {{"mass", "kg", "mass", LG_SCALAR, .valid = LG_POSITIVE, .quadratic = 1}};

static lg_status point_check(const lg_body *b, const char **reason)
{
    *reason = "a point mass needs a block of kind Rn with three coordinates";
    return b->block->node->nv == 0 && b->block->nq == 3 && b->block->nv == 3 ? LG_OK : LG_BAD_ARGUMENT;
}

static lg_status point_kinematics(lg_span bodies, const lg_point *at, lg_level level, lg_reach reach)
{
    static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, zero[3];
    for (const lg_body *b = bodies.first; b < bodies.end; b++) {
        int n = lg_body_reach(b, level, reach);
        for (const lg_frame *f = b->frames; f < b->frames + n; f++) {
            lg_pose *pose = lg_pose_of(f, at);
            pose->origin = at->q + b->block->q;
            lg_zero(3, pose->arm);
            if (level >= LG_TWISTS)
                lg_copy(3, at->v + b->block->v, pose->xdot);
            lg_zero(3, pose->xdd);
            pose->R = identity;
            pose->omega = pose->omegadot = zero;
            lg_pose_clear(f, pose);
        }
    }
    return LG_OK;
}

static void point_inertia(lg_span bodies, const lg_point *at, const lg_wanted *want)
{
    static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    for (const lg_body *b = bodies.first; b < bodies.end; b++) {
        double mass = b->e.p[0];
        int v = b->block->v;
        for (int i = 0; i < 3; i++) {
            if (want->Ma)
                want->Ma[v + i] = mass * at->a[v + i];
            if (want->gyro)
                want->gyro[v + i] = 0;
        }
        for (const lg_tangent *to = want->tangent; to < want->tangent + want->ntangents; to++) {
            int ld;
            double *S = lg_body_tangent(b, to, &ld);
            lg_chain_add(b->block, lg_chain_of(to, b->index), 2, at->wa * mass, 0, 3, 0, 3, identity, 3, S, ld);
        }
    }
}

static void point_gather(lg_span bodies, const lg_point *at, const lg_wanted *want)
{
    double *out[] = {[LG_FORCES] = want->force, [LG_REACTIONS] = want->Btlam};
    for (const lg_body *b = bodies.first; b < bodies.end; b++)
        for (int sum = 0; sum < 2; sum++) {
            if (!out[sum])
                continue;
            lg_zero(3, out[sum] + b->block->v);
            for (const lg_frame *f = b->frames; f < b->frames + b->nactive; f++)
                if (f->loaded >> sum & 1)
                    lg_axpy(3, 1, lg_pose_of(f, at)->wrench[sum], out[sum] + b->block->v);
        }
}

/* m x'' = F */
static lg_status point_accelerate(lg_span bodies, const lg_point *at, double *a)
{
    for (const lg_body *b = bodies.first; b < bodies.end; b++) {
        double *out = a + b->block->v;
        lg_zero(3, out);
        for (const lg_frame *f = b->frames; f < b->frames + b->nactive; f++)
            if (f->loaded >> LG_FORCES & 1)
                lg_axpy(3, 1 / b->e.p[0], lg_pose_of(f, at)->wrench[LG_FORCES], out);
    }
    return LG_OK;
}

static int point_mass_size(const lg_body *b)
{
    (void)b;
    return 0;
}

/* x = x / m */
static void point_solve_mass(const lg_body *b, double *factor, int n, int ld, double *x)
{
    (void)factor;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < 3; i++)
            x[i + (size_t)ld * (size_t)j] /= b->e.p[0];
}

static const lg_body_mass mass = {.size = point_mass_size, .solve = point_solve_mass};

static void point_energy(const lg_body *b, const lg_point *at, double *T, double *V)
{
    (void)V;
    const double *v = at->v + b->block->v;
    *T += b->e.p[0] * lg_dot3(v, v) / 2;
}

static lg_status point_momentum(lg_span bodies, lg_kinetics kinetics, const lg_pair *pair, const lg_point *middle,
                                const lg_kinetic_wanted *wanted)
{
    (void)middle;
    for (const lg_body *b = bodies.first; b < bodies.end; b++)
        lg_momentum_translate(b, b->e.p[0], kinetics, pair, wanted);
    return LG_OK;
}

static const lg_body_step step = {.momentum = point_momentum};

static void point_pull(const lg_frame *f, const lg_point *at, double s, const double wrench[6], double *out)
{
    (void)f, (void)at;
    lg_axpy(3, s, wrench, out);
}

static void point_pull_rate(const lg_frame *f, const lg_point *at, const double wrench[6], double *row)
{
    (void)f, (void)at, (void)wrench, (void)row;
}

static void point_H(const lg_frame *f, const lg_point *at, double *H)
{
    (void)f, (void)at;
    lg_zero(18, H);
    for (int j = 0; j < 3; j++)
        H[7 * j] = 1;
}

static void point_Z(const lg_frame *f, const lg_point *at, double *Z)
{
    (void)f, (void)at;
    lg_zero(18, Z);
}

static const lg_body_frames frames = {.pull = point_pull, .pull_rate = point_pull_rate, .H = point_H, .Z = point_Z};
static const lg_body_alone alone = {.accelerate = point_accelerate, .mass = &mass};

const lg_body_type lg_point_mass = {
    .info = {.family = "body",
             .name = "point",
             .doc = "A point mass in space, without rotation; no method of the builder adds it.",
             .reference = "docs/models",
             .nframes = 1,
             .parameters = parameters,
             .nparameters = 1},
    .constant_mass = 1,
    .is_point = 1,
    .check = point_check,
    .kinematics = point_kinematics,
    .inertia = point_inertia,
    .gather = point_gather,
    .alone = &alone,
    .energy = point_energy,
    .step = &step,
    .frames = &frames,
};
