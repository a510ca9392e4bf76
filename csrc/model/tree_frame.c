/* Frames on the links of a tree (tree.h). With y from o to the frame's point, the joint axes S_j = (u_j, r_j) of the link
   and its ancestors, V = (v, w) the link's twist, V_p that of the parent of j, and t_j = u_j + r_j x y:

       H_j      = [ t_j ; R^T r_j ]
       Z_j      = d(H v)/dq_j = [ r_j x (x' - v_p(y)) + w_p x t_j ; R^T (w_p x r_j) ]
       bias     = (a + alpha x y + w x x', R^T alpha)  for the link's V' = (a, alpha) at q'' = 0 */
#include "model/tree.h"

static const lg_link_state *states(const lg_frame *f)
{
    return (const lg_link_state *)f->work;
}

static const lg_link_state *link_of(const lg_frame *f)
{
    return states(f) + f->at->part;
}

static int parent(const lg_frame *f, int j)
{
    return lg_tree_parent(f->at->carrier, j);
}

/* ---- pose, twist, bias ---- */

static void open(lg_frame *f, const lg_point *point)
{
    f->scratch = point->work;
    f->work = point->work + f->at->carrier->work;
}

static void pose(lg_frame *f)
{
    const lg_link_state *s = link_of(f);
    const double *origin = lg_tree_links(f->at->carrier)[0].point;
    lg_copy(9, s->R, f->R);
    lg_mul3(s->R, f->at->offset, f->y);
    lg_axpy(3, 1, s->y, f->y);
    for (int i = 0; i < 3; i++)
        f->x[i] = origin[i] + f->y[i];
}

static void twist(lg_frame *f)
{
    const lg_link_state *s = link_of(f);
    lg_twist_at(s->V, f->y, f->xdot);
    lg_mulT3(s->R, s->V + 3, f->omega);
}

static void bias(lg_frame *f)
{
    const lg_link_state *s = link_of(f);
    lg_twist_at(s->bias, f->y, f->xdd);
    lg_add_cross(s->V + 3, f->xdot, f->xdd);
    lg_mulT3(s->R, s->bias + 3, f->omegadot);
}

/* ---- columns ---- */

static void column_H(const lg_frame *f, int j, double column[6])
{
    const lg_link_state *s = &states(f)[j];
    lg_twist_at(s->S, f->y, column);
    lg_mulT3(f->R, s->S + 3, column + 3);
}

static void column_Z(const lg_frame *f, int j, double column[6])
{
    int p = parent(f, j);
    const double *r = states(f)[j].S + 3;
    if (p < 0) {
        lg_cross(r, f->xdot, column);
        lg_zero(3, column + 3);
        return;
    }
    const double *V = states(f)[p].V;
    double t[3], u[3], turned[3];
    lg_twist_at(V, f->y, u);
    for (int i = 0; i < 3; i++)
        u[i] = f->xdot[i] - u[i];
    lg_cross(r, u, column);
    lg_twist_at(states(f)[j].S, f->y, t);
    lg_add_cross(V + 3, t, column);
    lg_cross(V + 3, r, turned);
    lg_mulT3(f->R, turned, column + 3);
}

static void dense_H(const lg_frame *f, double *H)
{
    lg_zero(6 * f->block->nv, H);
    for (int j = f->at->part; j >= 0; j = parent(f, j))
        column_H(f, j, H + 6 * j);
}

static void dense_Z(const lg_frame *f, double *Z)
{
    lg_zero(6 * f->block->nv, Z);
    for (int j = f->at->part; j >= 0; j = parent(f, j))
        column_Z(f, j, Z + 6 * j);
}

/* ---- wrenches ---- */

/* (f, m in body axes) at the frame's point becomes (f, moment about o) in inertial axes. */
static void move_wrench(const lg_frame *f, const double wrench[6], double W[6])
{
    lg_copy(3, wrench, W);
    lg_mul3(f->R, wrench + 3, W + 3);
    lg_add_cross(f->y, wrench, W + 3);
}

static void pull(const lg_frame *f, double s, const double wrench[6], double *force)
{
    double W[6];
    move_wrench(f, wrench, W);
    for (int j = f->at->part; j >= 0; j = parent(f, j))
        force[j] += s * lg_dot6(states(f)[j].S, W);
}

static void pull_rate(const lg_frame *f, const double wrench[6], double *row)
{
    for (int j = f->at->part; j >= 0; j = parent(f, j)) {
        double column[6];
        column_Z(f, j, column);
        row[j] += lg_dot6(column, wrench);
    }
}

static void press(const lg_frame *f, int sum, double s, const double wrench[6], double *force)
{
    (void)force;
    double W[6];
    lg_link_state *link = (lg_link_state *)f->work + f->at->part;
    move_wrench(f, wrench, W);
    lg_axpy(6, s, W, link->wrench[sum]);
}

/* Collected on the link; tree.c derives them all in one pass. */
static void add_geo(const lg_frame *f, double s, const double wrench[6], const lg_chain *chain, double *S, int ld)
{
    (void)chain, (void)S, (void)ld;
    double W[6], work = lg_dot3(f->y, wrench);
    lg_link_state *link = (lg_link_state *)f->work + f->at->part;
    move_wrench(f, wrench, W);
    lg_axpy(6, s, W, link->geo);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            link->N[3 * i + j] += s * ((i == j ? work : 0) - wrench[i] * f->y[j]);
}

const lg_frame_kind lg_link_frame = {
    .open = open,
    .pose = pose,
    .twist = twist,
    .bias = bias,
    .pull = pull,
    .pull_rate = pull_rate,
    .press = press,
    .H = dense_H,
    .Z = dense_Z,
    .add_geo = add_geo,
};
