/* The tangent of a modal body, column by column; see modal_inertia.c. */
#include "model/body/modal_tangent.h"

/* Adds F as column j of S, along the chain's link `level`. */
static void modal_add_column(const lg_modal_pass *y, const lg_chain *chain, int level, double s, int j, double *S,
                             int ld)
{
    int nv = y->block->nv;
    lg_zero(nv, y->column);
    lg_modal_project(y, y->F, y->column);
    lg_chain_add(y->block, chain, level, s, 0, nv, j, 1, y->column, nv, S, ld);
}

/* Column j of Hr, or a unit vector. */
static void rate_axis(const lg_modal_pass *y, const double *A, int j, double c[3])
{
    lg_zero(3, c);
    if (y->block->node->attitude)
        lg_copy(3, A + 3 * j, c);
    else
        c[j] = 1;
}

static void add_accelerations(const lg_modal_pass *y, double wa, const lg_chain *chain, double *S, int ld)
{
    static const double zero[3] = {0, 0, 0};
    const lg_node *node = y->block->node;
    double axis[3];
    for (int j = 0; j < 3; j++) {
        for (int i = 0; i < 3; i++)
            axis[i] = node->position == LG_POSITION_INERTIAL ? y->now->R[3 * j + i] : i == j;
        lg_modal_add_mass(y, axis, zero, NULL, lg_modal_cleared(y));
        modal_add_column(y, chain, 2, wa, j, S, ld);
    }
    for (int j = 0; j < node->attitude_n; j++) {
        rate_axis(y, y->now->attitude.H, j, axis);
        lg_modal_add_mass(y, zero, axis, NULL, lg_modal_cleared(y));
        modal_add_column(y, chain, 2, wa, node->attitude_v + j, S, ld);
    }
    for (int k = 0; k < y->m.n; k++) {
        double *F = lg_modal_cleared(y);
        lg_copy(3, y->m.shapes + 3 * k, F);
        lg_copy(3, y->c + 3 * k, F + 3);
        for (int l = 0; l < y->m.n; l++)
            F[6 + l] = lg_modal_trace(lg_modal_product(y, k, l));
        modal_add_column(y, chain, 2, wa, node->nv + k, S, ld);
    }
}

static void modal_add_velocities(const lg_modal_pass *y, const lg_attitude *slopes, const lg_chain *chain, double *S,
                                 int ld)
{
    static const double zero[3] = {0, 0, 0};
    const lg_node *node = y->block->node;
    double axis[3], A[3];
    for (int j = 0; node->position == LG_POSITION_BODY && j < 3; j++) {
        double unit[3] = {j == 0, j == 1, j == 2};
        lg_cross(y->now->omega, unit, A);
        lg_modal_add_mass(y, A, zero, NULL, lg_modal_cleared(y));
        modal_add_column(y, chain, 1, 1, j, S, ld);
    }
    for (int j = 0; j < node->attitude_n; j++) {
        rate_axis(y, y->now->attitude.H, j, axis);
        lg_modal_add_turn_slope(y, axis, lg_modal_cleared(y));
        lg_cross(axis, y->now->U, A);
        lg_modal_add_mass(y, A, node->attitude ? slopes->Av + 3 * j : zero, NULL, y->F);
        modal_add_column(y, chain, 1, 1, node->attitude_v + j, S, ld);
    }
    for (int k = 0; k < y->m.n; k++) {
        lg_modal_add_flow_slope(y, k, lg_modal_cleared(y));
        lg_axpy(y->m.n, 1, y->m.damping + k * y->m.n, y->F + 6);
        modal_add_column(y, chain, 1, 1, node->nv + k, S, ld);
    }
}

/* Adds the derivatives by a turn of the body if the block's velocities are inertial. `total`: F at (A, w', eta''),
   which turns with the body. */
static void add_rotation(const lg_modal_pass *y, const lg_attitude *slopes, const double A[3], const double total[6],
                         const lg_chain *chain, double *S, int ld)
{
    const lg_node *node = y->block->node;
    for (int j = 0; j < node->attitude_n; j++) {
        double axis[3], turned[3], none[3] = {0, 0, 0};
        rate_axis(y, y->now->attitude.H, j, axis);
        lg_cross(A, axis, turned);
        lg_modal_add_mass(y, turned, node->attitude ? slopes->Aq + 3 * j : none, NULL, lg_modal_cleared(y));
        if (node->attitude)
            lg_modal_add_turn_slope(y, slopes->Z + 3 * j, y->F);
        lg_add_cross(axis, total, y->F);
        modal_add_column(y, chain, 0, 1, node->attitude_v + j, S, ld);
    }
}

static void add_coordinates(const lg_modal_pass *y, const lg_attitude *slopes, const double *q, const double A[3],
                            const double turn[3], const lg_chain *chain, double *S, int ld)
{
    const lg_node *node = y->block->node;
    int r = node->attitude_v, m = node->attitude_n;
    lg_modal_add_mass(y, A, turn, y->bending, lg_modal_cleared(y));
    lg_modal_add_gyroscopic(y, y->F);
    double total[6], G[16];
    lg_copy(6, y->F, total);

    if (node->position == LG_POSITION_INERTIAL)
        add_rotation(y, slopes, A, total, chain, S, ld);
    if (node->attitude) {
        node->attitude->geo(q + node->attitude_q, total + 3, G);
        lg_chain_add(y->block, chain, 0, 1, r, m, r, m, G, m, S, ld);
    }
    for (int k = 0; k < y->m.n; k++) {
        lg_modal_add_bend_slope(y, k, A, turn, lg_modal_cleared(y));
        lg_axpy(y->m.n, 1, y->m.stiffness + k * y->m.n, y->F + 6);
        modal_add_column(y, chain, 0, 1, node->nv + k, S, ld);
    }
}

void lg_modal_add_tangent(const lg_modal_pass *y, const lg_point *at, const lg_chain *chain, double *S, int ld)
{
    const lg_node *node = y->block->node;
    const double *q = at->q + y->block->q, *v = at->v + y->block->v, *a = at->a ? at->a + y->block->v : NULL;
    add_accelerations(y, at->wa, chain, S, ld);
    if (chain->k[0] == 0 && chain->k[1] == 0)
        return;

    // the weighted accelerations wa a, and the slopes of the attitude there
    double A[3], turn[3], second[4] = {0};
    lg_attitude slopes = {.bias = {0}};
    lg_modal_to_floating_axes(y, at->wa, a, A, turn);
    lg_modal_add_bias(y, A, turn);
    for (int k = 0; k < y->m.n; k++)
        y->bending[k] = a ? at->wa * a[node->nv + k] : 0;
    if (node->attitude) {
        if (a)
            lg_axpy(node->attitude_n, at->wa, a + node->attitude_v, second);
        node->attitude->open(q + node->attitude_q, v + node->attitude_v, second, &slopes);
    }
    modal_add_velocities(y, &slopes, chain, S, ld);
    add_coordinates(y, &slopes, q, A, turn, chain, S, ld);
}
