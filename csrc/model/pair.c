/* A step between two states: by the gradients that are asked for, forces and the gradients of potentials and constraint
   rows in the step, and rows at its end; and the kinetic energy.

   Blocks are linear here, so that the middle is q_m = (q0 + q1)/2 with the velocity v_m = (q1 - q0)/h. Both follow from
   q1 by (1/2, 1/h), which turns a chain d(q1)/du into that of a point: the forces of the midpoint rule and their
   derivatives are those of one evaluation at the middle, time included, with attitudes that are normalised as
   everywhere, and rows in the axes of bodies. B(q_m) v_m = 0 takes the place of the values of nonholonomic rows at q1,
   times h. Discrete gradients have files of their own: step/step.h and, for the printed form, printed/printed.h. */
#include "model/body/momentum.h"
#include "model/ends.h"
#include "model/printed/printed.h"
#include "model/step/step.h"

typedef struct step_work {
    double *middle, *v_m; /* q_m, v_m */
    lg_chain *chain; /* that of the middle */
    double *form; /* of the conserving or of the printed form */
    double *phidot, *B, *Z, *part; /* for nonholonomic rows; else NULL */
} step_work;

static void pair_layout(const lg_model *m, step_work *w, lg_arena *arena)
{
    size_t conserving = lg_step_work(m), printed = lg_printed_work(m);
    w->middle = lg_arena_doubles(arena, (size_t)m->space.nq);
    w->v_m = lg_arena_doubles(arena, (size_t)m->space.nv);
    w->chain = lg_arena_take(arena, (size_t)m->space.nblocks * sizeof *w->chain);
    w->form = lg_arena_doubles(arena, conserving > printed ? conserving : printed);
    int nonholonomic = m->pattern.nnonholonomic > 0;
    w->phidot = nonholonomic ? lg_arena_doubles(arena, (size_t)m->pattern.nrows) : NULL;
    w->B = nonholonomic ? lg_arena_doubles(arena, (size_t)m->pattern.nvalues) : NULL;
    w->Z = nonholonomic ? lg_arena_doubles(arena, (size_t)m->pattern.nvalues) : NULL;
    w->part = nonholonomic ? lg_arena_doubles(arena, (size_t)m->pattern.nvalues) : NULL;
}

/* The scratch of evaluations comes first. */
static lg_arena scratch_of(const lg_model *m, double *work)
{
    lg_arena arena = {.base = (char *)work};
    lg_arena_doubles(&arena, (size_t)m->system.nwork);
    return arena;
}

static size_t nwork(void *self)
{
    const lg_model *m = self;
    step_work w;
    lg_arena arena = scratch_of(m, NULL);
    pair_layout(m, &w, &arena);
    return arena.used / sizeof(double);
}

static void open_step(const lg_model *m, const lg_pair *pair, step_work *w)
{
    lg_arena arena = scratch_of(m, pair->work);
    pair_layout(m, w, &arena);
    for (int i = 0; i < m->space.nq; i++) {
        w->middle[i] = 0.5 * (pair->q0[i] + pair->q1[i]);
        w->v_m[i] = (pair->q1[i] - pair->q0[i]) / pair->h;
    }
}

/* ---- by the gradients ---- */

static void leave_out_inertia(const lg_model *m, const lg_point *at)
{
    for (int i = 0; i < m->nbody_spans; i++) {
        const lg_body_step *step = m->body_spans[i].first->type->step;
        if (step && step->leave_out)
            step->leave_out(m->body_spans[i], at);
    }
}

static lg_status midpoint_in(const lg_model *m, lg_form form, const lg_pair *pair, const lg_pair_wanted *wanted,
                             const step_work *w)
{
    lg_point at = lg_step_point(pair, w->middle, w->v_m);
    const lg_tangent tangent = {wanted->S, w->chain};
    lg_wanted want = {.force = wanted->force, .Btlam = wanted->Gtlam, .B = wanted->G, .tangent = &tangent};
    lg_point end = lg_step_end(pair, w->v_m);
    if (wanted->phi || wanted->B)
        LG_TRY(lg_step_rows(m, form, &end, wanted->phi, wanted->B));
    at.mem.age = 0.5 * pair->h;
    want.ntangents = wanted->S != NULL;
    if (wanted->S)
        lg_step_chains(m, pair, wanted->chain, w->chain);
    if (wanted->noise)
        *wanted->noise = 0;
    if (w->B)
        want.phidot = w->phidot, want.B = w->B, want.Z = w->Z;
    LG_TRY(lg_model_add_wrenches(m, form, &at, &want));
    if (wanted->S)
        leave_out_inertia(m, &at);
    LG_TRY(lg_model_collect(m, &at, &want));
    if (!w->B)
        return LG_OK;
    if (wanted->G)
        lg_copy(m->pattern.nvalues, w->B, wanted->G);
    lg_step_slips(m, pair, wanted, w->phidot, w->B, w->Z, w->part);
    return LG_OK;
}

static lg_status midpoint(const lg_model *m, const lg_pair *pair, const lg_pair_wanted *wanted, const step_work *w)
{
    return midpoint_in(m, LG_FORM_BODY_AXES, pair, wanted, w);
}

static lg_status discrete(const lg_model *m, const lg_pair *pair, const lg_pair_wanted *wanted, const step_work *w)
{
    lg_point at = lg_step_point(pair, w->middle, w->v_m);
    const lg_tangent tangent = {wanted->S, w->chain};
    lg_wanted own = {.Btlam = wanted->Gtlam, .B = wanted->G, .tangent = &tangent, .ntangents = wanted->S != NULL};
    LG_TRY(lg_step_pair(m, pair, wanted, w->middle, w->v_m, w->form));
    if (wanted->S)
        lg_step_chains(m, pair, wanted->chain, w->chain);
    lg_model_own_rows(m, &at, &own);
    if (!wanted->S || !m->laws_read)
        return LG_OK;
    LG_TRY(lg_model_move(m, LG_FORM_DYNAMICS, &at, LG_TWISTS, LG_REACH_USED));
    return lg_model_add_reads(m, &at, &own);
}

/* Whether any body has Euler parameters. Otherwise the printed form of the midpoint rule has nothing of its own. */
static int has_parameters(const lg_model *m)
{
    for (const lg_block *b = m->blocks; b < m->blocks + m->space.nblocks; b++)
        if (b->node->attitude_n == 4)
            return 1;
    return 0;
}

static lg_status midpoint_printed(const lg_model *m, const lg_pair *pair, const lg_pair_wanted *wanted,
                                  const step_work *w)
{
    if (!has_parameters(m))
        return midpoint_in(m, LG_FORM_DYNAMICS, pair, wanted, w);
    return lg_printed_pair(m, pair, wanted, 0, w->middle, w->v_m, w->form);
}

static lg_status discrete_printed(const lg_model *m, const lg_pair *pair, const lg_pair_wanted *wanted,
                                  const step_work *w)
{
    return lg_printed_pair(m, pair, wanted, 1, w->middle, w->v_m, w->form);
}

/* ---- kinetic energy, body by body ---- */

static lg_status kinetic(void *self, lg_kinetics kinetics, const lg_pair *pair, const lg_kinetic_wanted *wanted)
{
    const lg_model *m = self;
    step_work w;
    open_step(m, pair, &w);
    lg_point middle = lg_step_point(pair, w.middle, w.v_m);
    for (int i = 0; i < m->nbody_spans; i++)
        if (!m->body_spans[i].first->type->is_support)
            LG_TRY(m->body_spans[i].first->type->step->momentum(m->body_spans[i], kinetics, pair, &middle, wanted));
    return LG_OK;
}

static int without_step(void *self, lg_gradients gradients, lg_kinetics kinetics)
{
    const lg_model *m = self;
    (void)kinetics;
    if (gradients == LG_GRADIENTS_MIDPOINT_PRINTED && !has_parameters(m))
        gradients = LG_GRADIENTS_MIDPOINT;
    for (const lg_body *b = m->bodies; b < m->bodies + m->nbodies; b++)
        if (!b->type->is_support && !(b->type->step && (!b->type->step->fits || b->type->step->fits(b, gradients))))
            return b->index;
    return -1;
}

/* ---- the functions of the waist ---- */

typedef lg_status evaluate_step(const lg_model *m, const lg_pair *pair, const lg_pair_wanted *wanted,
                                const step_work *w);

static lg_status pair_evaluate(void *self, const lg_pair *pair, const lg_pair_wanted *wanted, evaluate_step *step)
{
    const lg_model *m = self;
    step_work w;
    open_step(m, pair, &w);
    if (wanted->turned)
        *wanted->turned = NULL;
    LG_TRY(step(m, pair, wanted, &w));
    lg_model_mask_rows(m, pair->mem, wanted->phi);
    lg_model_mask_values(m, pair->mem, 0, wanted->G);
    lg_model_mask_values(m, pair->mem, 1, wanted->B);
    return LG_OK;
}

#define PAIR(step, gradients)                                                                                          \
    static lg_status pair_##step(void *self, const lg_pair *pair, const lg_pair_wanted *wanted)                        \
    {                                                                                                                  \
        return pair_evaluate(self, pair, wanted, step);                                                                \
    }
LG_EACH_GRADIENTS(PAIR)

#define ENTRY(step, gradients) [gradients] = pair_##step,
const lg_steps lg_model_steps = {
    .nwork = nwork,
    .pair = {LG_EACH_GRADIENTS(ENTRY)},
    .kinetic = kinetic,
    .without_step = without_step,
};
