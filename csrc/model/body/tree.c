/* A tree of links in minimal coordinates (tree_state.h): its row, and the wrenches on its links. */
#include "model/body/tree_articulated.h"
#include "model/body/tree_frame.h"
#include "model/body/tree_inertia.h"
#include "model/body/tree_motion.h"
#include "model/body/tree_tangent.h"
#include "model/triad.h"

static const lg_parameter parameters[] = {
    {"links", "SI", "per link: parent, joint, axes and origin in the parent, joint axis, mass, centre of mass, inertia",
     LG_REST},
};

/* A link that turns about z of the ground, (0.1, -0.2, 0.3) away from the origin. */
static const lg_tree_link example = {
    .parent = -1,
    .R = {1, 0, 0, 0, 1, 0, 0, 0, 1},
    .point = {0.1, -0.2, 0.3},
    .axis = {0, 0, 1},
    .mass = 1.5,
    .com = {0.3, 0.1, -0.2},
    .inertia = {2, 3, 4, 0.1, -0.2, 0.3},
};

static lg_status check(const lg_body *b, const char **reason)
{
    int n = lg_tree_size(b);
    const lg_tree_link *links = lg_tree_links(b);
    *reason = NULL;
    if (n < 1 || b->e.np != n * LG_TREE_LINK_SIZE || !b->block || b->block->nv != n)
        *reason = "the number of links must be that of the block's coordinates";
    for (int i = 0; !*reason && i < n; i++) {
        double parent = links[i].parent;
        if (parent != floor(parent) || parent < -1 || parent >= i || (i == 0 && parent != -1))
            *reason = "a link's parent must come before it";
        if (links[i].slides != 0 && links[i].slides != 1)
            *reason = "a link's joint must be 0 (revolute) or 1 (prismatic)";
        if (!lg_triad_orthonormal(links[i].R) || fabs(lg_norm3(links[i].axis) - 1) > 1e-9)
            *reason = "a link's axes are not orthonormal";
        if (!(links[i].mass >= 0))
            *reason = "a link's mass is negative";
    }
    return *reason ? LG_BAD_ARGUMENT : LG_OK;
}

static int parts(const lg_body *b)
{
    return lg_tree_size(b);
}

static size_t nwork(const lg_body *b)
{
    return (size_t)lg_tree_size(b) * (LG_TREE_STATE_SIZE + LG_TREE_FACTOR_SIZE);
}

static void kinematics(lg_span bodies, const lg_point *at, lg_level level, int all)
{
    for (const lg_body *b = bodies.first; b < bodies.end; b++) {
        lg_tree_set_places(b, at);
        if (level >= LG_TWISTS)
            lg_tree_set_motion(b, at, level);
        int n = all ? b->nframes : level == LG_NO_POSES ? 0 : b->nactive;
        for (int k = 0; k < n; k++)
            lg_tree_pose(&b->frames[k], at, level);
    }
}

/* ---- wrenches ---- */

/* Adds up the wrenches on the frames of each link. Returns which sums are not empty, as bits of lg_frame.pressed. */
static unsigned collect(const lg_body *b, const lg_point *at, int geo)
{
    lg_tree_state *state = lg_tree_states(b, at);
    unsigned pressed = 0;
    for (int i = 0, n = lg_tree_size(b); i < n; i++) {
        lg_zero(12, state[i].wrench[0]);
        if (geo)
            lg_zero(9, state[i].T);
    }
    for (const lg_frame *f = b->frames; f < b->frames + b->nactive; f++) {
        lg_tree_collect(f, at, geo);
        pressed |= f->pressed;
    }
    return pressed;
}

/* Sums the wrenches over the subtree of each link; out (NULL: not wanted) = those in the joints. */
static void sum_wrenches(const lg_body *b, const lg_point *at, int sum, double *out)
{
    lg_tree_state *state = lg_tree_states(b, at);
    for (int i = lg_tree_size(b) - 1; i >= 0; i--) {
        const lg_tree_state *s = &state[i];
        int p = lg_tree_parent(b, i);
        if (out)
            out[b->block->v + i] = lg_dot6(s->S, s->wrench[sum]);
        if (p >= 0)
            lg_axpy(6, 1, s->wrench[sum], state[p].wrench[sum]);
    }
}

/* ---- verbs ---- */

/* Whether any tangent needs derivatives of rates. */
static int wants_rates(const lg_body *b, const lg_wanted *want)
{
    for (const lg_tangent *to = want->tangent; to < want->tangent + want->ntangents; to++)
        if (to->chain && lg_tree_has_rates(&to->chain[b->index]))
            return 1;
    return 0;
}

static void add_inertia(const lg_body *b, const lg_point *at, const lg_wanted *want)
{
    int rates = wants_rates(b, want);
    const double *a = (want->Ma || rates) && at->a ? at->a + b->block->v : NULL;
    lg_tree_set_dynamics(b, at, a, want->gyro || rates, want->Ma, want->gyro);
    if (want->ntangents)
        lg_tree_set_composites(b, lg_tree_states(b, at), rates);
    if (!lg_wants_slopes(want))
        lg_tree_add_mass(b, at, want);
}

static void inertia(lg_span bodies, const lg_point *at, const lg_wanted *want)
{
    for (const lg_body *b = bodies.first; b < bodies.end; b++)
        add_inertia(b, at, want);
}

/* The tangent is added here, since it needs the wrenches. */
static void gather(lg_span bodies, const lg_point *at, const lg_wanted *want)
{
    double *out[] = {[LG_FORCES] = want->force, [LG_REACTIONS] = want->Btlam};
    int tangent = lg_wants_slopes(want);
    for (const lg_body *b = bodies.first; b < bodies.end; b++) {
        unsigned pressed = collect(b, at, tangent);
        for (int sum = 0; sum < 2; sum++)
            if (pressed >> sum & 1)
                sum_wrenches(b, at, sum, out[sum]);
            else if (out[sum])
                lg_zero(b->block->nv, out[sum] + b->block->v);
        if (tangent)
            lg_tree_add_tangent(b, at, want);
    }
}

/* The accelerations without constraints, from the forces on coordinates in `a`: gyro and the wrenches on the links are
   what the joints have to bear at q'' = 0. */
static lg_status accelerate_one(const lg_body *b, const lg_point *at, double *a)
{
    lg_tree_state *state = lg_tree_states(b, at);
    lg_tree_factor *factor = (lg_tree_factor *)(void *)(state + lg_tree_size(b));
    collect(b, at, 0);
    lg_tree_set_links(b, at, NULL, 1);
    for (int i = 0, n = lg_tree_size(b); i < n; i++)
        for (int k = 0; k < 6; k++)
            factor[i].f[k] = state[i].F[LG_BY_VELOCITY][k] - state[i].wrench[LG_FORCES][k];
    LG_TRY(lg_tree_factor_inertias(b, state, factor));
    lg_tree_solve(b, factor, a + b->block->v);
    return LG_OK;
}

static lg_status tree_accelerate(lg_span bodies, const lg_point *at, double *a)
{
    for (const lg_body *b = bodies.first; b < bodies.end; b++)
        LG_TRY(accelerate_one(b, at, a));
    return LG_OK;
}

static int tree_fits(const lg_body *b)
{
    (void)b;
    return 1;
}

/* The wrench of the joint's constraint on its link, at the link's origin: the inertial wrench of the link's subtree
   minus the applied wrenches on it, without the component along the joint's own axis, where only drives act. */
static void transmit(const lg_body *b, const lg_point *at, int part, double wrench[6])
{
    lg_tree_state *s = &lg_tree_states(b, at)[part];
    double axis[3];
    lg_tree_set_dynamics(b, at, at->a + b->block->v, 1, NULL, NULL);
    for (int i = 0; i < 6; i++)
        wrench[i] = s->F[LG_BY_ACCELERATION][i] + s->F[LG_BY_VELOCITY][i] - s->wrench[LG_FORCES][i] +
                    s->wrench[LG_REACTIONS][i];
    lg_add_cross(wrench, s->y, wrench + 3);

    double *free = lg_tree_links(b)[part].slides != 0 ? wrench : wrench + 3;
    lg_mul3(s->R, lg_tree_links(b)[part].axis, axis);
    lg_axpy(3, -lg_dot3(axis, free), axis, free);
}

static const lg_body_alone alone = {.accelerate = tree_accelerate, .fits = tree_fits};
static const lg_body_frames frames = {
    .pull = lg_tree_pull, .pull_rate = lg_tree_pull_rate, .H = lg_tree_H, .Z = lg_tree_Z};

const lg_body_type lg_tree = {
    .info = {.family = "body",
             .name = "tree",
             .doc = "An open tree of links on revolute and prismatic joints, with one coordinate per joint.",
             .reference = "holzinger2024 4.4",
             .nframes = 1,
             .parameters = parameters,
             .nparameters = 1,
             .example = &example.parent,
             .nexample = LG_TREE_LINK_SIZE},
    .check = check,
    .parts = parts,
    .nwork = nwork,
    .nprepared = lg_tree_nprepared,
    .prepare = lg_tree_prepare,
    .kinematics = kinematics,
    .inertia = inertia,
    .gather = gather,
    .kinetic = lg_tree_kinetic,
    .transmit = transmit,
    .frames = &frames,
    .alone = &alone,
    .mass = &lg_tree_mass,
};
