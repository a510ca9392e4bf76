/* Frames on the links of a tree (tree_state.h). With y from o to the frame's point, the joint axes S_j = (u_j, r_j) of
   the link and its ancestors, V = (v, w) the link's twist, V_p that of the base of j, and t_j = u_j + r_j x y:

       H_j      = [ t_j ; R^T r_j ]
       Z_j      = d(H v)/dq_j = [ r_j x (x' - v_p(y)) + w_p x t_j ; R^T (w_p x r_j) ]
       bias     = (a + alpha x y + w x x', R^T alpha)  for the link's V' = (a, alpha) at q'' = 0 */
#include "model/body/tree_frame.h"

#include "model/body/tree_state.h"

static const lg_tree_state *link_of(const lg_frame *f, const lg_point *at)
{
    return lg_tree_states(f->body, at) + f->part;
}

/* ---- pose, twist, bias ---- */

void lg_tree_pose(const lg_frame *f, const lg_point *at, lg_level level)
{
    const lg_tree_state *s = link_of(f, at);
    lg_pose *pose = lg_pose_of(f, at);
    pose->origin = lg_tree_origin(f->body, at);
    lg_mul3(s->R, f->offset, pose->arm);
    lg_axpy(3, 1, s->y, pose->arm);
    pose->R = s->R;
    pose->omega = s->omega;
    lg_pose_clear(f, pose);
    if (level < LG_TWISTS)
        return;
    lg_twist_at(s->V, pose->arm, pose->xdot);
    if (level < LG_BIASES)
        return;
    lg_twist_at(s->bias, pose->arm, pose->xdd);
    lg_add_cross(s->V + 3, pose->xdot, pose->xdd);
    pose->omegadot = s->omegadot;
}

/* ---- columns ---- */

static void column_H(const lg_tree_state *states, const lg_pose *pose, int j, double column[6])
{
    const lg_tree_state *s = &states[j];
    lg_twist_at(s->S, pose->arm, column);
    lg_mulT3(pose->R, s->S + 3, column + 3);
}

static void column_Z(const lg_tree_state *states, const lg_pose *pose, int j, int p, double column[6])
{
    const double *r = states[j].S + 3;
    if (p < 0) {
        lg_cross(r, pose->xdot, column);
        lg_zero(3, column + 3);
        return;
    }
    const double *V = states[p].V;
    double t[3], u[3], turned[3];
    lg_twist_at(V, pose->arm, u);
    for (int i = 0; i < 3; i++)
        u[i] = pose->xdot[i] - u[i];
    lg_cross(r, u, column);
    lg_twist_at(states[j].S, pose->arm, t);
    lg_add_cross(V + 3, t, column);
    lg_cross(V + 3, r, turned);
    lg_mulT3(pose->R, turned, column + 3);
}

void lg_tree_H(const lg_frame *f, const lg_point *at, double *H)
{
    lg_zero(6 * f->body->block->nv, H);
    for (int j = f->part; j >= 0; j = lg_tree_parent(f->body, j))
        column_H(lg_tree_states(f->body, at), lg_pose_of(f, at), j, H + 6 * j);
}

void lg_tree_Z(const lg_frame *f, const lg_point *at, double *Z)
{
    lg_zero(6 * f->body->block->nv, Z);
    for (int j = f->part; j >= 0; j = lg_tree_parent(f->body, j))
        column_Z(lg_tree_states(f->body, at), lg_pose_of(f, at), j, lg_tree_base(f->body, j), Z + 6 * j);
}

/* ---- wrenches ---- */

/* (f, m in body axes) at the frame's point becomes (f, moment about o) in inertial axes. */
static LG_INLINE void move_wrench(const lg_pose *pose, const double wrench[6], double W[6])
{
    const double *m = wrench + 3;
    lg_copy(3, wrench, W);
    lg_cross(pose->arm, wrench, W + 3);
    if (m[0] != 0 || m[1] != 0 || m[2] != 0) {
        double turned[3];
        lg_mul3(pose->R, m, turned);
        lg_axpy(3, 1, turned, W + 3);
    }
}

void lg_tree_pull(const lg_frame *f, const lg_point *at, double s, const double wrench[6], double *out)
{
    const lg_tree_state *states = lg_tree_states(f->body, at);
    double W[6];
    move_wrench(lg_pose_of(f, at), wrench, W);
    for (int j = f->part; j >= 0; j = lg_tree_parent(f->body, j))
        out[j] += s * lg_dot6(states[j].S, W);
}

void lg_tree_pull_rate(const lg_frame *f, const lg_point *at, const double wrench[6], double *row)
{
    for (int j = f->part; j >= 0; j = lg_tree_parent(f->body, j)) {
        double column[6];
        column_Z(lg_tree_states(f->body, at), lg_pose_of(f, at), j, lg_tree_base(f->body, j), column);
        row[j] += lg_dot6(column, wrench);
    }
}

void lg_tree_collect(const lg_frame *f, const lg_point *at, int geo)
{
    const lg_pose *pose = lg_pose_of(f, at);
    lg_tree_state *link = lg_tree_states(f->body, at) + f->part;
    double W[6], w[6];
    for (int sum = 0; sum < 2; sum++)
        if (f->loaded >> sum & 1) {
            move_wrench(pose, pose->wrench[sum], W);
            lg_axpy(6, 1, W, link->wrench[sum]);
        }
    if (!geo)
        return;

    lg_pose_residual(f, pose, w);
    for (int i = 0; i < 3; i++)
        lg_axpy(3, w[i], pose->arm, link->T + 3 * i);
}
