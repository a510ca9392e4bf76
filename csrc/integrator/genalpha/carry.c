/* The data that a step takes over from earlier steps: algorithmic accelerations, the memory of Newton's method, values
   to extrapolate from, and the state at which modified Newton's matrix was formed. */
#include "core/small.h"
#include "integrator/genalpha/step.h"

/* The next `count` doubles from `base`, or NULL while measuring. */
static double *take(double *base, int *used, int count)
{
    double *at = base ? base + *used : NULL;
    *used += count;
    return at;
}

int lg_alpha_carry_layout(const lg_genalpha_stepper *g, double *base, lg_alpha_carry *carry)
{
    const lg_system *system = g->base.system;
    int nv = system->space->nv, nrows = system->pattern->nrows, nmu = lg_alpha_mu_count(g);
    int back = g->extrapolates, used = 0;
    carry->a = take(base, &used, nv);
    carry->h = take(base, &used, 1);
    carry->steps = take(base, &used, 1);
    carry->memory = take(base, &used, LG_NEWTON_MEMORY);
    for (int i = 0; i < 3; i++) {
        int count = i < 2 || g->undamped ? back : 0;
        carry->w[i] = take(base, &used, count * nv);
        carry->mu[i] = take(base, &used, count * nmu);
        if (i > 0)
            carry->lam[i - 1] = take(base, &used, count * nrows);
    }
    carry->formed_at = take(base, &used, lg_alpha_keeps_matrix(g) ? lg_alpha_state_count(system) : 0);
    return used;
}

/* The matrix that an earlier run has kept is dropped if this run needs none, or if its state has less memory, as in
   files of versions whose elements remembered less. */
int lg_alpha_adopt(const lg_stepper *self, int count, const double *given, double *carry)
{
    const lg_genalpha_stepper *g = (const lg_genalpha_stepper *)self;
    lg_alpha_carry parts;
    int kept = lg_alpha_state_count(self->system), used = lg_alpha_keeps_matrix(g) ? kept : 0;
    int data = lg_alpha_carry_layout(g, carry, &parts) - used, rest = count - data;
    if (rest != 0 && (rest > kept || rest < kept - self->system->nmem))
        return 0;
    lg_copy(data, given, carry);
    if (rest == used)
        lg_copy(used, given + data, carry + data);
    else
        lg_zero(used, carry + data);
    return 1;
}

/* Sets the parts of a state in the memory at `base` (NULL: measures only) and returns its length. */
static int state_layout(const lg_system *system, double *base, lg_alpha_state *formed)
{
    int nq = system->space->nq, nv = system->space->nv, used = 4;
    formed->q = take(base, &used, nq);
    formed->v = take(base, &used, nv);
    formed->a = take(base, &used, nv);
    formed->lam = take(base, &used, system->pattern->nrows);
    formed->mem = take(base, &used, system->nmem);
    formed->theta = take(base, &used, nv);
    formed->c = take(base, &used, nv);
    formed->qn = take(base, &used, nq);
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
