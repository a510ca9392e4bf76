/* What is not kinetic energy in a step between two states, as the waist's verb `pair` has it: forces and the gradients
   of constraint rows at the middle of the step, rows at its end.

   Blocks are linear here, so that the middle is q_m = (q0 + q1)/2 with the velocity v_m = (q1 - q0)/h. Both follow from
   q1 by (1/2, 1/h), which turns a chain d(q1)/du into that of a point: the forces in a step and their derivatives are
   those of one evaluation at the middle, time included. Attitudes are normalised there, as they are everywhere. */
#include "model/private.h"

typedef struct step_work {
    double *middle, *v_m; /* q_m, v_m */
    lg_chain *chain; /* that of the middle */
} step_work;

static void layout(const lg_model *m, step_work *w, lg_arena *arena)
{
    w->middle = lg_arena_doubles(arena, (size_t)m->space.nq);
    w->v_m = lg_arena_doubles(arena, (size_t)m->space.nv);
    w->chain = lg_arena_take(arena, (size_t)m->space.nblocks * sizeof *w->chain);
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

/* ---- the two points of a step ---- */

static lg_point middle_of(const lg_model *m, const lg_pair *pair, const step_work *w)
{
    for (int i = 0; i < m->space.nq; i++) {
        w->middle[i] = 0.5 * (pair->q0[i] + pair->q1[i]);
        w->v_m[i] = (pair->q1[i] - pair->q0[i]) / pair->h;
    }
    lg_point at = lg_point_at(pair->t + 0.5 * pair->h, w->middle, w->v_m);
    at.lam = pair->lam, at.mem = pair->mem, at.work = pair->work;
    return at;
}

/* The end; times are in the piece of the data that the step is in. */
static lg_point end_of(const lg_pair *pair, const step_work *w)
{
    lg_point at = lg_point_at(pair->t + pair->h, pair->q1, w->v_m);
    at.t_in = pair->t + 0.5 * pair->h;
    at.mem = pair->mem, at.work = pair->work;
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

/* ---- the verb ---- */

lg_status lg_model_pair(void *self, const lg_pair *pair, const lg_pair_wanted *wanted)
{
    const lg_model *m = self;
    step_work w;
    lg_arena arena = scratch_of(m, pair->work);
    layout(m, &w, &arena);
    if (wanted->noise)
        *wanted->noise = 0;
    if (wanted->S)
        fill_chains(m, pair, wanted->chain, w.chain);

    lg_point middle = middle_of(m, pair, &w);
    LG_TRY(lg_model_act(m, &middle,
                        &(lg_wanted){.force = wanted->force,
                                     .Btlam = wanted->Gtlam,
                                     .B = wanted->G,
                                     .S = wanted->S,
                                     .chain = wanted->S ? w.chain : NULL}));
    lg_point end = end_of(pair, &w);
    return wanted->phi || wanted->B ? lg_model_act(m, &end, &(lg_wanted){.phi = wanted->phi, .B = wanted->B}) : LG_OK;
}
