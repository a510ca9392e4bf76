/* Inertia of a rigid body whose node is its centre of mass, or the fixed point it turns about.

   Rotational part, with omega = H e' and omega' = H e'' + bias of the block's attitude (H = I on Lie groups):
       tau = J omega' + omega x J omega,   generalised H^T tau
   holzinger2024 (11), sign as in the errata. About a fixed point J is the inertia about that point. For Euler
   parameters sherif2019 (9) prints 8 L^T L L'^T J L e', in which the bias -2 (e.e') omega has the other sign: omega x J
   omega - J bias. This makes a difference in schemes that do not keep e.e' = 0; it is LG_FORM_SHERIF. Translational
   part: m x'' with inertial velocities, m (U' + Omega x U) with velocities in body axes (sonneville2014). */
#include "model/body/rigid_inertia.h"

#include "model/body/rigid_state.h"
#include "model/share.h"
#include "sparse/linalg.h"

static void prepare(const lg_body *b, lg_rigid_prepared *p)
{
    double factors[9];
    int pivots[3], deficient;
    p->mass = b->e.p[LG_RIGID_MASS];
    lg_inertia_matrix(b->e.p + LG_RIGID_INERTIA, p->J);
    p->diagonal = p->J[1] == 0 && p->J[2] == 0 && p->J[5] == 0;
    lg_copy(9, p->J, factors);
    lg_zero(9, p->inverse);
    if (lg_dense_factor(3, factors, pivots, &deficient) != LG_OK)
        return;
    double columns[9];
    lg_identity3(columns);
    for (int j = 0; j < 3; j++)
        lg_dense_solve(3, factors, pivots, columns + 3 * j);
    lg_transpose3(columns, p->inverse);
}

int lg_rigid_prepare(const lg_body *b, double *prepared)
{
    if (prepared)
        prepare(b, (lg_rigid_prepared *)(void *)prepared);
    return sizeof(lg_rigid_prepared) / sizeof(double);
}

/* y = A^T c */
static void mul_rates_T(int m, const double *A, const double c[3], double *y)
{
    for (int j = 0; j < m; j++)
        y[j] = lg_dot3(A + 3 * j, c);
}

/* W = omega^ J - (J omega)^, the derivative of omega x J omega; row-major */
static void gyroscopic_matrix(const double J[9], const double omega[3], const double Jomega[3], double W[9])
{
    for (int j = 0; j < 3; j++) {
        W[j] = omega[1] * J[6 + j] - omega[2] * J[3 + j];
        W[3 + j] = omega[2] * J[j] - omega[0] * J[6 + j];
        W[6 + j] = omega[0] * J[3 + j] - omega[1] * J[j];
    }
    W[1] += Jomega[2], W[2] -= Jomega[1];
    W[3] -= Jomega[2], W[5] += Jomega[0];
    W[6] += Jomega[1], W[7] -= Jomega[0];
}

/* ---- Lie groups: omega is the velocity itself ---- */

static inline void rotate_lie(const lg_body *body, const lg_point *at, const lg_wanted *want)
{
    const lg_block *b = body->block;
    int r = b->node->attitude_v;
    const double *omega = at->v + b->v + r;
    const lg_rigid_prepared *p = lg_rigid_prepared_of(body);
    double Jomega[3];
    if (want->Ma)
        lg_rigid_mul_inertia(p, p->J, at->a + b->v + r, want->Ma + b->v + r);
    if (!want->gyro)
        return;
    lg_rigid_mul_inertia(p, p->J, omega, Jomega);
    lg_cross(omega, Jomega, want->gyro + b->v + r);
}

/* The same by columns; those of J are its rows. */
static inline void gyroscopic_columns(const double J[9], const double omega[3], const double Jomega[3], double W[9])
{
    for (int j = 0; j < 9; j += 3)
        lg_cross(omega, J + j, W + j);
    W[3] += Jomega[2], W[6] -= Jomega[1];
    W[1] -= Jomega[2], W[7] += Jomega[0];
    W[2] += Jomega[1], W[5] -= Jomega[0];
}

static inline void gyroscopic_matrix_lie(const lg_body *body, const lg_point *at, double W[9])
{
    const lg_block *b = body->block;
    const double *omega = at->v + b->v + b->node->attitude_v;
    const lg_rigid_prepared *p = lg_rigid_prepared_of(body);
    double Jomega[3];
    lg_rigid_mul_inertia(p, p->J, omega, Jomega);
    gyroscopic_columns(p->J, omega, Jomega, W);
}

/* S += C X for rotations at a link of the chain, column-major */
static inline void add_rotational(const lg_block *b, const lg_chain *chain, int level, const double C[9], double *S,
                                  int ld)
{
    int r = b->node->attitude_v;
    if (lg_block_is_direct(b)) {
        lg_add_through(1, C, lg_chain_turning(chain, level, b), b->nv, S + r + r * ld, ld);
        return;
    }
    const lg_chain alone = {{0, 1, 0}, {NULL, chain->X[level], NULL}};
    lg_chain_add(b, &alone, 1, 1, r, 3, r, 3, C, 3, S, ld);
}

static inline void tangent_lie(const lg_body *body, const lg_point *at, const lg_chain *chain, const double W[9],
                               double *S, int ld)
{
    const lg_block *b = body->block;
    int r = b->node->attitude_v;
    const double *J = lg_rigid_prepared_of(body)->J;
    if (chain->k[1] != 0 && chain->X[1] == chain->X[2]) {
        // both links of the chain have the same X: one product for (wa k2 J + k1 W) X
        double C[9], k = chain->k[1], inertia = chain->k[2] * at->wa;
        for (int i = 0; i < 8; i += 2)
            lg_store_two(C + i, k * lg_load_two(W + i) + inertia * lg_load_two(J + i));
        C[8] = k * W[8] + inertia * J[8];
        add_rotational(b, chain, 1, C, S, ld);
        return;
    }
    lg_chain_add(b, chain, 2, at->wa, r, 3, r, 3, J, 3, S, ld);
    if (chain->k[1] != 0)
        lg_chain_add(b, chain, 1, 1, r, 3, r, 3, W, 3, S, ld);
}

/* ---- coordinates: omega = H e' ---- */

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

/* d(H^T tau)/d(e, e', e'') with tau = wa J H e'' +- J bias + omega x J omega, which is +- J omega' at +- wa e'';
   `sign`: that of J bias. */
static void tangent_coordinates(const lg_body *body, const lg_point *at, double sign, const lg_chain *chain, double *S,
                                int ld)
{
    const lg_block *b = body->block;
    int r = b->node->attitude_v, m = b->node->attitude_n;
    const double *q = at->q + b->q + b->node->attitude_q, *v = at->v + b->v + r;
    const double *J = lg_rigid_prepared_of(body)->J;
    double acceleration[4] = {0}, W[9], omega[3], omegadot[3], Jomega[3], tau[3], C[12] = {0}, G[16];
    double signed_J[9] = {0};
    lg_attitude attitude;

    // kinematics at +- wa e''
    if (at->a)
        lg_axpy(m, sign * at->wa, at->a + b->v + r, acceleration);
    b->node->attitude->open(q, v, acceleration, &attitude);
    lg_mul_columns(m, attitude.H, v, omega);
    lg_mul_columns(m, attitude.H, acceleration, omegadot);
    lg_axpy(3, 1, attitude.bias, omegadot);

    // torque and its derivatives
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
    b->node->attitude->geo(q, tau, G);
    lg_chain_add(b, chain, 0, 1, r, m, r, m, G, m, S, ld);
}

static LG_APART void rotate_coordinates(const lg_body *body, const lg_point *at, const lg_wanted *want, double sign)
{
    const lg_block *b = body->block;
    const lg_rigid_state *now = lg_rigid_state_of(body, at);
    int r = b->node->attitude_v, m = b->node->attitude_n;
    const double *J = lg_rigid_prepared_of(body)->J;
    double tau[3];

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
            tau[i] *= sign;
        lg_add_cross(now->omega, Jomega, tau);
        mul_rates_T(m, now->attitude.H, tau, want->gyro + b->v + r);
    }
}

/* ---- translation ---- */

static inline void translate(double mass, const lg_block *b, const lg_point *at, const lg_wanted *want)
{
    const double *v = at->v + b->v;
    for (int i = 0; want->Ma && i < 3; i++)
        want->Ma[b->v + i] = mass * at->a[b->v + i];
    if (want->gyro)
        lg_zero(3, want->gyro + b->v);
    if (want->gyro && b->node->position == LG_POSITION_BODY) {
        double turning[3];
        lg_cross(v + 3, v, turning);
        lg_axpy(3, mass, turning, want->gyro + b->v);
    }
}

static inline void translate_tangent(double mass, const lg_block *b, const lg_point *at, const lg_chain *chain,
                                     double *S, int ld)
{
    static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    const double *v = at->v + b->v;
    if (b->node->position != LG_POSITION_BODY) {
        double inertia = chain->k[2] * at->wa * mass;
        S[0] += inertia, S[1 + ld] += inertia, S[2 + 2 * ld] += inertia;
    } else {
        lg_chain_add(b, chain, 2, at->wa * mass, 0, 3, 0, 3, identity, 3, S, ld);
        // d(omega x U) = omega^ dU - U^ domega, column-major: the transpose of a hat is its negative
        double hat[9];
        lg_hat3(v + 3, hat);
        lg_chain_add(b, chain, 1, -mass, 0, 3, 0, 3, hat, 3, S, ld);
        lg_hat3(v, hat);
        lg_chain_add(b, chain, 1, mass, 0, 3, 3, 3, hat, 3, S, ld);
    }
}

/* On Lie groups tangents by coordinates alone have no part of a body's inertia. */
static void add_tangents_lie(const lg_body *body, const lg_point *at, const lg_wanted *want)
{
    double W[9] = {0};
    if (lg_wants_slopes(want))
        gyroscopic_matrix_lie(body, at, W);
    for (const lg_tangent *to = want->tangent, *end = to + want->ntangents; to < end; to++) {
        const lg_chain *chain = lg_chain_of(to, body->index);
        int ld;
        if (chain->k[1] == 0 && chain->k[2] == 0)
            continue;
        double *S = lg_body_tangent(body, to, &ld);
        if (body->block->node->position != LG_POSITION_FIXED)
            translate_tangent(lg_rigid_prepared_of(body)->mass, body->block, at, chain, S, ld);
        tangent_lie(body, at, chain, W, S, ld);
    }
}

static void add_tangents_by_coordinates(const lg_body *body, const lg_point *at, const lg_wanted *want, double sign)
{
    for (const lg_tangent *to = want->tangent; to < want->tangent + want->ntangents; to++) {
        const lg_chain *chain = lg_chain_of(to, body->index);
        int ld;
        double *S = lg_body_tangent(body, to, &ld);
        if (body->block->node->position != LG_POSITION_FIXED)
            translate_tangent(lg_rigid_prepared_of(body)->mass, body->block, at, chain, S, ld);
        tangent_coordinates(body, at, sign, chain, S, ld);
    }
}

static LG_APART void add_tangents(const lg_body *body, const lg_point *at, const lg_wanted *want, double sign)
{
    lg_stiffness_clear(lg_body_stiffness(body, at));
    if (body->block->node->attitude)
        add_tangents_by_coordinates(body, at, want, sign);
    else
        add_tangents_lie(body, at, want);
}

/* Computes the wanted terms of one body. */
static inline void add_rigid_inertia(const lg_body *body, const lg_point *at, const lg_wanted *want, double sign)
{
    const lg_node *node = body->block->node;
    if (node->position != LG_POSITION_FIXED)
        translate(lg_rigid_prepared_of(body)->mass, body->block, at, want);
    if (node->attitude)
        rotate_coordinates(body, at, want, sign);
    else
        rotate_lie(body, at, want);
}

static inline void rigid_inertia(lg_span bodies, const lg_point *at, const lg_wanted *want, int sherif)
{
    for (const lg_body *body = bodies.first; body < bodies.end; body++) {
        double sign = sherif && body->block->node->attitude_n == 4 ? -1 : 1;
        add_rigid_inertia(body, at, want, sign);
        if (want->ntangents)
            add_tangents(body, at, want, sign);
    }
}

void lg_rigid_inertia(lg_span bodies, const lg_point *at, const lg_wanted *want)
{
    rigid_inertia(bodies, at, want, 0);
}

void lg_rigid_inertia_sherif(lg_span bodies, const lg_point *at, const lg_wanted *want)
{
    rigid_inertia(bodies, at, want, 1);
}

void lg_rigid_energy(const lg_body *body, const lg_point *at, double *T, double *V)
{
    (void)V;
    const lg_block *b = body->block;
    const double *v = at->v + b->v,
                 *omega = b->node->attitude ? lg_rigid_state_of(body, at)->omega : v + b->node->attitude_v;
    double Jomega[3], energy = 0;
    if (b->node->position != LG_POSITION_FIXED)
        energy = lg_rigid_prepared_of(body)->mass * lg_dot3(v, v) / 2;
    lg_mul3(lg_rigid_prepared_of(body)->J, omega, Jomega);
    *T += energy + lg_dot3(omega, Jomega) / 2;
}

/* ---- without constraints ---- */

/* The mass matrix has an inverse without a factor if it is constant and the inertia is invertible. */
static int rigid_mass_size(const lg_body *b)
{
    const double *inverse = lg_rigid_prepared_of(b)->inverse;
    return !b->block->node->attitude && lg_dot3(inverse, inverse) > 0 ? 0 : -1;
}

/* x = (x / m, J^-1 x), or J^-1 x alone about a fixed point */
static void solve_mass(const lg_body *b, double *factor, int n, int ld, double *x)
{
    (void)factor;
    int turns = b->block->node->attitude_v;
    for (int j = 0; j < n; j++, x += ld) {
        double moment[3];
        for (int i = 0; i < turns; i++)
            x[i] /= b->e.p[LG_RIGID_MASS];
        lg_copy(3, x + turns, moment);
        lg_mulT3(lg_rigid_prepared_of(b)->inverse, moment, x + turns);
    }
}

const lg_body_mass lg_rigid_mass = {.size = rigid_mass_size, .solve = solve_mass};

/* ---- derivatives by mass and inertia ---- */

static double slope_of_mass(const lg_block *b, const double *weights, const double *v, const double *a, int moves)
{
    double slope = lg_dot3(weights, a), turning[3];
    if (!moves || b->node->position != LG_POSITION_BODY)
        return slope;
    lg_cross(v + 3, v, turning);
    return slope + lg_dot3(weights, turning);
}

static void write_shares(const lg_body *body, const lg_point *at, const lg_term_weights *weights, double *slopes)
{
    const lg_block *b = body->block;
    int r = b->node->attitude_v, m = b->node->attitude_n, moves = weights->forces != NULL;
    const double *v = at->v + b->v, *a = at->a + b->v, *w = (moves ? weights->forces : weights->reactions) + b->v;
    double turn[3], omega[3], omegadot[3], across[3];
    if (b->node->position != LG_POSITION_FIXED)
        slopes[LG_RIGID_MASS] = slope_of_mass(b, w, v, a, moves);
    if (b->node->attitude) {
        const lg_rigid_state *now = lg_rigid_state_of(body, at);
        lg_mul_columns(m, now->attitude.H, w + r, turn);
        lg_mul_columns(m, now->attitude.H, a + r, omegadot);
        lg_copy(3, now->omega, omega);
        if (moves)
            lg_axpy(3, 1, now->attitude.bias, omegadot);
    } else {
        lg_copy(3, w + r, turn), lg_copy(3, v + r, omega), lg_copy(3, a + r, omegadot);
    }
    lg_inertia_add_products(turn, omegadot, slopes + LG_RIGID_INERTIA);
    lg_cross(turn, omega, across);
    if (moves)
        lg_inertia_add_products(across, omega, slopes + LG_RIGID_INERTIA);
}

const lg_body_shares lg_rigid_shares = {.write = write_shares};
