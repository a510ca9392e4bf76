/* Frames on a modal body (modal.h): part 0 is a point of the floating frame, part k its node k - 1, at X + Phi eta and
   turned by E = cay(psi), psi = Psi eta, which a linear theory of elasticity does not tell from exp(psi):

       E = 1 + (a^ + a^ a^) 2/s,  a = psi/2,  s = 1 + a.a          E' = E (T psi')^,  T c = (c - a x c)/s
       d(T c)/dpsi d = -(d x c)/(2 s) - (a . d)/s T c

   A rigid frame at the deformed place gives the columns of the body's own velocities. With y = omega x X + flow (+ U),
   flow = Phi eta', w = E^T omega and all else as in frame.h, what comes to these, and the columns k of eta, are

       twist  = [ x' + R flow ; E^T omega + T Psi eta' ]
       H_k    = [ R Phi_k ; T Psi_k ]
       Z_k    = [ R (omega x Phi_k) ; w x T Psi_k + d(T Psi eta')/deta_k ]
       bias   = [ x'' + R (omega x flow) ; E^T omega' + w x T Psi eta' + d(T Psi eta')/deta eta' ]
       geo    : rows r, columns k  Hr^T (Phi_k x R^T f + E (T Psi_k x m));  rows l, columns r  (Phi_l x R^T f)^T Hr;
                rows l, columns k  m . d(T Psi_l)/deta_k */
#include "model/modal.h"

/* c = A e, A being 3 x n column-major */
static void mul_modes(int n, const double *A, const double *e, double c[3])
{
    lg_zero(3, c);
    for (int j = 0; j < n; j++)
        lg_axpy(3, e[j], A + 3 * j, c);
}

/* (a, s) of psi */
static double half(const double psi[3], double a[3])
{
    for (int i = 0; i < 3; i++)
        a[i] = psi[i] / 2;
    return 1 + lg_dot3(a, a);
}

/* E(psi) */
static void cayley(const double psi[3], double E[9])
{
    double a[3], hat[9], square[9], s = half(psi, a);
    lg_hat3(a, hat);
    lg_mul33(hat, hat, square);
    lg_identity3(E);
    lg_axpy(9, 2 / s, hat, E);
    lg_axpy(9, 2 / s, square, E);
}

/* w = T c, or T^T c with sign -1 */
static void turn_rate(const double psi[3], double sign, const double c[3], double w[3])
{
    double a[3], ac[3], s = half(psi, a);
    lg_cross(a, c, ac);
    for (int i = 0; i < 3; i++)
        w[i] = (c[i] - sign * ac[i]) / s;
}

/* w += d(T c)/dpsi d */
static void add_turn_slope(const double psi[3], const double c[3], const double d[3], double w[3])
{
    double a[3], Tc[3], dc[3], s = half(psi, a);
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

static void open_flex(lg_frame *f)
{
    lg_flex *x = &f->flex;
    *x = (lg_flex){.n = 0};
    lg_copy(3, f->at->offset, x->X);
    if (f->at->part == 0)
        return;

    lg_modal m = lg_modal_of(f->at->carrier);
    const double *node = m.nodes + (f->at->part - 1) * lg_modal_node_size(m.n), *eta = f->q + f->node->nq;
    double moved[3];
    x->n = m.n;
    x->Phi = node + 3;
    x->Psi = x->Phi + 3 * m.n;
    x->turns = !is_zero(3 * m.n, x->Psi);
    mul_modes(m.n, x->Phi, eta, moved);
    for (int i = 0; i < 3; i++)
        x->X[i] = node[i] + moved[i];
    mul_modes(m.n, x->Psi, eta, x->psi);
    if (x->turns)
        cayley(x->psi, x->E);
    if (!f->v)
        return;
    mul_modes(m.n, x->Phi, f->v + f->node->nv, x->flow);
    mul_modes(m.n, x->Psi, f->v + f->node->nv, x->rate);
}

static void open(lg_frame *f, const lg_point *point)
{
    lg_rigid_frame.open(f, point);
    f->scratch = point->work;
    open_flex(f);
    f->offset = f->flex.X;
    f->at_node = 0;
}

/* The rigid frame at the deformed place, with the axes and angular velocity of the floating frame. Its offset points
   into f, which outlives the copy. */
static lg_frame rigid_of(const lg_frame *f)
{
    lg_frame rigid = *f;
    lg_copy(9, f->flex.R, rigid.R);
    lg_copy(3, f->flex.omega, rigid.omega);
    return rigid;
}

static void pose(lg_frame *f)
{
    lg_rigid_frame.pose(f);
    lg_copy(9, f->R, f->flex.R);
    if (f->flex.turns)
        lg_mul33(f->flex.R, f->flex.E, f->R);
}

/* w, from floating axes to those of the node */
static void to_node(const lg_frame *f, const double x[3], double w[3])
{
    if (f->flex.turns)
        lg_mulT3(f->flex.E, x, w);
    else
        lg_copy(3, x, w);
}

static void twist(lg_frame *f)
{
    lg_flex *x = &f->flex;
    lg_frame rigid = rigid_of(f);
    double moving[3], turning[3];
    lg_rigid_frame.twist(&rigid);
    lg_mul3(x->R, x->flow, moving);
    for (int i = 0; i < 3; i++) {
        f->y[i] = rigid.y[i] + x->flow[i];
        f->xdot[i] = rigid.xdot[i] + moving[i];
    }
    lg_copy(3, rigid.omega, x->omega);
    to_node(f, x->omega, f->omega);
    turn_rate(x->psi, 1, x->rate, turning);
    lg_axpy(3, 1, turning, f->omega);
}

static void bias(lg_frame *f)
{
    const lg_flex *x = &f->flex;
    lg_frame rigid = rigid_of(f);
    double coriolis[3], w[3], turning[3];
    lg_rigid_frame.bias(&rigid);
    lg_cross(x->omega, x->flow, coriolis);
    lg_mul3(x->R, coriolis, f->xdd);
    lg_axpy(3, 1, rigid.xdd, f->xdd);

    to_node(f, rigid.omegadot, f->omegadot);
    to_node(f, x->omega, w);
    turn_rate(x->psi, 1, x->rate, turning);
    lg_add_cross(w, turning, f->omegadot);
    add_turn_slope(x->psi, x->rate, x->rate, f->omegadot);
}

/* ---- wrenches ---- */

/* The wrench as one on the rigid frame: the moment in floating axes. */
static void on_rigid(const lg_frame *f, const double wrench[6], double out[6])
{
    lg_copy(6, wrench, out);
    if (f->flex.turns)
        lg_mul3(f->flex.E, wrench + 3, out + 3);
}

static void pull(const lg_frame *f, double s, const double wrench[6], double *force)
{
    const lg_flex *x = &f->flex;
    lg_frame rigid = rigid_of(f);
    double w[6], g[3], c[3];
    on_rigid(f, wrench, w);
    lg_rigid_frame.pull(&rigid, s, w, force);
    lg_mulT3(x->R, wrench, g);
    turn_rate(x->psi, -1, wrench + 3, c);
    for (int k = 0; k < x->n; k++)
        force[f->node->nv + k] += s * (lg_dot3(x->Phi + 3 * k, g) + lg_dot3(x->Psi + 3 * k, c));
}

static void press(const lg_frame *f, int sum, double s, const double wrench[6], double *force)
{
    (void)sum;
    pull(f, s, wrench, force);
}

/* z = Z_k, in floating axes above and in those of the node below */
static void eta_rate(const lg_frame *f, int k, const double w[3], double z[6])
{
    const lg_flex *x = &f->flex;
    const double *Psi = x->Psi + 3 * k;
    double TPsi[3];
    lg_cross(x->omega, x->Phi + 3 * k, z);
    turn_rate(x->psi, 1, Psi, TPsi);
    lg_cross(w, TPsi, z + 3);
    add_turn_slope(x->psi, x->rate, Psi, z + 3);
}

static void pull_rate(const lg_frame *f, const double wrench[6], double *row)
{
    const lg_flex *x = &f->flex;
    lg_frame rigid = rigid_of(f);
    double w[6], g[3], omega[3], z[6];
    on_rigid(f, wrench, w);
    lg_rigid_frame.pull_rate(&rigid, w, row);
    lg_mulT3(x->R, wrench, g);
    to_node(f, x->omega, omega);
    for (int k = 0; k < x->n; k++) {
        eta_rate(f, k, omega, z);
        row[f->node->nv + k] += lg_dot3(g, z) + lg_dot3(wrench + 3, z + 3);
    }
}

/* ---- dense derivatives ---- */

/* Angular parts of the columns of the rigid frame, from floating axes to those of the node. */
static void turn_columns(const lg_frame *f, double *A)
{
    for (int j = f->r; f->flex.turns && j < f->r + f->m; j++) {
        double c[3];
        lg_copy(3, A + 6 * j + 3, c);
        lg_mulT3(f->flex.E, c, A + 6 * j + 3);
    }
}

static void dense_H(const lg_frame *f, double *H)
{
    const lg_flex *x = &f->flex;
    lg_frame rigid = rigid_of(f);
    lg_rigid_frame.H(&rigid, H);
    turn_columns(f, H);
    for (int k = 0; k < x->n; k++) {
        double *column = H + 6 * (f->node->nv + k);
        lg_mul3(x->R, x->Phi + 3 * k, column);
        turn_rate(x->psi, 1, x->Psi + 3 * k, column + 3);
    }
}

static void dense_Z(const lg_frame *f, double *Z)
{
    const lg_flex *x = &f->flex;
    lg_frame rigid = rigid_of(f);
    double omega[3], z[6];
    lg_rigid_frame.Z(&rigid, Z);
    turn_columns(f, Z);
    to_node(f, x->omega, omega);
    for (int k = 0; k < x->n; k++) {
        double *column = Z + 6 * (f->node->nv + k);
        eta_rate(f, k, omega, z);
        lg_mul3(x->R, z, column);
        lg_copy(3, z + 3, column + 3);
    }
}

/* out = Hr^T c; m values */
static void to_rates(const lg_frame *f, const double c[3], double *out)
{
    for (int j = 0; j < f->m; j++)
        out[j] = f->node->attitude ? lg_dot3(f->attitude.H + 3 * j, c) : c[j];
}

/* Rows and columns of eta alone. */
static void add_bend_geo(const lg_frame *f, double s, const double moment[3], const lg_chain *chain, double *S, int ld)
{
    const lg_flex *x = &f->flex;
    int tail = f->node->nv;
    for (int k = 0; k < x->n; k++)
        for (int l = 0; l < x->n; l++) {
            double slope[3] = {0, 0, 0};
            add_turn_slope(x->psi, x->Psi + 3 * l, x->Psi + 3 * k, slope);
            S[tail + l + (tail + k) * ld] += s * chain->k[0] * lg_dot3(moment, slope);
        }
}

static void add_geo(const lg_frame *f, double s, const double wrench[6], const lg_chain *chain, double *S, int ld)
{
    const lg_flex *x = &f->flex;
    if (chain->k[0] == 0)
        return;
    lg_frame rigid = rigid_of(f);
    double w[6], g[3];
    on_rigid(f, wrench, w);
    lg_rigid_frame.add_geo(&rigid, s, w, chain, S, ld);

    lg_mulT3(x->R, wrench, g);
    for (int k = 0; k < x->n; k++) {
        double c[3], TPsi[3], turned[3], column[4];
        lg_cross(x->Phi + 3 * k, g, c);
        to_rates(f, c, column);
        lg_chain_add(f->block, chain, 0, s, f->node->nv + k, 1, f->r, f->m, column, 1, S, ld);
        if (x->turns) {
            turn_rate(x->psi, 1, x->Psi + 3 * k, TPsi);
            lg_cross(TPsi, wrench + 3, turned);
            lg_mul3(x->E, turned, TPsi);
            lg_axpy(3, 1, TPsi, c);
            to_rates(f, c, column);
        }
        lg_chain_add(f->block, chain, 0, s, f->r, f->m, f->node->nv + k, 1, column, f->m, S, ld);
    }
    if (x->turns)
        add_bend_geo(f, s, wrench + 3, chain, S, ld);
}

const lg_frame_kind lg_modal_frame = {
    .open = open,
    .pose = pose,
    .twist = twist,
    .bias = bias,
    .pull = pull,
    .press = press,
    .pull_rate = pull_rate,
    .H = dense_H,
    .Z = dense_Z,
    .add_geo = add_geo,
};
