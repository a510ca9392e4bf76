/* A tree of links in minimal coordinates (tree_state.h): its row, and the wrenches on its links. */
#include "model/body/tree_articulated.h"
#include "model/body/tree_frame.h"
#include "model/body/tree_inertia.h"
#include "model/body/tree_momentum.h"
#include "model/body/tree_motion.h"
#include "model/body/tree_tangent.h"
#include "model/triad.h"

static const lg_parameter parameters[] = {
    {"links", "SI",
     "per link: parent, joint, inner, axes and origin in the parent, joint axis, mass, centre of mass, inertia",
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

static const char *check_link(const lg_tree_link *links, int i, int n)
{
    const lg_tree_link *link = &links[i];
    double parent = link->parent;
    if (parent != floor(parent) || parent < -1 || parent >= i || (i == 0 && parent != -1))
        return "a link's parent must come before it";
    if (link->joint != LG_TREE_REVOLUTE && link->joint != LG_TREE_PRISMATIC && link->joint != LG_TREE_NODE)
        return "a link's joint must be 0 (revolute), 1 (prismatic) or 2 (an axis of a node)";
    if (!lg_triad_orthonormal(link->R) || (link->joint != LG_TREE_NODE && fabs(lg_norm3(link->axis) - 1) > 1e-9))
        return "a link's axes are not orthonormal";
    if (!(link->mass >= 0))
        return "a link's mass is negative";
    if (link->inner != 0 && (link->mass != 0 || i == n - 1 || link[1].parent != i))
        return "an inner link of a joint must have no mass, and the next link must be its child";
    if (parent >= 0 && links[(int)parent].inner != 0 && parent != i - 1)
        return "an inner link of a joint has one child";
    return NULL;
}

/* Links on the velocities of a factor of the block. */
static const char *check_factor(const lg_factor *f, const lg_tree_link *links, int first)
{
    const lg_node *node = f->node;
    int turning = node->position != LG_POSITION_NO_BODY, slides = node->position == LG_POSITION_INERTIAL ? 3 : 0;
    if (node->nown || node->attitude || node->flow)
        return "nodes inside trees must be rotations, or poses, whose velocities are those of a body";
    for (int j = 0; j < f->nv; j++) {
        const lg_tree_link *link = &links[first + j];
        if ((link->joint == LG_TREE_NODE) != (turning && j >= slides))
            return "the joints of links must be those of the block's coordinates";
        if (turning && ((link->inner != 0) != (j < f->nv - 1) || (j > 0 && link->parent != first + j - 1)))
            return "the links of a node must follow each other";
    }
    return NULL;
}

static lg_status tree_check(const lg_body *b, const char **reason)
{
    int n = lg_tree_size(b);
    const lg_block *block = b->block;
    const lg_tree_link *links = lg_tree_links(b);
    *reason = NULL;
    if (n < 1 || b->e.np != n * LG_TREE_LINK_SIZE || !block || block->nv != n)
        *reason = "the number of links must be that of the block's coordinates";
    for (int i = 0; !*reason && i < n; i++)
        *reason = check_link(links, i, n);
    for (const lg_factor *f = block ? block->factor : NULL; !*reason && f < block->factor + block->nfactors; f++)
        *reason = check_factor(f, links, f->v - block->v);
    return *reason ? LG_BAD_ARGUMENT : LG_OK;
}

static int tree_parts(const lg_body *b)
{
    return lg_tree_size(b);
}

static size_t tree_nwork(const lg_body *b)
{
    return (size_t)lg_tree_size(b) * (LG_TREE_STATE_SIZE + LG_TREE_FACTOR_SIZE) + 3;
}

static lg_status tree_kinematics(lg_span bodies, const lg_point *at, lg_level level, lg_reach reach)
{
    for (const lg_body *b = bodies.first; b < bodies.end; b++) {
        lg_tree_set_poses(b, at);
        if (level >= LG_TWISTS)
            lg_tree_set_motion(b, at, level);
        int n = lg_body_reach(b, level, reach);
        for (int k = 0; k < n; k++)
            lg_tree_pose(&b->frames[k], at, level);
    }
    return LG_OK;
}

/* ---- wrenches ---- */

/* Adds up the wrenches on the frames of each link. Returns which sums are not empty, as bits of lg_frame.loaded. */
static unsigned tree_collect(const lg_body *b, const lg_point *at, int geo)
{
    lg_tree_state *state = lg_tree_states(b, at);
    unsigned loaded = 0;
    for (int i = 0, n = lg_tree_size(b); i < n; i++) {
        lg_zero(12, state[i].wrench[0]);
        if (geo)
            lg_zero(9, state[i].T);
    }
    for (const lg_frame *f = b->frames; f < b->frames + b->nactive; f++) {
        lg_tree_collect(f, at, geo);
        loaded |= f->loaded;
    }
    return loaded;
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

/* ---- the functions of the row ---- */

/* Whether any tangent needs derivatives of rates. */
static int wants_rates(const lg_body *b, const lg_wanted *want)
{
    for (const lg_tangent *to = want->tangent; to < want->tangent + want->ntangents; to++)
        if (to->chain && lg_tree_has_rates(&to->chain[b->index]))
            return 1;
    return 0;
}

static void tree_add_inertia(const lg_body *b, const lg_point *at, const lg_wanted *want)
{
    int rates = wants_rates(b, want);
    const double *a = (want->Ma || rates) && at->a ? at->a + b->block->v : NULL;
    lg_tree_set_dynamics(b, at, a, want->gyro || rates, want->Ma, want->gyro);
    if (want->ntangents)
        lg_tree_set_composites(b, lg_tree_states(b, at), rates);
    lg_tree_add_mass(b, at, want);
}

static void tree_inertia(lg_span bodies, const lg_point *at, const lg_wanted *want)
{
    for (const lg_body *b = bodies.first; b < bodies.end; b++)
        tree_add_inertia(b, at, want);
}

/* The tangent is added here, since it needs the wrenches. */
static void tree_gather(lg_span bodies, const lg_point *at, const lg_wanted *want)
{
    double *out[] = {[LG_FORCES] = want->force, [LG_REACTIONS] = want->Btlam};
    int tangent = lg_wants_slopes(want);
    for (const lg_body *b = bodies.first; b < bodies.end; b++) {
        unsigned loaded = tree_collect(b, at, tangent);
        for (int sum = 0; sum < 2; sum++)
            if (loaded >> sum & 1)
                sum_wrenches(b, at, sum, out[sum]);
            else if (out[sum])
                lg_zero(b->block->nv, out[sum] + b->block->v);
        if (tangent)
            lg_tree_add_tangent(b, at, want);
    }
}

/* The accelerations without constraints, from the forces on coordinates in `a`: gyro and the wrenches on the links act
   in the joints at q'' = 0. */
static lg_status accelerate_one(const lg_body *b, const lg_point *at, double *a)
{
    lg_tree_state *state = lg_tree_states(b, at);
    lg_tree_factor *factor = (lg_tree_factor *)(void *)(lg_tree_origin(b, at) + 3);
    tree_collect(b, at, 0);
    lg_tree_set_links(b, at, NULL, 1);
    for (int i = 0, n = lg_tree_size(b); i < n; i++)
        for (int k = 0; k < 6; k++)
            factor[i].f[k] = state[i].F[LG_BY_VELOCITY][k] - state[i].wrench[LG_FORCES][k];
    int deficient;
    LG_TRY(lg_tree_factor_inertias(b, state, factor, &deficient));
    lg_tree_solve(b, factor, a + b->block->v);
    return LG_OK;
}

static lg_status tree_accelerate(lg_span bodies, const lg_point *at, double *a)
{
    for (const lg_body *b = bodies.first; b < bodies.end; b++)
        LG_TRY(accelerate_one(b, at, a));
    return LG_OK;
}

/* Leaves out what acts along a joint's axis: a force on a slide, or a moment. */
static void release(const double S[6], double wrench[6])
{
    int turns = S[3] != 0 || S[4] != 0 || S[5] != 0;
    const double *axis = turns ? S + 3 : S;
    double *along = turns ? wrench + 3 : wrench;
    lg_axpy(3, -lg_dot3(axis, along), axis, along);
}

/* The wrench of the joint's constraint on its link, at the link's origin: the inertial wrench of the link's subtree
   minus the applied wrenches on it, without the components along the joint's own axes, where only drives act. */
static void tree_transmit(const lg_body *b, const lg_point *at, int part, double wrench[6])
{
    const lg_tree_link *links = lg_tree_links(b);
    lg_tree_state *state = lg_tree_states(b, at), *s = &state[part];
    lg_tree_set_dynamics(b, at, at->a + b->block->v, 1, NULL, NULL);
    for (int i = 0; i < 6; i++)
        wrench[i] = s->F[LG_BY_ACCELERATION][i] + s->F[LG_BY_VELOCITY][i] - s->wrench[LG_FORCES][i] +
                    s->wrench[LG_REACTIONS][i];
    lg_add_cross(wrench, s->y, wrench + 3);

    release(s->S, wrench);
    for (int j = lg_tree_parent(b, part); j >= 0 && links[j].inner != 0; j = lg_tree_parent(b, j))
        release(state[j].S, wrench);
}

static int tree_coordinate(const lg_body *b, int part)
{
    const lg_tree_joint *joint = &lg_tree_joints(b)[part];
    return joint->column < 0 ? (int)joint->q : -1;
}

static const lg_body_tree tree = {.coordinate = tree_coordinate};
static const lg_body_alone alone = {.accelerate = tree_accelerate, .mass = &lg_tree_mass};
static const lg_body_frames frames = {
    .pull = lg_tree_pull, .pull_rate = lg_tree_pull_rate, .H = lg_tree_H, .Z = lg_tree_Z};

const lg_body_type lg_tree = {
    .info = {.family = "body",
             .name = "tree",
             .doc = "An open tree of links on joints of all kinds, with the coordinates of its joints.",
             .reference = "holzinger2024 4.4",
             .nframes = 1,
             .parameters = parameters,
             .nparameters = 1,
             .example = &example.parent,
             .nexample = LG_TREE_LINK_SIZE},
    .check = tree_check,
    .parts = tree_parts,
    .nwork = tree_nwork,
    .prepare = lg_tree_prepare,
    .kinematics = tree_kinematics,
    .inertia = tree_inertia,
    .gather = tree_gather,
    .energy = lg_tree_energy,
    .shares = &lg_tree_shares,
    .step = &lg_tree_step,
    .transmit = tree_transmit,
    .frames = &frames,
    .alone = &alone,
    .tree = &tree,
};
