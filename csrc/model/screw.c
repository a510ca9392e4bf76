/* Relative poses by their logarithms; formulas in screw.h. */
#include "model/screw.h"

void lg_screw_turn_rate(const lg_screw *m, double rate[3])
{
    double inertial[3], of_a[3];
    lg_mul3(m->d[0], m->y + 3, inertial);
    lg_mulT3(m->d[1], inertial, of_a);
    for (int i = 0; i < 3; i++)
        rate[i] = m->y[6 + i] - of_a[i];
}

/* ---- wrenches ---- */

void lg_screw_on_frames(const lg_screw *m, const double nine[9], double w[2][6])
{
    lg_mul3(m->d[0], nine, w[1]);
    for (int i = 0; i < 3; i++)
        w[0][i] = -w[1][i];
    lg_screw_out(m->axes[0], nine + 3, w[0] + 3);
    lg_screw_out(m->axes[1], nine + 6, w[1] + 3);
}

/* ---- derivatives ---- */

void lg_screw_columns(const lg_screw *m, double Y[9][6])
{
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++) {
            Y[j][i] = m->A[3 * j + i], Y[j][3 + i] = 0;
            Y[3 + j][i] = -m->C[3 * j + i], Y[3 + j][3 + i] = -m->A[3 * j + i];
            Y[6 + j][i] = m->C[3 * i + j], Y[6 + j][3 + i] = m->A[3 * i + j];
        }
}

/* The columns of d(Y y) by the nine motions of the poses at constant twists: H = d(Y y)/dxi times Y, and u in the axes
   of a, which changes by u x dphi_a. Y y = T_+ (0, omega_b) - T_- (-u, omega_a). */
void lg_screw_rate_columns(const lg_screw *m, const double Y[9][6], double Q[9][6])
{
    const double back[6] = {-m->r->xi[0], -m->r->xi[1], -m->r->xi[2], -m->r->xi[3], -m->r->xi[4], -m->r->xi[5]},
                 *u = m->y;
    const double v_a[6] = {-u[0], -u[1], -u[2], m->y[3], m->y[4], m->y[5]},
                 v_b[6] = {0, 0, 0, m->y[6], m->y[7], m->y[8]};
    double H[36], from_a[36], hat[9];
    lg_se3_tangent_solve_d(m->r->xi, &m->r->x, v_b, H);
    lg_se3_tangent_solve_d(back, &m->r->x, v_a, from_a); // d(-T_- v_a)/dxi
    lg_axpy(36, 1, from_a, H);
    for (int p = 0; p < 9; p++) {
        lg_zero(6, Q[p]);
        for (int i = 0; i < 6; i++)
            lg_axpy(6, Y[p][i], H + 6 * i, Q[p]);
    }
    lg_hat3(u, hat);
    for (int p = 0; p < 3; p++)
        for (int i = 0; i < 3; i++)
            lg_axpy(6, hat[3 * i + p], Y[i], Q[3 + p]);
}

/* A (9 x 9 in blocks of 3 x 3, row-major) += L^T R */
static void add_products(const double L[9][6], const double R[9][6], double A[3][3][9])
{
    for (int p = 0; p < 9; p++)
        for (int q = 0; q < 9; q++)
            A[p / 3][q / 3][3 * (p % 3) + q % 3] += lg_dot3(L[p], R[q]) + lg_dot3(L[p] + 3, R[q] + 3);
}

/* The rows of d(Y^T s)/dxi at constant s, from those of T_+-^T s. */
static void geometric_rows(const lg_screw *m, const double s[6], double G[9][6])
{
    const double back[6] = {-m->r->xi[0], -m->r->xi[1], -m->r->xi[2], -m->r->xi[3], -m->r->xi[4], -m->r->xi[5]};
    double minus[36], plus[36];
    lg_se3_transposed_solve_d(back, &m->r->x, s, minus);
    lg_se3_transposed_solve_d(m->r->xi, &m->r->x, s, plus);
    for (int i = 0; i < 6; i++)
        for (int p = 0; p < 3; p++) {
            G[p][i] = -minus[6 * i + p];
            G[3 + p][i] = minus[6 * i + 3 + p];
            G[6 + p][i] = plus[6 * i + 3 + p];
        }
}

/* B = L A R^T, where L and R are NULL for the identity. */
static void turn_block(const double *L, const double A[9], const double *R, double B[9])
{
    double LA[9];
    lg_copy(9, A, LA);
    if (L)
        lg_mul33(L, A, LA);
    for (int i = 0; i < 3; i++)
        lg_screw_out(R, LA + 3 * i, B + 3 * i);
}

/* Derivatives in the nine motions as those of the wrenches by pose or twist, on both frames: separation belongs to b
   and, with the opposite sign, to a. */
static void to_quarters(const lg_screw *m, const double A[3][3][9], lg_quarters out[2][2])
{
    const double *axes[3] = {m->d[0], m->axes[0], m->axes[1]};
    double B[3][3][9];
    for (int p = 0; p < 3; p++)
        for (int q = 0; q < 3; q++)
            turn_block(axes[p], A[p][q], axes[q], B[p][q]);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            int row = i ? 1 : -1, column = j ? 1 : -1;
            out[i][j].has = 0;
            lg_quarters_add(&out[i][j], LG_XX, row * column, B[0][0]);
            lg_quarters_add(&out[i][j], LG_XR, row, B[0][1 + j]);
            lg_quarters_add(&out[i][j], LG_RX, column, B[1 + i][0]);
            lg_quarters_add(&out[i][j], LG_RR, 1, B[1 + i][1 + j]);
        }
}

/* The force turns with the axes of a. */
void lg_screw_stiffness(const lg_screw *m, const double s[6], const double Y[9][6], const double P[9][6],
                        lg_quarters K[2][2])
{
    double G[9][6], nine[9], hat[9], A[3][3][9] = {{{0}}};
    geometric_rows(m, s, G);
    add_products(Y, P, A);
    add_products(G, Y, A);
    lg_screw_forces(m, s, nine);
    lg_hat3(nine, hat);
    lg_axpy(9, -1, hat, A[0][1]);
    to_quarters(m, A, K);
}

void lg_screw_damping(const lg_screw *m, const double Y[9][6], const double W[9][6], lg_quarters D[2][2])
{
    double B[3][3][9] = {{{0}}};
    add_products(Y, W, B);
    to_quarters(m, B, D);
}
