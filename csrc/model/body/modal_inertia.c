/* Inertia of a flexible body in modal coordinates (modal_state.h): a floating frame of reference with every term exact.
   Sums over particles are formed beforehand, so that the cost depends only on the number of modes. Shabana, Dynamics of
   Multibody Systems, 2020, Ch. 5; Zwoelfer, Gerstmayr, Acta Mech. 232, 2021.

   In floating axes, with r = X + Phi eta, the acceleration A = R^T x'' of the frame's origin, its angular velocity w:
       s = sum m r,  J = tr(P) 1 - P  with  P = sum m r r^T,  Q_l = sum m r Phi_l^T,  c_l = sum m r x Phi_l = ax(Q_l)
       P_kl = sum m Phi_k Phi_l^T,  S_l = sum m Phi_l,  Q = sum_l Q_l eta_l'
   and the residual is F = M (A, w', eta'') + h, with eta'' . (S_l, c_l, tr P_kl) in the last columns of M and
       h_t = w x (w x s) + 2 w x S eta'                        M = [ m 1, -s^, S ; s^, J, C ; S^T, C^T, tr P_kl ]
       h_r = w x J w + 2 (tr(Q) w - Q^T w)
       h_l = w . Q_l w - w.w tr(Q_l) + 2 w . sum_k ax(P_kl) eta_k'
   Derivatives: dQ_l/deta_k = P_kl, ds/deta_k = S_k, dP/deta_k = Q_k + Q_k^T. The velocities of the block see F through
   A = R^T x'' or U' + w x U, and w = Hr e'. */
#include "model/body/modal_inertia.h"

lg_modal_pass lg_modal_open(const lg_body *self, const lg_point *at)
{
    const lg_block *b = self->block;
    lg_modal_pass out = {.m = lg_modal_of(self), .block = b, .now = lg_modal_state_of(self, at)};
    out.Q = at->work + self->work + LG_MODAL_STATE_SIZE + (size_t)self->nframes * LG_FLEX_SIZE;
    out.c = out.Q + 9 * out.m.n;
    out.F = out.c + 3 * out.m.n;
    out.column = out.F + 6 + out.m.n;
    out.bending = out.column + b->nv;
    out.eta = at->q + b->q + b->node->nq;
    out.etadot = at->v + b->v + b->node->nv;
    return out;
}

size_t lg_modal_nwork(const lg_body *b)
{
    size_t frames = (size_t)b->nframes * LG_FLEX_SIZE, n = (size_t)lg_modal_of(b).n;
    return LG_MODAL_STATE_SIZE + frames + 14 * n + 6 + (size_t)b->block->nv;
}

/* ---- 3 x 3 ---- */

/* c = sum a x b, for A = sum a b^T */
static void axial(const double A[9], double c[3])
{
    c[0] = A[5] - A[7], c[1] = A[6] - A[2], c[2] = A[1] - A[3];
}

/* B = tr(D) 1 - D, for D = A + A^T */
static void inertia_of(const double A[9], double B[9])
{
    double t = 2 * lg_modal_trace(A);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            B[3 * i + j] = (i == j ? t : 0) - A[3 * i + j] - A[3 * j + i];
}

/* out += 2 (tr(A) w - A^T w) */
static void add_coriolis(const double A[9], const double w[3], double out[3])
{
    double Aw[3];
    lg_mulT3(A, w, Aw);
    lg_axpy(3, 2 * lg_modal_trace(A), w, out);
    lg_axpy(3, -2, Aw, out);
}

/* u . A w - u.w tr(A) */
static double centrifugal(const double A[9], const double u[3], const double w[3])
{
    double Aw[3];
    lg_mul3(A, w, Aw);
    return lg_dot3(u, Aw) - lg_dot3(u, w) * lg_modal_trace(A);
}

/* ---- moments ---- */

void lg_modal_set_moments(const lg_modal_pass *y)
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
            lg_axpy(9, y->eta[k], lg_modal_product(y, k, l), Q);
        axial(Q, y->c + 3 * l);
        lg_axpy(3, y->eta[l], y->m.shapes + 3 * l, now->s);
        lg_axpy(3, y->etadot[l], y->m.shapes + 3 * l, now->flow);
        lg_axpy(9, y->etadot[l], Q, now->Q);
        // P = P_0 + sum eta (mixed^T + Q); Q includes the other half of the linear terms
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                now->P[3 * i + j] += y->eta[l] * (y->m.mixed[9 * l + 3 * j + i] + Q[3 * i + j]);
    }
    double t = lg_modal_trace(now->P);
    for (int i = 0; i < 9; i++)
        now->J[i] = (i % 4 == 0 ? t : 0) - now->P[i];
}

/* ---- F and its derivatives ---- */

void lg_modal_add_mass(const lg_modal_pass *y, const double A[3], const double turn[3], const double *bending,
                       double *F)
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
            F[6 + k] += bending[l] * lg_modal_trace(lg_modal_product(y, k, l));
    }
}

void lg_modal_add_gyroscopic(const lg_modal_pass *y, double *F)
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
            axial(lg_modal_product(y, k, l), a);
            F[6 + l] += 2 * y->etadot[k] * lg_dot3(w, a);
        }
    }
}

void lg_modal_add_turn_slope(const lg_modal_pass *y, const double d[3], double *F)
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
            axial(lg_modal_product(y, k, l), a);
            F[6 + l] += 2 * y->etadot[k] * lg_dot3(d, a);
        }
    }
}

void lg_modal_add_flow_slope(const lg_modal_pass *y, int k, double *F)
{
    const double *w = y->now->omega;
    double u[3];
    lg_cross(w, y->m.shapes + 3 * k, u);
    lg_axpy(3, 2, u, F);
    add_coriolis(y->Q + 9 * k, w, F + 3);
    for (int l = 0; l < y->m.n; l++) {
        double a[3];
        axial(lg_modal_product(y, k, l), a);
        F[6 + l] += 2 * lg_dot3(w, a);
    }
}

void lg_modal_add_bend_slope(const lg_modal_pass *y, int k, const double A[3], const double turn[3], double *F)
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
        const double *P = lg_modal_product(y, k, l);
        double a[3];
        axial(P, a);
        lg_axpy(9, y->etadot[l], P, V);
        lg_axpy(3, y->bending[l], a, F + 3);
        F[6 + l] += lg_dot3(a, turn) + centrifugal(P, w, w);
    }
    add_coriolis(V, w, F + 3);
}

/* ---- the block's velocities ---- */

void lg_modal_project(const lg_modal_pass *y, const double *F, double *out)
{
    const lg_node *node = y->block->node;
    double Ft[3];
    if (node->position == LG_POSITION_INERTIAL)
        lg_mul3(y->now->R, F, Ft);
    else
        lg_copy(3, F, Ft);
    lg_axpy(3, 1, Ft, out);
    for (int j = 0; j < node->attitude_n; j++)
        out[node->attitude_v + j] += node->attitude ? lg_dot3(y->now->attitude.H + 3 * j, F + 3) : F[3 + j];
    lg_axpy(y->m.n, 1, F + 6, out + node->nv);
}

void lg_modal_to_floating_axes(const lg_modal_pass *y, double s, const double *a, double A[3], double turn[3])
{
    const lg_node *node = y->block->node;
    lg_zero(3, A), lg_zero(3, turn);
    if (!a)
        return;
    if (node->position == LG_POSITION_INERTIAL)
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

void lg_modal_add_bias(const lg_modal_pass *y, double A[3], double turn[3])
{
    lg_add_cross(y->now->omega, y->now->U, A);
    if (y->block->node->attitude)
        lg_axpy(3, 1, y->now->attitude.bias, turn);
}

double *lg_modal_cleared(const lg_modal_pass *y)
{
    lg_zero(6 + y->m.n, y->F);
    return y->F;
}
