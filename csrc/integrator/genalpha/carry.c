/* The data that a step takes over from earlier steps: algorithmic accelerations, the memory of Newton's method, values
   to extrapolate from, and the state at which modified Newton's matrix was formed. */
#include "core/small.h"
#include "integrator/genalpha/step.h"

#include <math.h>

/* The next `count` doubles from `base`, or NULL while measuring. */
static double *genalpha_take(double *base, int *used, int count)
{
    double *at = base ? base + *used : NULL;
    *used += count;
    return at;
}

int lg_alpha_carry_layout(const lg_genalpha_stepper *g, double *base, lg_alpha_carry *carry)
{
    const lg_system *system = g->base.system;
    int nv = system->space->nv, nrows = system->pattern->nrows, nmu = lg_alpha_mu_count(g);
    int used = 0;
    carry->a = genalpha_take(base, &used, nv);
    carry->h = genalpha_take(base, &used, 1);
    carry->steps = genalpha_take(base, &used, 1);
    carry->memory = genalpha_take(base, &used, LG_NEWTON_MEMORY);
    for (int i = 0; i < g->nvalues; i++) {
        carry->w[i] = genalpha_take(base, &used, nv);
        carry->mu[i] = genalpha_take(base, &used, nmu);
        if (i > 0)
            carry->lam[i - 1] = genalpha_take(base, &used, nrows);
    }
    carry->vdot = genalpha_take(base, &used, g->estimates ? nv : 0);
    carry->formed_at = genalpha_take(base, &used, lg_alpha_keeps_matrix(g) ? lg_alpha_state_count(system) : 0);
    return used;
}

/* Whether `count` numbers can be the state of a matrix in the carry of some run of this system. Files of older
   versions, whose elements had less memory, hold fewer. */
static int may_be_matrix(const lg_genalpha_stepper *g, int count)
{
    int whole = lg_alpha_state_count(g->base.system);
    return count == 0 || (count <= whole && count >= whole - g->base.system->nmem);
}

/* Takes over the carry of a run with or without vdot_n-1 and the state of a matrix, which are its end. */
static int adopt(const lg_genalpha_stepper *g, int with_vdot, int count, const double *given, double *carry)
{
    lg_alpha_carry parts;
    int nv = g->base.system->space->nv, whole = lg_alpha_carry_layout(g, carry, &parts);
    int used = lg_alpha_keeps_matrix(g) ? lg_alpha_state_count(g->base.system) : 0;
    int front = whole - used - (g->estimates ? nv : 0), back = count - front - (with_vdot ? nv : 0);
    if (back < 0 || !may_be_matrix(g, back))
        return 0;
    lg_copy(front, given, carry);
    for (int i = 0; g->estimates && i < nv; i++)
        parts.vdot[i] = with_vdot ? given[front + i] : NAN;
    if (back == used)
        lg_copy(used, given + count - back, parts.formed_at);
    else
        lg_zero(used, parts.formed_at);
    return 1;
}

/* Drops the matrix that an earlier run has kept if this run needs none, and what only one of the runs stores because it
   has error control. */
int lg_alpha_adopt(const lg_stepper *self, int count, const double *given, double *carry)
{
    const lg_genalpha_stepper *g = (const lg_genalpha_stepper *)self;
    return adopt(g, g->estimates, count, given, carry) || adopt(g, !g->estimates, count, given, carry);
}

/* Sets the parts of a state in the memory at `base` (NULL: measures only) and returns its length. */
static int state_layout(const lg_system *system, double *base, lg_alpha_state *formed)
{
    int nq = system->space->nq, nv = system->space->nv, used = 4;
    formed->q = genalpha_take(base, &used, nq);
    formed->v = genalpha_take(base, &used, nv);
    formed->a = genalpha_take(base, &used, nv);
    formed->lam = genalpha_take(base, &used, system->pattern->nrows);
    formed->mem = genalpha_take(base, &used, system->nmem);
    formed->theta = genalpha_take(base, &used, nv);
    formed->c = genalpha_take(base, &used, nv);
    formed->qn = genalpha_take(base, &used, nq);
    return used;
}

int lg_alpha_state_count(const lg_system *system)
{
    lg_alpha_state formed;
    return state_layout(system, NULL, &formed);
}

lg_alpha_state lg_alpha_state_in(const lg_system *system, double *base)
{
    lg_alpha_state formed = {.t = base[1], .t_in = base[2], .h = base[3]};
    state_layout(system, base, &formed);
    return formed;
}

void lg_alpha_keep_state(lg_genalpha_stepper *g, int keeps)
{
    g->state_changed = 1;
    g->state_lost = 0;
    g->new_state[0] = 0;
    if (!keeps)
        return;
    const lg_system *system = g->base.system;
    const lg_space *space = system->space;
    lg_alpha_state stored = lg_alpha_state_in(system, g->new_state);
    lg_copy(space->nq, g->now.q, stored.q);
    lg_copy(space->nv, g->now.v, stored.v);
    lg_copy(space->nv, g->now.a, stored.a);
    lg_copy(system->pattern->nrows, g->now.lam, stored.lam);
    lg_copy(system->nmem, g->now.mem, stored.mem);
    lg_copy(space->nv, g->now.theta, stored.theta);
    lg_copy(space->nv, g->now.c, stored.c);
    lg_copy(space->nq, g->now.qn, stored.qn);
    lg_copy(4, (double[]){1, g->now.t, g->now.t_in, g->now.h}, g->new_state);
}
