/* Inertia of a rigid body whose node is its centre of mass, or the fixed point it turns about.

   Rotational part, with omega = H e' and omega' = H e'' + bias of the block's attitude (H = I on Lie groups):
       tau = J omega' + omega x J omega,   generalised H^T tau
   holzinger2024 (11), sign as in the errata. About a fixed point J is the inertia about that point. For Euler parameters
   sherif2019 (9) prints 8 L^T L L'^T J L e', in which the bias -2 (e.e') omega has the other sign: omega x J omega -
   J bias. That matters to schemes that do not keep e.e' = 0; a point asks for it by `printed`. Translational part:
   m x'' with inertial velocities; m (U' + Omega x U) where they stand in the body frame (sonneville2014). */
#include "model/body/arm.h"
#include "model/body/body.h"

#include <stddef.h>

enum { MASS, INERTIA = 4 }; /* places of the parameters */

static const lg_parameter parameters[] = {
    {"mass", "kg", "mass", 1},
    {"com", "m", "centre of mass seen from the node, body axes; zero unless the node is a fixed point", 3},
    {"inertia", "kg m^2", "xx, yy, zz, xy, xz, yz about the node, body axes", 6},
};

static lg_status check(const lg_body *b, const char **reason)
{
    *reason = NULL;
    if (b->block->node->place == LG_PLACE_NO_BODY)
        *reason = "this kind of block carries no rigid body";
    else if (lg_block_tail(b->block))
        *reason = "more coordinates need a modal body";
    else if (!(b->e.p[MASS] > 0))
        *reason = "the mass must be positive";
    return *reason ? LG_BAD_ARGUMENT : LG_OK;
}

/* ---- kinematics ---- */

/* What one evaluation knows of a body; the attitude and omega only where the block has an attitude. */
typedef struct state {
    double R[9];
    lg_stiffness stiffness;
    double omega[3];
    lg_attitude attitude;
} state;

enum { LIE_SIZE = offsetof(state, omega) / sizeof(double), STATE_SIZE = sizeof(state) / sizeof(double) };

static size_t nwork(const lg_body *b)
{
    return b->block->node->attitude ? STATE_SIZE : LIE_SIZE;
}

static state *state_of(const lg_body *b, const lg_point *at)
{
    return (state *)(void *)(at->work + b->work);
}

static lg_arm open_arm(const lg_body *b, const lg_point *at)
{
    const lg_block *block = b->block;
    const lg_node *node = block->node;
    state *s = state_of(b, at);
    const double *v = at->v ? at->v + block->v : NULL;
    return (lg_arm){.block = block,
                    .q = at->q + block->q,
                    .v = v,
                    .R = s->R,
                    .omega = node->attitude ? s->omega
                             : v            ? v + node->attitude_v
                                            : NULL,
                    .attitude = node->attitude ? &s->attitude : NULL};
}

static void set_frame(lg_arm *arm, const lg_frame *f)
{
    arm->X = f->offset;
    arm->at_node = f->at_node;
}

static lg_arm arm_of(const lg_frame *f, const lg_point *at)
{
    lg_arm arm = open_arm(f->body, at);
    set_frame(&arm, f);
    lg_copy(3, lg_pose_of(f, at)->y, arm.y);
    return arm;
}

static lg_stiffness *stiffness(const lg_body *b, const lg_point *at)
{
    return &state_of(b, at)->stiffness;
}

static void open_state(const lg_body *b, const lg_point *at)
{
    const lg_node *node = b->block->node;
    state *s = state_of(b, at);
    s->stiffness.K.has = s->stiffness.D.has = 0;
    node->rotation(at->q + b->block->q, s->R);
    if (!node->attitude || !at->v)
        return;
    const double *rates = at->v + b->block->v + node->attitude_v;
    node->attitude(at->q + b->block->q + node->attitude_q, rates, NULL, &s->attitude);
    lg_mul_columns(node->attitude_n, s->attitude.H, rates, s->omega);
}

/* Velocities of the block are x' (if the node moves) and omega themselves: by far the most bodies. */
static int is_direct(const lg_body *b)
{
    return !b->block->node->attitude && b->block->node->place != LG_PLACE_BODY;
}

static void write_pose(const lg_frame *f, lg_arm *arm, lg_level level, lg_pose *pose)
{
    static const double zero[3];
    set_frame(arm, f);
    lg_copy(3, arm->block->node->place == LG_PLACE_FIXED ? f->base : arm->q, pose->x);
    if (!f->at_node) {
        double RX[3];
        lg_mul3(arm->R, f->offset, RX);
        lg_axpy(3, 1, RX, pose->x);
    }
    pose->R = arm->R;
    pose->omega = arm->omega;
    lg_pose_clear(f, pose);
    if (level < LG_TWISTS)
        return;
    lg_arm_twist(arm, pose->xdot);
    lg_copy(3, arm->y, pose->y);
    if (level < LG_BIASES)
        return;
    lg_arm_bias(arm, pose->xdd);
    pose->omegadot = arm->attitude ? arm->attitude->bias : zero;
}

/* x = x_node + R X,  x' = x_node' + R (omega x X),  x'' = R (omega x (omega x X)) at v' = 0 */
static void write_direct(const lg_frame *f, const double *origin, const double *velocity, lg_level level, lg_pose *pose)
{
    static const double zero[3];
    const double *R = pose->R, *omega = pose->omega;
    double RX[3] = {0, 0, 0}, moved[3];
    if (!f->at_node)
        lg_mul3(R, f->offset, RX);
    for (int i = 0; i < 3; i++)
        pose->x[i] = origin[i] + RX[i];
    if (level < LG_TWISTS)
        return;
    lg_cross(omega, f->offset, pose->y);
    lg_mul3(R, pose->y, moved);
    for (int i = 0; i < 3; i++)
        pose->xdot[i] = velocity[i] + moved[i];
    if (level < LG_BIASES)
        return;
    lg_cross(omega, pose->y, moved);
    lg_mul3(R, moved, pose->xdd);
    pose->omegadot = zero;
}

static void move_direct(const lg_body *b, const lg_point *at, lg_level level, int nframes)
{
    static const double rest[3];
    const lg_node *node = b->block->node;
    const double *q = at->q + b->block->q, *v = at->v ? at->v + b->block->v : NULL;
    int fixed = node->place == LG_PLACE_FIXED;
    state *s = state_of(b, at);
    s->stiffness.K.has = s->stiffness.D.has = 0;
    node->rotation(q, s->R);
    for (const lg_frame *f = b->frames, *end = f + nframes; f < end; f++) {
        lg_pose *pose = lg_pose_of(f, at);
        pose->R = s->R;
        pose->omega = v ? v + node->attitude_v : NULL;
        lg_pose_clear(f, pose);
        write_direct(f, fixed ? f->base : q, fixed ? rest : v, level, pose);
    }
}

static void kinematics(lg_span bodies, const lg_point *at, lg_level level, int all)
{
    for (const lg_body *b = bodies.first; b < bodies.end; b++) {
        if (level == LG_NO_POSES && !b->block->node->attitude)
            continue;
        int n = all ? b->nframes : level == LG_NO_POSES ? 0 : b->nactive;
        if (is_direct(b)) {
            move_direct(b, at, level, n);
            continue;
        }
        open_state(b, at);
        lg_arm arm = open_arm(b, at);
        for (int k = 0; k < n; k++)
            write_pose(&b->frames[k], &arm, level, lg_pose_of(&b->frames[k], at));
    }
}

/* ---- wrenches ---- */

/* out = one sum of wrenches */
static void gather_sum(const lg_body *b, const lg_point *at, int sum, double *out)
{
    lg_arm arm = open_arm(b, at);
    lg_resultant total = {{0}, {0}, {0}};
    for (const lg_frame *f = b->frames, *end = f + b->nactive; f < end; f++)
        if (f->pressed >> sum & 1) {
            set_frame(&arm, f);
            lg_arm_collect(&arm, lg_pose_of(f, at)->wrench[sum], 0, &total);
        }
    lg_zero(b->block->nv, out + b->block->v);
    lg_resultant_pull(&total, &arm, 1, out + b->block->v);
}

static void gather_direct(const lg_body *b, const lg_point *at, int sum, double *out)
{
    const lg_node *node = b->block->node;
    const double *R = state_of(b, at)->R;
    double F[3] = {0, 0, 0}, c[3] = {0, 0, 0};
    for (const lg_frame *f = b->frames, *end = f + b->nactive; f < end; f++) {
        const double *wrench = lg_pose_of(f, at)->wrench[sum];
        if (!(f->pressed >> sum & 1))
            continue;
        lg_axpy(3, 1, wrench, F);
        lg_axpy(3, 1, wrench + 3, c);
        if (!f->at_node) {
            double g[3];
            lg_mulT3(R, wrench, g);
            lg_add_cross(f->offset, g, c);
        }
    }
    if (node->place != LG_PLACE_FIXED)
        lg_copy(3, F, out + b->block->v);
    lg_copy(3, c, out + b->block->v + node->attitude_v);
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

/* How the wrenches turn with the body: on Lie groups a stiffness like any other. */
static void add_geo(const lg_resultant *total, const lg_arm *arm, lg_stiffness *sum, const lg_chain *chain, double *S,
                    int ld)
{
    if (arm->attitude || arm->block->node->place == LG_PLACE_BODY)
        lg_resultant_add_geo(total, arm, 1, chain, S, ld);
    else
        lg_quarters_add(&sum->K, LG_RR, 1, total->G);
}

static void gather_tangent(const lg_body *b, const lg_point *at, const lg_wanted *want)
{
    int ld;
    double *S = lg_body_tangent(b, want, &ld);
    const lg_chain *chain = lg_chain_of(want, b->index);
    lg_arm arm = open_arm(b, at);
    lg_resultant total = {{0}, {0}, {0}};
    collect_residual(b, at, &arm, &total);
    add_geo(&total, &arm, stiffness(b, at), chain, S, ld);
    lg_stiffness_add(stiffness(b, at), &arm, &arm, chain, S, ld);
}

static void gather(lg_span bodies, const lg_point *at, const lg_wanted *want)
{
    double *out[] = {[LG_FORCES] = want->force, [LG_REACTIONS] = want->Btlam};
    for (const lg_body *b = bodies.first; b < bodies.end; b++) {
        for (int sum = 0; sum < 2; sum++)
            if (out[sum])
                (is_direct(b) ? gather_direct : gather_sum)(b, at, sum, out[sum]);
        if (want->S && want->chain)
            gather_tangent(b, at, want);
    }
}

static void pull(const lg_frame *f, const lg_point *at, double s, const double wrench[6], double *out)
{
    lg_arm arm = arm_of(f, at);
    lg_arm_pull(&arm, s, wrench, out);
}

static void pull_rate(const lg_frame *f, const lg_point *at, const double wrench[6], double *row)
{
    lg_arm arm = arm_of(f, at);
    lg_arm_pull_rate(&arm, wrench, row);
}

static void dense_H(const lg_frame *f, const lg_point *at, double *H)
{
    lg_arm arm = arm_of(f, at);
    lg_arm_H(&arm, H);
}

static void dense_Z(const lg_frame *f, const lg_point *at, double *Z)
{
    lg_arm arm = arm_of(f, at);
    lg_arm_Z(&arm, Z);
}

/* ---- inertia ---- */

/* y = A^T c */
static void mul_rates_T(int m, const double *A, const double c[3], double *y)
{
    for (int j = 0; j < m; j++)
        y[j] = lg_dot3(A + 3 * j, c);
}

/* W = omega^ J - (J omega)^, the derivative of omega x J omega; row-major */
static void gyroscopic_matrix(const double J[9], const double omega[3], const double Jomega[3], double W[9])
{
    double hat[9], other[9];
    lg_hat3(omega, hat);
    lg_mul33(hat, J, W);
    lg_hat3(Jomega, other);
    lg_axpy(9, -1, other, W);
}

/* ---- Lie groups: omega is the velocity itself ---- */

static void rotate_lie(const lg_body *body, const lg_point *at, const lg_wanted *want, const lg_chain *chain, double *S,
                       int ld)
{
    const lg_block *b = body->block;
    int r = b->node->attitude_v;
    const double *omega = at->v + b->v + r;
    double J[9], Jomega[3];
    lg_inertia_matrix(body->e.p + INERTIA, J);
    lg_mul3(J, omega, Jomega);

    if (want->Ma)
        lg_mul3(J, at->a + b->v + r, want->Ma + b->v + r);
    if (want->gyro)
        lg_cross(omega, Jomega, want->gyro + b->v + r);
    if (!S)
        return;

    double W[9], C[9];
    if (chain->k[1] == 0) {
        lg_chain_add(b, chain, 2, at->wa, r, 3, r, 3, J, 3, S, ld);
        return;
    }
    gyroscopic_matrix(J, omega, Jomega, W);
    lg_transpose3(W, C);
    if (chain->X[1] == chain->X[2]) {
        // both links turn alike: one product for (wa k2 J + k1 W) X
        lg_chain both = {{0, 1, 0}, {NULL, chain->X[1], NULL}};
        for (int i = 0; i < 9; i++)
            C[i] = chain->k[1] * C[i] + chain->k[2] * at->wa * J[i];
        lg_chain_add(b, &both, 1, 1, r, 3, r, 3, C, 3, S, ld);
        return;
    }
    lg_chain_add(b, chain, 2, at->wa, r, 3, r, 3, J, 3, S, ld);
    lg_chain_add(b, chain, 1, 1, r, 3, r, 3, C, 3, S, ld);
}

/* ---- coordinates: omega = H e' ---- */

/* The sign with which J bias counts. */
static double bias_sign(const lg_block *b, const lg_point *at)
{
    return at->printed && b->node->attitude_n == 4 ? -1 : 1;
}

/* S_rr += H^T C k X at a link of the chain; C is 3 x m */
static void add_generalised(const lg_block *b, const lg_chain *chain, int level, double s, const double *H,
                            const double *C, double *S, int ld)
{
    int r = b->node->attitude_v, m = b->node->attitude_n;
    double A[16];
    for (int j = 0; j < m; j++)
        for (int i = 0; i < m; i++)
            A[i + m * j] = lg_dot3(H + 3 * i, C + 3 * j);
    lg_chain_add(b, chain, level, s, r, m, r, m, A, m, S, ld);
}

/* C (3 x m, column-major) = J A + W B */
static void mul_sum(int m, const double J[9], const double *A, const double W[9], const double *B, double *C)
{
    for (int j = 0; j < m; j++) {
        double WB[3];
        lg_mul3(J, A + 3 * j, C + 3 * j);
        lg_mul3(W, B + 3 * j, WB);
        lg_axpy(3, 1, WB, C + 3 * j);
    }
}

/* d(H^T tau)/d(e, e', e'') with tau = wa J H e'' +- J bias + omega x J omega, which is +- J omega' at +- wa e'' */
static void tangent_coordinates(const lg_body *body, const lg_point *at, const lg_chain *chain, double *S, int ld)
{
    const lg_block *b = body->block;
    int r = b->node->attitude_v, m = b->node->attitude_n;
    const double *q = at->q + b->q + b->node->attitude_q, *v = at->v + b->v + r;
    double acceleration[4] = {0}, J[9], W[9], omega[3], omegadot[3], Jomega[3], tau[3], C[12], G[16];
    double sign = bias_sign(b, at), signed_J[9] = {0};
    lg_attitude attitude;

    // kinematics at +- wa e''
    if (at->a)
        lg_axpy(m, sign * at->wa, at->a + b->v + r, acceleration);
    b->node->attitude(q, v, acceleration, &attitude);
    lg_mul_columns(m, attitude.H, v, omega);
    lg_mul_columns(m, attitude.H, acceleration, omegadot);
    lg_axpy(3, 1, attitude.bias, omegadot);

    // torque and its derivatives
    lg_inertia_matrix(body->e.p + INERTIA, J);
    lg_axpy(9, sign, J, signed_J);
    lg_mul3(J, omega, Jomega);
    lg_mul3(signed_J, omegadot, tau);
    lg_add_cross(omega, Jomega, tau);
    gyroscopic_matrix(J, omega, Jomega, W);

    for (int j = 0; j < m; j++)
        lg_mul3(J, attitude.H + 3 * j, C + 3 * j);
    add_generalised(b, chain, 2, at->wa, attitude.H, C, S, ld);
    mul_sum(m, signed_J, attitude.Av, W, attitude.H, C);
    add_generalised(b, chain, 1, 1, attitude.H, C, S, ld);
    mul_sum(m, signed_J, attitude.Aq, W, attitude.Z, C);
    add_generalised(b, chain, 0, 1, attitude.H, C, S, ld);
    b->node->attitude_geo(q, tau, G);
    lg_chain_add(b, chain, 0, 1, r, m, r, m, G, m, S, ld);
}

static void rotate_coordinates(const lg_body *body, const lg_point *at, const lg_wanted *want, const lg_chain *chain,
                               double *S, int ld)
{
    const lg_block *b = body->block;
    const state *now = state_of(body, at);
    int r = b->node->attitude_v, m = b->node->attitude_n;
    double J[9], tau[3];
    lg_inertia_matrix(body->e.p + INERTIA, J);

    if (want->Ma) {
        double omegadot[3];
        lg_mul_columns(m, now->attitude.H, at->a + b->v + r, omegadot);
        lg_mul3(J, omegadot, tau);
        mul_rates_T(m, now->attitude.H, tau, want->Ma + b->v + r);
    }
    if (want->gyro) {
        double Jomega[3];
        lg_mul3(J, now->omega, Jomega);
        lg_mul3(J, now->attitude.bias, tau);
        for (int i = 0; i < 3; i++)
            tau[i] *= bias_sign(b, at);
        lg_add_cross(now->omega, Jomega, tau);
        mul_rates_T(m, now->attitude.H, tau, want->gyro + b->v + r);
    }
    if (S)
        tangent_coordinates(body, at, chain, S, ld);
}

/* ---- translation ---- */

static void translate(double mass, const lg_block *b, const lg_point *at, const lg_wanted *want, const lg_chain *chain,
                      double *S, int ld)
{
    const double *v = at->v + b->v;
    int body = b->node->place == LG_PLACE_BODY;
    for (int i = 0; want->Ma && i < 3; i++)
        want->Ma[b->v + i] = mass * at->a[b->v + i];
    if (want->gyro)
        lg_zero(3, want->gyro + b->v);
    if (want->gyro && body) {
        double turning[3];
        lg_cross(v + 3, v, turning);
        lg_axpy(3, mass, turning, want->gyro + b->v);
    }
    if (!S)
        return;

    static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    if (!body) {
        for (int i = 0; i < 3; i++)
            S[i + i * ld] += chain->k[2] * at->wa * mass;
    } else {
        lg_chain_add(b, chain, 2, at->wa * mass, 0, 3, 0, 3, identity, 3, S, ld);
        // d(omega x U) = omega^ dU - U^ domega, column-major: the transposed of a hat is its negative
        double hat[9];
        lg_hat3(v + 3, hat);
        lg_chain_add(b, chain, 1, -mass, 0, 3, 0, 3, hat, 3, S, ld);
        lg_hat3(v, hat);
        lg_chain_add(b, chain, 1, mass, 0, 3, 3, 3, hat, 3, S, ld);
    }
}

static void inertia(lg_span bodies, const lg_point *at, const lg_wanted *want)
{
    for (const lg_body *body = bodies.first; body < bodies.end; body++) {
        const lg_node *node = body->block->node;
        const lg_chain *chain = lg_chain_of(want, body->index);
        int ld = 0;
        double *S = want->S ? lg_body_tangent(body, want, &ld) : NULL;
        if (node->place != LG_PLACE_FIXED)
            translate(body->e.p[MASS], body->block, at, want, chain, S, ld);
        if (node->attitude)
            rotate_coordinates(body, at, want, chain, S, ld);
        else
            rotate_lie(body, at, want, chain, S, ld);
    }
}

static double kinetic(const lg_body *body, const lg_point *at)
{
    const lg_block *b = body->block;
    const double *v = at->v + b->v, *omega = open_arm(body, at).omega;
    double J[9], Jomega[3], energy = 0;
    if (b->node->place != LG_PLACE_FIXED)
        energy = body->e.p[MASS] * lg_dot3(v, v) / 2;
    lg_inertia_matrix(body->e.p + INERTIA, J);
    lg_mul3(J, omega, Jomega);
    return energy + lg_dot3(omega, Jomega) / 2;
}

const lg_body_type lg_rigid_body = {
    .info = {.family = "body",
             .name = "rigid_body",
             .doc = "A rigid body with its inertia and gyroscopic torque.",
             .reference = "holzinger2024 (11), (14)",
             .nframes = 1,
             .parameters = parameters,
             .nparameters = 3},
    .constant_mass = 1,
    .check = check,
    .nwork = nwork,
    .kinematics = kinematics,
    .inertia = inertia,
    .gather = gather,
    .kinetic = kinetic,
    .pull = pull,
    .pull_rate = pull_rate,
    .H = dense_H,
    .Z = dense_Z,
    .arm = arm_of,
    .stiffness = stiffness,
};
