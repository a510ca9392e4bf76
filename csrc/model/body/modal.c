/* Inertia and elasticity of a flexible body in modal coordinates (modal.h): floating frame of reference, linear
   elasticity, every inertia term exact. Sums over particles are formed beforehand, so that the work depends only on the
   number of modes. Shabana, Dynamics of Multibody Systems, 2020, Ch. 5; Zwoelfer, Gerstmayr, Acta Mech. 232, 2021.

   In floating axes, with r = X + Phi eta, the acceleration A = R^T x'' of the frame's origin, its angular velocity w:
       s = sum m r,  J = tr(P) 1 - P  with  P = sum m r r^T,  Q_l = sum m r Phi_l^T,  c_l = sum m r x Phi_l = ax(Q_l)
       P_kl = sum m Phi_k Phi_l^T,  S_l = sum m Phi_l,  Q = sum_l Q_l eta_l'
   and the residual is F = M (A, w', eta'') + h, with eta'' . (S_l, c_l, tr P_kl) in the last columns of M and
       h_t = w x (w x s) + 2 w x S eta'                        M = [ m 1, -s^, S ; s^, J, C ; S^T, C^T, tr P_kl ]
       h_r = w x J w + 2 (tr(Q) w - Q^T w)
       h_l = w . Q_l w - w.w tr(Q_l) + 2 w . sum_k ax(P_kl) eta_k'
   Derivatives: dQ_l/deta_k = P_kl, ds/deta_k = S_k, dP/deta_k = Q_k + Q_k^T. The velocities of the block see F through
   A = R^T x'' or U' + w x U, and w = Hr e'. The elastic force is -K eta - D eta'. */
#include "model/body/modal.h"

static const lg_parameter parameters[] = {
    {"mass", "kg", "mass", 1},
    {"first", "kg m", "first moment, sum m X", 3},
    {"second", "kg m^2", "second moment, sum m X X^T", 9},
    {"data", "SI",
     "per mode sum m Phi; per mode sum m X Phi^T; per pair of modes sum m Phi Phi^T; stiffness; damping; nodes", -1},
};

/* One mode. */
static const double example[] = {
    3,   0.2, -0.1, 0.3, /* mass, first moment */
    1.2, 0.1, 0.2,  0.1,  1.5, -0.1, 0.2, -0.1, 1.8, /* second moment */
    0.3, 0.1, -0.2, /* sum m Phi */
    0.2, 0.1, 0.3,  -0.1, 0.4, 0.1,  0.2, 0.1,  -0.3, /* sum m X Phi^T */
    0.6, 0.1, 0,    0.1,  0.7, 0.1,  0,   0.1,  0.8, /* sum m Phi Phi^T */
    20,  0.4, /* stiffness, damping */
};

/* The data of one pass, which the functions below read. */
typedef struct body {
    lg_modal m;
    const lg_block *block;
    lg_modal_state *now;
    double *Q, *c, *F, *column, *bending; /* 9 n, 3 n, 6 + n, nv, n */
    const double *eta, *etadot;
} body;

static body body_of(const lg_body *self, const lg_point *at)
{
    const lg_block *b = self->block;
    body out = {.m = lg_modal_of(self), .block = b, .now = lg_modal_state_of(self, at)};
    out.Q = at->work + self->work + LG_MODAL_STATE_SIZE + (size_t)self->nframes * LG_FLEX_SIZE;
    out.c = out.Q + 9 * out.m.n;
    out.F = out.c + 3 * out.m.n;
    out.column = out.F + 6 + out.m.n;
    out.bending = out.column + b->nv;
    out.eta = at->q + b->q + b->node->nq;
    out.etadot = at->v + b->v + b->node->nv;
    return out;
}

static size_t nwork(const lg_body *b)
{
    size_t frames = (size_t)b->nframes * LG_FLEX_SIZE, n = (size_t)b->block->n;
    return LG_MODAL_STATE_SIZE + frames + 14 * n + 6 + (size_t)b->block->nv;
}

static int parts(const lg_body *b)
{
    return 1 + lg_modal_of(b).nnodes;
}

static lg_status check(const lg_body *b, const char **reason)
{
    *reason = NULL;
    int n = b->block ? b->block->n : 0;
    if (n < 1 || b->block->node->place == LG_PLACE_NO_BODY || b->block->node->place == LG_PLACE_FIXED) {
        *reason = "a modal body needs a free rigid block with modes";
        return LG_BAD_ARGUMENT;
    }
    int rest = b->e.np - LG_MODAL_FIXED - 12 * n - 11 * n * n;
    if (rest < 0 || rest % lg_modal_node_size(n))
        *reason = "the length of the data does not fit the number of modes";
    else if (!(b->e.p[0] > 0))
        *reason = "the mass must be positive";
    return *reason ? LG_BAD_ARGUMENT : LG_OK;
}

/* ---- 3 x 3 ---- */

static double trace(const double A[9])
{
    return A[0] + A[4] + A[8];
}

/* sum a x b of A = sum a b^T */
static void axial(const double A[9], double c[3])
{
    c[0] = A[5] - A[7], c[1] = A[6] - A[2], c[2] = A[1] - A[3];
}

/* B = tr(D) 1 - D of D = A + A^T */
static void inertia_of(const double A[9], double B[9])
{
    double t = 2 * trace(A);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            B[3 * i + j] = (i == j ? t : 0) - A[3 * i + j] - A[3 * j + i];
}

/* out += 2 (tr(A) w - A^T w) */
static void add_coriolis(const double A[9], const double w[3], double out[3])
{
    double Aw[3];
    lg_mulT3(A, w, Aw);
    lg_axpy(3, 2 * trace(A), w, out);
    lg_axpy(3, -2, Aw, out);
}

/* u . A w - u.w tr(A) */
static double centrifugal(const double A[9], const double u[3], const double w[3])
{
    double Aw[3];
    lg_mul3(A, w, Aw);
    return lg_dot3(u, Aw) - lg_dot3(u, w) * trace(A);
}

static const double *product(const body *y, int k, int l)
{
    return y->m.products + 9 * (k * y->m.n + l);
}

/* ---- kinematics ---- */

static void set_moments(const body *y)
{
    lg_modal_state *now = y->now;
    int n = y->m.n;
    lg_copy(3, y->m.first, now->s);
    lg_copy(9, y->m.second, now->P);
    lg_zero(3, now->flow);
    lg_zero(9, now->Q);
    for (int l = 0; l < n; l++) {
        double *Q = y->Q + 9 * l;
        lg_copy(9, y->m.mixed + 9 * l, Q);
        for (int k = 0; k < n; k++)
            lg_axpy(9, y->eta[k], product(y, k, l), Q);
        axial(Q, y->c + 3 * l);
        lg_axpy(3, y->eta[l], y->m.shapes + 3 * l, now->s);
        lg_axpy(3, y->etadot[l], y->m.shapes + 3 * l, now->flow);
        lg_axpy(9, y->etadot[l], Q, now->Q);
        // P = P_0 + sum eta (mixed^T + Q), the second half of the linear terms being inside Q
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                now->P[3 * i + j] += y->eta[l] * (y->m.mixed[9 * l + 3 * j + i] + Q[3 * i + j]);
    }
    double t = trace(now->P);
    for (int i = 0; i < 9; i++)
        now->J[i] = (i % 4 == 0 ? t : 0) - now->P[i];
}

static void open_state(const lg_body *b, const lg_point *at)
{
    body y = body_of(b, at);
    const lg_node *node = y.block->node;
    const double *q = at->q + y.block->q, *v = at->v + y.block->v, *rates = v + node->attitude_v;
    node->rotation(q, y.now->R);
    if (node->attitude) {
        node->attitude(q + node->attitude_q, rates, NULL, &y.now->attitude);
        lg_mul_columns(node->attitude_n, y.now->attitude.H, rates, y.now->omega);
    } else {
        lg_copy(3, rates, y.now->omega);
    }
    lg_zero(3, y.now->U);
    if (node->place == LG_PLACE_BODY)
        lg_copy(3, v, y.now->U);
    set_moments(&y);
}

lg_arm lg_modal_arm(const lg_body *b, const lg_point *at)
{
    const lg_modal_state *now = lg_modal_state_of(b, at);
    return (lg_arm){.block = b->block,
                    .q = at->q + b->block->q,
                    .v = at->v + b->block->v,
                    .R = now->R,
                    .omega = now->omega,
                    .attitude = b->block->node->attitude ? &now->attitude : NULL};
}

static void kinematics(lg_span bodies, const lg_point *at, lg_level level, int all)
{
    for (const lg_body *b = bodies.first; b < bodies.end; b++) {
        open_state(b, at);
        int n = all ? b->nframes : level == LG_NO_POSES ? 0 : b->nactive;
        for (int k = 0; k < n; k++)
            lg_modal_pose(&b->frames[k], at, level);
    }
}

/* ---- F and its derivatives, in floating axes; F is stored as (3, 3, n) ---- */

/* F += M (A, w', eta''); bending NULL: eta'' = 0 */
static void add_mass(const body *y, const double A[3], const double turn[3], const double *bending, double *F)
{
    const lg_modal_state *now = y->now;
    double Jw[3];
    lg_axpy(3, y->m.mass, A, F);
    lg_add_cross(turn, now->s, F);
    lg_mul3(now->J, turn, Jw);
    lg_axpy(3, 1, Jw, F + 3);
    lg_add_cross(now->s, A, F + 3);
    for (int l = 0; l < y->m.n; l++) {
        const double *S = y->m.shapes + 3 * l, *c = y->c + 3 * l;
        F[6 + l] += lg_dot3(S, A) + lg_dot3(c, turn);
        if (!bending || bending[l] == 0)
            continue;
        lg_axpy(3, bending[l], S, F);
        lg_axpy(3, bending[l], c, F + 3);
        for (int k = 0; k < y->m.n; k++)
            F[6 + k] += bending[l] * trace(product(y, k, l));
    }
}

/* F += h */
static void add_gyroscopic(const body *y, double *F)
{
    const lg_modal_state *now = y->now;
    const double *w = now->omega;
    double u[3], Jw[3];
    lg_cross(w, now->s, u);
    lg_axpy(3, 2, now->flow, u);
    lg_add_cross(w, u, F);
    lg_mul3(now->J, w, Jw);
    lg_add_cross(w, Jw, F + 3);
    add_coriolis(now->Q, w, F + 3);
    for (int l = 0; l < y->m.n; l++) {
        F[6 + l] += centrifugal(y->Q + 9 * l, w, w);
        for (int k = 0; k < y->m.n; k++) {
            double a[3];
            axial(product(y, k, l), a);
            F[6 + l] += 2 * y->etadot[k] * lg_dot3(w, a);
        }
    }
}

/* F += dh/dw d */
static void add_turn_slope(const body *y, const double d[3], double *F)
{
    const lg_modal_state *now = y->now;
    const double *w = now->omega;
    double u[3], Jw[3];
    lg_cross(w, now->s, u);
    lg_axpy(3, 2, now->flow, u);
    lg_add_cross(d, u, F);
    lg_cross(d, now->s, u);
    lg_add_cross(w, u, F);

    lg_mul3(now->J, w, Jw);
    lg_add_cross(d, Jw, F + 3);
    lg_mul3(now->J, d, Jw);
    lg_add_cross(w, Jw, F + 3);
    add_coriolis(now->Q, d, F + 3);
    for (int l = 0; l < y->m.n; l++) {
        F[6 + l] += centrifugal(y->Q + 9 * l, d, w) + centrifugal(y->Q + 9 * l, w, d);
        for (int k = 0; k < y->m.n; k++) {
            double a[3];
            axial(product(y, k, l), a);
            F[6 + l] += 2 * y->etadot[k] * lg_dot3(d, a);
        }
    }
}

/* F += dh/deta_k' */
static void add_flow_slope(const body *y, int k, double *F)
{
    const double *w = y->now->omega;
    double u[3];
    lg_cross(w, y->m.shapes + 3 * k, u);
    lg_axpy(3, 2, u, F);
    add_coriolis(y->Q + 9 * k, w, F + 3);
    for (int l = 0; l < y->m.n; l++) {
        double a[3];
        axial(product(y, k, l), a);
        F[6 + l] += 2 * lg_dot3(w, a);
    }
}

/* F += d(M (A, w', eta'') + h)/deta_k */
static void add_bend_slope(const body *y, int k, const double A[3], const double turn[3], double *F)
{
    const double *w = y->now->omega, *S = y->m.shapes + 3 * k;
    double u[3], J[9], V[9] = {0};
    lg_add_cross(turn, S, F);
    lg_cross(w, S, u);
    lg_add_cross(w, u, F);

    lg_add_cross(S, A, F + 3);
    inertia_of(y->Q + 9 * k, J);
    lg_mul3(J, turn, u);
    lg_axpy(3, 1, u, F + 3);
    lg_mul3(J, w, u);
    lg_add_cross(w, u, F + 3);

    for (int l = 0; l < y->m.n; l++) {
        const double *P = product(y, k, l);
        double a[3];
        axial(P, a);
        lg_axpy(9, y->etadot[l], P, V);
        lg_axpy(3, y->bending[l], a, F + 3);
        F[6 + l] += lg_dot3(a, turn) + centrifugal(P, w, w);
    }
    add_coriolis(V, w, F + 3);
}

/* ---- the block's velocities ---- */

/* out (nv) += F */
static void project(const body *y, const double *F, double *out)
{
    const lg_node *node = y->block->node;
    double Ft[3];
    if (node->place == LG_PLACE_INERTIAL)
        lg_mul3(y->now->R, F, Ft);
    else
        lg_copy(3, F, Ft);
    lg_axpy(3, 1, Ft, out);
    for (int j = 0; j < node->attitude_n; j++)
        out[node->attitude_v + j] += node->attitude ? lg_dot3(y->now->attitude.H + 3 * j, F + 3) : F[3 + j];
    lg_axpy(y->m.n, 1, F + 6, out + node->nv);
}

/* A = R^T x or x and turn = Hr e, for x and e in the block's velocities or accelerations: the first parts of the vector
   that M multiplies. */
static void to_floating_axes(const body *y, double s, const double *a, double A[3], double turn[3])
{
    const lg_node *node = y->block->node;
    lg_zero(3, A), lg_zero(3, turn);
    if (!a)
        return;
    if (node->place == LG_PLACE_INERTIAL)
        lg_mulT3(y->now->R, a, A);
    else
        lg_copy(3, a, A);
    for (int i = 0; i < 3; i++)
        A[i] *= s;
    for (int j = 0; j < node->attitude_n; j++) {
        if (node->attitude)
            lg_axpy(3, s * a[node->attitude_v + j], y->now->attitude.H + 3 * j, turn);
        else
            turn[j] = s * a[node->attitude_v + j];
    }
}

/* Adds the values of A and w' at zero accelerations. */
static void add_bias(const body *y, double A[3], double turn[3])
{
    lg_add_cross(y->now->omega, y->now->U, A);
    if (y->block->node->attitude)
        lg_axpy(3, 1, y->now->attitude.bias, turn);
}

static double *cleared(const body *y)
{
    lg_zero(6 + y->m.n, y->F);
    return y->F;
}

/* ---- the tangent, column by column ---- */

/* Adds F as the column of S at velocity j and level. */
static void add_column(const body *y, const lg_chain *chain, int level, double s, int j, double *S, int ld)
{
    int nv = y->block->nv;
    lg_zero(nv, y->column);
    project(y, y->F, y->column);
    lg_chain_add(y->block, chain, level, s, 0, nv, j, 1, y->column, nv, S, ld);
}

/* Column j of Hr, or a unit vector. */
static void rate_axis(const body *y, const double *A, int j, double c[3])
{
    lg_zero(3, c);
    if (y->block->node->attitude)
        lg_copy(3, A + 3 * j, c);
    else
        c[j] = 1;
}

static void tangent_accelerations(const body *y, double wa, const lg_chain *chain, double *S, int ld)
{
    static const double zero[3] = {0, 0, 0};
    const lg_node *node = y->block->node;
    double axis[3];
    for (int j = 0; j < 3; j++) {
        for (int i = 0; i < 3; i++)
            axis[i] = node->place == LG_PLACE_INERTIAL ? y->now->R[3 * j + i] : i == j;
        add_mass(y, axis, zero, NULL, cleared(y));
        add_column(y, chain, 2, wa, j, S, ld);
    }
    for (int j = 0; j < node->attitude_n; j++) {
        rate_axis(y, y->now->attitude.H, j, axis);
        add_mass(y, zero, axis, NULL, cleared(y));
        add_column(y, chain, 2, wa, node->attitude_v + j, S, ld);
    }
    for (int k = 0; k < y->m.n; k++) {
        double *F = cleared(y);
        lg_copy(3, y->m.shapes + 3 * k, F);
        lg_copy(3, y->c + 3 * k, F + 3);
        for (int l = 0; l < y->m.n; l++)
            F[6 + l] = trace(product(y, k, l));
        add_column(y, chain, 2, wa, node->nv + k, S, ld);
    }
}

static void tangent_velocities(const body *y, const lg_attitude *slopes, const lg_chain *chain, double *S, int ld)
{
    static const double zero[3] = {0, 0, 0};
    const lg_node *node = y->block->node;
    double axis[3], A[3];
    for (int j = 0; node->place == LG_PLACE_BODY && j < 3; j++) {
        double unit[3] = {j == 0, j == 1, j == 2};
        lg_cross(y->now->omega, unit, A);
        add_mass(y, A, zero, NULL, cleared(y));
        add_column(y, chain, 1, 1, j, S, ld);
    }
    for (int j = 0; j < node->attitude_n; j++) {
        rate_axis(y, y->now->attitude.H, j, axis);
        add_turn_slope(y, axis, cleared(y));
        lg_cross(axis, y->now->U, A);
        add_mass(y, A, node->attitude ? slopes->Av + 3 * j : zero, NULL, y->F);
        add_column(y, chain, 1, 1, node->attitude_v + j, S, ld);
    }
    for (int k = 0; k < y->m.n; k++) {
        add_flow_slope(y, k, cleared(y));
        lg_axpy(y->m.n, 1, y->m.damping + k * y->m.n, y->F + 6);
        add_column(y, chain, 1, 1, node->nv + k, S, ld);
    }
}

/* Total F at (A, w', eta''), which turns with the body where the block's velocities are inertial. */
static void tangent_rotation(const body *y, const lg_attitude *slopes, const double A[3], const double total[6],
                             const lg_chain *chain, double *S, int ld)
{
    const lg_node *node = y->block->node;
    for (int j = 0; j < node->attitude_n; j++) {
        double axis[3], turned[3], none[3] = {0, 0, 0};
        rate_axis(y, y->now->attitude.H, j, axis);
        lg_cross(A, axis, turned);
        add_mass(y, turned, node->attitude ? slopes->Aq + 3 * j : none, NULL, cleared(y));
        if (node->attitude)
            add_turn_slope(y, slopes->Z + 3 * j, y->F);
        lg_add_cross(axis, total, y->F);
        add_column(y, chain, 0, 1, node->attitude_v + j, S, ld);
    }
}

static void tangent_coordinates(const body *y, const lg_attitude *slopes, const double *q, const double A[3],
                                const double turn[3], const lg_chain *chain, double *S, int ld)
{
    const lg_node *node = y->block->node;
    int r = node->attitude_v, m = node->attitude_n;
    add_mass(y, A, turn, y->bending, cleared(y));
    add_gyroscopic(y, y->F);
    double total[6], G[16];
    lg_copy(6, y->F, total);

    if (node->place == LG_PLACE_INERTIAL)
        tangent_rotation(y, slopes, A, total, chain, S, ld);
    if (node->attitude) {
        node->attitude_geo(q + node->attitude_q, total + 3, G);
        lg_chain_add(y->block, chain, 0, 1, r, m, r, m, G, m, S, ld);
    }
    for (int k = 0; k < y->m.n; k++) {
        add_bend_slope(y, k, A, turn, cleared(y));
        lg_axpy(y->m.n, 1, y->m.stiffness + k * y->m.n, y->F + 6);
        add_column(y, chain, 0, 1, node->nv + k, S, ld);
    }
}

static void tangent(const body *y, const lg_point *at, const lg_chain *chain, double *S, int ld)
{
    const lg_node *node = y->block->node;
    const double *q = at->q + y->block->q, *v = at->v + y->block->v, *a = at->a ? at->a + y->block->v : NULL;
    tangent_accelerations(y, at->wa, chain, S, ld);
    if (chain->k[0] == 0 && chain->k[1] == 0)
        return;

    // the weighted accelerations wa a, and the slopes of the attitude there
    double A[3], turn[3], second[4] = {0};
    lg_attitude slopes = {.bias = {0}};
    to_floating_axes(y, at->wa, a, A, turn);
    add_bias(y, A, turn);
    for (int k = 0; k < y->m.n; k++)
        y->bending[k] = a ? at->wa * a[node->nv + k] : 0;
    if (node->attitude) {
        if (a)
            lg_axpy(node->attitude_n, at->wa, a + node->attitude_v, second);
        node->attitude(q + node->attitude_q, v + node->attitude_v, second, &slopes);
    }
    tangent_velocities(y, &slopes, chain, S, ld);
    tangent_coordinates(y, &slopes, q, A, turn, chain, S, ld);
}

/* ---- verbs ---- */

static void add_inertia(const lg_body *self, const lg_point *at, const lg_wanted *want)
{
    body y = body_of(self, at);
    const lg_block *b = self->block;
    double A[3], turn[3];
    if (want->Ma) {
        lg_zero(b->nv, want->Ma + b->v);
        to_floating_axes(&y, 1, at->a + b->v, A, turn);
        add_mass(&y, A, turn, at->a + b->v + b->node->nv, cleared(&y));
        project(&y, y.F, want->Ma + b->v);
    }
    if (want->gyro) {
        lg_zero(b->nv, want->gyro + b->v);
        lg_zero(3, A), lg_zero(3, turn);
        add_bias(&y, A, turn);
        add_mass(&y, A, turn, NULL, cleared(&y));
        add_gyroscopic(&y, y.F);
        project(&y, y.F, want->gyro + b->v);
    }
    if (want->S) {
        int ld;
        double *S = lg_body_tangent(self, want, &ld);
        tangent(&y, at, lg_chain_of(want, self->index), S, ld);
    }
}

static void inertia(lg_span bodies, const lg_point *at, const lg_wanted *want)
{
    for (const lg_body *b = bodies.first; b < bodies.end; b++)
        add_inertia(b, at, want);
}

/* The elastic force. */
static void add_elastic(const lg_body *b, const lg_point *at, double *force)
{
    body y = body_of(b, at);
    for (int k = 0; k < y.m.n; k++) {
        lg_axpy(y.m.n, -y.eta[k], y.m.stiffness + k * y.m.n, force + y.block->node->nv);
        lg_axpy(y.m.n, -y.etadot[k], y.m.damping + k * y.m.n, force + y.block->node->nv);
    }
}

/* Gathers the wrenches of one sum. */
static void gather_sum(const lg_body *b, const lg_point *at, int sum, double *out)
{
    lg_resultant total = {{0}, {0}, {0}};
    lg_arm arm = lg_modal_arm(b, at);
    lg_zero(b->block->nv, out);
    for (int k = 0; k < b->nactive; k++) {
        const lg_frame *f = &b->frames[k];
        const double *wrench = lg_pose_of(f, at)->wrench[sum];
        if (!(f->pressed >> sum & 1))
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

static void gather(lg_span bodies, const lg_point *at, const lg_wanted *want)
{
    for (const lg_body *b = bodies.first; b < bodies.end; b++) {
        if (want->force) {
            gather_sum(b, at, LG_FORCES, want->force + b->block->v);
            add_elastic(b, at, want->force + b->block->v);
        }
        if (want->Btlam)
            gather_sum(b, at, LG_REACTIONS, want->Btlam + b->block->v);
        if (want->S && want->chain) {
            int ld;
            double *S = lg_body_tangent(b, want, &ld);
            gather_geo(b, at, lg_chain_of(want, b->index), S, ld);
        }
    }
}

static double kinetic(const lg_body *self, const lg_point *at)
{
    body y = body_of(self, at);
    double A[3], turn[3], *F = cleared(&y);
    to_floating_axes(&y, 1, at->v + y.block->v, A, turn);
    add_mass(&y, A, turn, y.etadot, F);
    double energy = lg_dot3(A, F) + lg_dot3(turn, F + 3);
    for (int k = 0; k < y.m.n; k++)
        energy += y.etadot[k] * F[6 + k];
    return energy / 2;
}

static double potential(const lg_body *self, const lg_point *at)
{
    body y = body_of(self, at);
    double energy = 0;
    for (int k = 0; k < y.m.n; k++)
        for (int l = 0; l < y.m.n; l++)
            energy += y.eta[k] * y.m.stiffness[k * y.m.n + l] * y.eta[l] / 2;
    return energy;
}

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
    .check = check,
    .parts = parts,
    .nwork = nwork,
    .kinematics = kinematics,
    .inertia = inertia,
    .gather = gather,
    .kinetic = kinetic,
    .potential = potential,
    .pull = lg_modal_pull,
    .pull_rate = lg_modal_pull_rate,
    .H = lg_modal_H,
    .Z = lg_modal_Z,
};
