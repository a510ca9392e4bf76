/* Values z of first-order equations, which an element that has them drives: z' = f. Their block has velocities and no
   coordinates, v = z, so that the acceleration is the rate; the mass is one, and f stands in place of a force. The
   element writes f to the scratch, where this body collects it. */
#include "model/body/body.h"
#include "system/chain.h"

static lg_status states_check(const lg_body *b, const char **reason)
{
    *reason = "states need a block of the kind first_order";
    return b->block->node == &lg_first_order && b->block->nfactors == 1 ? LG_OK : LG_BAD_ARGUMENT;
}

static size_t states_nwork(const lg_body *b)
{
    return (size_t)b->block->nv;
}

double *lg_states_rates(const lg_body *b, const lg_point *at)
{
    return at->work + b->work;
}

/* Its frames are nowhere; they only mark the block. */
static void states_kinematics(lg_span bodies, const lg_point *at, lg_level level, int all)
{
    static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, zero[3];
    (void)level;
    for (const lg_body *b = bodies.first; b < bodies.end; b++)
        for (const lg_frame *f = b->frames; all && f < b->frames + b->nframes; f++) {
            lg_pose *pose = lg_pose_of(f, at);
            lg_zero(3, pose->x), lg_zero(3, pose->xdot), lg_zero(3, pose->xdd);
            pose->R = identity;
            pose->omega = pose->omegadot = zero;
        }
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
            lg_copy(b->block->nv, lg_states_rates(b, at), want->force + b->block->v);
        if (want->Btlam)
            lg_zero(b->block->nv, want->Btlam + b->block->v);
    }
}

static lg_status states_accelerate(lg_span bodies, const lg_point *at, double *a)
{
    for (const lg_body *b = bodies.first; b < bodies.end; b++)
        lg_copy(b->block->nv, lg_states_rates(b, at), a + b->block->v);
    return LG_OK;
}

static void states_solve_mass(const lg_body *b, double *factor, int n, int ld, double *x)
{
    (void)b, (void)factor, (void)n, (void)ld, (void)x;
}

static int states_fit(const lg_body *b)
{
    (void)b;
    return 1;
}

static const lg_body_mass mass = {.solve = states_solve_mass};
static const lg_body_alone alone = {.accelerate = states_accelerate, .fits = states_fit, .mass = &mass};

const lg_body_type lg_states_body = {
    .info = {.family = "body",
             .name = "states",
             .doc = "Values of first-order equations, as controls have them.",
             .reference = "docs/control",
             .nframes = 1},
    .constant_mass = 1,
    .check = states_check,
    .nwork = states_nwork,
    .kinematics = states_kinematics,
    .inertia = states_inertia,
    .gather = states_gather,
    .alone = &alone,
};
