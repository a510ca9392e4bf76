/* The momentum of a tree of hinges and slides in a step of the midpoint rule, p1 = 2 M(q_m) v_m - p0 and slope =
   dT/dq(q_m, v_m), without its mass matrix. With P_i the momentum about o of the subtree of i, p its parent,

       p_i = S_i . P_i,   dT/dq_i = S_i' . P_i,   S_i' = V_p x S_i,

   since a change of q_i turns the subtree as a whole: it changes the twists in it by S_i x V + S_i', and the first part
   leaves T as it is. For j = i or an ancestor, with I the inertia of the subtree of i,

       N_i = I S_i,   Q_i = I S_i' + S_i x P_i,
       dp_i/dq_j = S_j' . N_i     dp_i/dv_j = S_j . N_i     ds_i/dq_j = S_j' . Q_i     ds_i/dv_j = S_j . Q_i
       dp_j/dq_i = S_j . Q_i      dp_j/dv_i = S_j . N_i     ds_j/dq_i = S_j' . Q_i     ds_j/dv_i = S_j' . N_i

   for p and the slope s. The middle follows q1 by (1/2, 1/h). */
#include "model/body/tree_momentum.h"

#include "model/body/tree_articulated.h"
#include "model/body/tree_inertia.h"
#include "model/body/tree_motion.h"
#include "model/body/tree_tangent.h"

/* Writes the inertias of all subtrees, and the momenta of them where F due to velocities would be. */
static void set_momenta(const lg_body *b, const lg_point *at)
{
    const lg_tree_link *links = lg_tree_links(b);
    lg_tree_state *state = lg_tree_states(b, at);
    int n = lg_tree_size(b);
    lg_tree_set_poses(b, at);
    lg_tree_set_motion(b, at, LG_BIASES);
    lg_tree_set_inertias(b, state);
    for (int i = 0; i < n; i++) {
        lg_tree_set_sum(links[i].mass, &state[i]);
        lg_tree_mul_inertia(&state[i].sum, state[i].V, state[i].F[LG_BY_VELOCITY]);
    }
    lg_tree_set_composites(b, state, 0);
    for (int i = n - 1; i >= 0; i--)
        if (lg_tree_parent(b, i) >= 0)
            lg_axpy(6, 1, state[i].F[LG_BY_VELOCITY], state[lg_tree_parent(b, i)].F[LG_BY_VELOCITY]);
}

/* ---- tangents ---- */

/* Adds derivatives by q1 of p1 to dp1, and of p1/h - slope to S: p and `slope` are those of (p0 + p1)/2 and the
   slope. */
static void put(const lg_body *b, const lg_pair *pair, const lg_kinetic_wanted *wanted, int i, int j, double p,
                double slope)
{
    const lg_block *block = b->block;
    int ld;
    double *S = lg_matrix_at(wanted->S, b->index, &ld);
    if (wanted->dp1)
        wanted->dp1[block->m + i + j * block->nv] = 2 * p;
    lg_chain_add_entry(block, &wanted->chain[b->index], 0, 2 * p / pair->h - slope, i, j, S, ld);
}

static void put_all(const lg_body *b, const lg_point *at, const lg_pair *pair, const lg_kinetic_wanted *wanted)
{
    const lg_tree_state *state = lg_tree_states(b, at);
    for (int i = 0, n = lg_tree_size(b); i < n; i++) {
        const lg_tree_state *s = &state[i];
        double N[6], Q[6], U[6]; // U = Q/2 + N/h
        lg_tree_mul_inertia(&s->sum, s->S, N);
        lg_tree_mul_inertia(&s->sum, s->Sdot, Q);
        lg_wrench_add_cross(s->S, s->F[LG_BY_VELOCITY], Q);
        for (int k = 0; k < 6; k++)
            U[k] = 0.5 * Q[k] + N[k] / pair->h;
        for (int j = i; j >= 0; j = lg_tree_parent(b, j)) {
            double along[6]; // S_j'/2 + S_j/h
            for (int k = 0; k < 6; k++)
                along[k] = 0.5 * state[j].Sdot[k] + state[j].S[k] / pair->h;
            put(b, pair, wanted, i, j, lg_dot6(along, N), lg_dot6(along, Q));
            if (j != i)
                put(b, pair, wanted, j, i, lg_dot6(state[j].S, U), lg_dot6(state[j].Sdot, U));
        }
    }
}

/* ---- the functions of the row ---- */

/* v1 = M(q1)^-1 p1 */
static lg_status hamilton_velocity(const lg_body *b, const lg_point *middle, const lg_pair *pair, const double *p1,
                                   double *v1)
{
    lg_point end = *middle;
    double *factor = lg_tree_origin(b, middle) + 3;
    int n = lg_tree_size(b), deficient;
    end.q = pair->q1;
    lg_tree_set_poses(b, &end);
    LG_TRY(lg_tree_mass.factor(b, &end, factor, &deficient));
    lg_copy(n, p1 + b->block->v, v1 + b->block->v);
    lg_tree_mass.solve(b, factor, 1, n, v1 + b->block->v);
    return LG_OK;
}

static lg_status tree_momentum(lg_span bodies, lg_kinetics kinetics, const lg_pair *pair, const lg_point *middle,
                               const lg_kinetic_wanted *wanted)
{
    for (const lg_body *b = bodies.first; b < bodies.end; b++) {
        const lg_tree_state *state = lg_tree_states(b, middle);
        set_momenta(b, middle);
        for (int i = 0, n = lg_tree_size(b); i < n; i++) {
            int at = b->block->v + i;
            wanted->p1[at] = 2 * lg_dot6(state[i].S, state[i].F[LG_BY_VELOCITY]) - pair->p0[at];
            wanted->slope[at] = lg_dot6(state[i].Sdot, state[i].F[LG_BY_VELOCITY]);
            wanted->v1[at] = 2 * middle->v[at] - pair->v0[at];
        }
        if (wanted->S && wanted->dp1)
            lg_zero(b->block->nv * b->block->nv, wanted->dp1 + b->block->m);
        if (wanted->S)
            put_all(b, middle, pair, wanted);
        if (!lg_is_livens(kinetics))
            LG_TRY(hamilton_velocity(b, middle, pair, wanted->p1, wanted->v1));
    }
    return LG_OK;
}

/* The tangent in `gather` belongs to the wrenches alone if nothing has inertia. */
static void tree_leave_out(lg_span bodies, const lg_point *at)
{
    for (const lg_body *b = bodies.first; b < bodies.end; b++) {
        lg_tree_state *state = lg_tree_states(b, at);
        lg_tree_set_motion(b, at, LG_BIASES);
        for (int i = 0, n = lg_tree_size(b); i < n; i++) {
            state[i].sum = (lg_tree_sum){0};
            lg_zero(6, state[i].F[LG_BY_VELOCITY]);
        }
    }
}

/* Hinges and slides have linear coordinates. The discrete gradients of step/motion.h act on bodies that each turn by
   one turn of their own, whereas a link turns by those of all joints below it. */
static int tree_fits(const lg_body *b, lg_gradients gradients)
{
    for (int f = 0; f < b->block->nfactors; f++)
        if (b->block->factor[f].node->position != LG_POSITION_NO_BODY)
            return 0;
    return gradients == LG_GRADIENTS_MIDPOINT;
}

const lg_body_step lg_tree_step = {.momentum = tree_momentum, .leave_out = tree_leave_out, .fits = tree_fits};
