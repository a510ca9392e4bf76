/* Inertia of a tree of links in minimal coordinates (tree.h). Work grows linearly with the number of links for inverse
   dynamics (recursive Newton-Euler), and as links times depth for the mass matrix (composite bodies) and the tangent.

   Inverse dynamics: V_i' = V_p' + S_i q_i'' + S_i' q_i',  S_i' = V_p x S_i  (p the parent of i);
   F_i = I_i V_i' + V_i x I_i V_i, plus those of the children;  tau_i = S_i . F_i. One pass computes the part due to q''
   and the remaining part separately; wa M a + gyro belongs to their sum with the weights wa and 1.

   Tangent (Singh, Russell, Wensing, Efficient analytical derivatives of rigid-body dynamics using spatial vector
   algebra, IEEE RA-L 2022), for j = i or an ancestor, with I, F and B summed over the subtree of i, D_j = V_p' x S_j +
   V_p x S_j':
       d tau_i/dq_j = S_i . (2 B S_j' + I D_j)      d tau_i/dq_j' = S_i . (2 B S_j + 2 I S_j')
       d tau_j/dq_i = S_j . (2 B S_i' + I D_i + S_i x F)      d tau_j/dq_i' = S_j . (2 B S_i + 2 I S_i')
   and d tau_i/dq_j'' = d tau_j/dq_i'' = S_j . I S_i. If q, q', q'' follow the unknown by k0, k1, k2, these add up to
       S_ij = S_i . (I a_j + 2 B b_j)      S_ji = S_j . (I a_i + 2 B b_i + k0 S_i x F)
       a_j = k0 D_j + 2 k1 S_j' + wa k2 S_j      b_j = k0 S_j' + k1 S_j.
   For one body with the momentum p, h = mass times COM, the inertia J about o and the twist (v, w),
       2 B (u, r) = (2 r x p, G r),  G = w^ J - J w^ - (J w)^ + 2 (h . v) 1 - 2 v h^T,
   which is summed over bodies like p and G. */
#include "model/body/tree.h"
#include "model/triad.h"

static const lg_parameter parameters[] = {
    {"links", "SI", "per link: parent, joint, axes and origin in the parent, joint axis, mass, centre of mass, inertia",
     -1},
};

/* A link that turns about z of the ground, (0.1, -0.2, 0.3) away from the origin. */
static const lg_tree_link example = {
    .parent = -1,
    .R = {1, 0, 0, 0, 1, 0, 0, 0, 1},
    .point = {0.1, -0.2, 0.3},
    .axis = {0, 0, 1},
    .mass = 1.5,
    .com = {0.3, 0.1, -0.2},
    .inertia = {2, 3, 4, 0.1, -0.2, 0.3},
};

static lg_status check(const lg_body *b, const char **reason)
{
    int n = lg_tree_size(b);
    const lg_tree_link *links = lg_tree_links(b);
    *reason = NULL;
    if (n < 1 || b->e.np != n * LG_TREE_LINK_SIZE || !b->block || b->block->nv != n)
        *reason = "the number of links must be that of the block's coordinates";
    for (int i = 0; !*reason && i < n; i++) {
        double parent = links[i].parent;
        if (parent != floor(parent) || parent < -1 || parent >= i || (i == 0 && parent != -1))
            *reason = "a link's parent must come before it";
        if (links[i].slides != 0 && links[i].slides != 1)
            *reason = "a link's joint must be 0 (revolute) or 1 (prismatic)";
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

static int nprepared(int nparameters)
{
    return nparameters / LG_TREE_LINK_SIZE * LG_TREE_JOINT_SIZE;
}

static const lg_tree_joint *joints_of(const lg_body *b)
{
    return (const lg_tree_joint *)b->prepared;
}

/* R exp(a^ q) = R a a^T + cos q R (1 - a a^T) + sin q R a^ */
static void prepare_joint(const lg_tree_link *link, lg_tree_joint *joint)
{
    const double *a = link->axis;
    double hat[9];
    lg_mul3(link->R, a, joint->axis);
    lg_hat3(a, hat);
    lg_mul33(link->R, hat, joint->W);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            joint->K[3 * i + j] = joint->axis[i] * a[j];
            joint->C[3 * i + j] = link->R[3 * i + j] - joint->K[3 * i + j];
        }
    if (link->slides != 0)
        lg_copy(9, link->R, joint->K);
}

static void prepare(const lg_body *b, double *prepared)
{
    for (int i = 0; i < lg_tree_size(b); i++)
        prepare_joint(&lg_tree_links(b)[i], (lg_tree_joint *)(void *)prepared + i);
}

/* ---- kinematics ---- */

static const lg_tree_state ground = {.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};

/* The state of a link's parent. The ground's origin is not o, which matters only in `place`. */
static const lg_tree_state *parent_of(const lg_body *b, const lg_tree_state *state, int link)
{
    int p = lg_tree_parent(b, link);
    return p < 0 ? &ground : &state[p];
}

/* Pose and axis of a link on its parent; o: of the tree, seen from the ground. */
static void place(const lg_tree_link *link, const lg_tree_joint *joint, const lg_tree_state *parent, const double o[3],
                  double q, lg_tree_state *out)
{
    double y[3], axis[3];
    lg_mul3(parent->R, joint->axis, axis);
    lg_mul3(parent->R, link->point, y);
    lg_axpy(3, 1, parent->y, y);
    if (parent == &ground)
        lg_axpy(3, -1, o, y);
    if (link->slides != 0) {
        lg_mul33(parent->R, joint->K, out->R);
        lg_axpy(3, q, axis, y);
        lg_copy(3, axis, out->S);
        lg_zero(3, out->S + 3);
    } else {
        double M[9], c = cos(q), s = sin(q);
        for (int i = 0; i < 9; i++)
            M[i] = joint->K[i] + c * joint->C[i] + s * joint->W[i];
        lg_mul33(parent->R, M, out->R);
        lg_cross(y, axis, out->S);
        lg_copy(3, axis, out->S + 3);
    }
    lg_copy(3, y, out->y);
}

static void set_places(const lg_body *b, const lg_point *at)
{
    const lg_tree_link *links = lg_tree_links(b);
    const lg_tree_joint *joints = joints_of(b);
    const double *q = at->q + b->block->q;
    lg_tree_state *state = lg_tree_states(b, at);
    for (int i = 0, n = lg_tree_size(b); i < n; i++)
        place(&links[i], &joints[i], parent_of(b, state, i), links[0].point, q[i], &state[i]);
}

static inline void set_twist(const lg_tree_state *parent, double v, lg_tree_state *s)
{
    for (int k = 0; k < 6; k++)
        s->V[k] = parent->V[k] + s->S[k] * v;
}

static inline void set_bias(const lg_tree_state *parent, double v, lg_tree_state *s)
{
    lg_twist_cross(parent->V, s->S, s->Sdot);
    for (int k = 0; k < 6; k++)
        s->bias[k] = parent->bias[k] + s->Sdot[k] * v;
}

/* Twists and biases, and the values of them that frames refer to. */
static void set_motion(const lg_body *b, const lg_point *at, lg_level level)
{
    const double *v = at->v + b->block->v;
    lg_tree_state *state = lg_tree_states(b, at);
    for (int i = 0, n = lg_tree_size(b); i < n; i++) {
        lg_tree_state *s = &state[i];
        const lg_tree_state *parent = parent_of(b, state, i);
        set_twist(parent, v[i], s);
        lg_mulT3(s->R, s->V + 3, s->omega);
        if (level < LG_BIASES)
            continue;
        set_bias(parent, v[i], s);
        lg_mulT3(s->R, s->bias + 3, s->omegadot);
    }
}

static void kinematics(lg_span bodies, const lg_point *at, lg_level level, int all)
{
    for (const lg_body *b = bodies.first; b < bodies.end; b++) {
        set_places(b, at);
        if (level >= LG_TWISTS)
            set_motion(b, at, level);
        int n = all ? b->nframes : level == LG_NO_POSES ? 0 : b->nactive;
        for (int k = 0; k < n; k++)
            lg_tree_pose(&b->frames[k], at, level);
    }
}

/* ---- tangents ---- */

/* The destination of a tangent: S += k A X, for all levels together, each with its k, or for one level. */
typedef struct target {
    const lg_block *block;
    double k[3];
    const double *X;
    double *S;
    int ld;
} target;

typedef void (*adder)(const lg_body *b, const lg_point *at, const target *to);

static inline void put(const target *to, int i, int j, double value)
{
    lg_chain_put(to->block, to->X, value, i, j, to->S, to->ld);
}

/* Adds a tangent at all levels of the chain together if these have no matrices, else one level after the other. */
static void add_along(const lg_body *b, const lg_point *at, const lg_wanted *want, adder add)
{
    const lg_chain *chain = lg_chain_of(want, b->index);
    target to = {.block = b->block};
    to.S = lg_body_tangent(b, want, &to.ld);
    if (!chain->X[0] && !chain->X[1] && !chain->X[2]) {
        lg_copy(3, chain->k, to.k);
        add(b, at, &to);
        return;
    }
    for (int level = 0; level < 3; level++) {
        lg_zero(3, to.k);
        to.k[level] = chain->k[level];
        to.X = chain->X[level];
        if (to.k[level] != 0)
            add(b, at, &to);
    }
}

/* ---- wrenches ---- */

/* The wrenches on the frames of each link; bits of the sums that there are, as in lg_frame. */
static unsigned collect(const lg_body *b, const lg_point *at, int geo)
{
    lg_tree_state *state = lg_tree_states(b, at);
    unsigned pressed = 0;
    for (int i = 0, n = lg_tree_size(b); i < n; i++) {
        lg_zero(12, state[i].wrench[0]);
        if (geo)
            lg_zero(9, state[i].T);
    }
    for (const lg_frame *f = b->frames; f < b->frames + b->nactive; f++) {
        lg_tree_collect(f, at, geo);
        pressed |= f->pressed;
    }
    return pressed;
}

/* Sums the wrenches over the subtree of each link; out (NULL: not wanted) = those in the joints. */
static void sum_wrenches(const lg_body *b, const lg_point *at, int sum, double *out)
{
    lg_tree_state *state = lg_tree_states(b, at);
    for (int i = lg_tree_size(b) - 1; i >= 0; i--) {
        const lg_tree_state *s = &state[i];
        int p = lg_tree_parent(b, i);
        if (out)
            out[b->block->v + i] = lg_dot6(s->S, s->wrench[sum]);
        if (p >= 0)
            lg_axpy(6, 1, s->wrench[sum], state[p].wrench[sum]);
    }
}

/* The derivative of the sum of S_i . W over the wrenches W = (f, m + y x f) on the links, at fixed f and, in the axes
   of the link, fixed m. With S = (u, r), W and T those of the subtree of i, and j an ancestor of i,
       geo_ij = r_j . (u_i x f - N^T r_i),   geo_ji = r_j . (u_i x f + r_i x W_m - N r_i),   N = tr T - T,
   where the latter holds for j = i as well; above and own are k0 times what r_j is multiplied with. */
static void turn_load(const lg_tree_state *s, double k0, double own[3], double above[3])
{
    const double *u = s->S, *T = s->T, r[3] = {k0 * s->S[3], k0 * s->S[4], k0 * s->S[5]};
    double W[6], Tr[3], rT[3], trace = T[0] + T[4] + T[8];
    for (int i = 0; i < 6; i++)
        W[i] = s->wrench[LG_REACTIONS][i] - s->wrench[LG_FORCES][i];
    lg_mul3(T, r, Tr);
    lg_mulT3(T, r, rT);
    lg_cross(u, W, above);
    lg_cross(r, W + 3, own);
    for (int i = 0; i < 3; i++) {
        double both = k0 * above[i] - trace * r[i];
        own[i] += both + Tr[i];
        above[i] = both + rT[i];
    }
}

static void sum_turning(const lg_body *b, const lg_point *at)
{
    lg_tree_state *state = lg_tree_states(b, at);
    for (int i = lg_tree_size(b) - 1; i >= 0; i--) {
        int p = lg_tree_parent(b, i);
        if (p >= 0)
            lg_axpy(9, 1, state[i].T, state[p].T);
    }
}

/* ---- inverse dynamics ---- */

enum { BY_ACCELERATION, BY_VELOCITY }; /* parts of F: M a and gyro */

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

/* Twists, inertias, and F of every single body: due to a (NULL: not wanted), and due to the velocities if `moves`. */
static void inverse_dynamics(const lg_body *b, const lg_point *at, const double *a, int moves)
{
    const lg_tree_link *links = lg_tree_links(b);
    const double *v = at->v + b->block->v;
    lg_tree_state *state = lg_tree_states(b, at);
    for (int i = 0, n = lg_tree_size(b); i < n; i++) {
        lg_tree_state *s = &state[i];
        const lg_tree_state *parent = parent_of(b, state, i);
        set_inertia(&links[i], s);
        if (moves) {
            set_twist(parent, v[i], s);
            set_bias(parent, v[i], s);
            newton_euler(links[i].mass, s, s->bias, s->V, s->F[BY_VELOCITY]);
        }
        if (a) {
            for (int k = 0; k < 6; k++)
                s->A[k] = parent->A[k] + s->S[k] * a[i];
            newton_euler(links[i].mass, s, s->A, NULL, s->F[BY_ACCELERATION]);
        }
    }
}

/* Sums F over the subtree of each link; Ma and gyro (NULL: not wanted) += those in the joints. */
static void set_dynamics(const lg_body *b, const lg_point *at, const double *a, int moves, double *Ma, double *gyro)
{
    lg_tree_state *state = lg_tree_states(b, at);
    inverse_dynamics(b, at, a, moves);
    for (int i = lg_tree_size(b) - 1; i >= 0; i--) {
        const lg_tree_state *s = &state[i];
        int p = lg_tree_parent(b, i);
        if (a && Ma)
            Ma[b->block->v + i] = lg_dot6(s->S, s->F[BY_ACCELERATION]);
        if (moves && gyro)
            gyro[b->block->v + i] = lg_dot6(s->S, s->F[BY_VELOCITY]);
        if (a && p >= 0)
            lg_axpy(6, 1, s->F[BY_ACCELERATION], state[p].F[BY_ACCELERATION]);
        if (moves && p >= 0)
            lg_axpy(6, 1, s->F[BY_VELOCITY], state[p].F[BY_VELOCITY]);
    }
}

/* ---- composite bodies ---- */

/* Mass, h and J about o of a single body. */
static void set_sum(double mass, lg_tree_state *s)
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

/* p and G of a body alone. With X = -J w^, w^ J - J w^ = X + X^T, as J is symmetric. */
static void set_gyroscopic(lg_tree_state *s)
{
    const double *v = s->V, *w = s->V + 3;
    lg_tree_sum *sum = &s->sum;
    double X[9], Jw[3], hat[9], twice = 2 * lg_dot3(sum->h, v);
    lg_cross(w, sum->h, sum->p);
    lg_axpy(3, sum->mass, v, sum->p);

    for (int i = 0; i < 3; i++)
        lg_cross(w, sum->J + 3 * i, X + 3 * i);
    lg_mul3(sum->J, w, Jw);
    lg_hat3(Jw, hat);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            sum->G[3 * i + j] = X[3 * i + j] + X[3 * j + i] - hat[3 * i + j] - 2 * v[i] * sum->h[j];
        sum->G[4 * i] += twice;
    }
}

static void composite(const lg_body *b, lg_tree_state *state, int moves)
{
    const lg_tree_link *links = lg_tree_links(b);
    int n = lg_tree_size(b);
    for (int i = 0; i < n; i++) {
        set_sum(links[i].mass, &state[i]);
        if (moves)
            set_gyroscopic(&state[i]);
    }
    for (int i = n - 1; i >= 0; i--) {
        int p = lg_tree_parent(b, i);
        if (p < 0)
            continue;
        lg_axpy(13, 1, &state[i].sum.mass, &state[p].sum.mass);
        if (moves)
            lg_axpy(12, 1, state[i].sum.p, state[p].sum.p);
    }
}

/* Y = I X */
static void mul_inertia(const lg_tree_sum *s, const double X[6], double Y[6])
{
    lg_cross(X + 3, s->h, Y);
    lg_axpy(3, s->mass, X, Y);
    lg_mul3(s->J, X + 3, Y + 3);
    lg_add_cross(s->h, X, Y + 3);
}

/* ---- mass matrix and tangent ---- */

static void add_mass(const lg_body *b, const lg_point *at, const target *to)
{
    const lg_tree_state *state = lg_tree_states(b, at);
    for (int i = 0, n = lg_tree_size(b); i < n; i++) {
        double IS[6];
        mul_inertia(&state[i].sum, state[i].S, IS);
        for (int j = i; j >= 0; j = lg_tree_parent(b, j)) {
            double M = at->wa * to->k[2] * lg_dot6(state[j].S, IS);
            put(to, i, j, M);
            if (j != i)
                put(to, j, i, M);
        }
    }
}

/* V' = wa A + bias */
static void whole_rate(const lg_tree_state *s, const lg_point *at, double rate[6])
{
    lg_copy(6, s->bias, rate);
    if (at->a)
        lg_axpy(6, at->wa, s->A, rate);
}

/* a and b of a link at the weights k. */
static void set_follow(const lg_tree_state *parent, const lg_point *at, const double k[3], lg_tree_state *s)
{
    double rate[6], D[6], turned[6];
    whole_rate(parent, at, rate);
    lg_twist_cross(rate, s->S, D);
    lg_twist_cross(parent->V, s->Sdot, turned);
    for (int i = 0; i < 6; i++)
        s->a[i] = k[0] * (D[i] + turned[i]) + 2 * k[1] * s->Sdot[i] + at->wa * k[2] * s->S[i];
    for (int i = 0; i < 3; i++)
        s->b[i] = k[0] * s->Sdot[3 + i] + k[1] * s->S[3 + i];
}

/* W = I a + 2 B b + k0 S x F */
static void pull_column(const lg_tree_state *s, const lg_point *at, double k0, double W[6])
{
    double Gr[3], rp[3], F[6];
    for (int i = 0; i < 6; i++)
        F[i] = k0 * (s->F[BY_VELOCITY][i] + (at->a ? at->wa * s->F[BY_ACCELERATION][i] : 0));
    mul_inertia(&s->sum, s->a, W);
    lg_mul3(s->sum.G, s->b, Gr);
    lg_cross(s->b, s->sum.p, rp);
    lg_axpy(3, 2, rp, W);
    lg_axpy(3, 1, Gr, W + 3);
    lg_wrench_add_cross(s->S, F, W);
}

/* I S, and the row S . 2 B, which acts on angular parts only. */
static void pull_row(const lg_tree_state *s, double IS[6], double SB[3])
{
    double pu[3];
    mul_inertia(&s->sum, s->S, IS);
    lg_mulT3(s->sum.G, s->S + 3, SB);
    lg_cross(s->sum.p, s->S, pu);
    lg_axpy(3, 2, pu, SB);
}

static void add_rates(const lg_body *b, const lg_point *at, const target *to)
{
    lg_tree_state *state = lg_tree_states(b, at);
    for (int i = 0, n = lg_tree_size(b); i < n; i++) {
        double W[6], IS[6], SB[3], own[3], above[3], k0 = to->k[0];
        lg_tree_state *s = &state[i];
        set_follow(parent_of(b, state, i), at, to->k, s);
        pull_column(s, at, k0, W);
        pull_row(s, IS, SB);
        turn_load(s, k0, own, above);
        lg_axpy(3, 1, own, W + 3);
        put(to, i, i, lg_dot6(s->S, W));
        for (int j = lg_tree_parent(b, i); j >= 0; j = lg_tree_parent(b, j)) {
            const double *S = state[j].S;
            put(to, i, j, lg_dot6(IS, state[j].a) + lg_dot3(SB, state[j].b) + lg_dot3(above, S + 3));
            put(to, j, i, lg_dot6(S, W));
        }
    }
}

static int has_rates(const lg_chain *chain)
{
    return chain->k[0] != 0 || chain->k[1] != 0;
}

static void add_inertia(const lg_body *b, const lg_point *at, const lg_wanted *want)
{
    int rates = want->S && want->chain && has_rates(&want->chain[b->index]);
    const double *a = (want->Ma || rates) && at->a ? at->a + b->block->v : NULL;
    set_dynamics(b, at, a, want->gyro || rates, want->Ma, want->gyro);
    if (want->S)
        composite(b, lg_tree_states(b, at), rates);
    if (want->S && !want->chain)
        add_along(b, at, want, add_mass);
}

static void inertia(lg_span bodies, const lg_point *at, const lg_wanted *want)
{
    for (const lg_body *b = bodies.first; b < bodies.end; b++)
        add_inertia(b, at, want);
}

/* The tangent is added here, since it needs the wrenches. */
static void gather(lg_span bodies, const lg_point *at, const lg_wanted *want)
{
    double *out[] = {[LG_FORCES] = want->force, [LG_REACTIONS] = want->Btlam};
    int tangent = want->S && want->chain;
    for (const lg_body *b = bodies.first; b < bodies.end; b++) {
        unsigned pressed = collect(b, at, tangent);
        for (int sum = 0; sum < 2; sum++)
            if (pressed >> sum & 1)
                sum_wrenches(b, at, sum, out[sum]);
            else if (out[sum])
                lg_zero(b->block->nv, out[sum] + b->block->v);
        if (!tangent)
            continue;
        sum_turning(b, at);
        add_along(b, at, want, has_rates(&want->chain[b->index]) ? add_rates : add_mass);
    }
}

static double kinetic(const lg_body *b, const lg_point *at)
{
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
    return energy;
}

/* The wrench of the joint's constraint on its link, at the link's origin: the inertial wrench of the link's subtree
   minus the applied wrenches on it, without the component along the joint's own axis, where only drives act. */
static void transmit(const lg_body *b, const lg_point *at, int part, double wrench[6])
{
    lg_tree_state *s = &lg_tree_states(b, at)[part];
    double axis[3];
    set_dynamics(b, at, at->a + b->block->v, 1, NULL, NULL);
    for (int i = 0; i < 6; i++)
        wrench[i] =
            s->F[BY_ACCELERATION][i] + s->F[BY_VELOCITY][i] - s->wrench[LG_FORCES][i] + s->wrench[LG_REACTIONS][i];
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
             .nparameters = 1,
             .example = &example.parent,
             .nexample = LG_TREE_LINK_SIZE},
    .check = check,
    .parts = parts,
    .nwork = nwork,
    .nprepared = nprepared,
    .prepare = prepare,
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
