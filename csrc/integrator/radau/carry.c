/* The data that a step takes over from earlier steps: velocities to extrapolate from, what decides about new matrices,
   and the states at which the kept ones were formed. */
#include "core/small.h"
#include "integrator/radau/step.h"

/* The next `count` doubles. */
static double *radau_take(double **next, int count)
{
    double *at = *next;
    *next += count;
    return at;
}

/* The length of a carry with so many corrections. */
static int count_with(const lg_radau_stepper *r, int corrections)
{
    int rows = r->base.system->space->nv + r->base.system->pattern->nrows;
    return 2 + (1 + corrections) * lg_radau_stages(&r->numbers) * rows + LG_RADAU_MEMORY + lg_radau_formed_count(r) +
           LG_RADAU_CHOICE;
}

int lg_radau_carry_count(const lg_radau_stepper *r)
{
    return count_with(r, r->corrections);
}

lg_radau_carry lg_radau_carry_in(const lg_radau_stepper *r, double *base)
{
    int stages = lg_radau_stages(&r->numbers);
    int nv = stages * r->base.system->space->nv, nrows = stages * r->base.system->pattern->nrows;
    lg_radau_carry carry;
    carry.h = radau_take(&base, 1);
    carry.v = radau_take(&base, nv);
    carry.lam = radau_take(&base, nrows);
    carry.order = radau_take(&base, 1);
    for (int k = 0; k < r->corrections; k++)
        carry.miss[k] = radau_take(&base, nv);
    for (int k = 0; k < r->corrections; k++)
        carry.miss_lam[k] = radau_take(&base, nrows);
    carry.memory = radau_take(&base, LG_RADAU_MEMORY);
    carry.formed = radau_take(&base, lg_radau_formed_count(r));
    carry.choice = base;
    return carry;
}

int lg_radau_formed_count(const lg_radau_stepper *r)
{
    const lg_system *system = r->base.system;
    return 3 + system->space->nq + system->nmem +
           lg_radau_stages(&r->numbers) * (3 * system->space->nv + system->pattern->nrows);
}

/* The parts of the states of matrices at `base`. */
static lg_radau_formed formed_in(const lg_radau_stepper *r, double *base)
{
    const lg_system *system = r->base.system;
    int nv = system->space->nv;
    lg_radau_formed formed;
    formed.h = radau_take(&base, 1);
    formed.t = radau_take(&base, 1);
    formed.q = radau_take(&base, system->space->nq);
    formed.mem = radau_take(&base, system->nmem);
    for (int i = 0; i < LG_RADAU_STAGES; i++) {
        int has = i < lg_radau_stages(&r->numbers);
        formed.theta[i] = radau_take(&base, has * nv);
        formed.K[i] = radau_take(&base, has * nv);
        formed.a[i] = radau_take(&base, has * nv);
        formed.lam[i] = radau_take(&base, has * system->pattern->nrows);
    }
    formed.way = base;
    return formed;
}

/* Files of earlier versions have neither a choice nor a way: theirs is the splitting. With another number of
   corrections, or with nothing but velocities as in still earlier ones, the next step is predicted like a first one. */
int lg_radau_adopt(const lg_stepper *self, int count, const double *given, double *base)
{
    const lg_radau_stepper *r = (const lg_radau_stepper *)self;
    const int newer = 1 + LG_RADAU_CHOICE, fixed = count_with(r, LG_RADAU_CORRECTIONS);
    const int adaptive = count_with(r, LG_RADAU_CORRECTIONS_ADAPTIVE);
    int own = lg_radau_carry_count(r), early = 1 + lg_radau_stages(&r->numbers) * r->base.system->space->nv;
    lg_zero(own, base);
    if (count == own || count == own - newer)
        lg_copy(count, given, base);
    return count == early || count == fixed || count == fixed - newer || count == adaptive || count == adaptive - newer;
}

/* ---- the states of matrices ---- */

void lg_radau_note_stage(lg_radau_stepper *r, int i)
{
    const lg_system *system = r->base.system;
    const lg_radau_stage *s = &r->stage[i];
    lg_radau_formed formed = formed_in(r, r->formed);
    if (lg_radau_way_of(r) == LG_RADAU_EIGENBASIS) // there is no other stage
        lg_zero(lg_radau_formed_count(r), r->formed);
    lg_copy(system->space->nv, s->theta, formed.theta[i]);
    lg_copy(system->space->nv, s->K, formed.K[i]);
    lg_copy(system->space->nv, s->a, formed.a[i]);
    lg_copy(system->pattern->nrows, s->lam, formed.lam[i]);
}

void lg_radau_note_step(lg_radau_stepper *r)
{
    lg_radau_formed formed = formed_in(r, r->formed);
    *formed.h = r->h;
    *formed.t = r->start->t;
    lg_copy(r->base.system->space->nq, r->start->q, formed.q);
    lg_copy(r->base.system->nmem, r->start->mem, formed.mem);
    *formed.way = r->choice.way;
}

/* Makes the state at which a stage formed its matrix the present one. */
static void move_back(lg_radau_stepper *r, const lg_radau_formed *formed, int i)
{
    const lg_system *system = r->base.system;
    lg_radau_stage *s = &r->stage[i];
    lg_copy(system->space->nv, formed->theta[i], s->theta);
    lg_copy(system->space->nv, formed->K[i], s->K);
    lg_copy(system->space->nv, formed->a[i], s->a);
    lg_copy(system->pattern->nrows, formed->lam[i], s->lam);
    lg_radau_move(r, i);
}

static lg_status form_stages_again(lg_radau_stepper *r, const lg_radau_formed *formed)
{
    for (int i = 0; i < lg_radau_stages(&r->numbers); i++) {
        move_back(r, formed, i);
        lg_point point = lg_radau_point(r, i);
        LG_TRY(lg_radau_evaluate(r, i, &point, 1));
    }
    return LG_OK;
}

/* Forms the matrices of the states at `base` again. */
static lg_status form_again(lg_radau_stepper *r, double *base)
{
    lg_radau_formed formed = formed_in(r, base);
    lg_state start = *r->start;
    start.t = *formed.t, start.q = formed.q, start.mem = formed.mem;
    lg_radau_set_step(r, &start, *formed.h);
    if (*formed.way == LG_RADAU_EIGENBASIS) {
        move_back(r, &formed, lg_radau_eigen_stage(r));
        LG_TRY(lg_radau_form_all(r));
    } else
        LG_TRY(form_stages_again(r, &formed));
    lg_copy(lg_radau_formed_count(r), base, r->formed);
    return LG_OK;
}

/* Takes over what is known about the way, unless this run goes another one. */
static void take_choice(lg_radau_stepper *r, const lg_radau_carry *carry)
{
    memcpy(&r->choice, carry->choice, sizeof r->choice);
    memcpy(&r->memory, carry->memory, sizeof r->memory);
    if (r->chooses || lg_radau_way_of(r) == r->only)
        return;
    r->choice = (lg_radau_choice){.way = r->only};
    r->memory = (lg_radau_memory){0};
}

lg_status lg_radau_take_over(lg_radau_stepper *r)
{
    const lg_state *start = r->start;
    double h = r->h;
    lg_radau_carry carry = lg_radau_carry_in(r, start->carry);
    size_t size = (size_t)lg_radau_formed_count(r) * sizeof(double);
    take_choice(r, &carry);
    r->has_matrices = lg_radau_serves(carry.formed[0], h) && *formed_in(r, carry.formed).way == r->choice.way;
    if (!r->has_matrices || !memcmp(carry.formed, r->formed, size))
        return LG_OK;
    r->formed[0] = 0;
    lg_status status = form_again(r, carry.formed);
    lg_radau_set_step(r, start, h);
    return status;
}

void lg_radau_hand_over(const lg_radau_stepper *r, const double *v_start, lg_state *state)
{
    int nv = r->base.system->space->nv, nrows = r->base.system->pattern->nrows;
    lg_radau_carry carry = lg_radau_carry_in(r, state->carry);
    *carry.h = r->h;
    for (int m = 0; m < lg_radau_stages(&r->numbers); m++) {
        const double *v = m ? r->stage[m - 1].v : v_start;
        for (int k = 0; k < nv; k++)
            carry.v[(size_t)nv * m + k] = v[k] - state->v[k];
        lg_copy(nrows, r->stage[m].lam, carry.lam + (size_t)nrows * m);
    }
    memcpy(carry.memory, &r->memory, sizeof r->memory);
    memcpy(carry.choice, &r->choice, sizeof r->choice);
    if (!r->renewed)
        return;
    if (r->formed[0] > 0)
        lg_copy(lg_radau_formed_count(r), r->formed, carry.formed);
    else
        carry.formed[0] = 0;
}
