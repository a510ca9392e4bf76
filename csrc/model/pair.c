/* What is not kinetic energy in a step between two states, as the waist's verb `pair` has it: forces and the gradients
   of potentials and constraint rows at the middle of the step, rows at its end.

   Blocks are linear here, so that the middle is q_m = (q0 + q1)/2 with the velocity v_m = (q1 - q0)/h. Both follow from
   q1 by (1/2, 1/h), which turns a chain d(q1)/du into that of a point: the forces in a step and their derivatives are
   those of one evaluation at the middle, time included. There are two forms: equivariant, with normalised attitudes, as
   they are everywhere, and with the rows of joints in the axes of bodies; or as printed, where points on bodies are
   placed by (e.e) R(e). Discrete gradients are corrections of those at the middle: discrete.c. */
#include "model/discrete.h"
#include "model/quadratic_rows.h"

typedef struct step_work {
    double *middle, *v_m; /* q_m, v_m */
    lg_chain *chain; /* that of the middle */
    double *phi, *phidot, *B, *G, *Z; /* rows; see lg_step */
    double *V, *gradient; /* likewise */
    double *lam, *rows; /* where attitudes are not normalised: multipliers of the evaluation, rows at the middle */
} step_work;

static void layout(const lg_model *m, step_work *w, lg_arena *arena)
{
    size_t nrows = (size_t)m->pattern.nrows, nvalues = (size_t)m->pattern.nvalues;
    size_t nelements = (size_t)(m->njoints + m->nforces);
    w->middle = lg_arena_doubles(arena, (size_t)m->space.nq);
    w->v_m = lg_arena_doubles(arena, (size_t)m->space.nv);
    w->chain = lg_arena_take(arena, (size_t)m->space.nblocks * sizeof *w->chain);
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

size_t lg_model_pair_work(const lg_model *m)
{
    step_work w;
    lg_arena arena = scratch_of(m, NULL);
    layout(m, &w, &arena);
    return arena.used / sizeof(double);
}

static size_t layout_kept(const lg_model *m, double *from, lg_kept *kept)
{
    size_t nrows = (size_t)m->pattern.nrows, njoints = (size_t)m->njoints, nelements = njoints + (size_t)m->nforces;
    if (from)
        *kept = (lg_kept){from, from + nrows, from + nrows + nelements};
    return nrows + 2 * nelements + njoints;
}

size_t lg_model_kept(const lg_model *m)
{
    return layout_kept(m, NULL, NULL);
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
    at.invariant = pair->equivariant;
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

/* ---- the ends ---- */

/* Evaluates the rows at a point, whose poses then stand in the scratch. */
static lg_status rows_at(const lg_model *m, const lg_point *at, double *phi, double *B)
{
    lg_wanted want = {.phi = phi, .B = B};
    if (!m->space.nrows)
        return lg_model_move(m, at, LG_POSES, 0);
    LG_TRY(lg_model_press(m, at, &want));
    return lg_model_collect(m, at, &want);
}

static lg_status start(lg_step *step, const step_work *w)
{
    lg_point at = point_at(step->pair, step->pair->q0, w->v_m);
    lg_zero((int)(lg_model_kept(step->m)), step->pair->kept);
    lg_correct_open(step->m, &step->kept);
    LG_TRY(rows_at(step->m, &at, step->kept.phi, NULL));
    return lg_potentials(step->m, &at, step->kept.V, NULL);
}

/* Whether elements may decide about their gradients, for which they compare those of rows and potentials. */
static int may_decide(const lg_pair *pair)
{
    return pair->equivariant && (pair->stage == LG_PAIR_WAITS || pair->stage == LG_PAIR_DECIDES);
}

/* The rows at the end are those at the time of the end. */
static lg_status end(lg_step *step, const step_work *w, int discrete)
{
    const lg_pair_wanted *wanted = step->wanted;
    int slopes = discrete && (wanted->S || may_decide(step->pair));
    lg_point at = point_at(step->pair, step->pair->q1, w->v_m);
    at.t = step->pair->t + step->pair->h;
    step->phi = wanted->phi ? wanted->phi : w->phi;
    step->B = wanted->B ? wanted->B : slopes ? w->B : NULL;
    if (!discrete && !wanted->phi && !wanted->B)
        return LG_OK;
    LG_TRY(rows_at(step->m, &at, step->phi, step->B));
    step->violation = lg_max_abs(step->m->space.nrows, step->phi);
    at.t = at.t_in;
    return discrete ? lg_potentials(step->m, &at, step->V, slopes ? step->gradient : NULL) : LG_OK;
}

/* ---- the verb ---- */

static lg_wanted wanted_at_middle(const lg_step *step, const step_work *w, int discrete)
{
    const lg_pair_wanted *wanted = step->wanted;
    lg_wanted want = {.force = wanted->force, .Btlam = wanted->Gtlam, .B = wanted->G, .S = wanted->S};
    want.chain = wanted->S ? w->chain : NULL;
    if (!step->pair->equivariant) {
        want.phi = w->rows;
        want.B = wanted->G || !wanted->S ? wanted->G : w->G;
    }
    if (!discrete)
        return want;
    want.phidot = w->phidot;
    if (!want.B && (wanted->S || may_decide(step->pair)))
        want.B = w->G;
    if (wanted->S)
        want.Z = w->Z;
    return want;
}

static lg_status middle(lg_step *step, const step_work *w, int discrete)
{
    const lg_model *m = step->m;
    int along_motion = step->pair->equivariant;
    step->middle = point_at(step->pair, w->middle, w->v_m);
    step->middle.quadratic = !step->pair->equivariant;
    step->middle.span = 0.5 * step->pair->h;
    step->at_middle = wanted_at_middle(step, w, discrete);
    if (step->wanted->S)
        fill_chains(m, step->pair, step->wanted->chain, w->chain);
    if (step->middle.quadratic && m->space.nrows) {
        lg_quadratic_multipliers(m, &step->middle, step->pair->lam, w->lam);
        step->middle.lam = w->lam;
    }
    LG_TRY(lg_model_press(m, &step->middle, &step->at_middle));
    if (discrete && along_motion) // wrenches for the bodies to take
        LG_TRY(lg_correct(step));
    LG_TRY(lg_model_collect(m, &step->middle, &step->at_middle));
    if (step->middle.quadratic && m->space.nrows)
        lg_quadratic_rows(m, &step->middle, step->pair->lam, w->rows, &step->at_middle);
    return discrete && !along_motion ? lg_correct(step) : LG_OK;
}

lg_status lg_model_pair(void *self, const lg_pair *pair, const lg_pair_wanted *wanted)
{
    const lg_model *m = self;
    step_work w;
    lg_arena arena = scratch_of(m, pair->work);
    int discrete = pair->rule == LG_PAIR_DISCRETE;
    layout(m, &w, &arena);
    lg_step step = {.m = m, .pair = pair, .wanted = wanted, .V = w.V, .gradient = w.gradient};
    step.largest = lg_max_abs(m->space.nq, pair->q1);
    open_middle(pair, &m->space, &w);
    layout_kept(m, pair->kept, &step.kept);
    if (discrete && pair->stage == LG_PAIR_FIRST)
        LG_TRY(start(&step, &w));
    LG_TRY(end(&step, &w, discrete));
    LG_TRY(middle(&step, &w, discrete));
    lg_model_mask_rows(m, pair->mem, wanted->phi);
    lg_model_mask_values(m, pair->mem, 0, wanted->G);
    lg_model_mask_values(m, pair->mem, 1, wanted->B);
    if (wanted->noise)
        *wanted->noise = step.noise;
    if (wanted->midpoints)
        *wanted->midpoints = step.midpoints;
    if (wanted->undecided)
        *wanted->undecided = step.undecided;
    return LG_OK;
}
