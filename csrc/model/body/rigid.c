/* A rigid body whose node is its centre of mass, or the fixed point it turns about: its row, the poses of its frames
   and the wrenches on them. The formulas for points on the body are in arm.h. */
#include "model/body/rigid_inertia.h"
#include "model/body/rigid_momentum.h"
#include "model/body/rigid_state.h"

static const lg_parameter parameters[] = {
    {"mass", "kg", "mass", LG_SCALAR, .valid = LG_POSITIVE, .quadratic = 1, .linear = 1},
    {"inertia", "kg m^2", "xx, yy, zz, xy, xz, yz about the node, body axes", LG_VECTOR(6), .quadratic = 1,
     .linear = 1},
};

static lg_status rigid_check(const lg_body *b, const char **reason)
{
    *reason = NULL;
    if (!b->block->node->rotation)
        *reason = "this kind of block cannot carry a rigid body";
    else if (b->block->nfactors > 1)
        *reason = "a block with additional linear coordinates needs a modal body";
    return *reason ? LG_BAD_ARGUMENT : LG_OK;
}

/* ---- kinematics ---- */

enum {
    MATRIX_SIZE = offsetof(lg_rigid_state, turned) / sizeof(double),
    LIE_SIZE = offsetof(lg_rigid_state, omega) / sizeof(double),
    STATE_SIZE = sizeof(lg_rigid_state) / sizeof(double)
};

static size_t rigid_nwork(const lg_body *b)
{
    const lg_node *node = b->block->node;
    return node->attitude ? STATE_SIZE : node->storage == LG_STORAGE_MATRIX ? MATRIX_SIZE : LIE_SIZE;
}

static LG_INLINE lg_arm open_arm(const lg_body *b, const lg_point *at)
{
    const lg_block *block = b->block;
    const lg_node *node = block->node;
    const double *v = at->v + block->v;
    return (lg_arm){.block = block,
                    .q = at->q + block->q,
                    .v = v,
                    .R = lg_rigid_rotation(b, at),
                    .omega = node->attitude ? lg_rigid_state_of(b, at)->omega : v + node->attitude_v,
                    .attitude = node->attitude ? &lg_rigid_state_of(b, at)->attitude : NULL};
}

static void set_frame(lg_arm *arm, const lg_frame *f)
{
    arm->X = f->offset;
    arm->at_node = f->at_node;
}

static lg_arm rigid_arm_to(const lg_frame *f, const lg_point *at)
{
    lg_arm arm = open_arm(f->body, at);
    set_frame(&arm, f);
    arm.y = lg_pose_of(f, at)->y;
    return arm;
}

static void open_arm_to(const lg_frame *f, const lg_point *at, lg_arm *arm)
{
    *arm = rigid_arm_to(f, at);
}

/* Whether what follows from q is known from the previous evaluation, which may have left out bodies without rows. */
static inline int is_known(const lg_body *b, const lg_point *at)
{
    return at->same_q && b->has_rows;
}

/* Begins an evaluation: returns the body's rotation, which it sets unless it is part of q. */
static inline const double *rigid_begin(const lg_body *b, const lg_point *at)
{
    const lg_node *node = b->block->node;
    const double *q = at->q + b->block->q;
    if (node->storage == LG_STORAGE_MATRIX)
        return q + node->attitude_q;
    double *R = lg_rigid_state_of(b, at)->turned;
    if (!is_known(b, at))
        node->rotation(q, R);
    return R;
}

static void rigid_open_state(const lg_body *b, const lg_point *at)
{
    const lg_node *node = b->block->node;
    lg_rigid_state *s = lg_rigid_state_of(b, at);
    const double *rates = at->v + b->block->v + node->attitude_v;
    (void)rigid_begin(b, at);
    node->attitude->open(at->q + b->block->q + node->attitude_q, rates, NULL, &s->attitude);
    lg_mul_columns(node->attitude_n, s->attitude.H, rates, s->omega);
}

/* to = A b + start, or A b if `start` is NULL */
static inline void rotate_from(const double *start, const double A[9], const double b[3], double to[3])
{
    double x = b[0], y = b[1], z = b[2];
    for (int i = 0; i < 3; i++) {
        double turned = A[3 * i] * x + A[3 * i + 1] * y + A[3 * i + 2] * z;
        to[i] = start ? start[i] + turned : turned;
    }
}

static inline void write_arm(const lg_frame *f, const double *R, lg_pose *pose)
{
    if (f->at_node)
        lg_zero(3, pose->arm);
    else
        rotate_from(NULL, R, f->offset, pose->arm);
}

static void write_pose(const lg_frame *f, lg_arm *arm, lg_level level, lg_pose *pose)
{
    set_frame(arm, f);
    pose->origin = arm->block->node->position == LG_POSITION_FIXED ? f->base : arm->q;
    write_arm(f, arm->R, pose);
    pose->R = arm->R;
    pose->omega = arm->omega;
    lg_pose_clear(f, pose);
    if (level < LG_TWISTS)
        return;
    arm->y = pose->y;
    lg_arm_twist(arm, pose->xdot);
    if (level < LG_BIASES)
        return;
    lg_arm_bias(arm, pose->xdd);
    pose->omegadot = arm->attitude->bias;
}

static inline void set_at_node(const double *velocity, lg_pose *pose)
{
    lg_zero(3, pose->arm);
    lg_copy(3, velocity, pose->xdot);
    lg_zero(3, pose->xdd);
    lg_zero(3, pose->y);
}

/* On Lie groups: the arm R X, y = omega x X (+ U), x' = x_node' + R y or R y, x'' = R (omega x y) at v' = 0.
   U: the velocity in the body frame; `velocity`: that in inertial axes. One of the two is NULL. */
static inline void write_lie(const lg_frame *f, const double *velocity, const double *U, lg_level level, lg_pose *pose)
{
    const double *R = pose->R, *omega = pose->omega;
    double y[3] = {0, 0, 0}, turned[3];
    if (f->at_node && velocity) {
        set_at_node(velocity, pose);
        return;
    }
    write_arm(f, R, pose);
    if (!f->at_node)
        lg_cross(omega, f->offset, y);
    for (int i = 0; i < 3; i++)
        pose->y[i] = y[i] = U ? y[i] + U[i] : y[i];
    rotate_from(velocity, R, y, pose->xdot);
    if (level < LG_BIASES)
        return;
    lg_cross(omega, y, turned);
    rotate_from(NULL, R, turned, pose->xdd);
}

static const double zero[3];

static inline void begin_pose(const lg_frame *f, const double *origin, const double *R, const double *omega,
                              lg_pose *pose)
{
    pose->origin = origin, pose->R = R, pose->omega = omega, pose->omegadot = zero;
    lg_pose_clear(f, pose);
}

/* The position of the node, or the fixed point about which the body turns, which all of its frames share. */
static inline const double *node_of(const lg_body *b, const lg_point *at)
{
    return b->block->node->position == LG_POSITION_FIXED ? b->frames->base : at->q + b->block->q;
}

/* Rotations, and positions unless they are known. */
static inline void write_poses(const lg_body *b, const lg_point *at, const double *R, int known, int nframes)
{
    const lg_node *node = b->block->node;
    const double *omega = at->v + b->block->v + node->attitude_v, *origin = node_of(b, at);
    for (const lg_frame *f = b->frames, *end = f + nframes; f < end; f++) {
        lg_pose *pose = lg_pose_of(f, at);
        begin_pose(f, origin, R, omega, pose);
        if (!known)
            write_arm(f, R, pose);
    }
}

static LG_APART void write_frames(const lg_body *b, const lg_point *at, const double *R, lg_level level, int nframes)
{
    const lg_node *node = b->block->node;
    const double *v = at->v + b->block->v, *omega = v + node->attitude_v, *origin = node_of(b, at);
    const double *velocity = node->position == LG_POSITION_INERTIAL ? v
                             : node->position == LG_POSITION_FIXED  ? zero
                                                                    : NULL;
    for (const lg_frame *f = b->frames, *end = f + nframes; f < end; f++) {
        lg_pose *pose = lg_pose_of(f, at);
        begin_pose(f, origin, R, omega, pose);
        write_lie(f, velocity, velocity ? NULL : v, level, pose);
    }
}

static inline void move_lie(const lg_body *b, const lg_point *at, lg_level level, int nframes)
{
    const double *R = rigid_begin(b, at);
    if (level <= LG_POSES)
        write_poses(b, at, R, level < LG_POSES || is_known(b, at), nframes);
    else if (nframes)
        write_frames(b, at, R, level, nframes);
}

static LG_APART void move_coordinates(const lg_body *b, const lg_point *at, lg_level level, int nframes)
{
    rigid_open_state(b, at);
    lg_arm arm = open_arm(b, at);
    for (int k = 0; k < nframes; k++)
        write_pose(&b->frames[k], &arm, level, lg_pose_of(&b->frames[k], at));
}

static lg_status rigid_kinematics(lg_span bodies, const lg_point *at, lg_level level, lg_reach reach)
{
    for (const lg_body *b = bodies.first; b < bodies.end; b++) {
        int n = lg_body_reach(b, level, reach);
        if (reach == LG_REACH_ROWS && !b->has_rows)
            continue;
        if (b->block->node->attitude)
            move_coordinates(b, at, level, n);
        else if (level > LG_NO_POSES || !lg_block_is_direct(b->block))
            move_lie(b, at, level, n);
    }
    return LG_OK;
}

/* ---- wrenches ---- */

/* out = one sum of wrenches, as forces on velocities */
static void rigid_gather_sum(const lg_body *b, const lg_point *at, int sum, double *out)
{
    lg_arm arm = open_arm(b, at);
    lg_resultant total = {{0}, {0}, {0}};
    for (const lg_frame *f = b->frames, *end = f + b->nactive; f < end; f++)
        if (f->loaded >> sum & 1) {
            set_frame(&arm, f);
            lg_arm_collect(&arm, lg_pose_of(f, at)->wrench[sum], 0, &total);
        }
    lg_zero(b->block->nv, out + b->block->v);
    lg_resultant_pull(&total, &arm, 1, out + b->block->v);
}

/* Adds the moment of a force at X; G (NULL: not wanted) gets s times its derivative by turns of the body. */
static LG_INLINE void add_moment(const double *X, const double *R, const double *force, double moment[3], double s,
                                 double *G)
{
    double g[3];
    lg_mulT3(R, force, g);
    lg_add_cross(X, g, moment);
    if (G)
        lg_add_turning(s, X, g, G);
}

/* Adds the wrench on a frame to the force and the moment at the node. */
static LG_INLINE void add_wrench(const lg_frame *f, const double *R, const double wrench[6], double force[3],
                                 double moment[3], double s, double *G)
{
    for (int i = 0; i < 3; i++) {
        force[i] += wrench[i];
        moment[i] += wrench[3 + i];
    }
    if (!f->at_node)
        add_moment(f->offset, R, wrench, moment, s, G);
}

/* Adds one sum of wrenches at the node, and to G its derivative by turns of the body, with the sign of the residual. */
static LG_INLINE void rigid_add_wrenches(const lg_body *b, const lg_point *at, int sum, const double *R,
                                         double force[3], double moment[3], double *G)
{
    for (const lg_frame *f = b->frames, *end = f + b->nactive; f < end; f++)
        if (f->loaded >> sum & 1)
            add_wrench(f, R, lg_pose_of(f, at)->wrench[sum], force, moment, sum == LG_FORCES ? -1 : 1, G);
}

/* t = R^T T for a torque T that is constant in space: t changes by t x dphi. */
static inline void add_torque(const double *R, double s, const double torque[3], double moment[3], double *G)
{
    double t[3];
    lg_mulT3(R, torque, t);
    lg_axpy(3, s, t, moment);
    if (!G)
        return;
    G[1] += s * t[2], G[2] -= s * t[1];
    G[3] -= s * t[2], G[5] += s * t[0];
    G[6] += s * t[1], G[7] -= s * t[0];
}

/* Adds the dead loads likewise. */
static LG_INLINE void add_loads(const lg_body *b, const lg_point *at, const double *R, double force[3],
                                double moment[3], double *G)
{
    for (const lg_dead_load *load = b->loads, *end = load + b->nloads; load < end; load++) {
        double f[3] = {at->load * load->force[0], at->load * load->force[1], at->load * load->force[2]};
        lg_axpy(3, 1, f, force);
        if (load->arm)
            add_moment(load->arm, R, f, moment, -1, G);
        if (load->has_torque)
            add_torque(R, at->load, load->torque, moment, G);
    }
}

/* Writes one sum of wrenches to `out` (NULL: not wanted) on a Lie group. */
static LG_INLINE void gather_lie(const lg_body *b, const lg_point *at, int sum, const double *R, double *out, double *G)
{
    const lg_node *node = b->block->node;
    double force[3] = {0, 0, 0}, moment[3] = {0, 0, 0};
    rigid_add_wrenches(b, at, sum, R, force, moment, G);
    if (sum == LG_FORCES)
        add_loads(b, at, R, force, moment, G);
    if (!out)
        return;
    out += b->block->v;
    if (node->position == LG_POSITION_BODY)
        lg_mulT3(R, force, out);
    else if (node->position == LG_POSITION_INERTIAL)
        lg_copy(3, force, out);
    lg_copy(3, moment, out + node->attitude_v);
}

static void collect_residual(const lg_body *b, const lg_point *at, lg_arm *arm, lg_resultant *out)
{
    for (const lg_frame *f = b->frames, *end = f + b->nactive; f < end; f++) {
        double w[6];
        lg_pose_residual(f, lg_pose_of(f, at), w);
        set_frame(arm, f);
        lg_arm_collect(arm, w, 1, out);
    }
}

/* Adds to S the derivative of the wrenches as they turn with the body. */
static void add_geo(const lg_body *b, const lg_point *at, const lg_wanted *want)
{
    lg_arm arm = open_arm(b, at);
    lg_resultant total = {{0}, {0}, {0}};
    collect_residual(b, at, &arm, &total);
    for (const lg_tangent *to = want->tangent; to < want->tangent + want->ntangents; to++) {
        int ld;
        double *S = lg_body_tangent(b, to, &ld);
        lg_resultant_add_geo(&total, &arm, 1, lg_chain_of(to, b->index), S, ld);
    }
}

static void add_stiffness(const lg_body *b, const lg_point *at, const lg_wanted *want)
{
    lg_arm arm = open_arm(b, at);
    for (const lg_tangent *to = want->tangent; to < want->tangent + want->ntangents; to++) {
        int ld;
        double *S = lg_body_tangent(b, to, &ld);
        lg_stiffness_add(lg_body_stiffness(b, at), &arm, &arm, lg_chain_of(to, b->index), S, ld);
    }
}

/* Adds the derivatives of moments by turns alone, k A X in the chain, for a row-major A. */
static void add_turned_moments(const lg_body *b, const lg_wanted *want, const double A[9])
{
    int r = b->block->node->attitude_v;
    double columns[9];
    lg_transpose3(A, columns);
    for (const lg_tangent *to = want->tangent; to < want->tangent + want->ntangents; to++) {
        const lg_chain *chain = lg_chain_of(to, b->index);
        int ld;
        if (chain->k[0] == 0)
            continue;
        double *S = lg_body_tangent(b, to, &ld);
        lg_add_through(chain->k[0], columns, lg_chain_turning(chain, 0, b->block), b->block->nv, S + r + r * ld, ld);
    }
}

/* Gathers with the tangent: how the wrenches turn with the body is treated like any other stiffness. */
static void gather_turning(const lg_body *b, const lg_point *at, const lg_wanted *want)
{
    const double *R = lg_rigid_rotation(b, at);
    lg_stiffness *sum = lg_body_stiffness(b, at);
    double G[9] = {0};
    gather_lie(b, at, LG_FORCES, R, want->force, G);
    gather_lie(b, at, LG_REACTIONS, R, want->Btlam, G);
    if (sum->K.has | sum->D.has) {
        lg_quarters_add(&sum->K, LG_RR, 1, G);
        add_stiffness(b, at, want);
    } else {
        add_turned_moments(b, want, G);
    }
}

static LG_INLINE void gather_forces(const lg_body *b, const lg_point *at, const lg_wanted *want)
{
    if (b->block->node->attitude) {
        if (want->force)
            rigid_gather_sum(b, at, LG_FORCES, want->force);
        if (want->Btlam)
            rigid_gather_sum(b, at, LG_REACTIONS, want->Btlam);
        return;
    }
    const double *R = lg_rigid_rotation(b, at);
    if (want->force)
        gather_lie(b, at, LG_FORCES, R, want->force, NULL);
    if (want->Btlam)
        gather_lie(b, at, LG_REACTIONS, R, want->Btlam, NULL);
}

static LG_APART void gather_with_tangent(const lg_body *b, const lg_point *at, const lg_wanted *want)
{
    if (lg_block_is_direct(b->block)) {
        gather_turning(b, at, want);
        return;
    }
    gather_forces(b, at, want);
    add_geo(b, at, want);
    add_stiffness(b, at, want);
}

static void rigid_gather(lg_span bodies, const lg_point *at, const lg_wanted *want)
{
    int tangent = lg_wants_slopes(want);
    for (const lg_body *b = bodies.first; b < bodies.end; b++)
        if (tangent)
            gather_with_tangent(b, at, want);
        else
            gather_forces(b, at, want);
}

/* For a force and a moment at the node, m x'' = F or, in the body frame, m (U' + Omega x U) = R^T F, and J omega' = M -
   omega x J omega. */
static inline void accelerate_lie(const lg_body *b, const lg_point *at, const double *R, const double force[3],
                                  const double moment[3], double *a)
{
    const lg_node *node = b->block->node;
    const lg_rigid_prepared *p = lg_rigid_prepared_of(b);
    const double *v = at->v + b->block->v, *rates = v + node->attitude_v;
    double omega[3] = {lg_read(rates), lg_read(rates + 1), lg_read(rates + 2)}, Jomega[3], omegadot[3];
    double torque[3] = {moment[0], moment[1], moment[2]};
    lg_rigid_mul_inertia(p, p->J, omega, Jomega);
    lg_add_cross(Jomega, omega, torque);
    lg_rigid_mul_inertia(p, p->inverse, torque, omegadot);
    lg_copy(3, omegadot, a + node->attitude_v);
    if (node->position == LG_POSITION_FIXED)
        return;

    double mass = p->mass;
    if (node->position == LG_POSITION_INERTIAL) {
        for (int i = 0; i < 3; i++)
            a[i] = force[i] / mass;
        return;
    }
    double along[3], turning[3];
    lg_mulT3(R, force, along);
    lg_cross(omega, v, turning);
    for (int i = 0; i < 3; i++)
        a[i] = along[i] / mass - turning[i];
}

static lg_status rigid_accelerate(lg_span bodies, const lg_point *at, double *a)
{
    for (const lg_body *b = bodies.first; b < bodies.end; b++) {
        /* without frames `kinematics` may not have been called */
        const double *R = b->nactive ? lg_rigid_rotation(b, at) : rigid_begin(b, at);
        double force[3] = {0, 0, 0}, moment[3] = {0, 0, 0};
        rigid_add_wrenches(b, at, LG_FORCES, R, force, moment, NULL);
        add_loads(b, at, R, force, moment, NULL);
        accelerate_lie(b, at, R, force, moment, a + b->block->v);
    }
    return LG_OK;
}

static void rigid_pull(const lg_frame *f, const lg_point *at, double s, const double wrench[6], double *out)
{
    lg_arm arm = rigid_arm_to(f, at);
    lg_arm_pull(&arm, s, wrench, out);
}

static void rigid_pull_rate(const lg_frame *f, const lg_point *at, const double wrench[6], double *row)
{
    lg_arm arm = rigid_arm_to(f, at);
    lg_arm_pull_rate(&arm, wrench, row);
}

static void rigid_H(const lg_frame *f, const lg_point *at, double *H)
{
    lg_arm arm = rigid_arm_to(f, at);
    lg_arm_H(&arm, H);
}

static void rigid_Z(const lg_frame *f, const lg_point *at, double *Z)
{
    lg_arm arm = rigid_arm_to(f, at);
    lg_arm_Z(&arm, Z);
}

static const lg_body_type sherif = {.kinematics = rigid_kinematics, .inertia = lg_rigid_inertia_sherif};

static const lg_body_frames frames = {.pull = rigid_pull, .pull_rate = rigid_pull_rate, .H = rigid_H, .Z = rigid_Z};
static const lg_body_rigid rigid = {.open = open_arm_to};
static const lg_body_alone alone = {.accelerate = rigid_accelerate, .mass = &lg_rigid_mass};

const lg_body_type lg_rigid_body = {
    .in = {[LG_FORM_SHERIF] = &sherif},
    .info = {.family = "body",
             .name = "rigid_body",
             .doc = "A rigid body with its inertia and gyroscopic torque.",
             .reference = "holzinger2024 (11), (14)",
             .nframes = 1,
             .parameters = parameters,
             .nparameters = 2},
    .constant_mass = 1,
    .check = rigid_check,
    .nwork = rigid_nwork,
    .prepare = lg_rigid_prepare,
    .kinematics = rigid_kinematics,
    .inertia = lg_rigid_inertia,
    .gather = rigid_gather,
    .adds_dead_loads = 1,
    .alone = &alone,
    .energy = lg_rigid_energy,
    .shares = &lg_rigid_shares,
    .step = &lg_rigid_step,
    .frames = &frames,
    .rigid = &rigid,
};
