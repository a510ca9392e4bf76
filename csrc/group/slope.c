/* The derivative of the tangent operator, from its series T y = sum c_k u_k, c_k = (-1)^k/(k + 1)!, in which u_0 = y
   and u_k+1 = theta^ u_k. With U_k = du_k/dtheta, U_k+1 = theta^ U_k - u_k^. It converges as fast as that of exp. */
#include "group/slope.h"

#include "core/small.h"

#include <float.h>

enum { MOST_TERMS = 200 };

/* B = A B */
static void slope_multiply(int n, const double *A, double *B)
{
    double column[LG_NODE_NV];
    for (int j = 0; j < n; j++) {
        lg_zero(n, column);
        for (int l = 0; l < n; l++)
            lg_axpy(n, B[l + n * j], A + n * l, column);
        lg_copy(n, column, B + n * j);
    }
}

/* T y = y - cosc z + sincc theta x z with z = theta x y. */
void lg_rotation_slope(const lg_angles *angles, const double theta[3], const double y[3], double W[9])
{
    double cosc = angles->x.cosc, sincc = angles->x.sincc, z[3], zz[3], turned[3], hat[9];
    lg_cross(theta, y, z);
    lg_cross(theta, z, zz);
    lg_hat3(y, hat); // row-major, and so the transpose
    for (int i = 0; i < 3; i++)
        turned[i] = angles->sincc_d * zz[i] - angles->x.cosc_d * z[i] - 2 * sincc * y[i];
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++)
            W[i + 3 * j] = turned[i] * theta[j] + sincc * theta[i] * y[j] - cosc * hat[i + 3 * j];
    double along = sincc * lg_dot3(theta, y);
    for (int i = 0; i < 9; i += 4)
        W[i] += along;
}

void lg_tangent_slope(const lg_node *node, const double *theta, const double *y, double *W)
{
    int n = node->nv, count = n * n;
    double A[LG_NODE_NV * LG_NODE_NV], V[LG_NODE_NV * LG_NODE_NV], U[LG_NODE_NV * LG_NODE_NV], u[LG_NODE_NV], c = 1;
    node->ad(0, theta, A);
    lg_copy(n, y, u);
    lg_zero(count, U);
    lg_zero(count, W);
    for (int k = 0; k < MOST_TERMS; k++) {
        node->ad(0, u, V);
        slope_multiply(n, A, U);
        lg_axpy(count, -1, V, U);
        double next[LG_NODE_NV] = {0};
        for (int l = 0; l < n; l++)
            lg_axpy(n, u[l], A + n * l, next);
        lg_copy(n, next, u);
        c /= -(k + 2);
        lg_axpy(count, c, U, W);
        if (k > 0 && fabs(c) * lg_max_abs(count, U) <= 0.25 * DBL_EPSILON * lg_max_abs(count, W))
            return;
    }
}
