/* What is not kinetic energy in a step between two states, as the waist's verb `pair` has it: forces and the gradients
   of potentials and constraint rows in the step, rows at its end.

   Blocks are linear here, so that the middle is q_m = (q0 + q1)/2 with the velocity v_m = (q1 - q0)/h. Both follow from
   q1 by (1/2, 1/h), which turns a chain d(q1)/du into that of a point: the forces of the midpoint rules and of the
   printed form, and their derivatives, are those of one evaluation at the middle, time included. Attitudes are
   normalised there, as they are everywhere, and joints have their rows in the axes of bodies; or, as printed, points on
   bodies are placed by (e.e) R(e), and discrete gradients are corrections along q1 - q0: printed.c. Discrete gradients of
   the other form have files of their own: step/step.h. */
#include "model/kinetic.h"
#include "model/printed.h"
#include "model/quadratic_rows.h"
#include "model/step/step.h"

typedef struct step_work {
    double *middle, *v_m; /* q_m, v_m */
    lg_chain *chain; /* that of the middle */
    double *phi0, *V0; /* at the start, for printed gradients */
    double *phi, *phidot, *B, *G, *Z; /* rows; see lg_printed_step */
    double *V, *gradient; /* likewise */
    double *lam, *rows; /* where attitudes are not normalised: multipliers of the evaluation, rows at the middle */
    double *step; /* of the conserving form */
} step_work;

static void layout(const lg_model *m, step_work *w, lg_arena *arena)
{
    size_t nrows = (size_t)m->pattern.nrows, nvalues = (size_t)m->pattern.nvalues;
    size_t nelements = (size_t)(m->njoints + m->nforces);
    w->middle = lg_arena_doubles(arena, (size_t)m->space.nq);
    w->v_m = lg_arena_doubles(arena, (size_t)m->space.nv);
    w->chain = lg_arena_take(arena, (size_t)m->space.nblocks * sizeof *w->chain);
    w->step = lg_arena_doubles(arena, lg_step_work(m));
    w->phi0 = lg_arena_doubles(arena, nrows);
    w->V0 = lg_arena_doubles(arena, nelements);
    w->phi = lg_arena_doubles(arena, nrows);
    w->phidot = lg_arena_doubles(arena, nrows);
    w->B = lg_arena_doubles(arena, nvalues);
    w->G = lg_arena_doubles(arena, nvalues);
    w->Z = lg_arena_doubles(arena, nvalues);
    w->V = lg_arena_doubles(arena, nelements);
    w->gradient = lg_arena_doubles(arena, nelements * 2 * LG_MAX_NV);
    w->lam = lg_arena_doubles(arena, nrows);
    w->rows = lg_arena_doubles(arena, nrows);
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
    layout(m, &w, &arena);
    return arena.used / sizeof(double);
}

/* ---- points of a step ---- */

static void open_middle(const lg_pair *pair, const lg_space *space, const step_work *w)
{
    for (int i = 0; i < space->nq; i++) {
        w->middle[i] = 0.5 * (pair->q0[i] + pair->q1[i]);
        w->v_m[i] = (pair->q1[i] - pair->q0[i]) / pair->h;
    }
}

/* A point at the middle of the step in time, so that prescribed changes in time do not differ between points. */
static lg_point point_at(const lg_pair *pair, const double *q, const double *v)
{
    lg_point at = lg_point_at(pair->t + 0.5 * pair->h, q, v);
    at.lam = pair->lam, at.mem = pair->mem, at.work = pair->work;
    return at;
}

static void fill_chains(const lg_model *m, const lg_pair *pair, const lg_chain *end, lg_chain *middle)
{
    for (int i = 0; i < m->space.nblocks; i++) {
        double k = end[i].k[0];
        const double *X = end[i].X[0];
        middle[i] = (lg_chain){.k = {0.5 * k, k / pair->h, 0}, .X = {X, X, NULL}};
    }
}

/* Evaluates the rows at a point (NULL: not wanted), whose poses then stand in the scratch. */
static lg_status rows_at(const lg_model *m, lg_form form, const lg_point *at, double *phi, double *B)
{
    lg_wanted want = {.phi = phi, .B = B};
    if (!m->space.nrows || (!phi && !B))
        return lg_model_move(m, form, at, LG_POSES, 0);
    LG_TRY(lg_model_press(m, form, at, &want));
    return lg_model_collect(m, at, &want);
}

/* The rows at the end are those at its time. */
static lg_point end_of(const lg_pair *pair, const step_work *w)
{
    lg_point at = point_at(pair, pair->q1, w->v_m);
    at.t = pair->t + pair->h;
    return at;
}

/* ---- at the middle, and as printed ---- */

static lg_wanted wanted_at_middle(const lg_printed_step *step, const step_work *w)
{
    const lg_pair_wanted *wanted = step->wanted;
    lg_wanted want = {.force = wanted->force, .Btlam = wanted->Gtlam, .B = wanted->G, .S = wanted->S};
    want.chain = wanted->S ? w->chain : NULL;
    if (step->quadratic) {
        want.phi = w->rows;
        want.B = wanted->G || !wanted->S ? wanted->G : w->G;
    }
    if (!step->discrete)
        return want;
    want.phidot = w->phidot;
    if (wanted->S)
        want.Z = w->Z;
    return want;
}

static lg_status middle(lg_printed_step *step, const step_work *w)
{
    const lg_model *m = step->m;
    step->middle = point_at(step->pair, w->middle, w->v_m);
    step->middle.quadratic = step->quadratic;
    step->middle.span = 0.5 * step->pair->h;
    step->at_middle = wanted_at_middle(step, w);
    if (step->wanted->S)
        fill_chains(m, step->pair, step->wanted->chain, w->chain);
    if (step->middle.quadratic && m->space.nrows) {
        lg_quadratic_multipliers(m, &step->middle, step->pair->lam, w->lam);
        step->middle.lam = w->lam;
    }
    LG_TRY(lg_model_press(m, step->form, &step->middle, &step->at_middle));
    LG_TRY(lg_model_collect(m, &step->middle, &step->at_middle));
    if (step->middle.quadratic && m->space.nrows)
        lg_quadratic_rows(m, &step->middle, step->pair->lam, w->rows, &step->at_middle);
    return LG_OK;
}

/* Rows at the end, and at both ends what printed gradients compare. */
static lg_status ends(lg_printed_step *step, const step_work *w)
{
    const lg_pair_wanted *wanted = step->wanted;
    lg_point start = point_at(step->pair, step->pair->q0, w->v_m), end = end_of(step->pair, w);
    int discrete = step->discrete, slopes = discrete && wanted->S;
    if (discrete && !step->pair->same_start) {
        LG_TRY(rows_at(step->m, step->form, &start, w->phi0, NULL));
        LG_TRY(lg_printed_potentials(step->m, &start, w->V0, NULL));
    }
    step->phi = wanted->phi ? wanted->phi : w->phi;
    step->B = wanted->B ? wanted->B : slopes ? w->B : NULL;
    if (discrete || wanted->phi || wanted->B)
        LG_TRY(rows_at(step->m, step->form, &end, step->phi, step->B));
    end.t = end.t_in;
    return discrete ? lg_printed_potentials(step->m, &end, w->V, slopes ? w->gradient : NULL) : LG_OK;
}

static lg_status one_evaluation(const lg_model *m, const lg_pair *pair, const lg_pair_wanted *wanted,
                                const step_work *w, int discrete, int quadratic)
{
    lg_printed_step step = {.m = m, .pair = pair, .wanted = wanted, .phi0 = w->phi0, .V0 = w->V0, .V = w->V};
    step.form = quadratic ? LG_FORM_DYNAMICS : LG_FORM_BODY_AXES;
    step.discrete = discrete, step.quadratic = quadratic;
    step.gradient = w->gradient;
    step.largest = lg_max_abs(m->space.nq, pair->q1);
    LG_TRY(ends(&step, w));
    LG_TRY(middle(&step, w));
    if (discrete)
        LG_TRY(lg_printed_correct(&step));
    if (wanted->noise)
        *wanted->noise = step.noise;
    return LG_OK;
}

static lg_status discrete_printed(const lg_model *m, const lg_pair *pair, const lg_pair_wanted *wanted,
                                  const step_work *w)
{
    return one_evaluation(m, pair, wanted, w, 1, 1);
}

static lg_status midpoint_printed(const lg_model *m, const lg_pair *pair, const lg_pair_wanted *wanted,
                                  const step_work *w)
{
    return one_evaluation(m, pair, wanted, w, 0, 1);
}

static lg_status midpoint(const lg_model *m, const lg_pair *pair, const lg_pair_wanted *wanted, const step_work *w)
{
    return one_evaluation(m, pair, wanted, w, 0, 0);
}

/* ---- the conserving form ---- */

static lg_status conserving(const lg_model *m, const lg_pair *pair, const lg_pair_wanted *wanted, const step_work *w)
{
    lg_point at = end_of(pair, w);
    LG_TRY(rows_at(m, LG_FORM_BODY_AXES, &at, wanted->phi, wanted->B));
    LG_TRY(lg_step_pair(m, pair, wanted, w->v_m, w->step));
    at = point_at(pair, w->middle, w->v_m);
    lg_wanted own = {.Btlam = wanted->Gtlam, .B = wanted->G, .S = wanted->S, .chain = w->chain};
    if (wanted->S)
        fill_chains(m, pair, wanted->chain, w->chain);
    lg_model_own_rows(m, &at, &own);
    return LG_OK;
}

/* ---- the verbs ---- */

typedef lg_status evaluate_step(const lg_model *m, const lg_pair *pair, const lg_pair_wanted *wanted,
                                const step_work *w);

static lg_status evaluate(void *self, const lg_pair *pair, const lg_pair_wanted *wanted, evaluate_step *step)
{
    const lg_model *m = self;
    step_work w;
    lg_arena arena = scratch_of(m, pair->work);
    layout(m, &w, &arena);
    open_middle(pair, &m->space, &w);
    if (wanted->turned)
        *wanted->turned = NULL;
    LG_TRY(step(m, pair, wanted, &w));
    lg_model_mask_rows(m, pair->mem, wanted->phi);
    lg_model_mask_values(m, pair->mem, 0, wanted->G);
    lg_model_mask_values(m, pair->mem, 1, wanted->B);
    return LG_OK;
}

#define PAIR(step)                                                                                                     \
    static lg_status pair_##step(void *self, const lg_pair *pair, const lg_pair_wanted *wanted)                        \
    {                                                                                                                  \
        return evaluate(self, pair, wanted, step);                                                                     \
    }
PAIR(conserving)
PAIR(discrete_printed)
PAIR(midpoint)
PAIR(midpoint_printed)

const lg_steps lg_model_steps = {
    .nwork = nwork,
    .pair = {[LG_GRADIENTS_DISCRETE] = pair_conserving,
             [LG_GRADIENTS_DISCRETE_PRINTED] = pair_discrete_printed,
             [LG_GRADIENTS_MIDPOINT] = pair_midpoint,
             [LG_GRADIENTS_MIDPOINT_PRINTED] = pair_midpoint_printed},
    .kinetic = lg_model_kinetic,
    .without_step = lg_model_without_step,
};
