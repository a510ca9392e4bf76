/* The conserving form of a step; see step.h. */
#include "model/step/step.h"

#include "model/ends.h"
#include "model/step/element.h"
#include "model/tangent.h"
#include "system/chain.h"
#include "system/gonzalez.h"

/* ---- joints ---- */

/* Puts the gradient of a row into values with the layout of B; on_block: of the block under one of its frames. */
static void put_on_block(const lg_joint *joint, int side, int row, const double *on_block, double *values)
{
    double *to = values + joint->value[side] + row;
    int nv = joint->e.frame[side]->body->block->nv, nrows = joint->nrows, adds = joint->adds[side];
    for (int k = 0; k < nv; k++)
        to[k * nrows] = (adds ? to[k * nrows] : 0) + on_block[k];
}

/* Adds a row's gradient to G. */
static void put_gradient(const lg_pair_step *s, const lg_joint *joint, const double wrench[2][6], int row)
{
    double on_block[LG_MAX_NV];
    for (int side = 0; side < 2; side++) {
        const lg_block *block = joint->e.frame[side]->body->block;
        if (!block)
            continue;
        lg_motion_pull(&s->motion, joint->e.frame[side], wrench[side], on_block);
        put_on_block(joint, side, row, on_block, s->motion.wanted->G);
    }
}

/* The gradient of row i at b. */
static void row_gradient(const lg_rows *rows, const lg_step_between *b, int i, double fm[6])
{
    lg_copy(6, rows->J[1 - b->r.base] + 6 * i, fm);
    if (i >= rows->points)
        lg_zero(3, fm);
}

/* With the twist in the middle for the slopes Z of nonholonomic rows. */
static lg_status rows_at(const lg_pair_step *s, const lg_step_between *b, const lg_joint *joint, int where,
                         unsigned want, lg_rows *out)
{
    const lg_pose *f[2];
    lg_relative_put(&b->r, b->e, &s->at, where, (want & LG_ROWS_Z) != 0);
    lg_element_poses(b->e, &s->at, f);
    return lg_joint_rows(lg_joint_in(LG_FORM_BODY_AXES, joint), joint, f, &s->at, LG_ROWS_J | want, out);
}

static lg_status values_at(const lg_pair_step *s, const lg_step_between *b, const lg_joint *joint, int where,
                           double *phi)
{
    const lg_pose *f[2];
    lg_relative_put(&b->r, b->e, &s->at, where, 0);
    lg_element_poses(b->e, &s->at, f);
    return lg_joint_values(lg_joint_in(LG_FORM_BODY_AXES, joint), joint, f, &s->at, phi);
}

/* The first row that sees the bodies relative to each other; rows before it are distances along axes fixed in space. */
static int first_relative(const lg_joint *joint, const lg_rows *rows)
{
    const lg_joint_type *type = lg_joint_in(LG_FORM_BODY_AXES, joint);
    return type->axes && type->axes(&joint->e) < 0 ? rows->points : 0;
}

/* A nonholonomic row has J . y, the integral of its slip in the step, in place of phi. */
static double slip_in_step(const lg_step_between *b, const lg_rows *rows, int i)
{
    double row[6];
    row_gradient(rows, b, i, row);
    return lg_dot(6, row, b->r.y);
}

/* Its derivatives by z. */
static void slip_gradient(const lg_pair_step *s, const lg_step_between *b, const lg_rows *rows, int i, double by_z[6])
{
    const double *Z = rows->Z[1 - b->r.base] + 6 * i;
    double row[6];
    row_gradient(rows, b, i, row);
    for (int j = 0; j < 6; j++)
        by_z[j] = lg_dot(6, row, b->r.change + 6 * j) + s->motion.pair->h * lg_dot(6, Z, b->r.middle + 6 * j);
}

/* Writes nonholonomic rows of phi and B. */
static void put_slips(const lg_pair_step *s, const lg_step_between *b, const lg_joint *joint, const lg_rows *rows)
{
    const lg_pair_wanted *wanted = s->motion.wanted;
    double by_z[6], wrench[2][6], on_block[LG_MAX_NV];
    for (int i = 0; i < joint->nrows; i++) {
        if (!lg_joint_is_nonholonomic(joint, i))
            continue;
        if (wanted->phi)
            wanted->phi[joint->row + i] = slip_in_step(b, rows, i);
        if (!wanted->B)
            continue;
        slip_gradient(s, b, rows, i, by_z);
        lg_relative_spread_at_end(&b->r, by_z, wrench);
        for (int side = 0; side < 2; side++) {
            if (!joint->e.frame[side]->body->block)
                continue;
            lg_motion_pull_at_end(&s->motion, &joint->e, side, wrench[side], on_block);
            put_on_block(joint, side, i, on_block, wanted->B);
        }
    }
}

/* sum lam_i J_i */
static void sum_rows(const lg_pair_step *s, const lg_step_between *b, const lg_joint *joint, const lg_rows *rows,
                     int first, double fm[6])
{
    double row[6];
    lg_zero(6, fm);
    for (int i = first; i < joint->nrows; i++) {
        row_gradient(rows, b, i, row);
        lg_axpy(6, s->motion.pair->lam[joint->row + i], row, fm);
    }
}

/* The derivative by z of sum lam_i phi_i at the end. */
static void sum_at_end(const lg_pair_step *s, const lg_step_between *b, const lg_joint *joint, const lg_rows *middle,
                       const lg_rows *end, int first, double by_z[6])
{
    double row[6];
    if (!joint->e.info->nnonholonomic) {
        sum_rows(s, b, joint, end, first, by_z);
        return;
    }
    lg_zero(6, by_z);
    for (int i = first; i < joint->nrows; i++) {
        if (lg_joint_is_nonholonomic(joint, i))
            slip_gradient(s, b, middle, i, row);
        else
            row_gradient(end, b, i, row);
        lg_axpy(6, s->motion.pair->lam[joint->row + i], row, by_z);
    }
}

/* Adds rows in axes fixed in space, which are linear in the positions of points. */
static void react_in_space(const lg_pair_step *s, const lg_joint *joint, const lg_rows *rows, int first)
{
    for (int i = 0; i < first; i++) {
        double wrench[2][6] = {{0}};
        for (int side = 0; side < 2; side++)
            lg_copy(3, rows->J[side] + 6 * i, wrench[side]);
        if (s->motion.wanted->G)
            put_gradient(s, joint, (const double (*)[6])wrench, i);
        for (int side = 0; side < 2; side++) {
            for (int k = 0; k < 3; k++)
                wrench[side][k] *= s->motion.pair->lam[joint->row + i];
            lg_motion_add_wrench(&s->motion, joint->e.frame[side], LG_REACTIONS, wrench[side]);
        }
    }
}

/* The joint's rows at the start. */
static double *own_rows(const lg_pair_step *s, const lg_joint *joint)
{
    const lg_model *m = s->motion.m;
    return s->phi + (joint->adds_row ? m->pattern.nrows + (joint - m->joints) : joint->row);
}

/* Evaluates phi at the start, for own_rows, and at the end, where slopes want gradients as well. */
static lg_status rows_at_ends(const lg_pair_step *s, const lg_step_between *b, const lg_joint *joint, lg_rows *end)
{
    if (!s->motion.pair->same_start)
        LG_TRY(values_at(s, b, joint, LG_AT_START, own_rows(s, joint)));
    return lg_step_is_linear(s) ? rows_at(s, b, joint, LG_AT_END, 0, end) : values_at(s, b, joint, LG_AT_END, end->phi);
}

/* The coefficients c_i of all rows, and C = sum lam_i c_i; phi: at the end. */
static void find_coefficients(const lg_pair_step *s, const lg_step_between *b, const lg_joint *joint,
                              const lg_rows *rows, const double *phi, int first, double c[LG_MAX_ROWS], double *C)
{
    const double *lam = s->motion.pair->lam + joint->row, *phi0 = own_rows(s, joint);
    double row[6], sum = 0;
    *C = 0;
    for (int i = first; i < joint->nrows; i++) {
        row_gradient(rows, b, i, row);
        double along = lg_dot(6, row, b->r.y);
        double change = lg_joint_is_nonholonomic(joint, i) ? along : phi[i] - phi0[i];
        c[i] = lg_gonzalez(change, along, b->N, b->shortest);
        *C += lam[i] * c[i];
        sum += fabs(lam[i]);
    }
    lg_step_add_noise(s, b, (1 + s->largest) * sum);
}

/* Adds the corrected gradients of all rows to G. */
static void put_gradients(const lg_pair_step *s, const lg_step_between *b, const lg_joint *joint, const lg_rows *rows,
                          int first, const double *c)
{
    double row[6], wrench[2][6];
    for (int i = first; i < joint->nrows; i++) {
        row_gradient(rows, b, i, row);
        lg_axpy(6, c[i], b->Wy, row);
        lg_relative_spread(&b->r, row, wrench);
        put_gradient(s, joint, (const double (*)[6])wrench, i);
    }
}

static lg_status react(const lg_pair_step *s, const lg_step_between *b, const lg_joint *joint, lg_exerted *out)
{
    int linear = lg_step_is_linear(s);
    double C, c[LG_MAX_ROWS], at_end[6] = {0};
    unsigned slopes = joint->e.info->nnonholonomic ? LG_ROWS_Z : 0;
    lg_rows rows, end;
    LG_TRY(rows_at(s, b, joint, LG_AT_MIDDLE, slopes | (linear ? LG_ROWS_K : 0), &rows));
    if (slopes)
        put_slips(s, b, joint, &rows);
    int first = first_relative(joint, &rows);
    react_in_space(s, joint, &rows, first);
    LG_TRY(rows_at_ends(s, b, joint, &end));
    find_coefficients(s, b, joint, &rows, end.phi, first, c, &C);
    if (s->motion.wanted->G)
        put_gradients(s, b, joint, &rows, first, c);
    sum_rows(s, b, joint, &rows, first, out->fm);
    if (linear) {
        sum_at_end(s, b, joint, &rows, &end, first, at_end);
        lg_step_set_slopes(s, &b->r, &rows.K[1 - b->r.base][1 - b->r.base], NULL, out->G);
    }
    lg_step_add_correction(s, b, C, out, at_end, out);
    return LG_OK;
}

static lg_status add_relative_joint(const lg_pair_step *s, const lg_joint *joint, double *V0)
{
    const lg_joint_type *type = lg_joint_in(LG_FORM_BODY_AXES, joint);
    const lg_element_ref of = {.joint = joint};
    lg_step_between b;
    lg_exerted exerted, sum = {{0}, {0}};
    int axes = type->axes ? type->axes(&joint->e) : -1;
    lg_step_open(s, &joint->e, axes < 0 ? lg_step_base_of(&joint->e) : axes, type->sees_distance, &b);
    if (joint->nrows) {
        LG_TRY(react(s, &b, joint, &sum));
        lg_step_add_wrenches(s, &b, LG_REACTIONS, &sum);
    }
    if (type->compliance) {
        LG_TRY(lg_step_exert_in_step(s, &b, &of, 1, joint->e.traits & LG_DAMPED, V0, &exerted));
        lg_step_add_wrenches(s, &b, LG_FORCES, &exerted);
        lg_step_add_part(s, -1, &exerted, &sum);
    }
    lg_step_add_tangent(s, &b, 1, &sum);
    return LG_OK;
}

/* ---- forces in space ---- */

typedef struct in_space { /* a force that sees where its frames are */
    const lg_motion *motion;
    const lg_element *e;
    lg_middle middle[2];
    lg_load load;
} in_space;

static void slopes_in_space(const void *of, const lg_variation *variation, double wrench[2][6])
{
    const in_space *f = of;
    int j = variation->end;
    double pose[6], twist[6];
    lg_motion_follow(f->motion, f->e->frame[j], &f->middle[j], variation, pose, twist);
    for (int i = 0; i < f->e->info->nframes; i++) {
        double slope[6] = {0};
        lg_quarters_mul_add(&f->load.K[i][j], 1, pose, slope);
        lg_quarters_mul_add(&f->load.D[i][j], 1, twist, slope);
        if (i == j) // the moment turns with the body
            lg_add_cross(pose + 3, f->load.w[i] + 3, slope + 3);
        lg_copy(3, slope, wrench[i]);
        lg_mul3(f->middle[i].R, slope + 3, wrench[i] + 3);
    }
}

/* Whether a force in space or its moment depends on where its frames are; a weight does not. */
static int follows(const in_space *f)
{
    unsigned has = 0;
    double moments = 0;
    for (int i = 0; i < f->e->info->nframes; i++) {
        moments += lg_norm3(f->load.w[i] + 3);
        for (int j = 0; j < f->e->info->nframes; j++)
            has |= f->load.K[i][j].has | f->load.D[i][j].has;
    }
    return has || moments != 0;
}

static lg_status add_force_in_space(const lg_pair_step *s, const lg_force *force)
{
    in_space of;
    int n = force->e.info->nframes;
    of.motion = &s->motion, of.e = &force->e;
    for (int i = 0; i < n; i++)
        lg_motion_middle(&s->motion, force->e.frame[i], &s->at, &of.middle[i]);
    LG_TRY(lg_force_load(force, &s->at, 0, lg_step_is_linear(s), &of.load));
    for (int i = 0; i < n; i++) {
        double wrench[6];
        lg_copy(3, of.load.w[i], wrench);
        lg_mul3(of.middle[i].R, of.load.w[i] + 3, wrench + 3);
        lg_motion_add_wrench(&s->motion, force->e.frame[i], LG_FORCES, wrench);
    }
    if (lg_step_is_linear(s) && follows(&of))
        lg_motion_add(&s->motion, &force->e, -1, slopes_in_space, &of);
    return LG_OK;
}

/* ---- all of them ---- */

static void pair_step_layout(const lg_model *m, lg_pair_step *s, lg_arena *arena)
{
    s->motion.frames = lg_arena_take(arena, (size_t)m->nframes * sizeof(lg_frame_motion));
    s->motion.blocks = lg_arena_take(arena, (size_t)m->space.nblocks * sizeof(lg_block_motion));
    s->V = lg_arena_doubles(arena, (size_t)(m->njoints + m->nforces));
    s->phi = lg_arena_doubles(arena, (size_t)(m->pattern.nrows + m->njoints));
}

size_t lg_step_work(const lg_model *m)
{
    lg_pair_step s;
    lg_arena arena = {0};
    pair_step_layout(m, &s, &arena);
    return arena.used / sizeof(double);
}

/* The name of a body that turns by half a turn or more; NULL: there is none. */
static const char *overturned_body(const lg_pair_step *s)
{
    const lg_model *m = s->motion.m;
    for (int i = 0; i < m->space.nblocks; i++)
        if (!(s->motion.blocks[i].cosine > 0))
            return lg_model_body_on(m, i)->e.name;
    return NULL;
}

/* Keeps the poses at the start, at its time. */
static lg_status keep_start(const lg_pair_step *s)
{
    const lg_pair *pair = s->motion.pair;
    lg_point at = s->at;
    at.t = pair->t;
    at.q = pair->q0;
    LG_TRY(lg_model_move(s->motion.m, LG_FORM_DYNAMICS, &at, LG_POSES, LG_REACH_USED));
    lg_motion_keep(&s->motion, &at, 0);
    return LG_OK;
}

/* The rows at the end, and the poses there, which are kept. */
static lg_status open_end(const lg_pair_step *s)
{
    const lg_pair_wanted *wanted = s->motion.wanted;
    lg_point end = lg_step_end(s->motion.pair, s->at.v);
    LG_TRY(lg_step_rows(s->motion.m, LG_FORM_BODY_AXES, &end, wanted->phi, wanted->B));
    lg_motion_keep(&s->motion, &s->at, 1);
    return LG_OK;
}

lg_status lg_step_pair(const lg_model *m, const lg_pair *pair, const lg_pair_wanted *wanted, const double *q,
                       const double *v, double *work)
{
    lg_pair_step s = {.motion = {.m = m, .pair = pair, .wanted = wanted}};
    s.at = lg_point_at(pair->t + 0.5 * pair->h, pair->q1, v);
    s.at.lam = pair->lam, s.at.mem.values = pair->mem, s.at.work = pair->work;
    s.largest = lg_max_abs(m->space.nq, pair->q1);
    pair_step_layout(m, &s, &(lg_arena){.base = (char *)work});
    if (wanted->noise)
        *wanted->noise = 0;
    LG_TRY(open_end(&s));
    if (!pair->same_start)
        LG_TRY(keep_start(&s));
    lg_motion_open(&s.motion);
    s.at.q = q; // for laws of the state
    if (wanted->turned)
        *wanted->turned = overturned_body(&s);
    for (int i = 0; i < m->njoints; i++)
        LG_TRY(add_relative_joint(&s, &m->joints[i], &s.V[i]));
    for (int i = 0; i < m->nforces; i++) {
        const lg_force *force = &m->forces[i];
        if (force->type->piece)
            continue;
        if (force->type->sees == LG_SEES_SPACE)
            LG_TRY(add_force_in_space(&s, force));
        else
            LG_TRY(lg_step_add_force(&s, force, &s.V[m->njoints + i]));
    }
    for (int i = 0; i < m->ntendons; i++)
        LG_TRY(lg_step_add_tendon(&s, &m->tendons[i]));
    lg_motion_collect(&s.motion);
    return LG_OK;
}
