/* Which way a step is solved: stage by stage, or for all stages together in the eigenbasis; see step.h.

   The way that takes less work is taken, and work is counted, never timed. Sweeps of both evaluate every stage, and the
   complex matrix of the eigenbasis costs little more than the real ones of two stages, so that the number of sweeps
   decides. Where even the fewest sweeps by the eigenbasis would save little, the splitting stays. Otherwise the
   eigenbasis serves some steps, and goes on as long as these take less work than those by the splitting did. If they do
   not, it is tried again after more steps each time. All that decides is in the choice, which is carried. */
#include "integrator/implicit.h"
#include "integrator/radau/step.h"

#include <math.h>

enum { JUDGED_STEPS = 16, FEWEST_SWEEPS = 2, MORE_PATIENCE = 8 };
static const double promising = 0.7; /* part of the work to which the eigenbasis must be able to come down */

/* Work by counts of instructions. A matrix costs more than that of generalized-alpha, since its tangents go along
   matrices of v and of a as well; formed together, those of all stages cost less. */
static const double full_tangents = 2, together = 5.0 / 6;
static const double of_complex = 2.5; /* factorisations, and solutions, with a real matrix */

void lg_radau_set_costs(lg_radau_stepper *r)
{
    const lg_system *system = r->base.system;
    const lg_plan *plan = r->base.plan;
    double stages = lg_radau_stages(&r->numbers), solved = of_complex + r->numbers.third, factor, solve;
    double iteration = lg_implicit_iteration_work(system, plan), one = lg_implicit_matrix_cost(system, plan, NULL);
    lg_plan_operations(plan, &factor, &solve);
    double matrices = (full_tangents * together * lg_implicit_tangent_work(system) + 1.5 * solved / stages * factor);
    if (system->flags & LG_SYSTEM_DIFFERENCED) // once instead of at each stage
        matrices = fmax(matrices, full_tangents * one * iteration / stages);
    r->sweep_work[LG_RADAU_SPLITTING] = 1;
    r->sweep_work[LG_RADAU_EIGENBASIS] = 1 + (solved / stages - 1) * solve / iteration;
    r->renewal[LG_RADAU_SPLITTING] = (lg_renewal_settings){LG_RENEW_BY_COST, .matrix_cost = full_tangents * one};
    r->renewal[LG_RADAU_EIGENBASIS] = (lg_renewal_settings){
        LG_RENEW_BY_COST, .matrix_cost = matrices / iteration / r->sweep_work[LG_RADAU_EIGENBASIS]};
}

/* The work of so many sweeps and matrices, over that of a sweep by the splitting. */
static double way_work_of(const lg_radau_stepper *r, lg_radau_way way, double sweeps, double matrices)
{
    return r->sweep_work[way] * (sweeps + matrices * r->renewal[way].matrix_cost);
}

static void forget_steps(lg_radau_choice *c)
{
    c->steps = c->sweeps = c->matrices = 0;
}

/* Goes another way, of whose matrices nothing is known. */
static void way_take(lg_radau_stepper *r, lg_radau_way way)
{
    r->choice.way = way;
    forget_steps(&r->choice);
    r->memory = (lg_radau_memory){0};
    r->formed[0] = 0;
    r->renewed = 1;
}

void lg_radau_give_up(lg_radau_stepper *r)
{
    r->choice.wait = MORE_PATIENCE * fmax(r->choice.wait, JUDGED_STEPS);
    way_take(r, LG_RADAU_SPLITTING);
}

/* After some steps by the splitting: whether the eigenbasis could do much better. */
static void look(lg_radau_stepper *r)
{
    lg_radau_choice *c = &r->choice;
    if (c->steps < fmax(c->wait, JUDGED_STEPS))
        return;
    double work = way_work_of(r, LG_RADAU_SPLITTING, c->sweeps, c->matrices);
    c->least = work / c->steps;
    if (way_work_of(r, LG_RADAU_EIGENBASIS, FEWEST_SWEEPS * c->steps, c->matrices) <= promising * work)
        way_take(r, LG_RADAU_EIGENBASIS);
    else
        forget_steps(c);
}

/* After some steps in the eigenbasis, or once they have taken the work of these by the splitting: whether it does. */
static void judge(lg_radau_stepper *r)
{
    lg_radau_choice *c = &r->choice;
    double work = way_work_of(r, LG_RADAU_EIGENBASIS, c->sweeps, c->matrices);
    if (c->steps < JUDGED_STEPS && work < JUDGED_STEPS * c->least)
        return;
    if (work < c->steps * c->least)
        forget_steps(c);
    else
        lg_radau_give_up(r);
}

void lg_radau_choose(lg_radau_stepper *r, double sweeps, int matrices)
{
    if (!r->chooses)
        return;
    r->choice.steps++;
    r->choice.sweeps += sweeps;
    r->choice.matrices += matrices;
    if (lg_radau_way_of(r) == LG_RADAU_SPLITTING)
        look(r);
    else
        judge(r);
}
