/* The motion of a tree's links, from the ground outwards. */
#include "model/body/tree_motion.h"

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

void lg_tree_prepare(const lg_body *b, double *prepared)
{
    for (int i = 0; i < lg_tree_size(b); i++)
        prepare_joint(&lg_tree_links(b)[i], (lg_tree_joint *)(void *)prepared + i);
}

int lg_tree_nprepared(int nparameters)
{
    return nparameters / LG_TREE_LINK_SIZE * LG_TREE_JOINT_SIZE;
}

/* Pose and axis of a link on its parent; o: of the tree, seen from the ground. */
static void place(const lg_tree_link *link, const lg_tree_joint *joint, const lg_tree_state *parent, const double o[3],
                  double q, lg_tree_state *out)
{
    double y[3], axis[3];
    lg_mul3(parent->R, joint->axis, axis);
    lg_mul3(parent->R, link->point, y);
    lg_axpy(3, 1, parent->y, y);
    if (parent == &lg_tree_ground)
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

void lg_tree_set_places(const lg_body *b, const lg_point *at)
{
    const lg_tree_link *links = lg_tree_links(b);
    const lg_tree_joint *joints = joints_of(b);
    const double *q = at->q + b->block->q;
    lg_tree_state *state = lg_tree_states(b, at);
    for (int i = 0, n = lg_tree_size(b); i < n; i++)
        place(&links[i], &joints[i], lg_tree_parent_state(b, state, i), links[0].point, q[i], &state[i]);
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
        lg_tree_set_bias(parent, v[i], s);
        lg_mulT3(s->R, s->bias + 3, s->omegadot);
    }
}
