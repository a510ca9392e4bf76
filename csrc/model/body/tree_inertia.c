/* Inverse dynamics of a tree (recursive Newton-Euler), whose work grows linearly with the number of links:

   V_i' = V_p' + S_i q_i'' + S_i' q_i',  S_i' = V_p x S_i  (p the parent of i);
   F_i = I_i V_i' + V_i x I_i V_i, plus those of the children;  tau_i = S_i . F_i. One pass computes the part due to q''
   and the remaining part separately; wa M a + gyro belongs to their sum with the weights wa and 1. */
#include "model/body/tree_inertia.h"

#include "model/share.h"

#include <stddef.h>

/* RJ = R J; the axes of many links are their principal axes. */
static void turn_inertia(const double R[9], const double I[6], double RJ[9])
{
    if (I[3] != 0 || I[4] != 0 || I[5] != 0) {
        double J[9];
        lg_inertia_matrix(I, J);
        lg_mul33(R, J, RJ);
        return;
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            RJ[3 * i + j] = R[3 * i + j] * I[j];
}

/* COM and inertia of a single body. */
static void set_inertia(const lg_tree_link *link, lg_tree_state *s)
{
    double RJ[9], *J = s->J;
    lg_mul3(s->R, link->com, s->c);
    lg_axpy(3, 1, s->y, s->c);
    turn_inertia(s->R, link->inertia, RJ);
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++)
            J[3 * i + j] = J[3 * j + i] = lg_dot3(RJ + 3 * i, s->R + 3 * j);
}

void lg_tree_set_sum(double mass, lg_tree_state *s)
{
    const double *c = s->c;
    double square = mass * lg_dot3(c, c), *J = s->sum.J;
    s->sum.mass = mass;
    lg_copy(9, s->J, J);
    for (int i = 0; i < 3; i++) {
        s->sum.h[i] = mass * c[i];
        lg_axpy(3, -s->sum.h[i], c, J + 3 * i);
        J[4 * i] += square;
    }
}

void lg_tree_set_inertias(const lg_body *b, lg_tree_state *state)
{
    for (int i = 0, n = lg_tree_size(b); i < n; i++)
        set_inertia(&lg_tree_links(b)[i], &state[i]);
}

/* F = I A + V x I V of a single body; V NULL: at rest. */
static void newton_euler(double mass, const lg_tree_state *s, const double A[6], const double *V, double F[6])
{
    double u[3], Jw[3];
    lg_twist_at(A, s->c, F);
    lg_mul3(s->J, A + 3, F + 3);
    if (V) {
        lg_twist_at(V, s->c, u);
        lg_add_cross(V + 3, u, F);
        lg_mul3(s->J, V + 3, Jw);
        lg_add_cross(V + 3, Jw, F + 3);
    }
    for (int i = 0; i < 3; i++)
        F[i] *= mass;
    lg_add_cross(s->c, F, F + 3);
}

void lg_tree_set_links(const lg_body *b, const lg_point *at, const double *a, int moves)
{
    const lg_tree_link *links = lg_tree_links(b);
    const double *v = at->v + b->block->v;
    lg_tree_state *state = lg_tree_states(b, at);
    for (int i = 0, n = lg_tree_size(b); i < n; i++) {
        lg_tree_state *s = &state[i];
        const lg_tree_state *parent = lg_tree_parent_state(b, state, i);
        set_inertia(&links[i], s);
        if (moves) {
            lg_tree_set_twist(parent, v[i], s);
            lg_tree_set_bias(parent, lg_tree_base_state(b, state, i), v[i], s);
            newton_euler(links[i].mass, s, s->bias, s->V, s->F[LG_BY_VELOCITY]);
        }
        if (a) {
            for (int k = 0; k < 6; k++)
                s->A[k] = parent->A[k] + s->S[k] * a[i];
            newton_euler(links[i].mass, s, s->A, NULL, s->F[LG_BY_ACCELERATION]);
        }
    }
}

void lg_tree_set_dynamics(const lg_body *b, const lg_point *at, const double *a, int moves, double *Ma, double *gyro)
{
    lg_tree_state *state = lg_tree_states(b, at);
    lg_tree_set_links(b, at, a, moves);
    for (int i = lg_tree_size(b) - 1; i >= 0; i--) {
        const lg_tree_state *s = &state[i];
        int p = lg_tree_parent(b, i);
        if (a && Ma)
            Ma[b->block->v + i] = lg_dot6(s->S, s->F[LG_BY_ACCELERATION]);
        if (moves && gyro)
            gyro[b->block->v + i] = lg_dot6(s->S, s->F[LG_BY_VELOCITY]);
        if (a && p >= 0)
            lg_axpy(6, 1, s->F[LG_BY_ACCELERATION], state[p].F[LG_BY_ACCELERATION]);
        if (moves && p >= 0)
            lg_axpy(6, 1, s->F[LG_BY_VELOCITY], state[p].F[LG_BY_VELOCITY]);
    }
}

void lg_tree_energy(const lg_body *b, const lg_point *at, double *T, double *V)
{
    (void)V;
    lg_tree_state *state = lg_tree_states(b, at);
    double energy = 0;
    for (int i = 0, n = lg_tree_size(b); i < n; i++) {
        const lg_tree_link *link = &lg_tree_links(b)[i];
        lg_tree_state *s = &state[i];
        double u[3], Jw[3];
        set_inertia(link, s);
        lg_twist_at(s->V, s->c, u);
        lg_mul3(s->J, s->V + 3, Jw);
        energy += (link->mass * lg_dot3(u, u) + lg_dot3(s->V + 3, Jw)) / 2;
    }
    *T += energy;
}

/* ---- derivatives by masses, centres of mass and inertias ---- */

enum { MASS = offsetof(lg_tree_link, mass) / sizeof(double) };

/* Those by c of m u.(A at c), where u is the velocity at c of the twist W, in link axes; V NULL: at rest. */
static void add_com(double mass, const lg_tree_state *s, const double *W, const double *A, const double *V,
                    const double u[3], const double acceleration[3], double slopes[3])
{
    double slope[3], turned[3], across[3];
    lg_cross(acceleration, W + 3, slope);
    lg_add_cross(u, A + 3, slope);
    if (V) {
        lg_cross(u, V + 3, across);
        lg_add_cross(across, V + 3, slope);
    }
    lg_mulT3(s->R, slope, turned);
    lg_axpy(3, mass, turned, slopes);
}

/* Those of the power along the twist W of what the link's inertia exerts at A and V. */
static void write_link(const lg_tree_link *link, const lg_tree_state *s, const double *W, const double *A,
                       const double *V, double *slopes)
{
    double u[3], at_com[3], acceleration[3], turn[3], omegadot[3], omega[3], across[3];
    lg_twist_at(W, s->c, u);
    lg_twist_at(A, s->c, acceleration);
    if (V) {
        lg_twist_at(V, s->c, at_com);
        lg_add_cross(V + 3, at_com, acceleration);
    }
    slopes[MASS] = lg_dot3(u, acceleration);
    add_com(link->mass, s, W, A, V, u, acceleration, slopes + MASS + 1);
    lg_mulT3(s->R, W + 3, turn);
    lg_mulT3(s->R, A + 3, omegadot);
    lg_inertia_add_products(turn, omegadot, slopes + MASS + 4);
    if (!V)
        return;
    lg_mulT3(s->R, V + 3, omega);
    lg_cross(turn, omega, across);
    lg_inertia_add_products(across, omega, slopes + MASS + 4);
}

/* The virtual twists take the place of the wrenches F. */
static void write_shares(const lg_body *b, const lg_point *at, const lg_term_weights *weights, double *slopes)
{
    int moves = weights->forces != NULL;
    const double *w = (moves ? weights->forces : weights->reactions) + b->block->v;
    lg_tree_state *state = lg_tree_states(b, at);
    lg_tree_set_links(b, at, at->a + b->block->v, moves);
    for (int i = 0, n = lg_tree_size(b); i < n; i++) {
        lg_tree_state *s = &state[i];
        const lg_tree_state *parent = lg_tree_parent_state(b, state, i);
        double *W = s->F[LG_BY_VELOCITY], A[6];
        for (int k = 0; k < 6; k++) {
            W[k] = parent->F[LG_BY_VELOCITY][k] + s->S[k] * w[i];
            A[k] = s->A[k] + (moves ? s->bias[k] : 0);
        }
        write_link(&lg_tree_links(b)[i], s, W, A, moves ? s->V : NULL, slopes + (size_t)LG_TREE_LINK_SIZE * (size_t)i);
    }
}

static int has_share(const lg_body *b, int parameter)
{
    (void)b;
    return parameter % LG_TREE_LINK_SIZE >= MASS;
}

const lg_body_shares lg_tree_shares = {.has = has_share, .write = write_shares};
