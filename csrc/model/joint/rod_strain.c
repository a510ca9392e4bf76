/* The edge of a Cosserat rod between two nodes: a joint with compliance (tumiotto2024, Sect. 4). Its first two or three
   strains may be constrained, which gives rows; the others give stress.

   With the sections' poses g_a, g_b in SE(3), their twists v_a, v_b in section axes, linear before angular, the length
   ds, T^-1 as in semidirect.h and T_+ = T^-1(xi), T_- = T^-1(-xi):

       strain    w  = xi/ds,   xi = log(g_a^-1 g_b), continued from no strain: rod_turn.c
       its rate  w' = xi'/ds,  xi' = T_+ v_b - T_- v_a = Y y
       stress    s  = C (w - w0(t)) + 2 C_d w',  0 where the strain is constrained
       potential V  = ds/2 (w - w0)^T C (w - w0), constrained strains left out
       rows      phi_k = xi_k - ds w0_k(t)
       wrenches  T_-^T s on a,  -T_+^T s on b

   Order of strains: shear along d1 and d2, stretch along d3 (1 where the length is ds), bending about d1 and d2,
   torsion about d3. The damping acts on the rate of the strain itself, not on that of w - w0(t).

   Only relative motion matters: y = (u, omega_a, omega_b), u = R_a^T (x_b' - x_a') and the angular velocities in
   section axes. T_+ = [A, C; 0, A] and T_- = [A^T, C^T; 0, A^T], so that Y = [A^T, -C^T, C; 0, -A^T, A]. Rows, their
   rates, wrenches and tangents are formed for these nine motions; Y^T s holds the force on b in the axes of a, whose
   opposite acts on a, and both moments. The residual J^T lam - force has those of s + lam. */
#include "model/joint/rod_strain.h"

/* ---- its rate ---- */

void lg_edge_turn_rate(const lg_strained *k, double rate[3])
{
    double inertial[3], of_a[3];
    lg_mul3(k->d[0], k->y + 3, inertial);
    lg_mulT3(k->d[1], inertial, of_a);
    for (int i = 0; i < 3; i++)
        rate[i] = k->y[6 + i] - of_a[i];
}

/* ---- stress and wrenches ---- */

void lg_edge_on_frames(const lg_strained *k, const double nine[9], double w[2][6])
{
    lg_mul3(k->d[0], nine, w[1]);
    for (int i = 0; i < 3; i++)
        w[0][i] = -w[1][i];
    lg_out_of_section(k->axes[0], nine + 3, w[0] + 3);
    lg_out_of_section(k->axes[1], nine + 6, w[1] + 3);
}

/* ---- derivatives ---- */

void lg_edge_columns(const lg_strained *k, double Y[9][6])
{
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++) {
            Y[j][i] = k->A[3 * j + i], Y[j][3 + i] = 0;
            Y[3 + j][i] = -k->C[3 * j + i], Y[3 + j][3 + i] = -k->A[3 * j + i];
            Y[6 + j][i] = k->C[3 * i + j], Y[6 + j][3 + i] = k->A[3 * i + j];
        }
}

/* The columns of d(Y y) by the nine motions of the poses at constant twists: H = d(Y y)/dxi times Y, and u in the axes
   of a, which changes by u x dphi_a. Y y = T_+ (0, omega_b) - T_- (-u, omega_a). */
void lg_edge_rate_columns(const lg_strained *k, const double Y[9][6], double Q[9][6])
{
    const double back[6] = {-k->r->xi[0], -k->r->xi[1], -k->r->xi[2], -k->r->xi[3], -k->r->xi[4], -k->r->xi[5]},
                 *u = k->y;
    const double v_a[6] = {-u[0], -u[1], -u[2], k->y[3], k->y[4], k->y[5]},
                 v_b[6] = {0, 0, 0, k->y[6], k->y[7], k->y[8]};
    double H[36], from_a[36], hat[9];
    lg_se3_tangent_solve_d(k->r->xi, &k->r->x, v_b, H);
    lg_se3_tangent_solve_d(back, &k->r->x, v_a, from_a); // d(-T_- v_a)/dxi
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
