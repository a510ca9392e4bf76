/* Derivatives of a model by parameters: sums of the terms of parts (part.h), in which the elements that a number
   changes have other values of it.

   Where all terms are proportional to the parameters that change, one part has these terms for their rates. Otherwise
   central differences are taken. Along those changes in which all terms are quadratic one pair of parts is exact with
   any step. Along the others there are two, whose step is so small that kinks, where friction begins to slip or a drive
   is saturated, are seldom between them; the error of order 4 is below that of rounding, some 1e-12 of the terms.
   Points are apart by much more than contacts are deep: where they move and something that changes has kinks, the step
   is shorter, and rounding some 1e-11 of the terms.

   Weighted sums of terms have closed forms for many parameters (shares.h). */

#include "model/acceleration_rows.h"
#include "model/bristle_slopes.h"
#include "model/control.h"
#include "model/force/contact.h"
#include "model/part.h"
#include "model/shares.h"

#include <stdlib.h>

enum { MAX_PARTS = 4 };

/* Where parts are, in steps, and their factors for a step of one. */
typedef struct rule {
    int nparts;
    double step, at[MAX_PARTS], weight[MAX_PARTS]; /* the step as part of the size; 0: rates instead */
} rule;

static const rule rates = {.nparts = 1, .weight = {1}};
static const rule one_pair = {2, 1. / 2, {1, -1}, {1. / 2, -1. / 2}};
static const rule two_pairs = {4, 1. / 2048, {1, -1, 2, -2}, {2. / 3, -2. / 3, -1. / 12, 1. / 12}};
static const rule close_pairs = {4, 1. / 131072, {1, -1, 2, -2}, {2. / 3, -2. / 3, -1. / 12, 1. / 12}};

typedef struct range {
    int start, count;
} range;

typedef struct derivative {
    lg_arena memory;
    int nparts;
    double weight[MAX_PARTS];
    lg_model *part;
    double *parameters[MAX_PARTS];
    int nbristled; /* contacts with bristles in the parts, on the branches of the same ones of the model: */
    const lg_force **bristled; /* these, and behind them those of each part */
    int has_inertia, takes_control; /* whether that of a body changes; whether a force has values of a control */
    int nvelocities, nrows, nvalues;
    range *velocity, *row, *value; /* the entries to which parts add: of velocities, rows, and values of B */
} derivative;

typedef struct lg_derivatives {
    int count;
    int nframes; /* the most of any part */
    int nreferences; /* the most doubles for references of contacts, and for two steps of each */
    lg_shares shares; /* the closed forms that some derivatives have */
    derivative *of; /* two for each: along the changes in which terms are quadratic, and along the others */
    lg_sensitivity in[LG_FORM_COUNT];
} lg_derivatives;

/* ---- evaluation ---- */

/* Scratch behind that of the system and the poses of a part: the terms of a part, by their names in lg_wanted, sums of
   some of them over all parts, and chains. */
typedef struct scratch {
    lg_wanted terms, sums;
    lg_chain *chain;
    double *references; /* of contacts with bristles, or both ends of a step for them */
} scratch;

static double *next_of(double **next, int n)
{
    double *here = *next;
    *next += n;
    return here;
}

/* The room of shares, before that of parts. */
static double *room_of(const lg_model *m, double *work)
{
    return work + m->system.nwork + LG_POSE_SIZE * m->derivatives->nframes;
}

static scratch scratch_of(const lg_model *m, double *work)
{
    int nv = m->space.nv, nrows = m->space.nrows, nvalues = m->pattern.nvalues;
    double *next = room_of(m, work) + lg_shares_room(&m->derivatives->shares);
    scratch s;
    s.terms = (lg_wanted){.Ma = next_of(&next, nv), .gyro = next_of(&next, nv), .force = next_of(&next, nv)};
    s.terms.Btlam = next_of(&next, nv);
    s.terms.phi = next_of(&next, nrows), s.terms.phidot = next_of(&next, nrows), s.terms.zeta = next_of(&next, nrows);
    s.terms.B = next_of(&next, nvalues), s.terms.Z = next_of(&next, nvalues);
    s.sums = (lg_wanted){.Ma = next_of(&next, nv), .gyro = next_of(&next, nv), .force = next_of(&next, nv)};
    s.sums.Btlam = next_of(&next, nv);
    s.sums.phi = next_of(&next, nrows), s.sums.phidot = next_of(&next, nrows), s.sums.zeta = next_of(&next, nrows);
    s.chain = (lg_chain *)(void *)next;
    s.references = (double *)(void *)(s.chain + m->space.nblocks);
    return s;
}

static int work_of(const lg_model *m, const lg_derivatives *all)
{
    int chains = m->space.nblocks * (int)(sizeof(lg_chain) / sizeof(double));
    return LG_POSE_SIZE * all->nframes + 8 * m->space.nv + 6 * m->space.nrows + 2 * m->pattern.nvalues + chains +
           lg_shares_room(&all->shares) + all->nreferences;
}

/* X(term, ranges, length): the terms that are arrays. */
#define TERMS(X)                                                                                                       \
    X(Ma, velocity, m->space.nv)                                                                                       \
    X(gyro, velocity, m->space.nv)                                                                                     \
    X(force, velocity, m->space.nv)                                                                                    \
    X(Btlam, velocity, m->space.nv)                                                                                    \
    X(phi, row, m->space.nrows)                                                                                        \
    X(phidot, row, m->space.nrows)                                                                                     \
    X(zeta, row, m->space.nrows)                                                                                       \
    X(B, value, m->pattern.nvalues)                                                                                    \
    X(Z, value, m->pattern.nvalues)

static void clear(int n, const range *ranges, double *x)
{
    for (int i = 0; x && i < n; i++)
        lg_zero(ranges[i].count, x + ranges[i].start);
}

static void add(int n, const range *ranges, double s, const double *x, double *sum)
{
    for (int i = 0; sum && i < n; i++)
        lg_axpy(ranges[i].count, s, x + ranges[i].start, sum + ranges[i].start);
}

/* What a part is to write: what is wanted and can change. */
static lg_wanted wanted_of(const derivative *d, const lg_wanted *want, const scratch *s)
{
    lg_wanted own = {0};
#define OWN(term, ranges, length) own.term = want->term ? s->terms.term : NULL;
    TERMS(OWN)
#undef OWN
    if (!d->has_inertia)
        own.Ma = own.gyro = NULL;
    if (!d->nrows)
        own.phi = own.phidot = own.zeta = own.B = own.Z = NULL;
    return own;
}

/* Chains times a weight: S is linear in them. */
static void scale_chains(const lg_tangent *to, int nblocks, double weight, lg_chain *chain)
{
    static const lg_chain mass = {{0, 0, 1}, {NULL, NULL, NULL}};
    for (int i = 0; i < nblocks; i++) {
        chain[i] = to->chain ? to->chain[i] : mass;
        for (int level = 0; level < 3; level++)
            chain[i].k[level] *= weight;
    }
}

static lg_status add_tangents(const lg_model *m, lg_evaluate *eval, lg_model *part, double weight, const lg_point *at,
                              const lg_wanted *want, const scratch *s)
{
    for (const lg_tangent *to = want->tangent; to < want->tangent + want->ntangents; to++) {
        const lg_tangent scaled = {to->S, s->chain};
        const lg_wanted slopes = {.tangent = &scaled, .ntangents = 1};
        scale_chains(to, m->space.nblocks, weight, s->chain);
        LG_TRY(eval(part, at, &slopes));
    }
    return LG_OK;
}

static int is_anything(const lg_wanted *own)
{
    int any = 0;
#define ANY(term, ranges, length) any |= own->term != NULL;
    TERMS(ANY)
#undef ANY
    return any;
}

static lg_status add_part(const lg_model *m, const derivative *d, lg_evaluate *eval, lg_model *part, double weight,
                          const lg_point *at, const lg_wanted *want, const scratch *s)
{
    const lg_wanted own = wanted_of(d, want, s);
    const range *velocity = d->velocity, *row = d->row, *value = d->value;
    int nvelocity = d->nvelocities, nrow = d->nrows, nvalue = d->nvalues;
#define CLEAR(term, ranges, length) clear(n##ranges, ranges, own.term);
    TERMS(CLEAR)
#undef CLEAR
    if (is_anything(&own))
        LG_TRY(eval(part, at, &own));
#define ADD(term, ranges, length) add(n##ranges, ranges, weight, own.term, own.term ? want->term : NULL);
    TERMS(ADD)
#undef ADD
    return add_tangents(m, eval, part, weight, at, want, s);
}

static lg_status write_references(const lg_model *m, const derivative *d, lg_form form, const lg_point *at, double *out)
{
    if (d->nbristled)
        LG_TRY(lg_model_move(m, form, at, LG_TWISTS, LG_REACH_USED));
    for (int i = 0; i < d->nbristled; i++) {
        lg_contact_refer(d->bristled[i], at, out);
        out += lg_contact_reference_size(d->bristled[i]);
    }
    return LG_OK;
}

/* Adds the derivatives of all that is wanted. */
static lg_status add_parts(const lg_model *m, const derivative *d, lg_form form, const lg_point *point,
                           const lg_wanted *want, const scratch *s)
{
    lg_point at = *point;
    at.same_q = 0;
    if (d->takes_control)
        LG_TRY(lg_model_control(m, &at));
    LG_TRY(write_references(m, d, form, &at, s->references));
    for (int i = 0; i < d->nparts; i++)
        LG_TRY(add_part(m, d, lg_model_eval_in(form), &d->part[i], d->weight[i], &at, want, s));
    return LG_OK;
}

static lg_status differentiate(const lg_model *m, lg_form form, int parameter, const lg_point *point,
                               const lg_wanted *want)
{
    const scratch s = scratch_of(m, point->work);
#define ZERO(term, ranges, length)                                                                                     \
    if (want->term)                                                                                                    \
        lg_zero(length, want->term);
    TERMS(ZERO)
#undef ZERO
    for (int i = 0; i < 2; i++)
        LG_TRY(add_parts(m, &m->derivatives->of[2 * parameter + i], form, point, want, &s));
    return LG_OK;
}

/* What is needed of the terms for sums with these weights, of which only that they are there counts; zero at first. */
static lg_wanted weighed_terms(const derivative *d, const lg_term_weights *weights, const lg_wanted *sums)
{
    lg_wanted want = {0};
    if (weights->forces || weights->reactions)
        want.Ma = sums->Ma, want.Btlam = sums->Btlam;
    if (weights->forces)
        want.gyro = sums->gyro, want.force = sums->force;
    want.phi = weights->phi ? sums->phi : NULL;
    want.phidot = weights->phidot ? sums->phidot : NULL;
    want.zeta = weights->zeta ? sums->zeta : NULL;
    double *const velocities[] = {want.Ma, want.gyro, want.force, want.Btlam};
    double *const rows[] = {want.phi, want.phidot, want.zeta};
    for (int i = 0; i < 4; i++)
        clear(d->nvelocities, d->velocity, velocities[i]);
    for (int i = 0; i < 3; i++)
        clear(d->nrows, d->row, rows[i]);
    want.Btlam = d->nrows ? want.Btlam : NULL;
    return want;
}

static lg_status subtract_terms(const lg_model *m, const derivative *d, lg_form form, const lg_point *point,
                                double *forces, double *phi, double *phidot)
{
    if (!d->nparts)
        return LG_OK;
    const scratch s = scratch_of(m, point->work);
    const lg_term_weights all = {.forces = forces, .phi = phi, .phidot = phidot};
    const lg_wanted want = weighed_terms(d, &all, &s.sums);
    LG_TRY(add_parts(m, d, form, point, &want, &s));
    for (const range *r = d->velocity; r < d->velocity + d->nvelocities; r++)
        for (int i = r->start; i < r->start + r->count; i++)
            forces[i] -= s.sums.Ma[i] + (s.sums.gyro[i] - s.sums.force[i] + s.sums.Btlam[i]);
    add(d->nrows, d->row, 1, want.phi, phi);
    add(d->nrows, d->row, 1, want.phidot, phidot);
    return LG_OK;
}

static double dot(int n, const range *ranges, const double *weights, const double *x)
{
    double sum = 0;
    for (int i = 0; weights && i < n; i++)
        sum += lg_dot(ranges[i].count, weights + ranges[i].start, x + ranges[i].start);
    return sum;
}

static double weigh_forces(const derivative *d, const lg_term_weights *weights, const lg_wanted *sums)
{
    const double *forces = weights->forces, *reactions = weights->reactions;
    double sum = 0;
    for (const range *r = d->velocity; r < d->velocity + d->nvelocities; r++)
        for (int i = r->start; i < r->start + r->count; i++) {
            double reaction = forces || reactions ? sums->Ma[i] + sums->Btlam[i] : 0;
            sum += forces ? forces[i] * (reaction + sums->gyro[i] - sums->force[i]) : 0;
            sum += reactions ? reactions[i] * reaction : 0;
        }
    return sum;
}

static lg_status weigh_parts(const lg_model *m, const derivative *d, lg_form form, const lg_point *point,
                             const lg_term_weights *weights, double *sum)
{
    if (!d->nparts || (!d->nrows && !weights->forces && !weights->reactions))
        return LG_OK;
    const scratch s = scratch_of(m, point->work);
    const lg_wanted want = weighed_terms(d, weights, &s.sums);
    LG_TRY(add_parts(m, d, form, point, &want, &s));
    *sum += weigh_forces(d, weights, &s.sums) + dot(d->nrows, d->row, weights->phi, want.phi) +
            dot(d->nrows, d->row, weights->phidot, want.phidot) - dot(d->nrows, d->row, weights->zeta, want.zeta);
    return LG_OK;
}

static lg_status weigh(const lg_model *m, lg_form form, const lg_point *point, const lg_term_weights *weights, double s,
                       double *gradient)
{
    const lg_derivatives *all = m->derivatives;
    int shared = form == LG_FORM_DYNAMICS;
    if (shared)
        LG_TRY(lg_shares_weigh(&all->shares, point, weights, s, room_of(m, point->work), gradient));
    for (int k = 0; k < all->count; k++) {
        double sum = 0;
        if (shared && all->shares.has[k])
            continue;
        for (int i = 0; i < 2; i++)
            LG_TRY(weigh_parts(m, &all->of[2 * k + i], form, point, weights, &sum));
        gradient[k] += s * sum;
    }
    return LG_OK;
}

/* ---- memory ---- */

static const lg_force *const *bristled_in(const derivative *d, int part)
{
    return (const lg_force *const *)d->bristled + d->nbristled * (part + 1);
}

static lg_status add_memory(const lg_model *m, const derivative *d, const lg_point *from, const lg_point *to,
                            double *mem)
{
    lg_bristle_step *whole = (lg_bristle_step *)(void *)scratch_of(m, to->work).references, *own = whole + d->nbristled;
    LG_TRY(lg_bristles_move(m, d->nbristled, bristled_in(d, -1), from, to, whole));
    for (int i = 0; i < d->nparts; i++) {
        const lg_force *const *contact = bristled_in(d, i);
        LG_TRY(lg_bristles_move(&d->part[i], d->nbristled, contact, from, to, own));
        for (int j = 0; j < d->nbristled; j++)
            LG_TRY(lg_bristles_add(contact[j], &own[j], d->bristled[j], &whole[j], from, to, d->weight[i], mem));
    }
    return LG_OK;
}

static lg_status remember(void *self, int parameter, const lg_point *from, const lg_point *to, double *mem)
{
    const lg_model *m = self;
    for (int half = 0; half < 2; half++) {
        const derivative *d = &m->derivatives->of[2 * parameter + half];
        if (d->nbristled)
            LG_TRY(add_memory(m, d, from, to, mem));
    }
    return LG_OK;
}

#define FUNCTIONS(name, form)                                                                                          \
    static lg_status differentiate_##name(void *self, int parameter, const lg_point *point, const lg_wanted *want)     \
    {                                                                                                                  \
        return differentiate(self, form, parameter, point, want);                                                      \
    }                                                                                                                  \
    static lg_status terms_##name(void *self, int parameter, const lg_point *point, double *forces, double *phi,       \
                                  double *phidot)                                                                      \
    {                                                                                                                  \
        const lg_model *m = self;                                                                                      \
        for (int i = 0; i < 2; i++)                                                                                    \
            LG_TRY(subtract_terms(m, &m->derivatives->of[2 * parameter + i], form, point, forces, phi, phidot));       \
        return LG_OK;                                                                                                  \
    }                                                                                                                  \
    static lg_status weigh_##name(void *self, const lg_point *point, const lg_term_weights *weights, double s,         \
                                  double *gradient)                                                                    \
    {                                                                                                                  \
        return weigh(self, form, point, weights, s, gradient);                                                         \
    }                                                                                                                  \
    static lg_status acceleration_rows_##name(void *self, const lg_point *point, double *of_q, double *of_v)           \
    {                                                                                                                  \
        return lg_model_acceleration_rows(self, form, point, of_q, of_v);                                              \
    }
LG_EACH_FORM(FUNCTIONS)

#define ROWS_ALONE(name, form) [form] = {.acceleration_rows = acceleration_rows_##name},
static const lg_sensitivity rows_alone[] = {LG_EACH_FORM(ROWS_ALONE)};

const lg_sensitivity *lg_model_rows_alone(const lg_model *m)
{
    return lg_model_knows_acceleration_rows(m) ? rows_alone : NULL;
}

/* ---- one derivative ---- */

typedef struct opening {
    const lg_influence *in;
    derivative *d;
} opening;

static void layout(void *self, lg_arena *arena)
{
    const opening *o = self;
    derivative *d = o->d;
    d->part = lg_arena_take(arena, (size_t)d->nparts * sizeof *d->part);
    d->velocity = lg_arena_take(arena, (size_t)o->in->nbodies * sizeof *d->velocity);
    d->row = lg_arena_take(arena, (size_t)o->in->njoints * sizeof *d->row);
    d->value = lg_arena_take(arena, 2 * (size_t)o->in->njoints * sizeof *d->value);
    d->bristled = lg_arena_take(arena, (size_t)d->nbristled * ((size_t)d->nparts + 1) * sizeof(lg_force *));
    for (int i = 0; i < d->nparts; i++)
        lg_part_layout(o->in, d->part ? &d->part[i] : NULL, &d->parameters[i], arena);
}

/* Whether all terms are proportional to the parameters that change: these have the same number `linear`, and the bodies
   add no forces of their own. */
static int is_linear(const lg_influence *in)
{
    const lg_direction *direction = in->direction;
    for (int i = 0; i < in->m->nbodies; i++)
        if (in->body[i] && in->m->bodies[i].type->has_forces)
            return 0;
    int linear = direction->nvalues ? lg_part_declared(in, direction->parameter[0])->linear : 0;
    for (int i = 0; i < direction->nvalues; i++)
        if (lg_part_declared(in, direction->parameter[i])->linear != linear)
            return 0;
    return linear && direction->nends == 0;
}

static void add_range(int start, int count, range *ranges, int *n)
{
    ranges[*n] = (range){start, count};
    *n += count > 0;
}

static void find_ranges(derivative *d)
{
    const lg_model *m = d->part;
    for (const lg_body *body = m->bodies; body < m->bodies + m->nbodies; body++)
        if (body->block)
            add_range(body->block->v, body->block->nv, d->velocity, &d->nvelocities);
    for (const lg_joint *joint = m->joints; joint < m->joints + m->njoints; joint++) {
        add_range(joint->row, joint->nrows, d->row, &d->nrows);
        for (int s = 0; s < 2; s++) {
            const lg_block *block = joint->e.frame[s]->body->block;
            if (block && joint->value[s] >= 0)
                add_range(joint->value[s], joint->nrows * block->nv, d->value, &d->nvalues);
        }
    }
}

static void fill_parts(const lg_influence *in, const rule *rule, derivative *d)
{
    double step = rule->step * in->direction->size;
    for (int i = 0; i < d->nparts; i++) {
        if (rule->step > 0)
            lg_part_fill(in, rule->at[i] * step, &d->part[i], d->parameters[i]);
        else
            lg_part_fill_rates(in, &d->part[i], d->parameters[i]);
        d->part[i].system.self = &d->part[i];
        d->weight[i] = rule->step > 0 ? rule->weight[i] / step : rule->weight[i];
    }
}

static void list_bristled(const lg_influence *in, derivative *d)
{
    int n = 0;
    for (int i = 0; i < in->m->nforces; i++) {
        if (!in->force[i] || !lg_contact_has_bristles(&in->m->forces[i]))
            continue;
        d->bristled[n] = &in->m->forces[i];
        for (int k = 0; k < d->nparts; k++)
            d->bristled[n + d->nbristled * (k + 1)] = &d->part[k].forces[in->new_force[i]];
        n++;
    }
}

/* Doubles for references of its contacts, and for both ends of a step for these and those of a part. */
static int references_of(const derivative *d)
{
    int size = 0, steps = 2 * d->nbristled * (int)(sizeof(lg_bristle_step) / sizeof(double));
    for (int i = 0; i < d->nbristled; i++)
        size += lg_contact_reference_size(d->bristled[i]);
    return size > steps ? size : steps;
}

static lg_status open_derivative(const lg_influence *in, const rule *rule, derivative *d)
{
    opening o = {in, d};
    d->nparts = rule->nparts;
    d->has_inertia = in->nchanged > 0;
    for (int i = 0; i < in->m->nforces; i++) {
        d->takes_control |= in->force[i] && in->m->forces[i].e.info->uses_control;
        d->nbristled += in->force[i] && lg_contact_has_bristles(&in->m->forces[i]);
    }
    LG_TRY(lg_arena_open(&d->memory, layout, &o));
    fill_parts(in, rule, d);
    find_ranges(d);
    list_bristled(in, d);
    return LG_OK;
}

/* ---- along what is quadratic, and along the rest ---- */

typedef struct halves {
    lg_direction of[2];
    int *parameter, *end; /* of both, one after the other */
    double *rate, *motion;
    int nvalues, nends; /* so far */
} halves;

/* Whether terms are quadratic in all parameters; others may move whatever acts on their body, which then belongs to
   their half. */
static int all_are_quadratic(const lg_influence *in, const lg_direction *whole)
{
    for (int i = 0; i < whole->nvalues; i++)
        if (!lg_part_declared(in, whole->parameter[i])->quadratic && !lg_shares_have_parameter(in, whole->parameter[i]))
            return 0;
    return 1;
}

static void add_half(const lg_influence *in, const lg_direction *whole, int quadratic, halves *h)
{
    int quadratic_parameters = all_are_quadratic(in, whole);
    lg_direction *to = &h->of[!quadratic];
    *to = (lg_direction){.size = whole->size, .parameter = h->parameter + h->nvalues, .rate = h->rate + h->nvalues};
    to->end = h->end + h->nends, to->motion = h->motion + 6 * h->nends;
    for (int i = 0; i < whole->nvalues; i++)
        if (quadratic_parameters == quadratic) {
            h->parameter[h->nvalues] = whole->parameter[i];
            h->rate[h->nvalues++] = whole->rate[i];
            to->nvalues++;
        }
    for (int i = 0; i < whole->nends; i++)
        if ((quadratic_parameters && lg_terms_are_linear(in, whole->end[i])) == quadratic) {
            lg_copy(6, whole->motion + 6 * i, h->motion + 6 * h->nends);
            h->end[h->nends++] = whole->end[i];
            to->nends++;
        }
}

static void layout_halves(void *self, lg_arena *arena)
{
    halves *h = self;
    size_t nvalues = (size_t)h->of[0].nvalues, nends = (size_t)h->of[0].nends;
    h->parameter = lg_arena_ints(arena, nvalues);
    h->end = lg_arena_ints(arena, nends);
    h->rate = lg_arena_doubles(arena, nvalues);
    h->motion = lg_arena_doubles(arena, 6 * nends);
}

static const rule *rule_of(const lg_influence *in, int quadratic)
{
    int has_kinks = 0;
    if (quadratic)
        return is_linear(in) ? &rates : &one_pair;
    for (int i = 0; i < in->m->nforces; i++) {
        const lg_force *f = &in->m->forces[i];
        has_kinks |= in->force[i] && f->type->info.has_kinks && !lg_contact_has_bristles(f);
    }
    return has_kinks && in->direction->nends ? &close_pairs : &two_pairs;
}

static lg_status open_halves(lg_influence *in, const lg_direction *whole, lg_derivatives *all, derivative *of,
                             lg_report *report)
{
    halves h = {.of = {*whole}};
    lg_arena memory;
    LG_TRY(lg_arena_open(&memory, layout_halves, &h));
    add_half(in, whole, 1, &h);
    add_half(in, whole, 0, &h);
    lg_status status = LG_OK;
    for (int i = 0; i < 2 && status == LG_OK; i++) {
        if (!h.of[i].nvalues && !h.of[i].nends)
            continue;
        status = lg_influence_of(in, &h.of[i], report);
        if (status == LG_OK)
            status = open_derivative(in, rule_of(in, i == 0), &of[i]);
        all->nframes = in->nframes > all->nframes ? in->nframes : all->nframes;
    }
    lg_arena_close(&memory);
    return status;
}

/* ---- all derivatives of a model ---- */

static lg_status open_each(const lg_model *m, const lg_direction *directions, lg_derivatives *all, lg_report *report)
{
    lg_influence in;
    lg_status status = lg_influence_open(&in, m);
    for (int i = 0; i < all->count && status == LG_OK; i++) {
        status = lg_influence_of(&in, &directions[i], report);
        if (status == LG_OK)
            status = open_halves(&in, &directions[i], all, &all->of[2 * i], report);
    }
    if (status == LG_OK)
        status = lg_shares_open(&all->shares, &in, all->count, directions, report);
    all->nframes = all->shares.nframes > all->nframes ? all->shares.nframes : all->nframes;
    lg_influence_close(&in);
    return status;
}

/* Contacts of parts find their references in the scratch one after the other. */
static void place_references(const lg_model *m, lg_derivatives *all)
{
    for (int i = 0; i < 2 * all->count; i++) {
        int size = references_of(&all->of[i]);
        all->nreferences = size > all->nreferences ? size : all->nreferences;
    }
    size_t begin = (size_t)(m->system.nwork + work_of(m, all) - all->nreferences);
    for (derivative *d = all->of; d < all->of + 2 * (size_t)all->count; d++) {
        size_t at = begin;
        for (int i = 0; i < d->nbristled; i++) {
            for (int k = 1; k <= d->nparts; k++)
                ((lg_force *)d->bristled[i + k * d->nbristled])->e.reference = at;
            at += (size_t)lg_contact_reference_size(d->bristled[i]);
        }
    }
}

static lg_status open_all(const lg_model *m, int n, const lg_direction *directions, lg_derivatives *all,
                          lg_report *report)
{
    all->of = calloc(2 * (size_t)n + 1, sizeof *all->of);
    if (!all->of)
        return LG_NO_MEMORY;
    all->count = n;
    LG_TRY(open_each(m, directions, all, report));
    place_references(m, all);
    const lg_sensitivity *rows = lg_model_rows_alone(m);
    for (int form = 0; form < LG_FORM_COUNT; form++) {
        all->in[form] = rows ? rows[form] : (lg_sensitivity){0};
        all->in[form].count = n, all->in[form].nwork = work_of(m, all);
        all->in[form].remember = m->nbristled ? remember : NULL;
    }
#define ENTER(name, form)                                                                                              \
    all->in[form].eval = differentiate_##name, all->in[form].terms = terms_##name, all->in[form].weigh = weigh_##name;
    LG_EACH_FORM(ENTER)
    return LG_OK;
}

void lg_model_free_derivatives(lg_derivatives *all)
{
    for (int i = 0; all && i < 2 * all->count; i++)
        lg_arena_close(&all->of[i].memory);
    if (all) {
        lg_shares_close(&all->shares);
        free(all->of);
    }
    free(all);
}

static lg_status differentiated(const lg_model *origin, lg_derivatives *all, lg_model **model)
{
    lg_model *m = calloc(1, sizeof *m);
    if (!m)
        return LG_NO_MEMORY;
    *m = *origin;
    m->shape = m->records = (lg_arena){0};
    m->derivatives = all;
    m->sensitivity = all->in;
    m->system.self = m;
    m->system.sensitivity = &all->in[LG_FORM_DYNAMICS];
    *model = m;
    return LG_OK;
}

lg_status lg_model_differentiate(const lg_model *origin, int n, const lg_direction *directions, lg_model **model,
                                 lg_report *report)
{
    *report = (lg_report){0};
    lg_derivatives *all = calloc(1, sizeof *all);
    lg_status status = all ? open_all(origin, n, directions, all, report) : LG_NO_MEMORY;
    if (status == LG_OK)
        status = differentiated(origin, all, model);
    if (status != LG_OK)
        lg_model_free_derivatives(all);
    return status;
}
