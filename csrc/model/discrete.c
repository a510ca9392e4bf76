/* The discrete gradient (kinon2024 (71)) of a function f of the coordinates of one or two bodies is

       grad f(q_m) + c P dq,   c = delta/N,   delta = f(q1) - f(q0) - grad f(q_m).dq,   N = dq.P dq,

   with dq = q1 - q0 and q_m in the middle, so that its product with dq is the change of f. Here P dq = h H^T nu, with
   the wrenches nu of the relative motion (relative.h) at the twists of v = dq/h: nu and therefore the correction do no
   work in motions that change nothing between the bodies, so that momenta are kept. delta is of third order in dq, so
   that the correction is of the order of |dq|^3/|P dq|; where it exceeds a tenth of the gradient, the midpoint gradient
   stands in.

   All rows of a joint have one P dq. Their forces, the gradients times lam_i, are corrected by C P dq with
   C = sum lam_i c_i and

       dC = sum lam_i d(delta_i)/N - C dN/N,
       d(delta) = grad f(q1) - grad f(q_m) - (h/2) d(grad f(q_m).v)/dq_m at constant v.

   The gradients of a row are B, and the last term is Z. In the printed form P = 1 on the coordinates of both bodies. */
#include "model/discrete.h"

#include "model/relative.h"
#include "model/tangent.h"
#include "system/chain.h"

#include <float.h>
#include <string.h>

typedef struct pulled { /* in the velocities of the blocks under both frames */
    double on[2][LG_MAX_NV];
} pulled;
enum { PULLED = sizeof(pulled) / sizeof(double) };

/* The change f''' |dq|^3/24 that a correction makes good is round-off below this |dq|, relative to the lengths in f. */
static const double SHORT = 6e-6;
/* The largest correction, relative to the gradient. */
static const double MOST = 0.1, MOST_ENERGY = 0.003;

static const double UNDECIDED = -1;

void lg_correct_open(const lg_model *m, lg_kept *kept)
{
    for (int i = 0; i < 2 * m->njoints + m->nforces; i++)
        kept->l2[i] = UNDECIDED;
}

/* ---- P dq ---- */

typedef struct correction { /* of one element */
    const lg_element *e;
    lg_relative relative;
    double N;
    pulled n, dN; /* P dq, and the derivative of N by q1 */
} correction;

/* out += s H^T w */
static void pull(const lg_element *e, const lg_point *at, double s, const double w[2][6], pulled *out)
{
    for (int i = 0; i < e->info->nframes; i++)
        if (lg_element_moves(e, i))
            e->frame[i]->body->type->pull(e->frame[i], at, s, w[i], out->on[i]);
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
        e->frame[j]->body->type->pull(e->frame[j], at, 1, slope, out->on[j]);
        e->frame[j]->body->type->pull_rate(e->frame[j], at, scaled, out->on[j]);
    }
}

/* The square of a length to measure angles by: the arms of the bodies and the distance of the points. */
static double square_length(const lg_element *e, const lg_pose *const f[2])
{
    double square = 0;
    for (int s = 0; s < e->info->nframes; s++)
        square += lg_element_moves(e, s) ? lg_dot3(e->frame[s]->offset, e->frame[s]->offset) : 0;
    for (int k = 0; k < 3 && e->info->nframes == 2; k++)
        square += (f[1]->x[k] - f[0]->x[k]) * (f[1]->x[k] - f[0]->x[k]);
    return square > 0 ? square : 1;
}

/* dq on both blocks. */
static void open_straight(const lg_step *step, correction *c)
{
    c->n = (pulled){{{0}}};
    c->N = 0;
    for (int s = 0; s < c->e->info->nframes; s++) {
        const lg_block *b = c->e->frame[s]->body->block;
        for (int k = 0; b && k < b->nv; k++) {
            c->n.on[s][k] = step->pair->h * step->middle.v[b->v + k];
            c->N += c->n.on[s][k] * c->n.on[s][k];
        }
    }
}

static void open_motion(const lg_step *step, double l2, correction *c)
{
    const lg_pose *f[2];
    double h = step->pair->h;
    if (!step->pair->equivariant) {
        open_straight(step, c);
        return;
    }
    lg_element_poses(c->e, &step->middle, f);
    lg_relative_open(c->e, f, step->m->vertical, l2, &c->relative);
    c->N = h * h * c->relative.power;
}

/* N = h^2 nu . twists, where nu is linear in the twists: dN = h^2 (2 nu . dtwists + dnu . twists). */
static void open_gradients(const lg_step *step, const lg_quarters K[2][2], correction *c)
{
    double h = step->pair->h;
    const double (*nu)[6] = (const double (*)[6])c->relative.wrench;
    static const lg_quarters none[2][2];
    if (!step->pair->equivariant) {
        for (int k = 0; k < LG_MAX_NV; k++)
            c->dN.on[0][k] = 2 * c->n.on[0][k], c->dN.on[1][k] = 2 * c->n.on[1][k];
        return;
    }
    c->n = c->dN = (pulled){{{0}}};
    pull(c->e, &step->middle, h, nu, &c->n);
    if (!K)
        return;
    pull(c->e, &step->middle, 2 * h, nu, &c->dN);
    pull_rates(c->e, &step->middle, 0.5 * h * h, nu, K, &c->dN);
    pull_rates(c->e, &step->middle, 0.5 * h * h, nu, none, &c->dN); // once more, as nu is linear in the twists
}

/* ---- what a correction adds ---- */

/* S += n dC^T, by q1 */
static void add_dyad(const lg_step *step, const correction *c, const pulled *dC)
{
    const lg_element *e = c->e;
    double A[LG_MAX_NV * LG_MAX_NV];
    for (int i = 0; i < e->info->nframes; i++)
        for (int j = 0; j < e->info->nframes; j++) {
            const lg_body *a = e->frame[i]->body, *b = e->frame[j]->body;
            if (!a->block || !b->block)
                continue;
            int n = a->block->nv, m = b->block->nv, ld;
            double *S = lg_matrix_at(step->wanted->S, e->meeting[i][j], &ld);
            for (int k = 0; k < m; k++)
                for (int l = 0; l < n; l++)
                    A[l + n * k] = c->n.on[i][l] * dC->on[j][k];
            lg_chain_add(b->block, &step->wanted->chain[b->index], 0, 1, 0, n, 0, m, A, n, S, ld);
        }
}

/* s C dq, once the bodies have taken the wrenches. */
static void push(const lg_step *step, const correction *c, double C, int sum, double s)
{
    double *out = sum == LG_FORCES ? step->wanted->force : step->wanted->Gtlam;
    for (int i = 0; out && i < c->e->info->nframes; i++)
        if (lg_element_moves(c->e, i))
            lg_axpy(c->e->frame[i]->body->block->nv, s * C, c->n.on[i], out + c->e->frame[i]->body->block->v);
}

/* The wrenches s C h nu on the frames. */
static void press(const lg_step *step, const correction *c, double C, int sum, double s)
{
    if (!step->pair->equivariant) {
        push(step, c, C, sum, s);
        return;
    }
    for (int i = 0; i < c->e->info->nframes; i++)
        lg_axpy(6, s * C * step->pair->h, c->relative.wrench[i],
                lg_pose_of(c->e->frame[i], &step->middle)->wrench[sum]);
}

/* S += C, by q1 */
static void add_identity(const lg_step *step, const correction *c, double C)
{
    for (int i = 0; i < c->e->info->nframes; i++) {
        const lg_body *body = c->e->frame[i]->body;
        double A[LG_MAX_NV * LG_MAX_NV] = {0};
        int ld, n = body->block ? body->block->nv : 0;
        for (int k = 0; k < n; k++)
            A[k + n * k] = C;
        if (!n)
            continue;
        double *S = lg_matrix_at(step->wanted->S, body->index, &ld);
        lg_chain_add(body->block, &step->wanted->chain[body->index], 0, 1, 0, n, 0, n, A, n, S, ld);
    }
}

/* Adds C P dq; ddelta: the derivative of sum lam_i delta_i by q1, which is overwritten. */
static void add_tangent(const lg_step *step, correction *c, double C, pulled *ddelta)
{
    lg_quarters K[2][2], D[2][2];
    if (step->pair->equivariant)
        lg_relative_tangent(c->e, &c->relative, K, D);
    open_gradients(step, K, c);
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < LG_MAX_NV; k++)
            ddelta->on[i][k] = (ddelta->on[i][k] - C * c->dN.on[i][k]) / c->N;
    add_dyad(step, c, ddelta);
    if (step->pair->equivariant)
        lg_tangent_add(c->e, &step->middle, &step->at_middle, C * step->pair->h, K, D);
    else
        add_identity(step, c, C);
}

/* ---- whether to correct ---- */

/* Whether this evaluation may decide about an element. */
static int is_due(const lg_step *step, double l2)
{
    return l2 == UNDECIDED && step->pair->stage != LG_PAIR_FIRST;
}

/* The size of a gradient on the block under a frame: a force, and a moment over the length l. */
static double size_on(const lg_body *body, const double *gradient, int stride, double l2)
{
    const lg_node *node = body->block->node;
    int turning = node->attitude ? node->attitude_v : body->block->nv;
    double sum = 0;
    for (int k = 0; k < body->block->nv; k++) // rates of Euler parameters are half an angular velocity
        sum += gradient[k * stride] * gradient[k * stride] * (k < turning ? 1 : 0.25 / l2);
    return sqrt(sum);
}

/* The least length of P dq at which a correction by delta is at most the fraction MOST of the gradient. */
static double length_for(double delta, double gradient)
{
    return delta == 0 ? 0 : fabs(delta) / (MOST * gradient);
}

/* The least length of P dq at which the work of a correction is at most the fraction MOST_ENERGY of the kinetic energy
   in the relative motion, which is that of the bodies times |P dq|^2 over the square of the motion of both. */
static double length_for_work(const lg_step *step, const correction *c, double l2, double work)
{
    const lg_pair *pair = step->pair;
    double energy = 0, motion = 0, h = pair->h;
    for (int s = 0; s < c->e->info->nframes; s++) {
        const lg_body *body = c->e->frame[s]->body;
        const lg_pose *f = lg_pose_of(c->e->frame[s], &step->middle);
        for (int k = body->block ? body->block->v : 0; body->block && k < body->block->v + body->block->nv; k++)
            energy += 0.25 * (pair->p0[k] + pair->p1[k]) * step->middle.v[k];
        motion += h * h * (lg_dot3(f->xdot, f->xdot) + l2 * lg_dot3(f->omega, f->omega));
    }
    return work == 0 ? 0 : sqrt(fabs(work) * motion / (MOST_ENERGY * fmax(energy, 0)));
}

/* Decides by the length of P dq whether to correct: returns l2 if it has the length that is needed, otherwise 0. While
   the constraint rows are violated, P dq is known only to within that violation, and the answer may be UNDECIDED. */
static double decide(const lg_step *step, double N, double needed, double l2)
{
    double length = sqrt(N), off = step->pair->stage == LG_PAIR_DECIDES ? 0 : step->violation * fmax(1, sqrt(l2));
    if (length - off > needed)
        return l2;
    return length + off > needed && off > 0 ? UNDECIDED : 0;
}

/* ---- rows ---- */

static double row_size(const lg_step *step, const lg_joint *joint, int i, double l2)
{
    double largest = 0;
    for (int s = 0; s < 2; s++)
        if (lg_element_moves(&joint->e, s))
            largest = fmax(largest,
                           size_on(joint->e.frame[s]->body, step->at_middle.B + joint->value[s] + i, joint->nrows, l2));
    return largest;
}

/* In the printed form dq only has to be long enough. */
static double decide_straight(const lg_step *step, correction *c)
{
    open_straight(step, c);
    return decide(step, c->N, SHORT * (1 + step->largest), 1);
}

static double decide_rows(const lg_step *step, const lg_joint *joint, const double *delta, correction *c)
{
    const lg_pose *f[2];
    lg_element_poses(&joint->e, &step->middle, f);
    double l2 = square_length(&joint->e, f), work = 0, needed = SHORT * sqrt(l2);
    if (joint->nrows == LG_MAX_ROWS) // a rigid joint leaves no relative motion
        return 0;
    open_motion(step, l2, c);
    for (int i = 0; i < joint->nrows; i++) {
        needed = fmax(needed, length_for(delta[i], row_size(step, joint, i, l2)));
        work += step->pair->lam[joint->row + i] * delta[i];
    }
    return decide(step, c->N, fmax(needed, length_for_work(step, c, l2, work)), l2);
}

/* The derivative of sum lam_i delta_i by q1. */
static void row_slopes(const lg_step *step, const lg_joint *joint, pulled *out)
{
    const double *lam = step->pair->lam + joint->row, *G = step->at_middle.B, *Z = step->at_middle.Z;
    for (int s = 0; s < 2; s++) {
        const lg_block *block = joint->e.frame[s]->body->block;
        for (int k = 0; block && k < block->nv; k++)
            for (int i = 0; i < joint->nrows; i++) {
                int at = joint->value[s] + i + k * joint->nrows;
                out->on[s][k] += lam[i] * (step->B[at] - G[at] - 0.5 * step->pair->h * Z[at]);
            }
    }
}

/* G_i += delta_i/N P dq */
static void correct_gradients(const lg_step *step, const lg_joint *joint, const double *delta, const correction *c)
{
    for (int s = 0; s < 2; s++) {
        const lg_block *block = joint->e.frame[s]->body->block;
        for (int k = 0; block && k < block->nv; k++)
            for (int i = 0; i < joint->nrows; i++)
                step->at_middle.B[joint->value[s] + i + k * joint->nrows] += delta[i] / c->N * c->n.on[s][k];
    }
}

static void correct_rows_by(lg_step *step, const lg_joint *joint, const double *delta, correction *c)
{
    const double *lam = step->pair->lam + joint->row;
    double C = 0, sum = 0;
    for (int i = 0; i < joint->nrows; i++) {
        C += lam[i] * delta[i] / c->N;
        sum += fabs(lam[i]);
    }
    step->noise += DBL_EPSILON * (1 + step->largest) * sum / sqrt(c->N);
    press(step, c, C, LG_REACTIONS, 1);
    if (step->wanted->S) {
        pulled slopes = {{{0}}};
        row_slopes(step, joint, &slopes);
        add_tangent(step, c, C, &slopes);
    } else if (step->wanted->G) {
        open_gradients(step, NULL, c);
    }
    if (step->wanted->G)
        correct_gradients(step, joint, delta, c);
}

static void correct_rows(lg_step *step, const lg_joint *joint, double *l2)
{
    correction c = {.e = &joint->e};
    double delta[LG_MAX_ROWS] = {0}, largest = 0;
    for (int i = 0; i < joint->nrows; i++) {
        int row = joint->row + i;
        delta[i] = step->phi[row] - step->kept.phi[row] - step->pair->h * step->at_middle.phidot[row];
        largest = fmax(largest, fabs(delta[i]));
    }
    if (is_due(step, *l2))
        *l2 = step->pair->equivariant ? decide_rows(step, joint, delta, &c) : decide_straight(step, &c);
    if (*l2 <= 0) {
        step->undecided += *l2 == UNDECIDED;
        step->midpoints += largest > 32 * DBL_EPSILON * (1 + step->largest);
        return;
    }
    open_motion(step, *l2, &c);
    correct_rows_by(step, joint, delta, &c);
}

/* ---- potentials ---- */

static lg_status elastic(const lg_model *m, int index, const lg_point *at, int linear, double *V, lg_load *load)
{
    const lg_pose *f[2];
    if (index < m->njoints)
        return m->joints[index].type->elastic(&m->joints[index], at, linear, V, load);
    const lg_force *force = &m->forces[index - m->njoints];
    lg_element_poses(&force->e, at, f);
    *V = force->type->potential(&force->e, f, at);
    return lg_force_elastic(force, at, linear, load);
}

/* The element with this number if it has a potential that is not linear in the coordinates of its body. */
static const lg_element *element_of(const lg_model *m, int index)
{
    if (index < m->njoints)
        return m->joints[index].type->elastic ? &m->invariants[index].e : NULL;
    const lg_force *force = &m->forces[index - m->njoints];
    int linear = force->e.info->nframes == 1 && force->e.frame[0]->at_node;
    return force->type->potential && !linear ? &force->e : NULL;
}

lg_status lg_potentials(const lg_model *m, const lg_point *at, double *V, double *gradient)
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
        pull(e, at, -1, load.w, &out);
        memcpy(gradient + (size_t)i * PULLED, &out, sizeof out);
    }
    return LG_OK;
}

static double decide_potential(const lg_step *step, const pulled *at_end, const lg_load *load, double delta,
                               correction *c)
{
    const lg_pose *f[2];
    pulled at_middle = {{{0}}};
    double largest = 0;
    lg_element_poses(c->e, &step->middle, f);
    double l2 = square_length(c->e, f);
    open_motion(step, l2, c);
    pull(c->e, &step->middle, -1, load->w, &at_middle);
    for (int s = 0; s < c->e->info->nframes; s++)
        if (lg_element_moves(c->e, s)) {
            largest = fmax(largest, size_on(c->e->frame[s]->body, at_middle.on[s], 1, l2));
            largest = fmax(largest, size_on(c->e->frame[s]->body, at_end->on[s], 1, l2));
        }
    double needed = fmax(SHORT * sqrt(l2), length_for(delta, largest));
    return decide(step, c->N, fmax(needed, length_for_work(step, c, l2, delta)), l2);
}

static double power_of(const lg_element *e, const lg_point *at, const lg_load *load)
{
    double power = 0;
    for (int s = 0; s < e->info->nframes; s++) {
        const lg_pose *f = lg_pose_of(e->frame[s], at);
        power += lg_dot3(load->w[s], f->xdot) + lg_dot3(load->w[s] + 3, f->omega);
    }
    return power;
}

/* The derivative of delta by q1, where the wrenches of the force are minus the gradient. */
static void potential_slopes(const lg_step *step, const lg_element *e, const pulled *at_end, const lg_load *load,
                             pulled *out)
{
    *out = *at_end;
    pull(e, &step->middle, 1, load->w, out);
    pull_rates(e, &step->middle, 0.5 * step->pair->h, load->w, load->K, out);
}

static lg_status correct_potential(lg_step *step, int index)
{
    double V, *l2 = &step->kept.l2[index], V0 = step->kept.V[index], V1 = step->V[index];
    pulled at_end;
    correction c;
    lg_load load;
    c.e = element_of(step->m, index);
    if (!c.e)
        return LG_OK;
    memcpy(&at_end, step->gradient + (size_t)index * PULLED, sizeof at_end);
    LG_TRY(elastic(step->m, index, &step->middle, step->wanted->S != NULL, &V, &load));
    double round_off = DBL_EPSILON * (fabs(V0) + fabs(V1));
    double delta = V1 - V0 + step->pair->h * power_of(c.e, &step->middle, &load);
    if (is_due(step, *l2))
        *l2 = step->pair->equivariant ? decide_potential(step, &at_end, &load, delta, &c) : decide_straight(step, &c);
    if (*l2 <= 0) {
        step->undecided += *l2 == UNDECIDED;
        step->midpoints += fabs(delta) > 32 * round_off;
        return LG_OK;
    }
    open_motion(step, *l2, &c);
    step->noise += round_off / sqrt(c.N);
    press(step, &c, delta / c.N, LG_FORCES, -1);
    if (step->wanted->S) {
        pulled slopes;
        potential_slopes(step, c.e, &at_end, &load, &slopes);
        add_tangent(step, &c, delta / c.N, &slopes);
    }
    return LG_OK;
}

/* ---- all elements ---- */

/* What changes with time by itself is taken at the middle of the step. */
static int is_driven(const lg_element *e)
{
    int driven = e->function.call != NULL;
    for (int s = 0; s < e->info->nframes; s++)
        driven |= e->frame[s]->body->type->is_support;
    return driven;
}

lg_status lg_correct(lg_step *step)
{
    const lg_model *m = step->m;
    for (int i = 0; i < m->njoints; i++)
        if (m->invariants[i].nrows && !is_driven(&m->joints[i].e))
            correct_rows(step, &m->invariants[i], &step->kept.l2[m->njoints + m->nforces + i]);
    for (int i = 0; i < m->njoints + m->nforces; i++)
        if (!is_driven(i < m->njoints ? &m->joints[i].e : &m->forces[i - m->njoints].e))
            LG_TRY(correct_potential(step, i));
    return LG_OK;
}
