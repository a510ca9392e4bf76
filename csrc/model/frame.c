/* Frames of rigid blocks: pose, twist, bias and their derivatives. Formulas stand in frame.h. */
#include "model/frame.h"

void lg_frame_open(lg_frame *f, const lg_frame_place *at, const lg_space *space, const lg_point *point)
{
    f->at = at;
    f->block = at->block < 0 ? NULL : &space->block[at->block];
    if (!f->block)
        return;
    f->node = f->block->node;
    f->q = point->q + f->block->q;
    f->v = point->v ? point->v + f->block->v : NULL;
    at->kind->open(f, point);
}

static void rigid_open(lg_frame *f, const lg_point *point)
{
    (void)point;
    f->offset = f->at->offset;
    f->at_node = f->at->at_node;
    f->r = f->node->attitude_v;
    f->m = f->node->attitude_n;
    if (f->node->attitude && f->v)
        f->node->attitude(f->q + f->node->attitude_q, f->v + f->r, NULL, &f->attitude);
}

/* Own constants of the ground: the point does not move and the axes are the inertial ones. */
static void ground_pose(lg_frame *f)
{
    for (int i = 0; i < 3; i++)
        f->x[i] = f->at->base[i] + f->at->offset[i];
    lg_identity3(f->R);
}

static void rigid_pose(lg_frame *f)
{
    if (!f->block) {
        ground_pose(f);
        return;
    }
    f->node->rotation(f->q, f->R);
    const double *origin = f->node->place == LG_PLACE_FIXED ? f->at->base : f->q;
    lg_copy(3, origin, f->x);
    if (!f->at_node) {
        double RX[3];
        lg_mul3(f->R, f->offset, RX);
        lg_axpy(3, 1, RX, f->x);
    }
}

static void rigid_twist(lg_frame *f)
{
    if (!f->block) {
        lg_zero(3, f->xdot), lg_zero(3, f->omega), lg_zero(3, f->y);
        return;
    }

    // angular velocity
    if (f->node->attitude)
        lg_mul_columns(f->m, f->attitude.H, f->v + f->r, f->omega);
    else
        lg_copy(3, f->v + f->r, f->omega);

    // velocity of the point
    lg_cross(f->omega, f->offset, f->y);
    if (f->node->place == LG_PLACE_BODY)
        lg_axpy(3, 1, f->v, f->y);
    lg_mul3(f->R, f->y, f->xdot);
    if (f->node->place == LG_PLACE_INERTIAL)
        lg_axpy(3, 1, f->v, f->xdot);
}

static void rigid_bias(lg_frame *f)
{
    lg_zero(3, f->omegadot), lg_zero(3, f->xdd);
    if (!f->block)
        return;
    double b[3];
    lg_cross(f->omega, f->y, b);
    if (f->node->attitude) {
        lg_copy(3, f->attitude.bias, f->omegadot);
        lg_add_cross(f->omegadot, f->offset, b);
    }
    lg_mul3(f->R, b, f->xdd);
}

static void rigid_pull(const lg_frame *f, double s, const double wrench[6], double *force)
{
    if (!f->block)
        return;
    double c[3] = {wrench[3], wrench[4], wrench[5]}, g[3];
    lg_place place = f->node->place;

    // translation: R^T f where velocities stand in the body frame
    if (place == LG_PLACE_BODY || !f->at_node)
        lg_mulT3(f->R, wrench, g);
    if (place == LG_PLACE_INERTIAL)
        lg_axpy(3, s, wrench, force);
    else if (place == LG_PLACE_BODY)
        lg_axpy(3, s, g, force);

    // rotation: Hr^T (X x R^T f + m)
    if (!f->at_node)
        lg_add_cross(f->offset, g, c);
    double *rotation = force + f->r;
    if (!f->node->attitude) {
        lg_axpy(3, s, c, rotation);
        return;
    }
    for (int j = 0; j < f->m; j++)
        rotation[j] += s * lg_dot3(f->attitude.H + 3 * j, c);
}

static void rigid_press(const lg_frame *f, int sum, double s, const double wrench[6], double *force)
{
    (void)sum;
    rigid_pull(f, s, wrench, force);
}

static void rigid_pull_rate(const lg_frame *f, const double wrench[6], double *row)
{
    double g[3], c[3] = {wrench[3], wrench[4], wrench[5]}, turn[3];
    lg_mulT3(f->R, wrench, g);
    lg_cross(f->y, g, turn);
    lg_add_cross(f->offset, g, c);
    for (int j = 0; j < f->m; j++)
        row[f->r + j] +=
            f->node->attitude ? lg_dot3(f->attitude.H + 3 * j, turn) + lg_dot3(f->attitude.Z + 3 * j, c) : turn[j];
}

/* ---- dense derivatives ---- */

/* rows row.. of the 6 x nv matrix A, rotational columns, += s B C; B is 3 x 3 row-major, C is 3 x m or NULL for I */
static void add_rotational(const lg_frame *f, int row, double s, const double B[9], const double *C, double *A)
{
    for (int j = 0; j < f->m; j++) {
        double *column = A + 6 * (f->r + j) + row;
        for (int i = 0; i < 3; i++)
            column[i] += C ? s * lg_dot3(B + 3 * i, C + 3 * j) : s * B[3 * i + j];
    }
}

static const double identity3[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};

static const double *rates_H(const lg_frame *f)
{
    return f->node->attitude ? f->attitude.H : NULL;
}

/* B = R a^ */
static void rotated_hat(const lg_frame *f, const double a[3], double B[9])
{
    double hat[9];
    lg_hat3(a, hat);
    lg_mul33(f->R, hat, B);
}

static void rigid_H(const lg_frame *f, double *H)
{
    lg_zero(6 * f->block->nv, H);
    lg_place place = f->node->place;
    if (place != LG_PLACE_FIXED)
        for (int j = 0; j < 3; j++)
            for (int i = 0; i < 3; i++)
                H[6 * j + i] = place == LG_PLACE_BODY ? f->R[3 * i + j] : i == j;
    if (!f->at_node) {
        double RX[9];
        rotated_hat(f, f->offset, RX);
        add_rotational(f, 0, -1, RX, rates_H(f), H);
    }
    add_rotational(f, 3, 1, identity3, rates_H(f), H);
}

static void rigid_Z(const lg_frame *f, double *Z)
{
    lg_zero(6 * f->block->nv, Z);
    double B[9];
    rotated_hat(f, f->y, B);
    add_rotational(f, 0, -1, B, rates_H(f), Z);
    if (!f->node->attitude)
        return;
    if (!f->at_node) {
        rotated_hat(f, f->offset, B);
        add_rotational(f, 0, -1, B, f->attitude.Z, Z);
    }
    add_rotational(f, 3, 1, identity3, f->attitude.Z, Z);
}

/* G = X^ (R^T f)^ between rotations, in column-major order; g = R^T f */
static void moment_geo(const lg_frame *f, const double g[3], double G[9])
{
    const double *X = f->offset;
    double dot = lg_dot3(X, g);
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++)
            G[3 * j + i] = g[i] * X[j] - (i == j ? dot : 0);
}

/* C (m x m) += Hr^T A Hr for column-major A */
static void congruence(int m, const double *H, const double A[9], double *C)
{
    for (int j = 0; j < m; j++) {
        double AH[3];
        lg_mul_columns(3, A, H + 3 * j, AH);
        for (int i = 0; i < m; i++)
            C[i + m * j] += lg_dot3(H + 3 * i, AH);
    }
}

/* The rotational part m x m of geo at g = R^T f and moment m. */
static void rotational_geo(const lg_frame *f, const double g[3], const double moment[3], double *G)
{
    double A[9];
    moment_geo(f, g, A);
    if (!f->node->attitude) {
        lg_copy(9, A, G);
        return;
    }
    double c[3] = {moment[0], moment[1], moment[2]};
    lg_add_cross(f->offset, g, c);
    f->node->attitude_geo(f->q + f->node->attitude_q, c, G);
    congruence(f->m, f->attitude.H, A, G);
}

/* ---- chains ---- */

/* S += k A for an nr x nc block */
static inline void add_block(double k, int nr, int nc, const double *A, int lda, double *S, int ld)
{
    for (int j = 0; j < nc; j++)
        for (int i = 0; i < nr; i++)
            S[i + j * ld] += k * A[i + j * lda];
}

/* S += k A X for an nr x nl A and the nl x nc matrix X with leading dimension ldx */
static inline void add_product(double k, int nr, int nl, int nc, const double *A, int lda, const double *X, int ldx,
                               double *S, int ld)
{
    for (int j = 0; j < nc; j++)
        for (int l = 0; l < nl; l++) {
            double x = k * X[l + j * ldx];
            for (int i = 0; i < nr; i++)
                S[i + j * ld] += x * A[i + l * lda];
        }
}

/* The same for 3 x 3 matrices without gaps, the common case. */
static inline void add_product3(double k, const double *A, const double *X, int ldx, double *S, int ld)
{
    for (int j = 0; j < 3; j++) {
        double x[3] = {k * X[j * ldx], k * X[1 + j * ldx], k * X[2 + j * ldx]};
        for (int i = 0; i < 3; i++)
            S[i + j * ld] += A[i] * x[0] + A[3 + i] * x[1] + A[6 + i] * x[2];
    }
}

void lg_chain_add(const lg_block *block, const lg_chain *chain, int level, double s, int row, int nr, int col, int nc,
                  const double *A, int lda, double *S, int ld)
{
    const double *X = chain->X[level];
    double k = s * chain->k[level];
    int nv = block->nv;
    if (k == 0)
        return;

    // X = diag(I, X_r, I) on direct products, else diag(X, I): what is behind the node is linear
    const lg_node *node = block->node;
    int first = node->place == LG_PLACE_INERTIAL ? node->attitude_v : 0, end = nv - lg_block_tail(block);
    if (!X || col + nc <= first || col >= end) {
        add_block(k, nr, nc, A, lda, S + row + col * ld, ld);
        return;
    }
    X += first + first * nv;
    if (nr == 3 && nc == 3 && lda == 3 && col == first && end == col + 3) {
        add_product3(k, A, X, nv, S + row + col * ld, ld);
        return;
    }
    int before = col < first ? first - col : 0, behind = col + nc > end ? col + nc - end : 0;
    const double *middle = A + before * lda, *last = A + (nc - behind) * lda;
    add_block(k, nr, before, A, lda, S + row + col * ld, ld);
    add_product(k, nr, nc - before - behind, end - first, middle, lda, X + (col + before - first), nv,
                S + row + first * ld, ld);
    add_block(k, nr, behind, last, lda, S + row + end * ld, ld);
}

void lg_chain_mul(const lg_block *block, const lg_chain *chain, int level, const double *A, double *P)
{
    const double *X = chain->X[level];
    double k = chain->k[level];
    int nv = block->nv;
    for (int j = 0; j < nv; j++) {
        if (!X) {
            for (int i = 0; i < 6; i++)
                P[6 * j + i] = k * A[6 * j + i];
            continue;
        }
        lg_zero(6, P + 6 * j);
        for (int l = 0; l < nv; l++) {
            double x = k * X[l + j * nv];
            if (x == 0) // positions and rotations of a direct product do not mix
                continue;
            for (int i = 0; i < 6; i++)
                P[6 * j + i] += x * A[6 * l + i];
        }
    }
}

static void rigid_add_geo(const lg_frame *f, double s, const double wrench[6], const lg_chain *chain, double *S, int ld)
{
    int body = f->node->place == LG_PLACE_BODY, attitude = f->node->attitude != NULL;
    if (chain->k[0] == 0 || (f->at_node && !body && !attitude))
        return;

    // rotations on rotations
    double g[3] = {0, 0, 0}, Gr[16];
    if (body || !f->at_node)
        lg_mulT3(f->R, wrench, g);
    rotational_geo(f, g, wrench + 3, Gr);
    lg_chain_add(f->block, chain, 0, s, f->r, f->m, f->r, f->m, Gr, f->m, S, ld);

    // a body-frame force turns with the body
    if (body) {
        double hat[9], column_major[9];
        lg_hat3(g, hat);
        for (int j = 0; j < 3; j++)
            for (int i = 0; i < 3; i++)
                column_major[3 * j + i] = hat[3 * i + j];
        lg_chain_add(f->block, chain, 0, s, 0, 3, f->r, 3, column_major, 3, S, ld);
    }
}

const lg_frame_kind lg_rigid_frame = {
    .open = rigid_open,
    .pose = rigid_pose,
    .twist = rigid_twist,
    .bias = rigid_bias,
    .pull = rigid_pull,
    .press = rigid_press,
    .pull_rate = rigid_pull_rate,
    .H = rigid_H,
    .Z = rigid_Z,
    .add_geo = rigid_add_geo,
};
