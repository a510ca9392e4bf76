/* Inertia of a tree of links in minimal coordinates (tree.h). Work grows linearly with the number of links for inverse
   dynamics (recursive Newton-Euler), and as links times depth for the mass matrix (composite bodies) and the tangent.

   Inverse dynamics: V_i' = V_p' + S_i q_i'' + S_i' q_i',  S_i' = V_p x S_i  (p the parent of i);
   F_i = I_i V_i' + V_i x I_i V_i, plus those of the children;  tau_i = S_i . F_i.

   Tangent (Singh, Russell, Wensing, Efficient analytical derivatives of rigid-body dynamics using spatial vector algebra,
   IEEE RA-L 2022), for j = i or an ancestor, with I, F and B summed over all that hangs on i, D_j = V_p' x S_j + V_p x S_j':
       d tau_i/dq_j  = S_i . (2 B S_j' + I D_j)      d tau_i/dq_j' = S_i . (2 B S_j + 2 I S_j')
       d tau_j/dq_i  = S_j . (2 B S_i' + I D_i + S_i x F)      d tau_j/dq_i' = S_j . (2 B S_i + 2 I S_i')
   For one body with the momentum p, h = mass times COM, the inertia J about o and the twist (v, w),
       2 B (u, r) = (2 r x p, G r),  G = w^ J - J w^ - (J w)^ + 2 (h . v) 1 - 2 v h^T,
   which sums over bodies as p and G do. */
#include "model/body/tree.h"
#include "model/triad.h"

static const lg_parameter parameters[] = {
    {"links", "SI", "per link: parent, joint, axes and origin in the parent, joint axis, mass, centre of mass, inertia",
     -1},
};

static lg_status check(const lg_body *b, const char **reason)
{
    int n = lg_tree_size(b);
    const lg_tree_link *links = lg_tree_links(b);
    *reason = NULL;
    if (n < 1 || b->e.np != n * LG_TREE_LINK_SIZE || !b->block || b->block->nv != n)
        *reason = "a tree has one coordinate per link";
    for (int i = 0; !*reason && i < n; i++) {
        double parent = links[i].parent;
        if (parent != floor(parent) || parent < -1 || parent >= i || (i == 0 && parent != -1))
            *reason = "a link's parent comes before it";
        if (links[i].slides != 0 && links[i].slides != 1)
            *reason = "a link's joint is 0 or 1";
        if (!lg_triad_orthonormal(links[i].R) || fabs(lg_norm3(links[i].axis) - 1) > 1e-9)
            *reason = "a link's axes are not orthonormal";
        if (!(links[i].mass >= 0))
            *reason = "a link's mass is negative";
    }
    return *reason ? LG_BAD_ARGUMENT : LG_OK;
}

static int parts(const lg_body *b)
{
    return lg_tree_size(b);
}

static size_t nwork(const lg_body *b)
{
    return (size_t)lg_tree_size(b) * LG_TREE_STATE_SIZE;
}

/* ---- kinematics ---- */

/* R = A exp(axis^ angle) */
static void turn(const double A[9], const double axis[3], double angle, double R[9])
{
    double s = sin(angle), half = sin(angle / 2), c = 2 * half * half, T[9];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            T[3 * i + j] = c * axis[i] * axis[j] + (i == j ? 1 - c : 0);
    T[1] -= s * axis[2], T[2] += s * axis[1], T[5] -= s * axis[0];
    T[3] += s * axis[2], T[6] -= s * axis[1], T[7] += s * axis[0];
    lg_mul33(A, T, R);
}

/* Pose and axis of a link on its parent. */
static void place(const lg_tree_link *link, const lg_tree_state *parent, double q, lg_tree_state *out)
{
    double A[9], step[3], axis[3];
    lg_mul33(parent->R, link->R, A);
    lg_mul3(parent->R, link->point, step);
    for (int i = 0; i < 3; i++)
        out->y[i] = parent->y[i] + step[i];
    lg_mul3(A, link->axis, axis);
    if (link->slides != 0) {
        lg_copy(9, A, out->R);
        lg_axpy(3, q, axis, out->y);
        lg_copy(3, axis, out->S);
        lg_zero(3, out->S + 3);
    } else {
        turn(A, link->axis, q, out->R);
        lg_cross(out->y, axis, out->S);
        lg_copy(3, axis, out->S + 3);
    }
}

static void move_links(const lg_body *b, const lg_point *at)
{
    const lg_tree_link *links = lg_tree_links(b);
    const double *q = at->q + b->block->q, *v = at->v + b->block->v;
    lg_tree_state *state = lg_tree_states(b, at), ground = {.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    for (int i = 0; i < 3; i++)
        ground.y[i] = -links[0].point[i];
    for (int i = 0; i < lg_tree_size(b); i++) {
        int p = lg_tree_parent(b, i);
        const lg_tree_state *parent = p < 0 ? &ground : &state[p];
        lg_tree_state *s = &state[i];
        place(&links[i], parent, q[i], s);
        lg_twist_cross(parent->V, s->S, s->Sdot);
        for (int k = 0; k < 6; k++) {
            s->V[k] = parent->V[k] + s->S[k] * v[i];
            s->bias[k] = parent->bias[k] + s->Sdot[k] * v[i];
        }
        lg_mulT3(s->R, s->V + 3, s->omega);
        lg_mulT3(s->R, s->bias + 3, s->omegadot);
        lg_zero(12, s->wrench[0]);
        lg_zero(6, s->geo), lg_zero(9, s->N);
    }
}

static void kinematics(lg_span bodies, const lg_point *at, lg_level level, int all)
{
    for (const lg_body *b = bodies.first; b < bodies.end; b++) {
        move_links(b, at);
        int n = all ? b->nframes : level == LG_NO_POSES ? 0 : b->nactive;
        for (int k = 0; k < n; k++)
            lg_tree_pose(&b->frames[k], at, level);
    }
}

/* ---- wrenches ---- */

/* out (NULL: not wanted) += the wrenches in the joints, summed over all that hangs on each link. */
static void gather_sum(const lg_body *b, const lg_point *at, int sum, double *out)
{
    lg_tree_state *state = lg_tree_states(b, at);
    for (int i = lg_tree_size(b) - 1; out && i >= 0; i--) {
        int p = lg_tree_parent(b, i);
        out[b->block->v + i] += lg_dot6(state[i].S, state[i].wrench[sum]);
        if (p >= 0)
            lg_axpy(6, 1, state[i].wrench[sum], state[p].wrench[sum]);
    }
}

/* The derivative of the sum of S_i . W over the wrenches W = (f, y x f + R m) collected on the links, at fixed f and m.
   With dW/dq_j = (0, d), d = (u_j + r_j x y) x f + r_j x R m = u_j x f + r_j x (y x f + R m) - N r_j,  N = (y . f) 1 - f y^T:
       geo_ij = r_i . d + (S_j x S_i) . W,  the second term only where j is an ancestor of i;
   W and N are those of all that hangs on both i and j. */
static void rotate_load(const lg_tree_state *sj, const lg_tree_state *load, double d[3])
{
    double Nr[3];
    lg_mul3(load->N, sj->S + 3, Nr);
    lg_cross(sj->S, load->geo, d);
    lg_add_cross(sj->S + 3, load->geo + 3, d);
    lg_axpy(3, -1, Nr, d);
}

static void gather_geo(const lg_body *b, const lg_point *at, const lg_chain *chain, double *S, int ld)
{
    lg_tree_state *state = lg_tree_states(b, at);
    if (chain->k[0] == 0)
        return;
    for (int i = lg_tree_size(b) - 1; i >= 0; i--) {
        const lg_tree_state *si = &state[i];
        double own[3], d[3], turned[6];
        rotate_load(si, si, own);
        lg_chain_add_entry(b->block, chain, 0, lg_dot3(si->S + 3, own), i, i, S, ld);
        for (int j = lg_tree_parent(b, i); j >= 0; j = lg_tree_parent(b, j)) {
            rotate_load(&state[j], si, d);
            lg_twist_cross(state[j].S, si->S, turned);
            double G = lg_dot3(si->S + 3, d) + lg_dot6(turned, si->geo);
            lg_chain_add_entry(b->block, chain, 0, G, i, j, S, ld);
            lg_chain_add_entry(b->block, chain, 0, lg_dot3(state[j].S + 3, own), j, i, S, ld);
        }
        int p = lg_tree_parent(b, i);
        if (p >= 0) {
            lg_axpy(6, 1, si->geo, state[p].geo);
            lg_axpy(9, 1, si->N, state[p].N);
        }
    }
}

static void gather(lg_span bodies, const lg_point *at, const lg_wanted *want)
{
    int tangent = want->S && want->chain, ld;
    for (const lg_body *b = bodies.first; b < bodies.end; b++) {
        for (int k = 0; k < b->nactive; k++)
            lg_tree_collect(&b->frames[k], at, tangent);
        gather_sum(b, at, LG_FORCES, want->force);
        gather_sum(b, at, LG_REACTIONS, want->Btlam);
        if (tangent) {
            double *S = lg_body_tangent(b, want, &ld);
            gather_geo(b, at, lg_chain_of(want, b->index), S, ld);
        }
    }
}

/* ---- one body ---- */

static void centre_of_mass(const lg_tree_link *link, const lg_tree_state *s, double c[3])
{
    lg_mul3(s->R, link->com, c);
    lg_axpy(3, 1, s->y, c);
}

/* A twist in the COM: its velocity in inertial axes, the angular velocity in link axes. */
static void at_centre(const lg_tree_state *s, const double c[3], const double twist[6], double u[3], double w[3])
{
    lg_twist_at(twist, c, u);
    lg_mulT3(s->R, twist + 3, w);
}

/* F = I A + V x I V of a body alone; `moves`: V counts. */
static void newton_euler(const lg_tree_link *link, const lg_tree_state *s, const double A[6], int moves, double F[6])
{
    double J[9], c[3], u[3], w[3], alpha[3], Jw[3], moment[3];
    lg_inertia_matrix(link->inertia, J);
    centre_of_mass(link, s, c);
    at_centre(s, c, A, F, alpha);
    lg_mul3(J, alpha, moment);
    if (moves) {
        at_centre(s, c, s->V, u, w);
        lg_add_cross(s->V + 3, u, F);
        lg_mul3(J, w, Jw);
        lg_add_cross(w, Jw, moment);
    }
    for (int i = 0; i < 3; i++)
        F[i] *= link->mass;
    lg_mul3(s->R, moment, F + 3);
    lg_add_cross(c, F, F + 3);
}

/* Mass, h, J about o of a body alone. */
static void own_inertia(const lg_tree_link *link, lg_tree_state *s)
{
    double c[3], J[9], RJ[9];
    centre_of_mass(link, s, c);
    lg_inertia_matrix(link->inertia, J);
    lg_mul33(s->R, J, RJ);
    double square = lg_dot3(c, c);
    s->mass = link->mass;
    for (int i = 0; i < 3; i++) {
        s->h[i] = link->mass * c[i];
        for (int j = 0; j < 3; j++)
            s->J[3 * i + j] = lg_dot3(RJ + 3 * i, s->R + 3 * j) + link->mass * ((i == j ? square : 0) - c[i] * c[j]);
    }
}

/* p and G of a body alone. */
static void own_gyroscopic(lg_tree_state *s)
{
    const double *v = s->V, *w = s->V + 3;
    double hat[9], Jhat[9], Jw[3];
    for (int i = 0; i < 3; i++)
        s->p[i] = s->mass * v[i];
    lg_add_cross(w, s->h, s->p);

    lg_hat3(w, hat);
    lg_mul33(hat, s->J, s->G);
    lg_mul33(s->J, hat, Jhat);
    lg_mul3(s->J, w, Jw);
    lg_hat3(Jw, hat);
    double hv = lg_dot3(s->h, v);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            s->G[3 * i + j] += 2 * ((i == j ? hv : 0) - v[i] * s->h[j]) - Jhat[3 * i + j] - hat[3 * i + j];
}

/* Y = I X */
static void mul_inertia(const lg_tree_state *s, const double X[6], double Y[6])
{
    lg_cross(X + 3, s->h, Y);
    lg_axpy(3, s->mass, X, Y);
    lg_mul3(s->J, X + 3, Y + 3);
    lg_add_cross(s->h, X, Y + 3);
}

/* ---- inverse dynamics ---- */

/* force += S . F of all links, F being summed towards the root on the way. */
static void project(const lg_body *b, lg_tree_state *state, double *force)
{
    for (int i = lg_tree_size(b) - 1; i >= 0; i--) {
        int p = lg_tree_parent(b, i);
        if (force)
            force[i] += lg_dot6(state[i].S, state[i].F);
        if (p >= 0)
            lg_axpy(6, 1, state[i].F, state[p].F);
    }
}

/* A = V' of every link at the joint accelerations s a, with or without the terms of the velocities. */
static void accelerate(const lg_body *b, lg_tree_state *state, double s, const double *a, int moves)
{
    for (int i = 0; i < lg_tree_size(b); i++) {
        int p = lg_tree_parent(b, i);
        double own = a ? s * a[i] : 0;
        for (int k = 0; k < 6; k++) {
            // bias differences along the tree are S' q'
            double turning = moves ? state[i].bias[k] - (p < 0 ? 0 : state[p].bias[k]) : 0;
            state[i].A[k] = (p < 0 ? 0 : state[p].A[k]) + turning + state[i].S[k] * own;
        }
    }
}

static void inverse_dynamics(const lg_body *b, lg_tree_state *state, double s, const double *a, int moves,
                             double *force)
{
    const lg_tree_link *links = lg_tree_links(b);
    accelerate(b, state, s, a, moves);
    for (int i = 0; i < lg_tree_size(b); i++)
        newton_euler(&links[i], &state[i], state[i].A, moves, state[i].F);
    project(b, state, force);
}

/* ---- mass matrix and tangent ---- */

static void composite(const lg_body *b, lg_tree_state *state, int moves)
{
    const lg_tree_link *links = lg_tree_links(b);
    int n = lg_tree_size(b);
    for (int i = 0; i < n; i++) {
        own_inertia(&links[i], &state[i]);
        if (moves)
            own_gyroscopic(&state[i]);
    }
    for (int i = n - 1; i >= 0; i--) {
        int p = lg_tree_parent(b, i);
        if (p < 0)
            continue;
        state[p].mass += state[i].mass;
        lg_axpy(3, 1, state[i].h, state[p].h);
        lg_axpy(9, 1, state[i].J, state[p].J);
        lg_axpy(3, 1, state[i].p, state[p].p);
        lg_axpy(9, 1, state[i].G, state[p].G);
    }
}

static void add_mass(const lg_body *b, const lg_tree_state *state, const lg_chain *chain, double s, double *S, int ld)
{
    for (int i = 0; i < lg_tree_size(b); i++) {
        double Y[6];
        mul_inertia(&state[i], state[i].S, Y);
        for (int j = i; j >= 0; j = lg_tree_parent(b, j)) {
            double M = s * lg_dot6(state[j].S, Y);
            lg_chain_add_entry(b->block, chain, 2, M, i, j, S, ld);
            if (j != i)
                lg_chain_add_entry(b->block, chain, 2, M, j, i, S, ld);
        }
    }
}

/* D = V_p' x S + V_p x S' of link i */
static void second_rate(const lg_body *b, const lg_tree_state *state, int i, double D[6])
{
    int p = lg_tree_parent(b, i);
    double turned[6];
    lg_zero(6, D);
    if (p < 0)
        return;
    lg_twist_cross(state[p].A, state[i].S, D);
    lg_twist_cross(state[p].V, state[i].Sdot, turned);
    lg_axpy(6, 1, turned, D);
}

/* W += 2 B X */
static void add_gyroscopic(const lg_tree_state *s, const double X[6], double W[6])
{
    double Gr[3], rp[3];
    lg_mul3(s->G, X + 3, Gr);
    lg_cross(X + 3, s->p, rp);
    lg_axpy(3, 2, rp, W);
    lg_axpy(3, 1, Gr, W + 3);
}

/* Wrenches on all that hangs on link i per dq_i and dq_i', and the row S_i . 2 B, which acts on angular parts only. */
typedef struct follow {
    double I[6], q[6], v[6], B[3];
} follow;

static void open_follow(const lg_body *b, const lg_tree_state *state, int i, follow *out)
{
    const lg_tree_state *s = &state[i];
    double D[6], ISdot[6], pu[3];
    second_rate(b, state, i, D);
    mul_inertia(s, s->S, out->I);
    mul_inertia(s, D, out->q);
    add_gyroscopic(s, s->Sdot, out->q);
    lg_wrench_add_cross(s->S, s->F, out->q);

    mul_inertia(s, s->Sdot, ISdot);
    for (int k = 0; k < 6; k++)
        out->v[k] = 2 * ISdot[k];
    add_gyroscopic(s, s->S, out->v);

    lg_mulT3(s->G, s->S + 3, out->B);
    lg_cross(s->p, s->S, pu);
    lg_axpy(3, 2, pu, out->B);
}

static void add_rates(const lg_body *b, const lg_tree_state *state, const lg_chain *chain, double *S, int ld)
{
    for (int i = 0; i < lg_tree_size(b); i++) {
        follow f;
        open_follow(b, state, i, &f);
        for (int j = i; j >= 0; j = lg_tree_parent(b, j)) {
            const lg_tree_state *s = &state[j];
            double D[6];
            second_rate(b, state, j, D);
            lg_chain_add_entry(b->block, chain, 0, lg_dot3(f.B, s->Sdot + 3) + lg_dot6(f.I, D), i, j, S, ld);
            lg_chain_add_entry(b->block, chain, 1, lg_dot3(f.B, s->S + 3) + 2 * lg_dot6(f.I, s->Sdot), i, j, S, ld);
            if (j == i)
                continue;
            lg_chain_add_entry(b->block, chain, 0, lg_dot6(s->S, f.q), j, i, S, ld);
            lg_chain_add_entry(b->block, chain, 1, lg_dot6(s->S, f.v), j, i, S, ld);
        }
    }
}

static void add_inertia(const lg_body *b, const lg_point *at, const lg_wanted *want)
{
    lg_tree_state *state = lg_tree_states(b, at);
    const double *a = at->a ? at->a + b->block->v : NULL;
    if (want->Ma)
        inverse_dynamics(b, state, 1, a, 0, want->Ma + b->block->v);
    if (want->gyro)
        inverse_dynamics(b, state, 0, NULL, 1, want->gyro + b->block->v);
    if (!want->S)
        return;

    const lg_chain *chain = lg_chain_of(want, b->index);
    int rates = chain->k[0] != 0 || chain->k[1] != 0, ld;
    double *S = lg_body_tangent(b, want, &ld);
    composite(b, state, rates);
    add_mass(b, state, chain, at->wa, S, ld);
    if (rates) {
        inverse_dynamics(b, state, at->wa, a, 1, NULL);
        add_rates(b, state, chain, S, ld);
    }
}

static void inertia(lg_span bodies, const lg_point *at, const lg_wanted *want)
{
    for (const lg_body *b = bodies.first; b < bodies.end; b++)
        add_inertia(b, at, want);
}

static double kinetic(const lg_body *b, const lg_point *at)
{
    const lg_tree_link *links = lg_tree_links(b);
    const lg_tree_state *state = lg_tree_states(b, at);
    double energy = 0;
    for (int i = 0; i < lg_tree_size(b); i++) {
        double J[9], c[3], u[3], w[3], Jw[3];
        lg_inertia_matrix(links[i].inertia, J);
        centre_of_mass(&links[i], &state[i], c);
        at_centre(&state[i], c, state[i].V, u, w);
        lg_mul3(J, w, Jw);
        energy += (links[i].mass * lg_dot3(u, u) + lg_dot3(w, Jw)) / 2;
    }
    return energy;
}

/* What the joint's constraint does to its link, at the link's origin: all that accelerates what hangs on the link, less
   the applied wrenches there and less the joint's own axis, along which only drives act. */
static void transmit(const lg_body *b, const lg_point *at, int part, double wrench[6])
{
    lg_tree_state *state = lg_tree_states(b, at), *s = &state[part];
    double axis[3];
    inverse_dynamics(b, state, 1, at->a + b->block->v, 1, NULL);
    for (int i = 0; i < 6; i++)
        wrench[i] = s->F[i] - s->wrench[0][i] + s->wrench[1][i];
    lg_add_cross(wrench, s->y, wrench + 3);

    double *free = lg_tree_links(b)[part].slides != 0 ? wrench : wrench + 3;
    lg_mul3(s->R, lg_tree_links(b)[part].axis, axis);
    lg_axpy(3, -lg_dot3(axis, free), axis, free);
}

const lg_body_type lg_tree = {
    .info = {.family = "body",
             .name = "tree",
             .doc = "An open tree of links on revolute and prismatic joints, with one coordinate per joint.",
             .reference = "holzinger2024 4.4",
             .nframes = 1,
             .parameters = parameters,
             .nparameters = 1},
    .check = check,
    .parts = parts,
    .nwork = nwork,
    .kinematics = kinematics,
    .inertia = inertia,
    .gather = gather,
    .kinetic = kinetic,
    .pull = lg_tree_pull,
    .pull_rate = lg_tree_pull_rate,
    .H = lg_tree_H,
    .Z = lg_tree_Z,
    .transmit = transmit,
};
