/* States z of a control, which gives their rates: z' = f. Their block has velocities and no coordinates, v = z, so that
   the acceleration is the rate; the mass is one, and f, a value of the control, stands in place of a force. */
#include "model/body/body.h"
#include "system/chain.h"

static const lg_parameter parameters[] = {LG_CONTROL_VALUE};

static lg_status states_check(const lg_body *b, const char **reason)
{
    *reason = "states need a block of the kind first_order";
    return b->block->node == &lg_first_order && b->block->nfactors == 1 ? LG_OK : LG_BAD_ARGUMENT;
}

static const double *rates_of(const lg_body *b, const lg_point *at)
{
    return at->work + b->e.value;
}

/* Its frames have no position; they only mark the block. */
static lg_status states_kinematics(lg_span bodies, const lg_point *at, lg_level level, lg_reach reach)
{
    static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, zero[3];
    (void)level;
    for (const lg_body *b = bodies.first; b < bodies.end; b++)
        for (const lg_frame *f = b->frames; reach == LG_REACH_ALL && f < b->frames + b->nframes; f++) {
            lg_pose *pose = lg_pose_of(f, at);
            lg_zero(3, pose->arm), lg_zero(3, pose->xdot), lg_zero(3, pose->xdd);
            pose->R = identity, pose->origin = zero;
            pose->omega = pose->omegadot = zero;
        }
    return LG_OK;
}

static void states_inertia(lg_span bodies, const lg_point *at, const lg_wanted *want)
{
    for (const lg_body *b = bodies.first; b < bodies.end; b++) {
        int v = b->block->v, nv = b->block->nv;
        if (want->Ma)
            lg_copy(nv, at->a + v, want->Ma + v);
        if (want->gyro)
            lg_zero(nv, want->gyro + v);
        for (const lg_tangent *to = want->tangent; to < want->tangent + want->ntangents; to++) {
            int ld;
            double *S = lg_body_tangent(b, to, &ld);
            for (int i = 0; i < nv; i++)
                lg_chain_add_entry(b->block, lg_chain_of(to, b->index), 2, at->wa, i, i, S, ld);
        }
    }
}

static void states_gather(lg_span bodies, const lg_point *at, const lg_wanted *want)
{
    for (const lg_body *b = bodies.first; b < bodies.end; b++) {
        if (want->force)
            lg_copy(b->block->nv, rates_of(b, at), want->force + b->block->v);
        if (want->Btlam)
            lg_zero(b->block->nv, want->Btlam + b->block->v);
    }
}

static lg_status states_accelerate(lg_span bodies, const lg_point *at, double *a)
{
    for (const lg_body *b = bodies.first; b < bodies.end; b++)
        lg_copy(b->block->nv, rates_of(b, at), a + b->block->v);
    return LG_OK;
}

static int states_mass_size(const lg_body *b)
{
    (void)b;
    return 0;
}

static void states_solve_mass(const lg_body *b, double *factor, int n, int ld, double *x)
{
    (void)b, (void)factor, (void)n, (void)ld, (void)x;
}

/* Nothing acts on these frames. */
static void states_pull(const lg_frame *f, const lg_point *at, double s, const double wrench[6], double *out)
{
    (void)f, (void)at, (void)s, (void)wrench, (void)out;
}

static void states_pull_rate(const lg_frame *f, const lg_point *at, const double wrench[6], double *row)
{
    (void)f, (void)at, (void)wrench, (void)row;
}

static void states_motion(const lg_frame *f, const lg_point *at, double *H)
{
    (void)at;
    lg_zero(6 * f->body->block->nv, H);
}

static const lg_body_frames frames = {
    .pull = states_pull, .pull_rate = states_pull_rate, .H = states_motion, .Z = states_motion};
static const lg_body_mass mass = {.size = states_mass_size, .solve = states_solve_mass};
static const lg_body_alone alone = {.accelerate = states_accelerate, .mass = &mass};

const lg_body_type lg_states_body = {
    .info = {.family = "body",
             .name = "states",
             .doc = "States of a control, whose rates it gives.",
             .reference = "docs/control",
             .nframes = 1,
             .uses_control = 1,
             .parameters = parameters,
             .nparameters = 1},
    .constant_mass = 1,
    .has_forces = 1,
    .check = states_check,
    .kinematics = states_kinematics,
    .inertia = states_inertia,
    .gather = states_gather,
    .alone = &alone,
    .frames = &frames,
};
