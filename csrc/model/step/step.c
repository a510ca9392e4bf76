#include "model/step/step.h"

#include "model/step/relative.h"
#include "system/gonzalez.h"

#include <float.h>

typedef struct step {
    lg_motion motion;
    const lg_pair_wanted *wanted;
    lg_point at; /* the time in the middle, and the scratch with the poses of elements */
    double *V, *phi; /* potentials of joints, then of forces, and rows of joints, at the start */
    double largest; /* |q| */
} step;

/* ---- what an element does between its ends ---- */

typedef struct part { /* f and m on b in the middle, and their derivatives, as lg_relative_chain has them */
    double fm[6], G[36];
} part;

typedef struct between { /* an element */
    const lg_element *e;
    lg_relative r;
    double l2, N, shortest; /* weight of angles, y . W y, and the least |y| for corrections */
    double Wy[6], y[6];
} between;

/* The end in whose axes the other one is seen: one that stands still or is moved from outside, where wrenches need no
   balance; otherwise one that turns. */
static int base_of(const lg_element *e)
{
    if (!lg_element_moves(e, 0) || !lg_element_moves(e, 1))
        return lg_element_moves(e, 0);
    return !lg_frame_turns(e->frame[0]) && lg_frame_turns(e->frame[1]);
}

/* The square of the length by which angles count: that between the points, with their arms, or 1. A length that is
   hardly more than round-off of places, as where bodies are joined at their centres, would divide by round-off. */
static double square_length(const step *s, const lg_element *e, const lg_relative *r)
{
    double l2 = lg_dot3(r->r[LG_AT_START], r->r[LG_AT_START]), least = 1e-6 * (1 + s->largest);
    for (int i = 0; i < 2; i++)
        l2 += lg_element_moves(e, i) ? lg_dot3(e->frame[i]->offset, e->frame[i]->offset) : 0;
    return l2 > least * least ? l2 : 1;
}

static void open_between(const step *s, const lg_element *e, int base, int by_distance, between *out)
{
    lg_relative *r = &out->r;
    lg_relative_open(&s->motion, e, base, by_distance, r);
    out->e = e;
    out->l2 = square_length(s, e, r);
    for (int i = 0; i < 3; i++) {
        out->y[i] = out->Wy[i] = r->dr[i];
        out->y[3 + i] = r->beta[i];
        out->Wy[3 + i] = out->l2 * r->beta[i];
    }
    out->N = lg_dot(6, out->y, out->Wy);
    out->shortest = LG_GONZALEZ_SHORT * sqrt(out->l2);
    if (s->wanted->turned && !by_distance && lg_motion_overturns(&s->motion, e))
        *s->wanted->turned = e->name;
}

/* Of what is exerted on the frames in the middle. */
static void set_part(const step *s, const between *b, const lg_load *load, int linear, part *out)
{
    int end = 1 - b->r.base;
    lg_copy(6, load->w[end], out->fm);
    lg_zero(36, out->G);
    if (linear)
        lg_relative_chain(&b->r, s->motion.pair->h, &load->K[end][end], &load->D[end][end], out->G);
}

/* Adds c W y to f and m, where c makes the product of the gradient g with y that of the change; `at_end`: the gradient
   there. */
static void correct(const between *b, double c, const part *g, const double at_end[6], int linear, part *out)
{
    double slope[6], turned[3];
    lg_axpy(6, c, b->Wy, out->fm);
    if (!linear || !(b->N > b->shortest * b->shortest))
        return;
    lg_copy(6, at_end, slope);
    lg_relative_by_turn(&b->r, g->fm + 3, turned);
    lg_axpy(3, -1, g->fm, slope);
    lg_axpy(3, -1, turned, slope + 3);
    for (int i = 0; i < 6; i++)
        lg_axpy(6, -b->y[i], g->G + 6 * i, slope);
    for (int j = 0; j < 6; j++) { // d(beta . beta) = 2 beta . turn
        slope[j] = lg_gonzalez_slope(c, b->N, slope[j], 2 * b->Wy[j]);
        for (int i = 0; i < 6; i++)
            out->G[6 * i + j] += b->Wy[i] * slope[j];
    }
    for (int i = 0; i < 3; i++) {
        const double unit[3] = {i == 0, i == 1, i == 2};
        out->G[7 * i] += c;
        lg_relative_by_turn(&b->r, unit, turned);
        lg_axpy(3, c * b->l2, turned, out->G + 6 * (3 + i) + 3);
    }
}

/* The wrenches on both bodies. */
static void press(const step *s, const between *b, int sum, const part *p)
{
    double wrench[2][6];
    lg_relative_spread(&b->r, p->fm, wrench);
    for (int i = 0; i < 2; i++)
        lg_motion_press(&s->motion, b->e->frame[i], sum, wrench[i]);
}

static void add_tangent(const step *s, const between *b, double sign, const part *p)
{
    if (s->wanted->S)
        lg_relative_add(&b->r, &s->motion, b->e, sign, p->fm, p->G, s->wanted);
}

/* ---- potentials ---- */

/* What an element exerts where it is put, and its potential. */
typedef lg_status exert_at(const step *s, const void *element, int moving, int linear, double *V, lg_load *out);

static lg_status exert_joint(const step *s, const void *element, int moving, int linear, double *V, lg_load *out)
{
    const lg_joint *joint = element;
    return joint->type->exert(joint, &s->at, moving, linear, V, out);
}

static lg_status exert_force(const step *s, const void *element, int moving, int linear, double *V, lg_load *out)
{
    const lg_force *force = element;
    const lg_pose *f[2];
    lg_element_poses(&force->e, &s->at, f);
    *V = force->type->potential ? force->type->potential(&force->e, f, &s->at) : 0;
    return lg_force_load(force, &s->at, !moving, linear, out);
}

/* The change of a potential whose poses change by as much as their own sizes. */
static double of_places(const step *s, const between *b, const double fm[6])
{
    return lg_norm3(fm) * (s->largest + sqrt(b->l2)) + lg_norm3(fm + 3);
}

/* The negative gradient of the potential in the step; V0: that at the start. */
static lg_status gradient(const step *s, const between *b, exert_at *exert, const void *element, double *V0, part *out)
{
    int linear = s->wanted->S != NULL, end = 1 - b->r.base;
    double V, V1;
    lg_load load;
    part g;
    if (!s->motion.pair->same_start) {
        lg_relative_put(&b->r, b->e, &s->at, LG_AT_START, 0);
        LG_TRY(exert(s, element, 0, 0, V0, &load));
    }
    lg_relative_put(&b->r, b->e, &s->at, LG_AT_MIDDLE, 0);
    LG_TRY(exert(s, element, 0, linear, &V, &load));
    set_part(s, b, &load, linear, &g);
    lg_relative_put(&b->r, b->e, &s->at, LG_AT_END, 0);
    LG_TRY(exert(s, element, 0, 0, &V1, &load));
    double c = lg_gonzalez(*V0 - V1, lg_dot(6, g.fm, b->y), b->N, b->shortest);
    if (s->wanted->noise && b->N > b->shortest * b->shortest)
        *s->wanted->noise += DBL_EPSILON * (fabs(*V0) + fabs(V1) + of_places(s, b, g.fm)) / sqrt(b->N);
    *out = g;
    correct(b, c, &g, load.w[end], linear, out);
    return LG_OK;
}

/* What depends on rates, in addition to the force at rest. */
static lg_status add_moving(const step *s, const between *b, exert_at *exert, const void *element, int has_potential,
                            part *out)
{
    int linear = s->wanted->S != NULL;
    double V;
    lg_load load;
    part moving, rest;
    lg_relative_put(&b->r, b->e, &s->at, LG_AT_MIDDLE, 1);
    LG_TRY(exert(s, element, 1, linear, &V, &load));
    set_part(s, b, &load, linear, &moving);
    lg_axpy(6, 1, moving.fm, out->fm), lg_axpy(36, 1, moving.G, out->G);
    if (!has_potential)
        return LG_OK;
    lg_relative_put(&b->r, b->e, &s->at, LG_AT_MIDDLE, 0);
    LG_TRY(exert(s, element, 0, linear, &V, &load));
    set_part(s, b, &load, linear, &rest);
    lg_axpy(6, -1, rest.fm, out->fm), lg_axpy(36, -1, rest.G, out->G);
    return LG_OK;
}

static lg_status add_relative_force(const step *s, const lg_force *force, double *V0)
{
    const lg_force_type *type = force->type;
    between b;
    part out = {{0}, {0}};
    open_between(s, &force->e, base_of(&force->e), type->sees == LG_SEES_DISTANCE, &b);
    if (type->potential)
        LG_TRY(gradient(s, &b, exert_force, force, V0, &out));
    if (type->needs_twists || !type->potential)
        LG_TRY(add_moving(s, &b, exert_force, force, type->potential != NULL, &out));
    press(s, &b, LG_FORCES, &out);
    add_tangent(s, &b, -1, &out);
    return LG_OK;
}

/* ---- joints ---- */

/* Adds a row's gradient to G. */
static void put_gradient(const step *s, const lg_joint *joint, const double wrench[2][6], int row)
{
    double on_block[LG_MAX_NV];
    for (int side = 0; side < 2; side++) {
        const lg_block *block = joint->e.frame[side]->body->block;
        if (!block)
            continue;
        lg_motion_pull(&s->motion, joint->e.frame[side], wrench[side], on_block);
        for (int k = 0; k < block->nv; k++)
            s->wanted->G[joint->value[side] + row + k * joint->nrows] = on_block[k];
    }
}

/* Row i of the gradients at b. */
static void row_of(const lg_rows *rows, const between *b, int i, double fm[6])
{
    lg_copy(6, rows->J[1 - b->r.base] + 6 * i, fm);
    if (i >= rows->points)
        lg_zero(3, fm);
}

static lg_status rows_at(const step *s, const between *b, const lg_joint *joint, int where, unsigned want, lg_rows *out)
{
    const lg_pose *f[2];
    lg_relative_put(&b->r, b->e, &s->at, where, 0);
    lg_element_poses(b->e, &s->at, f);
    return lg_joint_rows(joint, f, &s->at, want, out);
}

/* The first rows that see the bodies against each other; those before are distances along axes fixed in space. */
static int first_relative(const lg_joint *joint, const lg_rows *rows)
{
    return joint->type->axes && joint->type->axes(&joint->e) < 0 ? rows->points : 0;
}

/* sum lam_i J_i */
static void sum_rows(const step *s, const between *b, const lg_joint *joint, const lg_rows *rows, double fm[6])
{
    double row[6];
    lg_zero(6, fm);
    for (int i = first_relative(joint, rows); i < joint->nrows; i++) {
        row_of(rows, b, i, row);
        lg_axpy(6, s->motion.pair->lam[joint->row + i], row, fm);
    }
}

/* Rows in axes fixed in space, which are linear in the places of points. */
static void react_in_space(const step *s, const lg_joint *joint, const lg_rows *rows)
{
    for (int i = 0; i < first_relative(joint, rows); i++) {
        double wrench[2][6] = {{0}};
        for (int side = 0; side < 2; side++)
            lg_copy(3, rows->J[side] + 6 * i, wrench[side]);
        if (s->wanted->G)
            put_gradient(s, joint, (const double (*)[6])wrench, i);
        for (int side = 0; side < 2; side++) {
            for (int k = 0; k < 3; k++)
                wrench[side][k] *= s->motion.pair->lam[joint->row + i];
            lg_motion_press(&s->motion, joint->e.frame[side], LG_REACTIONS, wrench[side]);
        }
    }
}

static lg_status react(const step *s, const between *b, const lg_joint *joint, part *out)
{
    int linear = s->wanted->S != NULL;
    const double *lam = s->motion.pair->lam + joint->row;
    double *phi0 = s->phi + joint->row, C = 0, sum = 0, row[6], at_end[6];
    lg_rows rows, end;
    part g;
    if (!s->motion.pair->same_start) {
        LG_TRY(rows_at(s, b, joint, LG_AT_START, 0, &end));
        lg_copy(joint->nrows, end.phi, phi0);
    }
    LG_TRY(rows_at(s, b, joint, LG_AT_END, 0, &end));
    LG_TRY(rows_at(s, b, joint, LG_AT_MIDDLE, linear ? LG_ROWS_K : 0, &rows));
    react_in_space(s, joint, &rows);
    for (int i = first_relative(joint, &rows); i < joint->nrows; i++) {
        double wrench[2][6];
        row_of(&rows, b, i, row);
        double c = lg_gonzalez(end.phi[i] - phi0[i], lg_dot(6, row, b->y), b->N, b->shortest);
        lg_axpy(6, c, b->Wy, row);
        lg_relative_spread(&b->r, row, wrench);
        if (s->wanted->G)
            put_gradient(s, joint, (const double (*)[6])wrench, i);
        C += lam[i] * c;
        sum += fabs(lam[i]);
    }
    if (s->wanted->noise && b->N > b->shortest * b->shortest)
        *s->wanted->noise += DBL_EPSILON * (1 + s->largest) * sum / sqrt(b->N);
    sum_rows(s, b, joint, &rows, g.fm);
    sum_rows(s, b, joint, &end, at_end);
    lg_zero(36, g.G);
    static const lg_quarters none;
    if (linear)
        lg_relative_chain(&b->r, s->motion.pair->h, &rows.K[1 - b->r.base][1 - b->r.base], &none, g.G);
    *out = g;
    correct(b, C, &g, at_end, linear, out);
    return LG_OK;
}

static lg_status add_joint(const step *s, const lg_joint *joint, double *V0)
{
    const lg_joint_type *type = joint->type;
    between b;
    part exerted = {{0}, {0}}, reaction = {{0}, {0}};
    int axes = type->axes ? type->axes(&joint->e) : -1;
    open_between(s, &joint->e, axes < 0 ? base_of(&joint->e) : axes, type->sees_distance, &b);
    if (type->exert) {
        LG_TRY(gradient(s, &b, exert_joint, joint, V0, &exerted));
        if (type->damped && type->damped(&joint->e))
            LG_TRY(add_moving(s, &b, exert_joint, joint, 1, &exerted));
        press(s, &b, LG_FORCES, &exerted);
    }
    if (joint->nrows) {
        LG_TRY(react(s, &b, joint, &reaction));
        press(s, &b, LG_REACTIONS, &reaction);
    }
    lg_axpy(6, -1, exerted.fm, reaction.fm);
    lg_axpy(36, -1, exerted.G, reaction.G);
    add_tangent(s, &b, 1, &reaction);
    return LG_OK;
}

/* ---- forces in space ---- */

/* B = R A for three rows of n values */
static void turn_rows(int n, const double R[9], double *A)
{
    for (int k = 0; k < n; k++) {
        double column[3] = {A[k], A[n + k], A[2 * n + k]}, turned[3];
        lg_mul3(R, column, turned);
        for (int i = 0; i < 3; i++)
            A[i * n + k] = turned[i];
    }
}

/* Y += s A for one quarter A */
static void add_values(double s, const lg_quarters *A, int which, double Y[9])
{
    if (A->has >> which & 1)
        lg_axpy(9, s, A->A[which], Y);
}

/* Y (3 x 4) += A (3 x 3) X (3 x 4) for one quarter A */
static void add_product(const lg_quarters *A, int which, const double X[12], double Y[12])
{
    for (int i = 0; A->has >> which & 1 && i < 3; i++)
        for (int k = 0; k < 3; k++)
            lg_axpy(4, A->A[which][3 * i + k], X + 4 * k, Y + 4 * i);
}

/* dw_i by the pose and the twist j in the middle, as they follow the end of the step. */
static void slopes_in_space(const step *s, const lg_load *load, const lg_element *e, const lg_middle middle[2], int i,
                            int j, lg_motion_slopes *out)
{
    double turn[12], rate[12], h = s->motion.pair->h;
    const lg_quarters *K = &load->K[i][j], *D = &load->D[i][j];
    memset(out, 0, sizeof *out);
    lg_motion_middle_slopes(&s->motion, e->frame[j], &middle[j], turn, rate);
    for (int which = 0; which < 4; which++) {
        double *x = out->by_x + 9 * (which / 2), *by_e = out->by_e + 12 * (which / 2);
        if (which % 2 == 0) {
            add_values(0.5, K, which, x);
            add_values(1 / h, D, which, x);
        } else {
            add_product(K, which, turn, by_e);
            add_product(D, which, rate, by_e);
        }
    }
    if (i == j) { // the moment turns with the body
        lg_quarters hat = {.has = 0};
        double M[9];
        lg_hat3(load->w[i] + 3, M);
        lg_quarters_add(&hat, LG_RR, -1, M);
        add_product(&hat, LG_RR, turn, out->by_e + 12);
    }
    turn_rows(3, middle[i].R, out->by_x + 9);
    turn_rows(4, middle[i].R, out->by_e + 12);
}

static lg_status add_force_in_space(const step *s, const lg_force *force)
{
    const lg_element *e = &force->e;
    int n = e->info->nframes, linear = s->wanted->S != NULL;
    lg_middle middle[2];
    lg_load load;
    for (int i = 0; i < n; i++)
        lg_motion_middle(&s->motion, e->frame[i], &s->at, &middle[i]);
    LG_TRY(lg_force_load(force, &s->at, 0, linear, &load));
    for (int i = 0; i < n; i++) {
        double wrench[6];
        lg_copy(3, load.w[i], wrench);
        lg_mul3(middle[i].R, load.w[i] + 3, wrench + 3);
        lg_motion_press(&s->motion, e->frame[i], LG_FORCES, wrench);
        for (int j = 0; linear && j < n; j++) {
            lg_motion_slopes slopes;
            if (!lg_element_moves(e, i) || !lg_element_moves(e, j) || e->meeting[i][j] < 0)
                continue;
            slopes_in_space(s, &load, e, middle, i, j, &slopes);
            lg_motion_add(&s->motion, e, i, j, -1, &slopes, s->wanted);
        }
    }
    return LG_OK;
}

/* ---- all of them ---- */

static void layout(const lg_model *m, step *s, lg_arena *arena)
{
    s->motion.moved = lg_arena_take(arena, (size_t)m->nframes * sizeof(lg_moved));
    s->motion.swing = lg_arena_take(arena, (size_t)m->space.nblocks * sizeof(lg_swing));
    s->V = lg_arena_doubles(arena, (size_t)(m->njoints + m->nforces));
    s->phi = lg_arena_doubles(arena, (size_t)m->pattern.nrows);
}

size_t lg_step_work(const lg_model *m)
{
    step s;
    lg_arena arena = {0};
    layout(m, &s, &arena);
    return arena.used / sizeof(double);
}

/* A body that turns by half a turn or more. */
static const char *overturned_body(const step *s)
{
    const lg_model *m = s->motion.m;
    for (int i = 0; i < m->space.nblocks; i++)
        if (!(s->motion.swing[i].cosine > 0))
            return m->body_names[i];
    return NULL;
}

/* The poses of an end of the step, at its time. */
static lg_status keep_end(const step *s, int end)
{
    const lg_pair *pair = s->motion.pair;
    lg_point at = s->at;
    at.t = end ? pair->t + pair->h : pair->t;
    at.q = end ? pair->q1 : pair->q0;
    LG_TRY(lg_model_move(s->motion.m, LG_FORM_DYNAMICS, &at, LG_POSES, 0));
    lg_motion_keep(&s->motion, &at, end);
    return LG_OK;
}

lg_status lg_step_pair(const lg_model *m, const lg_pair *pair, const lg_pair_wanted *wanted, const double *v,
                       double *work)
{
    step s = {.motion = {.m = m, .pair = pair}, .wanted = wanted};
    s.at = lg_point_at(pair->t + 0.5 * pair->h, pair->q1, v);
    s.at.lam = pair->lam, s.at.mem = pair->mem, s.at.work = pair->work;
    s.largest = lg_max_abs(m->space.nq, pair->q1);
    layout(m, &s, &(lg_arena){.base = (char *)work});
    if (wanted->noise)
        *wanted->noise = 0;
    if (!pair->same_start)
        LG_TRY(keep_end(&s, 0));
    LG_TRY(keep_end(&s, 1));
    lg_motion_open(&s.motion);
    if (wanted->turned)
        *wanted->turned = overturned_body(&s);
    for (int i = 0; i < m->njoints; i++)
        LG_TRY(add_joint(&s, &m->invariants[i], &s.V[i]));
    for (int i = 0; i < m->nforces; i++) {
        const lg_force *force = &m->forces[i];
        if (force->type->sees == LG_SEES_SPACE)
            LG_TRY(add_force_in_space(&s, force));
        else
            LG_TRY(add_relative_force(&s, force, &s.V[m->njoints + i]));
    }
    lg_motion_collect(&s.motion, wanted);
    return LG_OK;
}
