/* The tangent of a rod's edge: derivatives of its wrenches in the nine relative motions; formulas in
   rod_strain.c. */
#include "model/joint/rod_tangent.h"

#include "core/small.h"
#include "model/tangent.h"

/* A (9 x 9 in blocks of 3 x 3, row-major) += L^T R */
static void add_products(const double L[9][6], const double R[9][6], double A[3][3][9])
{
    for (int p = 0; p < 9; p++)
        for (int q = 0; q < 9; q++)
            A[p / 3][q / 3][3 * (p % 3) + q % 3] += lg_dot3(L[p], R[q]) + lg_dot3(L[p] + 3, R[q] + 3);
}

/* The rows of d(Y^T s)/dxi at constant s, from those of T_+-^T s. */
static void geometric_rows(const lg_strained *k, const double s[6], double G[9][6])
{
    const double back[6] = {-k->r->xi[0], -k->r->xi[1], -k->r->xi[2], -k->r->xi[3], -k->r->xi[4], -k->r->xi[5]};
    double minus[36], plus[36];
    lg_se3_transposed_solve_d(back, &k->r->x, s, minus);
    lg_se3_transposed_solve_d(k->r->xi, &k->r->x, s, plus);
    for (int i = 0; i < 6; i++)
        for (int p = 0; p < 3; p++) {
            G[p][i] = -minus[6 * i + p];
            G[3 + p][i] = minus[6 * i + 3 + p];
            G[6 + p][i] = plus[6 * i + 3 + p];
        }
}

/* Columns of ds by the nine motions of the poses without damping: C/ds Y. */
static void elastic_columns(const lg_element *e, const double Y[9][6], double P[9][6])
{
    double per_length = 1 / e->p[LENGTH], strain[6];
    lg_zero(6, strain);
    for (int p = 0; p < 9; p++) {
        for (int i = e->info->nrows; i < 6; i++)
            strain[i] = per_length * Y[p][i];
        lg_edge_stress(e, strain, P[p]);
        lg_zero(e->info->nrows, P[p]);
    }
}

/* What damping adds to them, and the columns by the nine motions of the twists: 2 C_d/ds Q and W = 2 C_d/ds Y. */
static void add_damping(const lg_element *e, const lg_strained *k, const double Y[9][6], double P[9][6], double W[9][6])
{
    double Q[9][6], damping[6];
    lg_edge_rate_columns(k, Y, Q);
    for (int i = 0; i < 6; i++)
        damping[i] = 2 * e->p[DAMPING + i] / e->p[LENGTH];
    lg_zero(e->info->nrows, damping);
    for (int p = 0; p < 9; p++)
        for (int i = 0; i < 6; i++) {
            P[p][i] += damping[i] * Q[p][i];
            W[p][i] = damping[i] * Y[p][i];
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
        lg_out_of_section(R, LA + 3 * i, B + 3 * i);
}

/* Derivatives in the nine motions as those of the wrenches by pose or twist, on both frames: separation belongs to b
   and, with the opposite sign, to a. */
static void to_quarters(const lg_strained *k, const double A[3][3][9], lg_quarters out[2][2])
{
    const double *axes[3] = {k->d[0], k->axes[0], k->axes[1]};
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

/* Derivatives of the wrenches of Y^T sum by poses, for the columns P of dsum; the force turns with the axes of a. */
static void stiffness(const lg_strained *k, const double sum[6], const double Y[9][6], const double P[9][6],
                      lg_quarters K[2][2])
{
    double G[9][6], nine[9], hat[9], A[3][3][9] = {{{0}}};
    geometric_rows(k, sum, G);
    add_products(Y, P, A);
    add_products(G, Y, A);
    lg_edge_forces(k, sum, nine);
    lg_hat3(nine, hat);
    lg_axpy(9, -1, hat, A[0][1]);
    to_quarters(k, A, K);
}

void lg_edge_reaction_slopes(const lg_strained *k, const double lam[6], lg_quarters K[2][2])
{
    static const double none[9][6];
    double Y[9][6];
    lg_edge_columns(k, Y);
    stiffness(k, lam, Y, none, K);
}

void lg_edge_slopes(const lg_element *e, const lg_strained *k, const double sum[6], int damped, lg_quarters K[2][2],
                    lg_quarters D[2][2])
{
    double Y[9][6], P[9][6], W[9][6], B[3][3][9] = {{{0}}};
    D[0][0].has = D[0][1].has = D[1][0].has = D[1][1].has = 0;
    lg_edge_columns(k, Y);
    elastic_columns(e, Y, P);
    if (damped) {
        add_damping(e, k, Y, P, W);
        add_products(Y, W, B);
        to_quarters(k, B, D);
    }
    stiffness(k, sum, Y, P, K);
}

void lg_edge_tangent(const lg_joint *joint, const lg_strained *k, const lg_arms *arms, const double sum[6],
                     const lg_point *at, const lg_wanted *want)
{
    const lg_element *e = &joint->e;
    lg_quarters K[2][2], D[2][2];
    int damped = lg_edge_damped(e);
    lg_edge_slopes(e, k, sum, damped, K, D);
    lg_tangent_add_opened(e, arms, at, want, 1, K, damped ? D : NULL);
}
