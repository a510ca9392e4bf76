/* A step as kinon2024 prints it; see printed.h. The correction c P dq of a gradient at the middle (system/gonzalez.h)
   has P = 1 on the coordinates of all bodies on which the element depends: two, or those of all joints of a coupling.

   All rows of a joint share one dq. Their forces, the gradients times lam_i, are corrected by C dq with C = sum lam_i
   c_i, and

       d(delta) = grad f(q1) - grad f(q_m) - (h/2) d(grad f(q_m).v)/dq_m at constant v = dq/h.

   The gradients of a row are B, and the last term is Z. */
#include "model/printed/printed.h"

#include "model/printed/eval.h"
#include "model/printed/frame.h"
#include "system/chain.h"
#include "system/gonzalez.h"

#include <string.h>

/* A step: what is wanted, and what has been evaluated so far. */
typedef struct printed_step {
    const lg_model *m;
    const lg_pair *pair;
    const lg_pair_wanted *wanted;
    int discrete;
    int *driven; /* per group of rows: whether it changes with time by itself */
    lg_chain *chain; /* of the middle */
    lg_tangent tangent; /* along these chains */
    double *scaled, *rows; /* multipliers of the kernels, and rows, at the middle */
    double *G, *Z, *phidot; /* at the middle, if the caller does not want them */
    double *dq, *excess; /* q1 - q0; derivatives of some delta, on the blocks on which it depends */
    double *part; /* room for those of nonholonomic rows */
    double *phi0, *V0; /* at the start: rows, and potentials of joints, then of forces */
    double *phi, *B; /* at the end: rows, and B if a tangent is wanted */
    double *V, *gradient; /* at the end: potentials, and their gradients on two blocks, LG_MAX_NV each */
    lg_point middle; /* the point where poses and twists are evaluated last */
    lg_wanted at_middle; /* what was evaluated there: phidot; B and Z for tangents */
    double largest; /* |q| at the end */
    double noise; /* as lg_pair_wanted.noise */
} printed_step;

typedef struct pulled { /* in the velocities of the blocks under both frames */
    double on[2][LG_MAX_NV];
} pulled;
enum { PULLED = sizeof(pulled) / sizeof(double) };

/* out += s H^T w at the middle; the next function does so at an end. */
static void pull_at_middle(const lg_element *e, const lg_point *at, double s, const double w[2][6], pulled *out)
{
    for (int i = 0; i < e->info->nframes; i++)
        if (lg_element_moves(e, i))
            lg_printed_pull(e->frame[i], at, s, w[i], out->on[i]);
}

static void pull_at_end(const lg_element *e, const lg_point *at, double s, const double w[2][6], pulled *out)
{
    for (int i = 0; i < e->info->nframes; i++)
        if (lg_element_moves(e, i))
            e->frame[i]->body->type->frames->pull(e->frame[i], at, s, w[i], out->on[i]);
}

/* out += s (d(w . twists)/dq at constant w and v) for w and its derivatives K by poses */
static void pull_rates(const lg_element *e, const lg_point *at, double s, const double w[2][6],
                       const lg_quarters K[2][2], pulled *out)
{
    for (int j = 0; j < e->info->nframes; j++) {
        double slope[6] = {0}, scaled[6] = {0};
        if (!lg_element_moves(e, j))
            continue;
        for (int i = 0; i < e->info->nframes; i++) {
            const lg_pose *f = lg_pose_of(e->frame[i], at);
            const double *twist[2] = {f->xdot, f->omega};
            for (int which = 0; which < 4; which++)
                for (int k = 0; K[i][j].has >> which & 1 && k < 3; k++)
                    lg_axpy(3, s * twist[which / 2][k], K[i][j].A[which] + 3 * k, slope + 3 * (which % 2));
        }
        lg_axpy(6, s, w[j], scaled);
        lg_printed_pull(e->frame[j], at, 1, slope, out->on[j]);
        lg_printed_pull_rate(e->frame[j], at, scaled, out->on[j]);
    }
}

/* ---- dq ---- */

typedef struct correction { /* of an element or of rows */
    int n;
    const int *block; /* on which it depends */
    long first_matrix_block; /* block (this + n i + j) of S couples blocks i and j, i != j */
    double N, shortest;
} correction;

static correction open_correction(const printed_step *step, int n, const int *block, long first_matrix_block)
{
    correction c = {.n = n,
                    .block = block,
                    .first_matrix_block = first_matrix_block,
                    .shortest = LG_GONZALEZ_SHORT * (1 + step->largest)};
    for (int i = 0; i < n; i++) {
        const lg_block *b = &step->m->blocks[block[i]];
        c.N += lg_dot(b->nv, step->dq + b->v, step->dq + b->v);
    }
    return c;
}

static int is_short(const correction *c)
{
    return !(c->N > c->shortest * c->shortest);
}

/* ---- what a correction adds ---- */

/* out += C dq */
static void add_along_dq(const printed_step *step, const correction *c, double C, double *out)
{
    for (int i = 0; out && i < c->n; i++) {
        const lg_block *b = &step->m->blocks[c->block[i]];
        lg_axpy(b->nv, C, step->dq + b->v, out + b->v);
    }
}

/* S += dq dC^T + C, by q1; d(delta) is in step->excess. */
static void add_correction_tangent(const printed_step *step, const correction *c, double C)
{
    double A[LG_MAX_NV * LG_MAX_NV];
    for (int i = 0; i < c->n; i++)
        for (int j = 0; j < c->n; j++) {
            const lg_block *a = &step->m->blocks[c->block[i]], *b = &step->m->blocks[c->block[j]];
            int n = a->nv, m = b->nv, ld;
            double *S =
                lg_matrix_at(step->wanted->S, i == j ? c->block[i] : c->first_matrix_block + (long)c->n * i + j, &ld);
            for (int k = 0; k < m; k++) {
                double dC = lg_gonzalez_slope(C, c->N, step->excess[b->v + k], 2 * step->dq[b->v + k]);
                for (int l = 0; l < n; l++)
                    A[l + n * k] = step->dq[a->v + l] * dC + (i == j && k == l ? C : 0);
            }
            lg_chain_add(b, &step->wanted->chain[c->block[j]], 0, 1, 0, n, 0, m, A, n, S, ld);
        }
}

/* ---- rows ---- */

/* Writes the derivative of sum lam_i delta_i by q1. */
static void write_row_slopes(const printed_step *step, const lg_joint *joint)
{
    const lg_pattern *p = &step->m->pattern;
    const double *lam = step->pair->lam + joint->row, *G = step->at_middle.B, *Z = step->at_middle.Z;
    for (int entry = p->group_start[joint->group]; entry < p->group_start[joint->group + 1]; entry++) {
        const lg_block *b = &step->m->blocks[p->group_block[entry]];
        lg_zero(b->nv, step->excess + b->v);
        for (int k = 0; k < b->nv; k++)
            for (int i = 0; i < joint->nrows && !lg_joint_is_nonholonomic(joint, i); i++) {
                int at = p->group_value[entry] + i + k * joint->nrows;
                step->excess[b->v + k] += lam[i] * (step->B[at] - G[at] - 0.5 * step->pair->h * Z[at]);
            }
    }
}

/* G_i += c_i dq */
static void correct_gradient(const printed_step *step, const lg_joint *joint, int i, double c_i)
{
    const lg_pattern *p = &step->m->pattern;
    for (int entry = p->group_start[joint->group]; entry < p->group_start[joint->group + 1]; entry++) {
        const lg_block *b = &step->m->blocks[p->group_block[entry]];
        for (int k = 0; k < b->nv; k++)
            step->at_middle.B[p->group_value[entry] + i + k * joint->nrows] += c_i * step->dq[b->v + k];
    }
}

/* `joint`: the one that has the rows; others may add to them. */
static void correct_rows(printed_step *step, const lg_joint *joint)
{
    const lg_pattern *p = &step->m->pattern;
    const int *start = p->group_start + joint->group;
    const double *lam = step->pair->lam + joint->row;
    double c_i[LG_MAX_ROWS] = {0}, C = 0, sum = 0;
    correction c = open_correction(step, start[1] - start[0], p->group_block + start[0], joint->group_matrix_block);
    if (is_short(&c))
        return;
    for (int i = 0; i < joint->nrows && !lg_joint_is_nonholonomic(joint, i); i++) {
        int row = joint->row + i;
        c_i[i] = lg_gonzalez(step->phi[row] - step->phi0[row], step->pair->h * step->phidot[row], c.N, c.shortest);
        C += lam[i] * c_i[i];
        sum += fabs(lam[i]);
    }
    step->noise += lg_gonzalez_noise((1 + step->largest) * sum, c.N, c.shortest);
    add_along_dq(step, &c, C, step->wanted->Gtlam);
    if (step->wanted->S) {
        write_row_slopes(step, joint);
        add_correction_tangent(step, &c, C);
    }
    for (int i = 0; step->wanted->G && i < joint->nrows; i++)
        correct_gradient(step, joint, i, c_i[i]);
}

/* ---- potentials ---- */

/* The potential of an element at rest, and its wrenches. */
static lg_status elastic(const lg_model *m, int index, const lg_point *at, int linear, double *V, lg_load *load)
{
    const lg_pose *f[2];
    if (index < m->njoints)
        return m->joints[index].type->compliance->exert(&m->joints[index], at, 0, linear, V, load);
    const lg_force *force = &m->forces[index - m->njoints];
    lg_element_poses(&force->e, at, f);
    *V = force->type->potential(&force->e, f, at);
    return lg_force_load(force, at, 1, linear, load);
}

/* The element with this number if it has a potential that is not linear in the coordinates of its body. */
static const lg_element *element_of(const lg_model *m, int index)
{
    if (index < m->njoints)
        return m->joints[index].type->compliance ? &m->joints[index].e : NULL;
    const lg_force *force = &m->forces[index - m->njoints];
    int linear = force->e.info->nframes == 1 && force->e.frame[0]->at_node;
    return force->type->potential && !force->type->piece && !linear ? &force->e : NULL;
}

static lg_status potentials(const lg_model *m, const lg_point *at, double *V, double *gradient)
{
    for (int i = 0; i < m->njoints + m->nforces; i++) {
        const lg_element *e = element_of(m, i);
        lg_load load;
        if (!e)
            continue;
        LG_TRY(elastic(m, i, at, 0, &V[i], &load));
        if (!gradient)
            continue;
        pulled out = {{{0}}};
        pull_at_end(e, at, -1, load.w, &out);
        memcpy(gradient + (size_t)i * PULLED, &out, sizeof out);
    }
    return LG_OK;
}

/* The work h w . twist of both wrenches. */
static double printed_work_of(const printed_step *step, const lg_element *e, const lg_load *load)
{
    double power = 0;
    for (int s = 0; s < e->info->nframes; s++) {
        const lg_pose *f = lg_pose_of(e->frame[s], &step->middle);
        power += lg_dot3(load->w[s], f->xdot) + lg_dot3(load->w[s] + 3, f->omega);
    }
    return step->pair->h * power;
}

/* The blocks of an element; returns their number. */
static int blocks_of(const lg_element *e, int block[2])
{
    int n = 0;
    for (int i = 0; i < e->info->nframes; i++)
        if (lg_element_moves(e, i) && !(n && block[0] == e->frame[i]->body->index))
            block[n++] = e->frame[i]->body->index;
    return n;
}

/* Writes the derivative of delta by q1, which comes in parts for both frames. */
static void write_slopes(const printed_step *step, const lg_element *e, const correction *c, const pulled *parts)
{
    for (int i = 0; i < c->n; i++)
        lg_zero(step->m->blocks[c->block[i]].nv, step->excess + step->m->blocks[c->block[i]].v);
    for (int i = 0; i < e->info->nframes; i++) {
        const lg_block *b = e->frame[i]->body->block;
        if (b)
            lg_axpy(b->nv, 1, parts->on[i], step->excess + b->v);
    }
}

static lg_status correct_potential(printed_step *step, int index)
{
    const lg_element *e = element_of(step->m, index);
    double V, V0 = step->V0[index], V1 = step->V[index];
    int block[2];
    lg_load load;
    if (!e)
        return LG_OK;
    int n = blocks_of(e, block);
    correction c = open_correction(step, n, block, n == 2 ? e->matrix_block[0][1] - 1 : 0);
    if (is_short(&c))
        return LG_OK;
    LG_TRY(elastic(step->m, index, &step->middle, step->wanted->S != NULL, &V, &load));
    double C = lg_gonzalez(V1 - V0, -printed_work_of(step, e, &load), c.N, c.shortest);
    step->noise += lg_gonzalez_noise(fabs(V0) + fabs(V1), c.N, c.shortest);
    add_along_dq(step, &c, -C, step->wanted->force);
    if (step->wanted->S) { // the wrenches of the force are minus the gradient
        pulled slopes;
        memcpy(&slopes, step->gradient + (size_t)index * PULLED, sizeof slopes);
        pull_at_middle(e, &step->middle, 1, load.w, &slopes);
        pull_rates(e, &step->middle, 0.5 * step->pair->h, load.w, load.K, &slopes);
        write_slopes(step, e, &c, &slopes);
        add_correction_tangent(step, &c, C);
    }
    return LG_OK;
}

/* ---- all elements ---- */

/* Whether an element changes with time by itself; such an element is taken at the middle of the step. Prescribed
   motions are terms of rows that do not depend on q, and drop out of what a correction compares; see evaluate_ends. */
static int is_driven(const lg_element *e)
{
    int is_motion = e->info->nrows && e->info->continuous, driven = e->function.call && !is_motion;
    for (int s = 0; s < e->info->nframes; s++)
        driven |= e->frame[s]->body->type->is_support;
    return driven;
}

static lg_status correct_all(printed_step *step)
{
    const lg_model *m = step->m;
    memset(step->driven, 0, (size_t)m->pattern.ngroups * sizeof *step->driven);
    for (int i = 0; i < m->njoints; i++)
        if (m->joints[i].nrows)
            step->driven[m->joints[i].group] |= is_driven(&m->joints[i].e);
    for (int i = 0; i < m->njoints; i++)
        if (m->joints[i].nrows && !lg_joint_continues(&m->joints[i]) && !step->driven[m->joints[i].group])
            correct_rows(step, &m->joints[i]);
    for (int i = 0; i < m->njoints + m->nforces; i++)
        if (!is_driven(i < m->njoints ? &m->joints[i].e : &m->forces[i - m->njoints].e))
            LG_TRY(correct_potential(step, i));
    return LG_OK;
}

/* ---- the step ---- */

static void printed_step_layout(printed_step *s, lg_arena *arena)
{
    const lg_model *m = s->m;
    size_t nrows = (size_t)m->pattern.nrows, nvalues = (size_t)m->pattern.nvalues;
    size_t nelements = (size_t)(m->njoints + m->nforces);
    s->chain = lg_arena_take(arena, (size_t)m->space.nblocks * sizeof *s->chain);
    double **rows[] = {&s->scaled, &s->rows, &s->phidot, &s->phi0, &s->phi};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        *rows[i] = lg_arena_doubles(arena, nrows);
    double **values[] = {&s->G, &s->Z, &s->B, &s->part};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        *values[i] = lg_arena_doubles(arena, nvalues);
    s->dq = lg_arena_doubles(arena, (size_t)m->space.nv);
    s->excess = lg_arena_doubles(arena, (size_t)m->space.nv);
    s->V0 = lg_arena_doubles(arena, nelements);
    s->V = lg_arena_doubles(arena, nelements);
    s->gradient = lg_arena_doubles(arena, nelements * PULLED);
    s->driven = lg_arena_ints(arena, (size_t)m->pattern.ngroups);
}

size_t lg_printed_work(const lg_model *m)
{
    printed_step s = {.m = m};
    lg_arena arena = {0};
    printed_step_layout(&s, &arena);
    return arena.used / sizeof(double);
}

static lg_wanted wanted_at_middle(const printed_step *s)
{
    const lg_pair_wanted *wanted = s->wanted;
    lg_wanted want = {.force = wanted->force, .Btlam = wanted->Gtlam, .B = wanted->G, .phi = s->rows};
    want.tangent = &s->tangent;
    if (wanted->S) {
        want.ntangents = 1;
        want.B = wanted->G ? wanted->G : s->G;
    }
    int slips = s->m->pattern.nnonholonomic > 0 && (wanted->phi || wanted->B);
    if (s->discrete || slips) {
        want.phidot = s->phidot;
        want.Z = wanted->S || slips ? s->Z : NULL;
    }
    if (slips && !want.B)
        want.B = s->G;
    return want;
}

static lg_status evaluate_middle(printed_step *s)
{
    s->middle.mem.age = 0.5 * s->pair->h;
    s->tangent = (lg_tangent){s->wanted->S, s->chain};
    s->at_middle = wanted_at_middle(s);
    if (s->wanted->S)
        lg_step_chains(s->m, s->pair, s->wanted->chain, s->chain);
    return lg_printed_eval(s->m, &s->middle, s->pair->lam, s->scaled, &s->at_middle);
}

/* Evaluates the rows at the end, and at both ends the values that discrete gradients compare: rows at the time of the
   end, potentials at that of the middle. */
static lg_status evaluate_ends(printed_step *s)
{
    const lg_pair_wanted *wanted = s->wanted;
    lg_point start = lg_step_point(s->pair, s->pair->q0, s->middle.v), end = lg_step_end(s->pair, s->middle.v);
    int slopes = s->discrete && wanted->S;
    if (s->discrete && !s->pair->same_start) {
        start.t = end.t;
        LG_TRY(lg_step_rows(s->m, LG_FORM_DYNAMICS, &start, s->phi0, NULL));
        start.t = start.t_in;
        LG_TRY(potentials(s->m, &start, s->V0, NULL));
    }
    s->phi = wanted->phi ? wanted->phi : s->phi;
    s->B = wanted->B ? wanted->B : slopes ? s->B : NULL;
    if (s->discrete || wanted->phi || wanted->B)
        LG_TRY(lg_step_rows(s->m, LG_FORM_DYNAMICS, &end, s->phi, s->B));
    end.t = end.t_in;
    return s->discrete ? potentials(s->m, &end, s->V, slopes ? s->gradient : NULL) : LG_OK;
}

/* Nonholonomic rows, which the paper does not have, are those of the midpoint rule. */
static void write_slips(const printed_step *s)
{
    if (s->wanted->B && s->wanted->G)
        lg_copy(s->m->pattern.nvalues, s->wanted->G, s->G);
    lg_step_slips(s->m, s->pair, s->wanted, s->phidot, s->G, s->Z, s->part);
}

lg_status lg_printed_pair(const lg_model *m, const lg_pair *pair, const lg_pair_wanted *wanted, int discrete,
                          const double *q_m, const double *v, double *work)
{
    printed_step s = {.m = m, .pair = pair, .wanted = wanted, .discrete = discrete};
    printed_step_layout(&s, &(lg_arena){.base = (char *)work});
    s.middle = lg_step_point(pair, q_m, v);
    s.largest = lg_max_abs(m->space.nq, pair->q1);
    for (int i = 0; i < m->space.nv; i++)
        s.dq[i] = pair->h * v[i];
    LG_TRY(evaluate_ends(&s));
    LG_TRY(evaluate_middle(&s));
    if (discrete)
        LG_TRY(correct_all(&s));
    if (m->pattern.nnonholonomic)
        write_slips(&s);
    if (wanted->noise)
        *wanted->noise = s.noise;
    return LG_OK;
}
