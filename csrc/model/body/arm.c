/* The arm from a rigid body's node to a point on it. The formulas are in arm.h. */
#include "model/body/arm.h"

#include "core/two.h"

/* First and number of the rotational velocities within the block. */
static int first_of(const lg_arm *arm)
{
    return arm->block->node->attitude_v;
}

static int count_of(const lg_arm *arm)
{
    return arm->block->node->attitude_n;
}

void lg_arm_bias(const lg_arm *arm, double xdd[3])
{
    double b[3];
    lg_cross(arm->omega, arm->y, b);
    if (arm->attitude)
        lg_add_cross(arm->attitude->bias, arm->X, b);
    lg_mul3(arm->R, b, xdd);
}

/* ---- wrenches ---- */

/* C (m x m, column-major) += Hr^T A Hr for row-major A */
static void congruence(int m, const double *H, const double A[9], double *C)
{
    for (int j = 0; j < m; j++) {
        double AH[3];
        lg_mul3(A, H + 3 * j, AH);
        for (int i = 0; i < m; i++)
            C[i + m * j] += lg_dot3(H + 3 * i, AH);
    }
}

/* The rotational part m x m, column-major. */
static void rotational_geo(const lg_resultant *sum, const lg_arm *arm, double *G)
{
    if (!arm->attitude) {
        lg_transpose3(sum->G, G);
        return;
    }
    const lg_node *node = arm->block->node;
    node->attitude->geo(arm->q + node->attitude_q, sum->c, G);
    congruence(count_of(arm), arm->attitude->H, sum->G, G);
}

void lg_resultant_add_geo(const lg_resultant *sum, const lg_arm *arm, double s, const lg_chain *chain, double *S,
                          int ld)
{
    if (chain->k[0] == 0)
        return;
    int r = first_of(arm), m = count_of(arm);
    double G[16];
    rotational_geo(sum, arm, G);
    lg_chain_add(arm->block, chain, 0, s, r, m, r, m, G, m, S, ld);

    // a body-frame force turns with the body: g^, whose columns are those of -g^ in rows
    if (arm->block->node->position == LG_POSITION_BODY) {
        double g[3], hat[9];
        lg_mulT3(arm->R, sum->f, g);
        lg_hat3(g, hat);
        lg_chain_add(arm->block, chain, 0, -s, 0, 3, r, 3, hat, 3, S, ld);
    }
}

void lg_arm_pull_rate(const lg_arm *arm, const double wrench[6], double *row)
{
    double g[3], c[3] = {wrench[3], wrench[4], wrench[5]}, turn[3];
    lg_mulT3(arm->R, wrench, g);
    lg_cross(arm->y, g, turn);
    lg_add_cross(arm->X, g, c);
    for (int j = 0; j < count_of(arm); j++)
        row[first_of(arm) + j] +=
            arm->attitude ? lg_dot3(arm->attitude->H + 3 * j, turn) + lg_dot3(arm->attitude->Z + 3 * j, c) : turn[j];
}

/* ---- dense derivatives ---- */

/* rows row.. of the 6 x nv matrix A, rotational columns, += s B C; B is 3 x 3 row-major, C is 3 x m or NULL for I */
static void add_rotational(const lg_arm *arm, int row, double s, const double B[9], const double *C, double *A)
{
    for (int j = 0; j < count_of(arm); j++) {
        double *column = A + 6 * (first_of(arm) + j) + row;
        for (int i = 0; i < 3; i++)
            column[i] += C ? s * lg_dot3(B + 3 * i, C + 3 * j) : s * B[3 * i + j];
    }
}

static const double identity3[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};

static const double *rates_H(const lg_arm *arm)
{
    return arm->attitude ? arm->attitude->H : NULL;
}

/* B = R a^ */
static void rotated_hat(const lg_arm *arm, const double a[3], double B[9])
{
    double hat[9];
    lg_hat3(a, hat);
    lg_mul33(arm->R, hat, B);
}

void lg_arm_H(const lg_arm *arm, double *H)
{
    lg_zero(6 * arm->block->nv, H);
    lg_node_position position = arm->block->node->position;
    if (position != LG_POSITION_FIXED)
        for (int j = 0; j < 3; j++)
            for (int i = 0; i < 3; i++)
                H[6 * j + i] = position == LG_POSITION_BODY ? arm->R[3 * i + j] : i == j;
    if (!arm->at_node) {
        double RX[9];
        rotated_hat(arm, arm->X, RX);
        add_rotational(arm, 0, -1, RX, rates_H(arm), H);
    }
    add_rotational(arm, 3, 1, identity3, rates_H(arm), H);
}

void lg_arm_Z(const lg_arm *arm, double *Z)
{
    lg_zero(6 * arm->block->nv, Z);
    double B[9];
    rotated_hat(arm, arm->y, B);
    add_rotational(arm, 0, -1, B, rates_H(arm), Z);
    if (!arm->attitude)
        return;
    if (!arm->at_node) {
        rotated_hat(arm, arm->X, B);
        add_rotational(arm, 0, -1, B, arm->attitude->Z, Z);
    }
    add_rotational(arm, 3, 1, identity3, arm->attitude->Z, Z);
}

/* ---- derivatives of wrenches ---- */

/* C = A M for row-major A and C and a column-major M */
static void times_turned(const double A[9], const double M[9], double C[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            C[3 * i + j] = lg_dot3(A + 3 * i, M + 3 * j);
}

/* The quarter `to` += s A M, M on the side of the columns */
static void add_right(lg_quarters *out, int to, double s, const double A[9], const double M[9])
{
    double AM[9];
    times_turned(A, M, AM);
    lg_quarters_add(out, to, s, AM);
}

/* Rows of force add the moment M^T f at the node. */
static void shift_rows(const lg_arm *arm, const lg_quarters *from, double s, lg_quarters *out)
{
    double M[9], MA[9];
    for (int which = 0; which < 4; which++)
        if (from->has >> which & 1)
            lg_quarters_add(out, which, s, from->A[which]);
    if (arm->at_node || !(from->has & (1u << LG_XX | 1u << LG_XR)))
        return;
    lg_turn_arm(arm->R, arm->X, M);
    for (int which = LG_XX; which <= LG_XR; which++)
        if (from->has >> which & 1) {
            lg_mul33(M, from->A[which], MA);
            lg_quarters_add(out, which + LG_RX, s, MA);
        }
}

/* Columns: x of the end is x + R X, its velocity x' + R (omega x X). */
static void shift_columns(const lg_arm *arm, const lg_quarters *K, const lg_quarters *D, lg_stiffness *out)
{
    double M[9], W[9], w[3];
    for (int which = 0; which < 4; which++) {
        if (K->has >> which & 1)
            lg_quarters_add(&out->K, which, 1, K->A[which]);
        if (D && D->has >> which & 1)
            lg_quarters_add(&out->D, which, 1, D->A[which]);
    }
    unsigned columns_x = 1u << LG_XX | 1u << LG_RX;
    if (arm->at_node || !((K->has | (D ? D->has : 0)) & columns_x))
        return;
    lg_turn_arm(arm->R, arm->X, M);
    for (int which = LG_XX; which <= LG_RX; which += LG_RX)
        if (K->has >> which & 1)
            add_right(&out->K, which + 1, 1, K->A[which], M);
    if (!D || !(D->has & columns_x))
        return;
    lg_cross(arm->omega, arm->X, w);
    lg_turn_arm(arm->R, w, W);
    for (int which = LG_XX; which <= LG_RX; which += LG_RX)
        if (D->has >> which & 1) {
            add_right(&out->D, which + 1, 1, D->A[which], M);
            add_right(&out->K, which + 1, 1, D->A[which], W);
        }
}

void lg_arm_shift(const lg_arm *i, const lg_arm *j, double s, const lg_quarters *K, const lg_quarters *D,
                  lg_stiffness *sum)
{
    unsigned has = K->has | (D ? D->has : 0);
    if (has == 1u << LG_RR) { // rotations and moments are the same everywhere on a body
        if (K->has)
            lg_quarters_add(&sum->K, LG_RR, s, K->A[LG_RR]);
        if (D && D->has)
            lg_quarters_add(&sum->D, LG_RR, s, D->A[LG_RR]);
        return;
    }
    lg_stiffness shifted;
    shifted.K.has = shifted.D.has = 0;
    shift_columns(j, K, D, &shifted);
    shift_rows(i, &shifted.K, s, &sum->K);
    shift_rows(i, &shifted.D, s, &sum->D);
}

/* Adds one quarter to the matrix of the blocks: its columns are those of the node's x or phi, given as `across` (3 x n,
   column-major; NULL: the identity), and its rows likewise. */
static void add_quarter(const lg_arm *i, const lg_arm *j, const lg_chain *chain, int level, int which,
                        const double A[9], const double *across, double *S, int ld)
{
    const lg_node *row_node = i->block->node, *column_node = j->block->node;
    int turning_row = which / 2, turning_column = which % 2;
    int n = turning_column ? column_node->attitude_n : 3, m = turning_row ? row_node->attitude_n : 3;
    if ((!turning_row && row_node->position == LG_POSITION_FIXED) ||
        (!turning_column && column_node->position == LG_POSITION_FIXED))
        return;

    double C[12], out[16];
    if (across)
        for (int k = 0; k < n; k++)
            lg_mul3(A, across + 3 * k, C + 3 * k);
    else
        lg_transpose3(A, C);
    const double *result = C;
    if (turning_row && i->attitude) {
        for (int k = 0; k < n; k++)
            for (int l = 0; l < m; l++)
                out[l + m * k] = lg_dot3(i->attitude->H + 3 * l, C + 3 * k);
        result = out;
    } else if (!turning_row && row_node->position == LG_POSITION_BODY) {
        for (int k = 0; k < n; k++)
            lg_mulT3(i->R, C + 3 * k, out + 3 * k);
        result = out;
    }
    int row = turning_row ? row_node->attitude_v : 0, column = turning_column ? column_node->attitude_v : 0;
    lg_chain_add(j->block, chain, level, 1, row, m, column, n, result, m, S, ld);
}

/* By poses (level 0) or twists (level 1). */
static void add_quarters(const lg_quarters *q, const lg_arm *i, const lg_arm *j, const lg_chain *chain, int level,
                         double *S, int ld)
{
    double axes[9];
    int body = j->block->node->position == LG_POSITION_BODY;
    if (chain->k[level] == 0)
        return;
    if (body)
        lg_transpose3(j->R, axes);
    for (int which = 0; which < 4; which++)
        if (q->has >> which & 1) {
            const double *across = which % 2 ? rates_H(j) : body ? axes : NULL;
            add_quarter(i, j, chain, level, which, q->A[which], across, S, ld);
        }
}

/* The change of the twist with the coordinates: x' = R U turns with the body, omega = Hr e' has the derivative Zr. */
static void add_rates(const lg_quarters *D, const lg_arm *i, const lg_arm *j, const lg_chain *chain, double *S, int ld)
{
    int body = j->block->node->position == LG_POSITION_BODY;
    if (chain->k[0] == 0)
        return;
    for (int which = LG_XX; which <= LG_RX; which += LG_RX)
        if (body && D->has >> which & 1) {
            double W[9], DW[9];
            lg_turn_arm(j->R, j->v, W);
            times_turned(D->A[which], W, DW);
            add_quarter(i, j, chain, 0, which + 1, DW, NULL, S, ld);
        }
    for (int which = LG_XR; which <= LG_RR; which += LG_RX)
        if (j->attitude && D->has >> which & 1)
            add_quarter(i, j, chain, 0, which, D->A[which], j->attitude->Z, S, ld);
}

/* S += k A X for a row-major 3 x 3 A; X with leading dimension ldx, NULL: the identity */
static void add_through(double k, const double A[9], const double *X, int ldx, double *S, int ld)
{
    double columns[9];
    lg_transpose3(A, columns);
    lg_add_through(k, columns, X, ldx, S, ld);
}

/* If the velocities of both blocks are x' and omega themselves, the quarters are blocks of the tangent. */
static void add_direct(const lg_quarters *q, const lg_arm *i, const lg_arm *j, const lg_chain *chain, int level,
                       double *S, int ld)
{
    int row[2] = {0, first_of(i)}, column[2] = {0, first_of(j)};
    if (chain->k[level] == 0)
        return;
    const double *X = lg_chain_turning(chain, level, j->block);
    for (int which = 0; which < 4; which++) {
        int r = which / 2, c = which % 2;
        if (!(q->has >> which & 1) || (!r && row[1] == 0) || (!c && column[1] == 0)) // a fixed point has no places
            continue;
        add_through(chain->k[level], q->A[which], c ? X : NULL, j->block->nv, S + row[r] + column[c] * ld, ld);
    }
}

void lg_stiffness_add(const lg_stiffness *sum, const lg_arm *i, const lg_arm *j, const lg_chain *chain, double *S,
                      int ld)
{
    if (lg_block_is_direct(i->block) && lg_block_is_direct(j->block)) {
        add_direct(&sum->K, i, j, chain, 0, S, ld);
        if (sum->D.has)
            add_direct(&sum->D, i, j, chain, 1, S, ld);
        return;
    }
    add_quarters(&sum->K, i, j, chain, 0, S, ld);
    if (!sum->D.has)
        return;
    add_quarters(&sum->D, i, j, chain, 1, S, ld);
    add_rates(&sum->D, i, j, chain, S, ld);
}

/* ---- a force at the end of an arm, on a direct block ---- */

void lg_arm_turned(const lg_arm *arm, double M[9])
{
    lg_turn_arm(arm->R, arm->X, M);
}

static int is_diagonal(const double A[9])
{
    return A[1] == 0 && A[2] == 0 && A[3] == 0 && A[5] == 0 && A[6] == 0 && A[7] == 0;
}

/* C = A M for a row-major A and column-major M and C; `diagonal`: A is, as for springs along the inertial axes. */
static inline void stretch(int diagonal, const double A[9], const double M[9], double C[9])
{
    for (int j = 0; j < 9; j += 3)
        if (diagonal)
            C[j] = A[0] * M[j], C[j + 1] = A[4] * M[j + 1], C[j + 2] = A[8] * M[j + 2];
        else
            lg_mul3(A, M + j, C + j);
}

/* C = A M + B W, likewise. */
static inline void stretch_both(int diagonal, const double A[9], const double M[9], const double B[9],
                                const double W[9], double C[9])
{
    double BW[9];
    stretch(diagonal, A, M, C);
    stretch(diagonal, B, W, BW);
    for (int i = 0; i < 9; i++)
        C[i] += BW[i];
}

/* dF += k A X of the chain's rotational part */
static void arm_follow(const lg_chain *chain, int level, const lg_block *b, const double A[9], double dF[9])
{
    const double *X = lg_chain_turning(chain, level, b);
    if (X)
        lg_add_product3(chain->k[level], A, X, b->nv, dF, 3);
    else
        lg_axpy(9, chain->k[level], A, dF);
}

/* dx = dx_node + M dphi, dx' = dx_node' + M domega + W dphi with W = -R (omega x X)^; y is omega x X. */
void lg_arm_follow_force(const lg_arm *arm, const double M[9], const lg_chain *chain, const double A[9],
                         const double B[9], lg_force_tangent *out)
{
    const lg_block *b = arm->block;
    double k0 = chain->k[0], k1 = chain->k[1], W[9], AM[9], BM[9];
    int diagonal = out->diagonal = is_diagonal(A) && is_diagonal(B);
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++)
            if (!diagonal || i == j)
                out->x[i + 3 * j] = k0 * A[3 * i + j] + k1 * B[3 * i + j];
    lg_zero(9, out->phi);
    if (arm->at_node)
        return;
    lg_turn_arm(arm->R, arm->y, W);
    stretch_both(diagonal, A, M, B, W, AM);
    stretch(diagonal, B, M, BM);
    arm_follow(chain, 0, b, AM, out->phi);
    arm_follow(chain, 1, b, BM, out->phi);
}

/* S += s A and S += s M^T A; of a diagonal A only the diagonal is read. */
static inline void arm_add_block(int diagonal, double s, const double *restrict A, double *restrict S, int ld)
{
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++)
            if (!diagonal || i == j)
                S[i + j * ld] += s * A[i + 3 * j];
}

static inline void add_moments(int diagonal, double s, const double *restrict M, const double *restrict A,
                               double *restrict S, int ld)
{
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++)
            S[i + j * ld] += s * (diagonal ? M[j + 3 * i] * A[4 * j] : lg_dot3(M + 3 * i, A + 3 * j));
}

void lg_arm_pull_force(const lg_arm *arm, const double M[9], double s, const lg_force_tangent *dF, const lg_block *by,
                       double *S, int ld)
{
    int row = first_of(arm), column = by->node->attitude_v; // a fixed point has no places
    double *Sphi = S + (long)column * ld;
    if (row > 0 && column > 0)
        arm_add_block(dF->diagonal, s, dF->x, S, ld);
    if (row > 0)
        arm_add_block(0, s, dF->phi, Sphi, ld);
    if (arm->at_node)
        return;
    if (column > 0)
        add_moments(dF->diagonal, s, M, dF->x, S + row, ld);
    add_moments(0, s, M, dF->phi, Sphi + row, ld);
}

/* ---- constraint rows ---- */

/* wrench^T H; with the row's `rate`, the term wrench^T H of Z is added. */
static void arm_row(const lg_arm *arm, const double *J, const double *rate, int turns_only, double *row)
{
    double wrench[6] = {0, 0, 0, J[3], J[4], J[5]}, wrench_rate[6] = {0};
    if (!turns_only)
        lg_copy(3, J, wrench);
    lg_arm_pull(arm, 1, wrench, row);
    if (!rate)
        return;
    lg_copy(turns_only ? 0 : 3, rate, wrench_rate);
    lg_copy(3, rate + 3, wrench_rate + 3);
    lg_arm_pull_rate(arm, wrench_rate, row);
}

/* The rotational part of a purely rotational row, which on Lie groups is J itself. */
static void turning_row(const lg_arm *arm, int n, const double *J, double *values)
{
    int first = first_of(arm);
    for (int j = 0; j < first; j++)
        values[n * j] = 0;
    for (int j = 0; j < 3; j++)
        values[n * (first + j)] = J[3 + j];
}

void lg_arm_rows(const lg_arm *arm, int n, int points, const double *J, const double *rate, double *values)
{
    for (int r = 0; r < n; r++) {
        if (r >= points && !arm->attitude) { // the rate of such a row is in J: omega is the velocity
            turning_row(arm, n, J + 6 * r, values + r);
            continue;
        }
        double row[LG_MAX_NV] = {0};
        arm_row(arm, J + 6 * r, rate ? rate + 6 * r : NULL, r >= points, row);
        for (int j = 0; j < arm->block->nv; j++)
            values[r + n * j] = row[j];
    }
}

void lg_arm_point_rows(const lg_arm *arm, double s, double *values)
{
    const lg_node *node = arm->block->node;
    double M[9], sX[3] = {s * arm->X[0], s * arm->X[1], s * arm->X[2]};
    for (int j = 0; node->position != LG_POSITION_FIXED && j < 3; j++)
        for (int i = 0; i < 3; i++)
            values[i + 3 * j] = node->position == LG_POSITION_BODY ? s * arm->R[3 * i + j] : i == j ? s : 0;

    values += 3 * node->attitude_v;
    lg_turn_arm(arm->R, sX, arm->attitude ? M : values);
    for (int j = 0; arm->attitude && j < node->attitude_n; j++)
        lg_mul_columns(3, M, arm->attitude->H + 3 * j, values + 3 * j);
}

void lg_arm_point_rates(const lg_arm *arm, double s, double *values)
{
    const lg_node *node = arm->block->node;
    double M[9], W[9], sX[3] = {s * arm->X[0], s * arm->X[1], s * arm->X[2]};
    double sy[3] = {s * arm->y[0], s * arm->y[1], s * arm->y[2]};
    lg_zero(3 * node->attitude_v, values);
    values += 3 * node->attitude_v;
    lg_turn_arm(arm->R, sy, arm->attitude ? W : values);
    if (!arm->attitude)
        return;
    lg_turn_arm(arm->R, sX, M);
    for (int j = 0; j < node->attitude_n; j++) {
        lg_mul_columns(3, W, arm->attitude->H + 3 * j, values + 3 * j);
        lg_add_mapped(3, 1, M, arm->attitude->Z + 3 * j, values + 3 * j);
    }
}
