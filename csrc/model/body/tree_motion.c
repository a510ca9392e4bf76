/* The motion of a tree's links, from the ground outwards. */
#include "model/body/tree_motion.h"

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
    if (link->joint != LG_TREE_REVOLUTE)
        lg_copy(9, link->R, joint->K);
}

/* Where a link's joint stands in the block: link j of factor f. */
static void find_joint(const lg_block *block, int f, int j, lg_tree_joint *joint)
{
    const lg_factor *factor = &block->factor[f];
    int link = factor->v - block->v + j, slides = factor->node->position == LG_POSITION_INERTIAL ? 3 : 0;
    joint->q = factor->q - block->q;
    joint->factor = f;
    joint->last = factor->v - block->v + factor->nv - 1;
    joint->column = factor->node->position == LG_POSITION_FIXED ? 3 + j : j;
    if (factor->node->position == LG_POSITION_NO_BODY || j < slides) {
        joint->q += j;
        joint->column = -1;
        joint->last = link;
    }
}

static void prepare(const lg_body *b, lg_tree_joint *joint)
{
    const lg_block *block = b->block;
    const lg_tree_link *link = lg_tree_links(b);
    for (int f = 0; f < block->nfactors; f++)
        for (int j = 0; j < block->factor[f].nv; j++, joint++, link++) {
            prepare_joint(link, joint);
            find_joint(block, f, j, joint);
            int goes_on = joint->column >= 0 && j > 0 && joint[-1].column >= 0;
            joint->base = goes_on ? joint[-1].base : link->parent;
        }
}

int lg_tree_prepare(const lg_body *b, double *prepared)
{
    if (prepared)
        prepare(b, (lg_tree_joint *)(void *)prepared);
    return b->e.np / LG_TREE_LINK_SIZE * LG_TREE_JOINT_SIZE;
}

/* o: the point of the first joint, moved by the node if the root is free. */
static void set_reference(const lg_body *b, const double *q, double o[3])
{
    const lg_tree_link *root = lg_tree_links(b);
    lg_node_position position = b->block->node->position;
    lg_copy(3, root->point, o);
    if (position == LG_POSITION_INERTIAL || position == LG_POSITION_BODY)
        for (int i = 0; i < 3; i++)
            o[i] += lg_dot3(root->R + 3 * i, q);
}

/* The position of a joint's point on its parent. */
static void tree_point(const double point[3], const lg_tree_state *parent, const double o[3], double y[3])
{
    lg_mul3(parent->R, point, y);
    lg_axpy(3, 1, parent->y, y);
    if (parent == &lg_tree_ground)
        lg_axpy(3, -1, o, y);
}

/* Pose and axis of a link with an angle or a slide on its parent. */
static void set_pose(const lg_tree_link *link, const lg_tree_joint *joint, const lg_tree_state *parent,
                     const double o[3], double q, lg_tree_state *out)
{
    double y[3], axis[3];
    lg_mul3(parent->R, joint->axis, axis);
    tree_point(link->point, parent, o, y);
    if (link->joint == LG_TREE_PRISMATIC) {
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

/* Pose of a node on the link that carries it. */
static void set_node_pose(const lg_tree_link *link, const lg_node *node, const lg_tree_state *parent, const double o[3],
                          const double *q, lg_tree_state *out)
{
    double R0[9], Q[9], x[3];
    lg_mul33(parent->R, link->R, R0);
    node->rotation(q, Q);
    lg_mul33(R0, Q, out->R);
    tree_point(link->point, parent, o, out->y);
    if (node->position == LG_POSITION_BODY) {
        lg_mul3(R0, q, x);
        lg_axpy(3, 1, x, out->y);
    }
}

/* An axis of a node, which is one of the link's. */
static void set_axis(int column, lg_tree_state *s)
{
    double *linear = s->S, *angular = s->S + 3, *along = column < 3 ? linear : angular;
    lg_zero(6, s->S);
    for (int i = 0; i < 3; i++)
        along[i] = s->R[3 * i + column % 3];
    if (column >= 3)
        lg_cross(s->y, angular, linear);
}

void lg_tree_set_poses(const lg_body *b, const lg_point *at)
{
    const lg_tree_link *links = lg_tree_links(b);
    const lg_tree_joint *joint = lg_tree_joints(b);
    const double *q = at->q + b->block->q;
    double *o = lg_tree_origin(b, at);
    lg_tree_state *state = lg_tree_states(b, at);
    set_reference(b, q, o);
    for (int i = 0, n = lg_tree_size(b); i < n; i++, joint++) {
        const lg_tree_state *parent = lg_tree_parent_state(b, state, i);
        const double *own = q + (int)joint->q;
        if (joint->column < 0) {
            set_pose(&links[i], joint, parent, o, *own, &state[i]);
            continue;
        }
        if (joint->base == links[i].parent)
            set_node_pose(&links[i], b->block->factor[(int)joint->factor].node, parent, o, own, &state[i]);
        else
            lg_copy(12, state[i - 1].R, state[i].R);
        set_axis((int)joint->column, &state[i]);
    }
}

void lg_tree_set_motion(const lg_body *b, const lg_point *at, lg_level level)
{
    const double *v = at->v + b->block->v;
    lg_tree_state *state = lg_tree_states(b, at);
    for (int i = 0, n = lg_tree_size(b); i < n; i++) {
        lg_tree_state *s = &state[i];
        const lg_tree_state *parent = lg_tree_parent_state(b, state, i);
        lg_tree_set_twist(parent, v[i], s);
        lg_mulT3(s->R, s->V + 3, s->omega);
        if (level < LG_BIASES)
            continue;
        lg_tree_set_bias(parent, lg_tree_base_state(b, state, i), v[i], s);
        lg_mulT3(s->R, s->bias + 3, s->omegadot);
    }
}
