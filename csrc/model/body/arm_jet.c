/* Ends of arms along a motion; see arm_jet.h. */
#include "model/body/arm_jet.h"

/* ---- the motion ---- */

/* Adds what the accelerations of the block give to those at v' = 0. */
static void add_accelerations(const lg_arm *arm, const double *a, lg_frame_jet *end)
{
    const lg_node *node = arm->block->node;
    double turning[3], apart[3], inertial[3];
    if (arm->attitude)
        lg_mul_columns(node->attitude_n, arm->attitude->H, a + node->attitude_v, turning);
    else
        lg_copy(3, a + node->attitude_v, turning);
    lg_axpy(3, 1, turning, end->omegadot);
    lg_cross(turning, arm->X, apart);
    if (node->position == LG_POSITION_BODY)
        lg_axpy(3, 1, a, apart);
    lg_mul3(arm->R, apart, inertial);
    lg_axpy(3, 1, inertial, end->x.at[2]);
    if (node->position == LG_POSITION_INERTIAL)
        lg_axpy(3, 1, a, end->x.at[2]);
}

/* The arm's rates, and those of its node where velocities are in body axes. */
static void open_rates(const double *a, const double omegadot[3], lg_arm_jet *jet)
{
    const lg_arm *arm = &jet->arm;
    lg_copy(3, arm->X, jet->X[0]);
    lg_cross(arm->omega, jet->X[0], jet->X[1]);
    lg_cross(arm->omega, jet->X[1], jet->X[2]);
    lg_add_cross(omegadot, jet->X[0], jet->X[2]);
    if (arm->block->node->position != LG_POSITION_BODY)
        return;
    lg_copy(3, arm->v, jet->node[1]);
    lg_copy(3, a, jet->node[2]);
    lg_add_cross(arm->omega, arm->v, jet->node[2]);
}

void lg_arm_jet_open(const lg_frame *f, const lg_point *at, lg_arm_jet *out, lg_frame_jet *end)
{
    const lg_pose *pose = lg_pose_of(f, at);
    const lg_block *block = f->body->block;
    lg_pose_position(pose, end->x.at[0]);
    lg_copy(3, pose->xdot, end->x.at[1]);
    lg_copy(3, pose->xdd, end->x.at[2]);
    lg_copy(3, pose->omegadot, end->omegadot);
    end->R = pose->R, end->omega = pose->omega;
    out->arm.block = NULL;
    if (!block)
        return;
    const lg_node *node = block->node;
    const double *a = at->a + block->v;
    f->body->type->rigid->open(f, at, &out->arm);
    add_accelerations(&out->arm, a, end);
    open_rates(a, end->omegadot, out);
    if (out->arm.attitude)
        node->attitude->open(out->arm.q + node->attitude_q, out->arm.v + node->attitude_v, a + node->attitude_v,
                             &out->attitude);
}

/* ---- rows ---- */

static void add_values(int count, double s, const double *x, int n, double *out)
{
    for (int j = 0; j < count; j++)
        out[j * n] += s * x[j];
}

/* Adds the derivatives by the body's angular acceleration, angular velocity and rotation, in body axes. */
static void add_turning(const lg_arm_jet *jet, const double by[LG_JET][3], int n, double *of_q, double *of_v)
{
    if (!jet->arm.attitude) {
        add_values(3, 1, by[2], n, of_q);
        add_values(3, 1, by[1], n, of_v);
        return;
    }
    const lg_attitude *attitude = &jet->attitude;
    for (int j = 0; j < jet->arm.block->node->attitude_n; j++) {
        const double *H = attitude->H + 3 * j;
        of_q[j * n] += lg_dot3(by[2], H) + lg_dot3(by[1], attitude->Z + 3 * j) + lg_dot3(by[0], attitude->Aq + 3 * j);
        of_v[j * n] += lg_dot3(by[1], H) + lg_dot3(by[0], attitude->Av + 3 * j);
    }
}

/* The same by the position of the node, for the force in body axes. */
static void add_position(const lg_arm_jet *jet, const lg_wrench_jet *wrench, const double g[LG_JET][3], int n,
                         double *of_q, double *of_v)
{
    int turns = (wrench->has & LG_JET_TURNS) != 0, body = jet->arm.block->node->position == LG_POSITION_BODY;
    if (turns) {
        add_values(3, 1, body ? g[2] : wrench->force.at[2], n, of_q);
        add_values(3, 2, body ? g[1] : wrench->force.at[1], n, of_v);
    }
    if (!body)
        return;
    double swept[3];
    lg_cross(jet->arm.omega, g[0], swept);
    add_values(3, -1, swept, n, of_v);
}

/* The moment at the node, its rates in inertial axes, 2 m' instead of m', and what is to be added where the node's
   velocity turns with the body; all in body axes. */
static void add_moments(const lg_arm_jet *jet, unsigned has, const double g[LG_JET][3], double m[LG_JET][3])
{
    int body = jet->arm.block->node->position == LG_POSITION_BODY;
    const double (*X)[3] = jet->X, (*node)[3] = jet->node;
    double swept[3] = {0}, turned[3];
    lg_add_cross(X[0], g[0], m[0]);
    lg_cross(X[1], g[0], turned);
    lg_add_cross(X[2], g[0], m[2]);
    if (has & LG_JET_TURNS) {
        lg_add_cross(X[0], g[1], turned);
        lg_add_cross(X[0], g[2], m[2]);
        lg_cross(X[1], g[1], swept);
    }
    lg_axpy(3, 2, turned, m[1]);
    if (body) {
        lg_add_cross(node[1], g[0], m[1]);
        lg_add_cross(node[2], g[0], m[2]);
        if (has & LG_JET_TURNS)
            lg_add_cross(node[1], g[1], swept);
    }
    lg_axpy(3, 2, swept, m[2]);
}

void lg_arm_jet_pull(const lg_arm_jet *jet, const lg_wrench_jet *wrench, int n, double *of_q, double *of_v)
{
    const lg_node *node = jet->arm.block->node;
    double g[LG_JET][3], m[LG_JET][3] = {{0}}, swept[3];
    for (int k = 0; k < LG_JET; k++) {
        if (wrench->has & (k ? LG_JET_TURNS : LG_JET_FORCE))
            lg_mulT3(jet->arm.R, wrench->force.at[k], g[k]);
        if (wrench->has & LG_JET_MOMENT)
            lg_mulT3(jet->arm.R, wrench->moment.at[k], m[k]);
    }
    for (int i = 0; i < 3; i++)
        m[1][i] *= 2;
    if (wrench->has & LG_JET_FORCE) {
        add_moments(jet, wrench->has, g, m);
        if (node->position != LG_POSITION_FIXED)
            add_position(jet, wrench, g, n, of_q, of_v);
    }
    lg_cross(jet->arm.omega, m[0], swept);
    lg_axpy(3, -1, swept, m[1]);
    add_turning(jet, m, n, of_q + node->attitude_v * n, of_v + node->attitude_v * n);
}
