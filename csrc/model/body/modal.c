/* A flexible body in modal coordinates (modal_state.h): its row, and its linear elasticity, -K eta - D eta'. */
#include "model/body/modal_frame.h"
#include "model/body/modal_tangent.h"

static const lg_parameter parameters[] = {
    {"mass", "kg", "mass", LG_SCALAR, .valid = LG_POSITIVE, .quadratic = 1},
    {"first", "kg m", "first moment, sum m X", LG_VECTOR(3), .quadratic = 1},
    {"second", "kg m^2", "second moment, sum m X X^T", LG_MATRIX(3, 3), .quadratic = 1},
    {"data", "SI",
     "per mode sum m Phi; per mode sum m X Phi^T; per pair of modes sum m Phi Phi^T; stiffness; damping; nodes",
     LG_REST},
};

/* A body with one mode. */
static const double example[] = {
    3,   0.2, -0.1, 0.3, /* mass, first moment */
    1.2, 0.1, 0.2,  0.1,  1.5, -0.1, 0.2, -0.1, 1.8, /* second moment */
    0.3, 0.1, -0.2, /* sum m Phi */
    0.2, 0.1, 0.3,  -0.1, 0.4, 0.1,  0.2, 0.1,  -0.3, /* sum m X Phi^T */
    0.6, 0.1, 0,    0.1,  0.7, 0.1,  0,   0.1,  0.8, /* sum m Phi Phi^T */
    20,  0.4, /* stiffness, damping */
};

static int modal_parts(const lg_body *b)
{
    return 1 + lg_modal_of(b).nnodes;
}

static lg_status modal_check(const lg_body *b, const char **reason)
{
    *reason = NULL;
    int n = b->block && b->block->nfactors == 2 ? b->block->factor[1].n : 0;
    if (n < 1 || !b->block->node->rotation || b->block->node->position == LG_POSITION_FIXED) {
        *reason = "a modal body needs a free rigid block with modes";
        return LG_BAD_ARGUMENT;
    }
    int rest = b->e.np - LG_MODAL_FIXED - 12 * n - 11 * n * n;
    if (rest < 0 || rest % lg_modal_node_size(n))
        *reason = "the length of the data does not fit the number of modes";
    return *reason ? LG_BAD_ARGUMENT : LG_OK;
}

static void modal_open_state(const lg_body *b, const lg_point *at)
{
    lg_modal_pass y = lg_modal_open(b, at);
    const lg_node *node = y.block->node;
    const double *q = at->q + y.block->q, *v = at->v + y.block->v, *rates = v + node->attitude_v;
    node->rotation(q, y.now->R);
    if (node->attitude) {
        node->attitude->open(q + node->attitude_q, rates, NULL, &y.now->attitude);
        lg_mul_columns(node->attitude_n, y.now->attitude.H, rates, y.now->omega);
    } else {
        lg_copy(3, rates, y.now->omega);
    }
    lg_zero(3, y.now->U);
    if (node->position == LG_POSITION_BODY)
        lg_copy(3, v, y.now->U);
    lg_modal_set_moments(&y);
}

static lg_status modal_kinematics(lg_span bodies, const lg_point *at, lg_level level, lg_reach reach)
{
    for (const lg_body *b = bodies.first; b < bodies.end; b++) {
        modal_open_state(b, at);
        int n = lg_body_reach(b, level, reach);
        for (int k = 0; k < n; k++)
            lg_modal_pose(&b->frames[k], at, level);
    }
    return LG_OK;
}

/* ---- inertia ---- */

static void modal_add_inertia(const lg_body *self, const lg_point *at, const lg_wanted *want)
{
    lg_modal_pass y = lg_modal_open(self, at);
    const lg_block *b = self->block;
    double A[3], turn[3];
    if (want->Ma) {
        lg_zero(b->nv, want->Ma + b->v);
        lg_modal_to_floating_axes(&y, 1, at->a + b->v, A, turn);
        lg_modal_add_mass(&y, A, turn, at->a + b->v + b->node->nv, lg_modal_cleared(&y));
        lg_modal_project(&y, y.F, want->Ma + b->v);
    }
    if (want->gyro) {
        lg_zero(b->nv, want->gyro + b->v);
        lg_zero(3, A), lg_zero(3, turn);
        lg_modal_add_bias(&y, A, turn);
        lg_modal_add_mass(&y, A, turn, NULL, lg_modal_cleared(&y));
        lg_modal_add_gyroscopic(&y, y.F);
        lg_modal_project(&y, y.F, want->gyro + b->v);
    }
    for (const lg_tangent *to = want->tangent; to < want->tangent + want->ntangents; to++) {
        int ld;
        double *S = lg_body_tangent(self, to, &ld);
        lg_modal_add_tangent(&y, at, lg_chain_of(to, self->index), S, ld);
    }
}

static void modal_inertia(lg_span bodies, const lg_point *at, const lg_wanted *want)
{
    for (const lg_body *b = bodies.first; b < bodies.end; b++)
        modal_add_inertia(b, at, want);
}

static void modal_energy(const lg_body *self, const lg_point *at, double *T, double *V)
{
    lg_modal_pass y = lg_modal_open(self, at);
    double A[3], turn[3], *F = lg_modal_cleared(&y);
    lg_modal_to_floating_axes(&y, 1, at->v + y.block->v, A, turn);
    lg_modal_add_mass(&y, A, turn, y.etadot, F);
    double kinetic = lg_dot3(A, F) + lg_dot3(turn, F + 3), stored = 0;
    for (int k = 0; k < y.m.n; k++) {
        kinetic += y.etadot[k] * F[6 + k];
        for (int l = 0; l < y.m.n; l++)
            stored += y.eta[k] * y.m.stiffness[k * y.m.n + l] * y.eta[l] / 2;
    }
    *T += kinetic / 2, *V += stored;
}

/* ---- elasticity and wrenches ---- */

/* Adds the elastic force. */
static void add_elastic(const lg_body *b, const lg_point *at, double *force)
{
    lg_modal_pass y = lg_modal_open(b, at);
    for (int k = 0; k < y.m.n; k++) {
        lg_axpy(y.m.n, -y.eta[k], y.m.stiffness + k * y.m.n, force + y.block->node->nv);
        lg_axpy(y.m.n, -y.etadot[k], y.m.damping + k * y.m.n, force + y.block->node->nv);
    }
}

/* Gathers one sum of wrenches as forces on velocities. */
static void modal_gather_sum(const lg_body *b, const lg_point *at, int sum, double *out)
{
    lg_resultant total = {{0}, {0}, {0}};
    lg_arm arm = lg_modal_arm(b, at);
    lg_zero(b->block->nv, out);
    for (int k = 0; k < b->nactive; k++) {
        const lg_frame *f = &b->frames[k];
        const double *wrench = lg_pose_of(f, at)->wrench[sum];
        if (!(f->loaded >> sum & 1))
            continue;
        lg_modal_collect(f, at, wrench, 0, &total);
        lg_modal_bend(f, at, 1, wrench, out);
    }
    lg_resultant_pull(&total, &arm, 1, out);
}

static void gather_geo(const lg_body *b, const lg_point *at, const lg_chain *chain, double *S, int ld)
{
    lg_resultant total = {{0}, {0}, {0}};
    lg_arm arm = lg_modal_arm(b, at);
    for (int k = 0; k < b->nactive; k++) {
        const lg_frame *f = &b->frames[k];
        double w[6];
        lg_pose_residual(f, lg_pose_of(f, at), w);
        lg_modal_collect(f, at, w, 1, &total);
        lg_modal_add_geo(f, at, 1, w, chain, S, ld);
    }
    lg_resultant_add_geo(&total, &arm, 1, chain, S, ld);
}

static void modal_gather(lg_span bodies, const lg_point *at, const lg_wanted *want)
{
    for (const lg_body *b = bodies.first; b < bodies.end; b++) {
        if (want->force) {
            modal_gather_sum(b, at, LG_FORCES, want->force + b->block->v);
            add_elastic(b, at, want->force + b->block->v);
        }
        if (want->Btlam)
            modal_gather_sum(b, at, LG_REACTIONS, want->Btlam + b->block->v);
        for (const lg_tangent *to = want->tangent; lg_wants_slopes(want) && to < want->tangent + want->ntangents;
             to++) {
            int ld;
            double *S = lg_body_tangent(b, to, &ld);
            gather_geo(b, at, lg_chain_of(to, b->index), S, ld);
        }
    }
}

static const lg_body_frames frames = {
    .pull = lg_modal_pull, .pull_rate = lg_modal_pull_rate, .H = lg_modal_H, .Z = lg_modal_Z};

const lg_body_type lg_modal_body = {
    .info = {.family = "body",
             .name = "modal_body",
             .doc = "A flexible body in modal coordinates on a floating frame, with its inertia and elasticity.",
             .reference = "holzinger2025 App. A, B",
             .nframes = 1,
             .parameters = parameters,
             .nparameters = 4,
             .example = example,
             .nexample = sizeof example / sizeof *example},
    .has_forces = 1,
    .check = modal_check,
    .parts = modal_parts,
    .nwork = lg_modal_nwork,
    .kinematics = modal_kinematics,
    .inertia = modal_inertia,
    .gather = modal_gather,
    .energy = modal_energy,
    .frames = &frames,
};
