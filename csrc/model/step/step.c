/* The conserving form of a step; see step.h. */
#include "model/step/step.h"

#include "model/ends.h"
#include "model/step/relative.h"
#include "model/tangent.h"
#include "model/tendon.h"
#include "system/chain.h"
#include "system/gonzalez.h"

typedef struct pair_step {
    lg_motion motion;
    lg_point at; /* the time in the middle, and the scratch with the poses of elements */
    double *V; /* potentials of joints, then of forces, at the start */
    double *phi; /* rows there, and then of each joint that adds to a row its own part */
    double largest; /* |q| */
} pair_step;

static int is_linear(const pair_step *s)
{
    return s->motion.wanted->S != NULL;
}

/* ---- what an element does between its ends ---- */

typedef struct part { /* f and m on b in the middle, and their derivatives G; see relative.h */
    double fm[6], G[36];
} part;

typedef struct between { /* an element between its two ends */
    const lg_element *e;
    lg_relative r;
    double l2, N, shortest; /* weight of angles, y . W y, and the least |y| that is corrected */
    double Wy[6];
} between;

/* The end in whose axes the other one is seen: the one that rests or is moved from outside, if there is one, since its
   wrench need not be in balance. Otherwise both bodies turn, because only distances and joints with axes of their own
   see points. */
static int base_of(const lg_element *e)
{
    return lg_element_moves(e, 0) && !lg_element_moves(e, 1);
}

/* The square of the length that makes angles comparable with distances: the distance of the points and their arms, or 1
   if that is hardly more than the round-off of positions, as between bodies that are joined at their centres. */
static double square_length(const pair_step *s, const lg_element *e, const lg_relative *r)
{
    double l2 = lg_dot3(r->r[LG_AT_START], r->r[LG_AT_START]), least = 1e-6 * (1 + s->largest);
    for (int i = 0; i < 2; i++)
        l2 += lg_element_moves(e, i) ? lg_dot3(e->frame[i]->offset, e->frame[i]->offset) : 0;
    return l2 > least * least ? l2 : 1;
}

static void open_between(const pair_step *s, const lg_element *e, int base, int by_distance, between *out)
{
    lg_relative *r = &out->r;
    lg_relative_open(&s->motion, e, base, by_distance, r);
    out->e = e;
    out->l2 = square_length(s, e, r);
    for (int i = 0; i < 6; i++)
        out->Wy[i] = (i < 3 ? 1 : out->l2) * r->y[i];
    out->N = lg_dot(6, r->y, out->Wy);
    out->shortest = LG_GONZALEZ_SHORT * sqrt(out->l2);
    if (s->motion.wanted->turned && !by_distance && lg_motion_overturns(&s->motion, e))
        *s->motion.wanted->turned = e->name;
}

static int is_short(const between *b)
{
    return !(b->N > b->shortest * b->shortest);
}

/* A += sign B */
static void add_part(const pair_step *s, double sign, const part *B, part *A)
{
    lg_axpy(6, sign, B->fm, A->fm);
    if (is_linear(s))
        lg_axpy(36, sign, B->G, A->G);
}

/* G: the derivative of what the element exerts on b in the middle, from those by the pose (K) and the twist (D; NULL:
   none) of b. */
static void set_slopes(const pair_step *s, const lg_relative *r, const lg_quarters *K, const lg_quarters *D,
                       double G[36])
{
    double rate[36];
    lg_zero(36, G);
    lg_quarters_mul_add(K, 6, r->middle, G);
    if (!D || !D->has)
        return;
    for (int i = 0; i < 36; i++)
        rate[i] = r->change[i] / s->motion.pair->h;
    lg_quarters_mul_add(D, 6, rate, G);
}

static void add_noise(const pair_step *s, const between *b, double sizes)
{
    if (s->motion.wanted->noise)
        *s->motion.wanted->noise += lg_gonzalez_noise(sizes, b->N, b->shortest);
}

/* Adds c W y to f and m, so that the product of the gradient g with y becomes the change of the function. `at_end`: the
   gradient at the end, for tangents. g may be `out`. */
static void add_correction(const pair_step *s, const between *b, double c, const part *g, const double at_end[6],
                           part *out)
{
    for (int j = 0; j < 6 && is_linear(s) && !is_short(b); j++) {
        const double *dy = b->r.change + 6 * j;
        double excess = at_end[j] - lg_dot(6, g->fm, dy) - lg_dot(6, b->r.y, g->G + 6 * j);
        lg_axpy(6, lg_gonzalez_slope(c, b->N, excess, 2 * lg_dot(6, b->Wy, dy)), b->Wy, out->G + 6 * j);
        lg_axpy(3, c, dy, out->G + 6 * j);
        lg_axpy(3, c * b->l2, dy + 3, out->G + 6 * j + 3);
    }
    lg_axpy(6, c, b->Wy, out->fm);
}

/* Adds the wrenches of f and m to both bodies. */
static void step_add_wrenches(const pair_step *s, const between *b, int sum, const part *p)
{
    double wrench[2][6];
    lg_relative_spread(&b->r, p->fm, wrench);
    for (int i = 0; i < 2; i++)
        lg_motion_add_wrench(&s->motion, b->e->frame[i], sum, wrench[i]);
}

static void add_relative_tangent(const pair_step *s, const between *b, double sign, const part *p)
{
    if (is_linear(s))
        lg_relative_add(&b->r, &s->motion, b->e, sign, p->fm, p->G);
}

/* ---- potentials ---- */

static lg_status potential_at(const pair_step *s, const between *b, const lg_element_ref *of, int where, double *V)
{
    const lg_pose *f[2];
    lg_relative_put(&b->r, b->e, &s->at, where, 0);
    if (of->joint)
        return of->joint->type->compliance->exert(of->joint, &s->at, 0, 0, V, NULL);
    lg_element_poses(b->e, &s->at, f);
    *V = of->force->type->potential(b->e, f, &s->at);
    return LG_OK;
}

/* Evaluates what the element exerts; `linear`: with its derivatives. */
static lg_status exert_at(const pair_step *s, const between *b, const lg_element_ref *of, int where, int moving,
                          int linear, part *out)
{
    int end = 1 - b->r.base;
    double V;
    lg_load load;
    lg_relative_put(&b->r, b->e, &s->at, where, moving);
    if (of->joint)
        LG_TRY(of->joint->type->compliance->exert(of->joint, &s->at, moving, linear, &V, &load));
    else
        LG_TRY(lg_force_load(of->force, &s->at, !moving, linear, &load));
    lg_copy(6, load.w[end], out->fm);
    if (linear)
        set_slopes(s, &b->r, &load.K[end][end], &load.D[end][end], out->G);
    return LG_OK;
}

/* Corrects `out` to the negative gradient of the potential in the step; V0: the potential at the start. */
static lg_status correct_potential(const pair_step *s, const between *b, const lg_element_ref *of, double *V0,
                                   const part *g, part *out)
{
    double V1, places = lg_norm3(g->fm) * (s->largest + sqrt(b->l2)) + lg_norm3(g->fm + 3);
    part end;
    if (!s->motion.pair->same_start)
        LG_TRY(potential_at(s, b, of, LG_AT_START, V0));
    LG_TRY(potential_at(s, b, of, LG_AT_END, &V1));
    if (is_linear(s))
        LG_TRY(exert_at(s, b, of, LG_AT_END, 0, 0, &end));
    double c = lg_gonzalez(*V0 - V1, lg_dot(6, g->fm, b->r.y), b->N, b->shortest);
    add_noise(s, b, fabs(*V0) + fabs(V1) + places);
    add_correction(s, b, c, g, end.fm, out);
    return LG_OK;
}

/* Evaluates all that an element exerts in the step; `moves`: it depends on rates. */
static lg_status exert_in_step(const pair_step *s, const between *b, const lg_element_ref *of, int has_potential,
                               int moves, double *V0, part *out)
{
    part rest;
    LG_TRY(exert_at(s, b, of, LG_AT_MIDDLE, moves, is_linear(s), out));
    if (!has_potential)
        return LG_OK;
    if (moves)
        LG_TRY(exert_at(s, b, of, LG_AT_MIDDLE, 0, is_linear(s), &rest));
    return correct_potential(s, b, of, V0, moves ? &rest : out, out);
}

static lg_status add_relative_force(const pair_step *s, const lg_force *force, double *V0)
{
    const lg_force_type *type = force->type;
    const lg_element_ref of = {.force = force};
    between b;
    part out;
    open_between(s, &force->e, base_of(&force->e), type->sees == LG_SEES_DISTANCE, &b);
    LG_TRY(exert_in_step(s, &b, &of, type->potential != NULL, type->needs_twists || !type->potential, V0, &out));
    step_add_wrenches(s, &b, LG_FORCES, &out);
    add_relative_tangent(s, &b, -1, &out);
    return LG_OK;
}

/* ---- tendons ---- */

/* The work of a wrench along the motion of the block under one end, into the slopes of a tendon. */
typedef void pull_end(const lg_motion *step, const lg_element *e, int end, const double wrench[6], double *out);

static void pull_in_step(const lg_motion *step, const lg_element *e, int end, const double wrench[6], double *out)
{
    lg_motion_pull(step, e->frame[end], wrench, out);
}

static void add_pulled(const pair_step *s, const lg_tendon *tendon, int i, const double wrench[2][6], pull_end *pull,
                       double *out)
{
    const lg_element *e = &lg_tendon_piece(s->motion.m, tendon, i)->e;
    double on_block[LG_MAX_NV];
    for (int end = 0; end < 2; end++) {
        int member = tendon->member[2 * i + end];
        if (member < 0)
            continue;
        pull(&s->motion, e, end, wrench[end], on_block);
        lg_axpy(e->frame[end]->body->block->nv, -1, on_block, out + tendon->first[member]);
    }
}

static void open_piece(const pair_step *s, const lg_force *piece, between *b)
{
    open_between(s, &piece->e, base_of(&piece->e), piece->type->sees == LG_SEES_DISTANCE, b);
}

/* Adds the lengths of a piece at both ends of the step, and the derivative of that at the end: under a tension of one
   the potential of a piece is its length. */
static lg_status measure_piece(const pair_step *s, const lg_tendon *tendon, int i, double *L0, double *L1,
                               const lg_tendon_slopes *slopes)
{
    const lg_force *piece = lg_tendon_piece(s->motion.m, tendon, i);
    const lg_element_ref of = {.force = piece};
    double *start = s->V + s->motion.m->njoints + (piece - s->motion.m->forces), length, wrench[2][6];
    between b;
    part end;
    open_piece(s, piece, &b);
    if (!s->motion.pair->same_start)
        LG_TRY(potential_at(s, &b, &of, LG_AT_START, start));
    LG_TRY(potential_at(s, &b, &of, LG_AT_END, &length));
    *L0 += *start, *L1 += length;
    if (!is_linear(s))
        return LG_OK;
    LG_TRY(exert_at(s, &b, &of, LG_AT_END, 0, 0, &end));
    lg_relative_spread_at_end(&b.r, end.fm, wrench);
    add_pulled(s, tendon, i, (const double (*)[6])wrench, lg_motion_pull_at_end, slopes->by_q);
    return LG_OK;
}

/* Adds T times what a piece exerts under a tension of one. */
static lg_status add_piece(const pair_step *s, const lg_tendon *tendon, int i, double T, const lg_tendon_slopes *slopes)
{
    const lg_force *piece = lg_tendon_piece(s->motion.m, tendon, i);
    const lg_element_ref of = {.force = piece};
    double wrench[2][6];
    between b;
    part unit, exerted = {{0}, {0}};
    double *noise = s->motion.wanted->noise, before = noise ? *noise : 0;
    open_piece(s, piece, &b);
    LG_TRY(exert_in_step(s, &b, &of, 1, 0, s->V + s->motion.m->njoints + (piece - s->motion.m->forces), &unit));
    if (is_linear(s)) {
        lg_relative_spread(&b.r, unit.fm, wrench);
        add_pulled(s, tendon, i, (const double (*)[6])wrench, pull_in_step, slopes->pull);
    }
    if (noise)
        *noise = before + T * (*noise - before);
    add_part(s, T, &unit, &exerted);
    step_add_wrenches(s, &b, LG_FORCES, &exerted);
    add_relative_tangent(s, &b, -1, &exerted);
    return LG_OK;
}

/* One tension does the work of the tendon in the step, and the pieces share it by the changes of their lengths. */
static lg_status add_tendon(const pair_step *s, const lg_tendon *tendon)
{
    const lg_model *m = s->motion.m;
    lg_tendon_slopes slopes = lg_tendon_open(m, tendon, s->at.work);
    double L0 = 0, L1 = 0, slope;
    s->at.work[tendon->tension] = 1;
    lg_zero(2 * tendon->nv, slopes.pull); // and by_q
    for (int i = 0; i < tendon->npieces; i++)
        LG_TRY(measure_piece(s, tendon, i, &L0, &L1, &slopes));
    double T = lg_tendon_between(m, tendon, L0, L1, s->motion.pair->h, &slope);
    for (int i = 0; i < tendon->npieces; i++)
        LG_TRY(add_piece(s, tendon, i, T, &slopes));
    if (!is_linear(s) || slope == 0)
        return LG_OK;
    for (int i = 0; i < tendon->nblocks; i++)
        lg_chain_mul(&m->blocks[tendon->block[i]], &s->motion.wanted->chain[tendon->block[i]], 0, 1,
                     slopes.by_q + tendon->first[i], slopes.by_unknown + tendon->first[i]);
    const lg_tangent to = {s->motion.wanted->S, s->motion.wanted->chain};
    lg_tendon_add_product(m, tendon, &slopes, slope, &to);
    return LG_OK;
}

/* ---- joints ---- */

/* Puts the gradient of a row into values with the layout of B; on_block: of the block under one of its frames. */
static void put_on_block(const lg_joint *joint, int side, int row, const double *on_block, double *values)
{
    double *to = values + joint->value[side] + row;
    for (int k = 0; k < joint->e.frame[side]->body->block->nv; k++)
        to[k * joint->nrows] = (joint->adds[side] ? to[k * joint->nrows] : 0) + on_block[k];
}

/* Adds a row's gradient to G. */
static void put_gradient(const pair_step *s, const lg_joint *joint, const double wrench[2][6], int row)
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
static void row_gradient(const lg_rows *rows, const between *b, int i, double fm[6])
{
    lg_copy(6, rows->J[1 - b->r.base] + 6 * i, fm);
    if (i >= rows->points)
        lg_zero(3, fm);
}

/* With the twist in the middle for the slopes Z of nonholonomic rows. */
static lg_status rows_at(const pair_step *s, const between *b, const lg_joint *joint, int where, unsigned want,
                         lg_rows *out)
{
    const lg_pose *f[2];
    lg_relative_put(&b->r, b->e, &s->at, where, (want & LG_ROWS_Z) != 0);
    lg_element_poses(b->e, &s->at, f);
    return lg_joint_rows(lg_joint_in(LG_FORM_BODY_AXES, joint), joint, f, &s->at, LG_ROWS_J | want, out);
}

static lg_status values_at(const pair_step *s, const between *b, const lg_joint *joint, int where, double *phi)
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
static double slip_in_step(const between *b, const lg_rows *rows, int i)
{
    double row[6];
    row_gradient(rows, b, i, row);
    return lg_dot(6, row, b->r.y);
}

/* Its derivatives by z. */
static void slip_gradient(const pair_step *s, const between *b, const lg_rows *rows, int i, double by_z[6])
{
    const double *Z = rows->Z[1 - b->r.base] + 6 * i;
    double row[6];
    row_gradient(rows, b, i, row);
    for (int j = 0; j < 6; j++)
        by_z[j] = lg_dot(6, row, b->r.change + 6 * j) + s->motion.pair->h * lg_dot(6, Z, b->r.middle + 6 * j);
}

/* Writes nonholonomic rows of phi and B. */
static void put_slips(const pair_step *s, const between *b, const lg_joint *joint, const lg_rows *rows)
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
static void sum_rows(const pair_step *s, const between *b, const lg_joint *joint, const lg_rows *rows, int first,
                     double fm[6])
{
    double row[6];
    lg_zero(6, fm);
    for (int i = first; i < joint->nrows; i++) {
        row_gradient(rows, b, i, row);
        lg_axpy(6, s->motion.pair->lam[joint->row + i], row, fm);
    }
}

/* The derivative by z of sum lam_i phi_i at the end. */
static void sum_at_end(const pair_step *s, const between *b, const lg_joint *joint, const lg_rows *middle,
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
static void react_in_space(const pair_step *s, const lg_joint *joint, const lg_rows *rows, int first)
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
static double *own_rows(const pair_step *s, const lg_joint *joint)
{
    const lg_model *m = s->motion.m;
    return s->phi + (joint->adds_row ? m->pattern.nrows + (joint - m->joints) : joint->row);
}

/* The coefficients c_i of all rows, and C = sum lam_i c_i. */
static lg_status find_coefficients(const pair_step *s, const between *b, const lg_joint *joint, const lg_rows *rows,
                                   int first, double c[LG_MAX_ROWS], double *C)
{
    const double *lam = s->motion.pair->lam + joint->row;
    double *phi0 = own_rows(s, joint), phi[LG_MAX_ROWS], row[6], sum = 0;
    if (!s->motion.pair->same_start)
        LG_TRY(values_at(s, b, joint, LG_AT_START, phi0));
    LG_TRY(values_at(s, b, joint, LG_AT_END, phi));
    *C = 0;
    for (int i = first; i < joint->nrows; i++) {
        row_gradient(rows, b, i, row);
        double along = lg_dot(6, row, b->r.y);
        double change = lg_joint_is_nonholonomic(joint, i) ? along : phi[i] - phi0[i];
        c[i] = lg_gonzalez(change, along, b->N, b->shortest);
        *C += lam[i] * c[i];
        sum += fabs(lam[i]);
    }
    add_noise(s, b, (1 + s->largest) * sum);
    return LG_OK;
}

/* Adds the corrected gradients of all rows to G. */
static void put_gradients(const pair_step *s, const between *b, const lg_joint *joint, const lg_rows *rows, int first,
                          const double *c)
{
    double row[6], wrench[2][6];
    for (int i = first; i < joint->nrows; i++) {
        row_gradient(rows, b, i, row);
        lg_axpy(6, c[i], b->Wy, row);
        lg_relative_spread(&b->r, row, wrench);
        put_gradient(s, joint, (const double (*)[6])wrench, i);
    }
}

static lg_status react(const pair_step *s, const between *b, const lg_joint *joint, part *out)
{
    int linear = is_linear(s);
    double C, c[LG_MAX_ROWS], at_end[6] = {0};
    unsigned slopes = joint->e.info->nnonholonomic ? LG_ROWS_Z : 0;
    lg_rows rows, end;
    LG_TRY(rows_at(s, b, joint, LG_AT_MIDDLE, slopes | (linear ? LG_ROWS_K : 0), &rows));
    if (slopes)
        put_slips(s, b, joint, &rows);
    int first = first_relative(joint, &rows);
    react_in_space(s, joint, &rows, first);
    LG_TRY(find_coefficients(s, b, joint, &rows, first, c, &C));
    if (s->motion.wanted->G)
        put_gradients(s, b, joint, &rows, first, c);
    sum_rows(s, b, joint, &rows, first, out->fm);
    if (linear) {
        LG_TRY(rows_at(s, b, joint, LG_AT_END, 0, &end));
        sum_at_end(s, b, joint, &rows, &end, first, at_end);
        set_slopes(s, &b->r, &rows.K[1 - b->r.base][1 - b->r.base], NULL, out->G);
    }
    add_correction(s, b, C, out, at_end, out);
    return LG_OK;
}

static lg_status add_relative_joint(const pair_step *s, const lg_joint *joint, double *V0)
{
    const lg_joint_type *type = lg_joint_in(LG_FORM_BODY_AXES, joint);
    const lg_element_ref of = {.joint = joint};
    between b;
    part exerted, sum = {{0}, {0}};
    int axes = type->axes ? type->axes(&joint->e) : -1;
    open_between(s, &joint->e, axes < 0 ? base_of(&joint->e) : axes, type->sees_distance, &b);
    if (joint->nrows) {
        LG_TRY(react(s, &b, joint, &sum));
        step_add_wrenches(s, &b, LG_REACTIONS, &sum);
    }
    if (type->compliance) {
        LG_TRY(exert_in_step(s, &b, &of, 1, joint->e.traits & LG_DAMPED, V0, &exerted));
        step_add_wrenches(s, &b, LG_FORCES, &exerted);
        add_part(s, -1, &exerted, &sum);
    }
    add_relative_tangent(s, &b, 1, &sum);
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

static lg_status add_force_in_space(const pair_step *s, const lg_force *force)
{
    in_space of;
    int n = force->e.info->nframes;
    of.motion = &s->motion, of.e = &force->e;
    for (int i = 0; i < n; i++)
        lg_motion_middle(&s->motion, force->e.frame[i], &s->at, &of.middle[i]);
    LG_TRY(lg_force_load(force, &s->at, 0, is_linear(s), &of.load));
    for (int i = 0; i < n; i++) {
        double wrench[6];
        lg_copy(3, of.load.w[i], wrench);
        lg_mul3(of.middle[i].R, of.load.w[i] + 3, wrench + 3);
        lg_motion_add_wrench(&s->motion, force->e.frame[i], LG_FORCES, wrench);
    }
    if (is_linear(s) && follows(&of))
        lg_motion_add(&s->motion, &force->e, -1, slopes_in_space, &of);
    return LG_OK;
}

/* ---- all of them ---- */

static void pair_step_layout(const lg_model *m, pair_step *s, lg_arena *arena)
{
    s->motion.moved = lg_arena_take(arena, (size_t)m->nframes * sizeof(lg_moved));
    s->motion.swing = lg_arena_take(arena, (size_t)m->space.nblocks * sizeof(lg_swing));
    s->V = lg_arena_doubles(arena, (size_t)(m->njoints + m->nforces));
    s->phi = lg_arena_doubles(arena, (size_t)(m->pattern.nrows + m->njoints));
}

size_t lg_step_work(const lg_model *m)
{
    pair_step s;
    lg_arena arena = {0};
    pair_step_layout(m, &s, &arena);
    return arena.used / sizeof(double);
}

/* The name of a body that turns by half a turn or more; NULL: there is none. */
static const char *overturned_body(const pair_step *s)
{
    const lg_model *m = s->motion.m;
    for (int i = 0; i < m->space.nblocks; i++)
        if (!(s->motion.swing[i].cosine > 0))
            return lg_model_body_on(m, i)->e.name;
    return NULL;
}

/* Keeps the poses at the start, at its time. */
static lg_status keep_start(const pair_step *s)
{
    const lg_pair *pair = s->motion.pair;
    lg_point at = s->at;
    at.t = pair->t;
    at.q = pair->q0;
    LG_TRY(lg_model_move(s->motion.m, LG_FORM_DYNAMICS, &at, LG_POSES, 0));
    lg_motion_keep(&s->motion, &at, 0);
    return LG_OK;
}

/* The rows at the end, and the poses there, which are kept. */
static lg_status open_end(const pair_step *s)
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
    pair_step s = {.motion = {.m = m, .pair = pair, .wanted = wanted}};
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
            LG_TRY(add_relative_force(&s, force, &s.V[m->njoints + i]));
    }
    for (int i = 0; i < m->ntendons; i++)
        LG_TRY(add_tendon(&s, &m->tendons[i]));
    lg_motion_collect(&s.motion);
    return LG_OK;
}
