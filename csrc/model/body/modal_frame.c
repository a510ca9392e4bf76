/* Frames on a modal body (modal_state.h): part 0 is a point of the floating frame, part k its node k - 1, at X + Phi
   eta and turned by E = cay(psi), psi = Psi eta, which a linear theory of elasticity does not distinguish from
   exp(psi):

       E = 1 + (a^ + a^ a^) 2/s,  a = psi/2,  s = 1 + a.a          E' = E (T psi')^,  T c = (c - a x c)/s
       d(T c)/dpsi d = -(d x c)/(2 s) - (a . d)/s T c

   A rigid frame at the deformed position gives the columns of the body's own velocities. With y = omega x X + flow (+
   U), flow = Phi eta', w = E^T omega and everything else as in arm.h, the additional terms and the columns k of eta are

       twist  = [ x' + R flow ; E^T omega + T Psi eta' ]
       H_k    = [ R Phi_k ; T Psi_k ]
       Z_k    = [ R (omega x Phi_k) ; w x T Psi_k + d(T Psi eta')/deta_k ]
       bias   = [ x'' + R (omega x flow) ; E^T omega' + w x T Psi eta' + d(T Psi eta')/deta eta' ]
       geo    : rows r, columns k  Hr^T (Phi_k x R^T f + E (T Psi_k x m));  rows l, columns r  (Phi_l x R^T f)^T Hr;
                rows l, columns k  m . d(T Psi_l)/deta_k */
#include "model/body/modal_frame.h"

#include "model/body/modal_state.h"

/* a and s of psi; returns s. */
static double half_turn(const double psi[3], double a[3])
{
    for (int i = 0; i < 3; i++)
        a[i] = psi[i] / 2;
    return 1 + lg_dot3(a, a);
}

/* E(psi) */
static void modal_rotation(const double psi[3], double E[9])
{
    double a[3], hat[9], square[9], s = half_turn(psi, a);
    lg_hat3(a, hat);
    lg_mul33(hat, hat, square);
    lg_identity3(E);
    lg_axpy(9, 2 / s, hat, E);
    lg_axpy(9, 2 / s, square, E);
}

/* w = T c, or T^T c with sign -1 */
static void turn_rate(const double psi[3], double sign, const double c[3], double w[3])
{
    double a[3], ac[3], s = half_turn(psi, a);
    lg_cross(a, c, ac);
    for (int i = 0; i < 3; i++)
        w[i] = (c[i] - sign * ac[i]) / s;
}

/* w += d(T c)/dpsi d */
static void add_turn_slope(const double psi[3], const double c[3], const double d[3], double w[3])
{
    double a[3], Tc[3], dc[3], s = half_turn(psi, a);
    turn_rate(psi, 1, c, Tc);
    lg_cross(d, c, dc);
    lg_axpy(3, -0.5 / s, dc, w);
    lg_axpy(3, -lg_dot3(a, d) / s, Tc, w);
}

/* ---- pose, twist, bias ---- */

static int is_zero(int n, const double *x)
{
    for (int i = 0; i < n; i++)
        if (x[i] != 0)
            return 0;
    return 1;
}

static lg_flex *flex_of(const lg_frame *f, const lg_point *at)
{
    const lg_body *b = f->body;
    return (lg_flex *)(void *)(at->work + b->work + LG_MODAL_STATE_SIZE + (size_t)(f - b->frames) * LG_FLEX_SIZE);
}

/* The rigid arm to the deformed position. */
static lg_arm modal_arm_to(const lg_frame *f, const lg_point *at)
{
    lg_flex *x = flex_of(f, at);
    lg_arm arm = lg_modal_arm(f->body, at);
    arm.X = x->X;
    arm.y = x->y;
    return arm;
}

static void open_flex(const lg_frame *f, const lg_point *at, lg_flex *x)
{
    lg_zero(3, x->flow), lg_zero(3, x->psi), lg_zero(3, x->rate);
    lg_copy(3, f->offset, x->X);
    x->n = x->turns = 0;
    if (f->part == 0)
        return;

    const lg_block *b = f->body->block;
    lg_modal m = lg_modal_of(f->body);
    const double *node = m.nodes + (f->part - 1) * lg_modal_node_size(m.n), *eta = at->q + b->q + b->node->nq;
    double moved[3];
    x->n = m.n;
    x->Phi = node + 3;
    x->Psi = x->Phi + 3 * m.n;
    x->turns = !is_zero(3 * m.n, x->Psi);
    lg_mul_columns(m.n, x->Phi, eta, moved);
    for (int i = 0; i < 3; i++)
        x->X[i] = node[i] + moved[i];
    lg_mul_columns(m.n, x->Psi, eta, x->psi);
    if (x->turns)
        modal_rotation(x->psi, x->E);
    const double *etadot = at->v + b->v + b->node->nv;
    lg_mul_columns(m.n, x->Phi, etadot, x->flow);
    lg_mul_columns(m.n, x->Psi, etadot, x->rate);
}

/* Turns a vector from floating axes to those of the node. */
static void to_node(const lg_flex *x, const double c[3], double out[3])
{
    if (x->turns)
        lg_mulT3(x->E, c, out);
    else
        lg_copy(3, c, out);
}

static void write_twist(lg_arm *arm, lg_flex *x, lg_pose *pose)
{
    double moving[3], turning[3];
    arm->y = x->y;
    lg_arm_twist(arm, pose->xdot);
    lg_mul3(arm->R, x->flow, moving);
    lg_axpy(3, 1, moving, pose->xdot);
    lg_axpy(3, 1, x->flow, x->y);
    to_node(x, arm->omega, x->omega);
    turn_rate(x->psi, 1, x->rate, turning);
    lg_axpy(3, 1, turning, x->omega);
}

static void write_bias(const lg_arm *arm, lg_flex *x, lg_pose *pose)
{
    double coriolis[3], moved[3], w[3], turning[3];
    lg_arm_bias(arm, pose->xdd);
    lg_cross(arm->omega, x->flow, coriolis);
    lg_mul3(arm->R, coriolis, moved);
    lg_axpy(3, 1, moved, pose->xdd);

    lg_zero(3, x->omegadot);
    if (arm->attitude)
        to_node(x, arm->attitude->bias, x->omegadot);
    to_node(x, arm->omega, w);
    turn_rate(x->psi, 1, x->rate, turning);
    lg_add_cross(w, turning, x->omegadot);
    add_turn_slope(x->psi, x->rate, x->rate, x->omegadot);
}

void lg_modal_pose(const lg_frame *f, const lg_point *at, lg_level level)
{
    lg_flex *x = flex_of(f, at);
    lg_pose *pose = lg_pose_of(f, at);
    open_flex(f, at, x);
    lg_arm arm = modal_arm_to(f, at);
    pose->origin = arm.q;
    lg_mul3(arm.R, x->X, pose->arm);
    if (x->turns)
        lg_mul33(arm.R, x->E, x->R);
    pose->R = x->turns ? x->R : arm.R;
    pose->omega = x->omega;
    pose->omegadot = x->omegadot;
    lg_pose_clear(f, pose);
    if (level >= LG_TWISTS)
        write_twist(&arm, x, pose);
    if (level >= LG_BIASES)
        write_bias(&arm, x, pose);
}

/* ---- wrenches ---- */

/* The wrench as it acts on the rigid arm, with the moment in floating axes. */
static void on_arm(const lg_flex *x, const double wrench[6], double out[6])
{
    lg_copy(6, wrench, out);
    if (x->turns)
        lg_mul3(x->E, wrench + 3, out + 3);
}

void lg_modal_collect(const lg_frame *f, const lg_point *at, const double wrench[6], int geo, lg_resultant *sum)
{
    lg_arm arm = modal_arm_to(f, at);
    double w[6];
    on_arm(flex_of(f, at), wrench, w);
    lg_arm_collect(&arm, w, geo, sum);
}

void lg_modal_bend(const lg_frame *f, const lg_point *at, double s, const double wrench[6], double *force)
{
    const lg_flex *x = flex_of(f, at);
    double g[3], c[3];
    lg_mulT3(lg_modal_state_of(f->body, at)->R, wrench, g);
    turn_rate(x->psi, -1, wrench + 3, c);
    for (int k = 0; k < x->n; k++)
        force[f->body->block->node->nv + k] += s * (lg_dot3(x->Phi + 3 * k, g) + lg_dot3(x->Psi + 3 * k, c));
}

void lg_modal_pull(const lg_frame *f, const lg_point *at, double s, const double wrench[6], double *out)
{
    lg_arm arm = modal_arm_to(f, at);
    lg_resultant sum = {{0}, {0}, {0}};
    lg_modal_collect(f, at, wrench, 0, &sum);
    lg_resultant_pull(&sum, &arm, s, out);
    lg_modal_bend(f, at, s, wrench, out);
}

/* z = Z_k, the upper half in floating axes, the lower half in those of the node */
static void eta_rate(const lg_flex *x, const double omega[3], int k, const double w[3], double z[6])
{
    const double *Psi = x->Psi + 3 * k;
    double TPsi[3];
    lg_cross(omega, x->Phi + 3 * k, z);
    turn_rate(x->psi, 1, Psi, TPsi);
    lg_cross(w, TPsi, z + 3);
    add_turn_slope(x->psi, x->rate, Psi, z + 3);
}

void lg_modal_pull_rate(const lg_frame *f, const lg_point *at, const double wrench[6], double *row)
{
    const lg_flex *x = flex_of(f, at);
    lg_arm arm = modal_arm_to(f, at);
    double w[6], g[3], omega[3], z[6];
    on_arm(x, wrench, w);
    lg_arm_pull_rate(&arm, w, row);
    lg_mulT3(arm.R, wrench, g);
    to_node(x, arm.omega, omega);
    for (int k = 0; k < x->n; k++) {
        eta_rate(x, arm.omega, k, omega, z);
        row[arm.block->node->nv + k] += lg_dot3(g, z) + lg_dot3(wrench + 3, z + 3);
    }
}

/* ---- dense derivatives ---- */

/* Turns the angular parts of the rigid arm's columns from floating axes to those of the node. */
static void turn_columns(const lg_flex *x, const lg_node *node, double *A)
{
    for (int j = node->attitude_v; x->turns && j < node->attitude_v + node->attitude_n; j++) {
        double c[3];
        lg_copy(3, A + 6 * j + 3, c);
        lg_mulT3(x->E, c, A + 6 * j + 3);
    }
}

void lg_modal_H(const lg_frame *f, const lg_point *at, double *H)
{
    const lg_flex *x = flex_of(f, at);
    lg_arm arm = modal_arm_to(f, at);
    lg_arm_H(&arm, H);
    turn_columns(x, arm.block->node, H);
    for (int k = 0; k < x->n; k++) {
        double *column = H + 6 * (arm.block->node->nv + k);
        lg_mul3(arm.R, x->Phi + 3 * k, column);
        turn_rate(x->psi, 1, x->Psi + 3 * k, column + 3);
    }
}

void lg_modal_Z(const lg_frame *f, const lg_point *at, double *Z)
{
    const lg_flex *x = flex_of(f, at);
    lg_arm arm = modal_arm_to(f, at);
    double omega[3], z[6];
    lg_arm_Z(&arm, Z);
    turn_columns(x, arm.block->node, Z);
    to_node(x, arm.omega, omega);
    for (int k = 0; k < x->n; k++) {
        double *column = Z + 6 * (arm.block->node->nv + k);
        eta_rate(x, arm.omega, k, omega, z);
        lg_mul3(arm.R, z, column);
        lg_copy(3, z + 3, column + 3);
    }
}

/* out = Hr^T c */
static void to_rates(const lg_arm *arm, const double c[3], double *out)
{
    for (int j = 0; j < arm->block->node->attitude_n; j++)
        out[j] = arm->attitude ? lg_dot3(arm->attitude->H + 3 * j, c) : c[j];
}

/* Adds the part in the rows and columns of eta alone. */
static void add_bend_geo(const lg_flex *x, int tail, double s, const double moment[3], double *S, int ld)
{
    for (int k = 0; k < x->n; k++)
        for (int l = 0; l < x->n; l++) {
            double slope[3] = {0, 0, 0};
            add_turn_slope(x->psi, x->Psi + 3 * l, x->Psi + 3 * k, slope);
            S[tail + l + (tail + k) * ld] += s * lg_dot3(moment, slope);
        }
}

void lg_modal_add_geo(const lg_frame *f, const lg_point *at, double s, const double wrench[6], const lg_chain *chain,
                      double *S, int ld)
{
    const lg_flex *x = flex_of(f, at);
    if (chain->k[0] == 0)
        return;
    lg_arm arm = modal_arm_to(f, at);
    const lg_node *node = arm.block->node;
    int r = node->attitude_v, m = node->attitude_n;
    double g[3];
    lg_mulT3(arm.R, wrench, g);
    for (int k = 0; k < x->n; k++) {
        double c[3], TPsi[3], turned[3], column[4];
        lg_cross(x->Phi + 3 * k, g, c);
        to_rates(&arm, c, column);
        lg_chain_add(arm.block, chain, 0, s, node->nv + k, 1, r, m, column, 1, S, ld);
        if (x->turns) {
            turn_rate(x->psi, 1, x->Psi + 3 * k, TPsi);
            lg_cross(TPsi, wrench + 3, turned);
            lg_mul3(x->E, turned, TPsi);
            lg_axpy(3, 1, TPsi, c);
            to_rates(&arm, c, column);
        }
        lg_chain_add(arm.block, chain, 0, s, r, m, node->nv + k, 1, column, m, S, ld);
    }
    if (x->turns)
        add_bend_geo(x, node->nv, s * chain->k[0], wrench + 3, S, ld);
}
