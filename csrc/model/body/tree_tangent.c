/* The mass matrix of a tree (composite bodies) and its tangent, whose work grows as links times depth.

   Tangent (Singh, Russell, Wensing, Efficient analytical derivatives of rigid-body dynamics using spatial vector
   algebra, IEEE RA-L 2022), for j = i or an ancestor, with I, F and B summed over the subtree of i, D_j = V_p' x S_j +
   V_p x S_j':
       d tau_i/dq_j = S_i . (2 B S_j' + I D_j)      d tau_i/dq_j' = S_i . (2 B S_j + 2 I S_j')
       d tau_j/dq_i = S_j . (2 B S_i' + I D_i + S_i x F)      d tau_j/dq_i' = S_j . (2 B S_i + 2 I S_i')
   and d tau_i/dq_j'' = d tau_j/dq_i'' = S_j . I S_i. If q, q', q'' follow the unknown by k0, k1, k2, these add up to
       S_ij = S_i . (I a_j + 2 B b_j)      S_ji = S_j . (I a_i + 2 B b_i + k0 S_i x F)
       a_j = k0 D_j + 2 k1 S_j' + wa k2 S_j      b_j = k0 S_j' + k1 S_j.
   The axes of a node turn with its last link, of twist V_l, and with each other: p is their base, 2 S_j' with k1
   becomes S_j' + V_l x S_j, and within the node the first formula holds for both orders.
   For one body with the momentum p, h = mass times COM, the inertia J about o and the twist (v, w),
       2 B (u, r) = (2 r x p, G r),  G = w^ J - J w^ - (J w)^ + 2 (h . v) 1 - 2 v h^T,
   which is summed over bodies like p and G. */
#include "model/body/tree_tangent.h"

#include "model/body/tree_inertia.h"

/* ---- along the chain ---- */

/* The destination of a tangent: S += k A X, for all levels together, each with its k, or for one level. */
typedef struct tree_target {
    const lg_block *block;
    double k[3];
    const double *X;
    double *S;
    int ld;
} tree_target;

typedef void (*adder)(const lg_body *b, const lg_point *at, const tree_target *to);

static inline void tree_put(const tree_target *to, int i, int j, double value)
{
    lg_chain_put(to->block, to->X, value, i, j, to->S, to->ld);
}

/* Adds a tangent at all levels of the chain together if these have no matrices, else one level after the other. */
static void add_along(const lg_body *b, const lg_point *at, const lg_tangent *tangent, adder add)
{
    const lg_chain *chain = lg_chain_of(tangent, b->index);
    tree_target to = {.block = b->block};
    to.S = lg_body_tangent(b, tangent, &to.ld);
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

/* ---- composite bodies ---- */

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

void lg_tree_set_composites(const lg_body *b, lg_tree_state *state, int moves)
{
    const lg_tree_link *links = lg_tree_links(b);
    int n = lg_tree_size(b);
    for (int i = 0; i < n; i++) {
        lg_tree_set_sum(links[i].mass, &state[i]);
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

void lg_tree_mul_inertia(const lg_tree_sum *s, const double X[6], double Y[6])
{
    lg_cross(X + 3, s->h, Y);
    lg_axpy(3, s->mass, X, Y);
    lg_mul3(s->J, X + 3, Y + 3);
    lg_add_cross(s->h, X, Y + 3);
}

/* ---- mass matrix and tangent ---- */

static void add_mass(const lg_body *b, const lg_point *at, const tree_target *to)
{
    const lg_tree_state *state = lg_tree_states(b, at);
    for (int i = 0, n = lg_tree_size(b); i < n; i++) {
        double IS[6];
        lg_tree_mul_inertia(&state[i].sum, state[i].S, IS);
        for (int j = i; j >= 0; j = lg_tree_parent(b, j)) {
            double M = at->wa * to->k[2] * lg_dot6(state[j].S, IS);
            tree_put(to, i, j, M);
            if (j != i)
                tree_put(to, j, i, M);
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
static void set_follow(const lg_tree_state *base, const lg_tree_state *last, const lg_point *at, const double k[3],
                       lg_tree_state *s)
{
    double rate[6], D[6], turned[6], Sdot[6];
    whole_rate(base, at, rate);
    lg_twist_cross(rate, s->S, D);
    lg_twist_cross(base->V, s->Sdot, turned);
    lg_copy(6, s->Sdot, Sdot);
    if (last)
        lg_twist_cross(last->V, s->S, Sdot);
    for (int i = 0; i < 6; i++)
        s->a[i] = k[0] * (D[i] + turned[i]) + k[1] * (s->Sdot[i] + Sdot[i]) + at->wa * k[2] * s->S[i];
    for (int i = 0; i < 3; i++)
        s->b[i] = k[0] * s->Sdot[3 + i] + k[1] * s->S[3 + i];
}

/* W = I a + 2 B b */
static void pull_column(const lg_tree_state *s, double W[6])
{
    double Gr[3], rp[3];
    lg_tree_mul_inertia(&s->sum, s->a, W);
    lg_mul3(s->sum.G, s->b, Gr);
    lg_cross(s->b, s->sum.p, rp);
    lg_axpy(3, 2, rp, W);
    lg_axpy(3, 1, Gr, W + 3);
}

/* W += k0 S x F */
static void turn_column(const lg_tree_state *s, const lg_point *at, double k0, double W[6])
{
    double F[6];
    for (int i = 0; i < 6; i++)
        F[i] = k0 * (s->F[LG_BY_VELOCITY][i] + (at->a ? at->wa * s->F[LG_BY_ACCELERATION][i] : 0));
    lg_wrench_add_cross(s->S, F, W);
}

/* I S, and the row S . 2 B, which acts on angular parts only. */
static void pull_row(const lg_tree_state *s, double IS[6], double SB[3])
{
    double pu[3];
    lg_tree_mul_inertia(&s->sum, s->S, IS);
    lg_mulT3(s->sum.G, s->S + 3, SB);
    lg_cross(s->sum.p, s->S, pu);
    lg_axpy(3, 2, pu, SB);
}

/* The derivative of the sum of S_i . W over the wrenches W = (f, m + y x f) on the links, at fixed f and, in the axes
   of the link, fixed m. With S = (u, r), W and T those of the subtree of i, and j an ancestor of i,
       geo_ij = r_j . (u_i x f - N^T r_i),   geo_ji = r_j . (u_i x f + r_i x W_m - N r_i),   N = tr T - T,
   where the latter holds for j = i as well and the former within a node, in both orders. `above` and `own` are k0 times
   the factors of r_j in them. */
static void turn_load(lg_tree_state *s, double k0, double own[3])
{
    double *above = s->above;
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

/* S_ij of a link and one of its ancestors. */
static inline double along(const double IS[6], const double SB[3], const lg_tree_state *s,
                           const lg_tree_state *ancestor)
{
    return lg_dot6(IS, ancestor->a) + lg_dot3(SB, ancestor->b) + lg_dot3(s->above, ancestor->S + 3);
}

static void add_rates(const lg_body *b, const lg_point *at, const tree_target *to)
{
    lg_tree_state *state = lg_tree_states(b, at);
    for (int i = 0, n = lg_tree_size(b); i < n; i++) {
        const lg_tree_joint *joint = &lg_tree_joints(b)[i];
        double W[6], IS[6], SB[3], own[3], k0 = to->k[0];
        lg_tree_state *s = &state[i];
        int j = lg_tree_parent(b, i), base = lg_tree_base(b, i);
        set_follow(lg_tree_base_state(b, state, i), joint->column < 0 ? NULL : &state[(int)joint->last], at, to->k, s);
        pull_column(s, W);
        pull_row(s, IS, SB);
        turn_load(s, k0, own);
        tree_put(to, i, i, lg_dot6(s->S, W) + lg_dot3(own, s->S + 3));
        for (; j != base; j = lg_tree_parent(b, j)) {
            tree_put(to, i, j, along(IS, SB, s, &state[j]));
            tree_put(to, j, i, lg_dot6(state[j].S, W) + lg_dot3(state[j].above, s->S + 3));
        }
        turn_column(s, at, k0, W);
        lg_axpy(3, 1, own, W + 3);
        for (; j >= 0; j = lg_tree_parent(b, j)) {
            tree_put(to, i, j, along(IS, SB, s, &state[j]));
            tree_put(to, j, i, lg_dot6(state[j].S, W));
        }
    }
}

void lg_tree_add_mass(const lg_body *b, const lg_point *at, const lg_wanted *want)
{
    for (const lg_tangent *to = want->tangent + lg_count_slopes(want); to < want->tangent + want->ntangents; to++)
        add_along(b, at, to, add_mass);
}

void lg_tree_add_tangent(const lg_body *b, const lg_point *at, const lg_wanted *want)
{
    sum_turning(b, at);
    for (const lg_tangent *to = want->tangent; to < want->tangent + want->ntangents; to++)
        add_along(b, at, to, lg_tree_has_rates(lg_chain_of(to, b->index)) ? add_rates : add_mass);
}
