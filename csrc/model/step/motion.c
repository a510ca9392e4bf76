/* Motions of bodies in a step; see motion.h. */
#include "model/step/motion.h"

#include "group/rotation.h"
#include "system/chain.h"

/* ---- Euler parameters ---- */

/* The index of a block's first Euler parameter among its velocities; -1: it has none. */
static int first_parameter(const lg_block *b)
{
    return b && b->node->attitude_n == 4 ? b->node->attitude_v : -1;
}

static const double *parameters_of(const lg_block *b, const double *q)
{
    return q + b->q + b->node->attitude_q;
}

/* A(e), see motion.h */
static void set_turning(const double e[4], double A[12])
{
    double s = 2 / lg_dot4(e, e);
    for (int j = 0; j < 4; j++) {
        const double unit[3] = {j == 1, j == 2, j == 3};
        double *column = A + 3 * j, side[3];
        lg_cross(e + 1, unit, side);
        for (int i = 0; i < 3; i++)
            column[i] = s * (j ? e[0] * unit[i] + side[i] : -e[1 + i]);
    }
}

/* The parameters e_m in the middle. */
static void middle_of(const lg_motion *step, const lg_block *b, double e[4])
{
    lg_mean(4, parameters_of(b, step->pair->q0), parameters_of(b, step->pair->q1), e);
}

void lg_motion_open(lg_motion *step)
{
    const lg_space *space = &step->m->space;
    for (int i = 0; i < space->nblocks; i++) {
        const lg_block *b = &space->block[i];
        lg_block_motion *block = &step->blocks[i];
        double e[4];
        memset(block, 0, sizeof *block);
        block->cosine = 1;
        if (first_parameter(b) < 0)
            continue;
        block->cosine = lg_dot4(parameters_of(b, step->pair->q0), parameters_of(b, step->pair->q1));
        middle_of(step, b, e);
        set_turning(e, block->A);
        if (step->wanted->S || step->wanted->B)
            set_turning(parameters_of(b, step->pair->q1), block->A1);
    }
}

void lg_motion_keep(const lg_motion *step, const lg_point *at, int end)
{
    const lg_model *m = step->m;
    for (const lg_frame *f = m->frames; f < m->frames + m->nframes; f++) {
        const lg_pose *pose = lg_pose_of(f, at);
        lg_frame_motion *ends = &step->frames[f - m->frames];
        if (f >= f->body->frames + f->body->nactive)
            continue;
        lg_copy(3, pose->origin, ends->origin[end]);
        lg_copy(3, pose->arm, ends->arm[end]);
        lg_copy(9, pose->R, ends->R[end]);
    }
}

/* ---- large turns ---- */

static double cosine_of(const lg_motion *step, const lg_frame *f)
{
    const lg_frame_motion *ends = lg_frame_motion_of(step, f);
    double w[3];
    if (f->body->block)
        return step->blocks[f->body->index].cosine;
    lg_so3_difference(ends->R[0], ends->R[1], w);
    return cos(0.5 * lg_norm3(w));
}

/* The unit quaternion of R_1 R_0^T that turns by at most half a turn. */
static void turn_of(const lg_frame_motion *ends, double p[4])
{
    double R0[9], R1[9];
    lg_transpose3(ends->R[0], R0);
    lg_transpose3(ends->R[1], R1);
    lg_so3_turn_between(R0, R1, p); // R_0 R_1^T, the inverse
    double sign = p[0] < 0 ? -1 : 1;
    for (int i = 0; i < 4; i++)
        p[i] *= sign;
}

int lg_motion_overturns(const lg_motion *step, const lg_element *e)
{
    static const double quarter = 0.70710678118654752; // cos(pi/4): less than a quarter turn each
    double a[4], b[4];
    if (cosine_of(step, e->frame[0]) > quarter && cosine_of(step, e->frame[1]) > quarter)
        return 0;
    turn_of(lg_frame_motion_of(step, e->frame[0]), a);
    turn_of(lg_frame_motion_of(step, e->frame[1]), b);
    return !(lg_dot4(a, b) > 0);
}

/* ---- the middle ---- */

/* theta of the turn from e0 to e1; returns its divisor e0.e1. */
static double cayley(const double e0[4], const double e1[4], double theta[3])
{
    double inverse[4], change[4];
    lg_quat_conjugate(e0, inverse);
    lg_quat_mul(e1, inverse, change);
    for (int i = 0; i < 3; i++)
        theta[i] = 2 * change[1 + i] / change[0];
    return change[0];
}

/* theta and the rotation half-way of a turn that is given by rotation matrices. */
static void turn_between(const lg_frame_motion *ends, double R[9], double theta[3])
{
    double w[3], own[3];
    lg_so3_difference(ends->R[0], ends->R[1], w);
    double angle = lg_norm3(w), scale = angle > 0 ? 2 * tan(angle / 2) / angle : 1;
    for (int i = 0; i < 3; i++) {
        own[i] = scale * w[i];
        w[i] *= 0.5;
    }
    lg_mul3(ends->R[0], own, theta);
    lg_so3_retract(ends->R[0], w, R);
}

void lg_motion_middle(const lg_motion *step, const lg_frame *f, const lg_point *at, lg_middle *middle)
{
    const lg_frame_motion *ends = lg_frame_motion_of(step, f);
    const lg_block *b = f->body->block;
    lg_pose *pose = lg_pose_of(f, at);
    double theta[3], h = step->pair->h;
    lg_mean(3, ends->origin[0], ends->origin[1], middle->origin);
    lg_mean(3, ends->arm[0], ends->arm[1], pose->arm);
    for (int i = 0; i < 3; i++) {
        double dx = ends->origin[1][i] - ends->origin[0][i], darm = ends->arm[1][i] - ends->arm[0][i];
        pose->xdot[i] = (dx + darm) / h;
    }
    pose->origin = middle->origin;
    if (first_parameter(b) >= 0) {
        double e[4], length;
        middle_of(step, b, e);
        length = sqrt(lg_dot4(e, e));
        for (int i = 0; i < 4; i++)
            e[i] /= length;
        lg_quat_matrix(e, middle->R);
        cayley(parameters_of(b, step->pair->q0), parameters_of(b, step->pair->q1), theta);
    } else {
        turn_between(ends, middle->R, theta);
    }
    lg_mulT3(middle->R, theta, middle->omega);
    for (int i = 0; i < 3; i++)
        middle->omega[i] /= h;
    pose->R = middle->R, pose->omega = middle->omega;
}

void lg_motion_follow(const lg_motion *step, const lg_frame *f, const lg_middle *at, const lg_variation *variation,
                      double pose[6], double twist[6])
{
    const lg_block *b = f->body->block;
    double theta[3], unit[4] = {0}, inverse[4], change[4], h = step->pair->h;
    lg_zero(3, pose + 3), lg_zero(3, twist + 3);
    for (int i = 0; i < 3; i++) {
        pose[i] = 0.5 * variation->dx[i];
        twist[i] = variation->dx[i] / h;
    }
    if (variation->parameter < 0)
        return;
    const double *e0 = parameters_of(b, step->pair->q0);
    double along = cayley(e0, parameters_of(b, step->pair->q1), theta);
    lg_mulT3(at->R, step->blocks[f->body->index].A + 3 * variation->parameter, pose + 3);
    unit[variation->parameter] = 1;
    lg_quat_conjugate(e0, inverse);
    lg_quat_mul(unit, inverse, change);
    for (int i = 0; i < 3; i++) {
        pose[3 + i] *= 0.5;
        change[1 + i] = (2 * change[1 + i] - theta[i] * change[0]) / (along * h);
    }
    lg_mulT3(at->R, change + 1, twist + 3);
    lg_add_cross(at->omega, pose + 3, twist + 3);
}

/* ---- wrenches ---- */

/* Adds the moment of a force at the end of an arm to the sums of its body. */
static void add_arm_wrench(lg_block_motion *block, int sum, const double force[3], const double at_start[3],
                           const double at_end[3])
{
    double arm[3];
    lg_mean(3, at_start, at_end, arm);
    lg_add_cross(arm, force, block->moment[sum]);
    lg_add_turning(sum == LG_REACTIONS ? 0.5 : -0.5, force, at_end, block->turning); // F^ r^/2
}

void lg_motion_add_wrench(const lg_motion *step, const lg_frame *f, int sum, const double wrench[6])
{
    const lg_frame_motion *ends = lg_frame_motion_of(step, f);
    if (!f->body->block)
        return;
    lg_block_motion *block = &step->blocks[f->body->index];
    lg_axpy(3, 1, wrench, block->force[sum]);
    lg_axpy(3, 1, wrench + 3, block->moment[sum]);
    if (!f->at_node)
        add_arm_wrench(block, sum, wrench, ends->arm[0], ends->arm[1]);
}

/* The force on a block's velocities of a force and a moment at its node. */
static void pull_on_block(const lg_block *b, const lg_block_motion *block, const double force[3],
                          const double moment[3], double *out)
{
    int first = first_parameter(b);
    if (b->node->position != LG_POSITION_FIXED)
        lg_copy(3, force, out);
    for (int j = 0; first >= 0 && j < 4; j++)
        out[first + j] = lg_dot3(block->A + 3 * j, moment);
}

void lg_motion_pull(const lg_motion *step, const lg_frame *f, const double wrench[6], double *out)
{
    const lg_frame_motion *ends = lg_frame_motion_of(step, f);
    double moment[3], arm[3];
    lg_copy(3, wrench + 3, moment);
    lg_mean(3, ends->arm[0], ends->arm[1], arm);
    lg_add_cross(arm, wrench, moment);
    pull_on_block(f->body->block, &step->blocks[f->body->index], wrench, moment, out);
}

/* ---- derivatives ---- */

/* The variation of the k-th unknown of the body under an end. */
static lg_variation variation_of(const lg_motion *step, const lg_element *e, int end, int k)
{
    const lg_frame *f = e->frame[end];
    int first = first_parameter(f->body->block);
    lg_variation variation = {.end = end, .parameter = -1};
    if (first < 0 || k < first) {
        variation.dx[k] = 1;
        return variation;
    }
    variation.parameter = k - first;
    lg_copy(3, step->blocks[f->body->index].A1 + 3 * (k - first), variation.dw);
    lg_cross(variation.dw, lg_frame_motion_of(step, f)->arm[1], variation.dx);
    return variation;
}

void lg_motion_pull_at_end(const lg_motion *step, const lg_element *e, int end, const double wrench[6], double *out)
{
    for (int k = 0; k < e->frame[end]->body->block->nv; k++) {
        lg_variation variation = variation_of(step, e, end, k);
        out[k] = lg_dot3(wrench, variation.dx) + lg_dot3(wrench + 3, variation.dw);
    }
}

/* S += s K, for forces on the body under end i and unknowns of the body under end j. */
static void add_motion_block(const lg_motion *step, const lg_element *e, int i, int j, double s, const double *K)
{
    const lg_block *a = e->frame[i]->body->block, *b = e->frame[j]->body->block;
    int ld;
    double *S = lg_matrix_at(step->wanted->S, e->matrix_block[i][j], &ld);
    lg_chain_add(b, &step->wanted->chain[e->frame[j]->body->index], 0, s, 0, a->nv, 0, b->nv, K, a->nv, S, ld);
}

void lg_motion_add(const lg_motion *step, const lg_element *e, double s, lg_motion_slopes *slopes, const void *of)
{
    double K[2][LG_MAX_NV * LG_MAX_NV], wrench[2][6];
    for (int j = 0; j < e->info->nframes; j++) {
        const lg_block *b = e->frame[j]->body->block;
        for (int k = 0; b && k < b->nv; k++) {
            lg_variation variation = variation_of(step, e, j, k);
            slopes(of, &variation, wrench);
            for (int i = 0; i < e->info->nframes; i++)
                if (lg_element_moves(e, i))
                    lg_motion_pull(step, e->frame[i], wrench[i], K[i] + k * e->frame[i]->body->block->nv);
        }
        for (int i = 0; b && i < e->info->nframes; i++)
            if (lg_element_moves(e, i) && e->matrix_block[i][j] >= 0)
                add_motion_block(step, e, i, j, s, K[i]);
    }
}

/* ---- what bodies collect ---- */

/* Adds to S the block's own part by its e_1: d(A^T tau)/de_m, and the effect of arms that turn. */
static void add_turning_tangent(const lg_motion *step, const lg_body *body, const lg_block_motion *block)
{
    const lg_block *b = body->block;
    double tau[4] = {0}, e[4], force[4], K[16], square;
    int ld, first = first_parameter(b);
    for (int i = 0; i < 3; i++)
        tau[1 + i] = block->moment[LG_REACTIONS][i] - block->moment[LG_FORCES][i];
    middle_of(step, b, e);
    square = lg_dot4(e, e);
    for (int j = 0; j < 4; j++)
        force[j] = lg_dot3(block->A + 3 * j, tau + 1);
    for (int k = 0; k < 4; k++) {
        const double unit[4] = {k == 0, k == 1, k == 2, k == 3};
        double *column = K + 4 * k, product[4], moment[3];
        lg_quat_mul(tau, unit, product); // 2 tau e/|e|^2, at half of de_1
        lg_mul3(block->turning, block->A1 + 3 * k, moment);
        for (int j = 0; j < 4; j++)
            column[j] = (product[j] - force[j] * e[k]) / square + lg_dot3(block->A + 3 * j, moment);
    }
    double *S = lg_matrix_at(step->wanted->S, body->index, &ld);
    lg_chain_add(b, &step->wanted->chain[body->index], 0, 1, first, 4, first, 4, K, 4, S, ld);
}

void lg_motion_collect(const lg_motion *step)
{
    const lg_model *m = step->m;
    const lg_pair_wanted *wanted = step->wanted;
    for (const lg_body *body = m->bodies; body < m->bodies + m->nbodies; body++) {
        const lg_block *b = body->block;
        if (!b)
            continue;
        lg_block_motion *block = &step->blocks[body->index];
        if (wanted->force)
            pull_on_block(b, block, block->force[LG_FORCES], block->moment[LG_FORCES], wanted->force + b->v);
        if (wanted->Gtlam)
            pull_on_block(b, block, block->force[LG_REACTIONS], block->moment[LG_REACTIONS], wanted->Gtlam + b->v);
        if (wanted->S && first_parameter(b) >= 0)
            add_turning_tangent(step, body, block);
    }
}
